"""Features of text: lengths, characters by position and class, beginnings, ends and words."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpaudit.events.feature_screening.groups import Cells

__all__ = ["NEAR", "Affixes", "Characters", "Counts", "Words"]

NEAR = 32
"""Characters that are looked at from each end."""
CODES = 128
"""Characters beyond these codes are one cell by position; their class tells them further apart."""
AFFIXES = (2, 3, 4, 6, 8)
KNOWN = 48
WORDS = 128
REPEATED = 3
READ = 4096
"""Characters of a text in which words are looked for."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Characters:
    """The character at each position from the start and from the end, and its class; 0 beyond the text."""

    near: int = NEAR
    representation: bool = False

    @classmethod
    def of(cls, values: Sequence[str]) -> Characters:
        """Return the group for texts like these."""
        return cls(min(NEAR, max(map(len, values), default=0)))

    @cached_property
    def names(self) -> Sequence[str]:
        """The names of the features."""
        return [f"character {j} from the {end}" for end in ("start", "end") for j in range(self.near)]

    def column(self, values: Sequence[str], j: int) -> Cells:
        """Return the cell of one position."""
        at = j if j < self.near else -1 - (j - self.near)
        need = at + 1 if at >= 0 else -at
        codes = (min(ord(text[at]) + 1, CODES) if len(text) >= need else 0 for text in values)
        return np.fromiter(codes, np.int64, len(values))

    def cell(self, j: int, code: int) -> str:
        """Return the character."""
        return "none" if code == 0 else "a character beyond ASCII" if code >= CODES else repr(chr(code - 1))


@dataclass(frozen=True)
class Counts:
    """The length, and how many characters of each class there are."""

    representation: bool = False
    names: Sequence[str] = ("length", "digits", "capital letters", "small letters", "blanks", "other characters",
                            "characters beyond ASCII", "lines", "being in normal form")  # fmt: skip

    def column(self, values: Sequence[str], j: int) -> Cells:
        """Return one count of each text, at most 255."""
        count: Callable[[str], int] = (
            len,
            lambda text: sum(map(str.isdigit, text)),
            lambda text: sum(map(str.isupper, text)),
            lambda text: sum(map(str.islower, text)),
            lambda text: sum(map(str.isspace, text)),
            lambda text: len(text) - sum(map(str.isalnum, text)),
            lambda text: 0 if text.isascii() else sum(ord(c) > 127 for c in text),
            lambda text: text.count("\n"),
            lambda text: int(text.isascii() or unicodedata.is_normalized("NFC", text)),
        )[j]
        return np.minimum(np.fromiter(map(count, values), np.int64, len(values)), 255)

    def cell(self, j: int, code: int) -> int:
        """Return the count."""
        return code


@dataclass(frozen=True)
class Affixes:
    """Beginnings and ends that several texts share.

    Attributes
    ----------
    known : tuple of dict
        For each length and end, the frequent ones with their numbers.
    """

    known: tuple[dict[Any, int], ...]
    representation: bool = False

    @classmethod
    def of(cls, values: Sequence[Any]) -> Affixes:
        """Return the group for texts or bytes like these."""
        known, times = [], Counter(values)
        for j in range(2 * len(AFFIXES)):
            counts: Counter[Any] = Counter()
            for value, count in times.items():
                counts[_affix(value, j)] += count
            common = [affix for affix, count in counts.most_common(KNOWN) if count >= REPEATED]
            known.append({affix: i for i, affix in enumerate(common)})
        return cls(tuple(known))

    @property
    def names(self) -> Sequence[str]:
        """The names of the features."""
        return [f"{end} {length} characters" for end in ("first", "last") for length in AFFIXES]

    def column(self, values: Sequence[Any], j: int) -> Cells:
        """Return the number of each text's beginning or end; 0 for one that is not known."""
        known = self.known[j]
        return np.fromiter((known.get(_affix(value, j), -1) + 1 for value in values), np.int64, len(values))

    def cell(self, j: int, code: int) -> str:
        """Return the beginning or end."""
        return "another" if code == 0 else repr(list(self.known[j])[code - 1])


def _affix(value: Any, j: int) -> Any:
    length = AFFIXES[j % len(AFFIXES)]
    return value[:length] if j < len(AFFIXES) else value[-length:]


@dataclass(frozen=True)
class Words:
    """Features of a text: whether it has a word that several texts share."""

    words: tuple[str, ...]
    representation: bool = False

    @classmethod
    def of(cls, values: Sequence[str]) -> Words:
        """Return the group for texts like these."""
        counts: Counter[str] = Counter()
        for text, times in Counter(values).items():
            for word in set(_WORD.findall(text[:READ])):
                counts[word] += times
        return cls(tuple(word for word, n in counts.most_common(WORDS) if REPEATED <= n < len(values)))

    @property
    def names(self) -> Sequence[str]:
        """The names of the features."""
        return [f"occurrence of the word {word!r:.40}" for word in self.words]

    def column(self, values: Sequence[str], j: int) -> Cells:
        """Say for each text whether the word is in it."""
        word = self.words[j]
        found = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)").search
        # Most texts do not have it at all, which is seen faster without the pattern.
        having = [i for i, text in enumerate(values) if word in text and found(text[:READ])]
        cells = np.zeros(len(values), dtype=np.int64)
        cells[np.array(having, dtype=np.intp)] = 1
        return cells

    def cell(self, j: int, code: int) -> str:
        """Return yes or no."""
        return "yes" if code else "no"
