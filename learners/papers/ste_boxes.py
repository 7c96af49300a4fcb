"""Statements of lecture 12 (STE) on boxes, and ours on the interior points of which it makes them."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.contract import Evidence, Pair, Part, StatementVerdict, Tools

from ..boxes.concepts import BoxTightest
from ..boxes.exponential import BoxExponential
from ..boxes.interior_point import BoxInteriorPoint
from ..halfspaces.sizes import log_star
from ..interior_points.interior_point import InteriorPointExponential, InteriorPointTreeLog
from ..interior_points.thresholds import ThresholdInteriorPoint
from ..mechanisms.steps import Multiset, of_counter, ranks
from ..mechanisms.tree_log import TreeLog, leaving_depths
from .evidence import (
    exceeds,
    greatest,
    judged,
    judged_law,
    judged_loss,
    judged_unprivate,
    law_of,
    listed,
    losses_of,
    tightness,
    tried,
)
from .since import THRESHOLDS
from .sizes import compositions, error_case, hard_case, two_point, unsolved, worst_empirical_failure
from .states import derived, false, misprint, states


@misprint(
    "STE-Box2-signs",
    "The points on which the rectangle errs, at most 4 m, are negative ones.",
    "boxes by interior points, the error",
    short="The points on which the box errs are negative",
    printed="4 m negative points",
    found="positive ones, with probability {Pr[some positive example wrong]:.3f}",
    formula="errors on at most 4 m negative points",
    argument="Four lines above the lecture says that no negative point is wrong and some positive ones may be missed, "
    "and it goes on with 4 m/n for these: positive points are meant.",
)
def _signs(tools: Tools) -> Evidence:
    learner = BoxInteriorPoint(2, 2, 40.0, 0.1)
    m = learner.m
    points = [[1, 1], [0, 1], [2, 1], [1, 0], [1, 2]]
    sample = learner.domain.sample(points, [1] * 5, [3 * m, 1, 1, 1, 1])
    some, _, data = error_case(learner, sample, 0)
    # At most m - 1 points beyond each of the four faces.
    many, _, _ = error_case(learner, sample, 4 * (m - 1))
    numbers = {"m": m, "Pr[some positive example wrong]": some, "Pr[more than 4 (m - 1) wrong]": many}
    numbers["negative examples"] = int(sample.counts[sample.labels == 0].sum())
    text = (
        f"m = {m}: errs on positive examples with probability {some:.3f}, on more than 4 (m - 1) of them with "
        f"probability {many:.2g}; none is negative"
    )
    witness = f"all {sample.n} examples positive, one on each face of their box: the errors cannot be negative points"
    return tried(text, numbers, witness, data, failed=some > 0.1)


@states(
    "STE-Box2",
    "Four interior points at epsilon/4 each (and the count) are epsilon-private.",
    "boxes by interior points, privacy",
    formula="4 calls, each (epsilon/4, delta/4)-private: (epsilon, delta)",
    argument="Basic composition; our learner makes a fifth call, the count of positives, and divides by five.",
    short="Four interior points at ε/4 each: their ε",
    printed="ε = {claim:.3g}",
    found="ε = {epsilon:.3g}",
)
def _plane(tools: Tools) -> Evidence:
    learner = BoxInteriorPoint(1, 2, 20.0, 0.9)
    points = learner.domain.points()
    samples = [
        learner.domain.sample(points, labels, [count, 1, 1, count])
        for labels in itertools.product((0, 1), repeat=4)
        # Fewer positives than m, as many, and more: the count decides differently.
        for count in (1, learner.m, 2 * learner.m)
    ]
    law = law_of(tools, learner, samples=samples)
    numbers = {"epsilon": law.epsilon, "claim": 20.0, "calls": len(learner.calls)}
    text = f"worst epsilon {law.epsilon:.3f} of 20 over {law.found.pairs} pairs, the count of positives among the calls"
    # Pairs that were chosen bound epsilon from below: the claim may still be attained.
    return judged_law(law, text, numbers, leaks=exceeds(law.epsilon, 20.0))


@derived(
    "STE-Boxd",
    "In d dimensions a sample of about d^1.5 suffices.",
    "boxes by interior points in d dimensions",
    formula="n of about d^1.5",
    short="Growth of n with the dimension",
    printed="d^1.5",
    found="d^{advanced:.2f}",
)
def _dimension(tools: Tools) -> Evidence:
    low = 2**7
    high = 2**10
    sizes = {
        (d, delta): BoxInteriorPoint(1023, d, 1.0, 0.1, delta).utility(0.1, 0.1, "empirical").sample_size
        for d, delta in itertools.product((low, high), (None, 1e-6))
    }
    basic, advanced = (
        math.log(sizes[high, delta] / sizes[low, delta]) / math.log(high / low) for delta in (None, 1e-6)
    )
    text = (
        f"from d = {low} to {high} the sample size grows like d^{advanced:.2f} by advanced composition and "
        f"like d^{basic:.2f} by basic composition (each with a factor ln d)"
    )
    witness = f"the sizes at d = {low} and {high}"
    data = {f"n, d={d}": sizes[d, 1e-6] for d in (low, high)}
    # Logarithmic factors are left out: the exponent is rounded to the nearest half.
    otherwise = StatementVerdict.LOOSE if advanced < 1.25 else StatementVerdict.HOLDS
    failed = advanced > 1.75
    numbers = {"basic": basic, "advanced": advanced}
    return judged(text, numbers, witness, data, otherwise=otherwise, failed=failed, grade="numeric")


@false(
    "STE-ExpRec",
    "The exponential mechanism's box has score at least OPT - (1/epsilon) log|C| with high probability.",
    "the exponential mechanism for boxes",
    short="The score is at least OPT - (1/ε) log|C|",
    printed="rarely below",
    found="below with probability {below, any base:.3g}, in base 2 and e",
    best="OPT - (2/ε) ln(|C|/β)",
    formula="q(X, f) >= OPT - (1/epsilon) log|C_REC|",
    argument="The weights are exp(epsilon q/2): a lead of g is worth e^(g/2) and has to outweigh |C| - 1 others, so "
    "that (2/epsilon) ln|C| is needed, and ln(1/beta) beside it. The order of n stays as it is.",
)
def _exponential(tools: Tools) -> Evidence:
    learner = BoxExponential(99, 1, 1.0)
    beta = 0.1
    sample = learner.domain.sample([49, 50, 51], [0, 1, 0], [COPIES] * 3)
    # Also all pairs (a, b), those with a > b included, would be no more than these.
    limit = math.log2(100**2)
    below, _, data = error_case(learner, sample, limit)
    proved, _, _ = error_case(learner, sample, 2 * (math.log(learner.concepts.size) - math.log(beta)))
    text = (
        f"|C| = {learner.concepts.size}, epsilon = 1: the score is below OPT - {limit:.2f} (log2 of the 10^4 pairs a, "
        f"b, above ln|C|) with probability {below:.3f}, below OPT - 2 ln(|C|/{beta}) with probability {proved:.2g}"
    )
    numbers = {"log2 of the pairs (a, b)": limit, "below, any base": below}
    numbers["below OPT - (2/epsilon) ln(|C|/beta)"] = proved
    witness = (
        f"epsilon = 1, D = 100 points, {COPIES} examples each of (49, 0), (50, 1), (51, 0): one box has score "
        f"{3 * COPIES}, the others at most {2 * COPIES}"
    )
    return tried(text, numbers, witness, data, failed=below > 0.5)


# Examples at each of three points: one error for all of these, more than log2 of the number of boxes.
COPIES = 14


@states(
    "STE-Box-privacy",
    "The smallest box that contains the positive points is not differentially private.",
    "boxes without privacy",
    short="The tightest box is not private",
    printed="no ε",
    found="ε = {epsilon}",
    formula="the smallest box fails once privacy is asked for",
)
def _tightest_privacy(tools: Tools) -> Evidence:
    law = law_of(tools, BoxTightest(1, 2), n=1)
    return judged_unprivate(law, f"2 x 2 grid, one example, all pairs of neighbours: epsilon = {law.epsilon}")


@states(
    "STE-Box2-size",
    "Each of the four calls misses at most m points, so that n >= 4 m/alpha examples suffice.",
    "boxes by interior points, the error",
    short="Four calls miss at most 4 m points: n ≥ 4 m/alpha suffices",
    printed="fails ≤ β = {beta}",
    found="fails {failure:.2g} at n = {n}",
    formula="n >= 4 m/alpha",
    argument="A point inside of the m extreme values of a face leaves out at most m - 1 of them.",
)
def _faces(tools: Tools) -> Evidence:
    alpha = 0.2
    learner = BoxInteriorPoint(2, 2, 40.0, 0.1)
    n = math.ceil(4 * learner.m / alpha)
    cases = []
    for weights in ((0.2, 0.2, 0.2, 0.2, 0.2), (0.8, 0.05, 0.05, 0.05, 0.05), (0.6, 0.1, 0.1, 0.1, 0.1)):
        counts = [math.floor(n * w) for w in weights]
        # Rounding leaves a few examples, which go to the middle.
        counts[0] += n - sum(counts)
        sample = learner.domain.sample([[1, 1], [0, 1], [2, 1], [1, 0], [1, 2]], [1] * 5, counts)
        cases.append(error_case(learner, sample, alpha * n, f"all positive, counts {counts}"))
    failure, witness, data = greatest(cases)
    text = (
        f"m = {learner.m}, n = {n} positives in the middle and on the four faces of 3 x 3, three ways: an error above "
        f"alpha = {alpha} has exact probability at most {failure:.2g}, and beta is {learner.beta}"
    )
    numbers = {"n": n, "failure": failure, "beta": learner.beta}
    return judged(text, numbers, witness, data, failed=failure > learner.beta)


def tree_points(bits: int, epsilon: float, delta: float) -> int:
    """Return m, the points from which TreeLog finds an interior one on 2^bits points, with probability 0.95."""
    return TreeLog.within(2**bits, 1, Fraction(epsilon), Fraction(delta), 0.05).points_needed


# Domains of 2^16 to 2^16384 points, of which log* is 4 and 5.
BITS = (16, 64, 256, 2**14)
DELTAS = (1e-6, 1e-12, 1e-24)


@derived(
    "STE-Box2-m",
    "An interior point of m examples of D is found privately for m of about (1/epsilon) log^2(1/delta) log*|D|, so "
    "that boxes take about m/alpha examples.",
    "boxes by interior points, m",
    short="Examples for a private interior point",
    printed="ln(1/δ)²",
    found="ln(1/δ)^{exponent of delta:.2f}; {m, 2^64:,} points of 2^64, {m, 2^16384:,} of 2^16384",
    best="about (1/ε) ln(1/δ) log*|D|, by TreeLog",
    since=THRESHOLDS,
    formula="m of about (1/epsilon) log^2(1/delta) log*|D|, n of about m/alpha",
    argument="The m of TreeLog, which the row OURS-TreeLog checks: its tests take ln(1/delta)/epsilon examples each, "
    "once in every level of the recursion. What the lecture asks for is met with room, as the square is not needed.",
)
def _interior_points(tools: Tools) -> Evidence:
    sizes: dict[str, float] = {f"m, 2^{bits}": tree_points(bits, 1.0, DELTAS[0]) for bits in BITS}
    deltas = [tree_points(64, 1.0, delta) for delta in DELTAS]
    exponent = math.log(deltas[-1] / deltas[0]) / math.log(math.log(DELTAS[-1]) / math.log(DELTAS[0]))
    inverse = math.log10(tree_points(64, 0.1, DELTAS[0]) / deltas[0])
    # Growth with the domain beside that of log*, of which the last domain has one more than the first.
    growth = sizes[f"m, 2^{BITS[-1]}"] / sizes[f"m, 2^{BITS[0]}"]
    stars = [1 + log_star(bits) for bits in (BITS[0], BITS[-1])]
    # On a domain whose law can be computed m points suffice.
    learner = InteriorPointTreeLog(256, 1.0, DELTAS[0], 0.05)
    m = learner.points_needed(0.05)
    failure = unsolved(learner, learner.domain.sample([127, 128], [0, 0], [m // 2, m - m // 2]))
    shown = {"exponent of delta": exponent, "exponent of 1/epsilon": inverse, "growth": growth, "failure": failure}
    numbers = sizes | shown
    text = (
        f"epsilon = 1, delta = 1e-6, beta = 0.05: {listed(sizes)}; "
        f"log* grows from {stars[0]} to {stars[1]}, m by the factor {growth:.3f}; it grows like ln(1/delta)^"
        f"{exponent:.2f} from delta = 1e-6 to 1e-24 and like (1/epsilon)^{inverse:.2f} from 1 to 10; on 256 points the "
        f"m = {m} fail with exact probability {failure:.2g}"
    )
    data = {"kind": "sizes", "bits": BITS, "deltas": DELTAS, "m by delta": deltas, **numbers}
    # Logarithmic factors are left out: exponents are rounded to the nearest half.
    failed = exponent > 2.25 or inverse > 1.25 or growth > stars[1] / stars[0] or failure > 0.05
    return judged(text, numbers, text, data, otherwise=tightness(exponent, 2), failed=failed, grade="numeric")


@states(
    "OURS-BoxTight",
    "The tightest box has error at most alpha with probability 1 - beta on the smaller of two sample sizes.",
    "the tightest box on examples of a distribution",
    short="The tightest box's failure",
    printed="≤ {(1 - alpha)^n:.2g}",
    found="{failure:.2g} at n = {n}",
)
def _tightest(tools: Tools) -> Evidence:
    alpha = 0.3
    beta = 0.2
    learner = BoxTightest(1, 2)
    n = learner.sample_size(alpha, beta)
    points = learner.domain.points()
    cases = []
    for code, hard in itertools.product(range(learner.concepts.size), range(4)):
        law = two_point(points, hard, 3 - hard, alpha + 0.001)
        cases.append(hard_case(learner, code, law, n, alpha, f"box {code}, mass {alpha + 0.001:g} on point {hard}"))
    failure, witness, data = greatest(cases)
    text = (
        f"2 x 2 grid: the smaller of (2 d/alpha) ln(2 d/beta) and (ln|C| + ln(1/beta))/alpha is n = {n}; "
        f"just above alpha = {alpha} on a point the exact failure is at most {failure:.4f} over all boxes and "
        f"points, and beta is {beta}"
    )
    numbers = {"n": n, "failure": failure, "(1 - alpha)^n": (1 - alpha - 0.001) ** n}
    return judged(text, numbers, witness, data, failed=failure > beta)


@states(
    "OURS-IPP",
    "The exponential mechanism is epsilon-private and finds an interior point of n >= (4/epsilon) ln(T/beta).",
    "the interior point problem",
    short="Failure to find an interior point of n ≥ (4/ε) ln(T/β)",
    printed="fails ≤ 0.2",
    found="fails {failure:.2g} at n = {n}",
)
def _interior(tools: Tools) -> Evidence:
    beta = 0.2
    learner = InteriorPointExponential(5, 1.0)
    n = learner.points_needed(beta)
    (loss,), _ = losses_of(tools, [learner])
    failure, worst = max(
        (unsolved(learner, learner.domain.sample(range(5), [0] * 5, counts)), counts) for counts in compositions(n, 5)
    )
    # How often it fails with far fewer examples than the theorem's.
    few = unsolved(learner, learner.domain.sample([2, 3], [0, 0], [2, 2]))
    text = (
        f"T = 5, epsilon = 1: exact epsilon {loss}; n = (4/epsilon) ln(T/beta) = {n}: over all {math.comb(n + 4, 4)} "
        f"data the exact failure is at most {failure:.4f}, at {list(worst)}, and beta is {beta}; {few:.4f} with n = 4"
    )
    numbers = {"epsilon": loss.value, "n": n, "failure": failure, "failure with 4": few}
    failed = failure > beta
    return judged_loss(loss, 1.0, text, numbers, failed=failed, witness=f"{list(worst)} examples at the points 0 .. 4")


@states(
    "OURS-Thr",
    "An interior point of the m largest positive and m smallest negative examples errs on at most m - 1 of them.",
    "the interior point problem",
    short="A threshold from an interior point: m - 1 errors, ε",
    printed="fails ≤ 0.5, ε = 4",
    found="fails {failure:.2g} at n = {n}, ε = {epsilon:.3g}",
)
def _thresholds(tools: Tools) -> Evidence:
    alpha = 0.25
    beta = 0.5
    learner = ThresholdInteriorPoint(4, 4.0, 0.5)
    n = learner.utility(alpha, beta, "empirical").sample_size
    law = law_of(tools, learner, n=4)
    failure, worst = worst_empirical_failure(learner, n, alpha)
    text = (
        f"T = 4, epsilon = 4, m = {learner.m}: exact epsilon {law.epsilon:.4f} (n = 4, all pairs; a "
        f"flipped label moves two values, so the mechanism is charged for a group of two); on n = (m - 1)/alpha = "
        f"{n} examples an error above alpha = {alpha} has exact probability at most {failure:.4f} over all labelled "
        f"samples, and beta is {beta}"
    )
    numbers = {"epsilon": law.epsilon, "m": learner.m, "n": n, "failure": failure}
    data = {**law.data, "n": n, "failure": failure}
    leaks = exceeds(law.epsilon, 4.0)
    return judged_law(law, text, numbers, leaks=leaks, data=data, failed=failure > beta, witness=worst)


@states(
    "OURS-TreeLog",
    "TreeLog, every call charged, is (epsilon, delta)-private and finds one.",
    "the interior point problem",
    short="TreeLog, every call charged: its δ",
    printed="δ = 0.01",
    found="δ = {delta:.2g}",
)
def _tree(tools: Tools) -> Evidence:
    beta = 0.1
    learner = InteriorPointTreeLog(32, 2.0, 0.01, 0.1)
    n = learner.points_needed(beta)
    half = [n // 2, n - n // 2]
    even = [n // 32 + 1] * 32
    # Piles side by side at the middle of the tree, far apart, a single pile, and no pile at all.
    data = [([15, 16], half), ([0, 31], half), ([7], [n]), (range(32), even)]
    samples = [learner.domain.sample(list(xs), [0] * len(counts), counts) for xs, counts in data]
    failure, worst = max((unsolved(learner, sample), repr(sample)) for sample in samples)
    pairs = []
    for a, b in ((15, 16), (0, 31), (3, 4)):
        for share in (0, 1, n // 3, n // 2, n - 1):
            left = learner.domain.sample([a, b], [0, 0], [n - share, share])
            pairs.append(Pair(left, learner.domain.sample([a, b], [0, 0], [n - share - 1, share + 1])))
    law = law_of(tools, learner, samples=pairs)
    text = (
        f"T = 32, epsilon = 2, delta = 0.01: on {len(pairs)} pairs of n = {n} examples at most delta "
        f"{law.delta:.2g} is needed at epsilon = 2 (exact epsilon {law.epsilon:.4f}); the point is not "
        f"interior with exact probability at most {failure:.2g} on data side by side, apart, equal, spread, and beta "
        f"is {beta}"
    )
    numbers = {"delta": law.delta, "epsilon": law.epsilon, "n": n, "failure": failure}
    return judged_law(law, text, numbers, data=law.spill, failed=failure > beta, witness=worst)


# Elements below the left child of the last balanced node: its path goes on and on; below the right there is a pile.
HEAVY_LEFT = ((240, 12), (244, 6), (246, 3), (247, 4))
PILE = 248
# On 2^8 points: ends that the margins take, four levels whose lighter child is small, and a node of 25 against 26.
EXAMPLES = {0: 6, 42: 36, 149: 25, 202: 25, 229: 25, **dict(HEAVY_LEFT), PILE: 26, 255: 6}


@dataclass(frozen=True)
class ShallowFirst(TreeLog):
    """TreeLog whose slice S are the elements that leave the heavy path first."""

    def _embedding(self, middle: Multiset) -> tuple[Multiset, Multiset]:
        points, counts = middle
        depths = leaving_depths(points, counts, self.height)
        order = sorted(range(len(points)), key=lambda i: (depths[i], points[i]))
        taken: Counter[int] = Counter()
        rest: Counter[int] = Counter()
        for i in order:
            some = min(self.deep - taken.total(), counts[i])
            taken[points[i]] += some
            rest[depths[i]] += counts[i] - some
        return of_counter(taken), of_counter(rest)


class _Sliced(InteriorPointTreeLog):
    """The learner with that mechanism, and the sound one's claim."""

    def _tree(self, n: int) -> TreeLog:
        return ShallowFirst.within(self.domain_size, n, Fraction(self.epsilon), self.delta, self.beta)


