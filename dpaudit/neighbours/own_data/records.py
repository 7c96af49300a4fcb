"""Datasets that are lists or tuples of records: plain values, tuples, dictionaries, data classes, or anything else."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.errors import InputError
from dpaudit.neighbours.own_data.columns import Column, column_of_objects
from dpaudit.neighbours.own_data.parts import aligned_parts, is_part
from dpaudit.neighbours.own_data.tables import Index, NewRow, Table, table_of, text_of

__all__ = ["RecordTable"]


@dataclass(frozen=True, eq=False)
class RecordTable(Table):
    """A list or tuple of records.

    Parameters
    ----------
    records : list
        The records.
    kind : type
        The type of the dataset, `list` or `tuple`.
    keys : tuple
        The fields of a record, or (None,) where it is one value.
    fields : tuple of Column
        The columns, in the same order.
    """

    records: list[Any]
    kind: type
    keys: tuple[Hashable, ...]
    fields: tuple[Column, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        """The fields of a record."""
        return self.fields

    @property
    def size(self) -> int:
        """The number of records."""
        return len(self.records)

    def extended(self, rows: Sequence[NewRow]) -> Table:
        """Return the same records followed by new ones."""
        made = []
        for row in rows:
            record = self.records[row.template]
            for number, value in row.cells.items():
                record = _changed(record, self.keys[number], value)
            made.append(record)
        return dataclasses.replace(self, records=[*self.records, *made])

    def take(self, index: Index) -> Any:
        """Return a list or tuple of these rows."""
        return self.kind([self.records[row] for row in index.tolist()])

    def content(self) -> Iterator[bytes]:
        """Yield the text of the records."""
        yield text_of(self.records)


@table_of.register(list)
@table_of.register(tuple)
def _of_records(data: Any) -> Table:
    """Return the table of a list or tuple; a tuple of arrays of one length holds the parts of records."""
    kind = tuple if isinstance(data, tuple) else list
    if kind is tuple and data and all(map(is_part, data)):
        return aligned_parts({str(i): part for i, part in enumerate(data)}, tuple)
    records = list(data)
    keys = _keys(records)
    columns = tuple(
        column_of_objects(None if key is None else str(key), [_field(record, key) for record in records])
        for key in keys
    )
    return RecordTable(records, kind, keys, columns)


def _keys(records: list[Any]) -> tuple[Hashable, ...]:
    """Return the fields that all records have.

    Raises
    ------
    InputError
        If dictionaries have different keys, or tuples different lengths.
    """
    if not records or not all(type(record) is type(records[0]) for record in records):
        return (None,)
    first = _fields(records[0])
    if first is None:
        return (None,)
    for row, record in enumerate(records):
        if _fields(record) != first:
            if isinstance(record, list):  # a record of any number of items
                return (None,)
            raise InputError(
                "{data} must hold records of the same fields: row 0 has {most}, row {row} has {fewer}; fill in what "
                "is missing, or leave such rows out",
                names=("data",),
                most=_count(first),
                row=row,
                fewer=_count(_fields(record) or ()),
            )
    return first or (None,)


def _count(fields: Sequence[Any]) -> str:
    return "1 field" if len(fields) == 1 else f"{len(fields)} fields, of other names or number"


def _fields(record: Any) -> tuple[Hashable, ...] | None:
    """Return the fields of a record; None of a value that is not taken apart."""
    if isinstance(record, dict):
        return tuple(record)
    if isinstance(record, tuple | list):
        return tuple(getattr(record, "_fields", range(len(record))))
    if dataclasses.is_dataclass(record) and not isinstance(record, type):
        return tuple(field.name for field in dataclasses.fields(record) if field.init)
    return None


def _field(record: Any, key: Any) -> Any:
    """Return a field of a record; the record itself for None."""
    if key is None:
        return record
    if isinstance(record, dict) or isinstance(key, int):
        return record[key]
    return getattr(record, key)


def _changed(record: Any, key: Any, value: Any) -> Any:
    """Return a record of the same type with another value in a field."""
    if key is None:
        return np.asarray(record).dtype.type(value) if isinstance(record, np.generic) else value
    if isinstance(record, dict):
        return {**record, key: value}
    if isinstance(record, tuple | list):
        fields = _fields(record) or ()
        values = [value if field == key else old for field, old in zip(fields, record, strict=True)]
        # A named tuple takes its fields one by one.
        return type(record)(*values) if hasattr(record, "_fields") else type(record)(values)
    return dataclasses.replace(record, **{key: value})
