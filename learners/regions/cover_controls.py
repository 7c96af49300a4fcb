"""Set Cover Learners over regions of the plane with one known leak each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpaudit.contract import InputError, Instance
from learners.covers.faults import Greedy, Multiplied, Sparing
from learners.covers.regions import RegionCover
from learners.regions.discs import DiscUnion
from learners.regions.polygon_covers import ConvexPolygon, PolygonUnion

__all__ = ["LEARNERS"]

SMALL = Instance(
    {"side": 1, "k": 1, "epsilon": 0.5, "delta": 1e-6, "alpha": 0.49, "beta": 0.2}, n=2, alpha=0.99, beta=0.5
)
BARE = Instance({**SMALL.parameters, "variant": "noiseless"}, n=2, alpha=0.99, beta=0.5)


class _Listed(RegionCover):
    """Controls that change the choice among listed regions."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.listed() is None:
            raise InputError(f"side must be small enough to list the regions for this control, got {self.side}")


@dataclass(frozen=True)
class ConvexMultiplied(Multiplied, ConvexPolygon):
    """Broken control: convex polygons with eps_hat multiplied instead of divided."""

    id: ClassVar[str] = "broken-convex-polygon-multiplied"
    instance: ClassVar[Instance] = SMALL


@dataclass(frozen=True)
class ConvexSparing(Sparing, _Listed, ConvexPolygon):
    """Broken control: convex polygons from the halfplanes consistent with the positives."""

    id: ClassVar[str] = "broken-convex-polygon-sparing"
    instance: ClassVar[Instance] = BARE


@dataclass(frozen=True)
class ConvexGreedy(Greedy, _Listed, ConvexPolygon):
    """Broken control: convex polygons by the greedy algorithm."""

    id: ClassVar[str] = "broken-convex-polygon-greedy"
    instance: ClassVar[Instance] = BARE


@dataclass(frozen=True)
class UnionMultiplied(Multiplied, PolygonUnion):
    """Broken control: unions of polygons with eps_hat multiplied instead of divided."""

    id: ClassVar[str] = "broken-polygon-union-multiplied"
    instance: ClassVar[Instance] = SMALL


@dataclass(frozen=True)
class UnionSparing(Sparing, _Listed, PolygonUnion):
    """Broken control: unions of triangles consistent with the negatives."""

    id: ClassVar[str] = "broken-polygon-union-sparing"
    instance: ClassVar[Instance] = BARE


@dataclass(frozen=True)
class UnionGreedy(Greedy, _Listed, PolygonUnion):
    """Broken control: unions of triangles by the greedy algorithm."""

    id: ClassVar[str] = "broken-polygon-union-greedy"
    instance: ClassVar[Instance] = BARE


@dataclass(frozen=True)
class DiscMultiplied(Multiplied, DiscUnion):
    """Broken control: unions of discs with eps_hat multiplied instead of divided."""

    id: ClassVar[str] = "broken-disc-union-multiplied"
    instance: ClassVar[Instance] = SMALL


@dataclass(frozen=True)
class DiscSparing(Sparing, _Listed, DiscUnion):
    """Broken control: unions of discs consistent with the negatives."""

    id: ClassVar[str] = "broken-disc-union-sparing"
    instance: ClassVar[Instance] = BARE


@dataclass(frozen=True)
class DiscGreedy(Greedy, _Listed, DiscUnion):
    """Broken control: unions of discs by the greedy algorithm."""

    id: ClassVar[str] = "broken-disc-union-greedy"
    instance: ClassVar[Instance] = BARE


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
