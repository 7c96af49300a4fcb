import math

import numpy as np
import pytest

from dpaudit.exact.profiles import LossProfiles


def profiles_of(*laws):
    """Return the profiles of all ordered pairs of some laws."""
    log_prob = np.where(np.array(laws) > 0, np.log(np.maximum(laws, 1e-300)), -1e300)
    pairs = [(i, j) for i in range(len(laws)) for j in range(len(laws)) if i != j]
    left, right = np.array(pairs, dtype=np.int64).T
    return LossProfiles(log_prob, np.zeros(len(laws)), left, right)


def slow(profiles, delta):
    """Return the least epsilon at which delta(epsilon) is at most delta, by bisection."""
    low, high = 0.0, 50.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if profiles.delta(middle) > delta else (low, middle)
    return high


def test_randomised_response_has_the_epsilon_of_its_formula():
    truth = math.e / (1 + math.e)
    profiles = profiles_of([truth, 1 - truth], [1 - truth, truth])
    assert profiles.epsilon_at(0.0) == profiles.epsilon == pytest.approx(1.0, abs=1e-12)
    # delta(epsilon) = truth - exp(epsilon) (1 - truth)
    assert profiles.epsilon_at(0.1) == pytest.approx(math.log((truth - 0.1) / (1 - truth)), abs=1e-12)
    assert profiles.epsilon_at(0.9) == 0.0


def test_what_is_impossible_on_one_side_costs_its_delta():
    profiles = profiles_of([0.95, 0.05, 0.0], [0.0, 0.5, 0.5])
    assert profiles.epsilon == math.inf
    assert profiles.epsilon_at(0.1) == math.inf
    assert profiles_of([0.9, 0.1], [0.95, 0.05]).epsilon_at(1e-3) < math.inf


@pytest.mark.parametrize("seed", range(8))
def test_it_is_the_root_that_bisection_finds(seed):
    rng = np.random.default_rng(seed)
    laws = rng.dirichlet(np.full(6, 0.4), size=5)
    profiles = profiles_of(*laws)
    for delta in (1e-6, 1e-3, 0.05, 0.3, 0.9):
        found = profiles.epsilon_at(delta)
        assert found == pytest.approx(slow(profiles, delta), abs=1e-9)
        assert profiles.delta(found + 1e-9) <= delta
