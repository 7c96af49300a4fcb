"""Datasets that are made of a pool of rows where a run needs them, and described by recipes that name no value."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit.contract import Made
from dpaudit.neighbours.own_data.backgrounds import Rows
from dpaudit.neighbours.own_data.columns import Column, ValueKind

if TYPE_CHECKING:
    from dpaudit.neighbours.own_data.adapters import Table

__all__ = ["MadeData", "Source"]

COMMON = 10
"""Values that fewer records share are identifying."""
SMALL = 10
"""Integers up to here, with either sign, count everything, and identify nobody."""
LEAST_TEXT = 4
"""Characters of the shortest text that is looked for in the midst of others; shorter ones are found in quotes."""
_NUMBER = re.compile(r"-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")


@dataclass(frozen=True, eq=False)
class Source:
    """The rows that datasets are made of.

    Parameters
    ----------
    pool : Table
        The rows of the dataset, followed by new ones.
    size : int
        The number of rows of the dataset.
    digest : str
        Its SHA-256.
    """

    pool: Table = field(repr=False)
    size: int
    digest: str

    @cached_property
    def identifying(self) -> IdentifyingValues:
        """The values of the dataset that must not be shown."""
        columns = (replace(column, values=column.values[: self.size]) for column in self.pool.columns)
        return IdentifyingValues.of(columns)


@dataclass(frozen=True)
class MadeData(Made):
    """A dataset as rows of a pool, with words for it that name no value."""

    source: Source
    rows: Rows
    words: str

    def build(self) -> Any:
        """Return the dataset, of the kind and the types that were given."""
        return self.source.pool.take(self.rows.index())

    def in_words(self) -> str:
        """Return the words."""
        return self.words

    def names_a_value(self, value: object, *, numbers: bool = True) -> bool:
        """Return whether a text, or a number if these are examined, names a value that few records share."""
        known = self.source.identifying
        if isinstance(value, str):
            return known.in_text(value, numbers)
        return numbers and isinstance(value, int | float) and value in known.numbers


@dataclass(frozen=True)
class IdentifyingValues:
    """The values that fewer than `COMMON` records share: numbers, also as written with six digits, texts and words."""

    numbers: frozenset[float]
    texts: frozenset[str]

    @classmethod
    def of(cls, columns: Iterable[Column]) -> IdentifyingValues:
        """Return the values of some columns."""
        numbers: set[float] = set()
        texts: set[str] = set()
        for column in columns:
            if column.numeric:
                numbers |= _rare_numbers(column)
            elif column.kind is not ValueKind.BOOLEAN:
                texts |= _rare_texts(column.values.tolist())
        return cls(frozenset(numbers), frozenset(texts))

    def in_text(self, text: str, numbers: bool) -> bool:
        """Return whether a text names one of them: a number in it, a text in quotes, or a longer one among words."""
        if numbers and any(float(found) in self.numbers for found in _NUMBER.findall(text)):
            return True
        words = set(re.findall(r"\w+", text))
        return any(one in words or (one in text and _stands_alone(one, text)) for one in self.texts)


def _stands_alone(one: str, text: str) -> bool:
    """Return whether a text that occurs in another stands in quotes, or is long and not part of a word."""
    if repr(one) in text:
        return True
    return len(one) >= LEAST_TEXT and re.search(rf"(?<!\w){re.escape(one)}(?!\w)", text) is not None


def _rare_numbers(column: Column) -> set[float]:
    values, counts = np.unique(column.values[column.finite()], return_counts=True)
    rare = values[counts < COMMON].astype(float)
    rare = rare[(np.abs(rare) > SMALL) | (rare != np.round(rare))]
    found: set[float] = set(rare.tolist())
    return found | {float(f"{value:.6g}") for value in found}


def _rare_texts(values: list[Hashable]) -> set[str]:
    """Return the texts of values, and their words, that few records share."""
    counts: Counter[str] = Counter()
    for value in values:
        text = value if isinstance(value, str) else str(value)
        counts.update({text, *(word for word in re.findall(r"\w+", text) if len(word) >= LEAST_TEXT)})
    return {text for text, count in counts.items() if count < COMMON and text}
