r"""Choose the guesses of coins that fresh runs are to test: pairs of disjoint sets of outputs, one for either side.

A fair coin decides before each run which input it is made on. A guess has two sets of outputs: of a run whose output is
in the first one it says that the coin fell to one side, of a run in the second one to the other, and of all others
nothing. Of runs made one by one the first N0 about which it says something are counted, N0 fixed by training: given a
random number of them the count is not binomial where a mechanism has a state. What is missing of them is guessed at
fresh coins. Runs of a batch are taken for independent, and then all about which it says something can be counted.

Both sets are ends of one order of the atoms. With w the mass of an atom in a run and s the probability that a run in it
is of the first side, a guess whose sets are F and B says something with probability W = w(F) + w(B), and is right with

.. math:: S = \Bigl(\sum_F w s + \sum_B w (1 - s)\Bigr) / W ,

so that its bound on epsilon is near logit S - z / sqrt(n W S (1 - S)) in n runs. Training leaves s in doubt: draws of s
from its posterior say how good each of many guesses may be. Of k guesses with a k-th of the error each the greatest
bound counts; they are added one by one, the one first that raises the mean of the greatest bound most, and k is the
number with the greatest mean.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtri

from dpaudit.bounds.base import Array, Integers
from dpaudit.bounds.limits import lower_limit
from dpaudit.contract import Direction
from dpaudit.events.cells import to_grid
from dpaudit.events.event import CellSet, Outputs, Tally
from dpaudit.events.expected_bound import PlannedTest
from dpaudit.events.prefixes import Prefixes, likelier_first
from dpaudit.outputs.canonical import canonical_each

# Guesses that share the error at most: with a fifth of it each a bound is 2 % lower, or less.
MOST = 5
# Lengths of either end that are tried, from one atom to all. With 16 bounds of ten mechanisms and 8 seeds are 0.15 %
# lower on average (standard error 0.15), with 64 the same (`scripts/bench.py event_choice --constants`).
LENGTHS = 32
# Draws of each model. With 16 the same bounds are 0.2 % higher, with 256 too (0.2).
DRAWS = 64
# By how much errors of models are taken for greater than they say, for they know nothing of how wrong their priors are.
# The same bounds are 0.4 % higher with 1.5 (0.2), 0.4 % lower with 3 and 4 (0.2) and 0.6 % lower with 1 (0.8), where
# the lowest tenth of them lose 13 %, against 2 % with 1.5.
SPREAD = 2.0
# The two bits of a run that a guess says something of, and the side that it says.
DATA = 1
NEIGHBOUR = 2
# Draws by which N0 is planned.
PLANS = 256
# Candidates for N0, in standard deviations below the expected number of hits.
STEPS = np.linspace(-1.0, 4.0, 21)


@dataclass(frozen=True)
class Guess:
    """A guess of the coin by two disjoint sets of cells, with its share of the error.

    The cells of `event` speak for the side that `direction` names, on which they are likelier, those of `opposite` for
    the other. By training a run is in either set with the probability `mass`, and the guess is `right` then with
    another.
    """

    event: CellSet
    opposite: CellSet | None
    direction: Direction
    share: float
    mass: float
    right: float

    def code(self, cell: Hashable) -> int:
        """Return `DATA` or `NEIGHBOUR` for a cell that speaks for that side, else 0."""
        ours, other = likelier_first(self.direction, DATA, NEIGHBOUR)
        if self.event.has(cell):
            return ours
        if self.opposite is not None and self.opposite.has(cell):
            return other
        return 0

    def planned(self, runs: int, trained: int, gamma: float, epsilon: float) -> int:
        """Return N0, for `runs` fresh runs on both sides together after `trained` ones.

        It is the number with which the claim is likeliest refuted, and among equals the one with the greatest bound in
        expectation.

        The number of hits is drawn from the gamma law with mean m = n w and variance m (1 - w) (1 + n / trained), as
        for hits that come one by one at a rate that training has estimated, and how often they are right from the beta
        law that training leaves.
        """
        rng = np.random.default_rng(0)
        mean = runs * self.mass
        seen = max(trained, 1)
        spread = max(1 - self.mass, 1 / seen) * (1 + runs / seen)
        hits = np.rint(rng.gamma(mean / spread, spread, PLANS)).astype(np.int64)
        met = seen * self.mass
        share = rng.beta(met * self.right + 0.5, met * (1 - self.right) + 0.5, PLANS)
        numbers = np.unique(
            np.clip(np.floor(mean - STEPS * math.sqrt(mean * spread)), 1, max(runs, 1)).astype(np.int64)
        )
        tried = numbers[:, None]
        counted = np.minimum(hits, tried)
        right = rng.binomial(counted, share) + rng.binomial(tried - counted, 0.5)
        # Most draws share their counts with others, and limits take longest.
        pairs, place = np.unique(tried * (runs + 1) + right, return_inverse=True)
        limits = lower_limit(pairs % (runs + 1), pairs // (runs + 1), gamma)
        bounds = logit(np.maximum(limits, 0.5))[place.reshape(right.shape)]
        refuting = (bounds > epsilon).mean(axis=1)
        expected = to_grid(bounds.mean(axis=1))
        return int(numbers[max(range(len(numbers)), key=lambda i: (refuting[i], expected[i]))])


class GuessCodes:
    """Says of each run of a batch what each of several guesses says of its coin: two bits a guess, as `Guess.code`."""

    def __init__(self, guesses: Sequence[Guess]) -> None:
        sets = [one for guess in guesses for one in (guess.event, guess.opposite) if one is not None]
        named = set().union(*(one.inside | one.outside for one in sets))
        # All cells that no set names are alike.
        *codes, self._other = (
            sum(guess.code(cell) << 2 * i for i, guess in enumerate(guesses)) for cell in (*named, _UNNAMED)
        )
        self._codes = dict(zip(named, codes, strict=True))

    def __call__(self, cells: Outputs) -> tuple[Tally, NDArray[np.uint16]]:
        """Return the counts of the cells of a batch, and the bits of each run."""
        if isinstance(cells, np.ndarray) and cells.ndim == 1 and cells.dtype.kind in "iu":
            values, places = np.unique(cells, return_inverse=True)
            met: list[Hashable] = values.tolist()
        else:
            index: dict[Hashable, int] = {}
            places = np.array([index.setdefault(cell, len(index)) for cell in canonical_each(cells)], dtype=np.intp)
            met = list(index)
        counts = np.bincount(places, minlength=len(met)).tolist()
        bits = np.array([self._codes.get(cell, self._other) for cell in met], dtype=np.uint16)
        return Counter(dict(zip(met, counts, strict=True))), bits[places]


# A cell that is in no set.
_UNNAMED = object()


def choose_guesses(
    first: Prefixes,
    second: Prefixes,
    data: Integers,
    neighbour: Integers,
    test: PlannedTest,
    most: int = MOST,
) -> list[tuple[int, int, float, float, float]]:
    """Return the guesses to test: the lengths of both ends, the share of the error, the mass and how often it is right.

    No guess is returned if no prefix that may be tried has a training run; else at most `most`. `first` is the order
    from the likeliest on data on, `second` that from the likeliest on neighbour on; given are the training counts of
    each atom too. The runs of the test to come are those of one side.
    """
    mass = (data + neighbour) / (data.sum() + neighbour.sum())
    share = _draws(first, data, neighbour)
    ends = [_lengths(np.cumsum(mass[one.order])) for one in (first, second)]
    (w1, r1), (w2, r2) = (
        _sums(one.order, length, mass, right)
        for one, length, right in zip((first, second), ends, (share, 1 - share), strict=True)
    )
    place = np.empty(len(first.order), dtype=np.intp)
    place[first.order] = np.arange(len(place))
    reach = np.concatenate([[len(place)], np.minimum.accumulate(place[second.order])])[ends[1]]
    both = w1[0][:, None] + w2[0]
    allowed = np.flatnonzero((reach >= ends[0][:, None]) & (both > 0))
    if not len(allowed):
        return []
    weight = both.ravel()[allowed]
    right = (r1[:, :, None] + r2[:, None, :]).reshape(len(share), -1)[:, allowed] / weight
    ratio = logit(np.clip(right, 1e-9, 1 - 1e-9))
    chosen = _greedy(ratio, _error(expit(ratio.mean(axis=0)), 2 * test.runs * weight), test.gamma, most)
    found = []
    for one in dict.fromkeys(chosen):
        i, j = np.unravel_index(allowed[one], both.shape)
        mean = float(right[:, one].mean())
        found.append((int(ends[0][i]), int(ends[1][j]), 1 / len(chosen), float(weight[one]), mean))
    # The likeliest first: on its event the power of the audit is stated.
    return sorted(found, key=lambda guess: -guess[3])


def _draws(family: Prefixes, data: Integers, neighbour: Integers) -> Array:
    """Return draws of the probability that a run in each atom is of the data, both sides being as frequent."""
    rng = np.random.default_rng(0)
    if family.draws is None:
        odds = logit(rng.beta(data + 0.5, neighbour + 0.5, (DRAWS, len(data))))
        return np.asarray(expit(odds - math.log((data.sum() + 0.5) / (neighbour.sum() + 0.5))))
    ratios = family.draws(rng, DRAWS, SPREAD)
    # Cells without a place in the order are the last atom, about which models say nothing.
    return np.asarray(expit(np.pad(ratios, ((0, 0), (0, len(data) - ratios.shape[1])))))


def _lengths(masses: Array) -> NDArray[np.intp]:
    """Return 0 and the lengths of prefixes to try, given the masses of all prefixes; the last prefix is everything."""
    if len(masses) <= LENGTHS:
        return np.arange(len(masses), dtype=np.intp)
    wanted = np.geomspace(max(masses[0], 1e-7), 1, LENGTHS)
    return np.unique([0, *np.clip(np.searchsorted(masses, wanted) + 1, 1, len(masses) - 1)])


def _sums(order: NDArray[np.intp], lengths: NDArray[np.intp], mass: Array, right: Array) -> tuple[Array, Array]:
    """Return the masses of prefixes, shape (1, lengths), and the masses of runs that are guessed right, by draw."""

    def prefixes(values: Array) -> Array:
        """Return the sums of prefixes of these lengths, by row."""
        sums: Array = np.pad(np.cumsum(values[:, order], axis=1), ((0, 0), (1, 0)))[:, lengths]
        return sums

    return prefixes(mass[None]), prefixes(right * mass)


def _error(right: Array, hits: Array) -> Array:
    """Return the standard error of the logit of a share of so many hits, which may be a standard deviation fewer.

    A few hits that are wrong are needed before it is near normal.
    """
    counted = np.maximum(hits - np.sqrt(hits), hits / 4)
    with np.errstate(divide="ignore", over="ignore"):
        found: Array = (1 + 1 / (counted * (1 - right))) / np.sqrt(counted * right * (1 - right))
    return found


def _greedy(ratio: Array, error: Array, gamma: float, most: int) -> list[int]:
    """Return the guesses to test, by their places: see above."""
    best: list[int] = []
    worth = -np.inf
    for number in range(1, most + 1):
        bounds = ratio + ndtri(gamma / number) * error
        greatest = np.full(len(bounds), -np.inf)
        chosen = []
        for _ in range(number):
            chosen.append(int(np.argmax(to_grid(np.maximum(greatest[:, None], bounds).mean(axis=0)))))
            greatest = np.maximum(greatest, bounds[:, chosen[-1]])
        mean = float(to_grid(greatest.mean()))
        if mean > worth:
            best = chosen
            worth = mean
    return best
