"""Interior point learners with one known leak each."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Instance, PrivacyClaim
from learners.interior_points.base import InteriorPoint
from learners.interior_points.exponential import InteriorPointExponential
from learners.interior_points.rec_concave import InteriorPointRecConcave
from learners.interior_points.solvers import ExponentialSolver, Solver
from learners.interior_points.tree_log import InteriorPointTreeLog
from learners.mechanisms.composition import Cost
from learners.mechanisms.log_laws import log_mixture
from learners.mechanisms.rec_concave import RecConcave
from learners.mechanisms.steps import Steps
from learners.mechanisms.tree_log import TreeLog

__all__ = ["LEARNERS", "DoubledSolver", "HullSolver", "MedianSolver"]


def parameters(learner: Any) -> dict[str, Any]:
    """Return the parameters of a learner by name."""
    return {f.name: getattr(learner, f.name) for f in dataclasses.fields(learner)}


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


def _best(score: Steps) -> Steps:
    """Return the score on the pieces where it is greatest."""
    top = max(score.values)
    best = [(s, n, v) for s, n, v in zip(score.starts, score.lengths, score.values, strict=True) if v == top]
    return Steps([s for s, _, _ in best], [n for _, n, _ in best], [v for _, _, v in best])


@dataclass(frozen=True)
class MedianSolver(ExponentialSolver):
    """Medians only."""

    def scores(self, points: Sequence[int], counts: Sequence[int]) -> Steps:
        """Return q where it is greatest."""
        return _best(super().scores(points, counts))


class _Exponential(InteriorPointExponential):
    """An interior point exponential mechanism with another solver, and the sound one's claim."""

    _solver_class: ClassVar[type[ExponentialSolver]]

    def _solver(self, n: int) -> Solver:
        return self._solver_class(self.domain_size, Fraction(self.epsilon))


@dataclass(frozen=True)
class InteriorPointDoubled(_Exponential):
    """Broken control: interior points by the exponential mechanism at twice the rate."""

    id: ClassVar[str] = "broken-interior-point-doubled"
    fault: ClassVar[str] = "weights exp(epsilon q) instead of exp(epsilon q / 2): up to twice the claimed epsilon"
    instance: ClassVar[Instance] = Instance({"domain_size": 5, "epsilon": 1.0}, n=4)
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


class _RecConcave(InteriorPointRecConcave):
    """RecConcave with a fault in its calls, and the sound one's claim."""

    @property
    def privacy(self) -> PrivacyClaim:
        """The sound learner's claim."""
        return InteriorPointRecConcave(**parameters(self)).privacy


@dataclass(frozen=True)
class _GreedyConcave(RecConcave):
    """Returns uniformly among the best candidates of the last step."""

    def _candidates(self, padded: Steps, k: int, a: bool, b: bool) -> Steps:
        return _best(super()._candidates(padded, k, a, b))


@dataclass(frozen=True)
class RecConcaveGreedy(_RecConcave):
    """Broken control: interior points by RecConcave whose last step takes the best candidate."""

    id: ClassVar[str] = "broken-rec-concave-greedy"
    fault: ClassVar[str] = "the last step returns a candidate of the greatest score: which one that is shows"
    instance: ClassVar[Instance] = Instance({"domain_size": 64, "epsilon": 4.0, "delta": 0.05}, n=24, exhaustive=False)

    def _concave(self, n: int) -> RecConcave:
        return _GreedyConcave(**parameters(super()._concave(n)))


@dataclass(frozen=True)
class RetryingSolver:
    """Repeats a solver until its answer is an interior point."""

    solver: Solver

    @property
    def cost(self) -> Cost:
        """That of one repetition, wrongly."""
        return self.solver.cost

    def draw(self, points: Sequence[int], counts: Sequence[int], rng: np.random.Generator, size: int) -> list[int]:
        """Return interior points; any point if there are no data."""
        kept: list[int] = []
        while len(kept) < size:
            drawn = self.solver.draw(points, counts, rng, size)
            kept += [x for x in drawn if not points or points[0] <= x <= points[-1]]
        return kept[:size]

    def log_law(self, points: Sequence[int], counts: Sequence[int]) -> tuple[NDArray[np.float64], float]:
        """Return the law of the solver, given that the answer is interior."""
        logs, error = self.solver.log_law(points, counts)
        if not points:
            return logs, error
        inside = np.full(len(logs), -np.inf)
        inside[points[0] : points[-1] + 1] = logs[points[0] : points[-1] + 1]
        total, more = log_mixture([0.0] * len(inside), list(inside[:, None]), error)
        return inside - total[0], error + more + 2.0**-51 * float(abs(total[0]))


