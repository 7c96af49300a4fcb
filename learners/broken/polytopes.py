"""Learners of polytopes in three dimensions with one known leak each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Example
from learners.broken.cover_faults import Greedy, Multiplied, Sparing
from learners.polytopes import ConvexPolytope, SimplexSelect, SimplexUnion

__all__ = ["LEARNERS"]

SMALL = Example({**ConvexPolytope.example.parameters, "epsilon": 0.5}, n=2, alpha=0.9, beta=0.5)
BARE = Example({**SMALL.parameters, "variant": "noiseless"}, n=2, alpha=0.9, beta=0.5)


@dataclass(frozen=True)
class SimplexUnhalved(SimplexSelect):
    """Broken control: four times the rate."""

    id: ClassVar[str] = "broken-simplex-unhalved"
    fault: ClassVar[str] = "weights exp(2 epsilon q) under a claim of epsilon: four times the rate"
    example: ClassVar[Example] = Example({"side": 1, "epsilon": 0.5}, n=2)

    @property
    def _rate(self) -> float:
        return 4 * super()._rate


@dataclass(frozen=True)
class SimplexConsistentFirst(SimplexSelect):
    """Broken control: only the simplices with the greatest score."""

    id: ClassVar[str] = "broken-simplex-consistent-first"
    fault: ClassVar[str] = "chooses among the simplices with the greatest score alone: the support shows the sample"
    example: ClassVar[Example] = Example({"side": 1, "epsilon": 0.5}, n=2)

    def _eligible(self, correct: NDArray[np.int64]) -> NDArray[np.bool_] | None:
        return np.asarray(correct == correct.max())


@dataclass(frozen=True)
class PolytopeMultiplied(Multiplied, ConvexPolytope):
    """Broken control: convex polytopes with eps_hat multiplied instead of divided."""

    id: ClassVar[str] = "broken-convex-polytope-multiplied"
    example: ClassVar[Example] = SMALL


@dataclass(frozen=True)
class PolytopeSparing(Sparing, ConvexPolytope):
    """Broken control: convex polytopes from the halfspaces consistent with the positives."""

    id: ClassVar[str] = "broken-convex-polytope-sparing"
    example: ClassVar[Example] = BARE


@dataclass(frozen=True)
class SimplexUnionMultiplied(Multiplied, SimplexUnion):
    """Broken control: unions of simplices with eps_hat multiplied instead of divided."""

    id: ClassVar[str] = "broken-simplex-union-multiplied"
    example: ClassVar[Example] = Example(SMALL.parameters, n=1, alpha=0.9, beta=0.5)


@dataclass(frozen=True)
class SimplexUnionGreedy(Greedy, SimplexUnion):
    """Broken control: unions of simplices by the greedy algorithm."""

    id: ClassVar[str] = "broken-simplex-union-greedy"
    example: ClassVar[Example] = Example(BARE.parameters, n=1, alpha=0.9, beta=0.5)


LEARNERS = (
    SimplexUnhalved,
    SimplexConsistentFirst,
    PolytopeMultiplied,
    PolytopeSparing,
    SimplexUnionMultiplied,
    SimplexUnionGreedy,
)
