"""The private learner of parities: solve a random subsample, or fail."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from dpaudit.contract import InputError, Instance, Pair, Sample, Supremum

from ..parameters import check_sample
from .concepts import MAX_EPSILON, SubsamplingLearner
from .law import rational_law


@dataclass(frozen=True)
class ParityPrivate(SubsamplingLearner):
    """Learn parities privately.

    With probability 1/2 fail. Otherwise keep each example with probability p = epsilon/4, solve the system of the kept
    ones, fail if it has no solution, and else return a uniformly random solution.

    Pure epsilon-differentially private for epsilon <= 3.83. Fix the kept ones of the other examples: one more equation
    multiplies the probability of a given solution by a factor in [0, 2], hence with probability 1 - p + p [0, 2] its
    probability lies in [1 - p, 1 + p] times a number that does not depend on that example; Pr[fail] changes by a factor
    of at most 1 + p. So the learner is ln((1 + p)/(1 - p))-differentially private, which is attained at n = 1, is about
    epsilon/2, and exceeds epsilon beyond `MAX_EPSILON`.

    Parameters
    ----------
    dimension : int
        Number d of Boolean coordinates, at most 63.
    epsilon : float
        The privacy claim, in (0, 3.83].
    """

    id: ClassVar[str] = "parity-private"
    instance: ClassVar[Instance] = Instance({"dimension": 3, "epsilon": 1.0}, n=3, beta=0.6)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.epsilon < 4 and 2 * math.atanh(self.epsilon / 4) <= self.epsilon):
            raise InputError(
                f"epsilon must be in (0, {MAX_EPSILON:.6f}], where ln((1 + epsilon/4)/(1 - epsilon/4)) <= epsilon, so "
                f"that keeping examples with probability epsilon/4 is epsilon-private; got {self.epsilon!r}"
            )

    @property
    def _keep(self) -> float:
        return self.epsilon / 4

    @property
    def failure(self) -> float:
        """1/2, the coin's."""
        return 0.5

    def supremum(self) -> Supremum:
        """Return the supremum ln((1 + p)/(1 - p)), attained by one example whose label is flipped; see the class."""
        x = [0] * (self.dimension - 1) + [1]

        def ray(t: int) -> Pair:
            left, right = (self.domain.sample([x], [label]) for label in (0, 1))
            return Pair(left, right, "the label of the only example")

        proof = "an equation multiplies the probability of a solution by 1 - p + p [0, 2]; at n = 1 by both ends"
        return Supremum(2 * math.atanh(self._keep), proof, ray)

    def exact_law(self, sample: Sample, field: Any) -> dict[int, Any]:
        """Return the same law in numbers of `field`; see `parities.law.rational_law`."""
        check_sample(sample, self.domain)
        keep, coin = Fraction(self._keep), Fraction(self._coin)
        law = rational_law(sample, self.dimension, keep, coin, uniform=self._uniform)
        return {code: field.number(probability) for code, probability in law.items()}


LEARNERS = (ParityPrivate,)
