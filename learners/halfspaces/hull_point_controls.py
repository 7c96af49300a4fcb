"""Hull point learners with one known leak each, and two that keep privacy and lose the promise of a deep point."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Instance
from learners.halfspaces.depth.depth_regions import DepthRegions
from learners.halfspaces.hull_point_base import Point, Selected
from learners.halfspaces.hull_point_exponential import HullPointExponential
from learners.halfspaces.hull_point_rec_concave import HullPointRecConcave
from learners.parameters import check_integer

__all__ = ["LEARNERS", "UNHELPFUL", "HullPointOneSided", "HullPointPrinted"]

EXAMPLE = Instance({"side": 1, "dimension": 2, "epsilon": 1.0}, n=4)
REC_EXAMPLE = Instance({"side": 1, "dimension": 2, "epsilon": 1.0, "delta": 1e-6, "beta": 0.1}, n=4)


@dataclass(frozen=True)
class HullPointUndivided(HullPointExponential):
    """Broken control: every coordinate spends twice the whole budget."""

    id: ClassVar[str] = "broken-hull-point-undivided"
    fault: ClassVar[str] = "weights exp(epsilon Q) for every coordinate: neither halved nor divided over coordinates"
    instance: ClassVar[Instance] = EXAMPLE

    @property
    def _rate(self) -> float:
        return self.epsilon


@dataclass(frozen=True)
class HullPointSupport(HullPointExponential):
    """Broken control: only points in the convex hull are ever released."""

    id: ClassVar[str] = "broken-hull-point-support"
    fault: ClassVar[str] = "selects among coordinates of positive depth alone: the support shows the convex hull"
    instance: ClassVar[Instance] = EXAMPLE

    def _eligible(self, scores: NDArray[np.int64]) -> NDArray[np.bool_]:
        positive = np.asarray(scores > 0, dtype=np.bool_)
        return positive if positive.any() else np.ones(len(scores), dtype=np.bool_)


@dataclass(frozen=True)
class HullPointMedian(HullPointExponential):
    """Broken control: only the deepest coordinates are released."""

    id: ClassVar[str] = "broken-hull-point-median"
    fault: ClassVar[str] = "selects among the coordinates of greatest depth alone: a Tukey median without noise"
    instance: ClassVar[Instance] = EXAMPLE

    def _eligible(self, scores: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.asarray(scores == scores.max(), dtype=np.bool_)


@dataclass(frozen=True)
class HullPointOverspent(HullPointRecConcave):
    """Broken control: every coordinate spends four times the whole budget."""

    id: ClassVar[str] = "broken-hull-point-overspent"
    fault: ClassVar[str] = "each coordinate spends four times the whole epsilon instead of epsilon/d"
    instance: ClassVar[Instance] = REC_EXAMPLE

    _spent: ClassVar[int] = 8


@dataclass(frozen=True)
class HullPointNoNoise(HullPointRecConcave):
    """Broken control: the deepest candidate with the least number, always."""

    id: ClassVar[str] = "broken-hull-point-no-noise"
    fault: ClassVar[str] = "returns the first deepest coordinate: the output is a function of the sample"
    instance: ClassVar[Instance] = REC_EXAMPLE

    def _draw(
        self, scores: NDArray[np.int64], axis: int, n: int, rng: np.random.Generator, size: int
    ) -> NDArray[np.int64]:
        return np.full(size, scores.argmax(), dtype=np.int64)

    def _log_law(self, scores: NDArray[np.int64], axis: int, n: int) -> Selected:
        order = np.lexsort((np.arange(len(scores)), -scores))
        logs = np.full(len(scores), -np.inf)
        logs[order[0]] = 0.0
        return logs, 0.0


@dataclass(frozen=True)
class HullPointSteep(HullPointRecConcave):
    """Broken control: depths are multiplied by 12 before they are used as scores."""

    id: ClassVar[str] = "broken-hull-point-steep"
    fault: ClassVar[str] = "takes 12 times the depth as its score: the sensitivity is 12, not 1"
    instance: ClassVar[Instance] = REC_EXAMPLE

    def _draw(
        self, scores: NDArray[np.int64], axis: int, n: int, rng: np.random.Generator, size: int
    ) -> NDArray[np.int64]:
        return super()._draw(12 * scores, axis, n, rng, size)

    def _log_law(self, scores: NDArray[np.int64], axis: int, n: int) -> Selected:
        return super()._log_law(12 * scores, axis, n)


@dataclass(frozen=True)
class HullPointOneSided(HullPointExponential):
    """Unhelpful control: depth is counted on one side alone, #{y <= x} instead of the lesser of both counts.

    The count has sensitivity 1, so privacy is kept: no privacy audit can tell it. The greatest candidates win, whether
    or not they lie in the convex hull: the depth of what is released does.
    """

    id: ClassVar[str] = "unhelpful-hull-point-one-sided"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_integer("dimension", self.dimension, 1, 1)

    def _scores(self, regions: DepthRegions, prefix: Point, candidates: tuple[Fraction, ...]) -> NDArray[np.int64]:
        heights = np.array([int(x) for x in candidates])
        return np.asarray((regions.points[:, 0] <= heights[:, None]) @ regions.weights, dtype=np.int64)


@dataclass(frozen=True)
class HullPointPrinted(HullPointRecConcave):
    """Unhelpful control: the repaired shares of the budget, with the promises r of Figure 1 as printed.

    The calls are private whatever they are promised; what they keep of the printed promises is less than n/(2 (d + 1)).
    """

    id: ClassVar[str] = "unhelpful-hull-point-printed"

    def promise(self, axis: int, n: int) -> Fraction:
        """Return r = n/(d + 1) - (i - 1) n/(d (d + 1)) of coordinate `axis` = i - 1."""
        return Fraction(n, self.dimension + 1) * (1 - Fraction(axis, self.dimension))


UNHELPFUL = (HullPointOneSided, HullPointPrinted)
"""Not registered: a positive control must leak, and these do not. The ledger convicts them by the depth they reach."""

LEARNERS = (
    HullPointUndivided,
    HullPointSupport,
    HullPointMedian,
    HullPointOverspent,
    HullPointNoNoise,
    HullPointSteep,
)
