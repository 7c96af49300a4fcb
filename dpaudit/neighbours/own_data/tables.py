"""A dataset as a table: it is told apart into records, some are added, and datasets of the same kind are made of them.

Each kind of dataset is a class of its own in a module of its own; those of pandas and SciPy are loaded where such data
comes.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import InputError
from dpaudit.jsonable import stable_repr
from dpaudit.neighbours.own_data.columns import Column

__all__ = ["Index", "NewRow", "Table", "rows_in", "table_of", "text_of"]

Index = NDArray[np.int64]
"""Numbers of rows, in the order of a dataset; a row may stand in it many times."""

ALLOWED = (
    "a list or tuple of records, an array, a table of pandas, a dictionary of columns, a tuple of arrays of one "
    "length, or a sparse matrix"
)
_PLAIN = frozenset({str, int, float, bool, type(None)})
_LIBRARIES = {"pandas": "frames", "scipy": "sparse"}
"""The modules, by library, that know the kinds of datasets of one that is loaded only by who uses it."""


@dataclass(frozen=True)
class NewRow:
    """A record that is not among those given.

    Parameters
    ----------
    template : int
        The row whose other fields it has.
    cells : mapping of int to object
        Its values, by the number of the column.
    """

    template: int
    cells: Mapping[int, Any]


class Table(ABC):
    """A dataset of one kind, as rows and columns."""

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of records."""

    @property
    @abstractmethod
    def columns(self) -> tuple[Column, ...]:
        """The fields of a record that are known."""

    @abstractmethod
    def extended(self, rows: Sequence[NewRow]) -> Table:
        """Return the same records followed by new ones; the types of all values stay as they are."""

    @abstractmethod
    def take(self, index: Index) -> Any:
        """Return a dataset of the kind given that holds these rows, in this order."""

    @abstractmethod
    def content(self) -> Iterator[bytes]:
        """Yield bytes that say all that the dataset holds."""

    def digest(self) -> str:
        """Return the SHA-256 of the type and the content, in hexadecimal digits."""
        found = hashlib.sha256(f"{type(self).__name__} {self.size}\n".encode())
        for part in self.content():
            found.update(f"{len(part)}\n".encode())
            found.update(part)
        return found.hexdigest()


@singledispatch
def table_of(data: Any) -> Table:
    """Return a dataset as a table; the kinds are registered by their modules."""
    module = _module_for(data)
    if module is None or type(data) in table_of.registry:
        raise _unknown(data)
    import_module(module)
    if table_of.dispatch(type(data)) is table_of.dispatch(object):
        raise _unknown(data)
    return table_of(data)


def _module_for(data: Any) -> str | None:
    """Return the module that knows the kinds of the library that a type comes from."""
    roots = (kind.__module__.partition(".")[0] for kind in type(data).__mro__)
    return next((f"{__package__}.{_LIBRARIES[root]}" for root in roots if root in _LIBRARIES), None)


def _unknown(data: Any) -> InputError:
    """Return the error that a kind of dataset is not known, with the line that makes it known."""
    name = type(data).__qualname__
    told = "{data} must be {allowed_}, got a {kind}"
    if isinstance(data, str | bytes):
        told += "; it is one value and no dataset: pass a list of records, or what read_dataset(path) returns"
    elif isinstance(data, Iterator):
        told += "; it would be used up by one run: pass list(data)"
    elif data is None or isinstance(data, int | float | complex | np.generic):
        told += "; it is one value and no dataset: pass a list of records"
    else:
        told += "; to use it, say how its records become one of these and back: "
        told += "dpaudit.register_dataset({kind}, lambda data: ..., lambda records: {kind}(...))"
    return InputError(told, names=("data",), allowed=ALLOWED, allowed_=ALLOWED, kind=name)


def text_of(values: list[Any]) -> bytes:
    """Return values as text that depends on nothing else; what is plain says itself, and soon."""
    plain = all(type(value) in _PLAIN for value in values)
    return (repr(values) if plain else stable_repr(values)).encode("utf-8", "surrogatepass")


def rows_in(rows: Iterable[NewRow]) -> Index:
    """Return the templates of new rows."""
    return np.array([row.template for row in rows], dtype=np.int64)
