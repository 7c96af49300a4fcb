"""Parities of bits: every pair at once, and every linear relation over GF(2) that one side obeys exactly.

Bits of which each alone says nothing can leak together: a checksum, the XOR of two fields, the parity of twenty bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.events.feature_screening.features import ABSENT, Feature
from dpaudit.events.feature_screening.groups import Cells

__all__ = ["Parity", "parities"]

MOST_BITS = 512
SPARE = 24
"""Runs beyond the number of bits that a relation must hold on: by chance it would with probability 2^-SPARE."""
PAIRS = 4
RELATIONS = 4


@dataclass(frozen=True)
class Parity:
    """The parity of some bits of an output; `ABSENT` where the output lacks one of them.

    Attributes
    ----------
    bits : tuple of Feature
        Features with the cells 0 and 1.
    """

    bits: tuple[Feature, ...]
    representation: bool = False
    ordered: bool = False

    @property
    def name(self) -> str:
        """The name of the feature."""
        shown = ", ".join(bit.name for bit in self.bits[:4])
        return f"parity of {shown}" + (f" and {len(self.bits) - 4} bits more" if len(self.bits) > 4 else "")

    def __call__(self, outputs: Sequence[Any]) -> Cells:
        """Return the parity of each output."""
        columns = [bit(outputs) for bit in self.bits]
        missing = reduce(np.logical_or, [(column < 0) | (column > 1) for column in columns])
        return np.where(missing, ABSENT, reduce(np.bitwise_xor, columns))

    def cell(self, code: int) -> str | int:
        """Return the parity."""
        return "absent" if code == ABSENT else code


def parities(bits: Sequence[Feature], data: NDArray[np.uint8], neighbour: NDArray[np.uint8]) -> Iterator[Parity]:
    """Yield parities that tell the sides apart: pairs of bits, and longer relations that one side obeys.

    Parameters
    ----------
    bits : sequence of Feature
        Binary features.
    data, neighbour : array of 0 and 1, shapes (m, bits) and (k, bits)
        Their training values on the two sides.
    """
    bits, data, neighbour = bits[:MOST_BITS], data[:, :MOST_BITS], neighbour[:, :MOST_BITS]
    for i, j in _pairs(data, neighbour):
        yield Parity((bits[i], bits[j]))
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
    return [(int(at // len(gap)), int(at % len(gap))) for at in best]


def _broken_relations(obeying: NDArray[np.uint8], other: NDArray[np.uint8]) -> list[list[int]]:
    """Return the sets of bits whose parity is constant on one side and differs most on the other."""
    n, width = obeying.shape
    rows = min(n, width + 1 + SPARE)
    if rows < width + 1 + SPARE:
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
