"""The predicted power of bets on one event, against the bets themselves, simulated many times."""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import cache

import numpy as np
import pytest
from scipy.stats import binom
from sequential_sessions import run_session

from dpaudit.audit.eprocess import batch_schedule, expected_growth, log_payoffs, place_bet, posterior
from dpaudit.audit.power import (
    detectable_delta_by_bets,
    detectable_epsilon_by_bets,
    leading_pair_runs,
    refutation_probability,
)
from dpaudit.contract import Pair, PrivacyClaim

ALARM = 1e-6
"""A test of a rate fails for a right prediction with at most this probability over seeds; seeds are fixed."""


def simulated(
    p: float, q: float, runs: int, *, epsilon: float, delta: float, gamma: float, audits: int, seed: int = 0
) -> float:
    """Return the share of audits that bet on an event of probabilities p and q and ever reach 1 / gamma."""
    rng = np.random.default_rng(seed)
    past, sizes = batch_schedule(runs)
    # The runs before the first bet, half on either side: they teach the posterior and pay nothing.
    sides = [rng.binomial(int(past[0]) // 2, chance, audits) for chance in (p, q)]
    ones, zeros = (np.stack([hits, int(past[0]) // 2 - hits], axis=1).astype(float) for hits in sides)
    wealth = np.zeros(audits)
    refuted = np.zeros(audits, dtype=bool)
    for size in sizes.astype(int):
        heads = rng.binomial(size, 0.5, audits)
        # Coins decide the sides of the runs that count.
        new = [(rng.binomial(n, chance), n) for n, chance in ((heads, p), (size - heads, q))]
        on, off = (np.stack([hits, n - hits], axis=1).astype(float) for hits, n in new)
        mass = (ones + zeros + 0.5) / (ones + zeros + 0.5).sum(axis=1, keepdims=True)
        one, zero = log_payoffs(place_bet(posterior(ones, zeros), mass, np.full(audits, epsilon), delta))
        wealth += (one * on + zero * off).sum(axis=1)
        # Wealth may fall again: an audit stops at the first look at which it is enough.
        refuted |= wealth >= -math.log(gamma)
        ones = ones + on
        zeros = zeros + off
    return float(refuted.mean())


@pytest.mark.parametrize("runs", [100, 1_000, 33_333])
def test_the_schedule_is_that_of_a_session(runs: int) -> None:
    from dpaudit.running.adapters import Mechanism

    mechanism = Mechanism(lambda data, rng, size: rng.integers(0, 2, size), "coin", True)
    session = run_session(mechanism, [Pair(1, 0, "bit")], PrivacyClaim(0.5), runs=runs, gamma=1e-9)
    past, sizes = batch_schedule(runs)
    assert [look.runs for look in session.looks] == [past[0], *(past + sizes)]


def test_a_past_for_each_epsilon_gives_the_bets_of_each_past() -> None:
    rng = np.random.default_rng(3)
    rates = rng.random((5, 4))
    masses = rng.dirichlet(np.ones(4), 5)
    epsilons = np.array([0.0, 0.1, 0.5, 1.0, 2.0])
    for delta in (0.0, 0.05):
        together = place_bet(rates, masses, epsilons, delta)
        growth = expected_growth(together, rates, masses)
        for row in range(5):
            alone = place_bet(rates[row], masses[row], epsilons[row : row + 1], delta)
            for name in ("up", "down", "keep", "ratio"):
                np.testing.assert_allclose(getattr(together, name)[row], getattr(alone, name)[0], rtol=1e-14)
            assert growth[row] == pytest.approx(expected_growth(alone, rates[row], masses[row])[0], rel=1e-12)


# Events possible on both sides: (probability q, true epsilon, claimed epsilon, delta, level).
EVENTS = [
    (1 / (1 + math.exp(1.1)), 1.1, 1.0, 0.0, 0.025),
    (0.1, 1.5, 1.0, 0.0, 0.025),
    (0.4, 0.2, 0.0, 0.0, 0.025),
    (0.01, 2.0, 1.0, 0.0, 0.0005),
    (0.001, 5.0, 4.0, 0.0, 0.025),
    (0.2, 1.4, 1.0, 0.05, 0.025),
]


@cache
def runs_for(q: float, truth: float, epsilon: float, delta: float, gamma: float) -> int:
    """Return about the least runs for which the true epsilon is called detectable, on a grid of steps of 3 %."""
    grid = [100]
    while grid[-1] < 10**8:
        grid.append(math.ceil(1.03 * grid[-1]))
    # More runs detect less, as a test below has it.
    return grid[
        bisect_left(
            grid,
            True,
            key=lambda runs: detectable_epsilon_by_bets(q, runs, epsilon=epsilon, delta=delta, gamma=gamma) <= truth,
        )
    ]


@pytest.mark.parametrize(("q", "truth", "epsilon", "delta", "gamma"), EVENTS)
def test_a_detectable_epsilon_is_refuted_as_often_as_stated(
    q: float, truth: float, epsilon: float, delta: float, gamma: float
) -> None:
    runs = runs_for(q, truth, epsilon, delta, gamma)
    p = math.exp(truth) * q + delta
    audits = 2_000 if delta == 0 else 400
    test = {"epsilon": epsilon, "delta": delta, "gamma": gamma, "audits": audits}
    assert simulated(p, q, runs, **test) >= binom.ppf(ALARM, audits, 0.95) / audits
    # The prediction is no mere bound: half of the runs refute far less often.
    assert simulated(p, q, runs // 2, **test) <= 0.75


@pytest.mark.parametrize(("q", "truth", "epsilon", "delta", "gamma"), EVENTS)
def test_the_predicted_probability_is_near_the_simulated_one(
    q: float, truth: float, epsilon: float, delta: float, gamma: float
) -> None:
    p = math.exp(truth) * q + delta
    runs = runs_for(q, truth, epsilon, delta, gamma)
    for share, off in ((1.0, 0.04), (0.7, 0.13)):
        # Measured differences are up to 0.02 and 0.1; 400 audits add at most 0.05 + 0.1 with probability 1e-6.
        audits = 2_000 if delta == 0 else 400
        found = simulated(p, q, int(share * runs), epsilon=epsilon, delta=delta, gamma=gamma, audits=audits, seed=1)
        predicted = refutation_probability(p, q, int(share * runs), epsilon=epsilon, delta=delta, gamma=gamma)
        assert abs(found - predicted) <= off


@pytest.mark.parametrize(
    ("runs", "epsilon", "delta"), [(300, 1.0, 0.0), (20_000, 1.0, 0.0), (20_000, 0.0, 0.0), (5_000, 1.0, 0.01)]
)
def test_a_detectable_catastrophe_is_refuted_as_often_as_stated(runs: int, epsilon: float, delta: float) -> None:
    p = detectable_delta_by_bets(runs, epsilon=epsilon, delta=delta, gamma=0.025)
    audits = 2_000 if delta == 0 else 400
    test = {"epsilon": epsilon, "delta": delta, "gamma": 0.025, "audits": audits}
    assert simulated(p, 0.0, runs, **test) >= binom.ppf(ALARM, audits, 0.95) / audits
    assert simulated(delta + (p - delta) / 2, 0.0, runs, **test) <= 0.5


def test_runs_are_about_the_level_over_the_growth() -> None:
    # With ever smaller error probabilities learning costs little beside log(1 / gamma): the growth rate decides.
    p = 0.7
    q = 0.2
    epsilon = 1.0
    gamma = 1e-200
    mass = np.array([0.45, 0.55])
    rate = np.array([p / (p + q), (1 - p) / (2 - p - q)])
    growth = float(expected_growth(place_bet(rate, mass, np.array([epsilon]), 0.0), rate, mass)[0])
    rho = math.e / (1 + math.e)
    assert growth == pytest.approx(
        0.45 * (rate[0] * math.log(rate[0] / rho) + (1 - rate[0]) * math.log((1 - rate[0]) / (1 - rho))), rel=1e-12
    )
    runs = -math.log(gamma) / growth
    assert refutation_probability(p, q, int(0.85 * runs), epsilon=epsilon, gamma=gamma) < 0.02
    assert refutation_probability(p, q, int(1.25 * runs), epsilon=epsilon, gamma=gamma) > 0.95


def test_more_runs_more_leak_and_a_weaker_level_detect_more() -> None:
    test = {"epsilon": 1.0, "delta": 0.0, "gamma": 0.025}
    found = [detectable_epsilon_by_bets(0.1, runs, **test) for runs in (200, 1_000, 10_000, 100_000)]
    assert found == sorted(found, reverse=True)
    assert min(found) > 1.0
    assert detectable_epsilon_by_bets(0.1, 1_000, epsilon=1.0, gamma=0.25) < found[1]
    assert detectable_epsilon_by_bets(0.01, 1_000, **test) > found[1]


def test_what_no_budget_can_refute_is_infinite() -> None:
    assert detectable_epsilon_by_bets(0.0, 1_000, epsilon=1.0, gamma=0.025) == math.inf
    assert detectable_epsilon_by_bets(0.5, 1_000, epsilon=1.0, gamma=0.025) == math.inf  # exp(1) / 2 > 1
    assert detectable_epsilon_by_bets(0.3, 60, epsilon=1.1, gamma=0.025) == math.inf
    assert detectable_delta_by_bets(100, epsilon=8.0, gamma=0.025) == math.inf
    assert refutation_probability(1.0, 1.0, 1_000, epsilon=0.0, gamma=0.025) == 0.0


def test_the_leading_pair_gets_its_share() -> None:
    assert leading_pair_runs(1_000, 1) == 1_000
    assert leading_pair_runs(10_000, 40) == (10_000 - 40 * 16) // 3
    assert leading_pair_runs(100, 40) == 1
