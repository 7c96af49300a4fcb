"""Fingerprints of outputs, which workers return so that values that several of them return can be counted."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import InputError
from dpaudit.jsonable import stable_repr
from dpaudit.outputs.canonical import Raised, canonical
from dpaudit.outputs.types import Array, Batch

# Numbers of a row that a fingerprint is made of, at most.
COLUMNS = 64

Fingerprints: TypeAlias = NDArray[np.uint64]
# The worker that made some runs, and for each input the fingerprints of some outputs.
Sketch: TypeAlias = tuple[str, tuple[tuple[str, Fingerprints], ...]]


def fingerprints(outputs: Batch, share: float) -> Fingerprints:
    """Return the least fingerprints of outputs, those in a `share` of the range that fingerprints have.

    Equal outputs have equal fingerprints in every process, so that each worker keeps the same values. Exceptions, which
    are alike by nature, have none.
    """
    numbers = _numbers(outputs)
    found = _of_labels(outputs) if numbers is None else _of_numbers(numbers)
    # By their values, and not by their places, so that all workers keep the same values.
    if share >= 1:
        return found
    return found[found < np.uint64(int(share * 2.0**64))]


def _numbers(outputs: Batch) -> Array | None:
    """Return numbers, or rows of numbers of one length, as an array; None if outputs are something else."""
    array = _as_array(outputs)
    if array is None or array.dtype.kind not in "biuf" or array.dtype.itemsize > 8 or array.ndim not in (1, 2):
        return None
    return array


def _as_array(outputs: Batch) -> Array | None:
    if isinstance(outputs, np.ndarray):
        return outputs
    if not len(outputs) or not all(isinstance(one, int | float | np.number | np.ndarray) for one in outputs):
        return None
    try:
        return np.array(outputs)
    # Rows of several lengths, or integers of many digits.
    except (ValueError, OverflowError):
        return None


def _of_numbers(numbers: Array) -> Fingerprints:
    kind = np.dtype(np.float64) if numbers.dtype.kind == "f" else np.dtype(np.int64)
    values = numbers.astype(kind)
    rows = values.reshape(len(values), -1)[:, :COLUMNS].view(np.uint64)
    found: Fingerprints = np.full(len(rows), np.uint64(rows.shape[1]))
    for column in rows.T:
        found = _mixed(found ^ column)
    return found


def _mixed(words: Fingerprints) -> Fingerprints:
    """Return words whose bits depend on all bits of given ones, one to one (the finaliser of SplitMix64)."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def _of_labels(outputs: Batch) -> Fingerprints:
    return np.array(list(_digests(outputs)), dtype=np.uint64)


def _digests(outputs: Batch) -> Iterator[int]:
    for output in outputs:
        if isinstance(output, Raised):
            continue
        try:
            label = stable_repr(canonical(output))
        except InputError:
            continue
        yield int.from_bytes(hashlib.blake2b(label.encode(), digest_size=8).digest(), "big")
