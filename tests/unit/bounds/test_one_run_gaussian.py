"""Bounds on mu under assumptions: published numbers, simulated Gaussian scores, no signal, what is detectable."""

import math

import numpy as np
import pytest

from dpaudit.bounds.guess_schedules import detectable_mu, independent_p_value, mu_lower, recursion_refutes
from dpaudit.bounds.tangent import gaussian_delta


def epsilon_at(mu: float, delta: float) -> float:
    low, high = 0.0, 100.0
    for _ in range(80):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if float(gaussian_delta(mu, middle)) > delta else (low, middle)
    return low


@pytest.mark.parametrize(
    ("coins", "guesses", "right", "published"),
    [
        (1000, 1000, 600, 0.5835),
        (1000, 100, 95, 3.3233),
        (10**4, 500, 450, 2.5862),
        (100, 100, 76, 1.6803),
        (10**4, 10**4, 6915, 1.3058),
    ],
)
def test_the_recursion_gives_the_epsilons_of_jax_privacy(coins, guesses, right, published):
    recursion, independent = mu_lower(right, guesses, coins, 0.05)
    assert epsilon_at(recursion, 1e-5) == pytest.approx(published, abs=1.1e-4)
    assert independent > recursion


def test_independent_canaries_give_the_published_epsilon_of_309_wrong_guesses():
    _, independent = mu_lower(691, 1000, 1000, 0.05)
    assert epsilon_at(independent, 1e-5) == pytest.approx(3.67, abs=5e-3)


def test_without_signal_both_bounds_are_zero():
    for right, guesses in ((50, 100), (5, 10), (0, 10), (300, 1000)):
        assert mu_lower(right, guesses, 1000, 0.05) == (0, 0)
        assert mu_lower(right, guesses, 1000, 0.05, one_sided=True) == (0, 0)


@pytest.mark.parametrize("one_sided", [False, True])
def test_the_law_of_independent_canaries_is_that_of_simulated_scores(one_sided):
    rng, mu, m, n = np.random.default_rng(0), 1.0, 120, 20_000
    coins = rng.random((n, m)) < 0.5
    y = rng.normal(size=(n, m)) + mu * coins - mu / 2
    order = np.argsort(-y if one_sided else -np.abs(y), axis=1)
    right = coins if one_sided else (y > 0) == coins
    counts = np.take_along_axis(right, order, axis=1).cumsum(axis=1)
    for r, v in ((12, 11), (30, 26), (60, 47)) if not one_sided else ((12, 11), (30, 24), (60, 45)):
        rate = (counts[:, r - 1] >= v).mean()
        found = independent_p_value(v, r, m, mu, one_sided=one_sided)
        assert found == pytest.approx(rate, abs=4 * math.sqrt(rate / n))


def test_known_bounds_stay_where_counts_give_less():
    assert mu_lower(50, 100, 1000, 0.05, at_least=(0.3, 0.7)) == (0.3, 0.7)
    assert mu_lower(95, 100, 1000, 0.05, at_least=(0.3, 0.7)) == pytest.approx((0.787, 0.975), abs=2e-3)


def test_fewer_right_guesses_and_a_smaller_error_refute_less():
    for mu in (0.5, 1.0):
        refuted = [recursion_refutes(v, 100, 1000, mu, 0.05) for v in range(101)]
        assert refuted == sorted(refuted)
        assert sum(recursion_refutes(v, 100, 1000, mu, 0.001) for v in range(101)) <= sum(refuted)


def test_the_detectable_mu_is_detected_with_the_power():
    mu, at = detectable_mu([64, 128], [65, 110], 1000, 0.95)
    assert at == 1
    assert independent_p_value(110, 128, 1000, mu) == pytest.approx(0.95, abs=1e-3)
    assert detectable_mu([64], [65], 1000, 0.95) == (math.inf, 0)
