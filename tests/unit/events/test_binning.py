"""The fast binning is the binary search, value by value."""

from __future__ import annotations

import numpy as np
import pytest

from dpaudit.events.cells import FEW_VALUES, GRIDS, GridBins, bins

RNG = np.random.default_rng(0)
NORMAL = RNG.normal(size=20_000)


@pytest.mark.parametrize(
    "cuts",
    [
        np.sort(RNG.normal(size=63)), np.quantile(NORMAL, np.geomspace(1e-4, 0.9999, 250)), np.arange(7.0),
        np.array([0.0]), np.zeros(0), np.array([-1e300, 0.0, 1.3e300]), np.array([0.0, 5e-324]),
        np.array([0.0, 1e-9, 2e-9, 3e-9, 4e-9, 1.0]), np.array([0.0, 1e-6, 1.0]), np.array([1e15, 1e15 + 0.125]),
        np.repeat(np.sort(RNG.normal(size=60)), RNG.integers(1, 8, 60)), np.zeros(3),
    ],
)  # fmt: skip
def test_bins_are_those_of_a_binary_search(cuts: np.ndarray) -> None:
    values = np.concatenate([
        NORMAL, np.round(NORMAL, 1), 1e15 + NORMAL, cuts, np.nextafter(cuts, np.inf), np.nextafter(cuts, -np.inf),
        [-1.3e300, 1.3e300, 0.0, -0.0, 5e-324, np.inf, -np.inf],
    ])  # fmt: skip
    assert len(values) > FEW_VALUES
    assert (bins(cuts, values) == np.searchsorted(cuts, values, side="right")).all()
    assert (bins(cuts, values[:10]) == np.searchsorted(cuts, values[:10], side="right")).all()


def test_a_grid_moves_cuts_by_less_than_a_square_and_interpolates_between_centres() -> None:
    cuts, centres = (np.quantile(NORMAL, share) for share in (np.arange(1, 64) / 64, (np.arange(64) + 0.5) / 64))
    grid = GridBins.near(cuts, centres)
    assert grid is not None
    width = (centres[-1] - centres[0]) / (GRIDS[0] - 3)
    moved = grid(NORMAL) != np.searchsorted(cuts, NORMAL, side="right")
    assert moved.mean() < 0.01
    assert np.abs(NORMAL[moved][:, None] - cuts).min(axis=1).max() < width
    # A straight line stays one; beyond the outermost centres it is level.
    read = grid.table_of(3 * centres)[grid.entries(NORMAL)]
    assert np.abs(read - 3 * np.clip(NORMAL, centres[0], centres[-1])).max() < 3 * width


def test_cuts_that_would_share_a_square_have_no_grid() -> None:
    assert GridBins.near(np.array([0.0, 1e-9, 1.0]), np.array([-1.0, 5e-10, 0.5, 2.0])) is None
    assert GridBins.near(np.zeros(1), np.zeros(2)) is None
