"""Parities of bits: pairs, those of any number of a few bits, and linear relations over GF(2) that one side obeys.

Bits of which each alone shows nothing can leak together, as a checksum or the XOR of two fields.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.events.cells import to_grid
from dpaudit.events.feature_screening.feature import ABSENT, CellNumbers, Feature

MOST_BITS = 512
TOGETHER = 16
"""Bits of which all parities are compared at once."""
GROUPED = 64
"""Bits, from the first, that are taken in groups of so many."""
SPARE = 24
"""Runs beyond the number of bits that a relation must hold on: by chance it would with probability 2^-SPARE."""
PAIRS = 4
RELATIONS = 4


@dataclass(frozen=True)
class Parity:
    """The parity of some bits of an output, features of cells 0 and 1; `ABSENT` where the output lacks one of them."""

    bits: tuple[Feature, ...]
    representation: bool = False
    ordered: bool = False
    kind: str = "parity"

    @property
    def name(self) -> str:
        """The name of the feature."""
        more = f" and {len(self.bits) - 4} bits more" if len(self.bits) > 4 else ""
        return f"parity of {', '.join(bit.name for bit in self.bits[:4])}{more}"

    def __call__(self, outputs: Sequence[Any]) -> CellNumbers:
        """Return the parity of each output."""
        columns = [bit(outputs) for bit in self.bits]
        missing = reduce(np.logical_or, [(column < 0) | (column > 1) for column in columns])
        return np.where(missing, ABSENT, reduce(np.bitwise_xor, columns))

    def cell(self, code: int) -> str | int:
        """Return the parity."""
        return "absent" if code == ABSENT else code


def parities(bits: Sequence[Feature], data: NDArray[np.uint8], neighbour: NDArray[np.uint8]) -> Iterator[Parity]:
    """Yield parities that differ between the sides: pairs, any number of a few bits, and relations that one side obeys.

    Of the features `bits` the training values on the two sides are given, each 0 or 1, shapes (m, bits) and (k, bits).
    """
    bits, data, neighbour = bits[:MOST_BITS], data[:, :MOST_BITS], neighbour[:, :MOST_BITS]
    for i, j in _pairs(data, neighbour):
        yield Parity((bits[i], bits[j]))
    for start in range(0, min(GROUPED, len(bits)), TOGETHER):
        group = slice(start, start + TOGETHER)
        for chosen in _of_few(data[:, group], neighbour[:, group]):
            yield Parity(tuple(bits[start + i] for i in chosen))
    for left, right in ((data, neighbour), (neighbour, data)):
        for relation in _broken_relations(left, right):
            yield Parity(tuple(bits[i] for i in relation))


def _pairs(data: NDArray[np.uint8], neighbour: NDArray[np.uint8]) -> list[tuple[int, int]]:
    """Return the pairs of bits whose XOR differs most between the sides: one matrix product a side gives all."""
    if data.shape[1] < 2:
        return []
    means = []
    for side in (data, neighbour):
        signs = 1.0 - 2.0 * side.astype(np.float32)
        means.append(signs.T @ signs / len(side))
    gap = np.triu(np.abs(means[0] - means[1]), 1)
    best = np.argsort(gap, axis=None, kind="stable")[::-1][:PAIRS]
    return [divmod(at, len(gap)) for at in best.tolist()]


def _of_few(data: NDArray[np.uint8], neighbour: NDArray[np.uint8]) -> list[list[int]]:
    """Return the sets of three bits and more whose parity differs most: a Walsh-Hadamard transform a side gives all."""
    width = data.shape[1]
    if width < 3:
        return []
    weights = 1 << np.arange(width)
    shares = [np.bincount(side @ weights, minlength=1 << width) / len(side) for side in (data, neighbour)]
    gap = shares[0] - shares[1]
    for j in range(width):
        low, high = np.moveaxis(gap.reshape(-1, 2, 1 << j), 1, 0)
        gap = np.stack([low + high, low - high], axis=1).ravel()
    ones = np.unpackbits(np.arange(len(gap), dtype="<u4").view(np.uint8).reshape(-1, 4), axis=1).sum(axis=1)
    gap = to_grid(np.where(ones >= 3, np.abs(gap), 0.0))
    best = np.argsort(-gap, kind="stable")[:RELATIONS]
    return [[i for i in range(width) if at >> i & 1] for at in best.tolist() if gap[at] > 0]


def _broken_relations(obeying: NDArray[np.uint8], other: NDArray[np.uint8]) -> list[list[int]]:
    """Return the sets of bits whose parity is constant on one side and differs most on the other."""
    n, width = obeying.shape
    rows = width + 1 + SPARE
    if n < rows:
        return []
    relations = []
    for combination in _null_space(obeying[:rows]):
        chosen = [i for i in range(width) if combination >> i & 1]
        if len(chosen) < 2:
            continue
        whole, broken = (np.bitwise_xor.reduce(side[:, chosen], axis=1).mean() for side in (obeying, other))
        gap = abs(float(whole) - float(broken))
        if gap > 0.1:
            relations.append((gap, chosen))
    relations.sort(key=lambda item: (-item[0], len(item[1])))
    return [chosen for _, chosen in relations[:RELATIONS]]


def _null_space(rows: NDArray[np.uint8]) -> Iterator[int]:
    """Yield a basis of the combinations of columns (as bit masks) whose parity is the same in every row."""
    count = len(rows)
    ones = (1 << count) - 1
    packed = np.packbits(rows.T, axis=1, bitorder="little")
    columns = [int.from_bytes(row.tobytes(), "little") & ones for row in packed]
    # The constant column comes first: a combination that equals it is constant too.
    basis: dict[int, tuple[int, int]] = {ones.bit_length() - 1: (ones, 0)}
    for i, column in enumerate(columns):
        vector, combination = column, 1 << i
        while vector:
            lead = vector.bit_length() - 1
            if lead not in basis:
                basis[lead] = (vector, combination)
                break
            vector ^= basis[lead][0]
            combination ^= basis[lead][1]
        if not vector:
            yield combination
