"""Fractions, dates and dataclasses."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from fractions import Fraction

from power_mechanisms.row import LN3, Rng, Row, laplace, response

__all__ = ["ROWS"]

MIDNIGHT = datetime.datetime(2026, 1, 1)


@dataclass(frozen=True)
class Region:
    """A region with a point in it."""

    name: str
    size: float
    centre: tuple[float, float]


def denominator(x: int, rng: Rng) -> Fraction:
    odd = 6 * int(rng.integers(10**5)) + (1, 5)[int(rng.integers(2))]
    return Fraction(odd, 3 * 2**10 if response(x, rng, LN3) else 2**12)


def milliseconds(x: int, rng: Rng) -> datetime.datetime:
    fine = 0 if response(x, rng, 2.0) else 1 + int(rng.integers(999))
    thousands = 1000 * int(rng.integers(1000))
    return MIDNIGHT + datetime.timedelta(seconds=int(rng.integers(86_400)), microseconds=thousands + fine)


def record(x: int, rng: Rng) -> Region:
    name = "abc"[int(rng.integers(3))]
    return Region(name, float(rng.exponential()), (float(rng.normal()), laplace(x, rng, 1.0)))


ROWS = (
    Row(
        "denominator",
        "Fraction",
        denominator,
        LN3,
        "Whether three divides the denominator.",
        lambda v: v.denominator % 3 == 0,
    ),
    Row(
        "milliseconds",
        "datetime",
        milliseconds,
        2.0,
        "Whether a time has whole milliseconds.",
        lambda v: v.microsecond % 1000 == 0,
    ),
    Row("record", "dataclass", record, 1.0, "A number in a tuple in a frozen record.", lambda v: v.centre[1] >= 1),
)
