"""Features of floats: their fraction and special values, and the traces that floating point leaves in their bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpaudit.events.feature_screening.groups import Cells, interval, quantile_cells, quantile_edges
from dpaudit.events.float_bits import DIGITS, stored
from dpaudit.outputs.stand_ins import usual

__all__ = ["Fractions", "Mantissa", "RowStorage", "Storage"]

Reals = NDArray[np.float64]
MANTISSA = 52
LOWEST, NO_BIT = 1200, 4_000
"""Added to the exponent of a lowest bit, so that cells are positive; and the cell of a row of zeros."""
MOST_STORED = 32
"""Numbers of a row whose bits are looked at, each a feature: ordinary noise shows itself in every number alike."""


@dataclass(frozen=True, eq=False)  # arrays have no one truth value
class Fractions:
    """Sign and special values, magnitude, and the part behind the point.

    Attributes
    ----------
    edges : array
        Cuts of the magnitude.
    """

    edges: Reals
    names: Sequence[str] = field(default=("sign or special value", "magnitude", "part behind the point"))
    representation: bool = False

    @classmethod
    def of(cls, values: Reals) -> Fractions:
        """Return the group for floats like these."""
        return cls(quantile_edges(np.abs(values[np.isfinite(values)])))

    def column(self, values: Reals, j: int) -> Cells:
        """Return one feature of each value."""
        if j == 0:
            kinds = [np.isnan(values), values == np.inf, values == -np.inf, (values == 0) & np.signbit(values),
                     values == 0, values < 0]  # fmt: skip
            return np.asarray(np.select(kinds, [0, 1, 2, 3, 4, 5], 6), dtype=np.int64)
        finite = np.where(np.isfinite(values), values, 0.0)
        if j == 1:
            return quantile_cells(self.edges, np.abs(finite))
        return np.asarray(np.minimum((finite - np.floor(finite)) * 64, 63), dtype=np.int64)

    def cell(self, j: int, code: int) -> str:
        """Return the special value, or the interval."""
        if j == 0:
            return ("nan", "inf", "-inf", "-0.0", "0.0", "negative", "positive")[code]
        return interval(self.edges, code) if j == 1 else f"[{code / 64:.6g}, {(code + 1) / 64:.6g})"


@dataclass(frozen=True)
class Storage:
    """The fineness with which a float is stored: its grid, and whether fewer digits would do."""

    names: Sequence[str] = field(
        default=("exponent", "exponent of the lowest bit", "trailing zeros of the mantissa", "being exact in 32 bits",
                 "being exact in 16 bits", "decimals")
    )  # fmt: skip
    representation: bool = True

    def column(self, values: Reals, j: int) -> Cells:
        """Return one feature of each value."""
        finite = np.where(np.isfinite(values), values, 0.0)
        if j == 0:
            return np.where(finite == 0, 0, np.frexp(finite)[1] + 1100).astype(np.int64)
        if j in (1, 2):
            lowest, zeros = _lowest_bits(finite)
            return lowest if j == 1 else zeros
        if j in (3, 4):
            with np.errstate(over="ignore"):
                return np.asarray(finite.astype(np.float32 if j == 3 else np.float16) == finite, dtype=np.int64)
        shown = np.full(len(finite), 17, dtype=np.int64)
        with np.errstate(over="ignore", invalid="ignore"):
            for places in range(16, -1, -1):
                shown[np.round(finite, places) == finite] = places
        return shown

    def cell(self, j: int, code: int) -> int:
        """Return the exponent, the number of zeros or decimals, or whether it is exact."""
        return code - (1100, LOWEST)[j] if j < 2 else code


@dataclass(frozen=True)
class RowStorage:
    """The fineness with which the numbers of a row are stored: that of each of the first ones, and of the finest.

    Attributes
    ----------
    names : sequence of str
        Of the features, as many as numbers are looked at and one more.
    """

    names: Sequence[str]
    representation: bool = True

    @classmethod
    def of(cls, rows: Reals) -> RowStorage:
        """Return the group for rows of this width."""
        each = [f"exponent of the lowest bit of element {j}" for j in range(min(rows.shape[1], MOST_STORED))]
        return cls((*each, "exponent of the lowest bit of the finest element"))

    def column(self, rows: Reals, j: int) -> Cells:
        """Return one feature of each row."""
        last = len(self.names) - 1
        found, _ = _lowest_bits(usual(rows[:, :last] if j == last else rows[:, j : j + 1]))
        finest: Cells = np.where(found == 0, NO_BIT, found).min(axis=1)
        return finest

    def cell(self, j: int, code: int) -> int | str:
        """Return the exponent."""
        return "none" if code == NO_BIT else code - LOWEST


def _lowest_bits(finite: Reals) -> tuple[Cells, Cells]:
    """Return the exponent of the lowest bit of each number plus `LOWEST` (0 for zero), and the zeros below it."""
    exponent, _, zeros = stored(finite)
    shown = np.where(finite == 0, 0, exponent - DIGITS + zeros + LOWEST)
    return shown, np.where(finite == 0, 0, zeros)


@dataclass(frozen=True)
class Mantissa:
    """The 52 stored bits of the mantissa, from the lowest."""

    names: Sequence[str] = field(default=tuple(f"mantissa bit {j}" for j in range(MANTISSA)))
    representation: bool = True

    def column(self, values: Reals, j: int) -> Cells:
        """Return a bit of each value."""
        return ((np.ascontiguousarray(values).view(np.uint64) >> np.uint64(j)) & np.uint64(1)).astype(np.int64)

    def cell(self, j: int, code: int) -> int:
        """Return the bit."""
        return code
