"""Values of people's records, so that nothing that is shared names one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.neighbours.own_data.columns import Column, ValueKind

__all__ = ["Held"]

COMMON = 10
"""A value that so many records hold tells of none of them."""
SMALL = 10
"""Integers up to here, with either sign, are counts of everything, and tell of nobody."""
LEAST_TEXT = 4
"""Characters of the shortest text that is looked for in the midst of others; shorter ones are found in quotes."""
_NUMBER = re.compile(r"-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")


@dataclass(frozen=True)
class Held:
    """The values that fewer than `COMMON` records hold.

    Parameters
    ----------
    numbers : frozenset of float
        The numbers, and as they are written with six digits.
    texts : frozenset of str
        The texts, and the words in them.
    """

    numbers: frozenset[float]
    texts: frozenset[str]

    @classmethod
    def of(cls, columns: Iterable[Column]) -> Held:
        """Return the values of some columns."""
        numbers: set[float] = set()
        texts: set[str] = set()
        for column in columns:
            if column.numeric:
                numbers |= _rare_numbers(column)
            elif column.kind is not ValueKind.BOOLEAN:
                texts |= _rare_texts(column.values.tolist())
        return cls(frozenset(numbers), frozenset(texts))

    def number(self, value: Any) -> bool:
        """Say whether a number is one of them."""
        return isinstance(value, int | float) and value in self.numbers

    def text(self, text: str, numbers: bool = True) -> bool:
        """Say whether a text names one of them: a number in it, a text in quotes, or a longer one among other words."""
        if numbers and any(float(found) in self.numbers for found in _NUMBER.findall(text)):
            return True
        words = set(re.findall(r"\w+", text))
        return any(held in words or (held in text and _stands_alone(held, text)) for held in self.texts)


def _stands_alone(held: str, text: str) -> bool:
    """Say whether a text that occurs in another stands in quotes, or is long and no part of a word."""
    if repr(held) in text:
        return True
    return len(held) >= LEAST_TEXT and re.search(rf"(?<!\w){re.escape(held)}(?!\w)", text) is not None


def _rare_numbers(column: Column) -> set[float]:
    held = column.values[column.finite()]
    values, counts = np.unique(held, return_counts=True)
    rare = values[counts < COMMON].astype(float)
    rare = rare[(np.abs(rare) > SMALL) | (rare != np.round(rare))]
    found: set[float] = set(rare.tolist())
    return found | {float(f"{value:.6g}") for value in found}


def _rare_texts(values: list[Hashable]) -> set[str]:
    """Return the texts of values, and their words, that few records hold."""
    counts: Counter[str] = Counter()
    for value in values:
        text = value if isinstance(value, str) else str(value)
        counts.update({text, *(word for word in re.findall(r"\w+", text) if len(word) >= LEAST_TEXT)})
    return {text for text, count in counts.items() if count < COMMON and text}
