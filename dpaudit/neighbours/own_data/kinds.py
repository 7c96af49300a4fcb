"""Reads datasets of every kind that is known, and lets users add a kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dpaudit.errors import InputError
from dpaudit.neighbours.own_data import arrays, records
from dpaudit.neighbours.own_data.columns import Column
from dpaudit.neighbours.own_data.tables import Index, NewRow, Table, table_of

__all__ = ["Registered", "read_table", "register_dataset"]

KINDS = (arrays.ArrayTable, records.RecordTable)
"""The kinds that are known from the start: their modules have to be loaded, and register them."""


def read_table(data: Any) -> Table:
    """Return a dataset as a table.

    Raises
    ------
    InputError
        If it is of a kind that is not known, holds no record, or holds records of different kinds.
    """
    table = table_of(data)
    if table.size == 0:
        raise InputError(
            "{data} must hold at least one record, got an empty {kind}: neighbours are made of the records that are "
            "there",
            names=("data",),
            kind=type(data).__qualname__,
        )
    return table


@dataclass(frozen=True)
class Registered(Table):
    """A dataset of a user's kind, held as one of a kind that is known."""

    table: Table
    rebuild: Callable[[Any], Any]

    @property
    def size(self) -> int:
        """The number of records."""
        return self.table.size

    @property
    def columns(self) -> tuple[Column, ...]:
        """The fields of a record."""
        return self.table.columns

    def extended(self, rows: Sequence[NewRow]) -> Table:
        """Return the same records followed by new ones."""
        return Registered(self.table.extended(rows), self.rebuild)

    def take(self, index: Index) -> Any:
        """Return a dataset of the user's kind."""
        return self.rebuild(self.table.take(index))

    def content(self) -> Iterator[bytes]:
        """Yield what the known kind holds."""
        return self.table.content()


def register_dataset(kind: type, records: Callable[[Any], Any], rebuild: Callable[[Any], Any]) -> None:
    """Say how datasets of a type become records and back, so that neighbours of them can be made.

    Parameters
    ----------
    kind : type
        The type; its subclasses are taken in the same way.
    records : callable
        Maps a dataset to one of a kind that is known: a list of records, an array, a table of pandas.
    rebuild : callable
        Maps such records, of any number and order, to a dataset of the type. With several jobs it travels to the
        workers, so it must pickle.

    Raises
    ------
    InputError
        If `kind` is no class, or a function cannot be called.

    Examples
    --------
    >>> class Ages:
    ...     def __init__(self, years):
    ...         self.years = years
    >>> register_dataset(Ages, lambda ages: ages.years, Ages)
    >>> read_table(Ages([31, 47])).size
    2
    """
    if not isinstance(kind, type) or kind is object:
        raise InputError.of("kind", kind, "a class of datasets")
    for name, function in (("records", records), ("rebuild", rebuild)):
        if not callable(function):
            raise InputError.of(name, function, "a callable that takes a dataset")
    table_of.register(kind, lambda data: Registered(table_of(records(data)), rebuild))
