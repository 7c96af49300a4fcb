"""Names of the types of arrays, and sums by equal rows."""

from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Exact = Integers | NDArray[np.object_]
"""int64, or Python integers in an object array where numbers or their products could pass int64."""
Sums = NDArray[np.int16 | np.int32 | np.int64]
"""The shortest of these integers that hold all sums of a table."""
Labels = NDArray[np.uint8]
"""Zeros and ones, as of points labelled by a hypothesis."""
Words = NDArray[np.uint64]

N = TypeVar("N", np.int64, np.float64)
S = TypeVar("S", np.int64, np.object_)


def as_exact(values: ArrayLike, wide: bool) -> Exact:
    """Return integers as an array of Python's if `wide`, of int64 otherwise."""
    if wide:
        return np.asarray(values, dtype=np.object_)
    return np.asarray(values, dtype=np.int64)


def summed(rows: NDArray[S], weights: Integers) -> tuple[NDArray[S], Integers]:
    """Return the distinct rows (numbers, or rows of a table) in order, and the sum of the weights of each."""
    # With an axis, integers of Python in an object array cannot be compared.
    distinct, place = np.unique(rows, axis=0 if rows.ndim > 1 else None, return_inverse=True)
    sums = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(sums, place.reshape(-1), weights)
    return distinct, sums


def tallied(values: Sums | Labels, counts: Integers | None = None) -> tuple[Integers, Integers]:
    """Return the distinct values, increasing, and how often each occurs, or the sum of its counts, below 2^53 in all.

    By counting where their range is small, which takes no sorting.
    """
    if not len(values):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    low = int(values.min())
    if int(values.max()) - low > 4 * len(values):
        return summed(values.astype(np.int64), np.ones(len(values), dtype=np.int64) if counts is None else counts)
    # `bincount` sums weights as floats, exact below 2^53.
    sums = np.bincount(np.subtract(values, low, dtype=np.int64), weights=counts)
    occurring = np.flatnonzero(sums)
    return occurring + low, sums[occurring].astype(np.int64)


def byte_sums(weights: NDArray[N]) -> NDArray[N]:
    """Return (bytes * 256,): for each byte of `packbits` and each of its values, the weight of the points it holds."""
    padded = np.concatenate([weights, np.zeros(-len(weights) % 8, dtype=weights.dtype)]).reshape(-1, 8)
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(weights.dtype)
    return np.asarray((padded @ bits.T).ravel())


def weighed(packed: Bytes, sums: NDArray[N]) -> NDArray[N]:
    """Return the weight of the points that each row of packed points (rows, bytes) holds."""
    found = np.zeros(len(packed), dtype=sums.dtype)
    offsets = 256 * np.arange(packed.shape[1])
    # In blocks of rows: the table entries of all bytes at once would be 8 times the packed points.
    step = max(1, 2**20 // max(1, packed.shape[1]))
    for start in range(0, len(packed), step):
        found[start : start + step] = np.take(sums, packed[start : start + step] + offsets).sum(axis=1)
    return found


def packed_rows(flags: Bools | Labels | Integers) -> Bytes:
    """Return flags, eight a byte as `packbits` does, in rows of whole words of 64."""
    padding = np.zeros((*flags.shape[:-1], -flags.shape[-1] % 64), dtype=np.bool_)
    return np.packbits(np.concatenate([flags.astype(np.bool_), padding], axis=-1), axis=-1)


# Up to so many bits of weights are counted one after the other.
MOST_PLANES = 6


class PackedSums:
    """Sums of the weights of points that are packed, eight a byte.

    Bits are counted where the weights, divided by what all have in common, have few of them, and NumPy can count;
    else each byte is looked up in a table.
    """

    def __init__(self, weights: Integers) -> None:
        whole: Integers = weights.astype(np.int64)
        self._unit = max(1, int(np.gcd.reduce(whole, initial=0)))
        whole = np.concatenate([whole // self._unit, np.zeros(-len(whole) % 64, dtype=np.int64)])
        heavy = np.flatnonzero(whole) // 64
        # Words before the first and after the last point of any weight are never looked at.
        self._words = slice(int(heavy.min(initial=0)), int(heavy.max(initial=-1)) + 1)
        planes = range(int(whole.max(initial=0)).bit_length())
        self._planes = [packed_rows(whole >> bit & 1).view(np.uint64)[self._words] for bit in planes]
        # NumPy before 2.0 has no count of bits.
        counted = len(planes) <= MOST_PLANES and hasattr(np, "bitwise_count")
        if counted:
            self._table = None
        else:
            self._table = byte_sums(whole[64 * self._words.start : 64 * self._words.stop])

    def of(self, packed: Bytes) -> Integers:
        """Return the weight of each row of `packed_rows`."""
        words = packed.view(np.uint64)[:, self._words]
        if self._table is not None:
            return np.asarray(weighed(np.ascontiguousarray(words).view(np.uint8), self._table) * self._unit)
        total = np.zeros(len(packed), dtype=np.int64)
        for bit, plane in enumerate(self._planes):
            total += np.add.reduce(np.bitwise_count(words & plane), axis=1, dtype=np.int64) << bit
        return total * self._unit
