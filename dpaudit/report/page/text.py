"""Numbers as the pages show them: three digits, rounded so that nothing is flattered."""

from __future__ import annotations

import math
import re

from dpaudit.contract import PrivacyClaim
from dpaudit.exact.finding import LawFinding
from dpaudit.report.numbers import significant, value_text
from dpaudit.report.view import Row

__all__ = [
    "allowed_times",
    "claim_words",
    "epsilon_exact",
    "epsilon_found",
    "epsilon_seen",
    "number",
    "share",
    "spelled",
    "times",
]

_DIGITS = 3
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def number(value: float, towards: str = "nearest", *, apart_from: float | None = None, digits: int = _DIGITS) -> str:
    """Return a number with three digits, infinity as its sign, and powers of ten raised."""
    return raised(significant(value, towards, digits=digits, apart_from=apart_from, infinity="∞"))


def raised(text: str) -> str:
    """Return a text in which 4.20e-8 is 4.20 × 10⁻⁸, 1e-06 is 10⁻⁶ and inf its sign."""

    def power(found: re.Match[str]) -> str:
        told = f"10{(found[2].strip('+') + found[3]).translate(_RAISED)}"
        return told if found[1] == "1" else f"{found[1]} × {told}"

    return re.sub(r"\binf\b", "∞", re.sub(r"\b(\d[\d.]*)e([+-]?)0*(\d+)", power, text))


def claim_words(claim: PrivacyClaim) -> str:
    """Return a claim as "ε = 1", with its delta where that is not 0."""
    delta = f", δ = {raised(value_text(claim.delta))}" if claim.delta else ""
    return f"ε = {raised(value_text(claim.epsilon))}{delta}"


def epsilon_exact(row: Row, exact: LawFinding) -> str:
    """Return the exact epsilon at the claimed delta, told from the claim unless its error is too great for that."""
    value = exact.epsilon if exact.epsilon_at_claim is None else exact.epsilon_at_claim
    claimed = None if row.claim is None else row.claim.epsilon
    shown = significant(value, digits=_DIGITS, apart_from=claimed, error=exact.error, infinity="∞")
    return raised(shown)


def epsilon_found(row: Row) -> str:
    """Return the lower bound on epsilon, rounded down; an empty text without one."""
    return "" if row.blackbox is None else number(row.blackbox.epsilon_lower, "down", apart_from=row.blackbox.epsilon)


def epsilon_seen(row: Row) -> str:
    """Return the least epsilon that would have been caught, rounded up; "never" where there is none."""
    if row.blackbox is None:
        return ""
    shown = number(row.blackbox.detectable_epsilon, "up", apart_from=row.blackbox.epsilon)
    return "never" if shown == "∞" else shown


def share(rate: float, towards: str = "nearest") -> str:
    """Return a probability in per cent without its sign, to a tenth: 0.0412 is "4.1".

    The ends of intervals are rounded outwards; a rate that is not 0 or 1 never looks like it.
    """
    value = 100 * rate
    scaled = 10 * round(value, 9)
    tenths = math.floor(scaled) if towards == "down" else math.ceil(scaled) if towards == "up" else round(scaled)
    if towards == "nearest" and tenths in (0, 1000) and value not in (0, 100):
        return significant(value, digits=1, apart_from=100.0)
    return f"{tenths / 10:.1f}".removesuffix(".0")


def times(ratio: float) -> str:
    """Return by which factor one probability exceeds another."""
    if ratio < 10:
        return f"{ratio:.2g}"
    return f"{ratio:,.0f}" if ratio < 1e6 else raised(f"{ratio:.1e}")


def allowed_times(epsilon: float) -> str:
    """Return the factor that a claimed epsilon allows, rounded up."""
    return "any number of" if epsilon > 500 else raised(significant(math.exp(epsilon), "up", digits=_DIGITS))


def spelled(n: int) -> str:
    """Return a small number as a word."""
    return _WORDS[n] if n < len(_WORDS) else f"{n:,}"