class _Retrying(InteriorPoint):
    """The fault of repeating a learner until its answer is an interior point."""

    fault: ClassVar[str] = "repeats until the point is interior: the support shows the extreme examples"

    def _solver(self, n: int) -> Solver:
        return RetryingSolver(super()._solver(n))


@dataclass(frozen=True)
class RecConcaveRetrying(_Retrying, _RecConcave):
    """Broken control: interior points by RecConcave, repeated until one is found."""

    id: ClassVar[str] = "broken-rec-concave-retrying"
    instance: ClassVar[Instance] = Instance({"domain_size": 64, "epsilon": 1.0, "delta": 0.01}, n=24, exhaustive=False)


@dataclass(frozen=True)
class RecConcaveUndivided(_RecConcave):
    """Broken control: interior points by RecConcave in which every call spends the whole budget."""

    id: ClassVar[str] = "broken-rec-concave-undivided"
    fault: ClassVar[str] = "the budget is not divided over the calls"

    def _concave(self, n: int) -> RecConcave:
        whole = Fraction(self.epsilon), Fraction(self.delta)
        return dataclasses.replace(super()._concave(n), epsilon=4 * whole[0], delta=whole[1])


class _TreeLog(InteriorPointTreeLog):
    """TreeLog with a fault in its calls, and the sound one's claim."""

    @property
    def privacy(self) -> PrivacyClaim:
        """The sound learner's claim."""
        return InteriorPointTreeLog(**parameters(self)).privacy


@dataclass(frozen=True)
class TreeLogUndivided(_TreeLog):
    """Broken control: interior points by TreeLog in which every call spends the whole budget, four times over."""

    id: ClassVar[str] = "broken-tree-log-undivided"
    fault: ClassVar[str] = "the budget is multiplied by the number of calls, where it should be divided by it"
    instance: ClassVar[Instance] = Instance(
        {"domain_size": 32, "epsilon": 2.0, "delta": 0.05, "beta": 0.5}, n=16, exhaustive=False
    )

    def _tree(self, n: int) -> TreeLog:
        sound = super()._tree(n)
        return dataclasses.replace(sound, epsilon=sound.epsilon * (3 * sound.levels - 2) ** 2)


@dataclass(frozen=True)
class TreeLogRetrying(_Retrying, _TreeLog):
    """Broken control: interior points by TreeLog, repeated until one is found."""

    id: ClassVar[str] = "broken-tree-log-retrying"
    instance: ClassVar[Instance] = Instance(
        {"domain_size": 32, "epsilon": 1.0, "delta": 0.01, "beta": 0.5}, n=8, exhaustive=False
    )


@dataclass(frozen=True)
class ShortcutSolver:
    """Answers at once where all points are equal."""

    solver: Solver

    @property
    def cost(self) -> Cost:
        """That of the solver, wrongly."""
        return self.solver.cost

    def draw(self, points: Sequence[int], counts: Sequence[int], rng: np.random.Generator, size: int) -> list[int]:
        """Return the only point, or what the solver finds."""
        return [points[0]] * size if len(points) == 1 else self.solver.draw(points, counts, rng, size)

    def log_law(self, points: Sequence[int], counts: Sequence[int]) -> tuple[NDArray[np.float64], float]:
        """Return all mass on the only point, or the solver's law."""
        logs, error = self.solver.log_law(points, counts)
        if len(points) != 1:
            return logs, error
        sure = np.full(len(logs), -np.inf)
        sure[points[0]] = 0.0
        return sure, 0.0


@dataclass(frozen=True)
class TreeLogShortcut(_TreeLog):
    """Broken control: interior points by TreeLog, without a call where the data are one point."""

    id: ClassVar[str] = "broken-tree-log-shortcut"
    fault: ClassVar[str] = "returns the point for certain where all examples are equal"
    instance: ClassVar[Instance] = Instance(
        {"domain_size": 32, "epsilon": 1.0, "delta": 0.01, "beta": 0.5}, n=8, exhaustive=False
    )

    def _solver(self, n: int) -> Solver:
        return ShortcutSolver(super()._solver(n))


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
)
