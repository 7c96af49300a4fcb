"""Learners of interior points, and of thresholds by them, with one known leak each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from dpaudit.contract import Instance, Law, Sample
from learners.arrays import Integers
from learners.controls import control
from learners.finite.scores import point_law
from learners.inputs import check_run, check_sample
from learners.interior_points.base import InteriorPoint
from learners.interior_points.exponential import InteriorPointExponential
from learners.interior_points.faults import (
    ClaimsAsSound,
    DoubledSolver,
    HullSolver,
    MedianSolver,
    RetryingSolver,
    ShortcutSolver,
    best_pieces,
    parameters,
)
from learners.interior_points.rec_concave import InteriorPointRecConcave
from learners.interior_points.solvers import ExponentialSolver, Solver
from learners.interior_points.thresholds import ThresholdInteriorPoint
from learners.interior_points.tree_log import InteriorPointTreeLog
from learners.mechanisms.rec_concave import RecConcave
from learners.mechanisms.stable_select import Standing
from learners.mechanisms.steps import Steps
from learners.mechanisms.tree_log import TreeLog

__all__ = ["LEARNERS"]

SMALL_TREE = Instance({"domain_size": 32, "epsilon": 1.0, "delta": 0.01, "beta": 0.5}, n=8, exhaustive=False)


class _Exponential(InteriorPointExponential):
    """An interior point exponential mechanism with another solver, and the sound one's claim."""

    _solver_class: ClassVar[type[ExponentialSolver]]

    def _solver(self, n: int) -> ExponentialSolver:
        return self._solver_class(self.domain_size, Fraction(self.epsilon))


@dataclass(frozen=True)
class InteriorPointDoubled(_Exponential):
    """Broken control: interior points by the exponential mechanism at twice the rate."""

    id: ClassVar[str] = "broken-interior-point-doubled"
    fault: ClassVar[str] = "weights exp(epsilon q) instead of exp(epsilon q / 2): up to twice the claimed epsilon"
    _solver_class: ClassVar[type[ExponentialSolver]] = DoubledSolver


@dataclass(frozen=True)
class InteriorPointHull(_Exponential):
    """Broken control: interior points by the exponential mechanism over the interior points alone."""

    id: ClassVar[str] = "broken-interior-point-hull"
    fault: ClassVar[str] = "never returns a point outside of the data: the support shows the extreme examples"
    _solver_class: ClassVar[type[ExponentialSolver]] = HullSolver


@dataclass(frozen=True)
class InteriorPointMedian(_Exponential):
    """Broken control: a uniform median."""

    id: ClassVar[str] = "broken-interior-point-median"
    fault: ClassVar[str] = "returns a median, without noise: the support shows the middle examples"
    _solver_class: ClassVar[type[ExponentialSolver]] = MedianSolver


@dataclass(frozen=True)
class _GreedyConcave(RecConcave):
    """Returns uniformly among the best candidates of the last step."""

    def _candidates(self, padded: Steps, k: int, standings: list[Standing], a: bool, b: bool) -> Steps:
        return best_pieces(super()._candidates(padded, k, standings, a, b))


@dataclass(frozen=True)
class RecConcaveGreedy(ClaimsAsSound, InteriorPointRecConcave):
    """Broken control: interior points by RecConcave whose last step takes the best candidate."""

    id: ClassVar[str] = "broken-rec-concave-greedy"
    fault: ClassVar[str] = "the last step returns a candidate of the greatest score: which one that is shows"
    instance: ClassVar[Instance] = Instance({"domain_size": 64, "epsilon": 4.0, "delta": 0.05}, n=24, exhaustive=False)

    def _concave(self, n: int) -> RecConcave:
        return _GreedyConcave(**parameters(super()._concave(n)))


@dataclass(frozen=True)
class RecConcaveUndivided(ClaimsAsSound, InteriorPointRecConcave):
    """Broken control: interior points by RecConcave in which every call spends the whole budget."""

    id: ClassVar[str] = "broken-rec-concave-undivided"
    fault: ClassVar[str] = "the budget is not divided over the calls"

    def _concave(self, n: int) -> RecConcave:
        whole = Fraction(self.epsilon), Fraction(self.delta)
        return replace(super()._concave(n), epsilon=4 * whole[0], delta=whole[1])


class _Retrying(ClaimsAsSound, InteriorPoint):
    """The fault of repeating a learner until its answer is an interior point."""

    fault: ClassVar[str] = "repeats until the point is interior: the support shows the extreme examples"

    def _solver(self, n: int) -> Solver:
        return RetryingSolver(super()._solver(n))


