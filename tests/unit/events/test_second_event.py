"""A second event shares the error only where a simulation of what is believed says that it is worth it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtri

import dpaudit
from dpaudit.bounds.melded import Melded
from dpaudit.events.expected_bound import PlannedTest, PrefixRatio, confirmation_error
from dpaudit.events.selection import DISTRUST, SHARES, choose_second_event

GAMMA, CONFIRM = 0.05, 100_000
POOLED = np.array([0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0])
RATIO = np.array([0.9, 0.8, 0.6, 0.5, 0.35, 0.2, 0.1, 0.0])


def model(error: float) -> PrefixRatio:
    """A ratio that rises towards rare events, with an error as that of counts."""
    return PrefixRatio(RATIO, error / np.sqrt(POOLED))


def simulated_gain(main: int, length: int, share: float, error: NDArray[np.float64], draws: int = 400_000) -> float:
    """Return by how much the greater of two bounds exceeds the main one with all of the error, in the mean."""
    rng = np.random.default_rng(0)
    sampling = confirmation_error(RATIO, POOLED, CONFIRM)
    # Ratios of nested events: the smaller one's is the greater one's and a deviation of its own.
    small, great = sorted((main - 1, length - 1))
    own = DISTRUST * rng.standard_normal(draws) * np.sqrt(error[small] ** 2 - error[great] ** 2)
    shared = DISTRUST * rng.standard_normal(draws) * error[great]
    ratios = {great: RATIO[great] + shared, small: RATIO[small] + shared + own}
    kept = ratios[main - 1] + ndtri((1 - share) * GAMMA) * sampling[main - 1]
    other = ratios[length - 1] + ndtri(share * GAMMA) * sampling[length - 1]
    return float(np.mean(np.maximum(kept, other) - (ratios[main - 1] + ndtri(GAMMA) * sampling[main - 1])))


@pytest.mark.parametrize("main", [1, 3, 5, 7])
@pytest.mark.parametrize("error", [0.001, 0.003, 0.01])
def test_the_second_event_is_the_best_of_all_by_simulation(main, error):
    found = choose_second_event(main, [model(error)], POOLED, PlannedTest(CONFIRM, 0, GAMMA))
    assert found is not None
    errors = model(error).error
    possible = [n for n in range(1, len(POOLED)) if n != main]
    gains = {(n, share): simulated_gain(main, n, share, errors) for n in possible for share in SHARES}
    # The standard error of a simulated gain is below 1e-3 here.
    assert gains[found] == pytest.approx(max(gains.values()), abs=3e-3)
    assert max(gains.values()) > 0


def test_no_second_event_where_the_best_event_is_known():
    value = RATIO + ndtri(GAMMA) * confirmation_error(RATIO, POOLED, CONFIRM)
    main = int(np.argmax(value)) + 1
    assert choose_second_event(main, [model(1e-9)], POOLED, PlannedTest(CONFIRM, 0, GAMMA)) is None


def test_the_standard_error_is_that_of_counts():
    p, q, runs = 0.02, 0.01, 10_000
    rng = np.random.default_rng(0)
    x, y = rng.binomial(runs, p, 200_000), rng.binomial(runs, q, 200_000)
    found = confirmation_error(np.array([np.log(p / q)]), np.array([(p + q) / 2]), runs)
    assert found[0] == pytest.approx(float(np.std(np.log(x / y))), rel=0.02)


def test_no_second_event_too_rare_to_confirm():
    for confirm in (30, 100, 1000):
        found = choose_second_event(6, [model(0.01)], POOLED, PlannedTest(confirm, 0, GAMMA))
        assert found is None or POOLED[found[0] - 1] * confirm > 3


def laplace(data: float, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
    return data + rng.laplace(size=size)


def test_the_tests_share_the_error_and_the_best_is_the_witness():
    findings = [
        dpaudit.audit_privacy(laplace, [(0.0, 1.0)], epsilon=1.0, trials=20_000, batched=True, seed=seed)
        for seed in range(6)
    ]
    assert any(len(finding.tests) == 2 for finding in findings)
    for finding in findings:
        assert sum(test.error for test in finding.tests) == pytest.approx(finding.errors["verdict"], rel=1e-12)
        best = max(finding.tests, key=lambda test: test.epsilon_lower)
        assert finding.epsilon_lower == best.epsilon_lower
        for name in ("event", "hits", "neighbour_hits"):
            assert getattr(finding.witness, name) == getattr(best, name)
        runs = finding.confirmation_trials
        for test in finding.tests:
            again = Melded().epsilon_lower(test.hits, runs, test.neighbour_hits, runs, gamma=test.error)
            assert float(again) == test.epsilon_lower


def coin(x: int, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
    return (rng.random(size) < (0.5, 0.6)[x]).astype(np.int64)


def test_a_second_opinion_that_is_the_best_event_takes_no_error() -> None:
    # ln(0.6 / 0.5) is 0.18, which is not expected to refute 0.2, but might.
    finding = dpaudit.audit_privacy(coin, [(0, 1)], epsilon=0.2, trials=20_000, batched=True)
    (test,) = finding.tests
    assert test.error == pytest.approx(0.001)
