"""Exact binomial limits against those of statsmodels, which inverts the Beta distribution by itself."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from dpaudit.bounds.limits import LEVEL_MARGIN, lower_limit, upper_limit


@pytest.mark.parametrize("trials", [1, 7, 100, 12_345])
@pytest.mark.parametrize("gamma", [0.5, 0.05, 1e-6])
def test_limits_are_those_of_clopper_and_pearson(trials: int, gamma: float) -> None:
    hits = np.unique(np.linspace(0, trials, 9).astype(int))
    low, high = proportion_confint(hits, trials, alpha=2 * gamma, method="beta")
    ours = lower_limit(hits, trials, gamma), upper_limit(hits, trials, gamma)
    np.testing.assert_allclose(ours[0], np.nan_to_num(low, nan=0.0), rtol=10 * LEVEL_MARGIN)
    np.testing.assert_allclose(1 - ours[1], 1 - np.nan_to_num(high, nan=1.0), rtol=10 * LEVEL_MARGIN, atol=1e-15)
    # Ours err outwards.
    assert (ours[0] <= np.nan_to_num(low, nan=0.0) * (1 + 1e-9)).all()
    assert (ours[1] >= np.nan_to_num(high, nan=1.0) * (1 - 1e-9)).all()
