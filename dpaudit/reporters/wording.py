"""Numbers and grades in words: rounding goes the safe way, and never hides on which side of a claim a number lies."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import Any

from dpaudit.engine.decoding import named_codes
from dpaudit.results import number

__all__ = [
    "BOUNDS",
    "SETTINGS",
    "claim_text",
    "count",
    "event_text",
    "failure_text",
    "label_parameters",
    "output_text",
    "percent",
    "plain_ascii",
    "rate",
    "significant",
    "value_text",
]

SETTINGS = {
    "realizable": "the error on the distribution; examples drawn anew for every run, labelled by a concept",
    "agnostic": "by how much the error on the distribution exceeds the best concept's; labels with noise",
    "empirical": "the error on the sample; one sample for all runs, labelled by a concept",
    "solution": "whether the output solves the learner's problem on the sample; one sample for all runs",
}
"""What a failure rate is about, in each setting of utility."""

BOUNDS = {
    "melded": "melded, one joint confidence statement on both probabilities",
    "unconditional": "unconditional, proved valid by an exact supremum",
}
"""What a bound on epsilon is, by its name."""

_FAILURE = {"-1": "failure"}
_FAILING = re.compile(r"output in \{-1(?=[,.}])")

_ROUNDING = {"nearest": ROUND_HALF_EVEN, "down": ROUND_FLOOR, "up": ROUND_CEILING}


def significant(
    value: float | str,
    towards: str = "nearest",
    *,
    digits: int = 4,
    apart_from: float | str | None = None,
    error: float = 0.0,
    infinity: str = "inf",
) -> str:
    """Return a number >= 0 with `digits` significant digits, and more where they are needed to tell it from another.

    Parameters
    ----------
    value : float or "inf"
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
    x = number(value)
    if math.isinf(x):
        return infinity
    if x == 0:
        return "0"
    reference = None if apart_from is None else number(apart_from)
    if reference is not None and abs(x - reference) <= error:
        x = reference
    shown = Decimal(repr(x))
    for places in range(digits, 18):
        rounded = shown.quantize(Decimal(1).scaleb(shown.adjusted() - places + 1), rounding=_ROUNDING[towards])
        if reference is None or _same_side(rounded, shown, Decimal(repr(reference))):
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


def value_text(value: float | str) -> str:
    """Return a parameter or a claimed number as it was given: 1.0 is "1", 1e-06 is "1e-06"."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def failure_text(finding: Mapping[str, Any]) -> str:
    """Return in words what counts as a failure in a finding of utility."""
    return str(finding.get("failure") or f"error > {value_text(finding['alpha'])}")


def output_text(output: str, decoded: Mapping[str, str] | None = None) -> str:
    """Return an output of a learner with what it stands for, if that is known; -1 is its failure (`contract.FAIL`)."""
    word = (_FAILURE | dict(decoded or {})).get(output)
    return output if word is None else f"{output} ({word})"


def event_text(event: str, decoded: Mapping[str, str] | None = None) -> str:
    """Return an event of a learner's outputs with what the codes in it stand for, where that is known."""
    known = _FAILURE | dict(decoded or {})
    codes = [str(code) for code in named_codes(event)] or (["-1"] if _FAILING.match(event) else [])
    words = ", ".join(f"{code}: {known[code]}" for code in codes if code in known)
    return f"{event} ({words})" if words else event


def percent(share: float) -> str:
    """Return a share as a percentage with up to six decimals: 0.95 is "95 %"."""
    return f"{round(100 * share, 6):.10g} %"


def count(n: int) -> str:
    """Return an integer with its thousands set apart."""
    return f"{n:,}"


def claim_text(claim: Mapping[str, Any] | None) -> str:
    """Return the claimed epsilon, with delta where it is not 0."""
    if claim is None:
        return "none"
    delta = "" if claim["delta"] == 0 else f", {value_text(claim['delta'])}"
    return f"({value_text(claim['epsilon'])}{delta})" if delta else value_text(claim["epsilon"])


def label_parameters(parameters: Mapping[str, Any]) -> str:
    """Return parameters as `name = value, ...`, or "none"."""
    return ", ".join(f"{name} = {value_text(value)}" for name, value in sorted(parameters.items())) or "none"


def plain_ascii(text: str) -> str:
    """Return text in printable ASCII: a learner's words must not break a terminal."""
    plain = text.encode("ascii", "backslashreplace").decode()
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in plain)
