"""Statements of BMNS on learning halfspaces, its Section 4."""

from __future__ import annotations

import math
from itertools import combinations, product
from typing import Any

import numpy as np

from dpaudit.contract import Distribution, Evidence, Pair, Tools

from ..halfspaces.concepts import Halfspaces
from ..halfspaces.controls import HalfspaceRefusing
from ..halfspaces.depth.tukey_depth import tukey_depths
from ..halfspaces.exponential import HalfspaceExponential
from ..halfspaces.releases import DeepRecConcave
from ..halfspaces.sizes import printed_examples
from ..halfspaces.tukey import HalfspaceTukey
from .evidence import against, greatest, judged, judged_loss, law_of, listed, losses_of
from .since import HALFSPACES
from .sizes import audit_cases
from .states import derived, gap, misprint, states

EPSILON = 1.0
DELTA = 1e-6
BETA = 0.1
RELEASE_DELTA = 0.01
# Neighbouring lists of h_i, each {number of the halfspace: how often}.
LISTS = {
    "60 alike, or one of them another": ({7: 60}, {7: 59, 2: 1}),
    "two piles, one moves": ({2: 30, 7: 30}, {2: 29, 7: 31}),
}


@states(
    "BMNS-Clm4.1",
    "|HALFSPACE(X)| <= 2 |X|^(d + 1).",
    "Claim 4.1",
    short="Labellings of a grid by halfspaces",
    formula="|HALFSPACE(X)| <= 2 |X|^(d + 1)",
    printed="≤ 2 |X|^(d + 1)",
    found="{side 1, d=3} for 8 points, d = 3",
)
def _dichotomies(tools: Tools) -> Evidence:
    numbers: dict[str, float] = {}
    cases = []
    for side, d in ((1, 1), (7, 1), (1, 2), (2, 2), (3, 2), (1, 3)):
        numbers[f"side {side}, d={d}"] = size = Halfspaces(side, d).size
        data = {"side": side, "dimension": d, "labellings": size}
        cases.append((size / (2 * (side + 1) ** (d * (d + 1))), data))
    text = f"|HALFSPACE(X)|: {listed(numbers)}"
    share, _, data = greatest(cases)
    return judged(text, numbers, text, data, failed=share > 1)


@states(
    "BMNS-Thm4.2",
    "LearnHalfSpace, with a default where a subsample is inconsistent, is as private as the release it calls.",
    "Theorem 4.2, privacy",
    short="LearnHalfSpace is as private as its release",
    formula="A_LearnHalfSpace is (epsilon, delta)-private if A is",
    conditions="epsilon <= 1, delta <= 1/2",
    printed="ε = 1",
    found="ε ≥ {epsilon:.3g} at n = {n}",
    slow=True,
)
def _aggregate(tools: Tools) -> Evidence:
    kinds = ("rec-concave", "positive")
    losses, worst = losses_of(tools, (HalfspaceTukey(1, 1, 1.0, variant=kind) for kind in kinds))
    shown = ", ".join(f"{loss} with the release {kind!r}" for kind, loss in zip(kinds, losses, strict=True))
    # On few candidates RecConcave is no more than the exponential mechanism; from more than 32 on it recurs.
    release = recursive_release()
    spilled = {name: _spill(release, *counts) for name, counts in LISTS.items()}
    leaky = [name for name, (_, spill) in spilled.items() if spill > RELEASE_DELTA]
    pure, spill = (max(values) for values in zip(*spilled.values(), strict=True))
    # That it recurs is part of the case: with one level delta is not spent.
    levels = release.mechanism(release.extended.most[0], 0, 60).levels
    text = (
        f"worst epsilon over samples of two points, 3 subsamples: {shown}; of 1. Lists of 60 h_i on 6 points "
        f"that differ in one, which RecConcave with {levels} levels releases from {release.extended.most[0]} "
        f"candidates: pure loss {pure:.3f}, delta(1) {spill:.2g} of {RELEASE_DELTA:g}"
    )
    numbers = {
        "epsilon": worst.value,
        "coordinates": losses[0].value,
        "n": worst.found.n,
        "levels": levels,
        "pure loss of the recursion": pure,
        "delta(1) of the recursion": spill,
    }
    if leaky:
        witness = f"lists of h_i, {leaky[0]}: delta(1) = {spilled[leaky[0]][1]:.4g}"
    else:
        witness = ""
    return judged_loss(worst, 1.0, text, numbers, failed=bool(leaky), witness=witness)


