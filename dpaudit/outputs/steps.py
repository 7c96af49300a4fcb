"""Steps from an output to one of its parts, each made for all outputs of a batch at once.

A step takes a list of values and returns what it leads to, with a mask of the values that it applies to (None where it
applies to all). It looks at one value at a time, so that a feature never depends on the other outputs of its batch. A
new step is a function, and a line of `_STEPS`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import compress
from operator import itemgetter, methodcaller
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.jsonable import stable_repr
from dpaudit.outputs.canonical import family
from dpaudit.outputs.parts import parts
from dpaudit.outputs.readers import entries
from dpaudit.outputs.shared import Shared

__all__ = ["Path", "Step", "from_hexadecimal", "from_json", "in_words", "template"]

Mask = NDArray[np.bool_]
Taken: TypeAlias = tuple[Sequence[Any], Mask | None]

_DIGITS = re.compile(r"[0-9]+")
_DECIMAL = re.compile(r"(?:(?<!\w)[-+])?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_HEXADECIMAL = re.compile(r"[0-9a-fA-F]{8}[0-9a-fA-F-]*")
LOOKED_THROUGH = 4096
"""Characters of a text whose numbers are read."""
MOST_DIGITS = 4000
"""Python reads no integers of more than 4300 digits."""


@dataclass(frozen=True)
class Step:
    """One step from values to their parts.

    Attributes
    ----------
    name : str
        Which of `_STEPS` it is.
    at : any
        The position, key, place or family that it leads to, where there are several.
    """

    name: str
    at: Any = None

    def __call__(self, values: Sequence[Any]) -> Taken:
        """Return the parts, and which values have one (None for all)."""
        return _STEPS[self.name][0](values, self.at)


Path: TypeAlias = tuple[Step, ...]


def in_words(path: Path) -> str:
    """Return a path as a person would write it: "output['name'][2]"."""
    text = "output"
    for step in path:
        text = _STEPS[step.name][1].format(text, step.at)
    return text


def _of_family(values: Sequence[Any], name: str) -> Taken:
    """Return the values whose type is of a family."""
    kinds = set(map(type, values))
    wanted = {kind for kind in kinds if family(kind) == name}
    if wanted == kinds:
        return values, None
    mask = np.fromiter((type(value) in wanted for value in values), np.bool_, len(values))
    return list(compress(values, mask)), mask


def _parts(values: Sequence[Any], at: None) -> Taken:
    """Return the parts of every value, as the table of types has them, those of the same object once."""
    shared = Shared.of(values)
    if shared is None:
        return list(map(parts, values)), None
    return Shared(list(map(parts, shared.objects)), shared.codes), None


def _item(values: Sequence[Any], at: int) -> Taken:
    """Return the elements at a position of the sequences that are long enough."""
    if isinstance(values, np.ndarray) and at < values.shape[1]:  # rows of objects
        column = values[:, at].tolist()
        return Shared.of(column) or column, None
    return _where(lambda value: len(value) > at, itemgetter(at), values)


def _where(has: Callable[[Any], bool], take: Callable[[Any], Any], values: Sequence[Any]) -> Taken:
    """Return the step to something that some values have; those that lack it raise `LookupError`."""
    try:
        return list(map(take, values)), None
    except LookupError:
        mask = np.fromiter(map(has, values), np.bool_, len(values))
        return list(map(take, compress(values, mask))), mask


def _each(of: Callable[[Any], Any]) -> Callable[[Sequence[Any], None], Taken]:
    """Return the step to something that every value has."""
    return lambda values, at: (list(map(of, values)), None)


def _each_text(of: Callable[[str], Any]) -> Callable[[Sequence[Any], None], Taken]:
    """Return the step to something that every text has; texts that are equal are looked at once."""

    def step(values: Sequence[Any], at: None) -> Taken:
        known = {value: of(value) for value in dict.fromkeys(values)}
        return list(map(known.__getitem__, values)), None

    return step


def _some(of: Callable[[Any], tuple[Any] | None]) -> Callable[[Sequence[Any], None], Taken]:
    """Return the step to something that some values have, given in a tuple of one; None for the others."""

    def step(values: Sequence[Any], at: None) -> Taken:
        read = list(map(of, values))
        found = [one[0] for one in read if one is not None]
        if len(found) == len(read):
            return found, None
        return found, np.fromiter((one is not None for one in read), np.bool_, len(read))

    return step


def _sorted(values: Any) -> tuple[Any, ...]:
    """Return the elements of a set, ascending where they can be compared."""
    try:
        return tuple(sorted(values))
    except TypeError:
        return tuple(sorted(values, key=stable_repr))


def _explicit_zeros(value: Any) -> tuple[int, ...]:
    """Return the places of the zeros that a sparse matrix stores, ascending."""
    places, held = entries(value)
    return tuple(places[held == 0].tolist())


def _numbers(text: str) -> tuple[int, ...]:
    """Return the whole numbers in a text, one for every run of digits."""
    return tuple([int(found[:MOST_DIGITS]) for found in _DIGITS.findall(text[:LOOKED_THROUGH])])


def _decimals(text: str) -> tuple[float, ...]:
    """Return the numbers in a text as a person reads them, with sign, decimals and exponent."""
    return tuple(map(float, _DECIMAL.findall(text[:LOOKED_THROUGH])))


def from_json(text: str) -> tuple[Any] | None:
    """Return in a tuple of one what a text that is a JSON object or array stands for; None for any other text."""
    if text[:1] not in ("{", "["):
        return None
    try:
        return (json.loads(text),)
    except (ValueError, RecursionError):
        return None


def from_hexadecimal(text: str) -> tuple[int] | None:
    """Return in a tuple of one the integer that a text of at least eight hexadecimal digits stands for, or None."""
    return (int(text[:LOOKED_THROUGH].replace("-", ""), 16),) if _HEXADECIMAL.fullmatch(text) else None


def template(text: str) -> Hashable:
    """Return a text with every run of digits as one sign."""
    return _DIGITS.sub("#", text[:LOOKED_THROUGH])


_STEPS: dict[str, tuple[Callable[[Any, Any], Taken], str]] = {
    "family": (_of_family, "{0}"),
    "parts": (_parts, "{0}"),
    "item": (_item, "{0}[{1}]"),
    "leaf": (lambda values, at: _item(values, at[0]), "{1[1]}"),
    "key": (lambda values, key: _where(lambda value: key in value, itemgetter(key), values), "{0}[{1!r:.60}]"),
    "entry": (
        lambda values, at: _where(lambda value: value.size > at, methodcaller("item", at), values),
        "{0}.flat[{1}]",
    ),
    "length": (_each(len), "len({0})"),
    "size": (_each(lambda array: array.size), "size of {0}"),
    "keys": (_each(tuple), "keys of {0}"),
    "values": (_each(lambda mapping: tuple(mapping.values())), "values of {0}"),
    "elements": (_each(_sorted), "sorted({0})"),
    "message": (_each(lambda error: str(getattr(error, "message", error))), "message of {0}"),
    "stored entries": (_each(lambda matrix: int(matrix.nnz)), "stored entries of {0}"),
    "explicit zeros": (_each(_explicit_zeros), "places of the zeros stored in {0}"),
    "numbers": (_each_text(_numbers), "numbers in {0}"),
    "decimals": (_each_text(_decimals), "decimal numbers in {0}"),
    "json": (_some(from_json), "json.loads({0})"),
    "hexadecimal": (_some(from_hexadecimal), "int({0}, 16)"),
}
"""The function of each step, and the words of the path after it; a "leaf" is a part of a reduced row, by its name."""
