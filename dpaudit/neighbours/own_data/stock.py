"""All rows that neighbours are made of: those of the dataset, then new ones with values that attackers would try."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dpaudit.jsonable import stable_repr
from dpaudit.neighbours.own_data.bounds import Bounds
from dpaudit.neighbours.own_data.columns import Column, ValueKind
from dpaudit.neighbours.own_data.entities import SHOWN, Entity
from dpaudit.neighbours.own_data.tables import NewRow, Table
from dpaudit.neighbours.own_data.units import Units, fresh_names
from dpaudit.neighbours.own_data.values import ALLOWED, OUTSIDE, Value, values_of

__all__ = ["Stock"]

MANY = 10
"""Times as many rows as the largest unit has, that a new unit has to see whether its contribution is bounded."""
MOST_ROWS = 1000
"""The most rows that a new unit has."""


@dataclass
class Stock:
    """Rows of a dataset and new ones.

    Parameters
    ----------
    table : Table
        The dataset.
    columns : tuple of Column
        Its columns.
    units : Units
        Which of its rows are a unit.
    bounds : dict
        The bounds of columns.
    group : int
        How many units come or go together.
    outside : bool
        Whether values that the bounds do not allow are tried.
    """

    table: Table
    columns: tuple[Column, ...]
    units: Units
    bounds: Bounds
    group: int
    outside: bool
    new: list[NewRow] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.values = {
            i: values_of(column, self.bounds.get(i)) for i, column in enumerate(self.columns) if i != self.units.column
        }
        unit = self.units.column
        self.names = [] if unit is None else fresh_names(self.columns[unit], self.group + 1)
        self.template = self._complete_row()
        self._keys: dict[int, str] = {}

    @property
    def adds_units(self) -> bool:
        """Whether new units can be named."""
        return self.units.column is None or len(self.names) > self.group

    def allowed(self) -> tuple[Value, ...]:
        """Return the values that are tried, in the order of their use."""
        return (*ALLOWED, *(OUTSIDE if self.outside else ()))

    def row(self, cells: Mapping[int, Any], unit: int = 0, template: int | None = None) -> int:
        """Return the number of a row with these values, of the new unit of that number."""
        found = dict(cells)
        if self.units.column is not None:
            found[self.units.column] = self.names[unit]
        row = NewRow(self.template if template is None else template, found)
        key = self._key_of(row)
        for number, known in enumerate(self.new, self.table.size):
            if self.key(number) == key and known.template == row.template:
                return number
        self.new.append(row)
        return self.table.size + len(self.new) - 1

    def cells(self, value: Value, only: int | None = None) -> dict[int, Any]:
        """Return a value in all columns that can have it, or in one of them."""
        chosen = self.values if only is None else {only: self.values[only]}
        return {i: held[value] for i, held in chosen.items() if value in held}

    def all_with(self, value: Value, unit: int) -> int | None:
        """Return a row that has a value in all columns that can have it; None where none can."""
        cells = self.cells(value)
        return self.row(cells, unit) if cells else None

    def entity(self, value: Value, only: int | None = None) -> Entity | None:
        """Return `group` new units of one row each that have a value; None where no column can have it."""
        cells = self.cells(value, only)
        if not cells:
            return None
        where = "" if only is None else f" in {self.columns[only].title}"
        rows = tuple(self.row(cells, i) for i in range(self.group)) if self.units.column is not None else ()
        return Entity(rows or (self.row(cells),) * self.group, f"{self._noun()} with {value.value}{where}")

    def made(self) -> list[Entity]:
        """Return new units by value, those in all columns first."""
        several = [i for i, held in self.values.items() if held][:SHOWN]
        several = several if len(several) > 1 else []
        made = [self.entity(value) for value in self.allowed()]
        made += [self.entity(value, i) for value in self.allowed() for i in several]
        return [entity for entity in made if entity is not None]

    def doubled(self, entity: Entity) -> Entity:
        """Return the copy of an entity, under names of its own."""
        if self.units.alone:
            return Entity(entity.rows, f"a copy of {entity.words}")
        rows = entity.rows[:MOST_ROWS]
        if self.units.column is not None:
            number = {code: i for i, code in enumerate(dict.fromkeys(self.units.codes[list(rows)].tolist()))}
            rows = tuple(self.row({}, number[int(self.units.codes[row])], row) for row in rows)
        return Entity(rows, f"a copy of {entity.words}")

    def crowds(self) -> Iterator[Entity]:
        """Yield new units of many rows, where rows are not units: their contribution may not be bounded."""
        if self.units.alone:
            return
        times = min(MOST_ROWS, MANY * int(self.units.sizes().max()))
        for value in (Value.HIGH, Value.LOW):
            one = self.entity(value)
            if one is not None:
                yield Entity(one.rows * times, f"{self._noun()} of {times} rows each with {value.value}")

    def like(self, entity: Entity, value: Value) -> Entity | None:
        """Return records like an entity but for a value in all columns that can have it."""
        cells = self.cells(value)
        if not cells or not self.units.alone:
            return None
        row = self.row(cells, template=entity.rows[0])
        return Entity((row,) * self.group, f"{self._noun()} like {entity.words} with {value.value}")

    def key(self, row: int) -> str:
        """Return what tells the records of rows apart, new or not."""
        if row not in self._keys:
            new = self.new[row - self.table.size] if row >= self.table.size else NewRow(row, {})
            self._keys[row] = self._key_of(new)
        return self._keys[row]

    def _key_of(self, row: NewRow) -> str:
        held = (row.cells.get(i, column.values[row.template]) for i, column in enumerate(self.columns))
        return "|".join(map(_shown, held))

    def _noun(self) -> str:
        if self.units.alone:
            return "a record" if self.group == 1 else f"{self.group} records"
        return "a new unit" if self.group == 1 else f"{self.group} new units"

    def _complete_row(self) -> int:
        """Return the first row that misses no number, or the first one."""
        numeric = [column for column in self.columns if column.kind is ValueKind.REAL]
        for row in range(self.table.size):
            if all(math.isfinite(column.values[row]) for column in numeric):
                return row
        return 0


def _shown(value: Any) -> str:
    """Return a number as the same text whatever its type, and anything else as its own."""
    plain = value.item() if hasattr(value, "item") and getattr(value, "ndim", 1) == 0 else value
    if isinstance(plain, int | float):
        return repr(float(plain))
    # An object that does not say what it holds is told apart from all others.
    return str(id(plain)) if repr(plain) == object.__repr__(plain) else stable_repr(plain)
