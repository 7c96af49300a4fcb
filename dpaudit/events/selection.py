"""Compare the families of nested events over the counted cells of two sides, and select the best event."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from dpaudit.bounds.tangent import ClaimPoints
from dpaudit.contract import Direction
from dpaudit.events.cells import LEAST, to_grid
from dpaudit.events.discretizers import Discretizer
from dpaudit.events.event import RARE, CellSet, Tally
from dpaudit.events.expected_bound import (
    PlannedTest,
    PrefixRatio,
    confirmation_error,
    pooled_mass,
    prefix_bounds,
    refutation_score,
)
from dpaudit.events.families import PrefixFamily, families_by_counts, families_by_law, families_by_score, likelier_first
from dpaudit.jsonable import stable_repr


@dataclass(frozen=True)
class Selection:
    """The best event over the cells of a discretizer, and perhaps a second one of the same order.

    Attributes
    ----------
    discretizer : Discretizer
        The map from outputs to cells.
    training : tuple of Tally
        The counts on the two sides that selected it.
    tests : tuple of (CellSet, float)
        The events that fresh runs are to test, the best first, each with its share of the error.
    direction : Direction
        The side on which they are likelier.
    order : str
        What the order comes from that they are taken from: "score", "likelihood ratio" or "law".
    ranking : tuple of hashable
        All atoms in that order, the cell `RARE` among them, from the likeliest on data to the likeliest on neighbour.
    compared : int
        How many events it was selected from.
    expected : float
        The bound on epsilon that the best event can be expected to give.
    markdown : float
        By how much that has been lowered for the luck of models.
    """

    discretizer: Discretizer
    training: tuple[Tally, Tally]
    tests: tuple[tuple[CellSet, float], ...]
    direction: Direction
    order: str
    ranking: tuple[Hashable, ...]
    compared: int
    expected: float
    markdown: float

    @property
    def event(self) -> CellSet:
        """The best event."""
        return self.tests[0][0]

    def agrees(self, other: Selection) -> bool:
        """Say whether another selection over the same discretizers has the same best event, likelier on that side."""
        alike = self.discretizer is other.discretizer and self.direction is other.direction
        return alike and self.event == other.event

    @property
    def hits(self) -> tuple[int, int, int, int]:
        """The training runs that the best event holds for and all of them, on the likelier side and on the other."""
        likelier, other = likelier_first(self.direction, *self.training)
        return self.event.hits(likelier), likelier.total(), self.event.hits(other), other.total()

    @property
    def neighbour_mass(self) -> float:
        """The best event's probability on the unlikelier side, as the training runs show it."""
        *_, hits, runs = self.hits
        return (hits + 0.5) / (runs + 1)

    @property
    def distinguisher(self) -> str:
        """The name of what orders the events: the discretizer's score or counts, or the learner's own law."""
        return "law" if self.order == "law" else self.discretizer.name


Array = NDArray[np.float64]

SHARES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
"""The shares of the error that are tried: 400 of them gained less than a thousandth more."""
DISTRUST = 1.5
"""By how much models' errors are taken for greater than they say: they know nothing of how wrong their priors are.
Audits of Laplace noise reached the same bounds to a percent with half and with twice as much."""


def choose_second_event(
    main: int, models: Sequence[PrefixRatio], pooled: Array, test: PlannedTest
) -> tuple[int, float] | None:
    r"""Return the length and the share of the error of the prefix that most raises the expected greater of two bounds.

    None if no prefix raises it.

    The main event's bound has the error (1 - w) gamma, the second one's w gamma; by the union bound the greater of the
    two is a lower bound with error gamma, however the events overlap. Training leaves in doubt which is better: let the
    second be ahead by a normal amount with mean m, the difference of the expected bounds, and deviation s. As prefixes
    of one order are nested, and the ratio of a smaller event is that of the greater and its own deviation from it,
    s^2 = DISTRUST^2 |e_2^2 - e_1^2| with e_1 and e_2 the models' errors of the main and the second event. The greater
    bound then exceeds the main one, as it is with all the error, by

    .. math:: m \Phi(m / s) + s \varphi(m / s) - (z_{(1-w)\gamma} - z_{\gamma}) \sigma

    in expectation, with sigma the main event's `confirmation_error` and z the upper normal quantiles. This is the
    expected improvement of Bayesian optimisation, less its price.

    Parameters
    ----------
    main : int
        Atoms in the main event.
    models : sequence of PrefixRatio
        ln(p/q) of each of the m prefixes; their mean is what is believed.
    pooled : array, shape (m,)
        The mass of each prefix, both sides together; the last prefix is everything.
    test : PlannedTest
        The test to come.

    References
    ----------
    Mockus, Tiesis and Zilinskas (1978), The application of Bayesian methods for seeking the extremum.
    """
    ratio, error = (np.mean([getattr(model, name) for model in models], axis=0) for name in ("log_ratio", "error"))
    sampling = confirmation_error(ratio, pooled, test.runs)
    spread = DISTRUST * np.sqrt(np.abs(np.square(error) - error[main - 1] ** 2))
    possible = spread > 0
    possible[-1] = False  # everything shows nothing
    best, most = None, 0.0
    for share in SHARES:
        kept = ndtri((1 - share) * test.gamma) * sampling[main - 1]
        ahead = ratio + ndtri(share * test.gamma) * sampling - ratio[main - 1] - kept
        mean, deviation = ahead[possible], spread[possible]
        scaled = mean / deviation
        above = mean * ndtr(scaled) + deviation * np.exp(-np.square(scaled) / 2) / math.sqrt(2 * math.pi)
        gain = to_grid(above - (ndtri(test.gamma) * sampling[main - 1] - kept))
        if len(gain) and gain.max() > most:
            best, most = (int(np.flatnonzero(possible)[np.argmax(gain)]) + 1, share), float(gain.max())
    return best