def recursive_release() -> DeepRecConcave:
    """Return a release that recurs: by coordinates, for halfspaces on 6 points of a line."""
    release = HalfspaceTukey(5, 1, 1.0, RELEASE_DELTA, BETA).release
    assert isinstance(release, DeepRecConcave)
    return release


def _spill(release: DeepRecConcave, one: dict[int, int], other: dict[int, int]) -> tuple[float, float]:
    """Return the pure loss and delta(1) of a release on two lists of h_i, {number of the halfspace: how often} each."""
    sizes = range(Halfspaces(5, 1).size)
    laws = [release.release_law([counts.get(i, 0) for i in sizes]) for counts in (one, other)]
    p, q = (dict(zip(law.atoms, law.log_prob.tolist(), strict=True)) for law in laws)
    both = [(p.get(atom, -math.inf), q.get(atom, -math.inf)) for atom in {*p, *q}]
    # Outputs that neither list gives are no outputs.
    loss = max(abs(a - b) for a, b in both if max(a, b) > -math.inf)
    ways = (both, [(b, a) for a, b in both])
    return loss, max(math.fsum(max(0.0, math.exp(a) - math.exp(1 + b)) for a, b in way) for way in ways)


@gap(
    "BMNS-Fig2-step3",
    "Step 3 may be left undefined on subsamples that no halfspace fits, without loss of privacy.",
    "Figure 2, steps 1 and 3; Theorem 4.2, privacy",
    short="Step 3 may stay undefined without loss of privacy",
    printed="δ = 10⁻⁶",
    found="δ = {delta:.3g} at ε = 1",
    best="δ = 0 with a default halfspace",
    formula="h_i uniform among the h in H that are consistent with S_i",
    conditions="S realizable (step 1); Definition 2.8 asks for privacy on every pair of neighbours",
    argument="Neighbours of a realizable sample need not be realizable. Of one subsample of (0, 0) and (0, 1), one "
    "point with both labels, step 3 has no h_1 and the run can only stop; of its neighbour with (0, 1) twice it never "
    "does. A fixed default in the place of h_i makes the proof right.",
)
def _unrealizable(tools: Tools) -> Evidence:
    learner = HalfspaceRefusing(1, 1, 1.0, subsamples=1)
    one, other = (learner.domain.sample([[0], [0]], [label, 1]) for label in (0, 1))
    law = law_of(tools, learner, samples=[Pair(one, other, "a label moves")])
    text = f"if step 3 stops where a subsample is inconsistent, delta at epsilon = 1 is {law.delta:.4f} instead of 1e-6"
    return judged(text, {"delta": law.delta}, against(law.pair), law.spill, failed=law.leaks)


def printed_sample_size(m: float, r: float, d: int, alpha: float, log_beta: float) -> float:
    """Return (m^2 d ln(m/(r alpha)) + ln(m/beta))/(r alpha), as Theorem 4.2 prints s within its O(.)."""
    return (m * m * d * math.log(m / (r * alpha)) + math.log(m) - log_beta) / (r * alpha)


