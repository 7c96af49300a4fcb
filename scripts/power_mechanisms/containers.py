"""Tuples, mappings whose keys vanish or change places, and nested lists."""

from __future__ import annotations

import math
from typing import Any

from power_mechanisms.row import LN3, Rng, Row, laplace, response

__all__ = ["ROWS"]


def fourth_of_five(x: int, rng: Rng) -> tuple[float, ...]:
    return tuple(laplace(x if i == 3 else 0, rng, 1.0) for i in range(5))


def parity_of_two(x: int, rng: Rng) -> tuple[int, int]:
    first = int(rng.integers(2**20))
    return first, 2 * int(rng.integers(2**19)) + (first + response(x, rng, 2.0)) % 2


def vanishing_key(x: int, rng: Rng) -> dict[str, float]:
    """Return the means of groups; a group that is too small is left out, and a larger one half of the time."""
    means = {"north": float(rng.normal(3)), "south": float(rng.normal(2))}
    return means | {"west": float(rng.normal(2))} if x and rng.random() < 0.5 else means


def key_order(x: int, rng: Rng) -> dict[str, float]:
    keys = ("yes", "no") if response(x, rng, 2.0) else ("no", "yes")
    return {key: float(rng.normal()) for key in keys}


def deep_sign(x: int, rng: Rng) -> dict[str, Any]:
    sign = 1 if response(x, rng, LN3) else -1
    return {
        "meta": {"n": int(rng.integers(100)), "version": "1.2"},
        "rows": [(float(rng.normal()), [float(rng.normal()), sign * (0.01 + float(rng.exponential()))])],
    }


ROWS = (
    Row("fourth of five", "tuple", fourth_of_five, 1.0, "The fourth of five noisy numbers.", lambda v: v[3] >= 1),
    Row(
        "parity of two",
        "tuple",
        parity_of_two,
        2.0,
        "Whether two random 20-bit numbers are both even or both odd.",
        lambda v: (v[0] + v[1]) % 2 == 1,
    ),
    Row("vanishing key", "dict", vanishing_key, math.inf, "A group vanishes from a mapping.", lambda v: "west" in v),
    Row(
        "key order",
        "dict",
        key_order,
        2.0,
        "The order in which two keys were put in.",
        lambda v: next(iter(v)) == "yes",
    ),
    Row(
        "deep sign",
        "nested",
        deep_sign,
        LN3,
        "The sign of a number three levels deep.",
        lambda v: v["rows"][0][1][1] > 0,
    ),
)
