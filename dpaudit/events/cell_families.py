"""Compare the families of nested events over the counted cells of two sides, and select the best event."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Direction
from dpaudit.events.discretizers import Discretizer
from dpaudit.events.events import PlannedTest, PrefixRatio, pooled_mass, prefix_bounds, refutation_score
from dpaudit.events.families import (
    Family,
    families_by_counts,
    families_by_law,
    families_by_score,
    likelier_first,
)
from dpaudit.events.histogram import LEAST, RARE, CellEvent, Tally
from dpaudit.events.second_event import SecondEvent, choose_second_event
from dpaudit.events.selected_event import SelectedEvent
from dpaudit.jsonable import stable_repr

__all__ = ["CellFamilies"]

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class CellFamilies:
    """Counted cells of both sides, and the families of nested events over them that are compared.

    Attributes
    ----------
    discretizer : Discretizer
        The map from outputs to cells.
    training : tuple of Tally
        The counts of the two sides.
    cells : list
        The cells that are common enough to be atoms of their own; all others are one atom, the last.
    data, neighbour : array, shape (len(cells) + 1,)
        Counts of each atom on the two sides.
    families : list of Family
        Orders, in both directions.
    """

    discretizer: Discretizer
    training: tuple[Tally, Tally]
    cells: list[Any]
    data: Counts
    neighbour: Counts
    families: list[Family]

    @classmethod
    def of(
        cls,
        discretizer: Discretizer,
        training: tuple[Tally, Tally],
        *,
        log_ratio: Mapping[Hashable, float] | None = None,
        careful: bool = False,
    ) -> CellFamilies:
        """Order the cells: up and down if they ascend with a score, else by their counts' ratio and by a known one.

        Parameters
        ----------
        discretizer, training
            As for the class.
        log_ratio : mapping, optional
            ln(Pr[cell | data] / Pr[cell | neighbour]) by the learner's own law.
        careful : bool
            Whether the choice is worth some 30 milliseconds for models with a prior. They say nothing of p - delta.
        """
        cells, x, y = _atoms(*training, discretizer.ordered)
        if discretizer.ordered:
            families = list(families_by_score(cells, x, y, discretizer.midpoints, careful))
        else:
            families = list(families_by_counts(x, y, careful))
            families += [] if log_ratio is None else families_by_law(cells, log_ratio)
        return cls(discretizer, training, cells, x, y, families)

    def best(self, test: PlannedTest, rivals: int = 1) -> SelectedEvent:
        """Return the prefix, among those of all families, with the greatest expected bound in the test to come.

        Its rivals are the best of other discretizers, that among which one will be chosen; they count themselves.
        """
        bounds = [self._bounds(family, test, rivals) for family in self.families]
        # The first of equals, as `max` has it.
        family, (expected, markdown) = max(
            zip(self.families, bounds, strict=True), key=lambda one: float(one[1][0].max())
        )
        best = int(np.argmax(expected))
        second = self._second(family, best + 1, test)
        shares = [(best + 1, 1 - second.share), (second.length, second.share)] if second else [(best + 1, 1.0)]
        compared = sum(len(one.order) for one in self.families)
        return self._selected(family, shares, compared, expected[best], markdown[best])

    def refuting(self, test: PlannedTest, epsilon: float) -> tuple[float, SelectedEvent]:
        """Return the prefix most likely to refute a claim by its counts alone, with its score, whatever models say.

        A model that has seen a hundred cells without a signal takes one strong cell among them for luck.
        """
        families = self.families
        if not self.discretizer.ordered:
            families = list(families_by_counts(self.data, self.neighbour, False))
        scores = [
            refutation_score(*self._sides(family), test, epsilon, ordered=self.discretizer.ordered)[:-1]
            for family in families
        ]
        best, family = max(zip(scores, families, strict=True), key=lambda one: float(one[0].max(initial=-np.inf)))
        length = int(np.argmax(best)) + 1 if len(best) else 1
        expected, _ = prefix_bounds(*self._sides(family), test, ordered=self.discretizer.ordered)
        compared = sum(len(one.order) for one in families)
        selected = self._selected(family, [(length, 1.0)], compared, expected[length - 1], 0.0)
        return float(best.max(initial=-np.inf)), selected

    def _selected(
        self, family: Family, shares: Sequence[tuple[int, float]], compared: int, expected: float, markdown: float
    ) -> SelectedEvent:
        """Return prefixes of a family, given by their lengths and shares of the error, as the event selected."""
        ranking = self._ranking(family)
        return SelectedEvent(
            self.discretizer,
            self.training,
            tests=tuple((self._event(ranking[:length]), share) for length, share in shares),
            direction=family.direction,
            order=family.name,
            ranking=ranking if family.direction is Direction.FORWARD else ranking[::-1],
            compared=compared,
            expected=float(expected),
            markdown=float(markdown),
        )

    def _ranking(self, family: Family) -> tuple[Hashable, ...]:
        """Return all cells in a family's order, the rare ones together."""
        return tuple(self.cells[i] if i < len(self.cells) else RARE for i in family.order.tolist())

    def _event(self, taken: Sequence[Hashable]) -> CellEvent:
        """Return the event that the cell is one of these."""
        inside = frozenset(taken)
        return CellEvent(inside - {RARE}, frozenset(self.cells) - inside, RARE in inside)

    def _sides(self, family: Family) -> tuple[Counts, Counts]:
        """Return the counts of the family's atoms in its order, on the likelier side and on the other."""
        likelier, other = likelier_first(family.direction, self.data, self.neighbour)
        return likelier[family.order], other[family.order]

    def _bounds(
        self, family: Family, test: PlannedTest, rivals: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the bounds expected of the family's prefixes, and their markdowns."""
        return prefix_bounds(
            *self._sides(family),
            test,
            ordered=self.discretizer.ordered,
            models=family.models,
            penalty=family.penalty,
            rivals=rivals,
        )

    def _second(self, family: Family, main: int, test: PlannedTest) -> SecondEvent | None:
        """Return what else to test in the order of the best event; None where no model says how sure it is."""
        if not family.models:
            return None
        likelier, other = (np.cumsum(side) for side in self._sides(family))
        pooled = pooled_mass(likelier, int(likelier[-1]), other, int(other[-1]))
        counted = () if self.discretizer.ordered else (PrefixRatio.by_counts(likelier, other),)
        return choose_second_event(main, (*family.models, *counted), pooled, test)


def _atoms(data: Tally, neighbour: Tally, ordered: bool) -> tuple[list[Any], Counts, Counts]:
    """Return the common cells in order, and the counts of both sides in each and, last, in all the rare ones."""
    # A score has a place for every cell, however rare.
    least = 1 if ordered else LEAST
    common: list[Any] = [cell for cell in data.keys() | neighbour.keys() if data[cell] + neighbour[cell] >= least]
    common.sort(key=None if ordered else stable_repr)
    x = np.array([data[cell] for cell in common], dtype=np.int64)
    y = np.array([neighbour[cell] for cell in common], dtype=np.int64)
    return common, np.append(x, data.total() - x.sum()), np.append(y, neighbour.total() - y.sum())
