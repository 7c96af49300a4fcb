"""The failure rate of the exponential mechanism on a case of two points, for classes of any size."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["RivalCounts", "best_rivals", "two_point_failure"]


@dataclass(frozen=True)
class RivalCounts:
    """The numbers of concepts of a class that are right or wrong at a hard and at an easy point.

    Parameters
    ----------
    right : int
        Concepts that are right at both, the target included.
    hard, easy, both : int
        Concepts that are wrong at the hard point alone, at the easy one alone, and at both.
    case : str
        Target and points in words.
    """

    right: int
    hard: int
    easy: int
    both: int
    case: str


def best_rivals(labels: Any, points: Any) -> RivalCounts:
    """Return target and points at which the most rivals, for each concept that is right, are wrong at one point alone.

    Parameters
    ----------
    labels : array, shape (concepts, m)
        The labels of all concepts at m >= 2 points.
    points : array, shape (m, k)
        The points, for the words.
    """
    ones = labels.astype(np.int64)
    joint = {(a, b): (ones == a).astype(np.int64).T @ (ones == b).astype(np.int64) for a in (0, 1) for b in (0, 1)}
    ratios = {
        (a, b): np.where((joint[a, b] > 0) & ~np.eye(len(points), dtype=bool),
                         joint[1 - a, b] / np.maximum(joint[a, b], 1), -1.0)
        for a in (0, 1) for b in (0, 1)
    }  # fmt: skip
    a, b = max(ratios, key=lambda key: float(ratios[key].max()))
    hard, easy = (int(i) for i in np.unravel_index(int(ratios[a, b].argmax()), ratios[a, b].shape))
    right, wrong, other, both = (
        int(joint[x, y][hard, easy]) for x, y in ((a, b), (1 - a, b), (a, 1 - b), (1 - a, 1 - b))
    )
    case = f"label {a} at {points[hard].tolist()}, label {b} at {points[easy].tolist()}"
    return RivalCounts(right, wrong, other, both, case)


def two_point_failure(rivals: RivalCounts, rate: float, alpha: float, n: int) -> tuple[float, str]:
    """Return Pr[error > alpha] on n examples, a little more than alpha of the mass on the hard point, and the words.

    k of the examples are at the hard point, k ~ Bin(n, m) with m = 1.001 alpha, or less for alpha > 1/2. A concept's
    weight is exp(rate * examples labelled rightly), relative to that of the right ones exp(-rate k), exp(-rate (n - k))
    and exp(-rate n) for those wrong at the hard point, the easy one, and both; all these err by more than alpha. The
    sum over k leaves out tails beyond 40 standard deviations, whose mass no float holds.
    """
    from scipy.special import expit
    from scipy.stats import binom

    mass = alpha + min(alpha, 1 - alpha) / 1000
    spread = 40 * math.sqrt(n * mass * (1 - mass)) + 40
    k = np.arange(max(0, math.floor(n * mass - spread)), min(n, math.ceil(n * mass + spread)) + 1, dtype=np.float64)
    wrong = np.logaddexp.reduce([
        _log(count) - rate * lost for count, lost in ((rivals.hard, k), (rivals.easy, n - k), (rivals.both, n + 0 * k))
    ])  # fmt: skip
    failing = expit(wrong - _log(rivals.right))
    words = f"mass {mass:.6g} on the first of two points; {rivals.case}"
    return float(binom.pmf(k, n, mass) @ failing), words


def _log(count: int) -> float:
    """Return the logarithm of an integer of any size."""
    return math.log(count) if count else -math.inf
