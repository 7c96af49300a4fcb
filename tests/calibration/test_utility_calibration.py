"""The interval and the verdict of the utility audit, by exact enumeration of the binomial: no sampling."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from dpaudit.bounds.limits import LEVEL_MARGIN
from dpaudit.contract import InputError
from dpaudit.utility.interval import failure_interval, verdict

RATES = np.unique(np.concatenate([np.linspace(0, 1, 101), np.geomspace(1e-4, 0.5, 40), [0.1, 0.05, 0.01]]))


def intervals(trials: int, confidence: float) -> np.ndarray[Any, Any]:
    return np.array([failure_interval(k, trials, confidence) for k in range(trials + 1)])


@pytest.mark.parametrize("trials", [1, 2, 7, 40, 300])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_each_end_misses_with_at_most_its_share(trials: int, confidence: float) -> None:
    ends, share = intervals(trials, confidence), (1 - confidence) / 2
    chances = binom.pmf(np.arange(trials + 1)[None, :], trials, RATES[:, None])
    assert (chances * (ends[None, :, 0] > RATES[:, None])).sum(axis=1).max() <= share + 1e-12
    assert (chances * (ends[None, :, 1] < RATES[:, None])).sum(axis=1).max() <= share + 1e-12


@pytest.mark.parametrize("trials", [40, 300])
def test_the_interval_is_not_wider_than_it_must_be(trials: int) -> None:
    # Just inside each end the tail exceeds its share: otherwise a shorter interval would do.
    share = 0.025
    for k, (lower, upper) in enumerate(intervals(trials, 0.95)):
        # The level is lowered by LEVEL_MARGIN; at 2.5 % every tail grows at least like p^0.98.
        if k > 0:
            assert binom.sf(k - 1, trials, lower * (1 + 1.03 * LEVEL_MARGIN)) > share
        if k < trials:
            assert binom.cdf(k, trials, upper - 1.03 * LEVEL_MARGIN * (1 - upper)) > share


@pytest.mark.parametrize("beta", [0.01, 0.05, 0.1, 0.5])
@pytest.mark.parametrize("trials", [20, 200, 1000])
def test_wrong_verdicts_are_rare_at_the_boundary(beta: float, trials: int) -> None:
    verdicts = np.array([verdict(*failure_interval(k, trials, 0.95), beta) for k in range(trials + 1)])
    at_beta = binom.pmf(np.arange(trials + 1), trials, beta)
    assert at_beta[verdicts == "violation"].sum() <= 0.025
    # The supremum of Pr[holds] over failure rates > beta is its value at beta.
    assert at_beta[verdicts == "holds"].sum() <= 0.025
    # Both verdicts can be reached once trials are many, and only in this order.
    order = {"holds": 0, "undecided": 1, "violation": 2}
    assert (np.diff([order[v] for v in verdicts]) >= 0).all()
    assert verdicts[-1] == "violation"


@pytest.mark.parametrize(("beta", "allowed"), [(0.1, 0), (0.05, 0), (0.01, 0), (0.1, 5), (0.05, 20)])
def test_the_least_trials_that_certify(beta: float, allowed: int) -> None:
    # With one-sided error 0.05 (confidence 0.9) and c failures, N is the least with Pr[Bin(N, beta) <= c] <= 0.05.
    least = next(n for n in range(1, 5000) if binom.cdf(allowed, n, beta) <= 0.05)
    known = {(0.1, 0): 29, (0.05, 0): 59, (0.01, 0): 299, (0.1, 5): 103, (0.05, 20): 577}
    assert least == known[beta, allowed]
    assert verdict(*failure_interval(allowed, least, 0.9), beta) == "holds"
    assert verdict(*failure_interval(allowed, least - 1, 0.9), beta) == "undecided"


def test_the_ends_at_no_and_at_all_failures_are_closed_forms() -> None:
    for trials in (1, 10, 10**6):
        for confidence in (0.9, 1 - 1e-9):
            tail = float((1 - Fraction(confidence)) / 2) * (1 - LEVEL_MARGIN)
            lower, upper = failure_interval(0, trials, confidence)
            assert (lower, upper) == (0.0, pytest.approx(-math.expm1(math.log(tail) / trials), rel=1e-9))
            lower, upper = failure_interval(trials, trials, confidence)
            assert (lower, upper) == (pytest.approx(tail ** (1 / trials), rel=1e-9), 1.0)


def test_the_ends_mirror_each_other() -> None:
    for k in range(31):
        lower, upper = failure_interval(k, 30, 0.99)
        mirrored = failure_interval(30 - k, 30, 0.99)
        assert (1 - upper, 1 - lower) == pytest.approx(mirrored, abs=1e-11)


@pytest.mark.parametrize(("failures", "trials", "confidence"), [(-1, 5, 0.9), (6, 5, 0.9), (0, 0, 0.9), (1, 5, 1.0)])
def test_bad_counts_are_refused(failures: int, trials: int, confidence: float) -> None:
    with pytest.raises(InputError, match="must be in"):
        failure_interval(failures, trials, confidence)
