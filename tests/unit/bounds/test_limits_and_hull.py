"""The ground of several bounds: one-sided binomial limits and the lower convex hull."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from oracle.clopper_pearson import ClopperPearson
from scipy.stats import binom

from dpaudit.bounds.curve import fit_curve, lower_hull
from dpaudit.bounds.limits import LEVEL_MARGIN, lower_limit, upper_limit
from dpaudit.utility.interval import failure_interval


@pytest.mark.parametrize("runs", [1, 2, 13, 50])
@pytest.mark.parametrize("error", [0.3, 0.01, 1e-8])
def test_limits_are_where_exact_tails_meet_the_level(runs: int, error: float) -> None:
    for k in range(runs + 1):
        low, high = Fraction(float(lower_limit(k, runs, error))), Fraction(float(upper_limit(k, runs, error)))
        above = 1 - _at_most(k - 1, runs, low)
        below = _at_most(k, runs, high)
        assert low == 0 if k == 0 else error * (1 - 2 * LEVEL_MARGIN) <= above <= error
        assert high == 1 if k == runs else _close_below(below, error, runs, high)


def _at_most(k: int, runs: int, p: Fraction) -> Fraction:
    """Return Pr[Bin(runs, p) <= k] by rational arithmetic."""
    return sum((math.comb(runs, i) * p**i * (1 - p) ** (runs - i) for i in range(k + 1)), Fraction(0))


def _close_below(tail: Fraction, error: float, runs: int, limit: Fraction) -> bool:
    """Say whether the tail is at most the error, and not less than margin and the coarseness of floats make it."""
    coarse = runs * 2e-15 / float(1 - limit) if limit < 1 else 1
    return error * (1 - 2 * LEVEL_MARGIN - coarse) <= tail <= error


def test_every_user_of_the_limits_gets_the_same() -> None:
    lower, upper = failure_interval(7, 90, 0.9)
    assert (lower, upper) == (float(lower_limit(7, 90, 0.05)), float(upper_limit(7, 90, 0.05)))
    curve = fit_curve([80], 90, [7], 90, 0.2 * 0.5)
    assert curve.false_positive_upper[0] == upper
    epsilon = ClopperPearson().epsilon_lower(40, 90, 7, 90, gamma=0.1)
    assert float(epsilon) == pytest.approx(np.log(float(lower_limit(40, 90, 0.05)) / upper), rel=1e-14)


def test_limits_take_arrays() -> None:
    hits = np.array([[0, 3], [9, 10]])
    for limit in (lower_limit, upper_limit):
        found = limit(hits, 10, 0.1)
        assert found.shape == (2, 2)
        assert found.tolist() == [[float(limit(k, 10, 0.1)) for k in row] for row in hits.tolist()]
    # Limits rise with hits, and those of successes mirror those of failures.
    assert (np.diff(upper_limit(np.arange(11), 10, 0.1)) > 0)[:-1].all()
    assert 1 - lower_limit(10 - hits, 10, 0.1) == pytest.approx(upper_limit(hits, 10, 0.1), abs=1e-12)
    assert binom.cdf(3, 10, upper_limit(3, 10, 0.1)) == pytest.approx(0.1, rel=2e-6)


def _slow_hull(x: list[int], y: list[int]) -> list[int]:
    """Return the points that no chord of two others passes below or through, one for each x."""
    kept = []
    for i in range(len(x)):
        others = [
            (a, b)
            for a, b in itertools.product(range(len(x)), repeat=2)
            if x[a] < x[i] < x[b] and y[a] * (x[b] - x[i]) + y[b] * (x[i] - x[a]) <= y[i] * (x[b] - x[a])
        ]
        if not others and not any(x[j] == x[i] for j in range(i)):
            kept.append(i)
    return kept


@pytest.mark.parametrize("seed", range(40))
def test_the_hull_against_all_chords(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = sorted((int(a), int(b)) for a, b in rng.integers(0, 2 + seed % 9, (1 + seed % 12, 2)))
    x, y = ([p[i] for p in points] for i in (0, 1))
    assert lower_hull(np.array(x, float), np.array(y, float)).tolist() == _slow_hull(x, y)


def test_hulls_of_lines_and_single_points() -> None:
    assert lower_hull(np.array([2.0]), np.array([5.0])).tolist() == [0]
    assert lower_hull(np.arange(5.0), np.arange(5.0)).tolist() == [0, 4]
    assert lower_hull(np.array([0.0, 0, 1, 1]), np.array([1.0, 3, 0, 2])).tolist() == [0, 2]
