"""Groups of columns of flattened outputs that expose different leaks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpaudit.events.float_bits import DIGITS, stored
from dpaudit.outputs.readers import is_usual

__all__ = ["GROUPS", "group_columns"]

Matrix = NDArray[np.float64]


def values(base: Matrix) -> Matrix:
    """Return the scalars themselves."""
    return base


def differences(base: Matrix) -> Matrix:
    """Return the first scalar and the differences of neighbouring ones, infinite where floats end."""
    with np.errstate(over="ignore"):
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


def halves(base: Matrix) -> Matrix:
    """Return the sums of the first and of the second half: what pairs that move half of the queries shift."""
    sums = np.zeros((2, len(base)))
    middle = base.shape[1] // 2
    for j, column in enumerate(base.T):
        with np.errstate(over="ignore"):
            sums[int(j >= middle)] += np.where(is_usual(column), column, 0.0)
    return np.ascontiguousarray(sums.T)


def float_bits(base: Matrix) -> Matrix:
    """Return, for each scalar: exponent, exponent of the lowest set bit, trailing zeros, low byte, sign."""
    exponent, significand, trailing = stored(base)
    columns = [exponent, exponent - DIGITS + trailing, trailing, significand & 255, np.signbit(base)]
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
    ordinary = base[is_usual(base)]
    if base.shape[1] <= 16 and len(ordinary) and (ordinary != np.round(ordinary)).any():
        names.append("float bits")
    return names
