"""Readers: how the values at the end of a path become an array that features are computed from.

Each reader looks at one value at a time, with widths and categories that were fixed in training. Integers of any size
become `WholeValues`; in rows of numbers, finite stand-ins take the places of what is missing, infinite or no number.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice, repeat
from math import prod
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.jsonable import stable_repr
from dpaudit.naming import Name
from dpaudit.outputs.objects import stored_entries
from dpaudit.outputs.shared import Shared, counted
from dpaudit.outputs.types import Array, Batch, Sparse, Values

Rows = NDArray[np.float64]

# Stands for an element that a shorter output does not have.
MISSING = -1.1e300
# Stand for NaN and the infinities in rows of numbers.
NAN = -1.2e300
PLUS = 1.3e300
MINUS = -1.3e300
# Numbers of this magnitude and above are stand-ins.
LIMIT = 1e300


def finite(values: Rows) -> Rows:
    """Return numbers with stand-ins for NaN and the infinities; the same array if there are none."""
    if np.isfinite(values).all():
        return values
    # Fitted scores and sums of columns need finite numbers; stand-ins keep what was there apart.
    found: Rows = np.nan_to_num(values, nan=NAN, posinf=PLUS, neginf=MINUS)
    return found


def is_usual(values: Rows) -> NDArray[np.bool_]:
    """Say which numbers are numbers, neither missing nor infinite nor NaN."""
    return np.abs(values) < LIMIT


def usual(rows: Rows) -> Rows:
    """Return rows with 0 for what is missing, infinite or no number; the same array if nothing is."""
    # A maximum that is NaN is not below the limit.
    if np.abs(rows).max(initial=0) < LIMIT:
        return rows
    return np.where(is_usual(rows), rows, 0.0)


# Integers are read by so many of their lowest bits, and by their leading bits, sign, length and residues.
MOST_BITS = 4096

_WORD = (1 << 64) - 1


@dataclass(frozen=True)
class WholeValues:
    """Integers of any size as arrays: sign, bits of the magnitude, and the value rounded, infinite beyond the range.

    `low` are the lowest 64 bits of the magnitude, `high` the highest 64, shifted to the top. The integers themselves
    are in `big` where some have more than 63 bits.
    """

    low: NDArray[np.uint64]
    high: NDArray[np.uint64]
    sign: NDArray[np.int8]
    length: NDArray[np.int32]
    real: NDArray[np.float64]
    big: list[int] | None = None

    def __len__(self) -> int:
        return len(self.low)

    @classmethod
    def of(cls, values: Sequence[int] | Array) -> WholeValues:
        """Return integers or Booleans as arrays."""
        try:
            small = _in_63_bits(values)
        except OverflowError:
            return _big([int(value) for value in values])
        magnitude = np.abs(small).view(np.uint64)
        length = np.frexp(magnitude.astype(np.float64))[1].astype(np.int32)
        # Rounding to a float may carry into the next power of two.
        over = (length > 0) & (magnitude >> np.maximum(length - 1, 0).astype(np.uint64) == 0)
        length = np.asarray(length - over.astype(np.int32), dtype=np.int32)
        high = magnitude << np.minimum(64 - length, 63).astype(np.uint64)
        return cls(magnitude, high, np.sign(small).astype(np.int8), length, small.astype(np.float64))

    def bit(self, place: int) -> NDArray[np.int64]:
        """Return one of the lowest `MOST_BITS` bits of each magnitude."""
        # The arrays hold the lowest 64 bits of all; those above are read from the integers themselves.
        if place < 64:
            return ((self.low >> np.uint64(place)) & np.uint64(1)).astype(np.int64)
        low_bytes = self._low_bytes
        if place >= 8 * low_bytes.shape[1]:
            return np.zeros(len(self), dtype=np.int64)
        return (low_bytes[:, place // 8] >> (place % 8) & 1).astype(np.int64)

    @cached_property
    def _low_bytes(self) -> NDArray[np.uint8]:
        width = min(MOST_BITS, int(self.length.max(initial=0)) + 7) // 8
        if self.big is None:
            return np.zeros((len(self), 0), dtype=np.uint8)
        cut = (1 << 8 * width) - 1
        joined = b"".join([(abs(value) & cut).to_bytes(width, "little") for value in self.big])
        return np.frombuffer(joined, dtype=np.uint8).reshape(len(self), width)


def _in_63_bits(values: Sequence[int] | Array) -> NDArray[np.int64]:
    """Return integers as an array of NumPy; `OverflowError` is raised if one needs more bits."""
    if not isinstance(values, np.ndarray):
        return np.fromiter(values, np.int64, len(values))
    # NumPy would take these modulo 2^64.
    if values.dtype.kind == "u" and values.dtype.itemsize == 8:
        if np.greater(values, np.iinfo(np.int64).max).any():
            raise OverflowError
    return values.astype(np.int64)


def _big(values: list[int]) -> WholeValues:
    """Return integers as arrays, some of which need more than 63 bits."""
    magnitudes = [abs(value) for value in values]
    length = np.array([value.bit_length() for value in magnitudes], dtype=np.int32)
    low = np.array([value & _WORD for value in magnitudes], dtype=np.uint64)
    high = np.array([(m << 64 >> n) & _WORD if n else 0 for m, n in zip(magnitudes, length.tolist(), strict=True)],
                    dtype=np.uint64)  # fmt: skip
    sign = np.array([(value > 0) - (value < 0) for value in values], dtype=np.int8)
    return WholeValues(low, high, sign, length, np.array(list(map(_number, values))), values)


# The code of a category that did not occur in training.
OTHER = -1


def whole(values: Sequence[int] | Array) -> WholeValues:
    """Read integers and Booleans."""
    return WholeValues.of(values)


_NUMBERS = (int, float, np.number, np.bool_)


def real(values: Batch) -> Rows:
    """Read floats; what is no number becomes NaN: training may have seen numbers alone."""
    if isinstance(values, np.ndarray):
        return values.astype(np.float64)
    try:
        return np.fromiter(values, np.float64, len(values))
    except (TypeError, ValueError, OverflowError):
        return np.array([_number(value) if isinstance(value, _NUMBERS) else np.nan for value in values])


def text(values: Sequence[str]) -> list[str]:
    """Read text as it is."""
    if isinstance(values, list):
        return values
    return list(values)


def byte_string(values: Sequence[bytes]) -> list[bytes]:
    """Read bytes."""
    return [bytes(value) for value in values]


@dataclass(frozen=True)
class Block:
    """Reads sequences and arrays of numbers as rows of a fixed width; shorter ones are padded with `MISSING`.

    The `names` say what each number is, if they are more than elements.
    """

    width: int
    names: tuple[Name, ...] = ()

    def __call__(self, values: Batch) -> Rows:
        """Return the rows, shape (len(values), width)."""
        if not len(values):
            return np.zeros((0, self.width))
        try:
            rows = self._at_once(values)
        except (ValueError, TypeError, OverflowError):
            return self._slowly(values)
        rows = rows[:, : self.width]
        missing = self.width - rows.shape[1]
        if missing:
            return np.pad(rows, ((0, 0), (0, missing)), constant_values=MISSING)
        return rows

    def _at_once(self, values: Batch) -> Rows:
        """Return rows of one length, which may differ from the width; an exception is raised if they have several."""
        if isinstance(values, np.ndarray):
            return values.reshape(len(values), -1).astype(np.float64)
        if isinstance(values[0], np.ndarray):
            if not all(len(set(map(of, values))) == 1 for of in (attrgetter("shape"), attrgetter("dtype"))):
                raise ValueError("arrays of several shapes or types")
            return np.concatenate(values, axis=None).astype(np.float64).reshape(len(values), -1)
        if set(map(len, values)) == {self.width}:
            # One after the other: an array of lists takes half as long again.
            return np.fromiter(chain.from_iterable(values), np.float64).reshape(-1, self.width)
        return np.array(values, dtype=np.float64).reshape(len(values), -1)

    def _slowly(self, values: Batch) -> Rows:
        rows = np.full((len(values), self.width), MISSING)
        for row, value in zip(rows, values, strict=True):
            elements: Iterable[Any] = value
            if isinstance(value, np.ndarray):
                elements = value.ravel().tolist()
            flat = list(map(_number, islice(elements, self.width)))
            row[: len(flat)] = flat
        return rows


def _number(value: Any) -> float:
    """Return an element as a float; what is no number, or none of its range, is missing."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return MISSING
    except OverflowError:
        return np.inf if value > 0 else -np.inf


