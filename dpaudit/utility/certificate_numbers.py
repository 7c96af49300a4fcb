"""Reading of the numbers of a certificate, which may stem from a file, and terms that several proofs share."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from dpaudit.utility.decimals import ONE, Enclosure
from dpaudit.utility.problem import SLACK

Numbers = Mapping[str, int | float]


def count(numbers: Numbers, name: str, least: int, most: int | None = None) -> int:
    """Return an integer in a range."""
    value = numbers[name]
    if not isinstance(value, int) or value < least:
        raise ValueError(f"{name} must be an integer >= {least}, got {value!r}")
    if most is not None and value > most:
        raise ValueError(f"{name} must be at most {most}, got {value!r}")
    return value


def positive(numbers: Numbers, name: str) -> Fraction:
    """Return a positive number."""
    value = Fraction(numbers[name])
    if value <= 0:
        raise ValueError(f"{name} must be positive, got {value}")
    return value


def share(numbers: Numbers, name: str) -> Fraction:
    """Return a number strictly between 0 and 1."""
    value = Fraction(numbers[name])
    if not 0 < value < 1:
        raise ValueError(f"{name} must be between 0 and 1, got {float(value)}")
    return value


def mass_above(numbers: Numbers, alpha: Fraction) -> Fraction:
    """Return the error of the case's rivals, which must count as a failure."""
    mass = Fraction(numbers["mass"])
    if not alpha * (1 + Fraction(SLACK)) < mass < 1:
        raise ValueError(f"mass must be above alpha and below 1, got {float(mass)}")
    return mass


def odds_to_chance(total: Enclosure) -> Enclosure:
    """Return B/(1 + B)."""
    return total / (ONE + total)


def drops(rate: Fraction, most: int = 4) -> list[Enclosure]:
    """Return 1 - exp(-i rate) for i = 0 .. `most`."""
    return [1 - power for power in Enclosure.exp(-rate).powers(most)]


def kept(share: Fraction, drop: Enclosure) -> Enclosure:
    """Return 1 - share * drop: the mean of exp(-rate) to the number of times that one example hits a share."""
    return 1 - share * drop
