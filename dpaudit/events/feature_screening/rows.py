"""Features of rows of numbers: sums, extremes, orders, counts, each number, and relations between two of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dpaudit.bounds.base import Array, Bools, Integers
from dpaudit.events.cells import commonest, places_of
from dpaudit.events.feature_screening.feature import CELLS, CellNumbers, LeafFeature, number, one_of
from dpaudit.events.feature_screening.numbers import KNOWN, REPEATED
from dpaudit.naming import Name, Sum, position
from dpaudit.outputs import readers
from dpaudit.outputs.readers import MISSING, Rows, finite, usual
from dpaudit.outputs.types import Values

# The first numbers of a row that are features of their own.
MOST_ENTRIES = 128
# The first numbers of a row whose pairs are features.
MOST_RELATED = 6


def _steps(ordered: Rows) -> Integers:
    """Return how often a number of each row differs from the one before it; differences of infinities are none."""
    steps: Integers = (ordered[:, 1:] != ordered[:, :-1]).sum(axis=1)
    return steps


def _order_parity(rows: Rows) -> Bools:
    """Return whether an odd number of swaps sorts each row; equal numbers stay in their order."""
    order = np.argsort(rows[:, :MOST_ENTRIES], axis=1, kind="stable")
    ranks = np.ascontiguousarray(order.T.astype(np.uint8))
    odd = np.zeros(len(rows), dtype=np.bool_)
    for place, rank in enumerate(ranks):
        odd ^= np.bitwise_xor.reduce(ranks[place + 1 :] < rank, axis=0)
    return odd


# The numbers that sum up a row, by name.
SUMMARIES: dict[str, Callable[[Rows], NDArray[np.generic]]] = {
    "sum": lambda rows: usual(rows).sum(axis=1),
    "sum of squares": lambda rows: np.einsum("ij,ij->i", usual(rows), usual(rows)),
    "sum of magnitudes": lambda rows: np.abs(usual(rows)).sum(axis=1),
    "least": lambda rows: np.where(rows == MISSING, np.inf, rows).min(axis=1),
    "greatest": lambda rows: rows.max(axis=1),
    "greatest magnitude": lambda rows: np.abs(usual(rows)).max(axis=1),
    "place of the least": lambda rows: np.where(rows == MISSING, np.inf, rows).argmin(axis=1),
    "place of the greatest": lambda rows: rows.argmax(axis=1),
    "ascents": lambda rows: (rows[:, 1:] > rows[:, :-1]).sum(axis=1),
    "equal neighbours": lambda rows: (rows[:, 1:] == rows[:, :-1]).sum(axis=1),
    "zeros": lambda rows: (rows == 0).sum(axis=1),
    "median": lambda rows: np.median(rows, axis=1),
    "NaNs": lambda rows: np.isnan(rows).sum(axis=1),
    "infinities": lambda rows: np.isposinf(rows).sum(axis=1),
    "negative infinities": lambda rows: np.isneginf(rows).sum(axis=1),
    "negative zeros": lambda rows: ((rows == 0) & np.signbit(rows)).sum(axis=1),
    "different numbers": lambda rows: _steps(np.sort(rows, axis=1)),
    "parity of the order": _order_parity,
    "sum of neighbours' products": lambda rows: (usual(rows)[:, 1:] * usual(rows)[:, :-1]).sum(axis=1),
    "sum of the first half": lambda rows: usual(rows)[:, : rows.shape[1] // 2].sum(axis=1),
    "sum with alternating signs": lambda rows: usual(rows)[:, ::2].sum(axis=1) - usual(rows)[:, 1::2].sum(axis=1),
}


def summaries(rows: Rows) -> list[LeafFeature]:
    """Return the numbers that sum up a row."""
    return [number(Name(name), partial(_summary, name), rows) for name in SUMMARIES]


def _summary(name: str, rows: Rows) -> Rows:
    """Return the number that sums up each row; sums and products beyond floats are infinities like any other."""
    with np.errstate(over="ignore", invalid="ignore"):
        return finite(np.asarray(SUMMARIES[name](rows), dtype=np.float64))


def entries(rows: Rows, names: tuple[Name, ...] = ()) -> list[LeafFeature]:
    """Return each number of a row, in cells of about equal mass; columns may have names of their own."""
    width = min(rows.shape[1], MOST_ENTRIES)
    if not names:
        names = tuple(Name.of("element {}", position(j)) for j in range(width))
    return [number(names[j], partial(_entry, j), rows) for j in range(width)]


def _entry(place: int, rows: Rows) -> Rows:
    return finite(rows[:, place])


def repeated_entries(rows: Rows) -> list[LeafFeature]:
    """Return numbers of a row that training showed several times at one place, each a cell of its own."""
    found = []
    for j in range(min(rows.shape[1], MOST_ENTRIES)):
        values, counts = np.unique(_entry(j, rows), return_counts=True)
        # Of fewer values quantiles separate all.
        often = commonest(values, counts, REPEATED, KNOWN) if len(values) > CELLS else values[:0]
        if len(often):
            shown = one_of("another", *map(repr, often.tolist()))
            name = Name.of("repeated value of element {}", position(j))
            found.append(LeafFeature(name, partial(_repeated_entry, j, often), shown))
    return found


def _repeated_entry(place: int, often: Rows, rows: Rows) -> CellNumbers:
    return places_of(often, _entry(place, rows)) + 1


# The relations by the templates of their names, which are sums or other names.
_RELATIONS: dict[str, tuple[type[Name], Callable[[Rows, Rows], Rows]]] = {
    "element {} - element {}": (Sum, np.subtract),
    "element {} + element {}": (Sum, np.add),
    "element {} * element {}": (Name, np.multiply),
    "element {} / element {}": (Name, np.divide),
    "order of elements {} and {}": (Name, lambda x, y: np.sign(x - y)),
}


def relations(rows: Rows) -> list[LeafFeature]:
    """Return differences, sums, products, quotients and order of pairs of the first numbers of a row."""
    width = min(rows.shape[1], MOST_RELATED)
    return [
        number(kind.of(words, position(i), position(j)), partial(_relation, words, i, j), rows)
        for i in range(width)
        for j in range(i + 1, width)
        for words, (kind, _) in _RELATIONS.items()
    ]


def _relation(words: str, i: int, j: int, rows: Rows) -> Rows:
    x, y = usual(rows[:, [i, j]]).T
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return finite(np.asarray(_RELATIONS[words][1](x, y), dtype=np.float64))


def whole_of_rows(of: np.ufunc, rows: Array) -> readers.WholeValues:
    """Return the results of a ufunc over the whole numbers of each row as integers; other numbers count as 0."""
    usual = np.where((np.abs(rows) < 2**53) & (rows == np.round(rows)), rows, 0.0).astype(np.int64)
    return readers.WholeValues.of(of.reduce(usual, axis=1))


def whole_of_values(block: readers.Block, of: np.ufunc, values: Values) -> readers.WholeValues:
    """Return the same of values that are read as rows first."""
    return whole_of_rows(of, block(values))