Category: TypeAlias = Callable[[Any], Hashable]
"""Maps a value to its category."""


@dataclass(frozen=True)
class Categories:
    """Reads a category of each value: a number for each that occurred in training, `OTHER` for the rest.

    `of` maps a value to a hashable category; it is None if values are categories themselves.
    """

    of: Category | None
    numbers: Mapping[Hashable, int]

    @classmethod
    def fit(cls, of: Category | None, values: Values, most: int) -> Categories:
        """Return a reader that numbers the commonest categories of some values."""
        counts = counted(of, values)
        common = sorted(counts, key=lambda category: (-counts[category], stable_repr(category)))[:most]
        return cls(of, {category: i for i, category in enumerate(common)})

    def __call__(self, values: Batch) -> NDArray[np.int64]:
        """Return the number of each value's category."""
        categories: Iterable[Hashable] = values if self.of is None else map(self.of, values)
        return np.fromiter(map(self.numbers.get, categories, repeat(OTHER)), np.int64, len(values))


def entries(value: Sparse) -> tuple[NDArray[np.int64], Array]:
    """Return the places in the flattened matrix of the stored entries, ascending, and their values."""
    # Ten times as fast as by coordinates.
    if value.format == "csr" and value.has_canonical_format:
        starts = value.indptr.astype(np.int64)
        rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        return rows * value.shape[-1] + value.indices[: starts[-1]], value.data[: starts[-1]]
    coordinates, held = stored_entries(value)
    flat = np.ravel_multi_index(tuple(place.astype(np.int64) for place in coordinates), value.shape)
    order = np.argsort(flat, kind="stable")
    return flat[order], held[order]


