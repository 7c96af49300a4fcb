"""Features of integers: bits, digits, residues, and the shape of their binary form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpaudit.events.feature_screening.groups import Cells
from dpaudit.events.float_bits import trailing_zeros
from dpaudit.outputs.whole_values import MOST_BITS, WholeValues

__all__ = ["Bits", "CheckDigits", "Digits", "Forms", "Residues"]

MODULI = (3, 5, 7, 9, 10, 11, 13, 16, 17, 19, 23, 29, 31, 64, 100)
CHECKED = (7, 9, 10, 11)
DIGITS = 19
"""As many as 64 bits hold."""
TOP = 8


@dataclass(frozen=True)
class Bits:
    """The lowest bits of the magnitude, and its leading eight.

    Attributes
    ----------
    width : int
        How many of the lowest bits vary.
    """

    width: int
    representation: bool = False

    @classmethod
    def of(cls, values: WholeValues) -> Bits:
        """Return the group for integers like these."""
        return cls(int(min(MOST_BITS, values.length.max(initial=0))))

    @cached_property
    def names(self) -> Sequence[str]:
        """The names of the features."""
        return [f"bit {j}" for j in range(self.width)] + [f"leading bit {j}" for j in range(1, min(TOP, self.width))]

    def column(self, values: WholeValues, j: int) -> Cells:
        """Return a bit of each value."""
        if j < self.width:
            return values.bit(j)
        return ((values.high >> np.uint64(63 - (j - self.width + 1))) & np.uint64(1)).astype(np.int64)

    def cell(self, j: int, code: int) -> int:
        """Return the bit."""
        return code


@dataclass(frozen=True)
class Residues:
    """Remainders of division by small moduli; of integers beyond 64 bits by exact arithmetic."""

    moduli: tuple[int, ...] = MODULI
    representation: bool = False

    @property
    def names(self) -> Sequence[str]:
        """The names of the features."""
        return [f"remainder by {modulus}" for modulus in self.moduli]

    def column(self, values: WholeValues, j: int) -> Cells:
        """Return the remainder of each value, in [0, modulus)."""
        modulus = self.moduli[j]
        if values.big is not None:
            return np.fromiter((value % modulus for value in values.big), np.int64, len(values))
        rest = (values.low % np.uint64(modulus)).astype(np.int64)
        return np.where(values.sign < 0, (modulus - rest) % modulus, rest)

    def cell(self, j: int, code: int) -> int:
        """Return the remainder."""
        return code


@dataclass(frozen=True)
class Digits:
    """Decimal digits of the magnitude, from the last."""

    count: int = DIGITS
    representation: bool = False

    @property
    def names(self) -> Sequence[str]:
        """The names of the features."""
        return [f"digit {j} from the end" for j in range(self.count)] + ["leading digit"]

    def column(self, values: WholeValues, j: int) -> Cells:
        """Return a digit of each value."""
        if j == self.count:
            real = np.abs(values.real)
            real = np.where((real >= 1) & np.isfinite(real), real, 1.0)
            return np.clip((real / 10.0 ** np.floor(np.log10(real))).astype(np.int64), 0, 9)
        if values.big is not None:
            return np.fromiter((abs(value) // 10**j % 10 for value in values.big), np.int64, len(values))
        return (values.low // np.uint64(10**j) % np.uint64(10)).astype(np.int64)

    def cell(self, j: int, code: int) -> int:
        """Return the digit."""
        return code


@dataclass(frozen=True)
class Forms:
    """The shape of an integer's binary form."""

    names: Sequence[str] = field(
        default=("sign", "bit length", "ones in the binary form", "parity of the ones", "trailing zeros",
                 "being a perfect square", "being a power of two")
    )  # fmt: skip
    representation: bool = False

    def column(self, values: WholeValues, j: int) -> Cells:
        """Return one form of each value."""
        if j == 0:
            return values.sign.astype(np.int64) + 1
        if j == 1:
            return values.length.astype(np.int64)
        if j in (2, 3):
            ones = _ones(values)
            return ones if j == 2 else ones & 1
        if j == 4:
            return trailing_zeros(values.low)
        if j == 5:
            return _square(values).astype(np.int64)
        return np.asarray(_ones(values) == 1, dtype=np.int64)

    def cell(self, j: int, code: int) -> int:
        """Return the number that the cell stands for; of the sign -1, 0 or 1."""
        return code - 1 if j == 0 else code


@dataclass(frozen=True)
class CheckDigits:
    """The last digits against the remainder of those before them: 0 for the usual check digits."""

    names: Sequence[str] = field(
        default=(*(f"check digit by {m}" for m in CHECKED), "check digits by 97", "check digit by Luhn's formula")
    )
    representation: bool = False

    def column(self, values: WholeValues, j: int) -> Cells:
        """Return how far the last digits are from what the others ask for."""
        if j > len(CHECKED):
            return _luhn(values)
        modulus, cut = (97, 100) if j == len(CHECKED) else (CHECKED[j], 10)
        if values.big is not None:
            found = ((abs(value) // cut % modulus - abs(value) % cut) % modulus for value in values.big)
            return np.fromiter(found, np.int64, len(values))
        rest, last = np.divmod(values.low, np.uint64(cut))
        return ((rest % np.uint64(modulus)).astype(np.int64) - last.astype(np.int64)) % modulus

    def cell(self, j: int, code: int) -> int:
        """Return the difference."""
        return code


def _luhn(values: WholeValues) -> Cells:
    """Return the sum of the digits, every second from the end doubled and cast out by nines, modulo 10."""
    rest = values.low.copy()
    total = np.zeros(len(values), dtype=np.int64)
    for place in range(20):
        rest, digit = np.divmod(rest, np.uint64(10))
        doubled = 2 * digit.astype(np.int64)
        total += np.where(doubled > 9, doubled - 9, doubled) if place % 2 else digit.astype(np.int64)
    return total % 10


def _square(values: WholeValues) -> NDArray[np.bool_]:
    """Say which values of at most 64 bits are perfect squares."""
    root = np.round(np.sqrt(values.low.astype(np.float64))).astype(np.uint64)
    found: NDArray[np.bool_] = np.logical_and.reduce([root * root == values.low, values.sign >= 0, values.length <= 64])
    return found


def _ones(values: WholeValues) -> Cells:
    """Return how many bits of the magnitude are 1."""
    if values.big is not None:
        return np.fromiter((abs(value).bit_count() for value in values.big), np.int64, len(values))
    counts: NDArray[np.int64] = np.unpackbits(values.low.view(np.uint8).reshape(-1, 8), axis=1).sum(1).astype(np.int64)
    return counts
