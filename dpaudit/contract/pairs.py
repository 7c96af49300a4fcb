"""Pairs of neighbouring inputs, and how they were made."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from itertools import takewhile
from typing import Any

from dpaudit.errors import InputError
from dpaudit.jsonable import stable_repr
from dpaudit.withheld import Coarse

__all__ = ["Made", "MadePair", "Origin", "OriginKind", "Pair", "Supremum"]


class OriginKind(StrEnum):
    """The way in which a pair was made, before any local search varied it."""

    CRAFTED = "crafted"
    ENUMERATED = "enumerated"
    GIVEN = "given"
    OWN_DATA = "own data"
    OWN_USERS = "own data by user"
    PATTERN = "pattern"
    RANDOM = "random"
    RECORDED = "recorded"
    STRATEGY = "strategy"

    @property
    def own(self) -> bool:
        """Whether the pair was made from somebody's dataset."""
        return self in (OriginKind.OWN_DATA, OriginKind.OWN_USERS)


@dataclass(frozen=True)
class Origin:
    """The origin of a pair.

    Parameters
    ----------
    kind : OriginKind
        How the pair was made; given by the user where nothing else is said.
    text : str
        A note: of a crafted pair its background and its change, of one made from somebody's data its recipe, which
        names rows and never values, of a random one its number.
    moves : int
        The number of steps of the local search that varied it since.
    """

    kind: OriginKind = OriginKind.GIVEN
    text: str = ""
    moves: int = 0

    def __post_init__(self) -> None:
        if self.moves < 0:
            raise InputError.of("moves", self.moves, "an integer >= 0")


class Pair:
    """Two neighbouring inputs, and their origin; a text in its place is a note on a pair that is given.

    `sides` are both inputs, or what makes them where a run needs them. `shown` is whether findings may show what is in
    data frames among the inputs; all other inputs that are given are shown as they are.
    """

    shown = False

    def __init__(self, data: Any, neighbour: Any, origin: Origin | str = "") -> None:
        if not isinstance(origin, Origin | str):
            raise InputError.of("origin", origin, "an Origin or a text")
        self.sides = data, neighbour
        if isinstance(origin, str):
            origin = Origin(text=origin)
        self.origin = origin

    @property
    def data(self) -> Any:
        """The first input."""
        return self._input(self.sides[0])

    @property
    def neighbour(self) -> Any:
        """The second input."""
        return self._input(self.sides[1])

    @property
    def withheld(self) -> bool:
        """Whether nothing of the records may be shown but what is coarse; all of a pair that was given may."""
        return False

    def _input(self, side: Any) -> Any:
        return side

    def in_words(self) -> tuple[str, str]:
        """Return both inputs as findings describe them."""
        return _words_of(self.data), _words_of(self.neighbour)

    def __eq__(self, other: object) -> bool:
        # A pair that is made is never equal to one that is given, even if its inputs are.
        return type(self) is type(other) and (self.sides, self.origin) == (other.sides, other.origin)

    def __hash__(self) -> int:
        return hash((self.sides, self.origin))

    def __repr__(self) -> str:
        data, neighbour, origin = map(stable_repr, (self.data, self.neighbour, self.origin))
        return f"Pair(data={data}, neighbour={neighbour}, origin={origin})"


def differing(*words: str) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the first character and the end of what differs in each of two texts, by whole words and signs.

    >>> differing("[10, 2, 2]", "[10, 5, 2]"), differing("[1]", "[1, 3]")
    (((5, 6), (5, 6)), ((2, 2), (2, 5)))
    """
    # A number with its sign, point and exponent is one word, so that 10 and 15 differ as a whole.
    one, other = (re.findall(r"[\w.+-]+|\s+|.", text, re.DOTALL) for text in words)
    start = _alike(one, other)
    # The equal words at the beginning do not count again at the end.
    end = _alike(one[start:][::-1], other[start:][::-1])
    first = sum(map(len, one[:start]))
    last = sum(map(len, one[len(one) - end :]))
    return (first, len(words[0]) - last), (first, len(words[1]) - last)


def _alike(one: list[str], other: list[str]) -> int:
    """Return how many words at the beginning of two texts are equal."""
    return len(list(takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))))


def _words_of(value: Any) -> str:
    """Return the beginning of an input as text; sets in it are in order, and integers may have any length."""
    # What fails here is an integer that is longer than Python writes, or a method of the user's.
    with suppress(Exception):
        text = stable_repr(value) if _holds_set(value) else repr(value)
        return f"{text:.300}"
    # Tried again: this writes integers of any length.
    with suppress(Exception):
        return f"{stable_repr(value):.300}"
    return f"an object of the class {type(value).__name__}"


def _holds_set(value: Any) -> bool:
    """Say whether a value is or contains a set, whose order in `repr` changes from process to process."""
    if isinstance(value, dict):
        return any(map(_holds_set, value.values())) or any(map(_holds_set, value))
    return isinstance(value, set | frozenset) or (type(value) in (list, tuple) and any(map(_holds_set, value)))


class Made(ABC):
    """An input that is made where it is needed: many large ones do not fit in memory together."""

    @abstractmethod
    def build(self) -> Any:
        """Return the input, a new one each time."""

    @abstractmethod
    def in_words(self) -> str:
        """Return the input as findings describe it."""

    @property
    def coarse(self) -> Coarse:
        """The values of the records that may be shown."""
        return Coarse()


class MadePair(Pair):
    """Two neighbouring inputs that are made each time they are asked for, and described by their recipes.

    `shown` is whether findings may show the inputs themselves.
    """

    def __init__(self, data: Made, neighbour: Made, origin: Origin, shown: bool = False) -> None:
        super().__init__(data, neighbour, origin)
        self.shown = shown

    def _input(self, side: Made) -> Any:
        return side.build()

    def in_words(self) -> tuple[str, str]:
        """Return the recipes of both inputs, or the inputs where they may be shown."""
        if self.shown:
            return super().in_words()
        # A recipe names rows and never values.
        first, second = self.sides
        return first.in_words(), second.in_words()

    @property
    def withheld(self) -> bool:
        """Whether nothing of the records may be shown but what is coarse."""
        return not self.shown

    def __repr__(self) -> str:
        return f"MadePair({', '.join(self.in_words())})"


@dataclass(frozen=True)
class Supremum:
    """The supremum over all pairs of neighbours, of every size, of the greatest log-ratio of an output, with its proof.

    Parameters
    ----------
    value : float
        sup over (S, S') and outputs o of ln Pr[A(S) = o] / Pr[A(S') = o].
    proof : str
        Why no pair exceeds it, and why the pairs of `ray` reach it; or where that is proved.
    ray : callable
        The pair of neighbours number t = 1, 2, ...: its loss tends to `value` as t grows. It is the same pair for
        every t where the supremum is attained.
    """

    value: float
    proof: str
    ray: Callable[[int], Pair]

    def __post_init__(self) -> None:
        if not self.value >= 0:
            raise InputError.of("value", self.value, "a number >= 0")
