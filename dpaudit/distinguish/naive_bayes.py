"""A score without dependencies: the sum of binned log-likelihood ratios of the columns of one group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["NaiveBayes"]

Matrix = NDArray[np.float64]
BINS = 40
ATOMS = 80


@dataclass(frozen=True)
class NaiveBayes:
    """For each column the bins' edges and their log-likelihood ratios, shrunk towards 0 by one standard error.

    The sum over columns is the log-likelihood ratio itself where columns are independent given the side.
    """

    edges: tuple[NDArray[np.float64], ...]
    ratios: tuple[NDArray[np.float64], ...]

    @classmethod
    def fit(cls, data: Matrix, neighbour: Matrix) -> NaiveBayes:
        """Fit on training rows of the two sides."""
        edges, ratios = [], []
        for x, y in zip(data.T, neighbour.T, strict=True):
            cuts = _edges(np.concatenate([x, y]))
            a = np.bincount(np.searchsorted(cuts, x, side="right"), minlength=len(cuts) + 1) + 0.5
            b = np.bincount(np.searchsorted(cuts, y, side="right"), minlength=len(cuts) + 1) + 0.5
            raw = np.log(a / a.sum()) - np.log(b / b.sum())
            noise = np.sqrt(1 / a + 1 / b)
            edges.append(cuts)
            ratios.append(np.sign(raw) * np.maximum(np.abs(raw) - noise, 0.0))
        return cls(tuple(edges), tuple(ratios))

    def __call__(self, rows: Matrix) -> NDArray[np.float64]:
        """Return the score of each row: large where the first side is likelier."""
        score = np.zeros(len(rows))
        for column, cuts, ratio in zip(rows.T, self.edges, self.ratios, strict=True):
            if ratio.any():
                score += ratio[np.searchsorted(cuts, column, side="right")]
        return score


def _edges(pooled: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return cuts that give few distinct values a bin each, and quantile bins to the rest, with atoms set apart."""
    values, counts = np.unique(pooled, return_counts=True)
    if len(values) <= ATOMS:
        return values[1:]
    quantiles = np.quantile(pooled, np.linspace(0, 1, BINS + 1)[1:-1], method="inverted_cdf")
    tails = np.quantile(pooled, [0.002, 0.008, 0.992, 0.998], method="inverted_cdf")
    heavy = np.flatnonzero(counts > len(pooled) / (2 * BINS))
    after = values[np.minimum(heavy + 1, len(values) - 1)]
    return np.unique(np.concatenate([quantiles, tails, values[heavy], after]))