@dataclass(frozen=True)
class SparseRows(Block):
    """Reads sparse matrices of one shape as rows of all their numbers."""

    def __call__(self, values: Batch) -> Rows:
        """Return the rows, shape (len(values), width); of a matrix with more numbers the first ones."""
        rows = np.zeros((len(values), self.width))
        for row, value in zip(rows, values, strict=True):
            places, held = entries(value)
            if prod(value.shape) != self.width:
                row[prod(value.shape) :] = MISSING
                inside = places < self.width
                held = held[inside]
                places = places[inside]
            row[places] = held
        return rows


Reader: TypeAlias = Callable[[Any], Any]
"""A function of this module, or an object that is called like one; scores of events have readers of their own."""


def read(reader: Reader, values: Batch) -> Any:
    """Return what a reader makes of values; objects that many values share are read once."""
    if not isinstance(values, Shared):
        return reader(values)
    found = reader(values.objects)
    if isinstance(found, np.ndarray):
        return found[values.codes]
    return reader(list(values))


# Binary digits of a significand.
DIGITS = 53


def stored(values: NDArray[np.float64]) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """Return e, m and z where each value is +-m 2^(e - 53), m has 53 binary digits, and the last z of them are zeros.

    Values are finite; for zero, e and m are 0 and z is 64.
    """
    mantissa, exponent = np.frexp(values)
    significand = np.abs(np.ldexp(mantissa, DIGITS)).astype(np.int64)
    return exponent, significand, trailing_zeros(significand)


def trailing_zeros(whole: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the number of zeros that end the binary form of 64-bit integers; 64 for zero."""
    lowest = whole & (~whole + np.ones(1, whole.dtype))
    return np.where(lowest == 0, 64, np.frexp(lowest.astype(np.float64))[1] - 1).astype(np.int64)
