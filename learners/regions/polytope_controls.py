"""Learners of polytopes in three dimensions with one known leak each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpaudit.contract import Instance
from learners.covers.faults import Greedy, Multiplied, Sparing
from learners.regions import selection_faults as faults
from learners.regions.polytopes import ConvexPolytope, SimplexSelect, SimplexUnion

__all__ = ["LEARNERS"]

SELECTION = Instance({"side": 1, "epsilon": 0.5}, n=2)
SMALL = Instance({**ConvexPolytope.instance.parameters, "epsilon": 0.5}, n=2, alpha=0.9, beta=0.5)
BARE = Instance({**SMALL.parameters, "variant": "noiseless"}, n=2, alpha=0.9, beta=0.5)


@dataclass(frozen=True)
class SimplexUnhalved(faults.Unhalved, SimplexSelect):
    """Broken control: four times the rate."""

    id: ClassVar[str] = "broken-simplex-unhalved"
    instance: ClassVar[Instance] = SELECTION


@dataclass(frozen=True)
class SimplexConsistentFirst(faults.ConsistentFirst, SimplexSelect):
    """Broken control: only the simplices with the greatest score."""

    id: ClassVar[str] = "broken-simplex-consistent-first"
    instance: ClassVar[Instance] = SELECTION


@dataclass(frozen=True)
class SimplexUnweighted(faults.Unweighted, SimplexSelect):
    """Broken control: labellings of the sample chosen without regard to their measures."""

    id: ClassVar[str] = "broken-simplex-unweighted"
    instance: ClassVar[Instance] = Instance({"side": 1, "epsilon": 0.2}, n=2)


@dataclass(frozen=True)
class PolytopeMultiplied(Multiplied, ConvexPolytope):
    """Broken control: convex polytopes with eps_hat multiplied instead of divided."""

    id: ClassVar[str] = "broken-convex-polytope-multiplied"
    instance: ClassVar[Instance] = SMALL


@dataclass(frozen=True)
class PolytopeSparing(Sparing, ConvexPolytope):
    """Broken control: convex polytopes from the halfspaces consistent with the positives."""

    id: ClassVar[str] = "broken-convex-polytope-sparing"
    instance: ClassVar[Instance] = BARE


@dataclass(frozen=True)
class PolytopeGreedy(Greedy, ConvexPolytope):
    """Broken control: convex polytopes by the greedy algorithm."""

    id: ClassVar[str] = "broken-convex-polytope-greedy"
    instance: ClassVar[Instance] = BARE


@dataclass(frozen=True)
class SimplexUnionMultiplied(Multiplied, SimplexUnion):
    """Broken control: unions of simplices with eps_hat multiplied instead of divided."""

    id: ClassVar[str] = "broken-simplex-union-multiplied"
    instance: ClassVar[Instance] = Instance(SMALL.parameters, n=1, alpha=0.9, beta=0.5)


@dataclass(frozen=True)
class SimplexUnionGreedy(Greedy, SimplexUnion):
    """Broken control: unions of simplices by the greedy algorithm."""

    id: ClassVar[str] = "broken-simplex-union-greedy"
    instance: ClassVar[Instance] = Instance(BARE.parameters, n=1, alpha=0.9, beta=0.5)


@dataclass(frozen=True)
class SimplexUnionSparing(Sparing, SimplexUnion):
    """Broken control: unions of simplices from the simplices consistent with the negatives."""

    id: ClassVar[str] = "broken-simplex-union-sparing"
    instance: ClassVar[Instance] = Instance(BARE.parameters, n=1, alpha=0.9, beta=0.5)


LEARNERS = (
    SimplexUnhalved,
    SimplexConsistentFirst,
    SimplexUnweighted,
    PolytopeMultiplied,
    PolytopeSparing,
    PolytopeGreedy,
    SimplexUnionMultiplied,
    SimplexUnionGreedy,
    SimplexUnionSparing,
)
