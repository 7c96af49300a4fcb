"""Datasets whose records lie side by side in several parts: a dictionary of columns, or a tuple such as (X, y)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpaudit.errors import InputError
from dpaudit.neighbours.own_data.columns import Column
from dpaudit.neighbours.own_data.tables import Index, NewRow, Table, table_of

__all__ = ["PartsTable", "aligned_parts", "is_part"]


@dataclass(frozen=True, eq=False)
class PartsTable(Table):
    """Several datasets of one length, whose rows of one number are one record.

    Parameters
    ----------
    parts : mapping of str to Table
        The datasets, by name.
    kind : callable
        What the dataset is: `dict` takes the parts by name, `tuple` takes them in order.
    """

    parts: Mapping[str, Table]
    kind: Callable[[Any], Any]

    @property
    def size(self) -> int:
        """The number of records."""
        return next(iter(self.parts.values())).size

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of all parts; that of a part with just one has the part's name."""
        return tuple(
            replace(column, name=name if column.name is None else f"{name}.{column.name}")
            for name, part in self.parts.items()
            for column in part.columns
        )

    def extended(self, rows: Sequence[NewRow]) -> Table:
        """Return the same records followed by new ones."""
        found, start = {}, 0
        for name, part in self.parts.items():
            stop = start + len(part.columns)
            own = [
                NewRow(row.template, {c - start: value for c, value in row.cells.items() if start <= c < stop})
                for row in rows
            ]
            found[name], start = part.extended(own), stop
        return PartsTable(found, self.kind)

    def take(self, index: Index) -> Any:
        """Return the parts with these rows, as they were given."""
        taken = {name: part.take(index) for name, part in self.parts.items()}
        return self.kind(taken if self.kind is dict else taken.values())

    def content(self) -> Iterator[bytes]:
        """Yield names and contents of all parts."""
        for name, part in self.parts.items():
            yield name.encode()
            yield from part.content()


def is_part(value: Any) -> bool:
    """Say whether a value is an array or a table of a library: what tuples of parts consist of."""
    return hasattr(value, "shape") and len(value.shape) > 0 and hasattr(value, "dtype" if _is_array(value) else "iloc")


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) or hasattr(value, "tocsr")


def aligned_parts(parts: Mapping[Any, Any], kind: Callable[[Any], Any]) -> Table:
    """Return the table of parts.

    Raises
    ------
    InputError
        If there is none, one is no dataset, or their lengths differ.
    """
    if not parts:
        raise InputError("{data} must hold at least one column, got an empty dictionary", names=("data",))
    tables = {}
    for name, part in parts.items():
        if not isinstance(part, list | tuple) and not is_part(part):
            raise InputError(
                "{data} must be a dictionary of columns: the value of {name} is a {kind}; pass a list or an array of "
                "one value a record",
                names=("data",),
                name=repr(name),
                kind=type(part).__qualname__,
            )
        tables[name] = table_of(part)
    sizes = {str(name): table.size for name, table in tables.items()}
    if len(set(sizes.values())) > 1:
        told = ", ".join(f"{name!r} has {size}" for name, size in sizes.items())
        raise InputError("{data} must hold columns of one length: {told:.300}", names=("data",), told=told)
    return PartsTable(tables, kind)


@table_of.register(dict)
def _of_columns(data: dict[Any, Any]) -> Table:
    """Return the table of a dictionary of columns."""
    return aligned_parts(data, dict)
