"""Statements of BMNS on FindTukey: Figure 1, Theorem 3.6, and the exponential mechanism in its place (Section 1.1)."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np

from dpaudit.contract import Evidence, StatementVerdict, Tools

from ..bisection import least as least_of
from ..domains import Grid
from ..halfspaces.depth.tukey_depth import tukey_depths
from ..halfspaces.hull_point import HullPoint, HullPointExponential
from ..halfspaces.hull_point_rec_concave import HullPointRecConcave
from ..halfspaces.sizes import (
    crossover,
    figure_1_share,
    hard_samples,
    log_star,
    measured_examples,
    printed_examples,
    shallow_probability,
)
from .bmns_claims import corners
from .bmns_rec_concave import exponential_needs, rec_concave_needs
from .evidence import exceeds, greatest, judged, judged_loss, learner_data, listed, losses_of, tightness
from .mechanisms import advanced_epsilon, composed_delta, greatest_share
from .since import CENTER_POINTS
from .sizes import compositions
from .states import Cases, at_most, derived, misprint, states

EPSILON = 1.0
DELTA = 1e-6
BETA = 0.1
# Up to 2^MOST_BITS candidates an axis are tried.
MOST_BITS = 2**15


@misprint(
    "BMNS-Fig1-r",
    "With r = n/(d+1) - (i-1) n/(d (d+1)) the last promise guarantees depth n/(2 (d+1)).",
    "Figure 1",
    short="The printed r guarantees depth n/(2 (d + 1))",
    printed="that depth",
    found="{printed, d=3:.3g} of it guaranteed at d = 3",
    best="r = n/(d + 1) - (i - 1) n/(2 d (d + 1)), as in the proof",
    formula="r = n/(d + 1) - (i - 1) n/(d (d + 1))",
    argument="The induction of Theorem 3.6 has (i - 1) n/(2 d (d + 1)), which loses 1/(2 d) of n/(d + 1) a step. As "
    "the figure has it the last promise is n/(d (d + 1)), of which RecConcave as a black box keeps 1 - 1/(2 d).",
)
def _printed_promise(tools: Tools) -> Evidence:
    ratios = {}
    cases = []
    for d in (2, 3):
        learner = HullPointRecConcave(1, d, 1.0, 1e-6, 0.1, literal=True)
        # Divisible by all denominators of the promises.
        n = 12 * d * (d + 1)
        depth = learner.guaranteed_depth(n)
        target = Fraction(n, 2 * (d + 1))
        words = f"d = {d}, n = {n}: the last promise guarantees depth {depth}, not {target}"
        data = {"learner": learner_data(learner), "n": n, "guaranteed depth": str(depth), "claimed depth": str(target)}
        cases.append((float(1 - depth / target), words, data))
        ratios[f"printed, d={d}"] = float(depth / target)
        ratios[f"repaired, d={d}"] = float(replace(learner, literal=False).guaranteed_depth(n) / target)
    lost, witness, data = greatest(cases)
    text = f"share of n/(2(d+1)) that the last promise guarantees: {listed(ratios, '.3f')}"
    return judged(text, ratios, witness, data, failed=lost > 0)


@states(
    "BMNS-Fig1-epsilon",
    "epsilon_0 = epsilon/(2 sqrt(2 d ln(2/delta))) a coordinate gives (epsilon, delta)-privacy.",
    "Figure 1",
    short="The budget of a coordinate",
    printed="ε₀",
    found="{share of the allowed epsilon_0:.0%} of what is allowed",
    best="exact composition; below d = {first d} already ε/d is more",
    formula="epsilon_0 = epsilon/(2 sqrt(2 d ln(2/delta)))",
    conditions="epsilon <= 1, delta < 1/2",
    argument="The share is at (1, 1e-6) and d up to 200. Half of epsilon is left for 2 d epsilon_0^2, of which little "
    "is needed, so that the share tends to 1/2 as d and 1/delta grow.",
)
def _figure_1_share(tools: Tools) -> Evidence:
    delta = 1e-6
    cases = []
    witness = ""
    for d in (1, 2, 3, 10, 100, 200):
        share = figure_1_share(1.0, delta, d)
        each = delta / (2 * d)
        # Against the exact composition of d calls that each have the same delta.
        used = share / greatest_share(d, each, 1.0, delta)
        cases.append((used, {"calls": d, "epsilon": share, "delta": each, "share": used}))
        if exceeds(cost := composed_delta(d, share, each, 1.0), delta):
            witness = f"d = {d} calls that are randomised response: delta {cost:.3g} at epsilon = 1, not {delta:g}"
    most, _, data = greatest(cases)
    first = next((d for d in range(1, 10**4) if figure_1_share(1.0, delta, d) > 1 / d), math.inf)
    text = (
        f"at (1, 1e-6) and d up to 200 epsilon_0 is at most {most:.2f} of what exact composition allows, and exceeds "
        f"epsilon/d only from d = {first} on"
    )
    numbers = {"first d": first, "8 ln(2/delta)": 8 * math.log(2 / delta), "share of the allowed epsilon_0": most}
    return judged(text, numbers, witness, data, otherwise=tightness(most, 1), grade="numeric")


@states(
    "OURS-HullPoint",
    "The exponential mechanism with Tukey depth, epsilon/d a coordinate, is epsilon-private.",
    "beside BMNS, Section 1.1",
    short="The ε of the exponential mechanism by coordinates",
    printed="ε = 1",
    found="ε ≥ {epsilon:.3g}",
    argument="The paper's mechanism is one selection over all points, which is the row BMNS-Joint.",
)
def _pure_hull_point(tools: Tools) -> Evidence:
    (loss,), _ = losses_of(tools, [HullPointExponential(1, 2, 1.0)])
    summary = f"worst epsilon over samples of corners of every size: {loss}, of 1.0"
    return judged_loss(loss, 1.0, summary, {"epsilon": loss.value, "n": loss.found.n})


@derived(
    "BMNS-Thm3.6",
    "So many examples suffice for a point of depth n/(2 (d + 1)) with probability 1 - beta.",
    "Theorem 3.6",
    short="Examples for a point of depth n/(2 (d + 1))",
    printed="n = {RecConcave, d = 1, side 99: printed:.2g}",
    found="n = {RecConcave, d = 1, side 99: measured} for RecConcave (d = 1, 100 points)",
    best="n = {exponential mechanism, d = 1, side 31: explicit} proved by the exponential mechanism (32 points)",
    since=CENTER_POINTS,
    formula="|S| = O(d^2.5 2^O(log* T + log* d) log^0.5(1/delta) log(d^2/(beta delta))/epsilon)",
    conditions="epsilon <= 1, delta < 1/2",
    argument="The constants are those of Proposition 2.11 and Figure 1, put together.",
)
def _deep_point(tools: Tools) -> Evidence:
    learners: list[HullPoint] = [
        HullPointExponential(31, 1, EPSILON),
        HullPointRecConcave(99, 1, EPSILON, DELTA, BETA),
        HullPointExponential(2, 2, EPSILON),
        HullPointRecConcave(2, 2, EPSILON, DELTA, BETA),
    ]
    numbers: dict[str, float] = {}
    shown = []
    witness = ""
    cases = []
    for learner in learners:
        recursive = isinstance(learner, HullPointRecConcave)
        name = f"{'RecConcave' if recursive else 'exponential mechanism'}, d = {learner.dimension}, side {learner.side}"
        explicit = learner.explicit_examples(BETA)
        measured = measured_examples(learner, BETA)
        printed = printed_examples(learner.dimension, max(learner.extended.most), EPSILON, DELTA, BETA)
        numbers |= {f"{name}: printed": printed, f"{name}: explicit": explicit, f"{name}: measured": measured}
        shown.append(
            f"{name}: {printed:.1e} printed, {explicit} explicit, {measured} measured (1/{explicit / measured:.0f})"
        )
        # A multiple of 12, which divides evenly among the points of the hard samples.
        hard = hard_samples(learner, 12 * -(-explicit // 12))
        if any(shallow_probability(learner, sample) > BETA for sample in hard):
            witness = f"{name}: the explicit {explicit} examples fail with a probability above {BETA}"
        if recursive:
            data = {"learner": learner_data(learner), "n": measured, "beta": BETA, "printed": printed}
            cases.append((measured / printed, data))
            # The printed n is FindTukey's. What was measured is a multiple of 12, and 12 fewer are too few.
            if measured - 12 >= printed:
                few = measured - 12
                witness = f"{name}: {few} examples fail with a probability above {BETA}, printed {printed:.3g}"
    share, _, data = greatest(cases)
    text = "least n for depth n/(2 (d + 1)): " + "; ".join(shown)
    return judged(text, numbers, witness, data, otherwise=tightness(share, 1))


@derived(
    "BMNS-Thm3.6-pays",
    "RecConcave, with 2^O(log* |X|) examples, needs fewer than the exponential mechanism with O(log |X|), "
    "from at most 2^32768 candidates an axis on, d = 1, 2, 3.",
    "Section 1.1 and Theorem 3.6",
    short="From what domain size the asymptotic winner wins",
    printed="large domains",
    found="2^{n*, two points} on two adjacent points; sufficient sizes cross at 2^{log2 |X~|, d=1, delta=1e-06, "
    "beta=0.1}",
    best="below, the exponential mechanism, pure",
    formula="poly(d, 2^(log* |X|)) against O(d^3 log |X|)",
    argument="Two sizes that are proved to suffice are compared, with constants of ours; what is needed may cross "
    "earlier, and does on two adjacent points of a line with half of the data each.",
)
def _pays(tools: Tools) -> Evidence:
    numbers: dict[str, float] = {}
    # The easiest and the hardest setting frame what one would use.
    for d, (delta, beta) in product((1, 2, 3), ((1e-6, 0.1), (1e-9, 1e-3))):
        bits = crossover(d, EPSILON, delta, beta, MOST_BITS)
        if bits is None:
            numbers[f"log2 |X~|, d={d}, delta={delta:g}, beta={beta:g}"] = math.inf
        else:
            numbers[f"log2 |X~|, d={d}, delta={delta:g}, beta={beta:g}"] = bits
    least = min(numbers.values())
    most = max(numbers.values())
    needs, _ = rec_concave_needs(160, 423)
    # From how many bits of the domain the exponential mechanism needs more on the same data.
    first = least_of(lambda bits: exponential_needs(bits) > needs, 34, 1024)
    numbers |= {"n*, two points": first, "RecConcave, two points": needs}
    text = (
        f"with explicit constants of both, epsilon = 1, RecConcave's sufficient size is smaller only from "
        f"2^{least:.0f} candidates an axis (the easiest case) to 2^{most:.0f} (the hardest) on. On two adjacent "
        f"points of a line, n/2 each, delta 1e-6, beta 0.1, it needs {needs} examples at "
        f"2^160, and the exponential mechanism more than that from 2^{first} on"
    )
    if most == math.inf:
        text = f"RecConcave needs no fewer examples with 2^{MOST_BITS} candidates an axis in the hardest case"
    witness = ", ".join(name for name, bits in numbers.items() if bits == math.inf)
    data = {"log2 |X~|": least, "d": 1, "delta": 1e-6, "beta": 0.1, "epsilon": EPSILON}
    return judged(text, numbers, witness, data, failed=most == math.inf, grade="numeric")


@states(
    "BMNS-Thm3.6-privacy",
    "(epsilon/2 + epsilon^2/(4 ln(2/delta)), delta) is at most (epsilon, delta) for all epsilon <= 1, delta < 1/2.",
    "proof of Theorem 3.6, privacy",
    short="The ε that d calls with Figure 1's share cost together",
    printed="≤ ε",
    found="≤ {share:.3g} ε",
    formula="(epsilon/2 + epsilon^2/(4 ln(2/delta)), delta), which implies (epsilon, delta)",
    conditions="epsilon <= 1, delta <= 1/2",
    argument="sqrt(2 d ln(2/delta)) epsilon_0 = epsilon/2 and 2 d epsilon_0^2 = epsilon^2/(4 ln(2/delta)), which is at "
    "most epsilon/2, since epsilon <= 1 < 2 ln 4 <= 2 ln(2/delta). delta is d delta/(2 d) + delta/2.",
)
@at_most(
    1,
    "advanced composition of d calls with Figure 1's share, epsilon 1e-6 to 1, delta 1e-300 to 1/2, d up to 1e6: at "
    "most {share:.4f} epsilon; it increases with epsilon and delta, and d cancels",
)
def _privacy() -> Cases:
    for epsilon, delta, d in product((1e-6, 0.1, 0.5, 1.0), (1e-300, 1e-6, 0.1, 0.5), (1, 2, 100, 10**6)):
        cost = advanced_epsilon(d, figure_1_share(epsilon, delta, d), delta / 2)
        yield cost / epsilon, {"epsilon": epsilon, "delta": delta, "d": d, "cost": cost}


def extended_log_star(d: int, log_d: float, bits: float) -> int:
    """Return log* of (d T^(d^2 (d + 1)))^(2^d), d = 2^log_d and T = 2^bits, from the logarithm of its logarithm."""
    return 2 + log_star(d + math.log2(log_d + bits * d * d * (d + 1)))


@states(
    "BMNS-Fig1-log-star",
    "log* T~ = log* d + log* T + O(1), T~ = (d T^(d^2 (d + 1)))^(2^d).",
    "Figure 1, comment on the preprocessing; Theorem 3.6, Corollary 4.3",
    short="log* of the extended domain is a sum",
    printed="log* d + log* T + O(1)",
    found="{log*, d=10, T=2^64} of {sum, d=10, T=2^64} at d = 10, T = 2^64",
    best="max(log* d, log* T) + O(1)",
    formula="log* T~ = log* d + log* T + O(1)",
    argument="log2 T~ = 2^d (log2 d + d^2 (d + 1) log2 T), so that log* T~ is the greater of log* d and log* T, and "
    "O(1). For d = T = 2^2^..2 the sum is above it by any number. As an upper bound, within 2^O(.), it is right.",
)
def _extended_log_star(tools: Tools) -> Evidence:
    numbers: dict[str, float] = {}
    cases = []
    # d and T are towers of twos where both grow: 2, 4, 16, 65536.
    towers = [(2, 1.0, 1.0), (4, 2.0, 2.0), (16, 4.0, 4.0), (65536, 16.0, 16.0)]
    for d, log_d, bits in [(10, math.log2(10), 64.0), *towers]:
        added = log_star(d) + 1 + log_star(bits)
        found = extended_log_star(d, log_d, bits)
        name = f"d={d}, T=2^{bits:g}"
        numbers |= {f"log*, {name}": found, f"sum, {name}": added}
        cases.append((found - added, name, {"d": d, "log2 T": bits, "log*": found, "sum": added}))
    above, witness, data = greatest(cases)
    numbers["greatest excess"] = above
    text = ", ".join(f"{numbers[f'log*, {name}']} of {numbers[f'sum, {name}']} at {name}" for _, name, _ in cases)
    # As an upper bound with O(1): the excess at small d and T is the constant, 3.
    if greatest(cases, least=True)[0] < 0:
        verdict = StatementVerdict.LOOSE
    else:
        verdict = StatementVerdict.HOLDS
    text = f"log* T~ of log* d + log* T: {text}"
    return judged(text, numbers, witness, data, otherwise=verdict, failed=above > 4)


@derived(
    "BMNS-footnote1",
    "The exponential mechanism over an extended domain, score Tukey depth, finds a point of the convex hull with "
    "O(d^3 log |X|) examples.",
    "Section 1.1, footnote 1",
    short="Examples of the exponential mechanism over an extended domain",
    printed="O(d³ ln |X|)",
    found="{vertices, d=10:.3g} d³ ln |X|/ε over vertices; {Claim 3.5, d=10:.3g} over Claim 3.5's, d = 10",
    best="O(d^3 log |X|) over the common points of d spanned hyperplanes",
    formula="O(d^3 log |X|)",
    argument="A deepest point may be a vertex, the only common point of d hyperplanes that d points of X each span: at "
    "most |X|^(d^2) candidates, and 2 (d + 1) (d^2 ln |X| + ln(1/beta))/epsilon examples. The bound of Claim 3.5 costs "
    "a factor of 2^d in the logarithm.",
)
def _footnote(tools: Tools) -> Evidence:
    numbers: dict[str, float] = {}
    for d in (1, 2, 5, 10, 20):
        points = d * math.log(16)
        numbers[f"vertices, d={d}"] = vertex_examples(d, points) / (d**3 * points)
        candidates = 2**d * (math.log(d) + d * d * (d + 1) * points)
        numbers[f"Claim 3.5, d={d}"] = 2 * (d + 1) * (d * candidates - math.log(BETA)) / (d**3 * points)
    missed = [f"side {side}, counts {counts}" for side, n in ((1, 4), (2, 3)) for counts in shallow_vertices(side, n)]
    most = max(value for name, value in numbers.items() if name.startswith("vertices"))
    growth = numbers["vertices, d=20"] / numbers["vertices, d=10"]
    text = (
        f"|X| = 16^d, epsilon = 1, beta = {BETA}: over the vertices at most {most:.3g} d^3 ln |X| examples, "
        f"d up to 20; over Claim 3.5's domain {numbers['Claim 3.5, d=20']:.3g} at d = 20. In the plane {len(missed)} "
        "multisets of n <= 4 corners or 3 of 3 x 3 points have no vertex of depth n/3"
    )
    witness = [*missed, f"growth {growth:.3g} from d = 10 to 20"][0]
    return judged(text, numbers, witness, {"ratios": numbers}, failed=bool(missed) or growth > 1)


def vertex_examples(d: int, log_points: float) -> float:
    """Return 2 (d + 1) (d^2 ln |X| + ln(1/beta)), epsilon = 1: what the vertices of all |X|^(d^2) d-tuples take."""
    return 2 * (d + 1) * (d * d * log_points - math.log(BETA))


def shallow_vertices(side: int, n: int) -> list[tuple[int, ...]]:
    """Return the multisets of n points of the plane grid none of whose vertices is n/3 deep.

    Vertices are the points of the grid and where two lines through two points of it meet.
    """
    grid = Grid(side, 2).points()
    where = sorted(corners(list(map(tuple, grid.tolist()))))
    found = []
    for counts in compositions(n, len(grid)):
        kept = np.array(counts) > 0
        depths = tukey_depths(grid[kept], np.array(counts)[kept], where)
        found += [counts] * bool(3 * int(depths.max()) < n)
    return found
