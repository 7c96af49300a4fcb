"""The mechanisms on which the auditor is judged have the privacy that they are said to have."""

from __future__ import annotations

import math

import numpy as np
import pytest
from auditor_cases import CASES, GAUSSIAN_DELTA, Case
from scipy.stats import binom

ALARM = 1e-6


@pytest.mark.parametrize("noise", [1.0, 0.7])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_best_event_is_as_likely_as_stated(case: Case, noise: float) -> None:
    # Each count is outside its limits with probability at most 1e-6.
    runs = 100_000 if case.batched else 10_000
    q = case.mass(noise)
    p = math.exp(case.epsilon_at(noise)) * q + case.delta
    mechanism = case.mechanism(noise)
    for data, probability in ((1, p), (0, q)):
        outputs = mechanism(data, np.random.default_rng(7 + data), runs)
        hits = int(case.event(outputs, noise).sum())
        low, high = binom.ppf([ALARM / 2, 1 - ALARM / 2], runs, probability)
        assert low <= hits <= high


def test_full_noise_gives_the_stated_claim_and_less_noise_breaks_it() -> None:
    for case in CASES:
        assert case.epsilon == pytest.approx(1.0, abs=1e-12)
        assert case.epsilon_at(0.9) > 1.08
        assert case.epsilon_at(0.7) > case.epsilon_at(0.9)
    assert GAUSSIAN_DELTA == pytest.approx(0.12693674, abs=1e-8)
    assert {case.kind for case in CASES} == {"discrete", "continuous", "vector", "mixed"}


def test_no_event_tells_more_than_the_best_one() -> None:
    # The Gaussian edge is the zero of the derivative of P(T) - exp(epsilon) Q(T) over half-lines T.
    from auditor_cases import EPSILON, edge
    from scipy.special import ndtr

    for noise in (1.0, 0.9, 0.7):
        at = edge(noise) + np.linspace(-0.5, 0.5, 101)
        epsilon = next(case for case in CASES if case.name == "Gaussian").epsilon_at(noise)
        delta = ndtr((1 - at) / noise) - math.exp(epsilon) * ndtr(-at / noise)
        assert int(np.argmax(delta)) == 50
        assert delta.max() == pytest.approx(GAUSSIAN_DELTA, abs=1e-12)
    assert edge(1.0) == pytest.approx(0.5 + EPSILON)
