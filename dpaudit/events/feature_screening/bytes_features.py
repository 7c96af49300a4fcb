"""Features of bytes: their length, bytes and bits by position, and the numbers that several bytes form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpaudit.events.feature_screening.groups import Cells, interval, quantile_cells, quantile_edges
from dpaudit.events.feature_screening.text import NEAR

__all__ = ["OctetBits", "OctetNumbers", "Octets"]

WORD = 8
"""Bytes that form a number."""


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


@dataclass(frozen=True, eq=False)  # arrays have no one truth value
class OctetNumbers:
    """The numbers that up to eight bytes form, each byte that varies being the highest of them; 0 beyond the bytes.

    Attributes
    ----------
    highest : tuple of (int, bool)
        The place of the highest byte, from the end where it is negative, and whether lower ones stand before it.
    edges : tuple of array
        Cuts of each number.
    """

    highest: tuple[tuple[int, bool], ...]
    edges: tuple[NDArray[np.float64], ...]
    representation: bool = False

    @classmethod
    def of(cls, values: Sequence[bytes]) -> OctetNumbers:
        """Return the group for bytes like these; where all are as long, places from the end are others already."""
        lengths = set(map(len, values))
        near = min(NEAR, max(lengths, default=0))
        places = [*range(near), *(range(-1, -1 - near, -1) if len(lengths) > 1 else ())]
        varying = [at for at in places if len({value[at : at + 1 or None] for value in values}) > 1]
        highest = tuple((at, little) for at in varying for little in (False, True))
        return cls(highest, tuple(quantile_edges(_numbers(values, *one)) for one in highest))

    @cached_property
    def names(self) -> Sequence[str]:
        """The names of the features."""
        places = [f"{at} from the start" if at >= 0 else f"{-1 - at} from the end" for at, _ in self.highest]
        return [
            f"little-endian number up to byte {place}" if little else f"big-endian number from byte {place}"
            for place, (_, little) in zip(places, self.highest, strict=True)
        ]

    def real(self, values: Sequence[bytes], j: int) -> NDArray[np.float64]:
        """Return one number of each value."""
        return _numbers(values, *self.highest[j])

    def column(self, values: Sequence[bytes], j: int) -> Cells:
        """Return the cell of one number."""
        return quantile_cells(self.edges[j], self.real(values, j))

    def cell(self, j: int, code: int) -> str:
        """Return the interval."""
        return interval(self.edges[j], code)


def _numbers(values: Sequence[bytes], highest: int, little: bool) -> NDArray[np.float64]:
    """Return the numbers of the bytes from one place on, or, if `little`, up to it."""
    if highest < 0:
        values, highest, little = [value[::-1] for value in values], -1 - highest, not little
    if little:
        low, high = max(0, highest + 1 - WORD), highest + 1
        words = [value[low:high].ljust(high - low, b"\0").rjust(WORD, b"\0") for value in values]
    else:
        words = [value[highest : highest + WORD].ljust(WORD, b"\0") for value in values]
    return np.frombuffer(b"".join(words), dtype="<u8" if little else ">u8").astype(np.float64)
