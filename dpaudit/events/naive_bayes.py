"""Score outputs by the sum of smoothed log-likelihood ratios of the columns of one group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.events.binning import CutBins, GridBins, quantiles_of_sorted
from dpaudit.events.rounding import steady
from dpaudit.events.walks import fit_walks

__all__ = ["NaiveBayes", "shrunken"]

Array = NDArray[np.float64]
Place: TypeAlias = CutBins | GridBins

BINS = 64
"""Bins of a continuous column: a random walk smooths their ratios, so that more would only take longer."""
ATOMS = 80
"""A column of so few values has a bin for each: some more than `BINS`, so that a short range of integers has."""
CUT_VALUES = 100_000
"""Values that say where bins are cut: some 1,500 in each."""


@dataclass(frozen=True)
class NaiveBayes:
    """For each column its bins and a table of their smoothed log-likelihood ratios.

    The sum over columns is the log-likelihood ratio itself where columns are independent given the side. With `pooled`
    tables all columns share one, which is as good and far less noisy where columns are alike.
    """

    places: tuple[Place, ...]
    ratios: tuple[Array, ...]
    pooled: bool = False

    @classmethod
    def fit(cls, data: Array, neighbour: Array, *, pooled: bool = False) -> NaiveBayes:
        """Fit on training rows of the two sides."""
        return cls._fit(data, neighbour, (None,) * data.shape[1], pooled)

    def refit(self, data: Array, neighbour: Array) -> NaiveBayes:
        """Fit the ratios of the same bins on other rows."""
        return self._fit(data, neighbour, self.places, self.pooled)

    @classmethod
    def _fit(cls, data: Array, neighbour: Array, places: Sequence[Place | None], pooled: bool) -> NaiveBayes:
        width = data.shape[1]
        if pooled:
            ((place, ratio),) = _tables([(data.ravel(), neighbour.ravel(), places[0])])
            return cls((place,) * width, (ratio,) * width, pooled=True)
        columns = zip(data.T, neighbour.T, places, strict=True)
        tables = _tables([(np.ascontiguousarray(x), np.ascontiguousarray(y), place) for x, y, place in columns])
        return cls(tuple(place for place, _ in tables), tuple(ratio for _, ratio in tables))

    def mean(self, other: NaiveBayes) -> NaiveBayes:
        """Return the mean of this score and its `refit`, which takes no longer than either."""
        return replace(self, ratios=tuple((a + b) / 2 for a, b in zip(self.ratios, other.ratios, strict=True)))

    def __call__(self, rows: Array) -> Array:
        """Return the score of each row: large where the first side is likelier."""
        score = np.zeros(len(rows))
        for column, place, ratio in zip(rows.T, self.places, self.ratios, strict=True):
            if ratio.any():
                score += place.gather(ratio, column)
        return score


def _tables(columns: Sequence[tuple[Array, Array, Place | None]]) -> list[tuple[Place, Array]]:
    """Return the bins of each column, those given or new ones, and a table of the log-likelihood ratio in each."""
    places = [place or _bins_of(np.concatenate([x, y])) for x, y, place in columns]
    counts = [
        [np.bincount(place(side), minlength=place.size).astype(np.float64) + 0.5 for side in (x, y)]
        for place, (x, y, _) in zip(places, columns, strict=True)
    ]
    many = [i for i, place in enumerate(places) if place.size == BINS]
    smooth = fit_walks(*(np.array([counts[i][side] for i in many]) for side in (0, 1)))
    ratios = {i: steady(ratio) for i, ratio in zip(many, smooth, strict=True)}
    return [(place, place.table_of(ratios[i] if i in ratios else _few(*counts[i]))) for i, place in enumerate(places)]


def _few(a: Array, b: Array) -> Array:
    """Return the log-likelihood ratio of few values, each shrunken by its own noise."""
    raw = np.log(a / a.sum()) - np.log(b / b.sum())
    return steady(shrunken(raw, np.sqrt(1 / a + 1 / b)))


def _bins_of(pooled: Array) -> CutBins | GridBins:
    """Return a bin for each of few values, or equally likely bins of many."""
    pooled = np.sort(pooled[:: max(1, len(pooled) // CUT_VALUES)])
    first = np.concatenate([[True], pooled[1:] > pooled[:-1]])
    if np.count_nonzero(first) <= ATOMS:
        return CutBins(pooled[first][1:])
    quantiles = quantiles_of_sorted(pooled, np.arange(1, BINS) / BINS)
    cuts, copies = np.unique(quantiles, return_counts=True)
    if len(cuts) < BINS - 1:
        # Values that fill several bins get bins of their own, with nothing between.
        with np.errstate(over="ignore"):  # nothing but infinity is beyond the greatest number
            return CutBins(np.unique(np.concatenate([cuts, np.nextafter(cuts[copies > 1], np.inf)])))
    centres = quantiles_of_sorted(pooled, (np.arange(BINS) + 0.5) / BINS)
    return GridBins.near(cuts, centres) or CutBins(cuts)


def shrunken(value: Array, noise: Array | float) -> Array:
    """Shrink values towards 0: nothing of what is below its noise, nearly all of what is far above."""
    return np.where(np.abs(value) > noise, value - np.square(noise) / np.where(value == 0, 1.0, value), 0.0)
