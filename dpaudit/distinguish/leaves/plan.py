"""The plan of an audit's outputs: which leaves they have, found on training runs and then fixed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.distinguish.leaves import readers
from dpaudit.distinguish.leaves.families import families, family
from dpaudit.distinguish.leaves.steps import Element, Family, Item, Key, Named, Part, Path, Step, in_words, walk

__all__ = ["Leaf", "Plan"]

NUMERIC = frozenset({"bool", "int", "float"})
POSITIONS = 64
"""Elements of a sequence of mixed kinds that are taken apart one by one; of a longer one the rest is told as unseen."""
NAMED_POSITIONS = 16
"""Numbers of a sequence that are leaves of their own beside the row that they form."""
KEYS = 256
"""Keys of mappings that are followed: the commonest."""
COMMON = 0.005
"""A key, or a family of types, in a smaller share of the outputs is counted and not taken apart."""
LEAST_ROWS = 5
DEPTH = 16
MOST_CATEGORIES = 256


@dataclass(frozen=True)
class Leaf:
    """A part of the outputs that is a number, a text, bytes, a category or a row of numbers.

    Attributes
    ----------
    path : Path
        The steps from an output to the part.
    reader : callable
        Makes an array, or a list of texts or bytes, of the parts of a batch.
    name : str
        The leaf as a person would write it.
    in_row : bool
        Whether another leaf, a row of numbers, holds it too.
    """

    path: Path
    reader: Callable[[Sequence[Any]], Any]
    name: str
    in_row: bool = False

    def read(self, rows: Sequence[Any]) -> tuple[Any, NDArray[np.intp] | None]:
        """Return the parts that are there, and the numbers of their rows (None where every row has one)."""
        if isinstance(rows, np.ndarray):
            direct = self._of_array(rows)
            if direct is not None:
                return direct, None
            rows = list(rows) if rows.ndim > 1 else rows.tolist()
        values, where = walk(rows, self.path)
        return self.reader(values), where

    def _of_array(self, rows: NDArray[Any]) -> Any:
        """Return the parts of outputs that are rows of one array, without making objects; None where they need them."""
        if len(self.path) != 1 or not isinstance(self.path[0], Family):
            return None
        if rows.ndim > 1:
            numeric = rows.dtype.kind in "iufb" and isinstance(self.reader, readers.Block)
            return self.reader(rows) if numeric and self.path[0].name == "array" else None
        kinds = {"i": "int", "u": "int", "b": "bool", "f": "float"}
        if kinds.get(rows.dtype.kind) != self.path[0].name or not isinstance(self.reader, readers.Whole | readers.Real):
            return None
        return self.reader(rows)


@dataclass
class Plan:
    """The leaves of some outputs.

    Attributes
    ----------
    leaves : list of Leaf
        All that is looked at.
    unseen : list of str
        What is not looked at, in words.
    """

    leaves: list[Leaf] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    _in_row: bool = False

    @classmethod
    def of_reduced(cls, rows: Any, names: Sequence[str], columns: tuple[str, ...]) -> Plan:
        """Return the plan of wide outputs as a reducer returns them.

        Parameters
        ----------
        rows : array or list of tuples
            Reduced rows, or tuples of the values of other leaves with such a row at the end.
        names : sequence of str
            Of the other leaves.
        columns : tuple of str
            Of the reduced rows.
        """
        plan = cls()
        for j, name in enumerate(names):
            plan._node([row[j] for row in rows], (Named(j, name),), len(rows))
        path: Path = (Named(len(names), "output"),) if names else (Family("array"),)
        plan._add(path, readers.Block(len(columns), columns))
        return plan

    @classmethod
    def of(cls, rows: Sequence[Any] | NDArray[Any]) -> Plan:
        """Return the plan of outputs of both sides.

        Raises
        ------
        InputError
            If an output cannot be taken apart.
        """
        plan = cls()
        if isinstance(rows, np.ndarray) and rows.dtype.kind in "iufb":
            plan._of_array(rows)
        else:
            listed = rows.tolist() if isinstance(rows, np.ndarray) and rows.ndim == 1 else list(rows)
            plan._node(listed, (), len(listed))
        return plan

    def _of_array(self, rows: NDArray[Any]) -> None:
        """Plan outputs that are numbers or rows of one array."""
        if rows.ndim > 1:
            self._add((Family("array"),), readers.Block(int(np.prod(rows.shape[1:], dtype=int))))
            return
        kind = {"i": "int", "u": "int", "b": "bool", "f": "float"}[rows.dtype.kind]
        self._add((Family(kind),), readers.Real() if kind == "float" else readers.Whole())

    def _add(self, path: Path, reader: Callable[[Sequence[Any]], Any], what: str = "") -> None:
        name = in_words(path)
        self.leaves.append(Leaf(path, reader, f"{what} of {name}" if what else name, self._in_row))

    def _node(self, values: list[Any], path: Path, total: int) -> None:
        """Plan the values at the end of a path."""
        if len(path) > DEPTH:
            self.unseen.append(f"what is nested deeper than {DEPTH} levels, in {in_words(path)}")
            return
        found = Counter(family(type(value)) for value in values) if len(families(values)) > 1 else Counter(
            {name: len(values) for name in families(values)}
        )  # fmt: skip
        if len(found) > 1:
            self._category(readers.kind_of, values, path, "type")
            if set(found) <= NUMERIC:
                self._add(path, readers.Real(), "value")
        for name in sorted(found):
            if len(found) > 1 and found[name] < max(LEAST_ROWS, COMMON * total):
                continue
            step = Family(name)
            below = step(values)[0]
            _HANDLERS.get(name, Plan._object)(self, below, (*path, step), total)

    def _category(self, of: Callable[[Any], Any], values: Sequence[Any], path: Path, what: str) -> None:
        """Add a category of the values if it varies."""
        reader = readers.Categories.fit(of, values, MOST_CATEGORIES)
        if len(reader.numbers) > 1:
            self._add(path, reader, what)

    def _whole(self, values: list[Any], path: Path, total: int) -> None:
        self._add(path, readers.Whole())

    def _real(self, values: list[Any], path: Path, total: int) -> None:
        self._add(path, readers.Real())

    def _text(self, values: list[Any], path: Path, total: int) -> None:
        self._add(path, readers.Text())

    def _octets(self, values: list[Any], path: Path, total: int) -> None:
        self._add(path, readers.Octets(64))

    def _none(self, values: list[Any], path: Path, total: int) -> None:
        """Plan nothing: that an output is None is its type."""

    def _sequence(self, values: list[Any], path: Path, total: int) -> None:
        lengths = Counter(map(len, values))
        longest = max(lengths)
        if len(lengths) > 1:
            self._add((*path, Length()), readers.Whole())
        inside = {family(kind) for kind in set(map(type, chain.from_iterable(values)))}
        if inside <= NUMERIC:
            if longest:
                self._add(path, readers.Block(longest))
            self._category(_types_of, values, path, "types") if len(inside) > 1 else None
            if 1 <= longest <= NAMED_POSITIONS:
                outer, self._in_row = self._in_row, True
                self._positions(values, path, total, longest)
                self._in_row = outer
        else:
            self._category(_types_of, values, path, "types")
            self._positions(values, path, total, min(longest, POSITIONS))
            if longest > POSITIONS:
                self.unseen.append(f"elements {POSITIONS} to {longest - 1} of {in_words(path)}")

    def _positions(self, values: list[Any], path: Path, total: int, longest: int) -> None:
        for j in range(longest):
            below = Item(j)(values)[0]
            if len(below) >= max(LEAST_ROWS, COMMON * total) or len(values) == len(below):
                self._node(below, (*path, Item(j)), total)

    def _array(self, values: list[NDArray[Any]], path: Path, total: int) -> None:
        if any(value.dtype.kind not in "iufb" for value in values):
            self._object(values, path, total)
            return
        self._category(readers.shape_of, values, path, "shape")
        widest = max(value.size for value in values)
        if len({value.size for value in values}) > 1:
            self._add((*path, Size()), readers.Whole())
        if widest:
            self._add(path, readers.Block(widest))

    def _mapping(self, values: list[Any], path: Path, total: int) -> None:
        self._category(readers.key_set, values, path, "keys")
        self._category(readers.key_order, values, path, "order of the keys")
        if len(set(map(len, values))) > 1:
            self._add((*path, Length()), readers.Whole())
        counts = Counter(chain.from_iterable(values))
        least = max(LEAST_ROWS, COMMON * total)
        kept = [key for key, count in counts.most_common(KEYS) if count >= least or count == len(values)]
        for key in sorted(kept, key=repr):
            below = Key(key)(values)[0]
            if len(below) < len(values):
                self._category(_Has(key), values, path, f"presence of {key!r:.60}")
            self._node(below, (*path, Key(key)), total)
        if len(kept) < len(counts):
            self._node([tuple(value) for value in values], (*path, Keys()), total)
            self._node([tuple(value.values()) for value in values], (*path, Values()), total)

    def _set(self, values: list[Any], path: Path, total: int) -> None:
        counts = Counter(chain.from_iterable(values))
        for member, count in counts.most_common(KEYS):
            if LEAST_ROWS <= count < len(values):
                self._category(_Has(member), values, path, f"membership of {member!r:.60}")
        self._node(Element()(values)[0], (*path, Element()), total)

    def _exception(self, values: list[Any], path: Path, total: int) -> None:
        self._category(_exception_kind, values, path, "exception type")
        self._add((*path, Message()), readers.Text())

    def _object(self, values: list[Any], path: Path, total: int) -> None:
        self._node(Part()(values)[0], (*path, Part()), total)


def _types_of(values: Iterable[Any]) -> str:
    """Return the families of the first elements, as one category."""
    return " ".join(family(type(value)) for value, _ in zip(values, range(POSITIONS), strict=False))


def _exception_kind(error: Any) -> str:
    return str(getattr(error, "kind", type(error).__qualname__))


@dataclass(frozen=True)
class _Has:
    """Says whether a mapping or a set has a member."""

    member: Any

    def __call__(self, values: Any) -> bool:
        return self.member in values


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


_STEPS: tuple[type[Step], ...] = (Length, Size, Keys, Values, Message)

_HANDLERS: dict[str, Callable[[Plan, list[Any], Path, int], None]] = {
    "bool": Plan._whole,
    "int": Plan._whole,
    "float": Plan._real,
    "text": Plan._text,
    "bytes": Plan._octets,
    "none": Plan._none,
    "sequence": Plan._sequence,
    "array": Plan._array,
    "mapping": Plan._mapping,
    "set": Plan._set,
    "exception": Plan._exception,
}
