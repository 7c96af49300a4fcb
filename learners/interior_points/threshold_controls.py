"""Thresholds by interior points with one known leak each."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Instance, Law, PrivacyClaim, Sample
from learners.finite.generic import point_law
from learners.inputs import check_run, check_sample
from learners.interior_points.controls import DoubledSolver, parameters
from learners.interior_points.solvers import Solver
from learners.interior_points.thresholds import ThresholdInteriorPoint

__all__ = ["LEARNERS"]


class _Claims(ThresholdInteriorPoint):
    """A threshold learner with a fault, and the sound one's claim."""

    @property
    def privacy(self) -> PrivacyClaim:
        """The sound learner's claim."""
        return ThresholdInteriorPoint(**parameters(self)).privacy


@dataclass(frozen=True)
class ThresholdUngrouped(_Claims):
    """Broken control: the interior point mechanism is not charged for the second change."""

    id: ClassVar[str] = "broken-threshold-ip-ungrouped"
    fault: ClassVar[str] = "a flipped label changes two of the points, but the mechanism is calibrated for one"

    def _share(self) -> tuple[Fraction, Fraction]:
        return Fraction(self.epsilon), Fraction(self.delta or 0)


@dataclass(frozen=True)
class ThresholdDoubled(_Claims):
    """Broken control: the interior point by the exponential mechanism at twice the rate."""

    id: ClassVar[str] = "broken-threshold-ip-doubled"
    fault: ClassVar[str] = "weights exp(epsilon q) instead of exp(epsilon q / 2) in the interior point mechanism"

    def _plan(self) -> tuple[Solver, int]:
        _, m = super()._plan()
        return DoubledSolver(self.domain_size + 1, self._share()[0]), m


@dataclass(frozen=True)
class ThresholdUnpadded(_Claims):
    """Broken control: no padding; with fewer than m examples of a label the answer is fixed."""

    id: ClassVar[str] = "broken-threshold-ip-unpadded"
    fault: ClassVar[str] = "returns c_0 for certain where either label has fewer than m examples"
    instance: ClassVar[Instance] = Instance({"domain_size": 4, "epsilon": 8.0, "beta": 0.8}, n=4, beta=0.9)

    def _few(self, sample: Sample) -> bool:
        return any(int(sample.counts[sample.labels == label].sum()) < self.m for label in (0, 1))

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> NDArray[np.int64] | list[int]:
        """Return the codes of `size` independent runs."""
        check_run(sample, self.domain, size)
        return np.zeros(size, dtype=np.int64) if self._few(sample) else super().run(sample, rng, size)

    def law(self, sample: Sample) -> Law:
        """Return the law on all thresholds."""
        check_sample(sample, self.domain)
        return point_law(range(self.concepts.size), 0) if self._few(sample) else super().law(sample)

    def symmetries(self) -> list[NDArray[np.int64]]:
        """Return no symmetry: c_0 is not symmetric."""
        return []


LEARNERS = (ThresholdUngrouped, ThresholdDoubled, ThresholdUnpadded)
