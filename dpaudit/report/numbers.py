"""Numbers as text: rounding goes the safe way, and never hides on which side of a claim a number lies."""

from __future__ import annotations

import math
import re
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import Any

_ROUNDING = {"nearest": ROUND_HALF_EVEN, "down": ROUND_FLOOR, "up": ROUND_CEILING}
# Digits as exponents.
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def significant(
    value: float,
    towards: str = "nearest",
    *,
    digits: int = 4,
    apart_from: float | None = None,
    error: float = 0.0,
    infinity: str = "inf",
) -> str:
    """Return a number >= 0 with `digits` significant digits, and more, at most 17, where it must differ from another.

    Lower bounds are rounded down and upper bounds up. What is shown lies on the same side of `apart_from`, a claim, as
    the value, and on it if the value is, or is not farther from it than `error`, what it is uncertain by.
    """
    if math.isinf(value):
        return infinity
    if value == 0:
        return "0"
    # Within its error a number must not seem to be on either side of a claim.
    if apart_from is not None and abs(value - apart_from) <= error:
        value = apart_from
    shown = Decimal(repr(float(value)))
    other = Decimal(repr(float(apart_from or 0.0)))
    # Seventeen digits tell every float from its neighbours.
    for places in range(digits, 18):
        rounded = shown.quantize(Decimal(1).scaleb(shown.adjusted() - places + 1), rounding=_ROUNDING[towards])
        # On its side of the other number.
        if apart_from is None or rounded.compare(other) == shown.compare(other):
            break
    if -5 < rounded.adjusted() < 7:
        return f"{rounded:f}"
    return f"{rounded:.{places - 1}e}"


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


# The verdicts whose word has a plural; others, such as "consistent", are adjectives.
_PLURALS = {
    "violation": "violations",
    "holds": "hold",
    "gap": "gaps",
    "misprint": "misprints",
    "edge case": "edge cases",
}


def counted(verdict: str, n: int) -> str:
    """Return how many there are of a verdict, as "2 violations" and "3 consistent"."""
    return f"{n:,} {verdict if n == 1 else _PLURALS.get(verdict, verdict)}"


def number(value: float, towards: str = "nearest", *, apart_from: float | None = None, digits: int = 3) -> str:
    """Return a number with three digits, infinity as its sign, and powers of ten raised."""
    return raised(significant(value, towards, digits=digits, apart_from=apart_from, infinity="∞"))


def raised(text: str) -> str:
    """Return a text in which 4.20e-8 is 4.20 × 10⁻⁸, 1e-06 is 10⁻⁶ and inf its sign."""

    def power_of_ten(found: re.Match[str]) -> str:
        power = f"10{(found[2].strip('+') + found[3]).translate(_RAISED)}"
        if found[1] == "1":
            return power
        return f"{found[1]} × {power}"

    return re.sub(r"\binf\b", "∞", re.sub(r"\b(\d[\d.]*)e([+-]?)0*(\d+)", power_of_ten, text))


def share(rate: float, towards: str = "nearest") -> str:
    """Return a probability in per cent without its sign, to a tenth: 0.0412 is "4.1".

    The ends of intervals are rounded outwards; a rate that is not 0 or 1 never looks like it.
    """
    value = 100 * rate
    # Rounded first, or 0.29 would be 28.999999999999996 % and lose a tenth when it is rounded down.
    scaled = 10 * round(value, 9)
    if towards == "down":
        tenths = math.floor(scaled)
    elif towards == "up":
        tenths = math.ceil(scaled)
    else:
        tenths = round(scaled)
    if towards == "nearest" and tenths in (0, 1000) and value not in (0, 100):
        return significant(value, digits=1, apart_from=100.0)
    return f"{tenths / 10:.1f}".removesuffix(".0")
