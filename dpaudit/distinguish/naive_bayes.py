"""A score without dependencies: the sum of smoothed log-likelihood ratios of the columns of one group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpaudit.distinguish.binning import bins
from dpaudit.distinguish.random_walk import fit_walk

__all__ = ["NaiveBayes", "shrunken"]

Matrix = NDArray[np.float64]
BINS = 64
ATOMS = 80
CUT_VALUES = 100_000


@dataclass(frozen=True)
class NaiveBayes:
    """For each column the bins' edges and their smoothed log-likelihood ratios.

    The sum over columns is the log-likelihood ratio itself where columns are independent given the side. With `pooled`
    tables all columns share one, which is as good and far less noisy where columns are alike.
    """

    edges: tuple[NDArray[np.float64], ...]
    ratios: tuple[NDArray[np.float64], ...]

    @classmethod
    def fit(cls, data: Matrix, neighbour: Matrix, *, pooled: bool = False) -> NaiveBayes:
        """Fit on training rows of the two sides."""
        width = data.shape[1]
        if pooled:
            cuts, ratio = _table(data.ravel(), neighbour.ravel())
            return cls((cuts,) * width, (ratio,) * width)
        tables = [_table(x, y) for x, y in zip(data.T, neighbour.T, strict=True)]
        return cls(tuple(cuts for cuts, _ in tables), tuple(ratio for _, ratio in tables))

    def __call__(self, rows: Matrix) -> NDArray[np.float64]:
        """Return the score of each row: large where the first side is likelier."""
        score = np.zeros(len(rows))
        for column, cuts, ratio in zip(rows.T, self.edges, self.ratios, strict=True):
            if ratio.any():
                score += ratio[bins(cuts, np.ascontiguousarray(column))]
        return score


def _table(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the cuts of one column and the log-likelihood ratio in each bin."""
    pooled = np.concatenate([x, y])
    pooled = pooled[:: max(1, len(pooled) // CUT_VALUES)]
    values = np.unique(pooled)
    continuous = len(values) > ATOMS
    cuts = _quantile_cuts(pooled) if continuous else values[1:]
    a, b = (
        np.bincount(bins(cuts, np.ascontiguousarray(side)), minlength=len(cuts) + 1).astype(np.float64) + 0.5
        for side in (x, y)
    )
    raw = np.log(a / a.sum()) - np.log(b / b.sum())
    noise = np.sqrt(1 / a + 1 / b)
    if continuous and len(raw) == BINS:
        return cuts, fit_walk(a, b, cuts=()).ratio
    return cuts, shrunken(raw, noise)


def _quantile_cuts(pooled: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the cuts of equally likely bins; values that fill several bins get bins of their own."""
    quantiles = np.quantile(pooled, np.linspace(0, 1, BINS + 1)[1:-1], method="inverted_cdf")
    cuts = np.unique(quantiles)
    if len(cuts) == BINS - 1:
        return cuts
    heavy = cuts[[(quantiles == cut).sum() > 1 for cut in cuts]]
    return np.unique(np.concatenate([cuts, np.nextafter(heavy, np.inf)]))


def shrunken(value: NDArray[np.float64], noise: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """Shrink values towards 0: nothing of what is below its noise, nearly all of what is far above."""
    return np.where(np.abs(value) > noise, value - np.square(noise) / np.where(value == 0, 1.0, value), 0.0)
