"""Detectability: against brute force over every outcome, against known values, and on the safe side."""

import math

import numpy as np
import pytest
from oracle.clopper_pearson import ClopperPearson
from scipy.stats import binom, chi2

from dpaudit.bounds.detectable import detectable_delta, detectable_epsilon, rejection_boundary, trials_needed
from dpaudit.bounds.melded import Melded
from dpaudit.errors import InputError


def _power(bound, n1, n2, epsilon, delta, gamma):
    """The probability of rejection as a function of (p, q), from the p-values of all outcomes."""
    x, y = np.arange(n1 + 1)[:, None], np.arange(n2 + 1)[None, :]
    rejected = bound.p_value(x, n1, y, n2, epsilon=epsilon, delta=delta) <= gamma
    return lambda p, q: float((binom.pmf(x, n1, p) * binom.pmf(y, n2, q) * rejected).sum())


@pytest.mark.parametrize(
    ("bound", "n1", "n2", "q", "epsilon", "delta", "target"),
    [
        (Melded(), 60, 40, 0.1, 0.5, 0.0, 0.9),
        (Melded(), 50, 50, 0.05, 1.0, 0.1, 0.9),
        (ClopperPearson(), 60, 40, 0.1, 0.5, 0.0, 0.9),
        (ClopperPearson(), 50, 50, 0.05, 1.0, 0.1, 0.9),
    ],
)
def test_detectable_epsilon_is_where_the_power_of_all_outcomes_crosses(bound, n1, n2, q, epsilon, delta, target):
    at = detectable_epsilon(bound, q, n1, n2, epsilon=epsilon, delta=delta, gamma=0.05, power=target)
    power = _power(bound, n1, n2, epsilon, delta, 0.05)
    assert power(math.exp(at - 1e-3) * q + delta, q) < target <= power(math.exp(at + 1e-6) * q + delta, q)


def test_rejection_boundary_is_the_first_rejected_count():
    ys = np.arange(31.0)
    least = rejection_boundary(Melded(), ys, 40, 30, epsilon=0.3, delta=0.02, gamma=0.01)
    table = Melded().p_value(np.arange(41)[:, None], 40, ys, 30, epsilon=0.3, delta=0.02) <= 0.01
    first = np.where(table.any(axis=0), table.argmax(axis=0), 41)
    np.testing.assert_array_equal(least, first)
    assert (np.diff(least) >= 0).all()
    assert least[-1] == 41


@pytest.mark.parametrize(
    ("n", "q", "value", "tolerance"),
    [
        (10**4, 0.1, 1.109, 0.002),
        (10**4, 1e-2, 1.354, 0.005),
        (10**4, 1e-4, 3.267, 0.002),
        (10**5, 0.1, 1.035, 0.001),
        (10**5, 1e-2, 1.118, 0.001),
        (10**5, 1e-3, 1.357, 0.005),
        (10**5, 1e-4, 1.981, 0.002),
        (10**6, 0.1, 1.011, 0.001),
    ],
)
def test_known_values_at_claim_one(n, q, value, tolerance):
    assert detectable_epsilon(Melded(), q, n, n, epsilon=1.0, gamma=0.05) == pytest.approx(value, abs=tolerance)


def test_interpolated_boundary_is_on_the_safe_side(monkeypatch):
    for n, q, epsilon, gamma in [(20_000, 0.1, 1.0, 0.05), (10**5, 1e-3, 6.0, 1e-6), (5000, 0.3, 0.2, 1e-3)]:
        quick = detectable_epsilon(Melded(), q, n, n, epsilon=epsilon, gamma=gamma)
        with monkeypatch.context() as patch:
            patch.setattr("dpaudit.bounds.detectable._ALL", 10**6)
            full = detectable_epsilon(Melded(), q, n, n, epsilon=epsilon, gamma=gamma)
        assert full <= quick <= full + 0.02 * (full - epsilon)


