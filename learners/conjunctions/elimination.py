"""Conjunctions by elimination of the literals that a positive example contradicts (not private)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit.contract import Instance, Law, Sample
from learners.citations import STE
from learners.conjunctions.base import LAW_DIMENSION, EliminationLearner
from learners.conjunctions.concepts import MAX_DIMENSION, contradicted
from learners.finite.consistent import ConsistentLearner
from learners.finite.scores import point_law
from learners.inputs import check_sample
from learners.parameters import check_integer, check_law_limit

__all__ = ["LEARNERS", "ConjunctionElimination"]


@dataclass(frozen=True)
class ConjunctionElimination(EliminationLearner, ConsistentLearner):
    """Start with all 2 d literals and delete every one that a positive example contradicts. Not private.

    If a conjunction labels the sample, the answer does too. Elimination is a consistent learner for 3^d + 1 functions
    (each variable absent, positive or negated; or the contradiction), so n >= (ln(3^d + 1) + ln(1/beta))/alpha
    suffices for Pr[error > alpha] <= beta.

    Parameters
    ----------
    dimension : int
        Number d of Boolean variables, at most 31.
    """

    dimension: int

    id: ClassVar[str] = "conjunction-elimination"
    claim_id: ClassVar[str] = "STE-NonPriv"
    source: ClassVar[str] = f"{STE}, non-private algorithm"
    instance: ClassVar[Instance] = Instance({"dimension": 3}, n=3)

    def __post_init__(self) -> None:
        check_integer("dimension", self.dimension, 1, MAX_DIMENSION)

    def _choose(self, sample: Sample) -> int:
        kept = ~contradicted(sample.points[sample.labels == 1]).any(axis=0)
        return sum(1 << int(i) for i in np.flatnonzero(kept))

    def law(self, sample: Sample) -> Law:
        """Return all mass on one mask, made by striking literals out example by example."""
        check_sample(sample, self.domain)
        check_law_limit("dimension", self.dimension, LAW_DIMENSION)
        mask = 4**self.dimension - 1
        for x, y in zip(sample.points, sample.labels, strict=True):
            for i, value in enumerate(x):
                mask &= ~(int(y) << 2 * i + int(value))
        return point_law(range(4**self.dimension), mask)


LEARNERS = (ConjunctionElimination,)
