"""Score mixed outputs: first by which scalars are repeated values (flags, padding, zeros), then by all the others."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpaudit.events.binning import commonest
from dpaudit.events.naive_bayes import NaiveBayes, shrunken
from dpaudit.events.rounding import steady

__all__ = ["Patterns"]

Array = NDArray[np.float64]

ATOM_SHARE = 1e-3
"""A value counts as repeated from this share of a column's runs on."""
MOST_ATOMS = 24
"""Repeated values of a column that are told apart, the most frequent first."""
MOST_PATTERNS, LEAST_RUNS = 200, 100
"""Patterns that are told apart, and the runs that each must have: the log-ratio of fewer errs by more than a fifth."""
TABLE_RUNS = 2000
"""Runs a side from which on a pattern's other values are scored: the 64 bins of a column hold 30 of them each."""
LOOK = 50_000
"""Runs a side that are looked through for repeated values: one of the share above is met 100 times."""


@dataclass(frozen=True)
class Patterns:
    """The log-likelihood ratio of a row's pattern of repeated values, plus one of its other values given the pattern.

    It is the log-likelihood ratio itself where the other values are independent given side and pattern, as when one
    noisy number is released and all else are flags.

    Attributes
    ----------
    atoms : tuple of array
        The repeated values of each column, ascending.
    codes : array of int, shape (k,)
        The known patterns, ascending; all others are one pattern, without a score.
    base : array, shape (k,)
        The shrunken log-likelihood ratio of each.
    tables : tuple of (NaiveBayes, columns) or None
        The score of the other values in each pattern; None where runs were too few.
    """

    atoms: tuple[Array, ...]
    codes: NDArray[np.int64]
    base: Array
    tables: tuple[tuple[NaiveBayes, NDArray[np.intp]] | None, ...]

    @classmethod
    def fit(cls, data: Array, neighbour: Array) -> Patterns | None:
        """Fit on training rows of the two sides; None unless some column mixes repeated values and others."""
        atoms = tuple(_atoms(np.concatenate([x[:LOOK], y[:LOOK]])) for x, y in zip(data.T, neighbour.T, strict=True))
        other = np.concatenate([_others(atoms, rows[:LOOK]) for rows in (data, neighbour)])
        mixed = ((other.mean(axis=0) > 0.01) & (other.mean(axis=0) < 0.99)).any()
        coded = _code(atoms, data), _code(atoms, neighbour)
        codes, counts = np.unique(np.concatenate(coded), return_counts=True)
        kept = np.sort(np.argsort(-counts, kind="stable")[:MOST_PATTERNS])
        codes = codes[kept[counts[kept] >= LEAST_RUNS]]
        return cls._fit(atoms, codes, (data, neighbour), coded) if mixed and len(codes) else None

    @classmethod
    def _fit(
        cls,
        atoms: tuple[Array, ...],
        codes: NDArray[np.int64],
        sides: tuple[Array, Array],
        coded: tuple[NDArray[np.int64], NDArray[np.int64]],
    ) -> Patterns:
        data, neighbour = sides
        groups = [_groups(_which(codes, code), len(codes)) for code in coded]
        hits = [np.array([len(group) for group in side]) + 0.5 for side in groups]
        raw = np.log(hits[0] / len(data)) - np.log(hits[1] / len(neighbour))
        tables = tuple(_table(atoms, data[x], neighbour[y]) for x, y in zip(*groups, strict=True))
        return cls(atoms, codes, steady(shrunken(raw, np.sqrt(1 / hits[0] + 1 / hits[1]))), tables)

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
        which = _which(self.codes, _code(self.atoms, rows))
        score = np.append(self.base, 0.0)[which]
        for i, table in enumerate(self.tables):
            if table is not None:
                group = np.flatnonzero(which == i)
                score[group] += table[0](rows[np.ix_(group, table[1])])
        return score


def _atoms(column: Array) -> Array:
    return commonest(*np.unique(column, return_counts=True), max(5, ATOM_SHARE * len(column)), MOST_ATOMS)


def _code(atoms: tuple[Array, ...], rows: Array) -> NDArray[np.int64]:
    """Return a number for the pattern of each row; arithmetic wraps, which at worst makes two patterns one."""
    code = np.zeros(len(rows), dtype=np.int64)
    for values, column in zip(atoms, rows.T, strict=True):
        digit = np.zeros(len(rows), dtype=np.int64)
        if len(values):
            at = np.minimum(np.searchsorted(values, column), len(values) - 1)
            digit = np.where(values[at] == column, at + 1, 0)
        code = code * (MOST_ATOMS + 1) + digit
    return code


def _others(atoms: tuple[Array, ...], rows: Array) -> NDArray[np.bool_]:
    """Say which scalars are no repeated values."""
    return ~np.column_stack([np.isin(column, values) for values, column in zip(atoms, rows.T, strict=True)])


def _which(codes: NDArray[np.int64], code: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return the place of each row's pattern among the known ones, -1 for others."""
    which = np.minimum(np.searchsorted(codes, code), len(codes) - 1)
    which[codes[which] != code] = -1
    return which


def _groups(which: NDArray[np.intp], patterns: int) -> list[NDArray[np.intp]]:
    """Return the rows of each pattern."""
    return [np.flatnonzero(which == i) for i in range(patterns)]


def _table(atoms: tuple[Array, ...], data: Array, neighbour: Array) -> tuple[NaiveBayes, NDArray[np.intp]] | None:
    """Return the score of the scalars that a pattern leaves open, and which columns they are in."""
    if min(len(data), len(neighbour)) < TABLE_RUNS:
        return None
    free = np.flatnonzero(_others(atoms, data[:1])[0])
    return (NaiveBayes.fit(data[:, free], neighbour[:, free]), free) if len(free) else None
