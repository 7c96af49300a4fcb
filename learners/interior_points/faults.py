"""Faults of interior point solvers, and the claim that a learner with a fault makes."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.contract import PrivacyClaim
from learners.arrays import Floats
from learners.interior_points.solvers import ExponentialSolver, Solver
from learners.mechanisms.composition import Cost
from learners.mechanisms.log_laws import ULP, log_mixture, placed
from learners.mechanisms.steps import Steps

__all__ = [
    "ClaimsAsSound",
    "DoubledSolver",
    "HullSolver",
    "MedianSolver",
    "RetryingSolver",
    "ShortcutSolver",
    "best_pieces",
    "parameters",
]


def parameters(learner: Any) -> dict[str, Any]:
    """Return the parameters of a learner by name."""
    return {f.name: getattr(learner, f.name) for f in dataclasses.fields(learner)}


class ClaimsAsSound:
    """A fault that the claim does not know: what is claimed is what the sound learner's calls cost."""

    @property
    def privacy(self) -> PrivacyClaim:
        """The claim of the learner without the fault, that does not take the paper's text literally."""
        sound: Any = next(c for c in type(self).__mro__ if hasattr(c, "id") and not hasattr(c, "fault"))
        own = parameters(self)
        claim: PrivacyClaim = sound(**{**own, "literal": False} if "literal" in own else own).privacy
        return claim


@dataclass(frozen=True)
class DoubledSolver(ExponentialSolver):
    """Weights exp(epsilon q)."""

    @property
    def rate(self) -> float:
        """Twice what the sensitivity allows."""
        return float(self.epsilon)


@dataclass(frozen=True)
class HullSolver(ExponentialSolver):
    """Interior points only."""

    def scores(self, points: Sequence[int], counts: Sequence[int]) -> Steps:
        """Return q on the interior points."""
        whole = super().scores(points, counts)
        return whole.restricted([(points[0], points[-1] + 1)]) if points else whole


def best_pieces(score: Steps) -> Steps:
    """Return the score on the pieces where it is greatest."""
    top = max(score.values)
    best = [piece for piece in zip(score.starts, score.lengths, score.values, strict=True) if piece[2] == top]
    return Steps(*zip(*best, strict=True))


@dataclass(frozen=True)
class MedianSolver(ExponentialSolver):
    """Medians only."""

    def scores(self, points: Sequence[int], counts: Sequence[int]) -> Steps:
        """Return q where it is greatest."""
        return best_pieces(super().scores(points, counts))


@dataclass(frozen=True)
class _Wrapped:
    """A solver that calls another one."""

    solver: Solver

    @property
    def cost(self) -> Cost:
        """The cost of one call of the solver, which is wrong."""
        return self.solver.cost


class RetryingSolver(_Wrapped):
    """Repeats a solver until its answer is an interior point."""

    def draw(self, points: Sequence[int], counts: Sequence[int], rng: np.random.Generator, size: int) -> list[int]:
        """Return interior points; any point if there are no data."""
        kept: list[int] = []
        while len(kept) < size:
            drawn = self.solver.draw(points, counts, rng, size)
            kept += [x for x in drawn if not points or points[0] <= x <= points[-1]]
        return kept[:size]

    def log_law(self, points: Sequence[int], counts: Sequence[int]) -> tuple[Floats, float]:
        """Return the law of the solver, given that the answer is interior."""
        logs, error = self.solver.log_law(points, counts)
        if not points:
            return logs, error
        within = slice(points[0], points[-1] + 1)
        inside = placed(len(logs), within, logs[within])
        total, more = log_mixture([0.0] * len(inside), list(inside[:, None]), error)
        return inside - total[0], error + more + 2 * ULP * float(abs(total[0]))


class ShortcutSolver(_Wrapped):
    """Answers at once where all points are equal."""

    def draw(self, points: Sequence[int], counts: Sequence[int], rng: np.random.Generator, size: int) -> list[int]:
        """Return the only point, or what the solver finds."""
        return [points[0]] * size if len(points) == 1 else self.solver.draw(points, counts, rng, size)

    def log_law(self, points: Sequence[int], counts: Sequence[int]) -> tuple[Floats, float]:
        """Return all mass on the only point, or the solver's law."""
        logs, error = self.solver.log_law(points, counts)
        return (placed(len(logs), points[0], 0.0), 0.0) if len(points) == 1 else (logs, error)
