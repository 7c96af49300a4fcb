"""The prior shared by atoms without an order: against integration on a grid, and on what it is for."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpaudit.events import prefixes as scale_mixture
from dpaudit.events.prefixes import ITERATIONS, SCALES, ScaleMixture, fit_scale_mixture


def _slow_posterior(hits: list[int], others: list[int]) -> list[tuple[float, float]]:
    """Expectation maximisation in loops, and the posterior of each atom by integration over a grid of g."""
    a, b = [x + 0.5 for x in hits], [y + 0.5 for y in others]
    offset = math.log(sum(a) / sum(b))
    observed = [math.log(x / y) - offset for x, y in zip(a, b, strict=True)]
    noise = [1 / x + 1 / y for x, y in zip(a, b, strict=True)]
    k = len(SCALES)
    weights = [1 / k] * k
    likelihood = [
        [math.exp(-(o**2) / 2 / (v + s**2)) / math.sqrt(v + s**2) for s in SCALES]
        for o, v in zip(observed, noise, strict=True)
    ]
    for _ in range(ITERATIONS):
        new = [1 / k] * k
        for row in likelihood:
            whole = sum(w * value for w, value in zip(weights, row, strict=True))
            new = [n + w * value / whole for n, w, value in zip(new, weights, row, strict=True)]
        weights = [n / (len(a) + 1) for n in new]
    grid = np.concatenate([-np.geomspace(40, 1e-6, 40_000), np.geomspace(1e-6, 40, 40_000)])
    width = np.gradient(grid)
    prior = sum(w * np.exp(-(grid**2) / 2 / s**2) / s for w, s in zip(weights, SCALES, strict=True))
    found = []
    for o, v in zip(observed, noise, strict=True):
        density = prior * np.exp(-((grid - o) ** 2) / 2 / v) * width
        density /= density.sum()
        mean = float(density @ grid)
        found.append((mean, float(density @ (grid - mean) ** 2)))
    return found


def test_the_posterior_is_that_of_the_slow_twin() -> None:
    hits, others = [100, 5, 40, 40, 0], [60, 9, 45, 45, 3]
    fit = fit_scale_mixture(np.array(hits, float), np.array(others, float))
    for mean, variance, (slow_mean, slow_variance) in zip(
        fit.mean, fit.variance, _slow_posterior(hits, others), strict=True
    ):
        assert mean == pytest.approx(slow_mean, abs=2e-5)
        assert variance == pytest.approx(slow_variance, rel=2e-3)


def test_luck_is_shrunk_and_an_outlier_is_believed() -> None:
    rng = np.random.default_rng(0)
    mass = np.full(300, 1 / 300)
    hits, others = (rng.multinomial(30_000, mass).astype(float) for _ in range(2))
    # Each atom's own ratio has a standard deviation of 0.14.
    assert np.abs(fit_scale_mixture(hits, others).mean).max() < 0.1
    hits[7] = 3 * others[7]
    fit = fit_scale_mixture(hits, others)
    assert fit.mean[7] == pytest.approx(math.log(3), abs=0.25)
    assert np.abs(np.delete(fit.mean, 7)).mean() < 0.02


def test_prefixes_and_their_errors() -> None:
    rng = np.random.default_rng(2)
    total, offset = rng.uniform(50, 100, 9), 0.3
    fit = ScaleMixture(rng.normal(0, 0.5, 9), rng.uniform(0.01, 0.05, 9))
    order = rng.permutation(9)

    def log_ratios(g: np.ndarray) -> np.ndarray:
        share = (1 / (1 + np.exp(-g - offset)))[order]
        p, q = total[order] * share, total[order] * (1 - share)
        return np.log(np.cumsum(p) / np.cumsum(q)) - np.log(p.sum() / q.sum())

    ratio, error = fit.prefixes(order, total, offset)
    np.testing.assert_allclose(ratio, log_ratios(fit.mean), atol=1e-12)
    # By differences, with the total masses held.
    slopes = []
    for i in range(9):
        step = np.zeros(9)
        step[i] = 1e-6
        share = 1 / (1 + np.exp(-fit.mean - step - offset))
        p, q = (total * share)[order], (total * (1 - share))[order]
        slopes.append(np.log(np.cumsum(p) / np.cumsum(q)))
    share = 1 / (1 + np.exp(-fit.mean - offset))
    base = np.log(np.cumsum((total * share)[order]) / np.cumsum((total * (1 - share))[order]))
    jacobian = (np.array(slopes) - base) / 1e-6
    np.testing.assert_allclose(error, np.sqrt((jacobian**2 * fit.variance[:, None]).sum(axis=0)), rtol=1e-4)


def test_the_grid_of_scales_reaches_from_no_signal_to_disjoint_supports() -> None:
    assert scale_mixture.SCALES[0] <= 1e-3
    assert scale_mixture.SCALES[-1] >= 8
