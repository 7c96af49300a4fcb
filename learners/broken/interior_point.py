"""Interior point learners with one known leak each."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Example, PrivacyClaim
from learners.interior_point import InteriorPointExponential, InteriorPointRecConcave, InteriorPointTreeLog
from learners.mechanisms.choosing import Choosing
from learners.mechanisms.interior_solvers import ExponentialSolver, Solver
from learners.mechanisms.rec_concave import RecConcave
from learners.mechanisms.stable_select import StableSelect, Standing
from learners.mechanisms.steps import Steps
from learners.mechanisms.tree_log import TreeLog

__all__ = ["LEARNERS", "BareStable", "DoubledSolver", "HullSolver", "MedianSolver", "WrongStable"]


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


@dataclass(frozen=True)
class MedianSolver(ExponentialSolver):
    """Medians only."""

    def scores(self, points: Sequence[int], counts: Sequence[int]) -> Steps:
        """Return q where it is greatest."""
        whole = super().scores(points, counts)
        top = max(whole.values)
        best = [(s, n, v) for s, n, v in zip(whole.starts, whole.lengths, whole.values, strict=True) if v == top]
        return Steps([s for s, _, _ in best], [n for _, n, _ in best], [v for _, _, v in best])


@dataclass(frozen=True)
class WrongStable(StableSelect):
    """Smith and Thakurta's constants for the distance to instability, used on the gap, which is about twice that."""

    @property
    def scale(self) -> float:
        """1/epsilon."""
        return 1 / float(self.epsilon)

    @property
    def threshold(self) -> float:
        """ln(1/delta)/epsilon."""
        return self.scale * math.log(1 / float(self.delta))


@dataclass(frozen=True)
class BareStable(StableSelect):
    """No noise on the gap."""

    def draw(self, standing: Standing, rng: np.random.Generator, size: int) -> NDArray[np.bool_]:
        """Return `size` times whether the gap reaches the threshold."""
        return np.full(size, standing.gap is None or float(standing.gap) >= self.threshold)

    def log_law(self, standing: Standing) -> tuple[float, float, float]:
        """Return all mass on one answer."""
        named = standing.gap is None or float(standing.gap) >= self.threshold
        return (0.0, -math.inf, 0.0) if named else (-math.inf, 0.0, 0.0)


@dataclass(frozen=True)
class BareChoosing(Choosing):
    """No noise on the test of the best score."""

    def draw(self, scores: Mapping[Hashable, int], rng: np.random.Generator, size: int) -> list[Hashable | None]:
        """Return choices if the best score reaches the threshold."""
        if max(scores.values(), default=0) < self.threshold:
            return [None] * size
        return [solution for solution in _sure(self).draw(scores, rng, size)]

    def log_law(self, scores: Mapping[Hashable, int]) -> tuple[NDArray[np.float64], float, float]:
        """Return the law of the choices, or of nothing."""
        logs, _, error = _sure(self).log_law(scores)
        if max(scores.values(), default=0) < self.threshold:
            return np.full(len(logs), -np.inf), 0.0, error
        return logs, -math.inf, error


@dataclass(frozen=True)
class _Sure(Choosing):
    """Passes every test."""

    @property
    def threshold(self) -> float:
        """Below every score."""
        return -math.inf


def _sure(choosing: Choosing) -> Choosing:
    return _Sure(choosing.epsilon, choosing.delta, choosing.growth)


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
    example: ClassVar[Example] = Example({"domain_size": 5, "epsilon": 1.0}, n=4)
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
class RecConcaveWrongStable(_RecConcave):
    """Broken control: interior points by RecConcave whose stable selections are calibrated for another statistic."""

    id: ClassVar[str] = "broken-rec-concave-wrong-stable"
    fault: ClassVar[str] = "stable selection with Lap(1/epsilon) and threshold ln(1/delta)/epsilon on the gap"

    def _concave(self, n: int) -> RecConcave:
        return dataclasses.replace(super()._concave(n), stable=WrongStable)


@dataclass(frozen=True)
class RecConcaveBareStable(_RecConcave):
    """Broken control: interior points by RecConcave whose stable selections add no noise."""

    id: ClassVar[str] = "broken-rec-concave-bare-stable"
    fault: ClassVar[str] = "stable selection without noise: whether the gap reaches the threshold shows"

    def _concave(self, n: int) -> RecConcave:
        return dataclasses.replace(super()._concave(n), stable=BareStable)


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
class TreeLogBareChoice(_TreeLog):
    """Broken control: interior points by TreeLog without noise on the test for a balanced node."""

    id: ClassVar[str] = "broken-tree-log-bare-choice"
    fault: ClassVar[str] = "the test for a balanced node has no noise: the greatest balance shows"

    def _tree(self, n: int) -> TreeLog:
        return dataclasses.replace(super()._tree(n), choosing=BareChoosing)


LEARNERS = (
    InteriorPointDoubled,
    InteriorPointHull,
    InteriorPointMedian,
    RecConcaveWrongStable,
    RecConcaveBareStable,
    RecConcaveUndivided,
    TreeLogBareChoice,
)
