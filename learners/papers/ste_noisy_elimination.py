"""Noisy elimination of lecture 12 with a delta: the noise by composition of its 2 d calls, and what that saves."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

from dpaudit.contract import Evidence, Pair, Tools
from learners.citations import STE
from learners.conjunctions.laplace import ConjunctionLaplace
from learners.papers.evidence import judged, pair_data, states

__all__ = ["STATEMENTS"]

DELTA = 1e-6
LOW, HIGH = 16, 31
"""Dimensions between which n grows; a mask holds at most 31 variables."""
COPIES = (0, 1, 2, 3, 5, 8)
"""Numbers of examples at a point and at its complement; their counts lie on both sides of the threshold."""


def _pairs(learner: Any) -> list[Pair]:
    """Return pairs in which a positive example is replaced by its complement, which moves all 2 d counts."""
    points = [[0] * learner.dimension, [1] * learner.dimension]

    def sample(zeros: int, ones: int) -> Any:
        return learner.domain.sample(points, [1, 1], [zeros, ones])

    return [Pair(sample(t + 1, u), sample(t, u + 1)) for t, u in product(COPIES, repeat=2)]


@states(
    "STE-Conj1-Delta",
    "Noisy elimination with the noise that composition of its 2 d counts allows at (epsilon, delta) is (epsilon, "
    "delta)-private, and its sample size grows like d^1.5.",
    f"{STE}, private algorithm, with advanced composition",
    short="Noisy elimination with a δ: growth of n with d",
    printed="d^1.5",
    found="d^{growth of n:.2f}, n = {n, d=31:,} at d = 31",
    best="n = {n, d=31:,} for {n without delta, d=31:,} without a δ (d = 31)",
)
def _with_delta(tools: Tools) -> Evidence:
    found: list[tuple[float, Any, Any]] = []
    for d, delta in product((1, 2, 3), (1e-2, 1e-1)):
        learner = ConjunctionLaplace(d, 1.0, 0.9, delta)
        finding = tools.audit_law(learner, samples=_pairs(learner))
        found.append((finding.delta_at_claim / delta, learner, finding))
    share, learner, worst = max(found, key=lambda one: one[0])
    sizes = {d: _size(d, DELTA) for d in (LOW, HIGH)}
    # n has a factor ln(2 d/beta) besides, which is not part of the law.
    grown = sizes[HIGH] / math.log(20 * HIGH) / (sizes[LOW] / math.log(20 * LOW))
    gaining = (d for d in range(1, HIGH + 1) if _size(d, DELTA) < _size(d, None))
    numbers: dict[str, float] = {
        "share of delta": share,
        "growth of n": math.log(grown) / math.log(HIGH / LOW),
        "n, d=31": sizes[HIGH],
        "n without delta, d=31": _size(HIGH, None),
        "first d that gains": min(gaining, default=math.inf),
    }
    leaky = any(finding.verdict == "violation" for _, _, finding in found)
    return judged(
        # What is nearer to d^2 than to d^1.5 is another law.
        "holds",
        f"d = 1, 2, 3 and delta = 0.01, 0.1: on {len(COPIES) ** 2} pairs each, in which a replaced example "
        f"moves all counts, delta(1) is at most {share:.3f} of the claim. With delta = {DELTA:g} n grows like d^"
        f"{numbers['growth of n']:.2f} ln d from d = {LOW} to {HIGH}, and is smaller than without from d = "
        f"{numbers['first d that gains']} on; at d = 31, epsilon = 1, alpha = beta = 0.1, {sizes[HIGH]} instead of "
        f"{numbers['n without delta, d=31']}",
        numbers,
        repr(worst.worst_pair) if leaky else f"sample sizes {sizes}",
        pair_data(learner, worst.worst_pair, at=1.0, delta=worst.delta_at_claim),
        failed=leaky or numbers["growth of n"] > 1.75,
    )


def _size(dimension: int, delta: float | None) -> int:
    """Return the theorem's n on the sample for epsilon = 1 and alpha = beta = 0.1."""
    return ConjunctionLaplace(dimension, 1.0, 0.1, delta).utility(0.1, 0.1, "empirical").sample_size


STATEMENTS = (_with_delta,)
