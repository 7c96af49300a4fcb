"""Features of a plan's leaves: which groups each leaf has, and one feature as a function from outputs to cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.events.feature_screening import blocks, common, real, relations, text, whole
from dpaudit.events.feature_screening import bytes_features as octets
from dpaudit.events.feature_screening.groups import Cells, Group
from dpaudit.outputs import readers
from dpaudit.outputs.containers import NAMED_POSITIONS
from dpaudit.outputs.plan import Leaf
from dpaudit.outputs.stand_ins import is_usual

__all__ = ["ABSENT", "Distinct", "Feature", "WholeOfRow", "groups_of", "placed"]

ABSENT = -1
"""The cell of an output that has no such leaf."""
REPEATING = 0.25
"""Texts of so few different values are looked at once each."""


@dataclass(frozen=True)
class Feature:
    """One feature of one leaf.

    Attributes
    ----------
    leaf : Leaf
        What of the output it reads.
    group : Group
        The group it belongs to.
    index : int
        Its place there.
    """

    leaf: Leaf
    group: Group
    index: int

    @property
    def name(self) -> str:
        """The name of the feature, as "bit 3 of output['count']"."""
        name = self.group.names[self.index]
        if self.reduced:
            return name
        return f"{name} of {self.leaf.name}" if name else self.leaf.name

    @property
    def reduced(self) -> bool:
        """Whether it reads one column of a reduced row."""
        return isinstance(self.leaf.reader, readers.Block) and bool(self.leaf.reader.names)

    @property
    def representation(self) -> bool:
        """Whether it tells how a value is stored rather than which it is."""
        return self.group.representation or self.leaf.representation

    def __call__(self, outputs: Sequence[Any]) -> Cells:
        """Return the cell of each output."""
        values, where = self.leaf.read(outputs)
        return placed(Distinct.of(values).cells(self.group, self.index), where, len(outputs))

    @property
    def ordered(self) -> bool:
        """Whether the feature is a real number, whose cells ascend with it."""
        return hasattr(self.group, "real")

    def real(self, outputs: Sequence[Any]) -> NDArray[np.float64]:
        """Return the number of each output, -inf where there is none; for ordered features alone."""
        values, where = self.leaf.read(outputs)
        found: NDArray[np.float64] = self.group.real(values, self.index)  # type: ignore[attr-defined]  # ordered groups have it
        if where is None:
            return found
        placed = np.full(len(outputs), -np.inf)
        placed[where] = found
        return placed

    def cell(self, code: int) -> str | int:
        """Return a cell as a person would write it."""
        return "absent" if code == ABSENT else self.group.cell(self.index, code)


@dataclass(frozen=True)
class Distinct:
    """Values of which a feature is read, each once where they are texts that repeat.

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

    def cells(self, group: Group, j: int) -> Cells:
        """Return the cell of each value in a feature of a group."""
        found = group.column(self.values, j)
        return found if self.places is None else found[self.places]


def placed(cells: Cells, where: NDArray[np.intp] | None, total: int) -> Cells:
    """Return the cells of all outputs: `ABSENT` for those that have none."""
    if where is None:
        return cells
    found = np.full(total, ABSENT, dtype=np.int64)
    found[where] = cells
    return found


@dataclass(frozen=True)
class WholeOfRow:
    """Reads the sum, or the XOR, of a row of whole numbers as an integer; what is no whole number counts as 0.

    Attributes
    ----------
    block : Block
        Reads the rows.
    xor : bool
        Whether it is the XOR.
    """

    block: readers.Block
    xor: bool = False

    def __call__(self, values: Any) -> readers.WholeValues:
        """Return the integers."""
        return self.of_rows(self.block(values))

    def of_rows(self, rows: NDArray[np.float64]) -> readers.WholeValues:
        """Return the integers of rows that are read already."""
        usual = np.where((np.abs(rows) < 2**53) & (rows == np.round(rows)), rows, 0.0).astype(np.int64)
        combine = np.bitwise_xor if self.xor else np.add
        return readers.WholeValues.of(combine.reduce(usual, axis=1))


def groups_of(leaf: Leaf, values: Any) -> Iterator[tuple[Leaf, Any, Group]]:
    """Yield (leaf, its values, group) for every group of features that a leaf has."""
    if isinstance(leaf.reader, readers.Categories):
        yield leaf, values, common.Categorical(tuple(leaf.reader.numbers))
    elif isinstance(values, readers.WholeValues):
        yield from ((leaf, values, group) for group in _of_whole(values))
    elif isinstance(leaf.reader, readers.Text):
        for kind in (common.Repeats, text.Characters, text.Affixes, text.Words):
            yield leaf, values, kind.of(values)
        yield leaf, values, text.Counts()
    elif isinstance(leaf.reader, readers.Octets):
        for made in (common.Repeats, octets.Octets, octets.OctetBits, octets.OctetNumbers, text.Affixes):
            yield leaf, values, made.of(values)
    elif values.ndim == 2:
        yield from _of_rows(leaf, values)
    else:
        yield leaf, values, common.Value.of(values)
        yield leaf, values, common.Repeats.of(values)
        yield leaf, values, real.Fractions.of(values)
        yield leaf, values, real.Storage()
        yield leaf, values, real.Mantissa()


def _of_whole(values: readers.WholeValues) -> Iterator[Group]:
    yield common.Value.of(values)
    yield common.Repeats.of(values)
    yield whole.Forms()
    if values.length.max(initial=0) > 1:
        yield whole.Bits.of(values)
        yield whole.Residues()
        yield whole.Digits()
        yield whole.CheckDigits()


def _of_rows(leaf: Leaf, rows: NDArray[np.float64]) -> Iterator[tuple[Leaf, Any, Group]]:
    columns = leaf.reader.names if isinstance(leaf.reader, readers.Block) else ()
    if rows.shape[1] < 2 or columns:
        yield leaf, rows, blocks.Entries.of(rows, columns)
        return
    for kind in (blocks.Entries, blocks.Summaries, relations.Relations):
        yield leaf, rows, kind.of(rows)
    if rows.shape[1] > NAMED_POSITIONS:  # numbers of shorter ones are leaves of their own
        yield leaf, rows, blocks.RepeatedEntries.of(rows)
    if not _mostly_whole(rows):
        yield leaf, rows, real.RowStorage.of(rows)
    elif isinstance(leaf.reader, readers.Block):
        for xor, what in ((False, "sum"), (True, "XOR")):
            reader = WholeOfRow(leaf.reader, xor)
            total = Leaf(leaf.path, reader, f"{what} of {leaf.name}")
            found = reader.of_rows(rows)
            yield from ((total, found, group) for group in _of_whole(found))


def _mostly_whole(rows: NDArray[np.float64]) -> bool:
    """Say whether rows hold whole numbers that a float holds exactly."""
    numbers = rows[is_usual(rows)]
    return bool((numbers == np.round(numbers)).all() and np.abs(numbers).max(initial=0) < 2**53)
