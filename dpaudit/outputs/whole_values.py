"""Integers of any size as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_BITS", "WholeValues"]

MOST_BITS = 4096
"""Integers are looked at by so many of their lowest bits, and by their leading bits, sign, length and residues."""

_WORD = (1 << 64) - 1


@dataclass(frozen=True)
class WholeValues:
    """Integers of any size as arrays.

    Attributes
    ----------
    low : array of uint64
        The lowest 64 bits of the magnitude.
    high : array of uint64
        The highest 64 bits of the magnitude, shifted to the top.
    sign : array of int8
        -1, 0 or 1.
    length : array of int32
        Bits of the magnitude.
    real : array of float64
        The value, rounded; infinite beyond the range.
    big : list of int or None
        The integers themselves where some have more than 63 bits.
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
    def of(cls, values: Sequence[Any] | NDArray[Any]) -> WholeValues:
        """Return integers or Booleans as arrays."""
        try:
            if isinstance(values, np.ndarray):
                if values.dtype.kind == "u" and values.dtype.itemsize == 8 and (values > np.iinfo(np.int64).max).any():
                    raise OverflowError
                small = values.astype(np.int64)
            else:
                small = np.fromiter(values, np.int64, len(values))
        except OverflowError:
            return _big(list(map(int, values)))
        magnitude = np.abs(small).view(np.uint64) if len(small) else np.zeros(0, np.uint64)
        length = _bit_length(magnitude)
        high = magnitude << np.minimum(64 - length, 63).astype(np.uint64)
        return cls(magnitude, high, np.sign(small).astype(np.int8), length, small.astype(np.float64))

    def bit(self, place: int) -> NDArray[np.int64]:
        """Return one of the lowest `MOST_BITS` bits of each magnitude."""
        if place < 64:
            return ((self.low >> np.uint64(place)) & np.uint64(1)).astype(np.int64)
        octets = self._octets
        if place >= 8 * octets.shape[1]:
            return np.zeros(len(self), dtype=np.int64)
        return (octets[:, place // 8] >> (place % 8) & 1).astype(np.int64)

    @cached_property
    def _octets(self) -> NDArray[np.uint8]:
        """The magnitudes' lowest bytes, the lowest first."""
        width = min(MOST_BITS, int(self.length.max(initial=0)) + 7) // 8
        if self.big is None:
            return np.zeros((len(self), 0), dtype=np.uint8)
        cut = (1 << 8 * width) - 1
        joined = b"".join([(abs(value) & cut).to_bytes(width, "little") for value in self.big])
        return np.frombuffer(joined, dtype=np.uint8).reshape(len(self), width)


def _big(values: list[int]) -> WholeValues:
    """Return integers of which some need more than 63 bits."""
    magnitudes = [abs(value) for value in values]
    length = np.array([value.bit_length() for value in magnitudes], dtype=np.int32)
    low = np.array([value & _WORD for value in magnitudes], dtype=np.uint64)
    high = np.array([(m << 64 >> n) & _WORD if n else 0 for m, n in zip(magnitudes, length.tolist(), strict=True)],
                    dtype=np.uint64)  # fmt: skip
    sign = np.array([(value > 0) - (value < 0) for value in values], dtype=np.int8)
    return WholeValues(low, high, sign, length, np.array([_as_float(value) for value in values]), values)


def _as_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf


def _bit_length(magnitude: NDArray[np.uint64]) -> NDArray[np.int32]:
    """Return how many bits each number has."""
    length = np.frexp(magnitude.astype(np.float64))[1].astype(np.int32)
    # Rounding to a float may carry into the next power of two.
    over = (length > 0) & (magnitude >> np.maximum(length - 1, 0).astype(np.uint64) == 0)
    return np.asarray(length - over.astype(np.int32), dtype=np.int32)
