"""Rows of a dataset in few numbers: runs of rows that follow one another, each taken so many times."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from dpaudit.neighbours.own_data.tables import Index

__all__ = ["Rows", "all_but", "copies", "every_row", "split", "these_rows"]


@dataclass(frozen=True)
class Rows:
    """Rows in an order, a few numbers for a million of them.

    Parameters
    ----------
    runs : tuple of (int, int, int)
        First row, number of rows that follow one another, and how many times they are taken one after the other.
    """

    runs: tuple[tuple[int, int, int], ...] = ()

    def __len__(self) -> int:
        return sum(length * times for _, length, times in self.runs)

    def __add__(self, other: Rows) -> Rows:
        return Rows(self.runs + other.runs)

    def index(self) -> Index:
        """Return the numbers of the rows."""
        parts = [np.tile(np.arange(start, start + length), times) for start, length, times in self.runs]
        found: Index = np.concatenate([np.zeros(0, dtype=np.int64), *parts])
        return found

    @classmethod
    def of(cls, index: Any) -> Rows:
        """Return rows given by their numbers, in as few runs as follow one another or are the same."""
        numbers = np.asarray(index, dtype=np.int64)
        if not len(numbers):
            return cls()
        steps = np.diff(numbers)
        ends = np.append(np.flatnonzero(steps[1:] != steps[:-1]), len(steps) - 1)  # the last step of each run of them
        runs: list[tuple[int, int, int]] = []
        at = 0
        for end in ends.tolist() if len(steps) else []:
            step = int(steps[end])
            if step not in (0, 1):
                runs += [(row, 1, 1) for row in numbers[at : end + 1].tolist()]
                at = max(at, end + 1)
            elif at <= end:
                length = end + 2 - at
                runs.append((int(numbers[at]), length, 1) if step else (int(numbers[at]), 1, length))
                at = end + 2
        return cls(tuple(runs + [(row, 1, 1) for row in numbers[at:].tolist()]))


def every_row(size: int) -> Rows:
    """Return the rows 0, ..., size - 1."""
    return Rows(((0, size, 1),) if size else ())


def all_but(size: int, rows: Iterable[int]) -> Rows:
    """Return the rows 0, ..., size - 1 but for some."""
    ends = [-1, *sorted(set(rows)), size]
    return Rows(tuple((first + 1, second - first - 1, 1) for first, second in pairwise(ends) if second > first + 1))


def split(rows: Rows, place: int) -> tuple[Rows, Rows]:
    """Return the runs that begin before a row, and the others."""
    before = tuple(run for run in rows.runs if run[0] < place)
    return Rows(before), Rows(rows.runs[len(before) :])


def copies(row: int, times: int) -> Rows:
    """Return one row several times."""
    return Rows(((row, 1, times),) if times else ())


def these_rows(rows: tuple[int, ...]) -> Rows:
    """Return a few rows, one by one."""
    return Rows.of(np.array(rows, dtype=np.int64))
