"""Exact false accusations of the bounds on coins at the boundary of the claim, summed over every count; no sampling."""

from itertools import product

import numpy as np
import pytest
from oracle.test_coin_oracle import attaining
from scipy.special import expit
from scipy.stats import binom

from dpaudit.bounds.coin import epsilon_lower, p_value

GAMMAS = (0.05, 0.01, 1e-3, 1e-6)
EPSILONS = (0.0, 0.3, 1.0, 4.0)


@pytest.mark.parametrize("r", [1, 10, 100, 1000, 20_000])
def test_randomised_responses_at_the_boundary_are_accused_within_the_level(r):
    closest = 0.0
    v = np.arange(r + 1)
    for epsilon, gamma in product(EPSILONS, GAMMAS):
        law = binom.pmf(v, r, expit(epsilon))
        rejected = law[p_value(v, r, epsilon) <= gamma].sum()
        assert rejected <= gamma
        if r <= 1000:
            assert law[epsilon_lower(v, r, gamma) > epsilon].sum() <= gamma
        closest = max(closest, rejected / gamma)
    assert r < 100 or closest > 0.9  # not by being idle


@pytest.mark.parametrize("delta_runs", [0.01, 1.0])
def test_mechanisms_that_attain_the_bound_with_delta_are_accused_within_the_level(delta_runs):
    """At the worst law for each count that a test at the level can ask for; without delta's term it is above it."""
    closest, ignored = 0.0, 0.0
    for r, epsilon, gamma in product((20, 200, 1000), EPSILONS, (0.05, 0.01)):
        v = np.arange(r + 1)
        least = int(np.argmax(p_value(v, r, epsilon, delta_runs=delta_runs) <= gamma))
        naive = int(np.argmax(p_value(v, r, epsilon) <= gamma))
        for at in (least, naive):
            law = attaining(at, r, epsilon, delta_runs) if at else np.zeros(r + 1)
            if (law < 0).any():
                continue
            accused = law[least:].sum() if least else 0.0
            assert accused <= gamma
            closest = max(closest, accused / gamma)
            ignored = max(ignored, law[naive:].sum() / gamma)
    assert closest > 0.8
    assert ignored > 1.05 or delta_runs < 1
