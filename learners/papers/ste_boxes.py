"""Statements of lecture 12 (STE) on boxes."""

from __future__ import annotations

import itertools
import math

from dpaudit.contract import Constants, Evidence, Survives, Tools, Verdict

from ..boxes.concepts import BoxTightest
from ..boxes.exponential import BoxExponential
from ..boxes.interior_point import BoxInteriorPoint
from .evidence import errors_data, exceeds, greatest, judged, pair_data, statements_in, states
from .sizes import errors_of_law, hard_case, two_point


@states(
    "STE-Box2-signs",
    "The points on which the rectangle errs, at most 4 m, are negative ones.",
    "boxes by interior points, the error",
    short="The points on which the box errs are negative",
    printed="4 m negative points",
    found="positive ones, with probability {Pr[some positive example wrong]:.3f}",
    formula="errors on at most 4 m negative points",
    failure=Verdict.MISPRINT,
    survives=Survives.YES,
    argument="Four lines above the lecture says that no negative point is wrong and some positive ones may be missed, "
    "and it goes on with 4 m/n for these: positive points are meant.",
)
def _signs(tools: Tools) -> Evidence:
    learner = BoxInteriorPoint(2, 2, 40.0, 0.1)
    m, points = learner.m, [[1, 1], [0, 1], [2, 1], [1, 0], [1, 2]]
    sample = learner.domain.sample(points, [1] * 5, [3 * m, 1, 1, 1, 1])
    p, wrong = errors_of_law(learner, sample)
    numbers = {
        "m": m,
        "Pr[some positive example wrong]": float(p[wrong > 0].sum()),
        "Pr[more than 4 (m - 1) wrong]": float(p[wrong > 4 * (m - 1)].sum()),
        "negative examples": int(sample.counts[sample.labels == 0].sum()),
    }
    text = (
        f"m = {m}: errs on positive examples with probability "
        f"{numbers['Pr[some positive example wrong]']:.3f}, on more than 4 (m - 1) of them with probability "
        f"{numbers['Pr[more than 4 (m - 1) wrong]']:.2g}; none is negative"
    )
    witness = f"all {sample.n} examples positive, one on each face of their box: the errors cannot be negative points"
    data = errors_data(learner, sample, 0, numbers["Pr[some positive example wrong]"])
    return judged(
        Verdict.UNDECIDED, text, numbers, witness, data, failed=numbers["Pr[some positive example wrong]"] > 0.1
    )


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
        for count in (1, learner.m, 2 * learner.m)
    ]
    finding = tools.audit_law(learner, samples=samples)
    numbers = {"epsilon": finding.epsilon, "claim": 20.0, "calls": len(learner.calls)}
    text = (
        f"worst epsilon {finding.epsilon:.3f} of 20 over {finding.pairs} pairs, the count of positives among the calls"
    )
    witness = repr(finding.worst_pair)
    data = pair_data(learner, finding.worst_pair, epsilon=finding.epsilon)
    # Pairs that were chosen bound epsilon from below: the claim may still be attained.
    return judged(Verdict.HOLDS, text, numbers, witness, data, failed=exceeds(finding.epsilon, 20.0))


@states(
    "STE-Boxd",
    "In d dimensions a sample of about d^1.5 suffices.",
    "boxes by interior points in d dimensions",
    formula="n of about d^1.5",
    constants=Constants.OURS,
    short="Growth of n with the dimension",
    printed="d^1.5",
    found="d^{advanced:.2f}",
)
def _dimension(tools: Tools) -> Evidence:
    def needed(dimension: int, delta: float | None) -> int:
        return BoxInteriorPoint(1023, dimension, 1.0, 0.1, delta).utility(0.1, 0.1, "empirical").sample_size

    low, high = 2**7, 2**10
    slopes = {
        name: math.log(needed(high, delta) / needed(low, delta)) / math.log(high / low)
        for name, delta in (("basic", None), ("advanced", 1e-6))
    }
    text = (
        f"from d = {low} to {high} the sample size grows like d^{slopes['advanced']:.2f} by advanced composition and "
        f"like d^{slopes['basic']:.2f} by basic composition (each with a factor ln d)"
    )
    witness = f"the sizes at d = {low} and {high}"
    data = {f"n, d={d}": needed(d, 1e-6) for d in (low, high)}
    failed = slopes["advanced"] > 1.75
    # Logarithmic factors are left out: the exponent is rounded to the nearest half.
    return judged(
        Verdict.LOOSE if slopes["advanced"] < 1.25 else Verdict.HOLDS,
        text,
        slopes,
        witness,
        data,
        failed=failed,
        grade="numeric",
    )


