"""Tests of whether runs depend on each other: on the one before, or on those that another worker makes.

Both are conditional on the outputs as a multiset. Independent runs give them in any order, and to any worker, with the
same probability, so that the stated rates of false alarms hold for every law of outputs and every number of runs.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from dpaudit.running.fingerprints import Sketch

Floats = NDArray[np.float64]

# The distances of runs that are compared.
LAGS = (1, 2, 3, 4)
# Numbers of an output that are looked at; of more than so many, some in equal distances.
NUMBERS = 64
# Random orders that give the mean and the scale of each statistic, and those that the observed order must exceed.
#
# Nearly all independent runs end at the first stage. At the last stage all orders must be exceeded, so that
# independent runs are said to depend on each other with probability at most 1 / (1 + 9,999).
SCALING = 200
STAGES = (99, 9_999)
# The greatest probability with which runs that are independent are said to depend on the order.
ORDER_ERROR = 1 / (1 + STAGES[-1])
# The greatest probability with which workers whose runs are independent are said to share values.
SHARED_ERROR = 1e-5
# Workers, those with most runs, that are compared pair by pair.
MOST_WORKERS = 8


def numbers_of(output: Any, label: Hashable) -> list[float]:
    """Return some numbers of an output, by which its runs are ranked; none of an output without numbers.

    Parameters
    ----------
    output : object
        The output.
    label : hashable
        Its label: numbers of outputs other than numbers and arrays are read from it.
    """
    if isinstance(output, np.ndarray) and output.dtype.kind in "biuf":
        values = output.ravel()
        return [float(value) for value in values[:: -(-len(values) // NUMBERS) or 1]]
    found: list[float] = []
    _add_numbers(label, found)
    return found


def _add_numbers(label: Hashable, found: list[float]) -> None:
    if isinstance(label, tuple):
        for part in label:
            if len(found) >= NUMBERS:
                return
            _add_numbers(part, found)
    elif isinstance(label, int | float):
        try:
            found.append(float(label))
        except OverflowError:  # an integer beyond all floats ranks as infinity does
            found.append(math.inf if label > 0 else -math.inf)


class Series:
    """Runs on one input, in the order in which they were made.

    Attributes
    ----------
    labels : list
        What distinguishes each output from others.
    numbers : list of list of float
        Some numbers of each.
    """

    def __init__(self) -> None:
        self.labels: list[Hashable] = []
        self.numbers: list[list[float]] = []

    def add(self, outputs: Iterable[Any], labels: Iterable[Hashable]) -> None:
        """Add runs that were made after all others."""
        for output, label in zip(outputs, labels, strict=True):
            self.labels.append(label)
            self.numbers.append(numbers_of(output, label))

    def kernels(self) -> list[Floats]:
        """Return for each kind of likeness how alike any two of n runs are, shape (n, n) each.

        The kinds are equal outputs and equal numbers, ranks on one side of the middle, and ranks as far from it.
        """
        n = len(self.labels)
        width = max(map(len, self.numbers), default=0)
        columns = np.full((n, width), np.nan)
        for row, found in zip(columns, self.numbers, strict=True):
            row[: len(found)] = found
        known = {label: number for number, label in enumerate(dict.fromkeys(self.labels))}
        codes = np.array([known[label] for label in self.labels])
        equal = (codes[:, None] == codes).astype(np.float64)
        ranks = np.zeros((n, width))
        spread = np.zeros((n, width))
        for j in range(width):
            there = ~np.isnan(columns[:, j])
            equal += columns[:, j][:, None] == columns[:, j]
            ranks[there, j] = _centred(_ranks(columns[there, j]))
            spread[there, j] = _centred(np.abs(ranks[there, j]))
        return [equal, ranks @ ranks.T, spread @ spread.T]


def _ranks(values: Floats) -> Floats:
    """Return the rank of each value, equal ones with their mean rank, as `scipy.stats.rankdata` does.

    Every audit ranks numbers, and to load `scipy.stats` for it takes a third of a short audit's time.
    """
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray(last - (counts - 1) / 2)[places]


def _centred(values: Floats) -> Floats:
    """Return values less their mean, in units of their standard deviation; zeros where all are the same."""
    if not len(values):
        return np.zeros_like(values)
    centred = values - values.mean()
    scale = float(np.sqrt(np.mean(centred**2)))
    if scale == 0:
        return np.zeros_like(centred)
    scaled: Floats = centred / scale
    return scaled


def depends_on_order(series: Sequence[Series], rng: np.random.Generator) -> bool:
    """Say whether runs depend on those before them.

    For each kind of likeness and each lag l the statistic is the sum over t of the likeness of the runs t and t + l, in
    units of its standard deviation over random orders. One more is how many equal outputs have the distance that most
    of them have, of whatever length: noise that is used again in turn has one. The greatest of all in absolute value
    must exceed that of all 9,999 random orders. The rate of false alarms is `ORDER_ERROR` at most.

    Parameters
    ----------
    series : sequence of Series
        The runs on each of some inputs: orders are random within each.
    rng : numpy.random.Generator
        Draws the orders.
    """
    kernels = [one.kernels() for one in series if len(one.labels) > max(LAGS)]
    if not kernels:
        return False

    # Noise that is used again in turn, at a distance beyond all lags, shows by the distance of equal outputs.
    repeats = [_repeats(of_kind[0]) for of_kind in kernels]

    def statistics(orders: int) -> Floats:
        """Return the statistics, shape (orders, kinds and lags), of so many random orders; of the own one for 0."""
        found: Floats = np.zeros((max(orders, 1), len(kernels[0]) * len(LAGS) + 1))
        distances: list[Floats] = []
        for of_kind, pairs in zip(kernels, repeats, strict=True):
            own = np.arange(len(of_kind[0]))[None, :]
            order = own
            if orders:
                order = rng.permuted(np.repeat(own, orders, axis=0), axis=1)
            for i, lag in enumerate(LAGS):
                # One index into the flat kernels serves all kinds: looking up pairs takes most of an audit's order.
                neighbours = order[:, :-lag] * own.shape[1] + order[:, lag:]
                for k, kernel in enumerate(of_kind):
                    found[:, k * len(LAGS) + i] += kernel.ravel().take(neighbours).sum(axis=1)
            if len(pairs):
                places = np.argsort(order, axis=1)
                distances.append(np.abs(places[:, pairs[:, 0]] - places[:, pairs[:, 1]]).astype(np.float64))
        if distances:
            found[:, -1] = _commonest(np.concatenate(distances, axis=1))
        return found

    scaling = statistics(SCALING)
    middle = scaling.mean(axis=0)
    scale = scaling.std(axis=0)
    # Sums of the same terms in another order differ in the last digits.
    constant = scale <= 1e-9 * (1 + np.abs(middle))
    scale = np.where(constant, 1.0, scale)

    def greatest(orders: int) -> Floats:
        deviations = np.abs(statistics(orders) - middle) / scale
        greatest: Floats = np.where(constant, 0.0, deviations).max(axis=1)
        return greatest

    observed = float(greatest(0)[0]) * (1 - 1e-9)
    # The order seen is one of 1 + 9,999 that are equally likely if runs are independent.
    for orders in STAGES:
        for start in range(0, orders, PIECE):
            if (greatest(min(PIECE, orders - start)) >= observed).any():
                return False
    return True


def _repeats(equal: Floats) -> NDArray[np.int64]:
    """Return the pairs of equal runs, shape (pairs, 2); no pairs if most runs have an equal, as those of few values."""
    pairs = np.argwhere(np.triu(equal > 0, 1))
    if len(pairs) > MOST_REPEATS * len(equal):
        return pairs[:0]
    return pairs


def _commonest(distances: Floats) -> Floats:
    """Return for each row how often its commonest value occurs."""
    ordered = np.sort(distances, axis=1)
    times = np.ones(len(ordered))
    width = ordered.shape[1]
    for more in range(1, width):
        again = (ordered[:, more:] == ordered[:, : width - more]).any(axis=1)
        if not again.any():
            break
        times += again
    return times


def depends_on_calls(calls: Series, runs: int, rng: np.random.Generator) -> bool:
    """Say whether runs of one call share more values than runs of different calls do.

    Equal outputs and equal numbers of two runs of one call are counted. They must be more than in all of 9,999 random
    assignments of the runs to calls, so that the rate of false alarms is `ORDER_ERROR` at most. (Runs that have a part
    of their noise in common are found by the counts of the runs that decide.)

    Parameters
    ----------
    calls : Series
        The runs of some calls on one input, call by call.
    runs : int
        The runs of each call.
    rng : numpy.random.Generator
        Draws the assignments.
    """
    equal = calls.kernels()[0]
    number = len(calls.labels) // runs
    own = np.repeat(np.arange(number), runs)[None, :]

    def counts(assigned: NDArray[np.int64]) -> Floats:
        found: Floats = np.zeros(len(assigned))
        for call in range(number):
            inside = (assigned == call).astype(np.float64)
            found += ((inside @ equal) * inside).sum(axis=1)
        return found

    observed = float(counts(own)[0])
    for orders in STAGES:
        for start in range(0, orders, PIECE):
            several = np.repeat(own, min(PIECE, orders - start), axis=0)
            if (counts(rng.permuted(several, axis=1)) >= observed).any():
                return False
    return True


# Pairs of equal outputs for each run, at most, whose distances are looked at.
MOST_REPEATS = 8
# Random orders that are held at a time.
PIECE = 500


class SharedValues:
    """Fingerprints of outputs by input and worker, which show whether workers make the same noise."""

    def __init__(self) -> None:
        self.found: dict[str, dict[str, Counter[int]]] = defaultdict(lambda: defaultdict(Counter))

    def add(self, sketch: Sketch) -> None:
        """Add what some runs of a worker have returned."""
        worker, inputs = sketch
        for key, fingerprints in inputs:
            self.found[key][worker].update(fingerprints.tolist())

    @property
    def workers(self) -> int:
        """The number of workers that have made runs."""
        return len({worker for of_input in self.found.values() for worker in of_input})

    def repeated(self) -> bool:
        """Say whether two workers share more values than runs of one and of the other do by chance."""
        runs: Counter[str] = Counter()
        for of_input in self.found.values():
            for worker, values in of_input.items():
                runs[worker] += values.total()
        # The union bound over all pairs of workers that are compared.
        compared = list(combinations([worker for worker, _ in runs.most_common(MOST_WORKERS)], 2))
        return any(self._chance(*both) * len(compared) <= SHARED_ERROR for both in compared)

    def _chance(self, first: str, second: str) -> float:
        """Return the probability with which two workers with independent runs share as many values, at most.

        Only values are looked at that the two have returned twice in all.
        """
        inputs: list[tuple[int, int, int, int]] = []
        for of_input in self.found.values():
            if first in of_input and second in of_input:
                one = of_input[first]
                other = of_input[second]
                both = one + other
                twice = [value for value, times in both.items() if times == 2]
                split = sum(one[value] == 1 for value in twice)
                inputs.append((one.total(), other.total(), len(twice), split))
        return split_chance(inputs)


def split_chance(inputs: Sequence[tuple[int, int, int, int]]) -> float:
    r"""Return the probability that as many pairs of equal values or more are split between two workers.

    Of each input there are m runs of one worker, n of the other, d values seen exactly twice, s of them once by each
    worker. If runs are independent, each choice of m among the m + n runs is as likely to be those of the first worker,
    so that given d

        Pr[s] = C(d, s) 2^s sum_j C(d - s, j) C(m + n - 2 d, m - s - 2 j) / C(m + n, m),

    j the pairs of which the first worker has both. The number of split pairs on all inputs is the sum of independent
    ones.

    Parameters
    ----------
    inputs : sequence of (m, n, d, s)
        The counts on each input.

    Returns
    -------
    float
        The probability of the sum of all s or more.
    """
    law = np.ones(1)
    for first, second, pairs, _ in inputs:
        law = np.convolve(law, _split_law(first, second, pairs))
    # Rounding may leave a little more or less than 1 in all.
    return float(min(1.0, law[sum(one[-1] for one in inputs) :].sum() * (1 + 1e-9)))


def _split_law(first: int, second: int, pairs: int) -> Floats:
    """Return the probabilities of 0 to `pairs` split pairs."""
    whole = _log_choose(first + second, np.array(first))
    law = np.zeros(pairs + 1)
    for split in range(pairs + 1):
        both = np.arange(pairs - split + 1)
        terms = _log_choose(pairs - split, both) + _log_choose(first + second - 2 * pairs, first - split - 2 * both)
        if np.isfinite(greatest := terms.max()):
            total = greatest + np.log(np.exp(terms - greatest).sum())
            law[split] = np.exp(_log_choose(pairs, np.array(split)) + split * math.log(2) + total - whole)
    return law


def _log_choose(n: int, k: NDArray[np.int64]) -> Floats:
    inside = (k >= 0) & (k <= n)
    safe = np.where(inside, k, 0)
    logs: Floats = np.where(inside, gammaln(n + 1) - gammaln(safe + 1) - gammaln(n - safe + 1), -np.inf)
    return logs
