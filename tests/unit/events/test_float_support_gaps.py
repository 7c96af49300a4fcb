"""The gaps of floating-point samplers: what a sampler returns is never in one, what others return often is."""

from __future__ import annotations

import numpy as np
import pytest

from dpaudit.events.feature_screening.featured import DENSE, GAP, FloatSupport, round_numbers, sampler_of


def by_numpy(rng: np.random.Generator, scale: float) -> np.ndarray:
    return rng.laplace(0.0, scale, 4_000)


def by_inversion(rng: np.random.Generator, scale: float) -> np.ndarray:
    u = rng.random(4_000) - 0.5
    return -scale * np.sign(u) * np.log(1 - 2 * np.abs(u))


@pytest.mark.parametrize("noise", [by_numpy, by_inversion])
@pytest.mark.parametrize(("centre", "scale"), [(10.0, 1.0), (-3.5, 0.5), (0.0, 1 / 0.3)])
def test_a_sampler_is_recognised_by_its_own_values_alone(noise, centre, scale):
    rng = np.random.default_rng(0)
    found = sampler_of(centre + noise(rng, scale))
    assert found is not None
    assert (found.centre, found.scale) == (centre, scale)
    cells = found.cells(centre + noise(rng, scale))
    assert (cells == GAP).mean() < 0.001
    other = found.cells(centre + 1 + noise(rng, scale))
    assert (other == GAP).mean() > 0.01


def test_other_noise_has_no_sampler():
    rng = np.random.default_rng(0)
    for values in (rng.normal(10, 1, 4_000), rng.laplace(10.003, 1, 4_000), np.full(4_000, 7.0), np.array([np.nan])):
        assert sampler_of(values) is None


def test_cells_tell_dense_places_and_what_is_no_number():
    cells = FloatSupport(10.0, 1.0, 53).cells(np.array([10.1, np.nan, np.inf, 10.0]))
    assert cells.tolist() == [DENSE] * 4


def test_the_roundest_numbers_come_first():
    assert round_numbers(9.969, 10.04, 4) == [10.0, 9.97, 9.98, 9.99]
    assert round_numbers(-0.59, -0.41, 1) == [-0.5]
    assert round_numbers(2.5e-7, 3.1e-7, 1) == [3e-7]
    assert round_numbers(2.0, 2.0, 3) == [2.0]


def test_numbers_near_the_greatest_float_have_no_round_ones_near():
    values = 1e299 + 1e295 * np.random.default_rng(4).laplace(size=4000)
    assert sampler_of(values) is None
    assert round_numbers(-1e306, 1e306, 3)[:1] == [-1e306]