@misprint(
    "BMNS-Thm4.2-s",
    "s = O((m^2 d ln(m/(r alpha)) + ln(m/beta))/(r alpha)) examples are enough for LearnHalfSpace.",
    "Theorem 4.2, s; again after Corollary 4.3",
    short="Order of the examples to learn halfspaces, as printed",
    printed="fails ≤ β = e^(-m³)",
    found="≥ e^({log failure, C=100:,.0f}) for β = e^({log beta, C=100:,.0f}), 100 times the printed s",
    best="m² (d ln(m/(r alpha)) + ln(m/β))/(r alpha), up to a constant",
    formula="s = O((m^2 d log(m/(r alpha)) + log(m/beta))/(r alpha))",
    conditions="epsilon <= 1, delta <= 1/2, alpha, beta <= 1",
    argument="Figure 2 gives each of the m subsamples Theta((d log(m/(r alpha)) + log(2 m/beta)) m/(r alpha)) of s, "
    "in all m^2 (d log + log) with a parenthesis. Without it log(1/beta) lacks its m^2. A random h_i, delta = 1/m, r = "
    "1, is in the hull. On two points, one with just above alpha, it errs if its subsample has not seen that point and "
    "the coin of step 3 falls so: with probability e^(-O(C m^2)), far above beta = e^(-m^3) for m far above C.",
)
def _printed_s(tools: Tools) -> Evidence:
    alpha = 0.1
    numbers = dict[str, float]()
    cases = []
    for constant in (1, 10, 100):
        m = 4 * constant
        log_beta = -(float(m) ** 3)
        # Half of the probability that no example of the subsample is at the point with 1.001 alpha of the mass.
        each = constant * printed_sample_size(m, 1, 1, alpha, log_beta) / m
        failure = math.log(0.5) + each * math.log1p(-1.001 * alpha)
        numbers |= {f"m, C={constant}": m, f"log beta, C={constant}": log_beta, f"log failure, C={constant}": failure}
        words = f"C = {constant}, m = {m}: ln(failure) = {failure:.4g}, ln(beta) = {log_beta:.4g}"
        cases.append((failure / log_beta, words, {"C": constant, "m": m, "alpha": alpha, "ln failure": failure}))
    text = (
        "a random h_i, delta = 1/m, r = 1, d = 1, alpha = 0.1, beta = e^(-m^3), m = 4 C; with C times the printed s: "
        + "; ".join(words for _, words, _ in cases)
    )
    # No constant C is enough if the failure exceeds beta for each.
    share, witness, data = greatest(cases)
    return judged(text, numbers, witness, data, failed=share < 1)


@derived(
    "BMNS-Thm4.2-utility",
    "LearnHalfSpace is an (alpha, beta)-PAC learner for halfspaces with s = O(m^2 (..)/(r alpha)) examples.",
    "Theorem 4.2",
    short="Examples to learn halfspaces",
    printed="n = {d = 2, agreement: theorem's n:,}",
    found="n = {d = 2, agreement: enough} is enough on a hard case (d = 2)",
    best="n = {d = 2, agreement: theorem's n:,} proved, by agreement (d = 2)",
    slow=True,
    formula="s = O((m^2 d log(m/(r alpha)) + log(m/beta))/(r alpha)), with the parenthesis of BMNS-Thm4.2-s",
    conditions="epsilon <= 1, delta <= 1/2, alpha, beta <= 1",
)
def _halfspaces(tools: Tools) -> Evidence:
    law = np.array([0.101, 0.3, 0.3, 0.299])
    learners = (
        ("d = 2, agreement", HalfspaceTukey(1, 2, EPSILON, subsamples=90, variant="positive"), 5),
        ("d = 1, by coordinates", HalfspaceTukey(3, 1, EPSILON, subsamples=302, variant="exponential"), 3),
    )
    cases = [
        (name, learner, target, Distribution(learner.domain.points(), law, "just above alpha on a corner"))
        for name, learner, target in learners
    ]
    verdict, numbers, sizes, witness, data = audit_cases(tools, cases, alpha=0.1, beta=BETA, halvings=12, trials=60)
    huge, wrong = _printed_halfspaces()
    text = f"{sizes}; " + ", ".join(f"{k} {v:.1e}" for k, v in huge.items()) + f", {wrong} of 100 runs fail"
    # The probability of so many failures, or more, if each run fails with probability beta.
    if math.fsum(math.comb(100, i) * BETA**i * (1 - BETA) ** (100 - i) for i in range(wrong, 101)) < 0.01:
        witness = f"{wrong} of 100 runs at the printed s fail, beta = {BETA}"
    numbers |= {**huge, "failures at the printed s": wrong}
    return judged(text, numbers, witness, data, otherwise=verdict, grade="statistical")


def _printed_halfspaces() -> tuple[dict[str, float], int]:
    """Return the m and s of Theorem 4.2 for d = 2 with printed constants, and how many of 100 runs there fail."""
    d = 2
    alpha = 0.1
    m = math.ceil(printed_examples(d + 1, 2**20, EPSILON, DELTA, BETA / 2))
    each = subsample_examples(d, m, alpha, BETA)
    learner = HalfspaceTukey(1, d, EPSILON, DELTA, BETA, subsamples=m)
    points = learner.domain.points()
    law = np.array([0.101, 0.3, 0.3, 0.299])
    truth = learner.concepts.concept(5).predict(points)
    wrong = 0
    for code in learner.simulate(5, law, m * math.ceil(each), np.random.default_rng(0), 100):
        hypothesis = learner.decode(code)
        wrong += hypothesis is None or float(law[hypothesis.predict(points) != truth].sum()) > alpha
    return {"printed m, d = 2:": m, "printed s, d = 2:": float(m * math.ceil(each))}, wrong


