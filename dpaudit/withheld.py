"""Decide what an audit of people's data shows: constants, and nothing that a record or audited code has made.

All that leaves (findings, certificates, errors, warnings) asks here. Constants are those of Python, names of features,
columns and classes of exceptions, small positions, and bounds that the user gave. What is none of these is not shown.
"""

from __future__ import annotations

import ast
import builtins
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from dpaudit.naming import Mention, Mentioned, Name, Sum

# The bound below which whole numbers are shown, as positions in an output or sizes of its parts are.
POSITIONS = 64
HOW = "include_data or --include-data shows more"
# The text that replaces a text that is not shown.
WITHHELD = f"(not shown: it may be of a record; {HOW})"
# The text that replaces the name of a class that the audited code defines.
UNKNOWN = "an exception of the mechanism"

# The names of classes of exceptions that are shown: of Python, of the libraries, and of ours.
KINDS = frozenset(
    {name for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, BaseException)}
    | {"AxisError", "EmptyDataError", "JSONDecodeError", "LinAlgError", "NotFittedError", "OptionError", "ParserError"}
    | {"RunFault", "UFuncTypeError", "timed out"}
)
# Values that identify nobody: Booleans, also as numbers, what is missing, infinite or empty.
ALWAYS = frozenset(
    "True False None nan inf -inf NaN NaT missing yes no 0 1 0.0 1.0 -0.0 '' b'' () [] {} set()".split()
) | {
    "not NaN",
    "no exception",
    "another exception",
    "",
}
# The parts of what Python writes of a key: quoted texts, and numbers and words.
_REPR = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[\w.+-]+|['"]""")
# Digits repeat by powers of ten, whatever the data are.
_POWER_OF_TEN = re.compile(r"10*|0\.0*1|1e[+-]?\d+")
# The words of a run that was ended hold the limit that the user gave.
_TIMED_OUT = re.compile(r"timed out after [0-9.e+-]+ s")

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
    """The constants of one dataset that may be shown beside `ALWAYS`.

    These are `names` of columns, which are no data of people, and the bounds `given` by the user. How many records have
    a value decides nothing: ten that are alike may be one person's.
    """

    names: frozenset[str] = frozenset()
    given: frozenset[float] = frozenset()

    def value(self, value: object) -> bool:
        """Return whether a value, or its words, may be shown."""
        infinite = isinstance(value, float) and not math.isfinite(value)
        if isinstance(value, int | float) and (value in self.given or infinite):
            return True
        # No constant is so large. Python neither compares huge integers with floats nor writes them out.
        if isinstance(value, int) and value.bit_length() > 64:
            return False
        if isinstance(value, str) and _TIMED_OUT.fullmatch(value):
            return True
        return any(text in ALWAYS or text in KINDS for text in {str(value), repr(value)})

    def threshold(self, number: float) -> bool:
        """Return whether the end of an interval of scores may be shown."""
        return not math.isfinite(number) or number in self.given or number in (0.0, 1.0)

    def least(self, number: float, *known: float) -> float:
        """Return a lower bound of a distance that may be shown.

        It is 0, 1 or 2, by which one record moves a count, a bound that was given, the difference of two of them, or
        `known`; a number above one that is known stays above it.
        """
        steps = {0.0, 1.0, 2.0, *known, *self.given, *(abs(one - other) for one in self.given for other in self.given)}
        below = max(step for step in steps if step <= number)
        # A number that is known stays as it is, and infinity says nothing of a record.
        if math.isinf(number) or below == number:
            return number
        # The next float: "above the claim" stays true, and nothing else is told of the number.
        return math.nextafter(below, math.inf) if below in known else below

    def name(self, text: str) -> bool:
        """Return whether the name of a feature may be shown: a `Name` all of whose mentions are constants."""
        return isinstance(text, Name) and all(map(self._mention, text.mentions))

    def sum_of(self, text: str) -> str | None:
        """Return a description of a sum of multiples without its coefficients, or None if the name is no sum's."""
        if not isinstance(text, Sum):
            return None
        # Coefficients are fitted to outputs, so that they are never constants; names of terms may be.
        if not text.terms or not all(self.step(str(term)) or self.name(term) for term in text.terms):
            return "a sum of multiples of some of its numbers"
        return f"a sum of multiples of {', '.join(text.terms[:-1])} and {text.terms[-1]}"

    def step(self, step: int | str) -> bool:
        """Return whether a step to a part of an output may be shown."""
        return 0 <= step < POSITIONS if isinstance(step, int) else step in self.names or self.value(step)

    def _mention(self, mention: Mention) -> bool:
        text = mention.text
        match mention.kind:
            case Mentioned.NUMBER:
                return _is_position(text)
            case Mentioned.KEY:
                return self._key(text)
            case Mentioned.MEMBER:
                # A member may be of one record, other than a position: numbers must be constants, containers never are.
                return self._key(text) and (text[:1] in "'\"" or (text[:1] not in "([{" and self.value(text)))
            case Mentioned.VALUE:
                return _is_position(text) and self.value(text)
            case Mentioned.CUT:
                return _is_position(text) and (self.value(text) or self.threshold(float(text)))
            case Mentioned.PERIOD:
                return _is_position(text) or _POWER_OF_TEN.fullmatch(text) is not None
            case Mentioned.TERM | Mentioned.UNDECLARED:
                return False

    def _key(self, text: str) -> bool:
        """Return whether a key as Python writes it is of steps and positions alone; one that was cut off is not."""
        for part in _REPR.findall(text):
            if part[0] in "'\"":
                known = len(part) > 1 and self.step(str(ast.literal_eval(part)))
            else:
                # The letter stands before bytes.
                known = part == "b" or _is_position(part)
            if not known:
                return False
        return True


def _is_position(text: str) -> bool:
    return text.isdecimal() and int(text) < POSITIONS
