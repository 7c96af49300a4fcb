"""Statements of lecture 12 (STE) on interior points and thresholds, on instances small enough to list."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpaudit.contract import Evidence, Pair
from learners.citations import STE
from learners.interior_points.interior_point import InteriorPointExponential, InteriorPointTreeLog
from learners.interior_points.thresholds import ThresholdInteriorPoint
from learners.papers.failure_probability import compositions, worst_empirical_failure
from learners.papers.instances import pair_data
from learners.papers.statements import states
from learners.papers.verdicts import exceeds, judged, leaks, loss_data, supremum_of, supremum_text, verdict_of
from learners.samples import Sample

__all__ = ["STATEMENTS"]


def _outside(learner: Any, sample: Sample) -> float:
    """Return the exact probability that the point is not interior."""
    law = learner.law(sample)
    inside = [learner.solves(atom, sample) for atom in law.atoms]
    return math.fsum(np.exp(law.log_prob)[~np.array(inside)].tolist())


@states(
    "STE-IPP",
    "The exponential mechanism is epsilon-private and finds an interior point of n >= (4/epsilon) ln(T/beta).",
    f"{STE}, the interior point problem",
    short="Failure to find an interior point of n ≥ (4/ε) ln(T/β)",
    printed="fails ≤ 0.2",
    found="fails {failure:.2g} at n = {n}",
)
def _interior(tools: Any) -> Evidence:
    beta, learner = 0.2, InteriorPointExponential(5, 1.0)
    n = learner.points_needed(beta)
    found = supremum_of(tools, learner)
    failure, worst = max(
        (_outside(learner, learner.domain.sample(range(5), [0] * 5, counts)), counts) for counts in compositions(n, 5)
    )
    few = _outside(learner, learner.domain.sample([2, 3], [0, 0], [2, 2]))
    leaky = leaks(found, 1.0)
    return judged(
        verdict_of(found, 1.0),
        failed=leaky or failure > beta,
        summary=f"T = 5, epsilon = 1: exact epsilon {supremum_text(found)}; n = (4/epsilon) "
        f"ln(T/beta) = {n}: over all {math.comb(n + 4, 4)} data the exact failure is at most {failure:.4f}, at "
        f"{list(worst)}, and beta is {beta}; {few:.4f} with n = 4",
        numbers={"epsilon": found.value, "n": n, "failure": failure, "failure with 4": few},
        witness=repr(found.witness) if leaky else f"{list(worst)} examples at the points 0 .. 4",
        data=loss_data(learner, found),
    )


@states(
    "STE-Thr",
    "An interior point of the m largest positive and m smallest negative examples errs on at most m - 1 of them.",
    f"{STE}, the interior point problem",
    short="The threshold learner's ε from an interior point",
    printed="ε = 4",
    found="ε = {epsilon:.3g}",
)
def _thresholds(tools: Any) -> Evidence:
    alpha, beta, learner = 0.25, 0.5, ThresholdInteriorPoint(4, 4.0, 0.5)
    n = learner.utility(alpha, beta, "empirical").sample_size
    finding = tools.audit_law(learner, n=4)
    failure, worst = worst_empirical_failure(learner, n, alpha)
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
        data={**pair_data(learner, finding.worst_pair, epsilon=finding.epsilon), "n": n, "failure": failure},
    )


@states(
    "STE-TreeLog",
    "TreeLog, every call charged, is (epsilon, delta)-private and finds one.",
    f"{STE}, the interior point problem",
    short="TreeLog, every call charged: its δ",
    printed="δ = 0.01",
    found="δ = {delta:.2g}",
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
        data=pair_data(learner, found.worst_pair, at=2.0, delta=found.delta_at_claim),
    )


STATEMENTS = (_interior, _thresholds, _tree)
