"""Features of outputs: one column of small cells read from the values of a leaf.

What a feature needs to know of the data (frequent values, quantiles) is fitted on training runs and then fixed; each
value is read by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.outputs import readers
from dpaudit.outputs.leaf import Leaf

__all__ = [
    "ABSENT",
    "CELLS",
    "Cells",
    "Column",
    "Distinct",
    "Feature",
    "number",
    "one_of",
    "placed",
    "quantile_cells",
    "quantile_edges",
]

Cells = NDArray[np.int64]

CELLS = 64
"""Into so many cells of equal mass a real feature is cut while features are compared."""
ABSENT = -1
"""The cell of an output that has no such leaf."""
REPEATING = 0.25
"""The share of different values up to which texts are looked at once each."""


def quantile_edges(values: NDArray[np.float64], cells: int = CELLS) -> NDArray[np.float64]:
    """Return cuts that divide values into cells of about equal mass."""
    if not len(values):
        return np.zeros(0)
    return np.unique(np.quantile(values, np.linspace(0, 1, cells + 1)[1:-1], method="lower"))


def quantile_cells(edges: NDArray[np.float64], values: NDArray[np.float64]) -> Cells:
    """Return the number of cuts that are at most each value."""
    return np.searchsorted(edges, values, side="right").astype(np.int64)


@dataclass(frozen=True, eq=False)  # arrays have no one truth value
class Column:
    """A feature of the values of a leaf.

    Attributes
    ----------
    name : str
        The feature, as "bit 3" or "length"; empty for the value itself.
    read : callable
        Maps values to their cells or, where there are edges, to real numbers.
    shown : callable
        Maps a cell to what it stands for; by default the cell itself. Cells between edges are shown as intervals.
    edges : array, optional
        Cuts between the cells of a real number.
    representation : bool
        Whether it shows how a value is stored rather than which it is.
    """

    name: str
    read: Callable[[Any], NDArray[Any]]
    shown: Callable[[int], str | int] = int
    edges: NDArray[np.float64] | None = None
    representation: bool = False

    def cells(self, values: Any) -> Cells:
        """Return the cell of each value."""
        return self.read(values) if self.edges is None else quantile_cells(self.edges, self.read(values))

    def cell(self, code: int) -> str | int:
        """Return a cell as a person would write it."""
        if self.edges is None:
            return self.shown(code)
        low = "-inf" if code == 0 else f"{self.edges[code - 1]:.6g}"
        return f"[{low}, {'inf' if code == len(self.edges) else f'{self.edges[code]:.6g}'})"


def number(name: str, read: Callable[[Any], NDArray[np.float64]], values: Any) -> Column:
    """Return the feature of a real number, cut into cells of equal mass for values like these."""
    return Column(name, read, edges=quantile_edges(read(values)))


def one_of(*shown: str | int) -> Callable[[int], str | int]:
    """Return what shows the cells 0, 1, ... as these."""
    return partial(_member, shown)


def _member(shown: Sequence[str | int], code: int) -> str | int:
    return shown[code]


@dataclass(frozen=True, eq=False)
class Feature:
    """One feature of one leaf.

    Attributes
    ----------
    leaf : Leaf
        What of the output it reads.
    column : Column
        What it reads of that.
    kind : str
        The group of similar features that it belongs to.
    index : int
        Its place there.
    """

    leaf: Leaf
    column: Column
    kind: str
    index: int = 0

    @property
    def name(self) -> str:
        """The name of the feature, as "bit 3 of output['count']"."""
        name = self.column.name
        if self.reduced:
            return name
        return f"{name} of {self.leaf.name}" if name else self.leaf.name

    @property
    def reduced(self) -> bool:
        """Whether it reads one column of a reduced row."""
        return isinstance(self.leaf.reader, readers.Block) and bool(self.leaf.reader.names)

    @property
    def representation(self) -> bool:
        """Whether it shows how a value is stored rather than which it is."""
        return self.column.representation or self.leaf.representation

    @property
    def ordered(self) -> bool:
        """Whether the feature is a real number, whose cells ascend with it."""
        return self.column.edges is not None

    def __call__(self, outputs: Sequence[Any]) -> Cells:
        """Return the cell of each output."""
        values, where = self.leaf.read(outputs)
        return placed(Distinct.of(values).cells(self.column), where, len(outputs))

    def real(self, outputs: Sequence[Any]) -> NDArray[np.float64]:
        """Return the number of each output, -inf where there is none; for ordered features alone."""
        values, where = self.leaf.read(outputs)
        found: NDArray[np.float64] = self.column.read(values)
        if where is None:
            return found
        numbers = np.full(len(outputs), -np.inf)
        numbers[where] = found
        return numbers

    def cell(self, code: int) -> str | int:
        """Return a cell as a person would write it."""
        return "absent" if code == ABSENT else self.column.cell(code)


@dataclass(frozen=True)
class Distinct:
    """Values of which features are read, each once where they are texts that repeat.

    Attributes
    ----------
    values : sequence
        The values that are read.
    places : array of int, optional
        Which of them each value is; None where all are read one by one.
    """

    values: Any
    places: NDArray[np.intp] | None = None

    @classmethod
    def of(cls, values: Any) -> Distinct:
        """Return what has to be read of values, whatever the feature."""
        if isinstance(values, list) and values and type(values[0]) is str:
            numbers = {value: i for i, value in enumerate(dict.fromkeys(values))}
            if len(numbers) <= REPEATING * len(values):
                return cls(list(numbers), np.fromiter(map(numbers.__getitem__, values), np.intp, len(values)))
        return cls(values)

    def cells(self, column: Column) -> Cells:
        """Return the cell of each value in a feature."""
        found = column.cells(self.values)
        return found if self.places is None else found[self.places]


def placed(cells: Cells, where: NDArray[np.intp] | None, total: int) -> Cells:
    """Return the cells of all outputs: `ABSENT` for those that have none."""
    if where is None:
        return cells
    found = np.full(total, ABSENT, dtype=np.int64)
    found[where] = cells
    return found
