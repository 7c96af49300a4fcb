"""All rows that neighbours are made of: those of the dataset, then new ones with values that attackers would try."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from itertools import islice
from typing import Any

import numpy as np

from dpaudit.jsonable import stable_repr
from dpaudit.neighbours.own_data.data_columns import Cell, DataColumn, ValueKind
from dpaudit.neighbours.own_data.units import COLUMNS, UnitRows, Units
from dpaudit.neighbours.own_data.value_bounds import ColumnBounds, Ends

# Widths of the bounds by which the farther of the values outside lie outside.
FAR = 1000
# Words of the long text.
LONG = 1000
# Columns of numbers, at least, of a record with both ends of the bounds.
MIXED = 4
# Times as many rows as the largest unit has, that a new unit has to test whether its contribution is bounded.
MANY = 10
# The most rows that a new unit has.
MOST_ROWS = 1000


class NewValue(Enum):
    """A value by its place among the others, in the words of a recipe; columns that have such a value have it together.

    The least and the greatest value are the bounds, or those of the data if no bounds are given.
    """

    HIGH = "the greatest value"
    LOW = "the least value"
    MIDDLE = "the middle value"
    TINY = "a value that floating-point sums lose"
    FAR_ABOVE = "a value far above the greatest"
    NAN = "NaN"
    UNSEEN = "a text that the data do not hold"
    FAR_BELOW = "a value far below the least"
    EMPTY = "an empty text"
    INFINITY = "infinity"
    MOST = "the greatest number of its type, or next to it"
    LONG = "a long text"
    BELOW = "a value below the least"
    ABOVE = "a value above the greatest"
    MINUS_INFINITY = "minus infinity"
    LEAST = "the least number of its type"


# Those that bounds allow, and that come to a background; of the other two backgrounds are made.
ALLOWED = (NewValue.HIGH, NewValue.LOW)
# Those that bounds do not allow: what comes of them is part of the mechanism, which may have to clip.
OUTSIDE = tuple(value for value in NewValue if value not in (*ALLOWED, NewValue.MIDDLE, NewValue.TINY))


@dataclass
class CandidateRows:
    """Rows of a dataset of `size` records, and new ones; `group` units come or go together.

    `outside` is whether values that the bounds do not allow are tried. A new row is the number of a row like it, and
    the cells in which it differs.
    """

    size: int
    columns: tuple[DataColumn, ...]
    units: Units
    bounds: ColumnBounds
    group: int
    outside: bool
    new: list[tuple[int, Mapping[int, Cell]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        unit = self.units.column
        self.values = {i: _values(c, self.bounds.get(i)) for i, c in enumerate(self.columns) if i != unit}
        if unit is None:
            self.names: list[Cell] = []
            self.adds_units = True
            self.adds_unnamed = False
        else:
            # One more than a group has, so that a background may have a unit of its own.
            self.names = _fresh_names(self.columns[unit], self.group + 1)
            self.adds_units = len(self.names) > self.group
            self.adds_unnamed = self.columns[unit].nullable and (self.outside or bool(self.units.unnamed))
        self.template = self._first_complete()
        self._by_content: dict[tuple[int, str], int] = {}
        self._with_missing: dict[int, bool] = {}

    def _first_complete(self) -> int:
        """Return the first row without a missing or an infinite number, row 0 if there is none."""
        real = [column.values for column in self.columns if column.kind is ValueKind.REAL]
        # New rows are like it: with a NaN in it their sums would be NaN whatever else differs.
        for row in range(self.size):
            if all(math.isfinite(values[row]) for values in real):
                return row
        return 0

    def row(self, cells: Mapping[int, Cell], unit: int | None = 0, template: int | None = None) -> int:
        """Return the number of a row with these values, of the new unit of that number; of None without a name."""
        like = self.template if template is None else template
        column = self.units.column
        if column is not None:
            name = self.columns[column].missing if unit is None else self.names[unit]
            cells = {**cells, column: name}
        # Rows of equal content have one number, so that datasets which are made twice are seen to be equal.
        number = self._by_content.setdefault((like, self._content(like, cells)), self.size + len(self.new))
        if number == self.size + len(self.new):
            self.new.append((like, cells))
        return number

    def cells(self, value: NewValue, only: int | None = None) -> dict[int, Cell]:
        """Return a value in all columns that can have it, or in one of them."""
        chosen = self.values if only is None else {only: self.values[only]}
        return {i: held[value] for i, held in chosen.items() if value in held}

    def all_with(self, value: NewValue) -> int | None:
        """Return a row of one more unit that has a value in all columns that can have it; None if none can."""
        cells = self.cells(value)
        if not cells:
            return None
        return self.row(cells, self.group)

    def with_value(
        self, value: NewValue, only: int | None = None, *, template: int | None = None, times: int = 1, words: str = ""
    ) -> list[UnitRows]:
        """Return `group` new units of `times` rows like `template` except for a value; none if no column has it."""
        cells = self.cells(value, only)
        if not cells:
            return []
        words += f" with {value.value}"
        if only is not None:
            words += f" in {self.columns[only].title}"
        return self._units(cells, words + self.beyond(cells), template, times)

    def _units(
        self, cells: Mapping[int, Cell], words: str, template: int | None = None, times: int = 1
    ) -> list[UnitRows]:
        # Units of a group have names of their own: of one name they would be one unit.
        rows = tuple(self.row(cells, unit, template) for unit in range(self.group))
        return [UnitRows(rows * times, f"{self._new()}{words}")]

    def _new(self) -> str:
        """Return what comes: "a record", or "2 new units" of a group of two."""
        if self.units.alone:
            return "a record" if self.group == 1 else f"{self.group} records"
        return "a new unit" if self.group == 1 else f"{self.group} new units"

    def beyond(self, cells: Mapping[int, Cell]) -> str:
        """Return the words for values that the bounds that were given do not allow; empty if they allow them all.

        A value that the column holds already, as NaN in a column with missing numbers, is not called so.
        """
        for i, number in cells.items():
            if i not in self.bounds:
                continue
            low, high = self.bounds[i]
            # NaN lies between no two numbers.
            inside = low <= number <= high  # type: ignore[operator]  # columns with bounds hold numbers
            if not inside and not self._holds(i, number):
                return " (outside the bounds)"
        return ""

    def _holds(self, column: int, number: Cell) -> bool:
        """Return whether a column of the dataset holds a number; a missing value counts as NaN."""
        values = self.columns[column].values[: self.size]
        # NaN is the one number that differs from itself.
        if number == number:
            return bool(np.any(values == number))
        if column not in self._with_missing:
            self._with_missing[column] = any(value is None or value != value for value in values.tolist())
        return self._with_missing[column]

    def made(self) -> list[UnitRows]:
        """Return new units by value, those in all columns first; none if no unit can be new."""
        several = [i for i, held in self.values.items() if held][:COLUMNS]
        if not self.adds_units:
            return []
        tried = (*ALLOWED, *OUTSIDE) if self.outside else ALLOWED
        made = [unit for value in tried for unit in self.with_value(value)]
        # With one column, a value in all columns is the value in that one.
        if len(several) > 1:
            made += [unit for value in tried for i in several for unit in self.with_value(value, i)]
        return made

    def mixed(self) -> list[UnitRows]:
        """Return a new unit with the greatest value in half of the columns and the least in the others.

        It moves many counts in one direction and keeps the others. There is none of few columns of numbers.
        """
        both = [i for i, held in self.values.items() if NewValue.HIGH in held and NewValue.LOW in held]
        if len(both) < MIXED or not self.adds_units:
            return []
        half = len(both) // 2
        cells = {i: self.values[i][NewValue.HIGH] for i in both[:half]}
        cells |= {i: self.values[i][NewValue.LOW] for i in both[half:]}
        words = f" with {NewValue.HIGH.value} in half of the columns and {NewValue.LOW.value} in the others"
        return self._units(cells, words)

    def doubled(self, unit: UnitRows) -> UnitRows:
        """Return the copy of a unit, under names of its own."""
        rows = unit.rows
        if not self.units.alone:
            rows = rows[:MOST_ROWS]
        if self.units.column is not None:
            codes = self.units.codes[list(rows)].tolist()
            number = {code: i for i, code in enumerate(dict.fromkeys(codes))}
            rows = tuple(
                row if code in self.units.unnamed else self.row({}, number[code], row)
                for row, code in zip(rows, codes, strict=True)
            )
        return UnitRows(rows, f"a copy of {unit.words}")

    def crowds(self) -> list[UnitRows]:
        """Return new units of many rows, where rows are not units: their contribution may not be bounded."""
        if self.units.alone or not self.adds_units:
            return []
        times = self._rows_of_a_crowd()
        words = f" of {times} rows each"
        return [unit for value in ALLOWED for unit in self.with_value(value, times=times, words=words)]

    def unnamed(self) -> list[UnitRows]:
        """Return new units without a name, of many rows and of one; none if the type of the names has no missing value.

        Rows without a name may all be of one user, whose contribution nothing bounds then. Values that bounds do not
        allow are another subject: these have those at the bounds.
        """
        if not self.adds_unnamed:
            return []
        times = 1
        if self.outside:
            times = self._rows_of_a_crowd()
        found = []
        for value in ALLOWED:
            cells = self.cells(value)
            row = self.row(cells, None)
            words = " without a name"
            if cells:
                words += f" with {value.value}"
            if times > 1:
                found.append(UnitRows((row,) * self.group * times, f"{self._new()} of {times} rows{words}"))
            found.append(UnitRows((row,) * self.group, f"{self._new()}{words}"))
        return found

    def _rows_of_a_crowd(self) -> int:
        """Return how many rows a new unit has whose contribution may not be bounded."""
        return min(MOST_ROWS, MANY * int(self.units.sizes.max()))

    def like(self, unit: UnitRows, value: NewValue) -> list[UnitRows]:
        """Return records like a unit except for a value in all columns that can have it; none if rows are no units."""
        if not self.units.alone:
            return []
        return self.with_value(value, template=unit.rows[0], words=f" like {unit.words}")

    def unlike(self, most: int) -> list[int]:
        """Return the first rows of the dataset that are unlike each other, at most so many."""
        found: dict[str, int] = {}
        for row in range(self.size):
            found.setdefault(self.key(row), row)
            if len(found) == most:
                break
        return list(found.values())

    def key(self, row: int) -> str:
        """Return the content of a row, new or not: rows of the same content have the same key."""
        if row < self.size:
            return self._content(row, {})
        return self._content(*self.new[row - self.size])

    def _content(self, template: int, cells: Mapping[int, Cell]) -> str:
        return "|".join(_text(cells.get(i, column.values[template])) for i, column in enumerate(self.columns))


def _text(value: Any) -> str:
    """Return a number as the same text whatever its type, and anything else as its own."""
    if hasattr(value, "item") and hasattr(value, "ndim") and value.ndim == 0:
        value = value.item()
    if isinstance(value, int | float | Decimal):
        return repr(float(value))
    # An object whose text does not show its content differs from all others.
    if repr(value) == object.__repr__(value):
        return str(id(value))
    return stable_repr(value)


def _fresh_names(column: DataColumn, number: int) -> list[Cell]:
    """Return names of units that no row has; none if the type of the column allows no other."""
    if column.kind is ValueKind.TEXT:
        held = set(column.values.tolist())
        texts = (f"added {i}" for i in range(len(held) + number))
        return list(islice((text for text in texts if text not in held and column.fits(text)), number))
    # Times, categories and objects are only moved about, so that no name can be made of them.
    if not column.numeric:
        return []
    most = int(column.finite.max())
    names = (column.held(name) for name in range(most + 1, most + 1 + number))
    return [name for name in names if name is not None]


def _values(column: DataColumn, bounds: Ends | None) -> dict[NewValue, Cell]:
    """Return the values that new records may have in a column."""
    if column.kind is ValueKind.BOOLEAN:
        return {NewValue.HIGH: True, NewValue.LOW: False}
    if column.kind is ValueKind.TEXT:
        held = set(column.values.tolist())
        unseen = next(text for text in ("unseen" + "!" * i for i in range(len(held) + 1)) if text not in held)
        texts = {NewValue.UNSEEN: unseen, NewValue.EMPTY: "", NewValue.LONG: " ".join(["long"] * LONG)}
        return {value: text for value, text in texts.items() if column.fits(text)}
    if not column.numeric:
        return {}
    low, high = _ends_of(column) if bounds is None else bounds
    values = {value: column.held(number) for value, number in _numbers(column, low, high).items()}
    return {value: number for value, number in values.items() if number is not None}


def _ends_of(column: DataColumn) -> Ends:
    """Return the least and the greatest number of a column, 0 and 1 if it has none."""
    if not len(column.finite):
        return 0.0, 1.0
    least = column.finite.min()
    greatest = column.finite.max()
    # Integers beyond 2^53 would be rounded as floats.
    if column.kind is ValueKind.INTEGER:
        return int(least), int(greatest)
    return float(least), float(greatest)


def _numbers(column: DataColumn, low: float, high: float) -> dict[NewValue, float]:
    """Return the numbers at bounds, outside of them and at the ends of the column's type."""
    if column.kind is ValueKind.INTEGER:
        return _integers(column, math.ceil(low), math.floor(high))
    limits = column.limits
    if column.digits is not None:
        # Towards the inside of the bounds: what is rounded must not lie outside of them.
        low = column.rounded(low, math.ceil)
        high = column.rounded(high, math.floor)
        made = {}
    else:
        made = {NewValue.NAN: math.nan, NewValue.INFINITY: math.inf, NewValue.MINUS_INFINITY: -math.inf}
        # Added to the greatest value it is rounded up to a unit in the last place: sums of many gain a third.
        tiny = 0.75 * column.precision * high
        if low <= tiny <= high:
            made[NewValue.TINY] = tiny
    # Halved first: the sum of both ends may be beyond all floats.
    made[NewValue.MIDDLE] = low / 2 + high / 2
    made[NewValue.MOST] = float(limits.max)
    made[NewValue.LEAST] = float(limits.min)
    # A range of one number has a width of 0, which would put no number outside of it.
    return made | _around(low, high, (high - low) or 1.0)


def _integers(column: DataColumn, low: int, high: int) -> dict[NewValue, float]:
    """Return the same of a column of integers."""
    limits = column.limits
    made: dict[NewValue, float] = {NewValue.MIDDLE: (low + high) // 2}
    # numpy.bincount of the greatest integer of 64 bits corrupts memory, so that the process dies.
    made[NewValue.MOST] = int(limits.max) - (limits.bits == 64)
    made[NewValue.LEAST] = int(limits.min)
    # A range of one integer has a width of 0, which would put no integer outside of it.
    return made | _around(low, high, max(1, high - low))


def _around(low: float, high: float, width: float) -> dict[NewValue, float]:
    """Return the ends of a range, and the numbers outside of it."""
    return {
        NewValue.HIGH: high,
        NewValue.LOW: low,
        NewValue.ABOVE: high + width,
        NewValue.BELOW: low - width,
        NewValue.FAR_ABOVE: high + FAR * width,
        NewValue.FAR_BELOW: low - FAR * width,
    }