def subsample_examples(d: int, m: float, alpha: float, beta: float) -> float:
    """Return max(4/a' log2(2/b'), 8 (d + 1)/a' log2(13/a')), the classical bound for consistent learners.

    a' = r alpha/m with r = m/(2 (d + 2)), and b' = beta/(2 m): what each of the m subsamples must reach.
    """
    share = alpha / (2 * (d + 2))
    return max(4 / share * (math.log2(4 * m) - math.log2(beta)), 8 * (d + 1) / share * math.log2(13 / share))


def corollary_examples(d: int, epsilon: float, delta: float, alpha: float, beta: float) -> float:
    """Return s = m |S_i| of Theorem 4.2 with FindTukey's printed m, on 2^20 candidates an axis."""
    m = printed_examples(d + 1, 2**20, epsilon, delta, beta / 2)
    return m * subsample_examples(d, m, alpha, beta)


# The exponents of Corollary 4.3; factors that are logarithmic in these are left out there.
PRINTED_GROWTH = {"d": 4.5, "1/epsilon": 1.0, "1/alpha": 1.0, "ln(1/delta)": 1.5, "ln(1/beta)": 2.0}


@derived(
    "BMNS-Cor4.3",
    "Theorem 4.2 with FindTukey needs s = O~(d^4.5 2^O(log* |X| + log* d) ln^1.5(1/delta) ln^2(1/beta)/(epsilon "
    "alpha)) examples.",
    "Corollary 4.3",
    short="Exponents of the examples to learn halfspaces",
    printed="d^4.5 ln^1.5(1/δ) ln²(1/β)/(alpha ε)",
    found="d^{d:.2f} ln^{ln(1/delta):.2f}(1/δ) ln^{ln(1/beta):.2f}(1/β)",
    since=HALFSPACES,
    formula="s = O~(d^4.5 2^O(log*|X| + log* d) log^1.5(1/delta) log^2(1/beta)/(epsilon alpha))",
    conditions="epsilon <= 1, delta < 1/2",
)
def _corollary(tools: Tools) -> Evidence:
    plain = (10, 1.0, 1e-6, 0.1, 0.1)
    # Far out, so that what is added to a leading term, and logarithmic factors, change the exponent little.
    ends = {
        "d": ((2**30, *plain[1:]), (2**40, *plain[1:]), 2.0**10),
        "1/epsilon": ((10, 1e-6, *plain[2:]), (10, 1e-9, *plain[2:]), 1e3),
        "1/alpha": ((*plain[:3], 1e-6, 0.1), (*plain[:3], 1e-9, 0.1), 1e3),
        "ln(1/delta)": ((10, 1.0, 1e-33, 0.1, 0.1), (10, 1.0, 1e-99, 0.1, 0.1), 3.0),
        "ln(1/beta)": ((1, *plain[1:4], 1e-33), (1, *plain[1:4], 1e-99), 3.0),
    }
    growth = {
        name: math.log(corollary_examples(*high) / corollary_examples(*low)) / math.log(factor)
        for name, (low, high, factor) in ends.items()
    }
    above = [name for name, exponent in growth.items() if exponent > PRINTED_GROWTH[name] + 0.25]
    shown = ", ".join(f"{name}: {exponent:.3f} ({PRINTED_GROWTH[name]:g})" for name, exponent in growth.items())
    text = (
        f"exponents of s = m |S_i| with the printed constants of its parts, 2^20 candidates an axis, and those "
        f"of the corollary in brackets: {shown}"
    )
    witness = "; ".join(f"{name}: exponent {growth[name]:.3f}, printed {PRINTED_GROWTH[name]:g}" for name in above)
    data = {"growth": growth, "s at d = 10": corollary_examples(*plain)}
    # Exponents are rounded to the nearest half.
    return judged(text, growth, witness, data, grade="numeric")


