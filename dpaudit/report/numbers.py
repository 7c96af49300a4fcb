"""Numbers as text: rounding goes the safe way, and never hides on which side of a claim a number lies."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import Any

__all__ = ["count", "percent", "plural", "rate", "significant", "value_text"]

_ROUNDING = {"nearest": ROUND_HALF_EVEN, "down": ROUND_FLOOR, "up": ROUND_CEILING}


def significant(
    value: float,
    towards: str = "nearest",
    *,
    digits: int = 4,
    apart_from: float | None = None,
    error: float = 0.0,
    infinity: str = "inf",
) -> str:
    """Return a number >= 0 with `digits` significant digits, and more where they are needed to tell it from another.

    Parameters
    ----------
    value : float
        The number.
    towards : {"nearest", "down", "up"}
        Lower bounds are rounded down and upper bounds up.
    digits : int
        Significant digits; at most 17 are shown.
    apart_from : float, optional
        A number (a claim). What is shown lies on the same side of it as `value`, and on it if `value` is.
    error : float
        What `value` is uncertain by: if it is within that of `apart_from`, that is shown.
    infinity : str
        How infinity is written.
    """
    if math.isinf(value):
        return infinity
    if value == 0:
        return "0"
    if apart_from is not None and abs(value - apart_from) <= error:
        value = apart_from
    shown = Decimal(repr(float(value)))
    for places in range(digits, 18):
        rounded = shown.quantize(Decimal(1).scaleb(shown.adjusted() - places + 1), rounding=_ROUNDING[towards])
        if apart_from is None or _same_side(rounded, shown, Decimal(repr(float(apart_from)))):
            break
    return f"{rounded:f}" if -5 < rounded.adjusted() < 7 else f"{rounded:.{places - 1}e}"


def rate(value: float, towards: str = "nearest", *, beta: float) -> str:
    """Return a rate with at least one digit more than beta, always on the same side of beta as the rate itself."""
    shown, reference = Decimal(repr(float(value))), Decimal(repr(float(beta)))
    for places in range(max(3, 2 - reference.adjusted()), 18):
        rounded = shown.quantize(Decimal(1).scaleb(-places), rounding=_ROUNDING[towards])
        if _same_side(rounded, shown, reference):
            break
    return f"{rounded:f}"


def _same_side(rounded: Decimal, exact: Decimal, reference: Decimal) -> bool:
    """Say whether rounding kept a number below, at or above the reference."""
    return rounded.compare(reference) == exact.compare(reference)


def value_text(value: Any) -> str:
    """Return a parameter or a claimed number as it was given: 1.0 is "1", 1e-06 is "1e-06"."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def percent(share: float) -> str:
    """Return a share as a percentage with up to six decimals: 0.95 is "95 %"."""
    return f"{round(100 * share, 6):.10g} %"


def count(n: int) -> str:
    """Return an integer with its thousands set apart."""
    return f"{n:,}"


def plural(n: int, noun: str) -> str:
    """Return a count with its noun: 2, "pair" is "2 pairs"."""
    return f"{count(n)} {noun}{'' if n == 1 else 's'}"
