"""Names of features that declare what they mention of the data: positions, keys, values and thresholds.

A `Name` is a text whose words all stand in the code, and whose other parts are mentions. Each mention declares what it
may reveal, so that `dpaudit.withheld` can decide whether an audit of people's data shows it. A plain text declares
nothing and is withheld there; nothing reads a name to find out what it reveals. (The library markupsafe treats text
that is safe in a page in the same way.)
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Mentioned(enum.Enum):
    """Kinds of mentions, which differ in when they may be shown."""

    NUMBER = enum.auto()
    """A position, or a small whole number that is chosen like one."""
    KEY = enum.auto()
    """A key of a mapping, a column, or a text, as Python writes it."""
    MEMBER = enum.auto()
    """A key or a member whose presence in an output is what the feature says."""
    VALUE = enum.auto()
    """A number that was estimated from outputs."""
    CUT = enum.auto()
    """A threshold among the values of outputs."""
    PERIOD = enum.auto()
    """A period of the values of outputs."""
    TERM = enum.auto()
    """A key without quotation marks, in a sum; alone it cannot be told from a word."""
    UNDECLARED = enum.auto()
    """A text that declares nothing."""


class Mention(NamedTuple):
    """A part of a name that comes from data: its text, and its kind."""

    text: str
    kind: Mentioned

    def __str__(self) -> str:
        return self.text


def position(number: int) -> Mention:
    """Return the mention of a position, or of a number that is chosen like one."""
    return Mention(str(number), Mentioned.NUMBER)


def key(value: object, most: int = 60) -> Mention:
    """Return the mention of a key or a text as Python writes it, in at most so many characters."""
    return Mention(f"{value!r:.{most}}", Mentioned.KEY)


def written_key(text: str) -> Mention:
    """Return the mention of a key that is written as Python has it already."""
    return Mention(text, Mentioned.KEY)


def member(value: object) -> Mention:
    """Return the mention of a key or a member whose presence is told."""
    return Mention(f"{value!r:.60}", Mentioned.MEMBER)


def estimated(number: float) -> Mention:
    """Return the mention of a number that was estimated from outputs."""
    return Mention(f"{number:.6g}", Mentioned.VALUE)


def cut(number: float) -> Mention:
    """Return the mention of a threshold among the values of outputs."""
    return Mention(f"{number:.6g}", Mentioned.CUT)


class Name(str):
    """The name of a feature, or of a part of an output, with its mentions of data.

    `Name("sum of squares")` has none: all of its words must stand in the code.
    """

    mentions: tuple[Mention, ...] = ()

    @classmethod
    def of(cls, template: str, *parts: Name | Mention) -> Name:
        """Return a name made of other names and of mentions, by a template as `str.format` takes it.

        >>> name = Name.of("{} of {}", Name.of("element {}", position(2)), Name("output"))
        >>> name, [mention.text for mention in name.mentions]
        ('element 2 of output', ['2'])
        """
        # A sum of numbers of one part of an output stays one where the name of that part is added.
        kind = Sum if any(isinstance(part, Sum) for part in parts) else cls
        made = kind(template.format(*parts))
        made.mentions = mentions_of(parts)
        return made


class Sum(Name):
    """The name of a sum of multiples of numbers; `terms` are the names of these, where they may be told alone."""

    terms: tuple[Name, ...] = ()

    @classmethod
    def of_terms(cls, text: str, terms: Sequence[Name], coefficients: Iterable[Mention]) -> Sum:
        """Return a name that consists of these terms and coefficients."""
        made = cls(text)
        made.terms = tuple(terms)
        made.mentions = mentions_of((*terms, *coefficients))
        return made


def mentions_of(parts: Iterable[Name | Mention]) -> tuple[Mention, ...]:
    """Return the mentions in the parts of a name, in their order."""
    found: list[Mention] = []
    for part in parts:
        if isinstance(part, Mention):
            found.append(part)
        elif isinstance(part, Name):
            found += part.mentions
        # Types forbid it, but names that were read from a file are plain texts.
        else:
            found.append(Mention(part, Mentioned.UNDECLARED))
    return tuple(found)


def joined(names: Iterable[Name], between: str = ", ") -> Name:
    """Return several names as one, with a text of ours between them."""
    listed = list(names)
    return Name.of(between.join(["{}"] * len(listed)), *listed)
