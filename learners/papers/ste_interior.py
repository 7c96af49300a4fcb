"""Claims of lecture 12 (STE) on interior points and what is learned by them, on instances small enough to list."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from dpaudit.contract import Evidence, Pair, Statement
from learners.boxes.tightest import BoxTightest
from learners.citations import STE
from learners.interior_points.exponential import InteriorPointExponential
from learners.interior_points.thresholds import ThresholdInteriorPoint
from learners.interior_points.tree_log import InteriorPointTreeLog
from learners.papers.exact_failure import compositions, failure_probability, two_point
from learners.papers.verdicts import exceeds, judged
from learners.samples import Sample

__all__ = ["STATEMENTS"]


def _outside(learner: Any, sample: Sample) -> float:
    """Return the exact probability that the point is not interior."""
    law = learner.law(sample)
    inside = [learner.solves(atom, sample) for atom in law.atoms]
    return math.fsum(np.exp(law.log_prob)[~np.array(inside)].tolist())


def _interior(tools: Any) -> Evidence:
    beta, learner = 0.2, InteriorPointExponential(5, 1.0)
    n = learner.points_needed(beta)
    finding = tools.audit_law(learner, n=4)
    failure, worst = max(
        (_outside(learner, learner.domain.sample(range(5), [0] * 5, counts)), counts) for counts in compositions(n, 5)
    )
    few = _outside(learner, learner.domain.sample([2, 3], [0, 0], [2, 2]))
    leaks = exceeds(finding.epsilon, 1.0)
    return judged(
        "holds",
        failed=leaks or failure > beta,
        summary=f"T = 5, epsilon = 1: exact epsilon {finding.epsilon:.4f} (n = 4, all pairs); n = (4/epsilon) "
        f"ln(T/beta) = {n}: over all {math.comb(n + 4, 4)} data the exact failure is at most {failure:.4f}, at "
        f"{list(worst)}, and beta is {beta}; {few:.4f} with n = 4",
        numbers={"epsilon": finding.epsilon, "n": n, "failure": failure, "failure with 4": few},
        witness=repr(finding.worst_pair) if leaks else f"{list(worst)} examples at the points 0 .. 4",
    )


def _consistent(learner: Any, n: int) -> Iterator[Sample]:
    """Yield every sample of n examples that some concept labels."""
    points = learner.domain.points()
    for concept in learner.concepts.enumerate():
        labels = concept.predict(points)
        for counts in compositions(n, len(points)):
            yield learner.domain.sample(points, labels, counts)


def _thresholds(tools: Any) -> Evidence:
    alpha, beta, learner = 0.25, 0.5, ThresholdInteriorPoint(4, 4.0, 0.5)
    n = learner.utility(alpha, beta, "empirical").sample_size
    finding = tools.audit_law(learner, n=4)
    failure, worst = 0.0, ""
    for sample in _consistent(learner, n):
        law = learner.law(sample)
        wrong = np.array([sample.errors(concept) for concept in learner.concepts.enumerate()])
        found = float(np.exp(law.log_prob[wrong > alpha * n]).sum())
        if found > failure:
            failure, worst = found, repr(sample)
    leaks = exceeds(finding.epsilon, 4.0)
    return judged(
        "holds",
        failed=leaks or failure > beta,
        summary=f"T = 4, epsilon = 4, m = {learner.m}: exact epsilon {finding.epsilon:.4f} (n = 4, all pairs; a "
        f"flipped label moves two values, so the mechanism is charged for a group of two); on n = (m - 1)/alpha = "
        f"{n} examples an error above alpha = {alpha} has exact probability at most {failure:.4f} over all labelled "
        f"samples, and beta is {beta}",
        numbers={"epsilon": finding.epsilon, "m": learner.m, "n": n, "failure": failure},
        witness=repr(finding.worst_pair) if leaks else worst,
    )


def _tree(tools: Any) -> Evidence:
    beta, learner = 0.1, InteriorPointTreeLog(32, 2.0, 0.01, 0.1)
    n = learner.points_needed(beta)
    half, even = [n // 2, n - n // 2], [n // 32 + 1] * 32
    data = [([15, 16], half), ([0, 31], half), ([7], [n]), (range(32), even)]
    samples = [learner.domain.sample(list(xs), [0] * len(counts), counts) for xs, counts in data]
    failure, worst = max((_outside(learner, sample), repr(sample)) for sample in samples)
    pairs = []
    for a, b in ((15, 16), (0, 31), (3, 4)):
        for share in (0, 1, n // 3, n // 2, n - 1):
            left = learner.domain.sample([a, b], [0, 0], [n - share, share])
            pairs.append(Pair(left, learner.domain.sample([a, b], [0, 0], [n - share - 1, share + 1])))
    found = tools.audit_law(learner, samples=pairs)
    leaks = found.verdict == "violation"
    return judged(
        "holds",
        failed=leaks or failure > beta,
        summary=f"T = 32, epsilon = 2, delta = 0.01: on {len(pairs)} pairs of n = {n} examples at most delta "
        f"{found.delta_at_claim:.2g} is needed at epsilon = 2 (exact epsilon {found.epsilon:.4f}); the point is not "
        f"interior with exact probability at most {failure:.2g} on data side by side, apart, equal, spread, and beta "
        f"is {beta}",
        numbers={"delta": found.delta_at_claim, "epsilon": found.epsilon, "n": n, "failure": failure},
        witness=repr(found.worst_pair) if leaks else worst,
    )


def _tightest(tools: Any) -> Evidence:
    alpha, beta, learner = 0.3, 0.2, BoxTightest(1, 2)
    n, points = learner.sample_size(alpha, beta), learner.domain.points()
    failures = {
        (code, hard): failure_probability(
            learner, learner.concepts.concept(code), two_point(points, hard, 3 - hard, alpha + 0.001), n, alpha
        )
        for code in range(learner.concepts.size)
        for hard in range(4)
    }
    code, hard = max(failures, key=lambda case: failures[case])
    failure = failures[code, hard]
    return judged(
        "holds",
        failed=failure > beta,
        summary=f"2 x 2 grid: the smaller of (2 d/alpha) ln(2 d/beta) and (ln|C| + ln(1/beta))/alpha is n = {n}; "
        f"just above alpha = {alpha} on a point the exact failure is at most {failure:.4f} over all boxes and "
        f"points, and beta is {beta}",
        numbers={"n": n, "failure": failure, "(1 - alpha)^n": (1 - alpha - 0.001) ** n},
        witness=f"box {code}, mass {alpha + 0.001:g} on point {hard}, n = {n}",
    )


IPP = f"{STE}, the interior point problem"
STATEMENTS = (
    Statement(
        "STE-IPP",
        "The exponential mechanism is epsilon-private and finds an interior point of n >= (4/epsilon) ln(T/beta).",
        IPP,
        _interior,
    ),
    Statement(
        "STE-Thr",
        "An interior point of the m largest positive and m smallest negative examples errs on at most m - 1 of them.",
        IPP,
        _thresholds,
    ),
    Statement("STE-TreeLog", "TreeLog, every call charged, is (epsilon, delta)-private and finds one.", IPP, _tree),
    Statement(
        "STE-BoxTight",
        "The tightest box has error at most alpha with probability 1 - beta on the smaller of two sample sizes.",
        f"{STE}, boxes without privacy",
        _tightest,
    ),
)
