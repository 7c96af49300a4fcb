"""Hypotheses in plain words: what their `__str__` methods share."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction


def linear(terms: Iterable[tuple[int | Fraction, str]]) -> str:
    """Return a sum of (coefficient, name) without the terms that are zero; a name of no text makes a constant.

    >>> linear([(2, "x1"), (0, "x2"), (-1, "x3"), (-4, "")])
    '2 x1 - x3 - 4'
    """
    words = ""
    for coefficient, name in terms:
        if coefficient:
            size = "" if name and abs(coefficient) == 1 else str(abs(coefficient))
            if not words:
                sign = "-" if coefficient < 0 else ""
            else:
                sign = " - " if coefficient < 0 else " + "
            words += sign + " ".join(filter(None, (size, name)))
    return words or "0"
