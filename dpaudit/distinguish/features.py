"""From any outputs to columns of numbers, in groups that expose different leaks.

What the columns are is decided on pilot outputs and then fixed. Outputs are flattened to scalars; text, None,
exceptions and other leaves become categories; shorter outputs are padded; NaN and infinities are values like others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.distinguish.canonical import canonical

__all__ = ["GROUPS", "Flattener", "group_columns"]

Matrix = NDArray[np.float64]

MISSING, NAN, PLUS, MINUS = -1.1e300, -1.2e300, 1.3e300, -1.3e300
"""Stand-ins for padding, NaN and the infinities: finite, so that every column can be sorted and binned."""

WIDTH = 128


@dataclass(frozen=True)
class Flattener:
    """Turns a batch of outputs into a matrix, one row an output.

    Attributes
    ----------
    width : int
        Scalars an output is cut or padded to.
    ragged : bool
        Whether the number of scalars varies, and so is a column of its own.
    categories : mapping
        The number of each non-numeric leaf seen in the pilot; others are -1.
    """

    width: int
    ragged: bool
    categories: Mapping[Hashable, int]

    @classmethod
    def fit(cls, pilot: Iterable[Any]) -> Flattener:
        """Decide width and categories on pilot batches."""
        widths: set[int] = set()
        leaves: Counter[Hashable] = Counter()
        for batch in pilot:
            if isinstance(batch, np.ndarray) and batch.dtype.kind in "iufb":
                widths.add(int(np.prod(batch.shape[1:], dtype=int)))
                continue
            for output in batch:
                scalars = list(_scalars(output))
                widths.add(len(scalars))
                leaves.update(canonical(v) for v in scalars if not _numeric(v))
        categories = {
            leaf: i for i, (leaf, _) in enumerate(sorted(leaves.items(), key=lambda item: (-item[1], str(item[0]))))
        }
        return cls(min(WIDTH, max(widths, default=0)), len(widths) > 1, categories)

    def __call__(self, outputs: Any) -> Matrix:
        """Return the matrix (size, width), with a column for the length in front where it varies."""
        if isinstance(outputs, np.ndarray) and outputs.dtype.kind in "iufb" and not self.ragged:
            flat = outputs.reshape(len(outputs), -1).astype(np.float64)
            if flat.shape[1] == self.width:
                return _finite(flat)
        rows = np.full((len(outputs), self.width), MISSING)
        lengths = np.zeros(len(outputs))
        for i, output in enumerate(outputs):
            scalars = list(_scalars(output))
            lengths[i] = len(scalars)
            for j, value in enumerate(scalars[: self.width]):
                rows[i, j] = float(value) if _numeric(value) else self.categories.get(canonical(value), -1)
        rows = _finite(rows)
        return np.column_stack([lengths, rows]) if self.ragged else rows


def _numeric(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating | np.bool_)


def _scalars(output: Any) -> Iterable[Any]:
    """Yield the leaves of an output, dictionaries in the order of their keys, sets in that of their cells."""
    if isinstance(output, Mapping):
        for key in sorted(output, key=lambda k: str(canonical(k))):
            yield from _scalars(output[key])
    elif isinstance(output, set | frozenset):
        for value in sorted(output, key=lambda v: str(canonical(v))):
            yield from _scalars(value)
    elif isinstance(output, list | tuple):
        for value in output:
            yield from _scalars(value)
    elif isinstance(output, np.ndarray):
        yield from output.ravel().tolist()
    elif isinstance(output, str | bytes):
        yield output
        yield len(output)
    else:
        yield output


def _finite(values: Matrix) -> Matrix:
    if np.isfinite(values).all():
        return values
    return np.nan_to_num(values, nan=NAN, posinf=PLUS, neginf=MINUS)


def _ordinary(values: Matrix) -> NDArray[np.bool_]:
    return np.abs(values) < 1e300


def values(base: Matrix) -> Matrix:
    """Return the scalars themselves."""
    return base


def differences(base: Matrix) -> Matrix:
    """Return the first scalar and the differences of neighbouring ones."""
    return np.column_stack([base[:, :1], np.diff(base, axis=1)])


def order_statistics(base: Matrix) -> Matrix:
    """Return the scalars in ascending order."""
    return np.sort(base, axis=1)


def ranks(base: Matrix) -> Matrix:
    """Return each scalar's rank, and where the least and the greatest are."""
    order = np.argsort(base, axis=1, kind="stable")
    rank = np.argsort(order, axis=1, kind="stable")
    return np.column_stack([rank, order[:, 0], order[:, -1]]).astype(np.float64)


def summaries(base: Matrix) -> Matrix:
    """Return sum, least, greatest, how many neighbours are equal, and how many scalars are ordinary numbers."""
    total, ordinary, equal = np.zeros((3, len(base)))
    least, greatest = base[:, 0].copy(), base[:, 0].copy()
    before: NDArray[np.float64] | None = None
    # Column by column: reductions along short rows take ten times as long.
    for column in base.T:
        usual = _ordinary(column)
        total += np.where(usual, column, 0.0)
        ordinary += usual
        np.minimum(least, column, out=least)
        np.maximum(greatest, column, out=greatest)
        if before is not None:
            equal += column == before
        before = column
    return np.column_stack([total, least, greatest, equal, ordinary])


def halves(base: Matrix) -> Matrix:
    """Return the sums of the first and of the second half: what pairs that move half of the queries shift."""
    sums = np.zeros((2, len(base)))
    middle = base.shape[1] // 2
    for j, column in enumerate(base.T):
        sums[int(j >= middle)] += np.where(_ordinary(column), column, 0.0)
    return np.ascontiguousarray(sums.T)


def float_bits(base: Matrix) -> Matrix:
    """Return, for each scalar: exponent, exponent of the lowest set bit, trailing zeros, low byte, sign."""
    mantissa, exponent = np.frexp(base)
    significand = np.abs(np.ldexp(mantissa, 53)).astype(np.int64)
    lowest = np.where(significand == 0, 0, significand & -significand)
    trailing = np.where(lowest == 0, 64, np.frexp(lowest.astype(np.float64))[1] - 1)
    columns = [exponent, exponent - 53 + trailing, trailing, significand & 255, np.signbit(base)]
    return np.column_stack(columns).astype(np.float64)


GROUPS = {
    "values": values,
    "differences": differences,
    "order statistics": order_statistics,
    "ranks": ranks,
    "summaries": summaries,
    "halves": halves,
    "float bits": float_bits,
}
"""The groups of columns by name; each maps the flattened outputs to a matrix."""


def group_columns(base: Matrix) -> list[str]:
    """Return the groups that can say something about outputs like the pilot's."""
    names = ["values"]
    if base.shape[1] > 1:
        names += ["differences", "order statistics", "summaries"]
        names += ["halves"] if base.shape[1] > 3 else []
        names += ["ranks"] if base.shape[1] <= 32 and len(np.unique(base[:, :2])) > 8 else []
    ordinary = base[_ordinary(base)]
    if base.shape[1] <= 16 and len(ordinary) and (ordinary != np.round(ordinary)).any():
        names.append("float bits")
    return names
