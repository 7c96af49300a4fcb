"""The columns of every table of mechanisms: console, HTML, Markdown and JSON show the numbers that stand here.

A new column is a line of `COLUMNS` and its number in `numbers_of`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from dpaudit.contract import PrivacyClaim, Verdict
from dpaudit.report.numbers import raised, significant, value_text
from dpaudit.report.terminal import MARKS, Head, in_ascii
from dpaudit.report.view import AuditedMechanism, Row
from dpaudit.report.words.claims import claim_words, curve_claim_parts

# Name of a column, or of a number that a column needs, -> the number; None where nothing was audited. Where the claim
# is a curve, "curve_claim" is it and its kind, in words; the claimed epsilon and delta are then the point that was
# tested.
Numbers: TypeAlias = Mapping[str, Any]
# Columns in epsilon and delta -> the number, in mu, that they have for a Gaussian claim.
_IN_MU = {"claimed_delta": "", "epsilon_lower": "mu_lower", "detectable_epsilon": "detectable_mu"}


class Column(NamedTuple):
    """A number of a mechanism.

    Its `name` is its key in JSON, and in what `numbers_of` returns; `head` stands over it in plain text, on one line or
    two, and `title` where symbols can be shown. It is rounded `towards`: to three digits, a lower bound down and an
    upper bound up; not at all if it was given. Its text stays on its side of the number that `apart` names. It is
    multiplied by `scale`, 100 for per cent; `low` names the lower end of an interval whose upper end it is, and
    `absent` is the text where there is no number.
    """

    name: str
    head: str
    title: str
    promise: Literal["privacy", "accuracy"]
    towards: str = "nearest"
    apart: str = ""
    scale: float = 1.0
    low: str = ""
    absent: str = "-"

    def text(self, numbers: Numbers) -> str:
        """Return the number as text; of a claim that is a curve its words, and of numbers those in mu alone."""
        claim = numbers.get("curve_claim") or ""
        if claim and self.name == "claimed_epsilon":
            return str(claim[0])
        if claim and self.name in _IN_MU:
            # The same rounding and the same side of the claim, for numbers in mu.
            text = self._replace(name=_IN_MU[self.name], apart="claimed_mu").text({**numbers, "curve_claim": ""})
            if text[0].isdigit():
                return f"μ {text}"
            return text
        value = numbers.get(self.name)
        low = numbers.get(self.low)
        if value is None:
            return self.absent
        if low is not None:
            return f"{self._rounded(low, 'down', numbers)}-{self._rounded(value, 'up', numbers)}"
        if self.towards == "given":
            return value_text(value)
        return self._rounded(value, self.towards, numbers)

    def _rounded(self, value: float, towards: str, numbers: Numbers) -> str:
        apart = numbers.get(self.apart)
        error = numbers.get(f"{self.name}_error") or 0.0
        # In the unit of the column, as the number that is compared with it.
        if apart is not None:
            apart *= self.scale
        infinity = "never" if self.name.startswith("detectable") else "inf"
        value *= self.scale
        return significant(value, towards, digits=3, apart_from=apart, error=error, infinity=infinity)


P_VALUE = Column("p_value", "p", "p", "privacy", "up")
COLUMNS = (
    Column("claimed_epsilon", "claimed\nepsilon", "claimed ε", "privacy", "given", absent="none"),
    Column("claimed_delta", "claimed\ndelta", "claimed δ", "privacy", "given"),
    Column("exact_epsilon", "exact\nepsilon", "exact ε", "privacy", apart="claimed_epsilon"),
    Column("epsilon_lower", "found\n>=", "found ε ≥", "privacy", "down", "claimed_epsilon"),
    Column("detectable_epsilon", "would\ncatch>=", "would catch ε ≥", "privacy", "up", "claimed_epsilon"),
    P_VALUE,
    Column("failure_rate", "fails\n%", "fails, %", "accuracy", apart="beta", scale=100),
    Column("failure_upper", "interval\n%", "interval, %", "accuracy", apart="beta", scale=100, low="failure_lower"),
    Column("beta", "allowed\n%", "allowed, %", "accuracy", scale=100),
    Column("failure_p_value", "p of\nfails", "p of fails", "accuracy", "up"),
)
"""The claim, the exact epsilon at the claimed delta, what runs found and would have detected; the failure rate of the
worst hard case, its interval, and what is allowed; p-values only of claims that are judged together."""

_P_VALUES = ("p_value", "failure_p_value")
# The numbers of every mechanism, None where nothing was audited: those of columns, and those that columns need.
_NUMBERS = (
    *(column.name for column in COLUMNS if column.name not in _P_VALUES),
    "exact_epsilon_error",
    "failure_lower",
)
PRIVACY = tuple(column for column in COLUMNS if column.promise == "privacy" and column != P_VALUE)


def numbers_of(shown: Row | AuditedMechanism) -> dict[str, Any]:
    """Return the numbers of a mechanism, by name; of a claim that is a curve those in mu too, if Gaussian."""
    if isinstance(shown, Row):
        tested = shown
        accurate = shown
    else:
        tested = shown.tested
        accurate = shown.accurate
    found: dict[str, Any] = dict.fromkeys(_NUMBERS)
    if tested.claim is not None:
        found["claimed_epsilon"] = tested.claim.epsilon
        found["claimed_delta"] = tested.claim.delta
    found["exact_epsilon"] = tested.exact_epsilon
    if tested.exact is not None:
        found["exact_epsilon_error"] = tested.exact.error
    if tested.blackbox is not None:
        found["epsilon_lower"] = tested.blackbox.epsilon_lower
        found["detectable_epsilon"] = tested.blackbox.detectable_epsilon
    if accurate.utility is not None:
        found["failure_rate"] = accurate.utility.failure_rate
        found["failure_lower"] = accurate.utility.failure_lower
        found["failure_upper"] = accurate.utility.failure_upper
        found["beta"] = accurate.utility.beta
    if tested.in_family and tested.blackbox is not None:
        found["p_value"] = tested.blackbox.p_value
    if accurate.in_family and accurate.utility is not None:
        found["failure_p_value"] = accurate.utility.p_value
    if (curve := tested.curve) is not None:
        able = curve.detectable_mu
        # With a gap the audit could have seen nothing, whatever the event tested would show.
        if able and tested.blackbox and tested.blackbox.gaps:
            able = math.inf
        found |= {"claimed_mu": curve.claim.mu, "mu_lower": curve.mu_lower, "detectable_mu": able}
        found["curve_claim"] = curve_claim_parts(curve.claim)
    return found


def heads_of(name: str, columns: Sequence[Column]) -> list[Head]:
    """Return the heads of a table of plain text: of the mark, of what has this name, and of the numbers."""
    return [Head("", "word"), Head(name, "name"), *(Head(column.head) for column in columns)]


def cells_of(verdict: Verdict, name: str, columns: Sequence[Column], numbers: Numbers | None) -> list[str]:
    """Return the cells below `heads_of`; without numbers where nothing was found."""
    mark = MARKS.get(verdict, "")
    if numbers is None:
        return [mark, name, *["-"] * len(columns)]
    return [mark, name, *(in_ascii(column.text(numbers)) for column in columns)]


def shown_number(row: Row, name: str) -> str:
    """Return the number of a row in a column, powers of ten raised; empty where it has none."""
    numbers = numbers_of(row)
    column = next(column for column in COLUMNS if column.name == name)
    if numbers[name] is not None:
        return raised(column.text({**numbers, "curve_claim": ""}))
    return ""


def shown_claim(row: Row, claim: PrivacyClaim, label: str = "claimed") -> str:
    """Return that a row claims "ε = 1", or which point of its claim was tested, powers of ten raised."""
    if row.curve is None:
        return f"{label}, {raised(claim_words(claim.epsilon, claim.delta))}"
    return f"point tested, {raised(claim_words(claim.epsilon, claim.delta, significant))}"


def columns_of(numbers: Sequence[Numbers], columns: Sequence[Column] = COLUMNS, *, whole: bool = True) -> list[Column]:
    """Return the columns of a table: intervals only in a whole one, no delta where all are 0, and none without numbers.

    Those of the claim and of what runs found stay in any case.
    """
    if any(n.get("claimed_delta") and not n.get("curve_claim") for n in numbers):
        left = set()
    else:
        # A column of zeros says nothing, nor does the delta of a point that was tested of a curve.
        left = {"claimed_delta"}
    for column in columns:
        optional = column.promise == "accuracy" or column.name in ("exact_epsilon", "p_value")
        if optional and all(one.get(column.name) is None for one in numbers):
            left.add(column.name)
    return [column for column in columns if column.name not in left and (whole or not column.low)]