IntArray = NDArray[np.int64]


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
    families : list of PrefixFamily
        Orders, in both directions.
    """

    discretizer: Discretizer
    training: tuple[Tally, Tally]
    cells: list[Any]
    data: IntArray
    neighbour: IntArray
    families: list[PrefixFamily]

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
            families = list(families_by_score(cells, x, y, discretizer.midpoints, careful))
        else:
            families = list(families_by_counts(x, y, careful))
            families += [] if log_ratio is None else families_by_law(cells, log_ratio)
        return cls(discretizer, training, cells, x, y, families)

    def best(self, test: PlannedTest, rivals: int = 1) -> Selection:
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
        # The first of equals, as `max` has it.
        pairs = zip(self.families, bounds, strict=True)
        family, (expected, markdown) = max(pairs, key=lambda one: float(one[1][0].max()))
        best = int(np.argmax(expected))
        second = self._second(family, best + 1, test)
        shares = [(best + 1, 1 - second[1]), second] if second else [(best + 1, 1.0)]
        compared = sum(len(one.order) for one in self.families)
        return self._selected(family, shares, compared, expected[best], markdown[best])

    def refuting(self, test: PlannedTest, epsilon: float) -> tuple[float, Selection]:
        """Return the prefix most likely to refute a claim by its counts alone, with its score, whatever models say.

        A model that has seen a hundred cells without a signal takes one strong cell among them for luck.
        """
        ordered = self.discretizer.ordered
        families = self.families if ordered else list(families_by_counts(self.data, self.neighbour, False))
        scores = [refutation_score(*self._sides(one), test, epsilon, ordered=ordered)[:-1] for one in families]
        best, family = max(zip(scores, families, strict=True), key=lambda one: float(one[0].max(initial=-np.inf)))
        length = int(np.argmax(best)) + 1 if len(best) else 1
        expected, _ = prefix_bounds(*self._sides(family), test, ordered=ordered)
        compared = sum(len(one.order) for one in families)
        selected = self._selected(family, [(length, 1.0)], compared, expected[length - 1], 0.0)
        return float(best.max(initial=-np.inf)), selected

    def refuting_points(self, points: ClaimPoints) -> tuple[float, int, Selection]:
        """Return the prefix that most exceeds one of several points of a claim, with its score and the point's index.

        As for `refuting` an atom counts one more on the unlikelier side where counts alone order the atoms.
        """
        ordered = self.discretizer.ordered
        families = self.families if ordered else list(families_by_counts(self.data, self.neighbour, False))
        best, place, chosen = -np.inf, (0, 0), families[0]
        for family in families:
            hits, others = (np.cumsum(side).astype(np.float64) for side in self._sides(family))
            luck = 0 if ordered else np.arange(1, len(others) + 1)
            raised = np.minimum(others + luck, others[-1])
            scores = points.scores(hits[:-1], int(hits[-1]), raised[:-1], int(others[-1]))
            if scores.size and scores.max() > best:
                best, chosen = float(scores.max()), family
                place = divmod(int(scores.argmax()), scores.shape[1])
        compared = sum(len(one.order) for one in families) * len(points.epsilon)
        return best, place[0], self._selected(chosen, [(place[1] + 1, 1.0)], compared, best, 0.0)

    def _selected(
        self, family: PrefixFamily, shares: Sequence[tuple[int, float]], compared: int, expected: float, markdown: float
    ) -> Selection:
        """Return prefixes of a family, given by their lengths and shares of the error, as the event selected."""
        ranking = tuple(self.cells[i] if i < len(self.cells) else RARE for i in family.order.tolist())
        return Selection(
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

    def _event(self, taken: Sequence[Hashable]) -> CellSet:
        """Return the event that the cell is one of these."""
        inside = frozenset(taken)
        return CellSet(inside - {RARE}, frozenset(self.cells) - inside, RARE in inside)

    def _sides(self, family: PrefixFamily) -> tuple[IntArray, IntArray]:
        """Return the counts of the family's atoms in its order, on the likelier side and on the other."""
        likelier, other = likelier_first(family.direction, self.data, self.neighbour)
        return likelier[family.order], other[family.order]

    def _second(self, family: PrefixFamily, main: int, test: PlannedTest) -> tuple[int, float] | None:
        """Return what else to test in the order of the best event; None where no model has an error."""
        if not family.models:
            return None
        likelier, other = (np.cumsum(side) for side in self._sides(family))
        pooled = pooled_mass(likelier, int(likelier[-1]), other, int(other[-1]))
        counted = () if self.discretizer.ordered else (PrefixRatio.by_counts(likelier, other),)
        return choose_second_event(main, (*family.models, *counted), pooled, test)
