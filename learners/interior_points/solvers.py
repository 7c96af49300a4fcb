"""Private solvers of the interior point problem behind one interface, for the reductions that call them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from dpaudit.contract import InputError
from learners.arrays import Floats
from learners.mechanisms.composition import Cost
from learners.mechanisms.log_laws import check_size
from learners.mechanisms.rec_concave import RecConcave
from learners.mechanisms.steps import Steps, interior_scores
from learners.mechanisms.tree_log import TreeLog

__all__ = ["VARIANTS", "ExponentialSolver", "RecConcaveSolver", "Solver", "check_variant", "make_solver"]

VARIANTS = ("exponential", "rec-concave", "tree-log")


class Solver(Protocol):
    """Finds an interior point of n points of {0 .. size - 1}, given as ascending distinct points and counts."""

    @property
    def cost(self) -> Cost:
        """The guarantee of one call under replacement."""

    def draw(self, points: Sequence[int], counts: Sequence[int], rng: np.random.Generator, size: int) -> list[int]:
        """Return the points found by `size` independent calls."""

    def log_law(self, points: Sequence[int], counts: Sequence[int]) -> tuple[Floats, float]:
        """Return the log-probabilities of 0 .. size - 1 and a bound on their error."""


@dataclass(frozen=True)
class ExponentialSolver:
    """The exponential mechanism with weights exp(epsilon q / 2), q(x) = min(#{x_i <= x}, #{x_i >= x}); pure.

    q has sensitivity 1 and a maximum of at least n/2; points outside of the data have q = 0 and are returned with
    probability at most size e^(-epsilon n / 4).

    Positive controls take a multiple of the rate, `times`, or restrict the scores, which are `eligible`'s value for
    the scores and the points.
    """

    size: int
    epsilon: Fraction
    times: int = 1
    eligible: Callable[[Steps, Sequence[int]], Steps] | None = None

    @property
    def cost(self) -> Cost:
        """(epsilon, 0)."""
        return Cost(self.epsilon, name="exponential")

    @property
    def rate(self) -> float:
        """The inverse temperature."""
        return self.times * float(self.epsilon) / 2

    def scores(self, points: Sequence[int], counts: Sequence[int]) -> Steps:
        """Return q, restricted to what may be returned."""
        whole = interior_scores(points, counts, self.size)
        return whole if self.eligible is None else self.eligible(whole, points)

    def draw(self, points: Sequence[int], counts: Sequence[int], rng: np.random.Generator, size: int) -> list[int]:
        """Return the points found by `size` independent calls."""
        return self.scores(points, counts).draw_exponential(self.rate, rng, size)

    def log_law(self, points: Sequence[int], counts: Sequence[int]) -> tuple[Floats, float]:
        """Return the log-probabilities of 0 .. size - 1 and a bound on their error."""
        check_size(self.size)
        return self.scores(points, counts).log_exponential(self.rate, self.size)

    def points_needed(self, beta: float) -> int:
        """Return ceil((4/epsilon) ln(size/beta)): enough for an interior point with probability 1 - beta."""
        return math.ceil(4 / float(self.epsilon) * (math.log(self.size) - math.log(beta)))


@dataclass(frozen=True)
class RecConcaveSolver:
    """RecConcave on q with the promise n/2, which q keeps at the median of any data."""

    concave: RecConcave

    @property
    def cost(self) -> Cost:
        """The guarantee of RecConcave's calls."""
        return self.concave.cost

    def draw(self, points: Sequence[int], counts: Sequence[int], rng: np.random.Generator, size: int) -> list[int]:
        """Return the points found by `size` independent calls."""
        return self.concave.draw(interior_scores(points, counts, self.concave.top + 1), rng, size)

    def log_law(self, points: Sequence[int], counts: Sequence[int]) -> tuple[Floats, float]:
        """Return the log-probabilities of 0 .. size - 1 and a bound on their error."""
        return self.concave.log_law(interior_scores(points, counts, self.concave.top + 1))

    def points_needed(self, beta: float) -> int:
        """Return twice the promise needed."""
        return math.ceil(2 * self.concave.promise_needed(beta))


def check_variant(variant: str, delta: float | None) -> None:
    """Raise `InputError` unless the variant exists and has a delta where it needs one."""
    if variant not in VARIANTS:
        raise InputError(f"variant must be one of {', '.join(VARIANTS)}; got {variant!r}")
    if variant != "exponential" and delta is None:
        raise InputError(f"delta must be in (0, 1) for the variant {variant!r}, which is not pure; got None")


def make_solver(variant: str, size: int, n: int, epsilon: Fraction, delta: Fraction, beta: float) -> tuple[Solver, int]:
    """Return a solver for n points that costs at most (epsilon, delta), and how many points it needs for beta."""
    if variant == "exponential":
        plain = ExponentialSolver(size, epsilon)
        return plain, plain.points_needed(beta)
    if variant == "rec-concave":
        concave = RecConcaveSolver(RecConcave.within(size - 1, Fraction(n, 2), Fraction(1, 2), epsilon, delta))
        return concave, concave.points_needed(beta)
    tree = TreeLog.within(size, n, epsilon, delta, beta)
    return tree, tree.points_needed
