"""Decides what an audit of people's data shows: nothing that a record or audited code has made, but what is coarse.

All that leaves (findings, certificates, errors, warnings) asks here. A value is coarse if at least `COMMON` records
have it, a threshold if so many lie next to it on either side. What cannot be decided is not shown.
"""

from __future__ import annotations

import ast
import builtins
import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

COMMON = 10
"""Records that must have a value, or lie next to a threshold on either side."""
POSITIONS = 64
"""The bound below which whole numbers are shown, as positions in an output or sizes of its parts are."""
DIGITS = 6
"""The most significant digits of a threshold."""
HOW = "include_data or --include-data shows more"
WITHHELD = f"(not shown: it may be of a record; {HOW})"
"""The words in the place of others."""
UNKNOWN = "an exception of the mechanism"
"""The words in the place of a class that the audited code defines."""

KINDS = frozenset(
    {name for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, BaseException)}
    | {"AxisError", "EmptyDataError", "JSONDecodeError", "LinAlgError", "NotFittedError", "OptionError", "ParserError"}
    | {"RunFault", "UFuncTypeError", "timed out"}
)
"""The names of classes of exceptions that are shown: of Python, of the libraries, and of ours."""
ALWAYS = frozenset(
    "True False None nan inf -inf NaN NaT missing yes no 0 1 0.0 1.0 -0.0 '' b'' () [] {} set()".split()
) | {
    "not NaN",
    "no exception",
    "another exception",
    "",
}
"""Values that identify nobody: Booleans, also as numbers, what is missing, infinite or empty."""
WORDS = frozenset(
    """a above absent all alternating and another array ascents ASCII b Bayes before behind being betting between
    beyond big binary bit bits blanks bool boosted but by byte bytes capital category cells centre character
    characters check column common decimal decimals dense differences different digit digits direction discriminant
    divisor dtype element elements end endian entries entry equal exact exception explicit exponent family finest
    first flat float floating for form format formula from greatest half halves hexadecimal histogram in infinities
    int integers item json key keys kind last law leading learned least len length letters likelihood linear lines
    little loads lower lowest Luhn magnitude magnitudes mantissa median membership message minus modulo more most
    naive NaN NaNs negative neighbours noise none normal not number numbers occurrence of on ones or order other
    output outputs parities parity part parts patterns perfect place places plus point pooled positive power
    presence present product products raised ranked ranks ratio relations remainder remainders repeated right rows s
    say scale score sequence set shape sign small sorted sparse special square squares standardised start statistics
    stored sum summaries text the those three to too trailing trees two type types up value values weights with
    within word XOR zeros maximum minimum size integers' Luhn's neighbours' signs st nd rd th pi significant
    multiples longest run runs neighbouring occurrences orders periods kinds exceptions its some beside class holds
    memory what""".split()
)
"""The words of the names of features."""
_PARTS = re.compile(r"""\w+'s?(?= )|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\w+|['"]""")
"""The parts of a name: possessives, quoted texts, numbers, words."""
_CUTS = re.compile(r"\babove (-?\d+(?:\.\d*)?(?:e[+-]?\d+)?)")
_VALUES = re.compile(r"\b(?:centre|scale|presence of|membership of) ([^\s'\"][^\s,)]*)")
_OFFSETS = re.compile(r" - (\d+(?:\.\d*)?(?:e[+-]?\d+)?)\) modulo")
"""The numbers in names that are no positions: of cuts, of values, and of where a period begins."""
_TEN = re.compile(r"(?<=\bmodulo) (?:10*|0\.0*1|1e[+-]?\d+)$")
"""The powers of ten, which are periods of digits whatever the data are."""

_TERMS = re.compile(r"(?:^-?|(?<= [+-] ))(?:\d+(?:\.\d*)?(?:e[+-]?\d+)? )?(.+?)(?= [+-] |$)")
"""The names in a sum of multiples."""
_TIMED_OUT = re.compile(r"timed out after [0-9.e+-]+ s")
"""The words of a run that was ended, which hold the limit that the user gave."""

_blocks: list[int] = []


@contextmanager
def hiding() -> Iterator[None]:
    """Let nothing that audited code says be shown while the block runs, in all threads of this process."""
    _blocks.append(1)
    try:
        yield
    finally:
        _blocks.pop()


def hides() -> bool:
    """Return whether nothing that audited code says is to be shown."""
    return bool(_blocks)


def foreign(text: str, instead: str = WITHHELD) -> str:
    """Return a text of audited code, or words in its place where it is not to be shown."""
    return instead if _blocks else text


