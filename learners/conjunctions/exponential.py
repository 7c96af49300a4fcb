"""Conjunctions of at most k literals, learned privately by the exponential mechanism over all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpaudit.contract import InputError, Instance, Sample
from learners.arrays import Integers
from learners.citations import STE
from learners.conjunctions.concepts import ShortConjunctions
from learners.domains import ENUMERABLE
from learners.finite.exponential import ExponentialLearner

__all__ = ["LEARNERS", "ConjunctionExponential"]


@dataclass(frozen=True)
class ConjunctionExponential(ExponentialLearner):
    """Learn conjunctions of at most k literals by the exponential mechanism.

    Conjunction h is returned with probability proportional to exp(epsilon q(S, h) / 2), q = examples labelled
    correctly: epsilon-differentially private. Sample sizes are those of any finite class, with ln|CONJ_{k,d}| about
    k ln(2 d/k); see `finite.exponential.ExponentialLearner`. Codes are the numbers of `ShortConjunctions`. The time is
    that of one product of an (|CONJ_{k-1,d}|, m) with an (m, 2 d) matrix for m distinct examples.

    Parameters
    ----------
    dimension : int
        Number d of Boolean variables.
    k : int
        The most literals, 1 .. dimension; the class must have at most 2^22 conjunctions.
    epsilon : float
        The privacy claim, > 0.
    """

    dimension: int
    k: int
    epsilon: float

    id: ClassVar[str] = "conjunction-exponential"
    claim_id: ClassVar[str] = "STE-ConjExp"
    source: ClassVar[str] = f"{STE}, step 0"
    instance: ClassVar[Instance] = Instance({"dimension": 2, "k": 2, "epsilon": 1.0}, n=4)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.concepts.size > ENUMERABLE:
            raise InputError(
                f"dimension={self.dimension} and k={self.k} give {self.concepts.size} conjunctions, more than the "
                f"{ENUMERABLE} that can be listed; take a smaller k, or conjunction-greedy"
            )

    @property
    def concepts(self) -> ShortConjunctions:
        """All conjunctions of at most k literals."""
        return ShortConjunctions(self.dimension, self.k)

    def _scores(self, sample: Sample) -> Integers:
        """Return the scores; only conjunctions of k - 1 literals are evaluated."""
        return self.concepts.count_correct(sample)


LEARNERS = (ConjunctionExponential,)
