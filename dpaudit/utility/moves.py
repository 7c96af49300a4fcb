"""Small changes of a case without noise, from which a search climbs to harder ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import ConceptClass, Distribution
from dpaudit.utility.hard_cases import HardCase, just_above

__all__ = ["Moves"]

Floats = NDArray[np.float64]


class Moves:
    """Random moves over the distributions on some points, and over the concepts.

    Move a share of a point's mass to another point of the support; split it with a point outside; merge two points;
    bring a random rival's error to just above alpha by scaling the mass on which it errs; change the concept.

    Parameters
    ----------
    concepts : ConceptClass
        The class.
    points : array, shape (m, k)
        Points that may have mass.
    alpha : float
        The accuracy.
    """

    def __init__(self, concepts: ConceptClass, points: NDArray[Any], alpha: float) -> None:
        self._concepts, self._points, self._mass = concepts, points, just_above(alpha)
        self._kinds = (self._shift, self._split, self._merge, self._snap, self._snap)

    def changed(self, case: HardCase, rng: np.random.Generator) -> HardCase:
        """Return a case one move away."""
        code, points = case.concept_code, case.distribution.points
        weights = np.array(case.distribution.probabilities, dtype=np.float64)
        if rng.random() < 1 / 6:
            code = int(rng.integers(self._concepts.size))
        else:
            points, weights = self._kinds[int(rng.integers(len(self._kinds)))](code, points, weights, rng)
        seen = weights > 1e-6  # a point that is never drawn only costs time
        law = Distribution(points[seen], weights[seen] / weights[seen].sum(), "found by climbing")
        return HardCase(code, law, f"found by climbing; concept {code}")

    def _shift(self, code: int, points: Any, weights: Floats, rng: np.random.Generator) -> tuple[Any, Floats]:
        source, target = rng.integers(len(weights), size=2)
        moved = weights[source] * rng.random()
        weights[source] -= moved
        weights[target] += moved
        return points, weights

    def _split(self, code: int, points: Any, weights: Floats, rng: np.random.Generator) -> tuple[Any, Floats]:
        fresh = self._points[int(rng.integers(len(self._points)))]
        source = int(rng.integers(len(weights)))
        moved = weights[source] * rng.random()
        weights[source] -= moved
        same = np.flatnonzero((points == fresh).all(axis=1))
        if len(same):
            weights[same[0]] += moved
            return points, weights
        return np.concatenate([points, fresh[None, :]]), np.append(weights, moved)

    def _merge(self, code: int, points: Any, weights: Floats, rng: np.random.Generator) -> tuple[Any, Floats]:
        source, target = rng.integers(len(weights), size=2)
        if source != target:
            weights[target] += weights[source]
            weights[source] = 0.0
        return points, weights

    def _snap(self, code: int, points: Any, weights: Floats, rng: np.random.Generator) -> tuple[Any, Floats]:
        rival = int(rng.integers(self._concepts.size))
        wrong = self._concepts.concept(rival).predict(points) != self._concepts.concept(code).predict(points)
        error = float(weights[wrong].sum())
        if 0 < error < 1:
            weights = np.where(wrong, weights * (self._mass / error), weights * ((1 - self._mass) / (1 - error)))
        return points, weights
