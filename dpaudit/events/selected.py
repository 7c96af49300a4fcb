"""Compare the families of nested events over the counted cells of two sides, and select the best event."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.bounds.base import Array, Integers
from dpaudit.bounds.tangent import ClaimPoints
from dpaudit.contract import Direction
from dpaudit.events.cells import LEAST
from dpaudit.events.coin_guesses import Guess, choose_guesses
from dpaudit.events.discretizers import Discretizer
from dpaudit.events.event import RARE, CellSet, Event, Tally
from dpaudit.events.expected_bound import PlannedTest, prefix_bounds, refutation_score
from dpaudit.events.prefixes import (
    Order,
    Prefixes,
    likelier_first,
    prefixes_by_counts,
    prefixes_by_law,
    prefixes_by_score,
)
from dpaudit.jsonable import stable_repr
from dpaudit.naming import Name


@dataclass(frozen=True)
class SelectedEvent:
    """The best event over the cells of a discretizer, and the guesses of coins that are made by it.

    It was selected by the counts of the two sides in `training`, from so many events as were `compared`, and is
    likelier on the side of `direction`. The `order` that it is taken from is that of a "score", a "likelihood ratio" or
    a "law"; in the `ranking` all atoms are in that order, the cell `RARE` among them, from the likeliest on data to the
    likeliest on neighbour; `orders` are it and the contrary one. The bound on epsilon that is `expected` of it has been
    lowered by the `markdown` for the luck of models. Without `guesses` the event is tested by itself.
    """

    discretizer: Discretizer
    training: tuple[Tally, Tally]
    event: CellSet
    direction: Direction
    order: str
    ranking: tuple[Hashable, ...]
    compared: int
    expected: float
    markdown: float
    orders: Sequence[Prefixes] = field(repr=False, compare=False)
    guesses: tuple[Guess, ...] = ()

    def agrees(self, other: SelectedEvent) -> bool:
        """Say whether another selection over the same discretizers has the same best event, likelier on that side."""
        alike = self.discretizer is other.discretizer and self.direction is other.direction
        return alike and self.event == other.event

    @property
    def hits(self) -> tuple[int, int, int, int]:
        """The training runs that the best event holds for and all of them, on the likelier side and on the other."""
        likelier, other = likelier_first(self.direction, *self.training)
        return self.event.hits(likelier), likelier.total(), self.event.hits(other), other.total()

    @property
    def alone(self) -> Guess:
        """The guess of a coin by the event alone."""
        hits, runs, others, other_runs = self.hits
        right = (hits + 0.5) / (hits + others + 1)
        return Guess(self.event, None, self.direction, 1.0, (hits + others + 1) / (runs + other_runs + 2), right)

    @property
    def events(self) -> list[Event]:
        """The events that are tested, as findings name them: those of the guesses, or the best one."""
        return [self.discretizer.describe(one.event) for one in self.guesses or (self,)]

    @property
    def neighbour_mass(self) -> float:
        """The best event's probability on the unlikelier side, as the training runs show it."""
        *_, hits, runs = self.hits
        return (hits + 0.5) / (runs + 1)

    @property
    def distinguisher(self) -> Name:
        """The name of what orders the events: the discretizer's score or counts, or the learner's own law."""
        if self.order == "law":
            return Name("law")
        return self.discretizer.name


