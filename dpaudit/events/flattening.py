"""Outputs as rows of numbers, and the groups of columns that expose different leaks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace

import numpy as np

from dpaudit.bounds.base import Array
from dpaudit.events.event import Outputs
from dpaudit.events.wide import WIDTH, Reducer
from dpaudit.outputs import readers
from dpaudit.outputs.leaf import Leaf, spread
from dpaudit.outputs.plan import LeafPlan
from dpaudit.outputs.readers import DIGITS, MISSING, finite, is_usual, stored
from dpaudit.outputs.shared import join
from dpaudit.outputs.types import Values


def values(base: Array) -> Array:
    """Return the scalars themselves."""
    return base


def differences(base: Array) -> Array:
    """Return the first scalar and the differences of neighbouring ones, infinite where floats end."""
    with np.errstate(over="ignore"):
        return np.column_stack([base[:, :1], np.diff(base, axis=1)])


def order_statistics(base: Array) -> Array:
    """Return the scalars in ascending order."""
    return np.sort(base, axis=1)


def ranks(base: Array) -> Array:
    """Return each scalar's rank, and where the least and the greatest are."""
    order = np.argsort(base, axis=1, kind="stable")
    rank = np.argsort(order, axis=1, kind="stable")
    return np.column_stack([rank, order[:, 0], order[:, -1]]).astype(np.float64)


def summaries(base: Array) -> Array:
    """Return sum, least, greatest, how many neighbours are equal, and how many scalars are ordinary numbers."""
    total, ordinary, equal = np.zeros((3, len(base)))
    least = base[:, 0].copy()
    greatest = base[:, 0].copy()
    before: Array | None = None
    # Column by column: reductions along short rows take ten times as long.
    for column in base.T:
        usual = is_usual(column)
        with np.errstate(over="ignore"):
            total += np.where(usual, column, 0.0)
        ordinary += usual
        np.minimum(least, column, out=least)
        np.maximum(greatest, column, out=greatest)
        if before is not None:
            equal += column == before
        before = column
    return np.column_stack([total, least, greatest, equal, ordinary])


def halves(base: Array) -> Array:
    """Return the sums of the first and of the second half: what pairs that move half of the queries shift."""
    sums = np.zeros((2, len(base)))
    middle = base.shape[1] // 2
    for j, column in enumerate(base.T):
        with np.errstate(over="ignore"):
            sums[int(j >= middle)] += np.where(is_usual(column), column, 0.0)
    return np.ascontiguousarray(sums.T)


def float_bits(base: Array) -> Array:
    """Return, for each scalar: exponent, exponent of the lowest set bit, trailing zeros, low byte, sign."""
    exponent, significand, trailing = stored(base)
    columns = [exponent, exponent - DIGITS + trailing, trailing, significand & 255, np.signbit(base)]
    return np.column_stack(columns).astype(np.float64)


# The groups of columns by name; each maps the flattened outputs to a matrix.
GROUPS = {
    group.__name__.replace("_", " "): group
    for group in (values, differences, order_statistics, ranks, summaries, halves, float_bits)
}


def group_columns(base: Array) -> list[str]:
    """Return the groups that can say something about outputs like the pilot's."""
    names = ["values"]
    if base.shape[1] > 1:
        names += ["differences", "order statistics", "summaries"]
        if base.shape[1] > 3:
            names.append("halves")
        if base.shape[1] <= 32 and len(np.unique(base[:, :2])) > 8:
            names.append("ranks")
    ordinary = base[is_usual(base)]
    if base.shape[1] <= 16 and len(ordinary) and (ordinary != np.round(ordinary)).any():
        names.append("float bits")
    return names


# Outputs a side that the plan is made from: a leaf in one of a hundred outputs is met twenty times.
PLAN_ROWS = 2_000
# Texts of a leaf that are told apart by numbers.
TEXTS = 64
# Batches whose matrices are kept: training has two of each side, and parts of them that say where bins are cut.
MOST_KEPT = 6
# Numbers that the kept matrices other than the last one may hold in all.
KEPT_NUMBERS = 8_000_000


@dataclass(frozen=True)
class Flattener:
    """Turns a batch of outputs into a matrix of `width` columns, one row an output.

    The `leaves` are those that are numbers, rows of numbers or categories; of text its length and which known text it
    is. The `plan` has all leaves.
    """

    leaves: tuple[Leaf, ...]
    width: int
    plan: LeafPlan

    @classmethod
    def fit(cls, pilot: Iterable[Outputs], reducer: Reducer | None = None) -> Flattener:
        """Plan batches of pilot outputs, which a reducer may have returned."""
        some = [batch[:PLAN_ROWS] for batch in pilot]
        rows = join(some)
        plan = LeafPlan.of(rows) if reducer is None else LeafPlan.of_reduced(rows, reducer.names, reducer.columns)
        leaves = [leaf for leaf in plan.leaves if not leaf.in_row]
        for i, leaf in enumerate(leaves):
            if leaf.reader in (readers.text, readers.byte_string):
                texts = readers.Categories.fit(None, [value for batch in some for value in leaf.read(batch)[0]], TEXTS)
                leaves[i] = Leaf(leaf.path, TextNumbers(leaf.reader, texts), leaf.name)
        flattener = cls(tuple(leaves), WIDTH, plan)
        found = 0
        if some and len(some[0]):
            found = flattener(some[0][:1]).shape[1]
        return replace(flattener, width=max(1, min(WIDTH, found)))

    @property
    def scalars(self) -> int:
        """The count of numbers in an output, those beyond the width included."""
        return sum(leaf.reader.width if isinstance(leaf.reader, readers.Block) else 1 for leaf in self.leaves)

    def __call__(self, outputs: Outputs) -> Array:
        """Return the matrix, shape (outputs, width), which must not be changed: scores of one batch share it."""
        for flattener, batch, matrix in _LAST.get():
            if batch is outputs and flattener is self:
                return matrix
        matrix = self._matrix(outputs)
        known = (*_LAST.get(), (self, outputs, matrix))
        while len(known) > MOST_KEPT or sum(kept.size for *_, kept in known[:-1]) > KEPT_NUMBERS:
            known = known[1:]
        _LAST.set(known)
        return matrix

    def _matrix(self, outputs: Outputs) -> Array:
        columns = []
        left = self.width
        for leaf in self.leaves:
            if left <= 0:
                break
            values, where = leaf.read(outputs)
            if isinstance(values, readers.WholeValues):
                values = values.real
            else:
                values = np.asarray(values, dtype=np.float64)
            table = values[:, None] if values.ndim == 1 else values[:, :left]
            columns.append(spread(table, where, len(outputs), MISSING))
            left -= columns[-1].shape[1]
        if not columns:
            return np.zeros((len(outputs), 1))
        if len(columns) == 1:
            return finite(columns[0])
        return finite(np.concatenate(columns, axis=1))


# The batches that this thread flattened last, the newest at the end: each score of several asks for the same ones.
_LAST: ContextVar[tuple[tuple[Flattener, Outputs, Array], ...]] = ContextVar("last", default=())


@dataclass(frozen=True)
class TextNumbers:
    """Reads which known text or bytes a value is, and its length."""

    reader: Callable[[Values], Sequence[str | bytes]]
    texts: readers.Categories

    def __call__(self, values: Values) -> Array:
        """Return the rows (number of the text, length)."""
        listed = self.reader(values)
        lengths = np.fromiter(map(len, listed), np.int64, len(listed))
        return np.stack([self.texts(listed), lengths], axis=1).astype(np.float64)
