"""Set Cover Learners over regions of the plane with one known leak each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Example, InputError
from learners.covers.regions import Floats, RegionCover
from learners.discs import DiscUnion
from learners.polygon_covers import ConvexPolygon, PolygonUnion

__all__ = ["LEARNERS"]

SMALL = Example(
    {"side": 1, "k": 1, "epsilon": 0.5, "delta": 1e-6, "alpha": 0.49, "beta": 0.2}, n=2, alpha=0.99, beta=0.5
)
BARE = Example({**SMALL.parameters, "variant": "noiseless"}, n=2, alpha=0.99, beta=0.5)


class _Multiplied(RegionCover):
    """eps_hat multiplied by what the claim divides by."""

    fault: ClassVar[str] = "eps_hat = 2 epsilon ln(e/delta) in each round: multiplied where it should be divided"

    @property
    def selection_epsilon(self) -> float:
        """eps_hat of a round."""
        return self.epsilon * 2 * (1 - math.log(self.delta))


class _Listed(RegionCover):
    """Controls that change the choice among listed regions."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.listed() is None:
            raise InputError(f"side must be small enough to list the regions for this control, got {self.side}")


class _Sparing(_Listed):
    """The non-private first step: strike out every region that spoils more than it must."""

    fault: ClassVar[str] = "selects only regions that spoil as little as possible: the support shows the sample"

    def _eligible(self, covered: Floats, spoiled: Floats) -> NDArray[np.bool_] | None:
        return np.asarray(spoiled == spoiled.min(axis=-1, keepdims=True))


class _Greedy(_Listed):
    """The classical greedy step: of the regions the ones that cover most."""

    fault: ClassVar[str] = "selects among the regions that cover most, as the greedy algorithm does: the support shows"

    def _eligible(self, covered: Floats, spoiled: Floats) -> NDArray[np.bool_] | None:
        return np.asarray(covered == covered.max(axis=-1, keepdims=True))


@dataclass(frozen=True)
class ConvexMultiplied(_Multiplied, ConvexPolygon):
    """Broken control: convex polygons with eps_hat multiplied instead of divided."""

    id: ClassVar[str] = "broken-convex-polygon-multiplied"
    example: ClassVar[Example] = SMALL


@dataclass(frozen=True)
class ConvexSparing(_Sparing, ConvexPolygon):
    """Broken control: convex polygons from the halfplanes consistent with the positives."""

    id: ClassVar[str] = "broken-convex-polygon-sparing"
    example: ClassVar[Example] = BARE


@dataclass(frozen=True)
class ConvexGreedy(_Greedy, ConvexPolygon):
    """Broken control: convex polygons by the greedy algorithm."""

    id: ClassVar[str] = "broken-convex-polygon-greedy"
    example: ClassVar[Example] = BARE


@dataclass(frozen=True)
class UnionMultiplied(_Multiplied, PolygonUnion):
    """Broken control: unions of polygons with eps_hat multiplied instead of divided."""

    id: ClassVar[str] = "broken-polygon-union-multiplied"
    example: ClassVar[Example] = SMALL


@dataclass(frozen=True)
class UnionSparing(_Sparing, PolygonUnion):
    """Broken control: unions of triangles consistent with the negatives."""

    id: ClassVar[str] = "broken-polygon-union-sparing"
    example: ClassVar[Example] = BARE


@dataclass(frozen=True)
class UnionGreedy(_Greedy, PolygonUnion):
    """Broken control: unions of triangles by the greedy algorithm."""

    id: ClassVar[str] = "broken-polygon-union-greedy"
    example: ClassVar[Example] = BARE


@dataclass(frozen=True)
class DiscMultiplied(_Multiplied, DiscUnion):
    """Broken control: unions of discs with eps_hat multiplied instead of divided."""

    id: ClassVar[str] = "broken-disc-union-multiplied"
    example: ClassVar[Example] = SMALL


@dataclass(frozen=True)
class DiscSparing(_Sparing, DiscUnion):
    """Broken control: unions of discs consistent with the negatives."""

    id: ClassVar[str] = "broken-disc-union-sparing"
    example: ClassVar[Example] = BARE


@dataclass(frozen=True)
class DiscGreedy(_Greedy, DiscUnion):
    """Broken control: unions of discs by the greedy algorithm."""

    id: ClassVar[str] = "broken-disc-union-greedy"
    example: ClassVar[Example] = BARE


LEARNERS = (
    ConvexMultiplied,
    ConvexSparing,
    ConvexGreedy,
    UnionMultiplied,
    UnionSparing,
    UnionGreedy,
    DiscMultiplied,
    DiscSparing,
    DiscGreedy,
)
