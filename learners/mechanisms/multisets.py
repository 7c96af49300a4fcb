"""Multisets of integers: distinct values in ascending order, and how often each occurs."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learners.arrays import Integers

__all__ = ["Multiset", "extremes", "merged", "multiset", "of_counter", "ranks"]

Multiset = tuple[list[int], list[int]]
"""Distinct values in ascending order, and their counts."""


def multiset(values: NDArray[Any], counts: Integers) -> Multiset:
    """Return the distinct values in ascending order, as Python integers, and how often each occurs."""
    if len(values) == 0:
        return [], []
    order = np.argsort(values, kind="stable")
    ordered, weights = values[order], counts[order]
    starts = np.flatnonzero(np.concatenate([[True], np.asarray(ordered[1:] != ordered[:-1], dtype=np.bool_)]))
    return [int(v) for v in ordered[starts]], [int(c) for c in np.add.reduceat(weights, starts)]


def of_counter(counts: Counter[int]) -> Multiset:
    """Return the multiset of a counter; values that occur 0 times are left out."""
    items = sorted((x, c) for x, c in counts.items() if c)
    return [x for x, _ in items], [c for _, c in items]


def ranks(data: Multiset, start: int, stop: int) -> Multiset:
    """Return the elements with ranks start .. stop - 1, counted from 0 at the smallest one."""
    points, counts, seen = [], [], 0
    for x, count in zip(*data, strict=True):
        kept = min(seen + count, stop) - max(seen, start)
        seen += count
        if kept > 0:
            points.append(x)
            counts.append(kept)
    return points, counts


def merged(first: Multiset, second: Multiset) -> Multiset:
    """Return the union of two multisets."""
    counts = Counter(dict(zip(*first, strict=True)))
    counts.update(dict(zip(*second, strict=True)))
    return of_counter(counts)


def extremes(values: NDArray[Any], counts: Integers, m: int, padding: int, largest: bool) -> Multiset:
    """Return the m smallest (largest) values of a multiset, filled up with copies of `padding`.

    Whatever the multiset: replacing one value, removing one or adding one replaces at most one of the m. That needs the
    padding to be an upper bound of the values where the smallest are taken (a lower bound for the largest): then these
    are the m first of the sorted list with endless padding behind it.
    """
    data = multiset(values, counts)
    n = sum(data[1])
    kept = ranks(data, max(0, n - m), n) if largest else ranks(data, 0, m)
    return merged(kept, ([padding], [m - n])) if n < m else kept
