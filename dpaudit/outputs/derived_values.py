"""Steps from a value to something that describes all of it: its length, its keys, its order, its form as text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.jsonable import stable_repr

__all__ = [
    "Decimals",
    "Element",
    "Entry",
    "Fields",
    "Has",
    "Hexadecimal",
    "Keys",
    "Length",
    "Message",
    "Numbers",
    "Size",
    "Values",
    "from_hexadecimal",
    "from_json",
    "key_order",
    "key_set",
    "template",
]

T = TypeVar("T")

_DIGITS = re.compile(r"[0-9]+")
_DECIMAL = re.compile(r"(?:(?<!\w)[-+])?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_HEXADECIMAL = re.compile(r"[0-9a-fA-F]{8}[0-9a-fA-F-]*")
LOOKED_THROUGH = 4096
"""Characters of a text whose numbers are read."""
MOST_DIGITS = 4000
"""Python reads no integers of more than 4300 digits."""


@dataclass(frozen=True)
class Element:
    """The elements of a set in the order of their representation, as a tuple."""

    def __call__(self, values: list[Any]) -> tuple[list[Any], None]:
        """Return the sorted elements of every set."""
        return [_sorted(value) for value in values], None

    def words(self, path: str) -> str:
        """Return the path of the sorted elements."""
        return f"sorted({path})"


def _sorted(values: Any) -> tuple[Any, ...]:
    """Return the elements of a set, ascending where they can be compared."""
    try:
        return tuple(sorted(values))
    except TypeError:
        return tuple(sorted(values, key=stable_repr))


@dataclass(frozen=True)
class Length:
    """The length of each value."""

    def __call__(self, values: list[Any]) -> tuple[list[Any], None]:
        """Return the lengths."""
        return list(map(len, values)), None

    def words(self, path: str) -> str:
        """Return the path as a length."""
        return f"len({path})"


@dataclass(frozen=True)
class Size:
    """The number of elements of each array."""

    def __call__(self, values: list[Any]) -> tuple[list[Any], None]:
        """Return the sizes."""
        return [value.size for value in values], None

    def words(self, path: str) -> str:
        """Return the path as a size."""
        return f"size of {path}"


@dataclass(frozen=True)
class Keys:
    """The keys of each mapping, in its order."""

    def __call__(self, values: list[Any]) -> tuple[list[Any], None]:
        """Return the keys as tuples."""
        return list(map(tuple, values)), None

    def words(self, path: str) -> str:
        """Return the path of the keys."""
        return f"keys of {path}"


@dataclass(frozen=True)
class Values:
    """The values of each mapping, in its order."""

    def __call__(self, values: list[Any]) -> tuple[list[Any], None]:
        """Return the values as tuples."""
        return [tuple(value.values()) for value in values], None

    def words(self, path: str) -> str:
        """Return the path of the values."""
        return f"values of {path}"


@dataclass(frozen=True)
class Message:
    """The message of each exception."""

    def __call__(self, values: list[Any]) -> tuple[list[Any], None]:
        """Return the messages."""
        return [str(getattr(value, "message", value)) for value in values], None

    def words(self, path: str) -> str:
        """Return the path of the message."""
        return f"message of {path}"


@dataclass(frozen=True)
class Entry:
    """The element at a place of each array, counted along its rows."""

    place: int

    def __call__(self, values: list[Any]) -> tuple[list[Any], NDArray[np.bool_] | None]:
        """Return the elements of the arrays that are large enough."""
        at = self.place
        if all(value.size > at for value in values):
            return [value.item(at) for value in values], None
        mask = np.fromiter((value.size > at for value in values), np.bool_, len(values))
        return [value.item(at) for value in values if value.size > at], mask

    def words(self, path: str) -> str:
        """Return the path with the place behind it."""
        return f"{path}.flat[{self.place}]"


@dataclass(frozen=True)
class Numbers:
    """The whole numbers in each text, one for every run of digits."""

    def __call__(self, values: list[Any]) -> tuple[list[Any], None]:
        """Return the numbers as tuples."""
        return _each(_numbers, values), None

    def words(self, path: str) -> str:
        """Return the path of the numbers."""
        return f"numbers in {path}"


@dataclass(frozen=True)
class Decimals:
    """The numbers in each text as a person reads them, with sign, decimals and exponent."""

    def __call__(self, values: list[Any]) -> tuple[list[Any], None]:
        """Return the numbers as tuples of floats."""
        return _each(_decimals, values), None

    def words(self, path: str) -> str:
        """Return the path of the numbers."""
        return f"decimal numbers in {path}"


def _each(of: Callable[[str], T], values: Sequence[str]) -> list[T]:
    """Return what a function makes of each text; texts that are equal are looked at once."""
    known = {value: of(value) for value in dict.fromkeys(values)}
    return list(map(known.__getitem__, values))


def _numbers(text: str) -> tuple[int, ...]:
    return tuple([int(found[:MOST_DIGITS]) for found in _DIGITS.findall(text[:LOOKED_THROUGH])])


def _decimals(text: str) -> tuple[float, ...]:
    return tuple(map(float, _DECIMAL.findall(text[:LOOKED_THROUGH])))


@dataclass(frozen=True)
class Fields:
    """The values that texts of JSON stand for."""

    def __call__(self, values: list[Any]) -> tuple[list[Any], NDArray[np.bool_] | None]:
        """Return what the texts stand for, and which are JSON."""
        read = [from_json(value) for value in values]
        if None not in read:
            return [found[0] for found in read if found is not None], None
        mask = np.fromiter((found is not None for found in read), np.bool_, len(read))
        return [found[0] for found in read if found is not None], mask

    def words(self, path: str) -> str:
        """Return the path of what the text stands for."""
        return f"json.loads({path})"


def from_json(text: str) -> tuple[Any] | None:
    """Return in a tuple of one what a text that is a JSON object or array stands for; None for any other text."""
    if text[:1] not in ("{", "["):
        return None
    try:
        return (json.loads(text),)
    except (ValueError, RecursionError):
        return None


@dataclass(frozen=True)
class Hexadecimal:
    """The integer that each text of hexadecimal digits stands for, dashes between them left out."""

    def __call__(self, values: list[Any]) -> tuple[list[Any], NDArray[np.bool_] | None]:
        """Return the integers, and which texts are hexadecimal."""
        read = [from_hexadecimal(value) for value in values]
        if None not in read:
            return read, None
        mask = np.fromiter((found is not None for found in read), np.bool_, len(read))
        return [found for found in read if found is not None], mask

    def words(self, path: str) -> str:
        """Return the path of the integer."""
        return f"int({path}, 16)"


def from_hexadecimal(text: str) -> int | None:
    """Return the integer that a text of at least eight hexadecimal digits stands for; None for any other text."""
    return int(text[:LOOKED_THROUGH].replace("-", ""), 16) if _HEXADECIMAL.fullmatch(text) else None


def template(text: str) -> Hashable:
    """Return a text with every run of digits as one sign."""
    return _DIGITS.sub("#", text[:LOOKED_THROUGH])


@dataclass(frozen=True)
class Has:
    """Says whether a mapping or a set has a member."""

    member: Any

    def __call__(self, values: Any) -> bool:
        """Return whether the member is there."""
        return self.member in values


def key_order(value: Mapping[Any, Any]) -> Hashable:
    """Return the keys of a mapping in their order."""
    return tuple(value)


def key_set(value: Mapping[Any, Any]) -> Hashable:
    """Return the keys of a mapping, whatever their order."""
    return frozenset(value)
