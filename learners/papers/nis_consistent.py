"""Statements of "Private Learning 1" (NIS) on learners without privacy: consistent hypotheses, and dichotomies."""

from __future__ import annotations

import itertools

import numpy as np

from dpaudit.contract import Distribution, Evidence, StatementVerdict, Tools

from ..arrays import Integers, Labels
from ..conjunctions.concepts import Conjunctions
from ..domains import Cube
from ..finite.consistent import vc_dimension
from ..parities.concepts import Parities, ParityElimination
from ..points.concepts import Intervals, OccamConsistent, PointConsistent, Points, ThresholdConsistent, Thresholds
from .evidence import errors_data, greatest, judged, judged_unprivate, law_of, tried
from .sizes import answer, hard_case, two_point
from .states import Cases, at_most, derived, false, misprint, states


@states(
    "NIS-Point",
    "The point learner fails with probability at most (1 - alpha)^n.",
    "Example 0: learning points",
    formula="Pr[error > alpha] <= (1 - alpha)^n",
    short="The point learner's failure",
    printed="≤ {bound:.3g}",
    found="{failure:.3g}",
)
def _point(tools: Tools) -> Evidence:
    alpha = 0.1
    beta = 0.05
    learner = PointConsistent(8)
    n = learner.sample_size(alpha, beta)
    cases = []
    for target, mass in itertools.product(range(8), (alpha * 1.001, 2 * alpha, 0.5)):
        # The learner errs only if it never sees the target's point, so that its mass alone decides; another point has
        # the rest.
        law = two_point(learner.domain.points(), target, (target + 1) % 8, mass)
        cases.append(hard_case(learner, target, law, n, alpha, f"target {target} with mass {mass:g}"))
    failure, where, data = greatest(cases)
    bound = (1 - alpha) ** n
    text = (
        f"at n = {n} the failure probability, over all targets and masses {alpha * 1.001:g}, {2 * alpha:g} "
        f"and 0.5 of the target, is at most {failure:.6f}; (1 - alpha)^n = {bound:.6f}, and beta is {beta}"
    )
    numbers = {"n": n, "failure": failure, "bound": bound, "beta": beta}
    otherwise = StatementVerdict.HOLDS if bound <= beta else StatementVerdict.UNDECIDED
    return judged(text, numbers, where, data, otherwise=otherwise, failed=failure > bound)


@states(
    "NIS-Occam",
    "n >= (ln|C| + ln(1/beta))/alpha suffices for consistent learners.",
    "PAC learning finite concept classes",
    formula="n >= (log|C| + log(1/beta))/alpha",
    short="Examples for consistent learners",
    printed="fails ≤ {beta}",
    found="fails {failure:.2g} at n = {n}",
)
def _occam(tools: Tools) -> Evidence:
    alpha = 0.3
    beta = 0.2
    learner = OccamConsistent(3)
    n = learner.sample_size(alpha, beta)
    cases = []
    # Masses just above alpha on single points or on ends of intervals, where a consistent interval may err.
    for weights in (0.34, 0.33, 0.33), (0.31, 0.38, 0.31), (0.301, 0.301, 0.398), (0.398, 0.301, 0.301):
        law = Distribution(learner.domain.points(), np.array(weights))
        for code in range(learner.concepts.size):
            cases.append(hard_case(learner, code, law, n, alpha, f"interval {code}, probabilities {weights}"))
    worst, where, data = greatest(cases)
    text = (
        f"intervals on 3 points, n = {n}: over all targets and 4 distributions just above alpha the exact "
        f"failure probability is at most {worst:.5f}; beta is {beta}"
    )
    return judged(text, {"n": n, "failure": worst, "beta": beta}, where, data, failed=worst > beta)


