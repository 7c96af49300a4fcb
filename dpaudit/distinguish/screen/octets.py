"""Features of bytes: their length, and bytes and bits by position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpaudit.distinguish.screen.groups import Cells
from dpaudit.distinguish.screen.text import NEAR

__all__ = ["OctetBits", "Octets"]


@dataclass(frozen=True)
class Octets:
    """The length of bytes, and each byte from the start and from the end; 0 beyond them."""

    near: int
    representation: bool = False

    @classmethod
    def of(cls, values: Sequence[bytes]) -> Octets:
        """Return the group for bytes like these."""
        return cls(min(NEAR, max(map(len, values), default=0)))

    @cached_property
    def names(self) -> Sequence[str]:
        """The names of the features."""
        ends = [f"byte {j} from the {end}" for end in ("start", "end") for j in range(self.near)]
        return ["length", *ends]

    def column(self, values: Sequence[bytes], j: int) -> Cells:
        """Return the cell of one position, or the length."""
        if j == 0:
            return np.minimum(np.fromiter(map(len, values), np.int64, len(values)), 1024)
        at = j - 1 if j <= self.near else -1 - (j - 1 - self.near)
        need = at + 1 if at >= 0 else -at
        return np.fromiter((value[at] + 1 if len(value) >= need else 0 for value in values), np.int64, len(values))

    def cell(self, j: int, code: int) -> int | str:
        """Return the length or the byte."""
        return code if j == 0 else "none" if code == 0 else code - 1


@dataclass(frozen=True)
class OctetBits:
    """The bits of the bytes from the start and from the end, and of the XOR of all bytes."""

    near: int
    representation: bool = False

    @classmethod
    def of(cls, values: Sequence[bytes]) -> OctetBits:
        """Return the group for bytes like these."""
        return cls(min(NEAR, max(map(len, values), default=0)))

    @cached_property
    def names(self) -> Sequence[str]:
        """The names of the features."""
        places = [f"byte {j} from the {end}" for end in ("start", "end") for j in range(self.near)]
        return [f"bit {b} of {place}" for place in [*places, "the XOR of all bytes"] for b in range(8)]

    def column(self, values: Sequence[bytes], j: int) -> Cells:
        """Return one bit of each value; 2 where the byte is missing."""
        place, bit = divmod(j, 8)
        if place == 2 * self.near:
            totals = (int(np.bitwise_xor.reduce(np.frombuffer(value, np.uint8))) if value else 0 for value in values)
            return np.fromiter((total >> bit & 1 for total in totals), np.int64, len(values))
        at = place if place < self.near else -1 - (place - self.near)
        need = at + 1 if at >= 0 else -at
        return np.fromiter((value[at] >> bit & 1 if len(value) >= need else 2 for value in values), np.int64,
                           len(values))  # fmt: skip

    def cell(self, j: int, code: int) -> int | str:
        """Return the bit."""
        return "none" if code == 2 else code
