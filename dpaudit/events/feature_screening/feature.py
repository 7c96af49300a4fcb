"""Features of outputs, each a column of small cells read from the values of a leaf.

What a feature needs to know of the data (frequent values, quantiles) is fitted on training runs and then fixed; each
value is read by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.bounds.base import Array
from dpaudit.outputs import readers
from dpaudit.outputs.leaf import Leaf, spread

CellNumbers = NDArray[np.int64]

CELLS = 64
"""Into so many cells of equal mass a real feature is cut while features are compared."""
ABSENT = -1
"""The cell of an output that has no such leaf."""
REPEATING = 0.25
"""The share of different values up to which texts are looked at once each."""


def quantile_edges(values: Array, cells: int = CELLS) -> Array:
    """Return cuts that divide values into cells of about equal mass."""
    if not len(values):
        return np.zeros(0)
    # As `np.quantile` has them by the method "lower", in a thirtieth of its time.
    places = np.floor((len(values) - 1) * np.linspace(0, 1, cells + 1)[1:-1]).astype(np.intp)
    return np.unique(np.sort(values)[places])


@dataclass(frozen=True, eq=False)  # arrays have no one truth value
class LeafFeature:
    """A feature of the values of a leaf, named as "bit 3" or "length"; the name of the value itself is empty.

    It can `read` cells from values or, where there are edges, real numbers, which the `edges` cut into cells; these are
    shown as intervals. `shown` maps any other cell to what it stands for, by default the cell itself. A
    `representation` shows how a value is stored rather than which it is.
    """

    name: str
    read: Callable[[Any], NDArray[Any]]
    shown: Callable[[int], str | int] = int
    edges: Array | None = None
    representation: bool = False

    def cells(self, values: Any, places: NDArray[np.intp] | None = None) -> CellNumbers:
        """Return the cell of each value; of the `distinct` ones where their places are given."""
        found: CellNumbers = self.read(values)
        if self.edges is not None:
            found = np.searchsorted(self.edges, found, side="right").astype(np.int64)
        return found if places is None else found[places]

    def cell(self, code: int) -> str | int:
        """Return a cell as a person would write it."""
        if self.edges is None:
            return self.shown(code)
        low = "-inf" if code == 0 else f"{self.edges[code - 1]:.6g}"
        return f"[{low}, {'inf' if code == len(self.edges) else f'{self.edges[code]:.6g}'})"


def number(name: str, read: Callable[[Any], Array], values: Any) -> LeafFeature:
    """Return the feature of a real number, cut into cells of equal mass for values like these."""
    return LeafFeature(name, read, edges=quantile_edges(read(values)))


def one_of(*shown: str | int) -> Callable[[int], str | int]:
    """Return what shows the cells 0, 1, ... as these."""
    return shown.__getitem__


@dataclass(frozen=True, eq=False)
class Feature:
    """A feature of outputs: what a `column` reads of a `leaf`, the `index`-th of a `kind` of similar features."""

    leaf: Leaf
    column: LeafFeature
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

    def __call__(self, outputs: Sequence[Any]) -> CellNumbers:
        """Return the cell of each output."""
        values, where = self.leaf.read(outputs)
        return spread(self.column.cells(*distinct(values)), where, len(outputs), ABSENT)

    def real(self, outputs: Sequence[Any]) -> Array:
        """Return the number of each output, -inf where there is none; for ordered features alone."""
        values, where = self.leaf.read(outputs)
        return spread(self.column.read(values), where, len(outputs), -np.inf)

    def cell(self, code: int) -> str | int:
        """Return a cell as a person would write it."""
        return "absent" if code == ABSENT else self.column.cell(code)


def distinct(values: Any) -> tuple[Any, NDArray[np.intp] | None]:
    """Return the values to read features of, texts that repeat once each, and then the place of each value in them."""
    if isinstance(values, list) and values and type(values[0]) is str:
        numbers = {value: i for i, value in enumerate(dict.fromkeys(values))}
        if len(numbers) <= REPEATING * len(values):
            return list(numbers), np.fromiter(map(numbers.__getitem__, values), np.intp, len(values))
    return values, None
