"""Scores of outputs, fitted to training runs: naive Bayes, patterns of repeated values, a linear discriminant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.bounds.base import Array, Bools, Integers
from dpaudit.events.cells import CutBins, GridBins, commonest, places_of, quantiles_of_sorted, to_grid
from dpaudit.events.random_walk import fit_walks

# Bins of a continuous column: a random walk smooths their ratios, so that more would only take longer.
BINS = 64
# A column of so few values has a bin for each: some more than `BINS`, so that a short range of integers has.
ATOMS = 80
# Values that say where bins are cut: some 1,500 in each.
CUT_VALUES = 100_000


class Score:
    """A score of rows of numbers, fitted to training runs of two sides, large where the first side is likelier."""

    slow = False

    def __call__(self, rows: Array) -> Array:
        """Return the score of each row."""
        raise NotImplementedError

    def refit(self, data: Array, neighbour: Array) -> Score | None:
        """Return the same score fitted to other rows; None if that is impossible or costs too much."""

    def repeats(self) -> Array:
        """Return the scores that rows share and that a `refit` keeps, ascending."""
        return np.zeros(0)

    def mean(self, other: Score) -> Score:
        """Return the mean of this score and its `refit`, which has less of the luck of either."""
        return _MeanScore(self, other)


@dataclass(frozen=True)
class _MeanScore(Score):
    first: Score
    second: Score

    def __call__(self, rows: Array) -> Array:
        return (self.first(rows) + self.second(rows)) / 2


@dataclass(frozen=True)
class ColumnScore(Score):
    """One column as it is, which was fitted to nothing."""

    index: int

    def __call__(self, rows: Array) -> Array:
        """Return the column."""
        return np.asarray(rows[:, self.index])


@dataclass(frozen=True)
class NaiveBayes(Score):
    """For each column its bins and a table of their smoothed log-likelihood ratios.

    The sum over columns is the log-likelihood ratio itself where columns are independent given the side. With `pooled`
    tables all columns share one, which is as good and far less noisy where columns are alike.
    """

    places: tuple[CutBins, ...]
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
    def _fit(cls, data: Array, neighbour: Array, places: Sequence[CutBins | None], pooled: bool) -> NaiveBayes:
        width = data.shape[1]
        if pooled:
            ((place, ratio),) = _tables([(data.ravel(), neighbour.ravel(), places[0])])
            return cls((place,) * width, (ratio,) * width, pooled=True)
        columns = zip(data.T, neighbour.T, places, strict=True)
        tables = _tables([(np.ascontiguousarray(x), np.ascontiguousarray(y), place) for x, y, place in columns])
        return cls(tuple(place for place, _ in tables), tuple(ratio for _, ratio in tables))

    def mean(self, other: Score) -> NaiveBayes:
        """Return the mean of this score and its `refit`, which takes no longer than either."""
        assert isinstance(other, NaiveBayes)
        return replace(self, ratios=tuple((a + b) / 2 for a, b in zip(self.ratios, other.ratios, strict=True)))

    def __call__(self, rows: Array) -> Array:
        """Return the score of each row: large where the first side is likelier."""
        score = np.zeros(len(rows))
        for column, place, ratio in zip(rows.T, self.places, self.ratios, strict=True):
            if ratio.any():
                score += ratio[place.entries(column)]
        return score


def _tables(columns: Sequence[tuple[Array, Array, CutBins | None]]) -> list[tuple[CutBins, Array]]:
    """Return the bins of each column, those given or new ones, and a table of the log-likelihood ratio in each."""
    places = [place or _bins_of(np.concatenate([x, y])) for x, y, place in columns]
    counts = [
        [np.bincount(place(side), minlength=place.size).astype(np.float64) + 0.5 for side in (x, y)]
        for place, (x, y, _) in zip(places, columns, strict=True)
    ]
    many = [i for i, place in enumerate(places) if place.size == BINS]
    smooth = fit_walks(*(np.array([counts[i][side] for i in many]) for side in (0, 1)))
    ratios = dict(zip(many, smooth, strict=True))
    for i, (a, b) in enumerate(counts):
        # Of few values each ratio is shrunken by its own noise.
        if i not in ratios:
            ratios[i] = shrunken(np.log(a / a.sum()) - np.log(b / b.sum()), np.sqrt(1 / a + 1 / b))
    return [(place, place.table_of(to_grid(ratios[i]))) for i, place in enumerate(places)]


def _bins_of(pooled: Array) -> CutBins:
    """Return a bin for each of few values, or equally likely bins of many."""
    pooled = np.sort(pooled[:: max(1, len(pooled) // CUT_VALUES)])
    first = np.concatenate([[True], pooled[1:] > pooled[:-1]])
    if np.count_nonzero(first) <= ATOMS:
        return CutBins(pooled[first][1:])
    quantiles = quantiles_of_sorted(pooled, np.arange(1, BINS) / BINS)
    cuts, copies = np.unique(quantiles, return_counts=True)
    if len(cuts) < BINS - 1:
        # Values that fill several bins get bins of their own, with nothing between.
        # Nothing but infinity is beyond the greatest number.
        with np.errstate(over="ignore"):
            return CutBins(np.unique(np.concatenate([cuts, np.nextafter(cuts[copies > 1], np.inf)])))
    centres = quantiles_of_sorted(pooled, (np.arange(BINS) + 0.5) / BINS)
    return GridBins.near(cuts, centres) or CutBins(cuts)


def shrunken(value: Array, noise: Array | float) -> Array:
    """Shrink values towards 0: nothing of what is below its noise, nearly all of what is far above."""
    return np.where(np.abs(value) > noise, value - np.square(noise) / np.where(value == 0, 1.0, value), 0.0)


# A value counts as repeated from this share of a column's runs on.
ATOM_SHARE = 1e-3
# Repeated values of a column that are distinguished, the most frequent first.
MOST_ATOMS = 24
# Patterns that are distinguished.
MOST_PATTERNS = 200
# Runs that a pattern must have: with fewer, log-ratios err by over a fifth.
LEAST_RUNS = 100
# Runs a side from which on a pattern's other values are scored: the 64 bins of a column hold 30 of them each.
TABLE_RUNS = 2000
# Runs a side that are looked through for repeated values: one of the share above is met 100 times.
LOOK = 50_000
# Runs a side in which no column repeats a value where none mixes repeated values and others: a hundredth of the runs
# has one of `MOST_ATOMS` values at least, so that with 5,000 runs two agree but for a probability of 1e-5.
SOME = 2_500


@dataclass(frozen=True)
class Patterns(Score):
    """The log-likelihood ratio of a row's pattern of repeated values, plus one of its other values given the pattern.

    It is the log-likelihood ratio itself where the other values are independent given side and pattern, as when one
    noisy number is released and all else are flags. The `atoms` are the repeated values of each column, the `codes` the
    known patterns, both ascending; all others are one pattern, without a score. The `base`, shape (k,), has the
    shrunken log-likelihood ratio of each, the `tables` the score of the other values in each and their columns; None
    where runs were too few.
    """

    atoms: tuple[Array, ...]
    codes: Integers
    base: Array
    tables: tuple[tuple[NaiveBayes, NDArray[np.intp]] | None, ...]

    @classmethod
    def fit(cls, data: Array, neighbour: Array) -> Patterns | None:
        """Fit on training rows of the two sides; None unless some column mixes repeated values and others."""
        some = np.concatenate([data[:SOME], neighbour[:SOME]])
        if all(len(np.unique(x)) == len(x) for x in some.T):
            return None
        looked = np.concatenate([data[:LOOK], neighbour[:LOOK]])
        least = max(5, ATOM_SHARE * len(looked))
        atoms = tuple(commonest(*np.unique(x, return_counts=True), least, MOST_ATOMS) for x in looked.T)
        other = _others(atoms, looked).mean(axis=0)
        mixed = ((other > 0.01) & (other < 0.99)).any()
        coded = _code(atoms, data), _code(atoms, neighbour)
        codes, counts = np.unique(np.concatenate(coded), return_counts=True)
        kept = np.sort(np.argsort(-counts, kind="stable")[:MOST_PATTERNS])
        codes = codes[kept[counts[kept] >= LEAST_RUNS]]
        if mixed and len(codes):
            return cls._fit(atoms, codes, (data, neighbour), coded)
        return None

    @classmethod
    def _fit(
        cls,
        atoms: tuple[Array, ...],
        codes: Integers,
        sides: tuple[Array, Array],
        coded: tuple[Integers, Integers],
    ) -> Patterns:
        data, neighbour = sides
        each = [places_of(codes, code) for code in coded]
        groups = [[np.flatnonzero(which == i) for i in range(len(codes))] for which in each]
        hits = [np.array([len(group) for group in side]) + 0.5 for side in groups]
        raw = np.log(hits[0] / len(data)) - np.log(hits[1] / len(neighbour))
        tables = tuple(_table(atoms, data[x], neighbour[y]) for x, y in zip(*groups, strict=True))
        return cls(atoms, codes, to_grid(shrunken(raw, np.sqrt(1 / hits[0] + 1 / hits[1]))), tables)

    def refit(self, data: Array, neighbour: Array) -> Patterns:
        """Fit the same patterns on other rows; those without a table keep their score: there both fits agree."""
        coded = _code(self.atoms, data), _code(self.atoms, neighbour)
        other = self._fit(self.atoms, self.codes, (data, neighbour), coded)
        tables = [b if a else None for a, b in zip(self.tables, other.tables, strict=True)]
        kept = np.array([table is None for table in tables])
        return replace(self, base=np.where(kept, self.base, other.base), tables=tuple(tables))

    def repeats(self) -> Array:
        """Return the scores that whole patterns share, ascending."""
        return np.unique(np.append(self.base[[table is None for table in self.tables]], 0.0))

    def __call__(self, rows: Array) -> Array:
        """Return the score of each row: large where the first side is likelier."""
        which = places_of(self.codes, _code(self.atoms, rows))
        score = np.append(self.base, 0.0)[which]
        for i, table in enumerate(self.tables):
            if table is not None:
                group = np.flatnonzero(which == i)
                score[group] += table[0](rows[np.ix_(group, table[1])])
        return score


def _code(atoms: tuple[Array, ...], rows: Array) -> Integers:
    """Return a number for the pattern of each row; arithmetic wraps, which at worst makes two patterns one."""
    code = np.zeros(len(rows), dtype=np.int64)
    for values, column in zip(atoms, rows.T, strict=True):
        code = code * (MOST_ATOMS + 1) + places_of(values, column) + 1
    return code


def _others(atoms: tuple[Array, ...], rows: Array) -> Bools:
    return ~np.column_stack([np.isin(column, values) for values, column in zip(atoms, rows.T, strict=True)])


def _table(atoms: tuple[Array, ...], data: Array, neighbour: Array) -> tuple[NaiveBayes, NDArray[np.intp]] | None:
    """Return the score of the scalars that a pattern leaves open, and which columns they are in."""
    if min(len(data), len(neighbour)) < TABLE_RUNS:
        return None
    free = np.flatnonzero(_others(atoms, data[:1])[0])
    if len(free):
        return (NaiveBayes.fit(data[:, free], neighbour[:, free]), free)
    return None


@cache
def controller(package: str) -> Any:
    """Return what keeps a package's fits on one thread: threads that wait in a spin cost far more than they save.

    It knows the libraries that are loaded when it is made, so that a package that is loaded later has one of its own.
    On a machine that others use, the product of matrices in a regression took a hundred times as long on two threads;
    and its last digits, which depend on the number of threads, are the same everywhere.
    """
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


# A discriminant cuts columns so many of their ranges, which hold nine tenths of some rows, beyond these ranges.
REACH = 1.0
# The rows a side that show the ranges.
RANGE_ROWS = 5_000


@dataclass(frozen=True, eq=False)
class Discriminant(Score):
    """Fisher's linear discriminant: the log-likelihood ratio of Gaussian columns of one covariance, in closed form.

    Columns are cut at `low` and `high`, so that few far values do not decide.
    """

    low: Array
    high: Array
    weights: Array

    @classmethod
    def fit(cls, data: Array, neighbour: Array) -> Discriminant:
        """Fit on training rows of the two sides."""
        some = np.clip(np.concatenate([data[:RANGE_ROWS], neighbour[:RANGE_ROWS]]), -1e15, 1e15)
        low, high = np.quantile(some, [0.05, 0.95], axis=0, method="lower")
        spread = REACH * (high - low)
        # Where nine tenths are one value, the others may be all that there is.
        low, high = np.where(spread > 0, [low - spread, high + spread], [some.min(axis=0), some.max(axis=0)])
        return cls(low, high, np.zeros(len(low))).refit(data, neighbour)

    def refit(self, data: Array, neighbour: Array) -> Discriminant:
        """Fit the weights on other rows."""
        unit = np.where(self.high > self.low, self.high - self.low, 1.0)
        scaled = [np.clip(side, self.low, self.high) / unit for side in (data, neighbour)]
        middles = [side.mean(axis=0) for side in scaled]
        runs = len(data) + len(neighbour)
        width = len(unit)
        with controller("numpy").limit(limits=1):
            covariance = np.zeros((width, width))
            for side, middle in zip(scaled, middles, strict=True):
                side -= middle
                covariance += side.T @ side / runs
            variance = covariance.diagonal()
            # As many columns as runs determine nothing: the fewer runs a column, the more each stands for itself.
            ridge = np.diag(np.where(variance > 0, variance * max(width / runs, 1e-4), 1.0))
            found = np.linalg.solve(covariance + ridge, middles[0] - middles[1])
        return replace(self, weights=to_grid(found / unit))

    def mean(self, other: Score) -> Discriminant:
        """Return the mean of this score and its `refit`, which takes no longer than either."""
        assert isinstance(other, Discriminant)
        return replace(self, weights=(self.weights + other.weights) / 2)

    def __call__(self, rows: Array) -> Array:
        """Return the score of each row."""
        with controller("numpy").limit(limits=1):
            return np.asarray(np.clip(rows, self.low, self.high) @ self.weights)