@misprint(
    "NIS-Thr",
    "c_i with i the largest (i, 1) is consistent, for c_j(x) = 1 iff x < j.",
    "Example 1: learning thresholds, both slides",
    short="c_i for the largest positive i fits the sample, c_j(x) = 1 iff x < j",
    printed="no error",
    formula="c_j(x) = 1 iff x < j; return c_i, i the largest with (i, 1)",
    argument="Thresholds are defined twice, by x < j and, on the slide of the learner, by x <= j. The learner is right "
    "for its own slide's; for the other it returns c_(i+1).",
    found="{errors_literal} error on one example",
)
def _threshold(tools: Tools) -> Evidence:
    printed = ThresholdConsistent(4, literal=True)
    repaired = ThresholdConsistent(4)
    samples = [
        printed.domain.sample(list(xs), concept.predict(np.array(xs)[:, None]))
        for concept in printed.concepts.enumerate()
        for size in (1, 2, 3, 4)
        for xs in itertools.combinations(range(4), size)
    ]
    wrong = [sample.errors(answer(printed, sample)) for sample in samples]
    most = max(wrong)
    right = max(sample.errors(answer(repaired, sample)) for sample in samples)
    worst = samples[wrong.index(most)]
    text = (
        f"all {len(samples)} samples of distinct points that a threshold on 4 points labels: c_i of c_j(x) = 1 iff x < "
        f"j errs on {sum(w > 0 for w in wrong)} of them, by up to {most}; c_(i+1) (or x <= j) by up to {right}"
    )
    numbers = {"errors_literal": most, "errors_repaired": right, "samples": len(samples)}
    witness = f"{worst!r}: c_i of its largest positive i gives i the label 0"
    return judged(text, numbers, witness, errors_data(printed, worst, 0, float(most > 0)), failed=most > 0)


@derived(
    "NIS-Thr-size",
    "The threshold learner fails with probability at most (1 - alpha)^n, so that O(1) examples suffice.",
    "Example 1: learning thresholds",
    short="The threshold learner's failure",
    printed="≤ {bound:.3g}",
    found="{failure:.3g} on the hard cases",
    formula="O(1) samples",
    argument="The error exceeds alpha only if the mass above alpha next to the target holds no positive example.",
)
def _threshold_size(tools: Tools) -> Evidence:
    alpha = 0.1
    n = 30
    learner = ThresholdConsistent(6)
    cases = []
    for target, hard in itertools.product(range(learner.concepts.size), range(6)):
        # Just above alpha: without an example there the learner may err by more than alpha.
        law = two_point(learner.domain.points(), hard, (hard + 1) % 6, alpha * 1.001)
        cases.append(hard_case(learner, target, law, n, alpha, f"target c_{target}, mass {alpha * 1.001:g} on {hard}"))
    failure, where, data = greatest(cases)
    bound = (1 - alpha) ** n
    text = f"6 points, n = {n}, alpha = {alpha}: at most {failure:.6f} over all targets; (1 - alpha)^n = {bound:.6f}"
    numbers = {"n": n, "failure": failure, "bound": bound}
    return judged(text, numbers, where, data, failed=failure > bound)


def without_positives(concepts: Points | Thresholds, points: Integers) -> Labels:
    """Return the labels of the hypotheses among which the learner draws evenly if no example is positive."""
    return concepts.evaluate(points)


def _random_hypothesis(concepts: Points | Thresholds, target: str) -> Evidence:
    """Return the evidence where the target is 0 on all of the mass, and any hypothesis may be the answer."""
    alpha = 0.1
    points = concepts.domain.points()
    labels = without_positives(concepts, points)
    # All of the mass is on the first point: what is labelled 1 there errs everywhere.
    failure = float((labels[:, 0] == 1).mean())
    size = concepts.domain_size
    text = (
        f"{size} points, all mass on the first, which {target} labels 0: no sample, however large, has a positive "
        f"example, and a random hypothesis labels that point 1, an error of 1, with probability {failure:.4f}"
    )
    data = {"domain_size": size, "target": target, "probabilities": [1.0] + [0.0] * (size - 1), "failure": failure}
    numbers = {"failure": failure, "points": size}
    witness = f"T = {size}, target {target}, all mass on the first point: at every n Pr[error = 1] = {failure:.4f}"
    return tried(text, numbers, witness, data, failed=failure > alpha)


@false(
    "NIS-Thr-random",
    "If all labels are zero, the threshold learner may return a random concept.",
    "Example 1: learning thresholds, the learner",
    short="A random threshold may be returned if all labels are zero",
    printed="fails ≤ β with O(1) examples",
    found="fails {failure:.3g} at every n",
    best="h = 0",
    formula="all labels are zero: h = 0 (or a random h in C)",
    argument="Where the mass is on the first point and the target is 0 there, T of the T + 1 thresholds are wrong on "
    "all of it, whatever n and whichever definition. The first alternative, h = 0, is right.",
)
def _random_threshold(tools: Tools) -> Evidence:
    return _random_hypothesis(Thresholds(8), "c_0")


