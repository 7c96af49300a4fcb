"""Statements of lecture 12 (STE) on boxes."""

from __future__ import annotations

import itertools
import math

from dpaudit.contract import Evidence, Tools, Verdict
from learners.boxes.concepts import BoxTightest
from learners.boxes.exponential import BoxExponential
from learners.boxes.interior_point import BoxInteriorPoint
from learners.papers.evidence import against, errors_data, pair_data
from learners.papers.sizes import errors_of_law, hard_case, two_point
from learners.papers.verdicts import exceeds, greatest, judged, statements_in, states, tightness


@states(
    "STE-Box2-signs",
    "The rectangle errs on at most 4 m negative points.",
    "boxes by interior points",
    short="The box errs on negative points only",
    printed="positives wrong: never",
    found="with probability {Pr[some positive example wrong]:.3f}",
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
    "STE-Box2-count",
    "Too few positives are noticed easily, without a share of the budget.",
    "boxes by interior points",
    short="Too few positives are noticed without a share of the budget",
    printed="ε = 8",
    found="ε = {epsilon, literal}, δ(8) = {delta at claim, literal:.3g}",
)
def _count(tools: Tools) -> Evidence:
    literal = BoxInteriorPoint(2, 1, 8.0, 0.8, literal=True)
    repaired = BoxInteriorPoint(2, 1, 8.0, 0.8)
    found, sound = tools.audit_law(literal, n=4), tools.audit_law(repaired, n=4)
    numbers = {
        "epsilon, literal": found.epsilon,
        "delta at claim, literal": found.delta_at_claim,
        "epsilon, repaired": sound.epsilon,
        "m, literal": literal.m,
        "m, repaired": repaired.m,
    }
    text = (
        f"all samples of 4 examples, d = 1. Exact count: epsilon {found.epsilon}, delta(8) = "
        f"{found.delta_at_claim:.3f}; noisy count as one of three calls: epsilon {sound.epsilon:.3f} of 8, and m "
        f"goes from {literal.m} to {repaired.m}"
    )
    witness = f"{against(found.worst_pair)}: {literal.m} or fewer positives"
    data = pair_data(literal, found.worst_pair, epsilon=found.epsilon)
    return judged(Verdict.HOLDS, text, numbers, witness, data, failed=exceeds(found.epsilon, 8.0))


@states(
    "STE-Box2",
    "Four interior points at epsilon/4 each (and the count) are epsilon-private.",
    "boxes by interior points",
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
    return judged(tightness(finding.epsilon, 20.0), text, numbers, witness, data, failed=exceeds(finding.epsilon, 20.0))


@states(
    "STE-Boxd",
    "In d dimensions a sample of about d^1.5 suffices.",
    "boxes by interior points",
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
    "The exponential mechanism's box has score at least OPT - (1/epsilon) ln|C| with high probability.",
    "the exponential mechanism",
    short="The score is at least OPT - (1/ε) ln|C|",
    printed="rarely below",
    found="below with probability {Pr[score < OPT - ln|C|/epsilon]:.3g}",
)
def _exponential(tools: Tools) -> Evidence:
    learner, beta = BoxExponential(39, 1, 1.0), 0.1
    sample = learner.domain.sample([19, 20, 21], [0, 1, 0], [9, 9, 9])
    p, wrong = errors_of_law(learner, sample)
    size = math.log(learner.concepts.size)
    numbers = {
        "ln|C|": size,
        "Pr[score < OPT - ln|C|/epsilon]": float(p[wrong > size].sum()),
        "Pr[score < OPT - (2/epsilon) ln(|C|/beta)]": float(p[wrong > 2 * (size - math.log(beta))].sum()),
    }
    return judged(
        Verdict.UNDECIDED,
        f"|C| = {learner.concepts.size}, epsilon = 1: the score is below OPT - {size:.2f} with probability "
        f"{numbers['Pr[score < OPT - ln|C|/epsilon]']:.3f}, below OPT - 2 (ln|C| + ln 10) with probability "
        f"{numbers['Pr[score < OPT - (2/epsilon) ln(|C|/beta)]']:.2g}, where at most 0.1 is proved",
        numbers,
        "D = 40 points on a line, 9 examples each of (19, 0), (20, 1), (21, 0): one box of score 27, the others 18",
        errors_data(learner, sample, size, numbers["Pr[score < OPT - ln|C|/epsilon]"]),
        failed=numbers["Pr[score < OPT - ln|C|/epsilon]"] > 0.5,
    )


@states(
    "STE-BoxTight",
    "The tightest box has error at most alpha with probability 1 - beta on the smaller of two sample sizes.",
    "boxes without privacy",
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