RecConcaveRetrying = control(
    InteriorPointRecConcave,
    _Retrying,
    "broken-rec-concave-retrying",
    "interior points by RecConcave, repeated until one is found",
    Instance({"domain_size": 64, "epsilon": 1.0, "delta": 0.01}, n=24, exhaustive=False),
)
TreeLogRetrying = control(
    InteriorPointTreeLog,
    _Retrying,
    "broken-tree-log-retrying",
    "interior points by TreeLog, repeated until one is found",
    SMALL_TREE,
)


@dataclass(frozen=True)
class TreeLogUndivided(ClaimsAsSound, InteriorPointTreeLog):
    """Broken control: interior points by TreeLog in which every call spends the whole budget, four times over."""

    id: ClassVar[str] = "broken-tree-log-undivided"
    fault: ClassVar[str] = "the budget is multiplied by the number of calls, where it should be divided by it"
    instance: ClassVar[Instance] = Instance(
        {"domain_size": 32, "epsilon": 2.0, "delta": 0.05, "beta": 0.5}, n=16, exhaustive=False
    )

    def _tree(self, n: int) -> TreeLog:
        sound = super()._tree(n)
        return replace(sound, epsilon=sound.epsilon * (3 * sound.levels - 2) ** 2)


@dataclass(frozen=True)
class TreeLogShortcut(ClaimsAsSound, InteriorPointTreeLog):
    """Broken control: interior points by TreeLog, without a call where the data are one point."""

    id: ClassVar[str] = "broken-tree-log-shortcut"
    fault: ClassVar[str] = "returns the point for certain where all examples are equal"
    instance: ClassVar[Instance] = SMALL_TREE

    def _solver(self, n: int) -> Solver:
        return ShortcutSolver(super()._solver(n))


@dataclass(frozen=True)
class ThresholdUngrouped(ClaimsAsSound, ThresholdInteriorPoint):
    """Broken control: the interior point mechanism is not charged for the second change."""

    id: ClassVar[str] = "broken-threshold-ip-ungrouped"
    fault: ClassVar[str] = "a flipped label changes two of the points, but the mechanism is calibrated for one"

    def _share(self) -> tuple[Fraction, Fraction]:
        return Fraction(self.epsilon), Fraction(self.delta or 0)


@dataclass(frozen=True)
class ThresholdDoubled(ClaimsAsSound, ThresholdInteriorPoint):
    """Broken control: the interior point by the exponential mechanism at twice the rate."""

    id: ClassVar[str] = "broken-threshold-ip-doubled"
    fault: ClassVar[str] = "weights exp(epsilon q) instead of exp(epsilon q / 2) in the interior point mechanism"

    def _plan(self) -> tuple[Solver, int]:
        _, m = super()._plan()
        return DoubledSolver(self.domain_size + 1, self._share()[0]), m


@dataclass(frozen=True)
class ThresholdUnpadded(ClaimsAsSound, ThresholdInteriorPoint):
    """Broken control: no padding; with fewer than m examples of a label the answer is fixed."""

    id: ClassVar[str] = "broken-threshold-ip-unpadded"
    fault: ClassVar[str] = "returns c_0 for certain where either label has fewer than m examples"
    instance: ClassVar[Instance] = Instance({"domain_size": 4, "epsilon": 8.0, "beta": 0.8}, n=4, beta=0.9)

    def _few(self, sample: Sample) -> bool:
        return any(int(sample.counts[sample.labels == label].sum()) < self.m for label in (0, 1))

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> Integers | list[int]:
        """Return the codes of `size` independent runs."""
        check_run(sample, self.domain, size)
        return np.zeros(size, dtype=np.int64) if self._few(sample) else super().run(sample, rng, size)

    def law(self, sample: Sample) -> Law:
        """Return the law on all thresholds."""
        check_sample(sample, self.domain)
        return point_law(range(self.concepts.size), 0) if self._few(sample) else super().law(sample)

    def symmetries(self) -> list[Integers]:
        """Return no symmetry: c_0 is not symmetric."""
        return []


LEARNERS = (
    InteriorPointDoubled,
    InteriorPointHull,
    InteriorPointMedian,
    RecConcaveGreedy,
    RecConcaveRetrying,
    RecConcaveUndivided,
    TreeLogUndivided,
    TreeLogRetrying,
    TreeLogShortcut,
    ThresholdUngrouped,
    ThresholdDoubled,
    ThresholdUnpadded,
)