@false(
    "OURS-TreeLog-slices",
    "TreeLog is (epsilon, delta)-private too if it slices off the elements that leave the heavy path first.",
    "dpaudit_learners.mechanisms.tree_log, with a fault",
    part=Part.AUDITOR,
    formula="slices off the elements that leave the heavy path first: delta <= 0.01",
    argument="One example that moves changes many embedded values; the deepest first is right.",
    short="TreeLog may slice either end of the embedding",
    printed="δ = 0.01",
    found="δ ≥ {delta:.3g}; {moved} embedded values change, not 1",
    best="the deepest first: δ ≤ {delta of the sound one:.2g} on that pair",
)
def _slices(tools: Tools) -> Evidence:
    learner, sound = (kind(256, 4.0, 0.01, 0.5) for kind in (_Sliced, InteriorPointTreeLog))
    moved = Counter(EXAMPLES) - Counter([PILE]) + Counter([HEAVY_LEFT[0][0]])
    samples = [learner.domain.sample(list(c), [0] * len(c), list(c.values())) for c in (EXAMPLES, moved)]
    pair = Pair(samples[0], samples[1], "one example of the pile moves to the left")
    law, right = (law_of(tools, one, samples=[pair]) for one in (learner, sound))
    tree = learner._tree(samples[0].n)
    before, after = (_rest(tree, dict(sorted(c.items()))) for c in (EXAMPLES, moved))
    differ = (before - after).total()
    text = (
        f"2^8 points, epsilon = 4, delta = 0.01: a pair of {samples[0].n} examples whose paths part at a node "
        f"of 25 against 26: {differ} of the embedded values that the recursion gets differ, and delta(4) is "
        f"{law.delta:.4f}. With the deepest elements sliced off it is {right.delta:.2g}"
    )
    numbers = {"delta": law.delta, "delta of the sound one": right.delta, "moved": differ}
    witness = f"the example {PILE} of {EXAMPLES} replaced by {HEAVY_LEFT[0][0]}"
    data: dict[str, Any] = {"size": 256, "margin": tree.margin, "slice": tree.deep}
    data |= {"data": sorted(EXAMPLES.items()), "neighbour": sorted(moved.items()), "moved": differ}
    return tried(text, numbers, witness, data, failed=law.leaks)


def _rest(tree: TreeLog, data: dict[int, int]) -> Counter[int]:
    """Return the embedded values that the recursion gets."""
    _, rest = tree._embedding(ranks((list(data), list(data.values())), tree.margin, tree.n - tree.margin))
    return Counter(dict(zip(*rest, strict=True)))
