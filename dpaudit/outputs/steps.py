"""Steps from an output to one of its parts, each made for all outputs of a batch at once.

A step takes a list of values and returns what it leads to, with a mask of the values that it applies to (None where it
applies to all). It looks at one value at a time, so that a feature never depends on the other outputs of its batch.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpaudit.outputs.families import family
from dpaudit.outputs.parts import parts
from dpaudit.outputs.shared import ObjectRows, Shared, follow

__all__ = ["Family", "Item", "Key", "Named", "Part", "Path", "Step", "in_words", "walk"]

Mask = NDArray[np.bool_]


class Step(Protocol):
    """One step from values to their parts."""

    def __call__(self, values: list[Any]) -> tuple[Sequence[Any], Mask | None]:
        """Return the parts, and which values have one (None for all)."""

    def words(self, path: str) -> str:
        """Return the path after this step, as a person would write it."""


Path = tuple[Step, ...]
Reached = tuple[Sequence[Any], NDArray[np.intp] | None]


@dataclass(frozen=True)
class Family:
    """The values whose type is of one family, as they are."""

    name: str

    def __call__(self, values: list[Any]) -> tuple[list[Any], Mask | None]:
        """Return the values of the family."""
        kinds = set(map(type, values))
        wanted = {kind for kind in kinds if family(kind) == self.name}
        if wanted == kinds:
            return values, None
        mask = np.fromiter((type(value) in wanted for value in values), np.bool_, len(values))
        return [value for value in values if type(value) in wanted], mask

    def words(self, path: str) -> str:
        """Return the path: a family adds nothing to it."""
        return path


@dataclass(frozen=True)
class Part:
    """The parts of the values, as the table of types gives them."""

    def __call__(self, values: Sequence[Any]) -> tuple[Sequence[Any], Mask | None]:
        """Return the parts of every value, those of the same object once."""
        shared = Shared.of(values)
        if shared is None:
            return list(map(parts, values)), None
        return Shared(list(map(parts, shared.objects)), shared.codes), None

    def words(self, path: str) -> str:
        """Return the path: taking apart adds nothing to it."""
        return path


@dataclass(frozen=True)
class Item:
    """The element at a position of a sequence."""

    position: int

    def __call__(self, values: Sequence[Any]) -> tuple[Sequence[Any], Mask | None]:
        """Return the elements of the sequences that are long enough."""
        at = self.position
        if isinstance(values, ObjectRows) and at < values.flat.shape[1]:
            return values.column(at), None
        if min(map(len, values), default=0) > at:
            return list(map(itemgetter(at), values)), None
        mask = np.fromiter((len(value) > at for value in values), np.bool_, len(values))
        return [value[at] for value in values if len(value) > at], mask

    def words(self, path: str) -> str:
        """Return the path with the position behind it."""
        return f"{path}[{self.position}]"


@dataclass(frozen=True)
class Named(Item):
    """The element at a position of a tuple that stands for another part of the output."""

    name: str

    def words(self, path: str) -> str:
        """Return the name of the part."""
        return self.name


@dataclass(frozen=True)
class Key:
    """The value at a key of a mapping."""

    key: Any

    def __call__(self, values: list[Any]) -> tuple[list[Any], Mask | None]:
        """Return the values of the mappings that have the key."""
        key = self.key
        try:
            return list(map(itemgetter(key), values)), None
        except KeyError:
            mask = np.fromiter((key in value for value in values), np.bool_, len(values))
            return [value[key] for value in values if key in value], mask

    def words(self, path: str) -> str:
        """Return the path with the key behind it."""
        return f"{path}[{self.key!r:.60}]"


class _Last(threading.local):
    """The parts that walks of a thread reached from its last two batches: audits read one of each side by turns."""

    def __init__(self) -> None:
        self.batches: deque[tuple[Any, dict[Path, Reached]]] = deque(maxlen=2)


_LAST = _Last()


def walk(rows: Sequence[Any] | NDArray[Any], path: Path) -> Reached:
    """Return the values at the end of a path, and the numbers of the rows that have one (None for all).

    Parameters
    ----------
    rows : sequence
        Outputs, which must not change between walks.
    path : tuple of Step
        From an output to a part of it.
    """
    known = _known(rows)
    start = next((length for length in range(len(path), -1, -1) if path[:length] in known), -1)
    if start < 0:
        start, known[()] = 0, (_listed(rows), None)
    found = known[path[:start]]
    for length in range(start, len(path)):
        found = known[path[: length + 1]] = _after(path[length], *found)
    return found


def _known(rows: Sequence[Any] | NDArray[Any]) -> dict[Path, Reached]:
    """Return what walks from a batch have reached, where each next one is written."""
    for batch, reached in _LAST.batches:
        if batch is rows:
            return reached
    _LAST.batches.append((rows, _begun(rows)))
    return _LAST.batches[-1][1]


def _begun(rows: Sequence[Any] | NDArray[Any]) -> dict[Path, Reached]:
    """Return where walks from a batch begin; arrays in an array of objects are taken apart at once, as `parts` does."""
    reached: dict[Path, Reached] = {}
    if type(rows) is np.ndarray and rows.dtype == object and rows.ndim > 1 and rows.size:
        inside = (Family("array"), Part(), Family("mapping"))
        reached[(*inside, Key("shape"))] = Shared([rows.shape[1:]], np.zeros(len(rows), dtype=np.intp)), None
        elements = ObjectRows(rows.reshape(len(rows), -1)), None
        for begun in ((Key("values"),), (Key("values"), Family("sequence"))):
            reached[(*inside, *begun)] = elements
    return reached


def _listed(rows: Sequence[Any] | NDArray[Any]) -> list[Any]:
    if isinstance(rows, list):
        return rows
    return rows.tolist() if isinstance(rows, np.ndarray) and rows.ndim == 1 else list(rows)


def _after(step: Step, values: Sequence[Any], where: NDArray[np.intp] | None) -> Reached:
    """Return where one step more leads."""
    if not len(values):
        return values, np.zeros(0, dtype=np.intp) if where is None else where
    found, mask = follow(step, values)
    if mask is None:
        return found, where
    return found, np.flatnonzero(mask) if where is None else where[mask]


def in_words(path: Path) -> str:
    """Return a path as a person would write it: "output['name'][2]"."""
    text = "output"
    for step in path:
        text = step.words(text)
    return text
