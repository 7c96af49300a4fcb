"""The interior point problem: find a point between the least and the greatest one of the data."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from dpaudit.contract import InputError, Law, PrivacyClaim, Sample, UtilityClaim
from learners.arrays import Integers
from learners.finite.counting import as_codes
from learners.inputs import check_run, check_sample
from learners.interior_points.solvers import Solver
from learners.mechanisms.multisets import multiset
from learners.parameters import check_integer, check_probability
from learners.points.line import ThresholdsOnALine
from learners.points.threshold_class import Threshold
from learners.symmetries import moving_points

__all__ = ["InteriorPoint"]


class InteriorPoint(ThresholdsOnALine):
    """A learner that finds an interior point, labels ignored: code x is the point x, decoded as the threshold x + 1.

    The theorems promise no small error: the point solves the problem if it is between the least and the greatest one.
    """

    settings: ClassVar[tuple[str, ...]] = ("solution",)
    claim_id: ClassVar[str]
    source: ClassVar[str]

    def _solver(self, n: int) -> Solver:
        """Return the mechanism for n points."""
        raise NotImplementedError("an interior point learner says its solver")

    @property
    def privacy(self) -> PrivacyClaim:
        """The sum of the mechanism's calls, with all levels made, under replacement of one example."""
        cost = self._solver(2**63).cost
        return PrivacyClaim(float(cost.epsilon), float(cost.delta), claim_id=self.claim_id, source=self.source)

    def points_needed(self, beta: float) -> int:
        """Return how many points suffice for an interior point with probability 1 - beta."""
        raise NotImplementedError("an interior point learner says how many points it needs")

    def sample_size(self, alpha: float, beta: float) -> int:
        """Return `points_needed(beta)`, whatever alpha."""
        check_probability("alpha", alpha)
        return self.points_needed(beta)

    def utility(self, alpha: float, beta: float, setting: str = "solution") -> UtilityClaim:
        """Return the claim that the point is interior with probability 1 - beta, for every sample of that size."""
        if setting != "solution":
            raise InputError(f"setting must be solution, got {setting!r}: the theorem is not on errors")
        size = self.sample_size(alpha, beta)
        failure = "the point lies outside the data"
        return UtilityClaim(alpha, beta, size, setting, self.claim_id, self.source, failure)

    def solves(self, code: int, sample: Sample) -> bool:
        """Say whether the point lies between the least and the greatest point of the sample."""
        points = sample.points[:, 0]
        return bool(points.min() <= code <= points.max())

    def decode(self, code: int) -> Threshold:
        """Return the threshold c(z) = 1 iff z <= code."""
        check_integer("code", code, 0, self.domain_size - 1)
        return Threshold(int(code) + 1)

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> Integers | list[int]:
        """Return the points found by `size` independent runs; a list of integers from 2^63 points on."""
        check_run(sample, self.domain, size)
        points, counts = multiset(sample.points[:, 0], sample.counts)
        return as_codes(self._solver(sample.n).draw(points, counts, rng, size), self.domain_size)

    def law(self, sample: Sample) -> Law:
        """Return the law on all points of the domain; `InputError` if it has more than 4096."""
        check_sample(sample, self.domain)
        log_prob, error = self._solver(sample.n).log_law(*multiset(sample.points[:, 0], sample.counts))
        return Law(range(self.domain_size), log_prob, error)

    def symmetries(self) -> list[Integers]:
        """Return the flip of all labels: they are ignored."""
        return [moving_points(np.arange(self.domain_size), 1)]