@states(
    "STE-ExpRec",
    "The exponential mechanism's box has score at least OPT - (1/epsilon) log|C| with high probability.",
    "the exponential mechanism for boxes",
    short="The score is at least OPT - (1/ε) log|C|",
    printed="rarely below",
    found="below with probability {below, any base:.3g}, in base 2 and e",
    best="OPT - (2/ε) ln(|C|/β)",
    formula="q(X, f) >= OPT - (1/epsilon) log|C_REC|",
    failure=Verdict.FALSE,
    survives=Survives.YES,
    argument="The weights are exp(epsilon q/2): a lead of g is worth e^(g/2) and has to outweigh |C| - 1 others, so "
    "that (2/epsilon) ln|C| is needed, and ln(1/beta) beside it. The order of n stays as it is.",
)
def _exponential(tools: Tools) -> Evidence:
    learner, beta = BoxExponential(99, 1, 1.0), 0.1
    sample = learner.domain.sample([49, 50, 51], [0, 1, 0], [COPIES] * 3)
    p, wrong = errors_of_law(learner, sample)
    # Also all pairs (a, b), those with a > b included, would be no more than these.
    limit = math.log2(100**2)
    proved = 2 * (math.log(learner.concepts.size) - math.log(beta))
    numbers = {
        "log2 of the pairs (a, b)": limit,
        "below, any base": float(p[wrong > limit].sum()),
        "below OPT - (2/epsilon) ln(|C|/beta)": float(p[wrong > proved].sum()),
    }
    return judged(
        Verdict.UNDECIDED,
        f"|C| = {learner.concepts.size}, epsilon = 1: the score is below OPT - {limit:.2f} (log2 of the 10^4 pairs a, "
        f"b, above ln|C|) with probability {numbers['below, any base']:.3f}, below OPT - 2 ln(|C|/{beta}) with "
        f"probability {numbers['below OPT - (2/epsilon) ln(|C|/beta)']:.2g}",
        numbers,
        f"epsilon = 1, D = 100 points, {COPIES} examples each of (49, 0), (50, 1), (51, 0): one box has score "
        f"{3 * COPIES}, the others at most {2 * COPIES}",
        errors_data(learner, sample, limit, numbers["below, any base"]),
        failed=numbers["below, any base"] > 0.5,
    )


COPIES = 14
"""Examples at each of three points: one error for all of these, more than log2 of the number of boxes."""


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
    learner = BoxTightest(1, 2)
    found = tools.audit_law(learner, n=1)
    text = f"2 x 2 grid, one example, all pairs of neighbours: epsilon = {found.epsilon}"
    data = pair_data(learner, found.worst_pair, epsilon=found.epsilon)
    private = math.isfinite(found.epsilon)
    return judged(Verdict.HOLDS, text, {"epsilon": found.epsilon}, repr(found.worst_pair), data, failed=private)


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
    alpha, learner = 0.2, BoxInteriorPoint(2, 2, 40.0, 0.1)
    n = math.ceil(4 * learner.m / alpha)
    cases = []
    for weights in ((0.2, 0.2, 0.2, 0.2, 0.2), (0.8, 0.05, 0.05, 0.05, 0.05), (0.6, 0.1, 0.1, 0.1, 0.1)):
        counts = [math.floor(n * w) for w in weights]
        counts[0] += n - sum(counts)
        sample = learner.domain.sample([[1, 1], [0, 1], [2, 1], [1, 0], [1, 2]], [1] * 5, counts)
        p, wrong = errors_of_law(learner, sample)
        failure = float(p[wrong > alpha * n].sum())
        cases.append((failure, f"all positive, counts {counts}", errors_data(learner, sample, alpha * n, failure)))
    failure, witness, data = greatest(cases)
    text = (
        f"m = {learner.m}, n = {n} positives in the middle and on the four faces of 3 x 3, three ways: an error above "
        f"alpha = {alpha} has exact probability at most {failure:.2g}, and beta is {learner.beta}"
    )
    numbers = {"n": n, "failure": failure, "beta": learner.beta}
    return judged(Verdict.HOLDS, text, numbers, witness, data, failed=failure > learner.beta)


@states(
    "OURS-BoxTight",
    "The tightest box has error at most alpha with probability 1 - beta on the smaller of two sample sizes.",
    "the tightest box on examples of a distribution",
    short="The tightest box's failure",
    printed="≤ {(1 - alpha)^n:.2g}",
    found="{failure:.2g} at n = {n}",
)
def _tightest(tools: Tools) -> Evidence:
    alpha, beta, learner = 0.3, 0.2, BoxTightest(1, 2)
    n, points = learner.sample_size(alpha, beta), learner.domain.points()
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
    return judged(Verdict.HOLDS, text, numbers, witness, data, failed=failure > beta)


STATEMENTS = statements_in(globals())
