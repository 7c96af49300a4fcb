"""Replace wide outputs by the few columns that promise most, as training runs have shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.events.wide import WIDTH, Moments, Reduction
from dpaudit.outputs import readers
from dpaudit.outputs.leaf import Leaf, walk
from dpaudit.outputs.plan import Plan
from dpaudit.outputs.readers import MISSING, Block, usual

__all__ = ["Reducer", "SumUp", "wide_leaves"]

AS_THEY_ARE = (readers.whole, readers.real, readers.text, readers.octets)
"""Readers of single values, which stay as they are beside the reduced rows."""


def wide_leaves(plan: Plan) -> tuple[Leaf, ...]:
    """Return the rows of more numbers than scores can be fitted on."""
    return tuple(leaf for leaf in plan.leaves if isinstance(leaf.reader, Block) and leaf.reader.width > WIDTH)


@dataclass(frozen=True)
class SumUp:
    """Sums the coordinates of each wide leaf over a batch of outputs.

    Attributes
    ----------
    leaves : tuple of Leaf
        The wide ones.
    empty : tuple of Moments
        A place and a spread of each leaf's coordinates, with no runs yet.
    """

    leaves: tuple[Leaf, ...]
    empty: tuple[Moments, ...]

    @classmethod
    def around(cls, leaves: tuple[Leaf, ...], outputs: Any) -> SumUp:
        """Return sums around what some outputs show."""
        return cls(
            leaves, tuple(Moments.around(usual(leaf.read(outputs)[0]), _shape(leaf, outputs)) for leaf in leaves)
        )

    def __call__(self, outputs: Any) -> tuple[Moments, ...]:
        """Return the sums of these outputs."""
        found = []
        for leaf, empty in zip(self.leaves, self.empty, strict=True):
            sums = empty.copy()
            sums.add(usual(leaf.read(outputs)[0]))
            found.append(sums)
        return tuple(found)


def _shape(leaf: Leaf, outputs: Any) -> tuple[int, ...]:
    """Return the shape of a leaf's first array, by which neighbours in an image are known."""
    if isinstance(outputs, np.ndarray):
        return tuple(outputs.shape[1:])
    values, _ = walk(outputs[:1], leaf.path)
    return tuple(values[0].shape) if values and isinstance(values[0], np.ndarray) else ()


@dataclass(frozen=True)
class Reducer:
    """Maps wide outputs to rows of few columns, beside which all other leaves stay as they are.

    Attributes
    ----------
    wide : tuple of (Leaf, Reduction)
        The wide leaves.
    others : tuple of Leaf
        All other leaves.
    """

    wide: tuple[tuple[Leaf, Reduction], ...]
    others: tuple[Leaf, ...]

    @classmethod
    def fit(cls, plan: Plan, data: Sequence[Moments], neighbour: Sequence[Moments]) -> Reducer:
        """Return the reducer that the sums of both sides suggest."""
        leaves = wide_leaves(plan)
        reductions = [Reduction.fit(*sides) for sides in zip(data, neighbour, strict=True)]
        others = tuple(leaf for leaf in plan.leaves if leaf not in leaves and not leaf.in_row)
        return cls(tuple(zip(leaves, reductions, strict=True)), others)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the leaves that stay."""
        return tuple(leaf.name for leaf in self.others)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of the reduced rows."""
        return tuple(f"{name} of {leaf.name}" for leaf, reduction in self.wide for name in reduction.names)

    def keep(self, wanted: Iterable[int]) -> Reducer:
        """Return a reducer that makes some of the columns only, the others 0."""
        places, start = frozenset(wanted), 0
        wide = []
        for leaf, reduction in self.wide:
            stop = start + len(reduction.names)
            mine = frozenset(j - start for j in places if start <= j < stop)
            wide.append((leaf, replace(reduction, wanted=mine)))
            start = stop
        return Reducer(tuple(wide), self.others)

    def __call__(self, outputs: Any) -> Any:
        """Return the reduced rows, shape (outputs, columns), or tuples of the other leaves' values and such a row."""
        rows = np.concatenate([_reduced(leaf, reduction, outputs) for leaf, reduction in self.wide], axis=1)
        if not self.others:
            return rows
        kept = [_values(leaf, outputs) for leaf in self.others]
        return list(zip(*kept, rows, strict=True))


def _reduced(leaf: Leaf, reduction: Reduction, outputs: Any) -> NDArray[np.float64]:
    values, where = leaf.read(outputs)
    if where is None:
        return reduction(usual(values))
    placed = np.full((len(outputs), len(reduction.names)), MISSING)
    if len(values):
        placed[where] = reduction(usual(values))
    return placed


def _values(leaf: Leaf, outputs: Any) -> list[Any]:
    """Return one value of a leaf for each output, None where there is none."""
    if leaf.reader in AS_THEY_ARE:
        values, where = walk(outputs, leaf.path)
    else:
        read, where = leaf.read(outputs)
        values = list(read) if read.ndim > 1 else read.tolist()
    if where is None:
        return list(values)
    placed: list[Any] = [None] * len(outputs)
    for at, value in zip(where.tolist(), values, strict=True):
        placed[at] = value
    return placed