def kind_words(kind: str) -> str:
    """Return the name of a class of exceptions that may be shown in audits of people's data."""
    return kind if kind in KINDS else UNKNOWN


def message_of(error: BaseException) -> str:
    """Return what an exception of audited code says, whose own method may raise."""
    try:
        return str(error)
    except (Exception, SystemExit):
        return "an exception that cannot be shown"


def raised_words(error: BaseException) -> str:
    """Return an exception of audited code as "KeyError: its text"; its class alone where no text is to be shown."""
    kind = type(error).__name__
    return f"{kind_words(kind)} ({HOW})" if _blocks else f"{kind}: {message_of(error)}"


class Coarse(NamedTuple):
    """The values of one dataset's records that may be shown; by default none but `ALWAYS`.

    These are `names` of columns, which are no data of people, the bounds `given` by the user, and the words of values
    that `COMMON` records have. `columns` are the finite values of each column, ascending; None unless all of a record
    are numbers, so that thresholds can be compared with them.
    """

    names: frozenset[str] = frozenset()
    given: frozenset[float] = frozenset()
    common: frozenset[str] = frozenset()
    columns: tuple[Sequence[float], ...] | None = None

    def value(self, value: object) -> bool:
        """Return whether a value, or its words, may be shown."""
        if isinstance(value, int | float) and (value in self.given or not math.isfinite(value)):
            return True
        if isinstance(value, str) and _TIMED_OUT.fullmatch(value):
            return True
        return any(text in found for text in {str(value), repr(value)} for found in (ALWAYS, KINDS, self.common))

    def threshold(self, number: float) -> bool:
        """Return whether the end of an interval of scores may be shown.

        In each column records must lie next to it on both sides: `COMMON` of them at the nearest value, or as far away
        as the number was rounded.
        """
        if not math.isfinite(number) or number in self.given:
            return True
        if not self.columns or float(f"{number:.{DIGITS}g}") != number:
            return False
        return all(_lies_among(values, number) for values in self.columns)

    def least(self, number: float, *known: float) -> float:
        """Return a lower bound of a distance that may be shown.

        It is 0, 1 or 2, by which one record moves a count, a bound that was given, the difference of two of them, or
        `known`; a number above one that is known stays above it.
        """
        steps = {0.0, 1.0, 2.0, *known, *self.given, *(abs(one - other) for one in self.given for other in self.given)}
        below = max(step for step in steps if step <= number)
        if math.isinf(number) or below == number:
            return number
        return math.nextafter(below, math.inf) if below in known else below

    def name(self, text: str) -> bool:
        """Return whether the name of a feature may be shown: of `WORDS`, positions, columns and coarse values alone."""
        known = all(map(self.value, _VALUES.findall(text)))
        cuts = (*_CUTS.findall(text), *_OFFSETS.findall(text))
        known = known and all(self.value(cut) or self.threshold(float(cut)) for cut in cuts)
        return known and all(map(self._part, _PARTS.findall(_TEN.sub("", text))))

    def sum_of(self, text: str) -> str | None:
        """Return what a sum of multiples is of, without its numbers, where names may be shown; None if it is no sum."""
        if " + " not in text and " - " not in text:
            return None
        names = _TERMS.findall(text)
        if not all(self.step(name) or self.name(name) for name in names):
            return "a sum of multiples of some of its numbers"
        return f"a sum of multiples of {', '.join(names[:-1])} and {names[-1]}"

    def step(self, step: int | str) -> bool:
        """Return whether a step to a part of an output may be shown."""
        return 0 <= step < POSITIONS if isinstance(step, int) else step in self.names or self.value(step)

    def _part(self, part: str) -> bool:
        if part[0] in "'\"":
            return len(part) > 1 and self.step(str(ast.literal_eval(part)))
        if part[0] in "-0123456789":
            return part.isdecimal() and int(part) < POSITIONS
        return part in WORDS


def _lies_among(values: Sequence[float], number: float) -> bool:
    """Return whether `COMMON` values lie next to a number below it, and so many above it, and none or as many at it."""
    from decimal import Decimal

    first, last = bisect_left(values, number), bisect_right(values, number)
    if min(first, len(values) - last) < COMMON or 0 < last - first < COMMON:
        return False
    if last > first:
        return True
    below, above = values[first - 1], values[last]
    if min(first - bisect_left(values, below), bisect_right(values, above) - last) >= COMMON:
        return True
    digits: Any = Decimal(f"{number:.{DIGITS}g}").normalize().as_tuple().exponent
    unit = 10.0**digits
    near = first - bisect_left(values, number - unit), bisect_right(values, number + unit) - last
    return min(near) >= COMMON
