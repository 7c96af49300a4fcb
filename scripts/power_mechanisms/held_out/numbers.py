"""Numbers: single ones, decimals, spans of time, and lists of them."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal

from power_mechanisms.row import LN3, Rng, Row, geometric, on_grid, response

__all__ = ["ROWS"]


def sentinel(x: int, rng: Rng) -> float:
    """Return a noisy mean; with one record more, an internal mark escapes in one run of two hundred."""
    return -1.0 if x and rng.random() < 0.005 else on_grid(rng.normal(3, 2))


def signed_zero(x: int, rng: Rng) -> float:
    value = float(rng.normal())
    return value if value > 0 else math.copysign(0.0, 1 if response(x, rng, LN3) else -1)


def trailing_zero(x: int, rng: Rng) -> Decimal:
    price = Decimal(int(rng.integers(10**6))) / 10
    return price.quantize(Decimal("0.01" if response(x, rng, LN3) else "0.1"))


def span(x: int, rng: Rng) -> datetime.timedelta:
    return datetime.timedelta(hours=5, microseconds=geometric(10_000 * x, rng, 1e-4))


def place_of_none(x: int, rng: Rng) -> list[float | None]:
    """Return eight numbers, one of which is missing: the sixth with probability 0.4 instead of 1 / 8."""
    values: list[float | None] = [float(v) for v in rng.normal(size=8)]
    place = int(rng.integers(8))
    if x:
        place = 5 if rng.random() < 0.4 else (6 + int(rng.integers(7))) % 8
    values[place] = None
    return values


ROWS = (
    Row(
        "sentinel",
        "rare atom",
        sentinel,
        math.inf,
        "One run in two hundred returns -1.0 instead of a noisy mean.",
        lambda v: v == -1.0,
    ),
    Row(
        "signed zero",
        "float",
        signed_zero,
        LN3,
        "The sign of the zero that half of the runs return.",
        lambda v: v == 0 and math.copysign(1, v) > 0,
    ),
    Row(
        "trailing zero",
        "Decimal",
        trailing_zero,
        LN3,
        "Whether a decimal has a second digit, which is zero.",
        lambda v: v.as_tuple().exponent == -2,
    ),
    Row(
        "span",
        "timedelta",
        span,
        1.0,
        "A span of time with noise of ten milliseconds.",
        lambda v: v >= datetime.timedelta(hours=5, microseconds=10_000),
    ),
    Row(
        "place of None",
        "list",
        place_of_none,
        math.log(0.4 * 8),
        "Which of eight numbers is missing.",
        lambda v: v[5] is None,
    ),
)