@states(
    "BMNS-Thm4.2-agreement",
    "If a halfspace of depth r among the h_i, as points of R^(d + 1), errs on x, at least r of the h_i err on x.",
    "proof of Theorem 4.2, utility",
    short="Where the released halfspace errs, r of the h_i err",
    printed="≥ r",
    found="≥ r in {cases:,} cases; r attained",
    formula="h errs on x => #{i : h_i errs on x} >= r",
    conditions="h has a Tukey depth of at least r with respect to H_0",
    argument="The (a, w) that err on x are an open or a closed halfspace of R^(d + 1); it holds h, and so at least "
    "depth many of the h_i: an open one contains a closed one with the same of these finitely many points and h.",
)
def _agreement(tools: Tools) -> Evidence:
    places = list(product((-1, 0, 1), (-1, 0, 1, 2)))
    counts = np.array([2, 1, 1, 1])
    cases = []
    for start in range(0, len(places) - 4):
        votes = np.array([places[start + i] for i in (0, 1, 3, 4)])
        depths = tukey_depths(votes, counts, places).tolist()
        for ((a, w), depth), x, truth in product(zip(places, depths, strict=True), (-2, 0, 1, 3), (False, True)):
            if (a * x >= w) != truth and depth:
                wrong = int(((votes[:, 0] * x >= votes[:, 1]) != truth) @ counts)
                cases.append((wrong - depth, {"h_i": votes, "h": (a, w), "x": x, "depth": depth, "err": wrong}))
    fewest, witness, data = greatest(cases, least=True)
    text = f"{len(cases)} cases on the line, five h_i each: at least {fewest} more of the h_i err than the depth says"
    data = data if fewest < 0 else {"h_i": votes, "excess": fewest}
    return judged(text, {"cases": len(cases), "excess": fewest}, witness, data, failed=fewest < 0)


# Coefficients of combinations.
WEIGHTS = (1, 2, 5)


@states(
    "BMNS-Cor4.3-remark",
    "If all h_i are right on x, every combination of them with positive coefficients is right on x.",
    "remark after Corollary 4.3",
    short="Positive combinations of the h_i are right where all h_i are",
    printed="right",
    found="right in {cases:,} cases",
    formula="sum_i c_i h_i with all c_i > 0 is right on x if all h_i are",
    argument="Sums of a_i x - w_i that are all >= 0, or all < 0, times positive numbers have that sign.",
)
def _combinations(tools: Tools) -> Evidence:
    cases = 0
    broken = list[dict[str, Any]]()
    places = list(product((-2, -1, 0, 1), (-1, 0, 2)))
    for pair, weights, x in product(combinations(places, 2), product(WEIGHTS, repeat=2), (-2, 0, 1)):
        data = {"h_i": pair, "weights": weights, "x": x}
        single = {a * x >= w for a, w in pair}
        if len(single) == 1:
            a, w = np.array(weights) @ pair
            cases += 1
            broken += [data] * ({bool(a * x >= w)} != single)
    data = [*broken, data][0]
    text = f"{cases} pairs of halflines that are right, coefficients {WEIGHTS}: {len(broken)} combinations are wrong"
    return judged(text, {"cases": cases}, listed(data), data, failed=bool(broken))


@derived(
    "BMNS-Sec4-exponential",
    "The exponential mechanism over all halfspaces learns with O(d log|X|) examples, O(d^2 log T) on [T]^d.",
    "Section 4, first paragraph",
    short="Examples of the exponential mechanism over halfspaces",
    printed="O(d ln |X|)",
    found="≤ {greatest ratio:.3g} d ln |X|, alpha = β = 0.1, ε = 1",
    formula="O(d log |X|), O(d^2 log T)",
    argument="It is the generic learner over at most 2 |X|^(d + 1) labellings, and (epsilon, 0)-private.",
)
def _generic_halfspaces(tools: Tools) -> Evidence:
    numbers: dict[str, float] = {}
    cases = []
    for side, d in ((1, 1), (7, 1), (63, 1), (1, 2), (2, 2), (3, 2), (1, 3)):
        n = HalfspaceExponential(side, d, EPSILON).sample_size(0.1, BETA)
        numbers[f"side {side}, d={d}"] = ratio = n / (d * d * math.log(side + 1))
        cases.append((ratio, {"side": side, "dimension": d, "n": n, "ratio": ratio}))
    most, witness, data = greatest(cases)
    first = numbers["side 1, d=1"]
    text = (
        f"alpha = beta = 0.1, epsilon = 1: n by d^2 ln T is {first:.3g} on two points and at most {most:.3g} "
        "over seven grids"
    )
    # |H| <= 2 |X|^(d + 1), so that ln |H| by d ln |X| is greatest where both are least.
    return judged(text, {**numbers, "greatest ratio": most}, witness, data, failed=most > first)
