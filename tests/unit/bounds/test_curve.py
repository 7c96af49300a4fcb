"""The curve: limits against exact tails, numbers against slow definitions, no signal, wrong sign, shape."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import binom

from dpaudit.bounds.curve import Curve, choose_thresholds, fit_curve
from dpaudit.errors import InputError
from dpaudit.record import decode, encodable

EPSILONS = np.linspace(0, 4, 41)


def gaussian_curve(trials: int = 20_000, gamma: float = 0.05, mu: float = 1.0, seed: int = 0, sign: int = 1) -> Curve:
    """Return the curve of scores N(mu, 1) on data, N(0, 1) on neighbour; sign -1 turns the score around."""
    rng = np.random.default_rng(seed)
    data, neighbour = sign * rng.normal(mu, 1, trials), sign * rng.normal(0, 1, trials)
    cuts = np.linspace(3, -2, 32)
    return fit_curve((data[:, None] >= cuts).sum(0), trials, (neighbour[:, None] >= cuts).sum(0), trials, gamma)


def test_limits_solve_the_binomial_equations() -> None:
    hits, neighbour_hits, n, m, gamma = [0, 3, 40, 50], [0, 0, 12, 70], 50, 70, 0.1
    curve = fit_curve(hits, n, neighbour_hits, m, gamma)
    each = gamma / 8
    for a, y in zip(curve.false_positive_upper, neighbour_hits, strict=True):
        assert (a == 1) if y == m else (binom.cdf(y, m, a) == pytest.approx(each, rel=1e-5))
        assert y == m or binom.cdf(y, m, a) <= each
    for b, x in zip(curve.false_negative_upper, hits, strict=True):
        assert (b == 1) if x == 0 else (binom.cdf(n - x, n, b) == pytest.approx(each, rel=1e-5))
        assert x == 0 or binom.cdf(n - x, n, b) <= each


@pytest.mark.parametrize("runs", [1, 10, 10**4, 10**8, 10**12])
@pytest.mark.parametrize("gamma", [0.3, 1e-3, 1e-12])
def test_the_limit_without_hits_has_a_closed_form(runs: int, gamma: float) -> None:
    # Pr[Bin(n, a) = 0] = gamma / 2 at a = 1 - (gamma / 2)^(1 / n); on data every run is in the event.
    curve = fit_curve([runs], runs, [0], runs, gamma)
    exact = -math.expm1(math.log(gamma / 2) / runs)
    for limit in (curve.false_positive_upper[0], curve.false_negative_upper[0]):
        assert limit >= exact * (1 - 1e-15)
        assert limit == pytest.approx(exact, rel=2e-6)


def test_numbers_against_the_slow_definition() -> None:
    curve = gaussian_curve()
    points = list(zip(curve.false_positive_upper, curve.false_negative_upper, strict=True))
    for epsilon in (0.0, 0.3, 1.0, 2.0):
        ratio = math.exp(epsilon)
        slow = max(0.0, *(max(1 - b - ratio * a, 1 - a - ratio * b) for a, b in points))
        assert curve.delta_lower(epsilon) == pytest.approx(slow, abs=1e-14)
        assert curve.delta_lower(epsilon) <= slow
    for delta in (0.0, 1e-3, 0.1):
        ratios = [max((1 - b - delta) / a, (1 - a - delta) / b) for a, b in points]
        assert curve.epsilon_lower(delta) == pytest.approx(math.log(max(1, *ratios)), abs=1e-12)
    mu = max(float(ndtri(1 - a) - ndtri(b)) for a, b in points)
    assert curve.mu_lower == pytest.approx(mu, abs=1e-9)


def test_epsilon_and_delta_invert_each_other() -> None:
    curve = gaussian_curve()
    for epsilon in (0.2, 0.9, 1.5):
        delta = float(curve.delta_lower(epsilon))
        assert delta > 0
        assert curve.epsilon_lower(delta) == pytest.approx(epsilon, abs=1e-9)


def test_bounds_lie_on_the_safe_side_of_the_gaussian_and_near_it() -> None:
    # gamma = 1e-9 over the whole curve: a false alarm has probability 1e-9.
    curve = gaussian_curve(trials=100_000, gamma=1e-9)
    exact = ndtr(0.5 - EPSILONS) - np.exp(EPSILONS) * ndtr(-0.5 - EPSILONS)
    assert (curve.delta_lower(EPSILONS) <= exact).all()
    assert curve.delta_lower(0.5) >= 0.85 * exact[5]
    assert 0.93 <= curve.mu_lower <= 1.0
    alphas = np.linspace(0, 1, 101)
    assert (curve.trade_off_upper(alphas) >= ndtr(ndtri(1 - alphas) - 1)).all()
    assert (curve.trade_off_upper(alphas, reverse=True) >= ndtr(ndtri(1 - alphas) - 1)).all()
    # Limits 6.8 standard errors away: 6.8 (sqrt(.3 .7) + sqrt(.32 .68)) / sqrt(1e5) = 0.020; the chord adds
    # a little.
    assert curve.trade_off_upper(0.3) <= ndtr(ndtri(0.7) - 1) + 0.025


@pytest.mark.parametrize(("mu", "sign"), [(0.0, 1), (1.0, -1), (3.0, -1)])
def test_no_signal_and_a_wrong_sign_show_nothing(mu: float, sign: int) -> None:
    # With no signal, gamma = 1e-9 is the false-alarm rate; with the wrong sign far less.
    curve = gaussian_curve(gamma=1e-9, mu=mu, sign=sign)
    assert curve.mu_lower == 0
    assert (curve.delta_lower(EPSILONS) == 0).all()
    assert curve.epsilon_lower(0.0) == 0
    assert curve.trade_off_upper([0.25, 0.5]).tolist() == pytest.approx([0.75, 0.5], abs=1e-12)


def test_equal_counts_show_nothing() -> None:
    hits = [0, 5, 50, 500, 995, 1000]
    curve = fit_curve(hits, 1000, hits, 1000, 0.5)
    assert (curve.mu_lower, float(curve.epsilon_lower(0.0)), float(curve.delta_lower(0.0))) == (0, 0, 0)


def test_the_other_direction_is_free() -> None:
    # The complement of the event: data's law is far likelier to miss it.
    curve = fit_curve([900], 1000, [10], 1000, 0.01)
    a, b = curve.false_positive_upper[0], curve.false_negative_upper[0]
    assert curve.epsilon_lower(0.0) == pytest.approx(math.log(max((1 - b) / a, (1 - a) / b)))
    mirrored = fit_curve([990], 1000, [100], 1000, 0.01)
    assert mirrored.epsilon_lower(0.0) == pytest.approx(float(curve.epsilon_lower(0.0)), abs=1e-12)
    assert mirrored.mu_lower == pytest.approx(curve.mu_lower, abs=1e-9)
    alphas = np.linspace(0, 1, 21)
    assert curve.trade_off_upper(alphas, reverse=True) == pytest.approx(mirrored.trade_off_upper(alphas), abs=1e-12)


def test_curves_are_monotone_and_the_hull_is_convex_and_below_every_point() -> None:
    curve = gaussian_curve(trials=3_000)
    deltas, alphas = curve.delta_lower(EPSILONS), np.linspace(0, 1, 1001)
    assert (np.diff(deltas) <= 0).all()
    assert (np.diff(curve.epsilon_lower(np.linspace(0, 0.9, 50))) <= 0).all()
    for reverse in (False, True):
        values = curve.trade_off_upper(alphas, reverse=reverse)
        assert (np.diff(values) <= 0).all()
        assert (np.diff(values, 2) >= -1e-12).all()
        assert (values <= 1 - alphas + 1e-12).all()
        corners = curve.hull(reverse=reverse)
        assert corners[0].tolist() == [0, 1]
        assert corners[-1].tolist() == [1, 0]
        slopes = np.diff(corners[:, 1]) / np.diff(corners[:, 0])
        assert (np.diff(slopes) > 0).all()
    at_points = curve.trade_off_upper(curve.false_positive_upper)
    assert (at_points <= np.array(curve.false_negative_upper) + 1e-12).all()


def test_hull_against_all_chords() -> None:
    curve = gaussian_curve(trials=500)
    xs = [0.0, *curve.false_positive_upper, 1.0]
    ys = [1.0, *curve.false_negative_upper, 0.0]
    for alpha in (0.05, 0.2, 0.5, 0.77):
        chords = [
            ys[i] + (ys[j] - ys[i]) * (alpha - xs[i]) / (xs[j] - xs[i])
            for i in range(len(xs))
            for j in range(len(xs))
            if xs[i] <= alpha <= xs[j] and xs[i] < xs[j]
        ]
        assert curve.trade_off_upper(alpha) == pytest.approx(min(chords), abs=1e-12)


def test_shapes_follow_the_argument() -> None:
    curve = gaussian_curve(trials=1_000)
    assert curve.delta_lower(1.0).shape == ()
    assert curve.delta_lower(np.ones((2, 3))).shape == (2, 3)
    assert curve.epsilon_lower([[0.1], [0.2]]).shape == (2, 1)
    assert curve.trade_off_upper([0.1, 0.2]).shape == (2,)
    assert curve.delta_lower(1e9) == 0


def test_a_stored_curve_is_the_same_curve() -> None:
    curve = gaussian_curve(trials=1_000)
    assert decode(json.dumps(encodable(curve), allow_nan=False), Curve) == curve
    assert len(curve.false_positive_upper) == len(curve.false_negative_upper) == 32
    assert curve.mu_lower > 0.5


# Thresholds.


def test_thresholds_see_both_ends() -> None:
    cuts = np.linspace(4, -3, 400)
    left, right = (np.diff(ndtr(mu - cuts), prepend=0, append=1) for mu in (1.0, 0.0))
    data, neighbour = (np.round(1e6 * side).astype(int) for side in (left, right))
    chosen = choose_thresholds(data, neighbour, 32)
    assert len(chosen) == 32
    assert (np.diff(chosen) > 0).all()
    false_positive = np.cumsum(neighbour)[chosen - 1] / neighbour.sum()
    false_negative = 1 - np.cumsum(data)[chosen - 1] / data.sum()
    assert false_positive.min() < 1e-4
    assert false_negative.min() < 1e-4
    for rates in (false_positive, false_negative):
        ordered = np.sort(rates[rates <= 0.51])
        assert len(ordered) >= 16
        assert (ordered[1:] / ordered[:-1]).max() < 2.2  # geomspace(2e-5, 0.5, 16) steps by 1.96


def test_few_atoms_give_few_thresholds() -> None:
    assert choose_thresholds([5, 5], [1, 9], 32).tolist() == [1]
    assert choose_thresholds([5, 3, 2], [1, 3, 6], 32).tolist() == [1, 2]
    assert choose_thresholds([1, 0], [0, 1], 2).tolist() == [1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2], 10, [1], 10, 0.05), "K >= 1 counts each"),
        (([], 10, [], 10, 0.05), "K >= 1 counts each"),
        (([2, 1], 10, [1, 2], 10, 0.05), "hits must not descend"),
        (([1, 2], 10, [2, 1], 10, 0.05), "neighbour_hits must not descend"),
        (([1, 11], 10, [1, 2], 10, 0.05), "x must be in"),
        (([1, 2.5], 10, [1, 2], 10, 0.05), "integers"),
        (([1, 2], 10, [1, 2], 10, 0.0), "gamma"),
    ],
)
def test_bad_counts_are_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        fit_curve(*arguments)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: c.delta_lower(-0.1), "epsilon"),
        (lambda c: c.delta_lower(math.nan), "epsilon"),
        (lambda c: c.epsilon_lower(1.0), "delta"),
        (lambda c: c.trade_off_upper(1.1), "alpha"),
    ],
)
def test_bad_arguments_are_refused(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call(gaussian_curve(trials=100))
