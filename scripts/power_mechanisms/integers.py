"""Integers that are nearly unique and leak in their low or middle bits, residues, digits, or by overflow."""

from __future__ import annotations

import math

from power_mechanisms.row import LN3, Rng, Row, geometric, response

__all__ = ["ROWS"]


def low_bit(x: int, rng: Rng) -> int:
    return 2 * int(rng.integers(2**39)) + response(x, rng, LN3)


def middle_bit(x: int, rng: Rng) -> int:
    return int(rng.integers(2**24)) << 24 | x << 23 | int(rng.integers(2**23))


def residue(x: int, rng: Rng) -> int:
    return 97 * int(rng.integers(2**30)) + (52 if response(x, rng, 1.0) else 11)


def digit(x: int, rng: Rng) -> int:
    """Return twelve digits, the sixth of which is 7 with probability 0.3 instead of 0.1."""
    sixth = int(rng.integers(10)) if not x else 7 if rng.random() < 0.3 else (8 + int(rng.integers(9))) % 10
    return (int(rng.integers(10**5)) * 10 + sixth) * 10**6 + int(rng.integers(10**6))


def overflow(x: int, rng: Rng) -> int:
    """Return a sum in sixteen bits, a little below the greatest number: one record more or less turns its sign."""
    return (32_760 + 10 * x + geometric(0, rng, 0.1) + 2**15) % 2**16 - 2**15


ROWS = (
    Row("low bit", "int", low_bit, LN3, "The last bit of a random 40-bit number.", lambda n: n % 2 == 1),
    Row("middle bit", "int", middle_bit, math.inf, "Bit 23 of a random 48-bit number.", lambda n: n >> 23 & 1 == 1),
    Row("residue", "int", residue, 1.0, "The residue modulo 97 of a random 37-bit number.", lambda n: n % 97 == 52),
    Row("digit", "int", digit, LN3, "The sixth of twelve digits is a 7 too often.", lambda n: n // 10**6 % 10 == 7),
    Row(
        "overflow",
        "int",
        overflow,
        1.0,
        "A noisy sum in 16 bits, moved by 10, wraps to negative numbers.",
        lambda n: (n - 32_770) % 2**16 < 2**15,
    ),
)
