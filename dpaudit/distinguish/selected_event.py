"""The Neyman-Pearson-ordered histogram: order counted labels in several ways, choose how many of them to take."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.distinguish.events import Choice, PrefixRatio, best_prefix, pooled_mass
from dpaudit.distinguish.families import (
    FORWARD,
    Family,
    families_by_counts,
    families_by_law,
    families_by_score,
)
from dpaudit.distinguish.histogram import LEAST, RARE, LabelEvent, Tally
from dpaudit.distinguish.second_event import Reserve, choose_reserve
from dpaudit.jsonable import stable_repr

__all__ = ["LabelChoice", "LabelFamilies"]


@dataclass(frozen=True)
class LabelChoice:
    """The best event over labels, the direction in which it is likelier, and the bound it can be expected to give.

    The bound has been marked down by `doubt` for the luck of models.

    `tests` holds the events that fresh runs are to test, each with its share of the error: the best one first, and
    perhaps a reserve from the same order. `ranking` holds all atoms, the label `RARE` among them, from the likeliest on
    data to the likeliest on neighbour in the order that the events are taken from.
    """

    tests: tuple[tuple[LabelEvent, float], ...]
    direction: str
    value: float
    doubt: float
    order: str
    compared: int
    ranking: tuple[Hashable, ...]

    @property
    def event(self) -> LabelEvent:
        """The best event."""
        return self.tests[0][0]


@dataclass(frozen=True)
class LabelFamilies:
    """Counted labels of both sides, and the families of nested events over them that are compared.

    Attributes
    ----------
    labels : list
        The labels that are common enough to be atoms of their own; all others are one atom, the last.
    data, neighbour : array, shape (len(labels) + 1,)
        Counts of each atom on the two sides.
    ordered : bool
        Whether the order of the atoms is that of a score, not that of these counts.
    families : list of Family
        Orders, in both directions.
    """

    labels: list[Any]
    data: NDArray[np.int64]
    neighbour: NDArray[np.int64]
    ordered: bool
    families: list[Family]

    @classmethod
    def of(
        cls,
        data: Tally,
        neighbour: Tally,
        *,
        ordered: bool = False,
        log_ratio: Mapping[Hashable, float] | None = None,
        midpoints: NDArray[np.float64] | None = None,
        careful: bool = False,
    ) -> LabelFamilies:
        """Order labels: if `ordered` up and down; otherwise by the counts' likelihood ratio, and by a known one.

        Parameters
        ----------
        data, neighbour : Counter
            Labels of the training runs on the two sides.
        ordered : bool
            Whether labels are integers that ascend with a score.
        log_ratio : mapping, optional
            ln(Pr[label | data] / Pr[label | neighbour]) by the learner's own law.
        midpoints : array, optional
            The score that each of the labels 0, 1, ... stands for, where it estimates a log-likelihood ratio.
        careful : bool
            Whether the choice is worth some 30 milliseconds for models with a prior. They say nothing of p - delta.
        """
        labels, x, y = _atoms(data, neighbour, ordered)
        if ordered:
            families = list(families_by_score(labels, x, y, midpoints, careful))
        else:
            families = list(families_by_counts(x, y, careful))
            families += [] if log_ratio is None else families_by_law(labels, log_ratio)
        return cls(labels, x, y, ordered, families)

    def best(self, confirm: int, *, delta: float, gamma: float) -> LabelChoice:
        """Return the prefix, among those of all families, with the greatest expected bound.

        Parameters
        ----------
        confirm : int
            Fresh runs a side that will confirm.
        delta, gamma : float
            The claim's delta and the error of the confidence bound.
        """
        choices = [self._best_of(family, confirm, delta, gamma) for family in self.families]
        # The first of equals, as `max` has it.
        best, family = max(zip(choices, self.families, strict=True), key=lambda one: one[0].value)
        ranking = tuple(self.labels[i] if i < len(self.labels) else RARE for i in family.order.tolist())
        reserve = self._reserve(family, best, confirm, gamma)
        shares = [(best.length, 1.0)]
        if reserve:
            shares = [(best.length, 1 - reserve.share), (reserve.length, reserve.share)]
        return LabelChoice(
            tuple((self._event(ranking[:length]), share) for length, share in shares),
            family.direction,
            best.value,
            best.doubt,
            family.name,
            sum(len(one.order) for one in self.families),
            ranking if family.direction == FORWARD else ranking[::-1],
        )

    def _event(self, taken: Sequence[Hashable]) -> LabelEvent:
        """Return the event that the label is one of these."""
        inside = frozenset(taken)
        return LabelEvent(inside - {RARE}, frozenset(self.labels) - inside, RARE in inside)

    def _reserve(self, family: Family, best: Choice, confirm: int, gamma: float) -> Reserve | None:
        """Return what else to test in the order of the best event; None where no model says how sure it is."""
        if not family.models:
            return None
        likelier, other = (np.cumsum(side[family.order]) for side in self._sides(family))
        pooled = pooled_mass(likelier, likelier[-1], other, other[-1])
        counted = () if self.ordered else (PrefixRatio.by_counts(likelier, other),)
        return choose_reserve(best.length, (*family.models, *counted), pooled, confirm, gamma=gamma)

    def _sides(self, family: Family) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the counts of the side where the family's events are likelier, and of the other."""
        return (self.data, self.neighbour) if family.direction == FORWARD else (self.neighbour, self.data)

    def _best_of(self, family: Family, confirm: int, delta: float, gamma: float) -> Choice:
        likelier, other = self._sides(family)
        return best_prefix(
            likelier[family.order],
            int(likelier.sum()),
            other[family.order],
            int(other.sum()),
            confirm,
            delta=delta,
            gamma=gamma,
            ordered=self.ordered,
            models=family.models,
            penalty=family.penalty,
        )


def _atoms(data: Tally, neighbour: Tally, ordered: bool) -> tuple[list[Any], NDArray[np.int64], NDArray[np.int64]]:
    """Return the common labels in order, and the counts of both sides in each and, last, in all the rare ones."""
    # A score has a place for every label, however rare.
    least = 1 if ordered else LEAST
    common: list[Any] = [label for label in data.keys() | neighbour.keys() if data[label] + neighbour[label] >= least]
    common.sort(key=None if ordered else stable_repr)
    x = np.array([data[label] for label in common], dtype=np.int64)
    y = np.array([neighbour[label] for label in common], dtype=np.int64)
    return common, np.append(x, data.total() - x.sum()), np.append(y, neighbour.total() - y.sum())
