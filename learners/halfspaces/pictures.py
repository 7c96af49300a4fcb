"""Pictures of how many examples a deep point takes: as printed, with explicit constants, measured, and needed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from dpaudit.contract import Panel, Shape
from learners.halfspaces.hull_point_base import HullPoint
from learners.halfspaces.lower_bound import common_point_examples, required_examples
from learners.halfspaces.sizes import (
    candidates_bound,
    exponential_examples,
    measured_examples,
    printed_examples,
    recursive_examples,
)

__all__ = ["size_panels"]

EPSILON, DELTA, BETA = 1.0, 1e-6, 0.1
LINE = range(1, 13)
"""log2 of the number of points on a line."""
MEASURED, MEASURED_RECURSIVE = (2, 3, 4, 5, 6, 7, 8), (5, 6, 7)
SPACE = (1, 2, 3, 4, 6, 8)
"""log2 T of the grids [T]^10."""
Pure = Callable[[int, int, float], HullPoint]
Recursive = Callable[[int, int, float, float, float], HullPoint]


def size_panels(exponential: Pure, rec_concave: Recursive) -> tuple[Panel, Panel]:
    """Return n against the domain's size: on a line, measured sizes included, and for d = 10 with the lower bound.

    Parameters
    ----------
    exponential, rec_concave : callable
        The learners whose sizes are measured, made of (side, dimension, epsilon) and (side, dimension, epsilon, delta,
        beta).
    """
    setting = f"epsilon = {EPSILON:g}, delta = {DELTA:g}, beta = {BETA:g}"
    line = Panel(
        f"Examples for a point of depth n/4 among 2^k points on a line, {setting}; measured are the least n at which "
        "no hard sample fails more often than beta. The sample pictured beside has no part in it.",
        (0.0, 13.0),
        (0.0, 11.0),
        _on_a_line(exponential, rec_concave),
        x_label="log2 of the number of points",
        y_label="log10 n",
        equal=False,
    )
    space = Panel(
        f"Examples for a point of the convex hull of points of [T]^10, {setting}: the lower bound of Theorem 5.1, what "
        "finds a common point of its hard samples, and upper bounds over Claim 3.5's domain. Formulas alone: no sample "
        "has a part in it.",
        (0.0, 9.0),
        (0.0, 14.0),
        _in_space(),
        x_label="log2 T",
        y_label="log10 n",
        equal=False,
    )
    return line, space


def _curve(xs: Sequence[int], ns: Sequence[float], tone: str, label: str, *, dashed: bool = False) -> Shape:
    # A bound below 1 says nothing.
    points = tuple((float(x), math.log10(n)) for x, n in zip(xs, ns, strict=True) if n >= 1)
    return Shape("line", points, tone, dashed=dashed, label=label)


def _dots(xs: Sequence[int], ns: Sequence[float], tone: str, label: str) -> Shape:
    points = tuple((float(x), math.log10(n)) for x, n in zip(xs, ns, strict=True))
    return Shape("points", points, tone, label=label)


def _on_a_line(exponential: Pure, rec_concave: Recursive) -> tuple[Shape, ...]:
    pure = [measured_examples(exponential(2**k - 1, 1, EPSILON), BETA) for k in MEASURED]
    recursive = [measured_examples(rec_concave(2**k - 1, 1, EPSILON, DELTA, BETA), BETA) for k in MEASURED_RECURSIVE]
    printed = [printed_examples(1, 2**k, EPSILON, DELTA, BETA) for k in LINE]
    explicit = [recursive_examples(1, 2**k, EPSILON, DELTA, BETA) for k in LINE]
    return (
        _curve(LINE, printed, "grey", "RecConcave, printed", dashed=True),
        _curve(LINE, explicit, "purple", "RecConcave, explicit"),
        _curve(LINE, [exponential_examples(1, (2**k,), EPSILON, BETA) for k in LINE], "blue", "exponential, explicit"),
        _dots(MEASURED_RECURSIVE, recursive, "purple", "RecConcave, measured"),
        _dots(MEASURED, pure, "blue", "exponential, measured"),
    )


def _in_space(d: int = 10) -> tuple[Shape, ...]:
    sides = [2**k - 1 for k in SPACE]
    domains = [candidates_bound(d, side) for side in sides]
    recursive = [float(recursive_examples(d, size, EPSILON, DELTA, BETA)) for size in domains]
    pure = [float(exponential_examples(d, (size,) * d, EPSILON, BETA)) for size in domains]
    needed = [required_examples(d, side, EPSILON, DELTA) for side in sides]
    return (
        _curve(SPACE, pure, "blue", "exponential, explicit"),
        _curve(SPACE, recursive, "purple", "RecConcave, explicit"),
        _curve(SPACE, [common_point_examples(d, side, EPSILON) for side in sides], "orange", "a common point"),
        _curve(SPACE, needed, "ink", "lower bound", dashed=True),
    )
