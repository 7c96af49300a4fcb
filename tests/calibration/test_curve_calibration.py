"""Simultaneous coverage of the curve over mechanisms whose trade-off is known exactly."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri
from scipy.stats import binom
from two_stages import TwoStages

from dpaudit.bounds.curve import Curve, choose_thresholds, fit_curve

ALARM = 1e-6
"""Each test fails for a correct curve with at most this probability (over seeds; the seeds are fixed)."""
GAMMA = 0.2
RUNS = 2_000
EPSILONS = np.linspace(0, 3, 31)
ALPHAS = np.linspace(0, 1, 101)

Array = NDArray[np.float64]


def cells(distribution: Callable[[Array], Array], cuts: Array) -> Array:
    """Return the probabilities of {score >= cuts[0]}, then of each cell below."""
    return np.diff(distribution(-cuts), prepend=0.0, append=1.0)


def gaussian() -> tuple[Array, Array]:
    cuts = np.linspace(4, -3, 200)
    return cells(lambda x: ndtr(x + 1), cuts), cells(ndtr, cuts)


def laplace() -> tuple[Array, Array]:
    def survival(x: Array) -> Array:
        return np.where(x < 0, 0.5 * np.exp(np.minimum(x, 0)), 1 - 0.5 * np.exp(-np.maximum(x, 0)))

    cuts = np.linspace(6, -5, 200)
    return cells(lambda x: survival(x + 1), cuts), cells(survival, cuts)


def response() -> tuple[Array, Array]:
    high = 1 / (1 + math.exp(-1.0))
    return np.array([high, 1 - high]), np.array([1 - high, high])


def no_signal() -> tuple[Array, Array]:
    return np.full(100, 0.01), np.full(100, 0.01)


def wrong_sign() -> tuple[Array, Array]:
    data, neighbour = gaussian()
    return neighbour, data


def delta(p: Array, q: Array, epsilon: float) -> float:
    """Return the greater hockey-stick divergence, cell by cell: exact for these laws on cells."""
    ratio = math.exp(epsilon)
    return float(max(np.maximum(p - ratio * q, 0).sum(), np.maximum(q - ratio * p, 0).sum()))


def trade_off(p: Array, q: Array, alphas: Array) -> Array:
    """Return the exact trade-off of testing q against p, by the Neyman-Pearson order of the cells."""
    order = np.argsort(-(p / q), kind="stable")
    return np.interp(alphas, np.append(0, np.cumsum(q[order])), np.append(1, 1 - np.cumsum(p[order])))


def simulate(p: Array, q: Array, seed: int) -> Curve:
    """Train thresholds on some runs and fit the curve on fresh ones."""
    rng = np.random.default_rng(seed)
    chosen = choose_thresholds(rng.multinomial(RUNS, p), rng.multinomial(RUNS, q))
    hits, others = (np.cumsum(rng.multinomial(RUNS, law))[chosen - 1] for law in (p, q))
    return fit_curve(hits, RUNS, others, RUNS, GAMMA)


def holds(curve: Curve, p: Array, q: Array, deltas: Array, mu: float) -> bool:
    """Say whether every number of the curve is on its safe side."""
    slack = 1e-12
    return bool(
        (curve.delta_lower(EPSILONS) <= deltas + slack).all()
        and (curve.trade_off_upper(ALPHAS) >= trade_off(p, q, ALPHAS) - slack).all()
        and (curve.trade_off_upper(ALPHAS, reverse=True) >= trade_off(q, p, ALPHAS) - slack).all()
        and curve.mu_lower <= mu + slack
    )


def gaussian_mu(p: Array, q: Array) -> float:
    """Return the least mu for which these laws on cells are mu-Gaussian private."""
    order = np.argsort(-(p / q), kind="stable")
    a, b = np.cumsum(q[order])[:-1], 1 - np.cumsum(p[order])[:-1]
    inner = (a > 0) & (a < 1) & (b > 0) & (b < 1)
    return float(np.max(-ndtri(a[inner]) - ndtri(b[inner]), initial=0.0))


@pytest.mark.parametrize("law", [gaussian, laplace, response, no_signal, wrong_sign], ids=lambda f: f.__name__)
def test_all_statements_hold_together_at_the_level(law: Callable[[], tuple[Array, Array]]) -> None:
    p, q = law()
    deltas = np.array([delta(p, q, e) for e in EPSILONS])
    mu = gaussian_mu(p, q)
    # Of 300 curves 95 may fail, and after at most 9 of the first 60 the others are not made: curves that fail at twice
    # the level would be seen with probability 0.99.
    stages = TwoStages(300, int(binom.isf(ALARM, 300, GAMMA)), first=60, few=9)
    assert stages.failing(2 * GAMMA) > 0.99
    assert stages.failing(GAMMA) <= ALARM
    stages.hold(lambda seeds: [not holds(simulate(p, q, seed), p, q, deltas, mu) for seed in seeds], range(300))


def test_limits_miss_about_as_often_as_they_may() -> None:
    # One event, so that little is lost by the union bound: non-coverage is near the level.
    p, q = response()
    rng = np.random.default_rng(0)
    number, runs = 4000, 1000
    hits, others = rng.binomial(runs, p[0], number), rng.binomial(runs, q[0], number)
    curves = [fit_curve([x], runs, [y], runs, GAMMA) for x, y in zip(hits, others, strict=True)]
    missed = sum(c.false_positive_upper[0] < q[0] or c.false_negative_upper[0] < p[1] for c in curves)
    # Each limit misses with probability at most 0.1, together at most 0.19 and not far below.
    assert binom.ppf(ALARM, number, 0.15) <= missed <= binom.isf(ALARM, number, 0.2)


def test_signal_is_found_and_its_absence_is_not() -> None:
    found = [simulate(*gaussian(), seed) for seed in range(40)]
    assert np.mean([curve.mu_lower for curve in found]) >= 0.85
    assert np.mean([curve.delta_lower(0.5) for curve in found]) >= 0.75 * delta(*gaussian(), 0.5)
    for law in (no_signal, wrong_sign):
        curves = [simulate(*law(), seed) for seed in range(40)]
        shown = sum(curve.mu_lower > 0 or curve.delta_lower(0.0) > 0 for curve in curves)
        # At most Bin(40, 0.2).
        assert shown <= binom.isf(ALARM, 40, GAMMA)
