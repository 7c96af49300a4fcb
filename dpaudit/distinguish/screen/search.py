"""The screen: many features of every leaf are compared on some training runs, and the most promising ones returned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpaudit.distinguish.leaves.plan import Plan
from dpaudit.distinguish.screen.features import ABSENT, Feature, groups_of, placed
from dpaudit.distinguish.screen.groups import Cells
from dpaudit.distinguish.screen.parity import Parity, parities
from dpaudit.distinguish.screen.wilson import best_promise

__all__ = ["AnyFeature", "Promising", "screen"]

ROWS = 5_000
"""Training runs a side that features are compared on: beyond them the screen costs more and finds little more."""
RECOUNTED = 24
"""Features that are counted again, on runs that did not rank them."""
RETURNED = 6
ENOUGH = 0.3
"""If nothing promises so much more than the claim, parities of bits are searched too."""


class AnyFeature(Protocol):
    """A function of one output into few cells."""

    @property
    def name(self) -> str:
        """What the feature is."""

    @property
    def representation(self) -> bool:
        """Whether it tells how a value is stored rather than which it is."""

    def __call__(self, outputs: Sequence[Any]) -> Cells:
        """Return the cell of each output."""

    def cell(self, code: int) -> str | int:
        """Return a cell as a person would write it."""


@dataclass(frozen=True)
class Promising:
    """A feature, and the bound that it promises on runs that did not choose it."""

    feature: Feature | Parity
    promise: float


def screen(
    plan: Plan, data: Sequence[Any], neighbour: Sequence[Any], confirm: int, *, epsilon: float = 0.0, stored: bool = False
) -> list[Promising]:
    """Return the most promising features of some training runs, the best first.

    Parameters
    ----------
    plan : Plan
        The leaves.
    data, neighbour : batch
        Training outputs of the two sides.
    confirm : int
        Fresh runs a side to come.
    epsilon : float
        The claim; where some feature promises clearly more, no parities are searched.
    stored : bool
        Whether features of how values are stored take part.
    """
    left, right = data[:ROWS], neighbour[:ROWS]
    rows = _joined(left, right)
    m, half = len(left), (len(left) // 2, len(right) // 2)
    fit = np.r_[0 : half[0], m : m + half[1]]
    check = np.r_[half[0] : m, m + half[1] : m + len(right)]
    sides = np.r_[np.zeros(m, dtype=np.int64), np.ones(len(right), dtype=np.int64)]
    ranked: list[tuple[float, int, Feature | Parity, Cells]] = []
    bits: list[tuple[Feature, Cells]] = []
    for feature, cells in _features(plan, rows, stored):
        if cells.min() == cells.max():
            continue
        promised = _promise(cells[fit], sides[fit], confirm, 2.0)
        ranked.append((promised, len(ranked), feature, cells))
        if cells.min() >= 0 and cells.max() == 1 and not feature.representation:
            bits.append((feature, cells))
    best = max((promised for promised, *_ in ranked), default=-np.inf)
    if best < epsilon + ENOUGH and bits:
        matrix = np.stack([cells for _, cells in bits], axis=1).astype(np.uint8)
        first, second = fit[fit < m], fit[fit >= m]
        for parity in parities([feature for feature, _ in bits], matrix[first], matrix[second]):
            cells = parity(rows)
            ranked.append((_promise(cells[fit], sides[fit], confirm, 2.0), len(ranked), parity, cells))
    ranked.sort(key=lambda item: (-item[0], item[1]))
    again = [
        (_promise(cells[check], sides[check], confirm, 1.0), -place, feature)
        for place, (_, _, feature, cells) in enumerate(ranked[:RECOUNTED])
    ]
    again.sort(key=lambda item: (-item[0], -item[1]))
    return [Promising(feature, promised) for promised, _, feature in again[:RETURNED]]


def _joined(data: Sequence[Any], neighbour: Sequence[Any]) -> Any:
    if isinstance(data, np.ndarray) and isinstance(neighbour, np.ndarray) and data.shape[1:] == neighbour.shape[1:]:
        return np.concatenate([data, neighbour])
    return [*data, *neighbour]


def _features(plan: Plan, rows: Any, stored: bool) -> Iterator[tuple[Feature, Cells]]:
    """Yield every feature of every leaf with its cells."""
    for leaf in plan.leaves:
        values, where = leaf.read(rows)
        if not len(values):
            continue
        for owner, read, group in groups_of(leaf, values):
            if group.representation and not stored:
                continue
            for j in range(len(group.names)):
                yield Feature(owner, group, j), placed(group.column(read, j), where, len(rows))


def _promise(cells: Cells, sides: NDArray[np.int64], confirm: int, training: float) -> float:
    """Return what the best event of a feature promises."""
    codes = cells - ABSENT
    width = int(codes.max(initial=0)) + 1
    counts = np.bincount(codes + width * sides, minlength=2 * width).astype(np.float64)
    seen = counts[:width] + counts[width:] > 0
    return best_promise(counts[:width][seen], counts[width:][seen], confirm, training)
