"""The payoffs of the e-process against their definition, run by run, by enumeration of all outcomes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpaudit.audit.eprocess import expected_growth, log_payoff, place_bet, posterior

EPSILONS = np.array([0.0, 0.1, 0.7, 1.0, 2.5])
DELTAS = [0.0, 1e-3, 0.05, 0.3]


def hockey_stick(p: np.ndarray, q: np.ndarray, epsilon: float) -> float:
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


def private_pair(rng: np.random.Generator, labels: int, epsilon: float, delta: float) -> tuple[np.ndarray, np.ndarray]:
    """Return two laws that are (epsilon, delta)-close and, where they can be, only just."""
    p = rng.dirichlet(np.full(labels, 0.3))
    q = rng.dirichlet(np.full(labels, 0.3))

    def excess(t: float) -> float:
        mixed = (1 - t) * q + t * p
        return max(hockey_stick(mixed, q, epsilon), hockey_stick(q, mixed, epsilon)) - delta

    low = 0.0
    high = 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if excess(middle) <= 0:
            low = middle
        else:
            high = middle
    # p is moved towards q until the pair just meets the claim, or is p itself where it always did.
    return (1 - low) * q + low * p, q


def payoff(bet, g: int, b: int, x: int) -> float:
    """Return e of one run by its definition."""
    up = bet.up[g, x]
    down = bet.down[g, x]
    ratio = bet.ratio[g]
    return bet.keep[g] + b * (up - ratio * down) + (1 - b) * (down - ratio * up)


def mean_payoff(bet, g: int, p: np.ndarray, q: np.ndarray) -> float:
    return sum(0.5 * p[x] * payoff(bet, g, 1, x) + 0.5 * q[x] * payoff(bet, g, 0, x) for x in range(len(p)))


@pytest.mark.parametrize("delta", DELTAS)
def test_no_bet_has_a_mean_above_one_under_the_claim(delta: float) -> None:
    # The posterior and the shares are arbitrary, also wildly wrong: validity may not depend on them.
    rng = np.random.default_rng(1)
    largest = 0.0
    for _ in range(40):
        rate = rng.beta(0.4, 0.4, 7).clip(1e-9, 1 - 1e-9)
        mass = rng.dirichlet(np.ones(7))
        bet = place_bet(rate, mass, EPSILONS, delta)
        for g, epsilon in enumerate(EPSILONS):
            p, q = private_pair(rng, 7, float(epsilon), delta)
            assert min(payoff(bet, g, b, x) for b in (0, 1) for x in range(7)) > 0
            mean = mean_payoff(bet, g, p, q)
            assert mean <= 1 + 1e-12
            largest = max(largest, mean)
    assert largest > 0.999  # the bound is reached, or nearly: the test can see a payoff that is too generous


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_pure_bets_on_the_extreme_pair_have_mean_exactly_one(epsilon: float) -> None:
    # Randomised response at the claim, bets that are sure of the side.
    high = 1 / (1 + math.exp(-epsilon))
    p = np.array([high, 1 - high])
    q = np.array([1 - high, high])
    bet = place_bet(np.array([0.99, 0.01]), np.array([0.5, 0.5]), np.array([epsilon]), 0.0)
    assert mean_payoff(bet, 0, p, q) == pytest.approx(1, abs=1e-13)


@pytest.mark.parametrize("delta", [0.01, 0.1])
def test_a_price_half_as_high_would_be_seen(delta: float) -> None:
    # All of delta on one label, both ways: the price (u + v) delta / 2 is exactly what the leak pays.
    epsilon = 1.0
    high = 1 / (1 + math.exp(-epsilon))
    core = np.array([high, 1 - high]) * (1 - delta)
    p = np.array([*core, delta, 0.0])
    q = np.array([*core[::-1], 0.0, delta])
    rate = np.array([0.9, 0.1, 0.999, 0.001])
    mass = np.array([0.4, 0.4, 0.1, 0.1])
    bet = place_bet(rate, mass, np.array([epsilon]), delta)
    assert bet.keep[0] < 1 - 0.1 * delta
    assert mean_payoff(bet, 0, p, q) <= 1 + 1e-13
    price = 1 - bet.keep[0]
    assert mean_payoff(bet, 0, p, q) + price / 2 > 1


def test_without_delta_the_payoff_is_the_clipped_likelihood_ratio() -> None:
    rng = np.random.default_rng(2)
    rate = rng.uniform(0.01, 0.99, 9)
    mass = np.full(9, 1 / 9)
    bet = place_bet(rate, mass, EPSILONS, 0.0)
    for g, epsilon in enumerate(EPSILONS):
        rho = 1 / (1 + math.exp(-epsilon))
        for x, r in enumerate(rate):
            # The posterior that the claim allows nearest to r: a bet pays against the best excuse.
            clipped = min(max(r, 1 - rho), rho)
            assert payoff(bet, g, 1, x) == pytest.approx(r / clipped, rel=1e-12)
            assert payoff(bet, g, 0, x) == pytest.approx((1 - r) / (1 - clipped), rel=1e-12)


@pytest.mark.parametrize("delta", [0.0, 0.02])
def test_a_batch_pays_the_product_of_its_runs_in_any_order(delta: float) -> None:
    rng = np.random.default_rng(3)
    rate = rng.uniform(0.05, 0.95, 5)
    mass = np.full(5, 0.2)
    bet = place_bet(rate, mass, EPSILONS, delta)
    coins = rng.integers(0, 2, 60)
    labels = rng.integers(0, 5, 60)
    ones, zeros = (np.bincount(labels[coins == b], minlength=5) for b in (1, 0))
    (got,) = log_payoff(rate[None], mass[None], EPSILONS, delta, ones[None], zeros[None])
    for g in range(len(EPSILONS)):
        slow = sum(math.log(payoff(bet, g, int(b), int(x))) for b, x in zip(coins, labels, strict=True))
        assert got[g] == pytest.approx(slow, abs=1e-11)


def test_stakes_are_the_best_ones_for_given_caps() -> None:
    # Each label's stake against a fine search, at the caps that were chosen.
    rng = np.random.default_rng(4)
    rate = rng.uniform(0.02, 0.98, 6)
    mass = rng.dirichlet(np.ones(6))
    delta = 0.03
    epsilon = 0.6
    bet = place_bet(rate, mass, np.array([epsilon]), delta)
    keep = bet.keep[0]
    ratio = math.exp(epsilon)
    upper = bet.up[0].max()
    assert upper > 0
    for x, r in enumerate(rate):
        if bet.down[0, x] == 0:
            stakes = np.linspace(0, upper, 4001)
            value = r * np.log(keep + stakes) + (1 - r) * np.log(np.maximum(keep - ratio * stakes, 1e-300))
            assert bet.up[0, x] == pytest.approx(stakes[value.argmax()], abs=upper / 2000)


@pytest.mark.parametrize("delta", [1e-3, 0.02, 0.1])
def test_caps_are_nearly_the_best_ones(delta: float) -> None:
    # A fine grid over both caps; the coarse one steps by sqrt 2, where growth is flat.
    rng = np.random.default_rng(5)
    for _ in range(5):
        rate = rng.uniform(0.02, 0.98, 6)
        mass = rng.dirichlet(np.ones(6))
        ratio = math.exp(0.5)
        got = float(expected_growth(place_bet(rate, mass, np.array([0.5]), delta), rate, mass)[0])
        best = 0.0
        for u in np.linspace(0, 1 / ratio, 41):
            for v in np.linspace(0, 1 / ratio, 41):
                keep = 1 - delta * (u + v) / 2
                up = np.clip(keep * (rate / ratio - (1 - rate)), 0, u)
                down = np.clip(keep * ((1 - rate) / ratio - rate), 0, v)
                one = np.log(keep + up - ratio * down)
                zero = np.log(keep + down - ratio * up)
                best = max(best, float((mass * (rate * one + (1 - rate) * zero)).sum()))
        assert got >= 0.9 * best - 1e-6
        assert got <= best + 0.02 * best + 1e-6


def test_a_claim_that_holds_gets_no_stake_from_the_true_posterior() -> None:
    rng = np.random.default_rng(6)
    for epsilon, delta in ((0.5, 0.02), (1.0, 0.1)):
        p, q = private_pair(rng, 6, epsilon, delta)
        bet = place_bet(p / (p + q), (p + q) / 2, np.array([epsilon + 1e-6]), delta)
        assert bet.up.max() == bet.down.max() == 0
        assert bet.keep[0] == 1


def test_posterior_against_its_definition() -> None:
    for ones, zeros in ((0, 0), (3, 3), (9, 1), (1, 9), (400, 100), (5, 0)):
        rate = (ones + 0.5) / (ones + zeros + 1)
        error = 0.75 * math.sqrt(rate * (1 - rate) / (ones + zeros + 1))
        slow = max(0.5, rate - error) if rate >= 0.5 else min(0.5, rate + error)
        assert posterior([ones], [zeros])[0] == pytest.approx(slow, abs=1e-15)