@false(
    "NIS-Point-random",
    "If all labels are zero, the point learner may return a random concept.",
    "Example 0: learning points, the learner",
    short="A random point may be returned if all labels are zero",
    printed="fails ≤ (1 - alpha)^n",
    found="fails {failure:.3g} at every n",
    best="h = 0",
    formula="all labels are zero: h = 0 (or a random h in C)",
    argument="A random concept is that of the point with all mass with probability 1/T, and is wrong there; beta below "
    "1/T is reached with no n. The first alternative, h = 0, is right.",
)
def _random_point(tools: Tools) -> Evidence:
    return _random_hypothesis(Points(8), "c_2")


def most_dichotomies(n: int, vc: int) -> int:
    """Return how many dichotomies n <= VC points should have at most, with equality for some: as printed, 2^d."""
    return int(2**vc)


@misprint(
    "NIS-Sauer-small",
    "For n <= d = VC(C), |C(S)| <= 2^d, with equality for at least one set S of n points.",
    "VC dimension and PAC learning",
    short="n ≤ d points have up to 2^d dichotomies",
    printed="{printed} for some S",
    found="at most {most} at n = {n}, d = {d}",
    best="2^n",
    formula="|C(S)| <= 2^d, with equality for at least one S",
    conditions="n <= d",
    argument="n points have at most 2^n dichotomies, fewer than 2^d for n < d. The slide before defines shattering by "
    "2^n, with which both the bound and the equality are true.",
)
def _few_points(tools: Tools) -> Evidence:
    n = 2
    d = 3
    labels = Parities(d).evaluate(Cube(d).points())
    # Equality is claimed for some set of n points, so the greatest number over all sets is compared.
    most = max(len(np.unique(labels[:, list(s)], axis=0)) for s in itertools.combinations(range(2**d), n))
    printed = most_dichotomies(n, d)
    text = f"parities of {d} bits, VC dimension {d}: any {n} points have at most {most} dichotomies, not {printed}"
    data = {"class": "parities", "d": d, "n": n, "dichotomies": most}
    numbers = {"most": most, "printed": printed, "n": n, "d": d}
    return judged(text, numbers, f"parities of {d} bits, n = {n}", data, failed=most != printed)


@states(
    "NIS-VC-log",
    "VC(C) <= log2|C|.",
    "PAC learning vs. PPAC learning",
    short="VC(C) ≤ log |C|",
    printed="share ≤ 1",
    found="{share:.3g}, at parities",
    formula="VC(C) <= log|C|",
    argument="A shattered set of d points takes 2^d concepts.",
)
@at_most(1, "intervals, thresholds, parities, conjunctions: at most {share:.4f} of log2|C| ({witness})")
def _vc_below_log() -> Cases:
    classes = (Intervals(6), Thresholds(6), Parities(3), Conjunctions(3))
    for concepts in classes:
        # The whole domain, so that this is the dimension of the class and not a lower bound.
        found = vc_dimension(concepts.domain.points(), concepts)
        data = {"class": repr(concepts), "size": concepts.size, "vc": found}
        yield float(found / np.log2(concepts.size)), f"{concepts!r}: VC dimension {found}", data


@states(
    "NIS-Thr-privacy",
    "A learner that returns a consistent threshold is not differentially private.",
    "PAC learning - where's the privacy problem?",
    short="A consistent threshold is not private",
    printed="no ε",
    found="ε = {epsilon}",
    formula="not epsilon-DP for any epsilon",
)
def _consistent_privacy(tools: Tools) -> Evidence:
    law = law_of(tools, ThresholdConsistent(4), n=2)
    return judged_unprivate(law, f"4 points, all pairs of neighbours of 2 examples: epsilon = {law.epsilon}")


@derived(
    "NIS-Parity-size",
    "Elimination learns parities of d bits with O(d) examples.",
    "Example 2: learning parity functions",
    short="Examples for parities by elimination",
    printed="n = {n}",
    found="fails {failure:.2g}, β = {beta}",
    formula="O(d) samples",
)
def _parity_size(tools: Tools) -> Evidence:
    alpha = 0.2
    beta = 0.2
    learner = ParityElimination(2)
    n = learner.sample_size(alpha, beta)
    cases = []
    for target, (hard, easy) in itertools.product(range(4), itertools.permutations((1, 2, 3), 2)):
        law = two_point(learner.domain.points(), hard, easy, alpha * 1.001)
        cases.append(hard_case(learner, target, law, n, alpha, f"parity {target}, hard point {hard}, easy {easy}"))
    failure, where, data = greatest(cases)
    text = f"d = 2, n = ceil((d ln 2 + ln(1/beta))/alpha) = {n}: at most {failure:.4f} on the hard cases, beta {beta}"
    return judged(text, {"n": n, "failure": failure, "beta": beta}, where, data, failed=failure > beta)
