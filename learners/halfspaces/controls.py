"""Halfspace and hull point learners with one known leak each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from dpaudit.contract import Instance, Sample
from learners.arrays import Bools, Integers
from learners.controls import control
from learners.finite.faults import exponential_controls
from learners.halfspaces.exponential import HalfspaceExponential
from learners.halfspaces.hull_point_base import Selected
from learners.halfspaces.hull_point_exponential import HullPointExponential
from learners.halfspaces.hull_point_joint import HullPointJoint
from learners.halfspaces.hull_point_rec_concave import HullPointRecConcave
from learners.halfspaces.subsamples import Hit, Subsamples
from learners.halfspaces.tukey import HalfspaceTukey
from learners.mechanisms.log_laws import placed

__all__ = ["LEARNERS"]

SUBSAMPLES = Instance({"side": 1, "dimension": 1, "epsilon": 0.5, "subsamples": 3}, n=3)
FOUR = Instance({"side": 1, "dimension": 2, "epsilon": 1.0}, n=4)
FOUR_RECURSIVE = Instance({**FOUR.parameters, "delta": 1e-6, "beta": 0.1}, n=4)

EXPONENTIAL = HalfspaceDoubled, HalfspaceSupport, HalfspaceShortcut = exponential_controls(
    __name__, HalfspaceExponential, "halfspace", "halfspaces", Instance(FOUR.parameters, n=2)
)


class _WholeSamples(Subsamples):
    """Every subsample is the whole sample."""

    def _seen(self, sample: Sample, rng: np.random.Generator, runs: int) -> Bools:
        return np.ones((runs, self.subsamples, len(sample.labels)), dtype=np.bool_)

    def _hits(self, count: int) -> Iterator[Hit]:
        yield tuple(range(self.subsamples)), Fraction(1)


class _RefusingSubsamples(Subsamples):
    """A subsample without a consistent halfspace stops the run."""

    refuses: ClassVar[bool] = True


@dataclass(frozen=True)
class HalfspaceOverlapping(HalfspaceTukey):
    """Broken control: every subsample is the whole sample."""

    id: ClassVar[str] = "broken-halfspace-overlapping"
    fault: ClassVar[str] = "subsamples overlap: one example changes every h_i"
    instance: ClassVar[Instance] = Instance({"side": 1, "dimension": 1, "epsilon": 0.5, "subsamples": 8}, n=2)

    _subsampling: ClassVar[type[Subsamples]] = _WholeSamples


@dataclass(frozen=True)
class HalfspaceRefusing(HalfspaceTukey):
    """Broken control: a subsample without a consistent halfspace stops the run."""

    id: ClassVar[str] = "broken-halfspace-refusing"
    fault: ClassVar[str] = "gives up where a subsample is inconsistent: failure shows that the sample is not realizable"
    instance: ClassVar[Instance] = SUBSAMPLES

    _subsampling: ClassVar[type[Subsamples]] = _RefusingSubsamples


@dataclass(frozen=True)
class HalfspaceOverspent(HalfspaceTukey):
    """Broken control: the release spends sixteen times the budget."""

    id: ClassVar[str] = "broken-halfspace-overspent"
    fault: ClassVar[str] = "releases the deep point with sixteen times the claimed epsilon"
    instance: ClassVar[Instance] = SUBSAMPLES

    _spending: ClassVar[float] = 16.0


class _Undivided:
    """The fault of a rate that is not divided over coordinates."""

    epsilon: float

    @property
    def _rate(self) -> float:
        return self.epsilon


class _Steep:
    """The fault of twice the rate."""

    epsilon: float

    @property
    def _rate(self) -> float:
        return 2 * self.epsilon


class _Support:
    """The fault of releasing points of positive depth alone."""

    def _eligible(self, depths: Integers) -> Bools:
        positive = np.asarray(depths > 0, dtype=np.bool_)
        return positive if positive.any() else np.ones(len(depths), dtype=np.bool_)


class _Median:
    """The fault of releasing the deepest points alone."""

    def _eligible(self, depths: Integers) -> Bools:
        return np.asarray(depths == depths.max(), dtype=np.bool_)


HullPointUndivided = control(
    HullPointExponential,
    _Undivided,
    "broken-hull-point-undivided",
    "every coordinate spends twice the whole budget",
    FOUR,
    fault="weights exp(epsilon Q) for every coordinate: neither halved nor divided over coordinates",
)
HullPointSupport = control(
    HullPointExponential,
    _Support,
    "broken-hull-point-support",
    "only points in the convex hull are ever released",
    FOUR,
    fault="selects among coordinates of positive depth alone: the support shows the convex hull",
)
HullPointMedian = control(
    HullPointExponential,
    _Median,
    "broken-hull-point-median",
    "only the deepest coordinates are released",
    FOUR,
    fault="selects among the coordinates of greatest depth alone: a Tukey median without noise",
)
HullPointJointSteep = control(
    HullPointJoint,
    _Steep,
    "broken-hull-point-joint-steep",
    "the selection spends four times the budget",
    FOUR,
    fault="weights exp(2 epsilon depth), not exp(epsilon depth/2): four times the claimed epsilon",
)
HullPointJointSupport = control(
    HullPointJoint,
    _Support,
    "broken-hull-point-joint-support",
    "only points in the convex hull are ever released",
    FOUR,
    fault="selects among points of positive depth alone: the support shows the convex hull",
)
HullPointJointMedian = control(
    HullPointJoint,
    _Median,
    "broken-hull-point-joint-median",
    "only the deepest points are released",
    FOUR,
    fault="selects among the deepest points alone: a Tukey median without noise",
)


@dataclass(frozen=True)
class HullPointOverspent(HullPointRecConcave):
    """Broken control: every coordinate spends four times the whole budget."""

    id: ClassVar[str] = "broken-hull-point-overspent"
    fault: ClassVar[str] = "each coordinate spends four times the whole epsilon instead of epsilon/d"
    instance: ClassVar[Instance] = FOUR_RECURSIVE

    _spent: ClassVar[int] = 8


@dataclass(frozen=True)
class HullPointNoNoise(HullPointRecConcave):
    """Broken control: the deepest candidate with the least number, always."""

    id: ClassVar[str] = "broken-hull-point-no-noise"
    fault: ClassVar[str] = "returns the first deepest coordinate: the output is a function of the sample"
    instance: ClassVar[Instance] = FOUR_RECURSIVE

    def _draw(self, scores: Integers, axis: int, n: int, rng: np.random.Generator, size: int) -> Integers:
        return np.full(size, scores.argmax(), dtype=np.int64)

    def _log_law(self, scores: Integers, axis: int, n: int) -> Selected:
        order = np.lexsort((np.arange(len(scores)), -scores))
        return placed(len(scores), order[0], 0.0), 0.0


@dataclass(frozen=True)
class HullPointSteep(HullPointRecConcave):
    """Broken control: depths are multiplied by 12 before they are used as scores."""

    id: ClassVar[str] = "broken-hull-point-steep"
    fault: ClassVar[str] = "takes 12 times the depth as its score: the sensitivity is 12, not 1"
    instance: ClassVar[Instance] = FOUR_RECURSIVE

    def _draw(self, scores: Integers, axis: int, n: int, rng: np.random.Generator, size: int) -> Integers:
        return super()._draw(12 * scores, axis, n, rng, size)

    def _log_law(self, scores: Integers, axis: int, n: int) -> Selected:
        return super()._log_law(12 * scores, axis, n)


LEARNERS = (
    *EXPONENTIAL,
    HalfspaceOverlapping,
    HalfspaceRefusing,
    HalfspaceOverspent,
    HullPointUndivided,
    HullPointSupport,
    HullPointMedian,
    HullPointJointSteep,
    HullPointJointSupport,
    HullPointJointMedian,
    HullPointOverspent,
    HullPointNoNoise,
    HullPointSteep,
)
