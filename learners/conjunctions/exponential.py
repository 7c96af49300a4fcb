"""Conjunctions of at most k literals, learned privately by the exponential mechanism over all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpaudit.contract import InputError, Instance, PrivacyClaim, Sample, UtilityClaim
from learners.arrays import Integers
from learners.citations import STE
from learners.conjunctions.concepts import ShortConjunctions, renaming_symmetries
from learners.domains import ENUMERABLE, OnTheCube
from learners.finite.exponential import ExponentialLearner
from learners.parameters import check_integer, check_positive

__all__ = ["LEARNERS", "ConjunctionExponential"]


@dataclass(frozen=True)
class ConjunctionExponential(OnTheCube, ExponentialLearner):
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
    instance: ClassVar[Instance] = Instance({"dimension": 2, "k": 2, "epsilon": 1.0}, n=4)

    def __post_init__(self) -> None:
        check_integer("dimension", self.dimension, 1)
        check_integer("k", self.k, 1, self.dimension)
        check_positive("epsilon", self.epsilon)
        if self.concepts.size > ENUMERABLE:
            raise InputError(
                f"dimension={self.dimension} and k={self.k} give {self.concepts.size} conjunctions, more than the "
                f"{ENUMERABLE} that can be listed; take a smaller k, or conjunction-greedy"
            )

    @property
    def concepts(self) -> ShortConjunctions:
        """All conjunctions of at most k literals."""
        return ShortConjunctions(self.dimension, self.k)

    @property
    def privacy(self) -> PrivacyClaim:
        """Pure epsilon-differential privacy under replacement of one example."""
        return PrivacyClaim(self.epsilon, claim_id="STE-ConjExp", source=f"{STE}, step 0")

    def _scores(self, sample: Sample) -> Integers:
        """Return the scores; only conjunctions of k - 1 literals are evaluated."""
        return self.concepts.count_correct(sample)

    def utility(self, alpha: float, beta: float, setting: str = "realizable") -> UtilityClaim:
        """Return the claim in a setting: "realizable", "agnostic" or (the lecture's) "empirical"."""
        claim = super().utility(alpha, beta, setting)
        return UtilityClaim(alpha, beta, claim.sample_size, setting, "STE-ConjExp", f"{STE}, step 0")

    def symmetries(self) -> list[Integers]:
        """Return generators of the renamings of literals, which permute the class."""
        return renaming_symmetries(self.domain)


LEARNERS = (ConjunctionExponential,)