def test_detectable_epsilon_falls_with_runs_and_mass_and_rises_with_power():
    values = [detectable_epsilon(Melded(), 0.05, n, n, epsilon=1, gamma=0.05) for n in (300, 1000, 3000, 10**4, 10**5)]
    assert values == sorted(values, reverse=True)
    values = [detectable_epsilon(Melded(), q, 10**4, 10**4, epsilon=1, gamma=0.05) for q in (1e-3, 1e-2, 0.1, 0.3)]
    assert values == sorted(values, reverse=True)
    powers = (0.1, 0.5, 0.95, 0.999)
    values = [detectable_epsilon(Melded(), 0.1, 500, 500, epsilon=1, gamma=0.05, power=w) for w in powers]
    assert values == sorted(values)
    assert values[0] > 1


def test_nothing_is_detectable_where_p_cannot_grow():
    assert detectable_epsilon(Melded(), 0.0, 100, 100, epsilon=1, gamma=0.05) == math.inf
    assert detectable_epsilon(Melded(), 0.5, 100, 100, epsilon=1, gamma=0.05) == math.inf
    assert detectable_epsilon(Melded(), 0.35, 50, 50, epsilon=1, gamma=1e-6) == math.inf
    assert detectable_epsilon(Melded(), 0.1, 3, 3, epsilon=1, gamma=0.05) == math.inf


def test_detectable_delta_of_a_catastrophic_atom():
    # At claim 1 the melded test rejects (x, 0) from x = 10 on; half a chi-squared quantile with 20 degrees over n.
    for n in (10**4, 10**6):
        found = detectable_delta(Melded(), n, n, epsilon=1.0, gamma=0.05)
        assert found == pytest.approx(chi2.ppf(0.95, 20) / 2 / n, rel=1e-3)
    found = detectable_delta(Melded(), 10**6, 10**6, epsilon=1.0, delta=1e-4, gamma=0.05)
    assert found == pytest.approx(1.4e-4, rel=0.01)
    assert detectable_delta(Melded(), 5, 5, epsilon=1.0, gamma=0.05) == math.inf
    found = detectable_delta(Melded(), 200, 300, epsilon=0.5, delta=0.1, gamma=0.01)
    rejected = Melded().p_value(np.arange(201), 200, 0, 300, epsilon=0.5, delta=0.1) <= 0.01
    powers = [(binom.pmf(np.arange(201), 200, p) * rejected).sum() for p in (found, found - 1e-4)]
    assert powers[0] >= 0.95 > powers[1]


@pytest.mark.parametrize("bound", [Melded(), ClopperPearson()], ids=lambda b: b.name)
def test_trials_needed_is_the_first_number_that_can_detect(bound):
    for epsilon, delta, gamma in [(0.0, 0.0, 0.05), (1.0, 0.1, 1e-3), (2.0, 0.0, 0.05)]:
        n = trials_needed(bound, epsilon=epsilon, delta=delta, gamma=gamma)
        k = np.arange(1, n + 3)
        able = bound.p_value(k, k, 0, k, epsilon=epsilon, delta=delta) <= gamma
        assert able.tolist() == [False] * (n - 1) + [True] * 3


def test_bad_input():
    for change, message in [
        ({"q": 1.5}, r"q must be in \[0, 1\]"),
        ({"n1": 0}, "n1 must be an integer"),
        ({"epsilon": -1}, "epsilon must be a finite number"),
        ({"delta": 1}, "delta must be in"),
        ({"gamma": 2}, "gamma must be in"),
        ({"power": 0}, "power must be in"),
    ]:
        arguments = {"q": 0.1, "n1": 10, "n2": 10, "epsilon": 1.0, "gamma": 0.05} | change
        with pytest.raises(InputError, match=message):
            detectable_epsilon(Melded(), **arguments)
    with pytest.raises(InputError, match=r"1e\+12 runs a side could detect a leak of more than epsilon = 50"):
        trials_needed(Melded(), epsilon=50, gamma=0.05)
