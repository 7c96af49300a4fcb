"""Products of two numbers, and signs of numbers: features of pairs of columns, at every width.

One matrix product a side gives the second moments of all pairs; those that differ most between the sides are looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from dpaudit import naming
from dpaudit.bounds.base import Array
from dpaudit.events.cells import to_grid
from dpaudit.events.event import Outputs
from dpaudit.events.feature_screening.feature import CellNumbers, Feature, LeafFeature, one_of, quantile_edges
from dpaudit.naming import Name
from dpaudit.outputs.readers import is_usual

Table = NDArray[np.float32] | NDArray[np.float64]
V = TypeVar("V")
Sides = NDArray[np.bool_]
"""True where a value is the neighbour's."""

# Pairs that are returned.
CHOSEN = 4
# Columns on either side of a product of matrices.
BLOCK = 1024
# Standardised numbers are cut here, so that few far ones do not decide.
FARTHEST = 4.0
# The share of numbers that must lie on either side of zero for their signs to be looked at; else of the median.
BALANCED = 0.02


def widest_gaps(data: Table, neighbour: Table, count: int = CHOSEN) -> list[tuple[int, int]]:
    """Return the pairs of columns whose mean product differs most between rows of two sides, by blocks of columns."""
    best: list[tuple[float, int, int]] = []
    width = data.shape[1]
    for i in range(0, width, BLOCK):
        for j in range(i, width, BLOCK):
            left = slice(i, i + BLOCK)
            right = slice(j, j + BLOCK)
            means = (side[:, left].T @ side[:, right] / len(side) for side in (data, neighbour))
            gap = to_grid(np.abs(next(means) - next(means)))
            if i == j:
                gap[np.tril_indices(len(gap))] = -1.0
            least = np.partition(gap, -count, axis=None)[-count] if gap.size > count else -np.inf
            for at in np.flatnonzero(gap > least).tolist() + np.flatnonzero(gap == least).tolist()[:count]:
                a, b = divmod(int(at), gap.shape[1])
                if gap[a, b] >= 0:
                    best.append((float(gap[a, b]), i + a, j + b))
    best.sort(reverse=True)
    return [(a, b) for _, a, b in best[:count]]


@dataclass(frozen=True, eq=False)
class Standardised:
    """A number of an output less its middle, in units of its spread, cut at `FARTHEST`; 0 where there is none."""

    middle: float
    spread: float

    @classmethod
    def of(cls, values: Array) -> Standardised | None:
        """Return it for numbers like these; None if they do not vary."""
        usual = values[is_usual(values)]
        if not len(usual):
            return None
        low, middle, high = np.quantile(usual, [0.16, 0.5, 0.84], method="lower").tolist()
        # Of numbers near the largest, which have no finite spread.
        with np.errstate(over="ignore", invalid="ignore"):
            spread = high / 2 - low / 2 or float(usual.std())
        if 0 < spread < np.inf:
            return cls(middle, spread)
        return None

    def __call__(self, values: Array) -> Array:
        """Return the numbers."""
        with np.errstate(over="ignore"):
            found = (np.where(is_usual(values), values, self.middle) - self.middle) / self.spread
        return np.clip(found, -FARTHEST, FARTHEST)


@dataclass(frozen=True, eq=False)
class Product:
    """The product of two numbers of an output, each standardised, and the cuts between its cells."""

    factors: tuple[tuple[Feature, Standardised], tuple[Feature, Standardised]]
    edges: Array
    representation: bool = False
    ordered: bool = True
    reduced: bool = False
    kind: str = "product"

    @property
    def name(self) -> Name:
        """The name of the feature."""
        return Name.of("product of {} and {}, standardised", *(feature.name for feature, _ in self.factors))

    def real(self, outputs: Outputs) -> Array:
        """Return the product of each output; 0 where one of the numbers is missing."""
        first, second = (scaled(feature.real(outputs)) for feature, scaled in self.factors)
        return first * second

    def __call__(self, outputs: Outputs) -> CellNumbers:
        """Return the cell of each output."""
        return np.searchsorted(self.edges, self.real(outputs), side="right").astype(np.int64)

    def cell(self, code: int) -> str | int:
        """Return a cell as a person would write it."""
        return LeafFeature(Name(), self.real, edges=self.edges).cell(code)


def products(columns: Sequence[tuple[Feature, Array]], neighbour: Sides, fit: Sides) -> Iterator[Product]:
    """Yield products of two numbers whose second moments differ most, given the numbers of all runs.

    `fit` are the runs that choose.
    """
    scaled = [(feature, one, one(column)) for feature, column in columns if (one := Standardised.of(column))]
    if len(scaled) < 2:
        return
    table = np.stack([column for *_, column in scaled], axis=1).astype(np.float32)
    table -= table[fit].mean(axis=0)
    for i, j in widest_gaps(table[fit & ~neighbour], table[fit & neighbour]):
        edges = quantile_edges(scaled[i][2] * scaled[j][2])
        yield Product((scaled[i][:2], scaled[j][:2]), edges)


def signs(columns: Sequence[tuple[Feature, Array]]) -> Iterator[tuple[Feature, CellNumbers]]:
    """Yield for each number the bit that it is above zero, or above its middle where few are on the other side."""
    for feature, column in columns:
        above = column > 0
        cut = 0.0 if BALANCED < above.mean() < 1 - BALANCED else float(np.quantile(column, 0.5, method="lower"))
        name = Name.of("{} being above {}", feature.column.name or Name("value"), naming.cut(cut))
        read = partial(_above, feature.column.read, cut)
        bit = Feature(feature.leaf, LeafFeature(name, read, one_of("no", "yes")), "sign")
        yield bit, (column > cut).astype(np.int64)


def _above(read: Callable[[V], NDArray[np.generic]], cut: float, values: V) -> CellNumbers:
    return np.asarray(np.greater(read(values), cut), dtype=np.int64)