@dataclass(frozen=True)
class OrderedCells:
    """Counted cells of both sides, and the families of nested events over them that are compared.

    The `cells` are those common enough to be atoms of their own; all others are one atom, the last. The counts of each
    atom on the two sides are `data` and `neighbour`, shape (len(cells) + 1,). The `orders` are each in both directions.
    """

    discretizer: Discretizer
    training: tuple[Tally, Tally]
    cells: list[Any]
    data: Integers
    neighbour: Integers
    orders: list[Order]

    @property
    def families(self) -> list[Prefixes]:
        """All orders in both directions."""
        return [family for order in self.orders for family in order]

    @classmethod
    def of(
        cls,
        discretizer: Discretizer,
        training: tuple[Tally, Tally],
        *,
        log_ratio: Mapping[Hashable, float] | None = None,
        careful: bool = False,
    ) -> OrderedCells:
        """Order the cells: up and down if they ascend with a score, else by their counts' ratio and by a known one.

        The known ratio is ln(Pr[cell | data] / Pr[cell | neighbour]) by the learner's own law. A `careful` choice takes
        some 30 milliseconds more, for models with a prior; they say nothing of p - delta.
        """
        data, neighbour = training
        # A score has a place for every cell, however rare.
        least = 1 if discretizer.ordered else LEAST
        cells: list[Any] = [cell for cell in data.keys() | neighbour.keys() if data[cell] + neighbour[cell] >= least]
        cells.sort(key=None if discretizer.ordered else stable_repr)
        common = (np.array([side[cell] for cell in cells], dtype=np.int64) for side in training)
        x, y = (np.append(counts, side.total() - counts.sum()) for counts, side in zip(common, training, strict=True))
        if discretizer.ordered:
            orders = list(prefixes_by_score(cells, x, y, discretizer.midpoints, careful))
        else:
            orders = [prefixes_by_counts(x, y, careful)]
            if log_ratio is not None:
                orders.append(prefixes_by_law(cells, log_ratio))
        return cls(discretizer, training, cells, x, y, orders)

    def best(self, test: PlannedTest, rivals: int = 1) -> SelectedEvent:
        """Return the prefix, among those of all families, with the greatest expected bound in the test to come.

        Its rivals are the best of other discretizers, that among which one will be chosen; they count themselves.
        """
        ordered = self.discretizer.ordered
        bounds = [
            prefix_bounds(
                *self._sides(one), test, ordered=ordered, models=one.models, penalty=one.penalty, rivals=rivals
            )
            for one in self.families
        ]
        family = _greatest([expected for expected, _ in bounds])
        expected, markdown = bounds[family]
        best = int(np.argmax(expected))
        return self._selected(family, best + 1, expected[best], markdown[best])

    def guessed(self, event: SelectedEvent, test: PlannedTest, most: int) -> SelectedEvent:
        """Return at most so many guesses of coins by the order of an event, and the first one's event in its place."""
        first, second = event.orders
        found = []
        for i, j, share, mass, right in choose_guesses(first, second, self.data, self.neighbour, test, most):
            sets = [self._event(self._atoms(one.order[:end])) for one, end in ((first, i), (second, j)) if end]
            if len(sets) == 2 and event.direction is Direction.BACKWARD:
                sets.reverse()
            if len(sets) == 2:
                found.append(Guess(sets[0], sets[1], event.direction, share, mass, right))
            else:
                # One end alone speaks for the side that its own order is meant for.
                found.append(Guess(sets[0], None, tuple(Direction)[i == 0], share, mass, right))
        if not found:
            return replace(event, guesses=(event.alone,))
        return replace(event, event=found[0].event, direction=found[0].direction, guesses=tuple(found))

    def refuting(self, test: PlannedTest, epsilon: float) -> tuple[float, SelectedEvent]:
        """Return the prefix most likely to refute a claim by its counts alone, with its score, whatever models say.

        A model that has seen a hundred cells without a signal takes one strong cell among them for luck.
        """
        ordered = self.discretizer.ordered
        counted = self._by_counts
        scores = [refutation_score(*self._sides(one), test, epsilon, ordered=ordered)[:-1] for one in counted.families]
        best = scores[family := _greatest(scores)]
        length = 1
        if len(best):
            length += int(np.argmax(best))
        expected, _ = prefix_bounds(*self._sides(counted.families[family]), test, ordered=ordered)
        return float(best.max(initial=-np.inf)), counted._selected(family, length, expected[length - 1])

    def of_points(self, points: ClaimPoints) -> tuple[float, int, SelectedEvent]:
        """Return the prefix that shows the greatest share of one of several points of a claim, with it and the point.

        The share, of `ClaimPoints.shares`, exceeds 1 if counts promise to refute the point; the point is its index. As
        for `refuting` an atom counts one more on the unlikelier side where counts alone order the atoms.
        """
        counted = self._by_counts
        shares = []
        for one in counted.families:
            hits, others = (np.cumsum(side).astype(np.float64) for side in self._sides(one))
            luck = 0 if self.discretizer.ordered else np.arange(1, len(others) + 1)
            raised = np.minimum(others + luck, others[-1])
            shares.append(points.shares(hits[:-1], int(hits[-1]), raised[:-1], int(others[-1])))
        family = _greatest(shares)
        found = shares[family]
        point, length = 0, 0
        if found.size:
            point, length = divmod(int(found.argmax()), found.shape[1])
        best = float(found.max(initial=-np.inf))
        return best, point, counted._selected(family, length + 1, best, points=len(points.epsilon))

    @property
    def _by_counts(self) -> OrderedCells:
        if self.discretizer.ordered:
            return self
        return replace(self, orders=[prefixes_by_counts(self.data, self.neighbour, False)])

    def _selected(
        self, place: int, length: int, expected: float, markdown: float = 0.0, points: int = 1
    ) -> SelectedEvent:
        """Return a prefix of a family, by its place, as the event selected, by so many points of a claim."""
        family = self.families[place]
        ranking = self._atoms(family.order)
        return SelectedEvent(
            self.discretizer,
            self.training,
            event=self._event(ranking[:length]),
            direction=family.direction,
            order=family.name,
            ranking=ranking if family.direction is Direction.FORWARD else ranking[::-1],
            compared=points * sum(len(one.order) for one in self.families),
            expected=float(expected),
            markdown=float(markdown),
            orders=self.orders[place // 2],
        )

    def _atoms(self, order: NDArray[np.intp]) -> tuple[Hashable, ...]:
        return tuple(self.cells[i] if i < len(self.cells) else RARE for i in order.tolist())

    def _event(self, taken: Sequence[Hashable]) -> CellSet:
        inside = frozenset(taken)
        return CellSet(inside - {RARE}, frozenset(self.cells) - inside, RARE in inside)

    def _sides(self, family: Prefixes) -> tuple[Integers, Integers]:
        """Return the counts of the family's atoms in its order, on the likelier side and on the other."""
        likelier, other = likelier_first(family.direction, self.data, self.neighbour)
        return likelier[family.order], other[family.order]


def _greatest(scores: Sequence[Array]) -> int:
    """Return the place of the scores with the greatest maximum, the first of equals."""
    return int(np.argmax([one.max(initial=-np.inf) for one in scores]))
