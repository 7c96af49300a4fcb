"""Kinds of outputs in which a leak of any shape can be planted, for `scripts/bench.py power_statements`."""

from __future__ import annotations

import datetime
import enum
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri

__all__ = ["ATOM", "KINDS", "RARE", "Kind"]

Rng: TypeAlias = np.random.Generator

ATOM = -1.0
RARE = -2.0
"""The places of outputs that are the atom, and of those with one key, entry or type more."""
FIXED = 0.6
"""The place of the atom among the others, where there is an order."""
MIDNIGHT = datetime.datetime(2026, 1, 1)


class Colour(enum.Enum):
    """A colour; grey is the atom, and none the rare one."""

    RED = 0
    GREEN = 1
    BLUE = 2
    WHITE = 3
    GREY = 4
    NONE = 5


@dataclass(frozen=True)
class Visit:
    """A visit, with the number that may leak and another one."""

    age: float
    cost: float
    note: str = ""


@dataclass(frozen=True)
class Kind:
    """A kind of output.

    Parameters
    ----------
    render : callable
        ``(place, rng) -> output``: increasing in the place, a number in [0, 1), or at least different for different
        places; the rest of the output is noise.
    rare : callable
        ``rng -> output``: one that no place gives, by its form.
    atom : callable, optional
        ``rng -> output``: one that no place gives, of the same form; by default that of a fixed place.
    ordered : bool
        Whether outputs follow the place, so that tails and shifts can be seen.
    """

    render: Callable[[float, Rng], Any]
    rare: Callable[[Rng], Any]
    atom: Callable[[Rng], Any] | None = None
    ordered: bool = True

    def output(self, place: float, rng: Rng) -> Any:
        """Return the output of a place, or of `ATOM` or `RARE`."""
        if place == RARE:
            return self.rare(rng)
        if place == ATOM:
            return self.atom(rng) if self.atom else self.render(FIXED, rng)
        return self.render(place, rng)


def laplace(place: float) -> float:
    """Return the quantile of the Laplace law; its ends are cut at 2^-40."""
    tail = max(min(place, 1 - place), 2.0**-40)
    return float(np.sign(place - 0.5) * -np.log(2 * tail))


def normal(rng: Rng, size: int) -> list[float]:
    values: list[float] = rng.normal(size=size).tolist()
    return values


def wide(place: float, rng: Rng, width: int, index: int) -> NDArray[np.float64]:
    """Return an array of noise with the number that may leak at an index."""
    values = rng.normal(size=width)
    values[index] = laplace(place)
    return values


def of_length(place: float, rng: Rng) -> list[float]:
    return [laplace(place), *normal(rng, int(rng.poisson(3)))]


def stamped(place: float, rng: Rng) -> bytes:
    """Return eight random bytes and four that hold the place."""
    return rng.bytes(8) + int(place * 2**32).to_bytes(4, "big")


def framed(place: float, rng: Rng, columns: str) -> pd.DataFrame:
    return pd.DataFrame({column: [laplace(place), *normal(rng, 2)] for column in columns})


KINDS: dict[str, Kind] = {
    "int": Kind(lambda u, rng: round(1000 * laplace(u)), lambda rng: None),
    "digit": Kind(lambda u, rng: int(10 * u), lambda rng: None, atom=lambda rng: 10, ordered=False),
    "Laplace": Kind(lambda u, rng: laplace(u), lambda rng: None),
    "Gauss": Kind(lambda u, rng: float(ndtri(min(max(u, 2.0**-40), 1 - 2.0**-40))), lambda rng: None),
    "tuple of five": Kind(
        lambda u, rng: (*normal(rng, 3), laplace(u), *normal(rng, 1)), lambda rng: tuple(normal(rng, 6))
    ),
    "dict of three": Kind(
        lambda u, rng: dict(zip("abc", (*normal(rng, 2), laplace(u)), strict=True)),
        lambda rng: dict(zip("abcd", normal(rng, 4), strict=True)),
    ),
    "nested": Kind(
        lambda u, rng: {"meta": (1, "x"), "rows": [(*normal(rng, 1), [laplace(u)])]},
        lambda rng: {"meta": (1, "x"), "rows": [(*normal(rng, 1), normal(rng, 2))]},
    ),
    "array of 5": Kind(lambda u, rng: wide(u, rng, 5, 2), lambda rng: rng.normal(size=6)),
    "array of 100": Kind(lambda u, rng: wide(u, rng, 100, 57), lambda rng: rng.normal(size=101)),
    "list": Kind(of_length, lambda rng: [*normal(rng, 2), None]),
    "text": Kind(
        lambda u, rng: f"job {rng.integers(10**6):06d} took {laplace(u):+.4f} s",
        lambda rng: f"job {rng.integers(10**6):06d} failed",
    ),
    "bytes": Kind(stamped, lambda rng: rng.bytes(13)),
    "enum": Kind(
        lambda u, rng: Colour(int(4 * u)), lambda rng: Colour.NONE, atom=lambda rng: Colour.GREY, ordered=False
    ),
    "dataclass": Kind(
        lambda u, rng: Visit(rng.normal(), laplace(u)), lambda rng: Visit(rng.normal(), rng.normal(), "late")
    ),
    "Fraction": Kind(
        lambda u, rng: Fraction(int(u * 2**30), 2**30), lambda rng: Fraction(int(rng.integers(1, 99)), 101)
    ),
    "datetime": Kind(lambda u, rng: MIDNIGHT + datetime.timedelta(seconds=laplace(u)), lambda rng: MIDNIGHT.date()),
    "DataFrame": Kind(lambda u, rng: framed(u, rng, "ab"), lambda rng: framed(rng.random(), rng, "abc")),
}
