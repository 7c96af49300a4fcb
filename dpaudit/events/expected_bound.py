"""Predict from training runs the lower bounds on epsilon that nested events will give on fresh runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import betaincinv, ndtri

from dpaudit.bounds.base import Array, Integers
from dpaudit.bounds.limits import wilson_limit
from dpaudit.events.cells import to_grid


@dataclass(frozen=True)
class PlannedTest:
    """The test to come of an event that is to be chosen.

    Fresh `runs` a side will confirm it; `delta` is the claim's, `gamma` the error of the confidence bound.
    """

    runs: int
    delta: float
    gamma: float


PrefixRatio = tuple[Array, Array]
"""ln(p/q) of each prefix of the atoms by a model, and its standard error from training; both of shape (m,)."""


# The most training standard errors z_s by which an event is marked down for being the best of some: without it the
# best-looking event is the luckiest one. Of k events without a signal the luckiest is some sqrt(2 ln k) standard errors
# off, so where there is little to choose from there is little to mark down; above 90 nested events the number does not
# grow. Small events pay for delta > 0, so they are marked down less: for Laplace and geometric noise 3 reached 99.5 to
# 100 % of the best event's bound (0 lost up to a quarter of it), for Gaussian noise and delta > 0 it was 1 to 2.
MARKDOWN = 3.0
MARKDOWN_OF_DELTA = 1.5


def expected_bound(
    hits: Integers,
    trained: int,
    neighbour_hits: Integers,
    neighbour_trained: int,
    test: PlannedTest,
    *,
    events: float = math.inf,
) -> Array:
    """Return the lower bound on epsilon that each event can be expected to give on fresh runs, marked down for luck.

    With p = (x + 1/2) / (m + 1) and q likewise it is ln((p - delta) / q) - sqrt(a^2 + b^2), where a and b are the
    distances on the log scale from p - delta down to, and from q up to, the Wilson limits of the training counts at z =
    z_s + z_gamma sqrt(m / runs). For many counts that is z_gamma standard errors of the confirmation plus z_s of the
    training; for few it stays finite and cautious where the normal approximation on the log scale does not. It is -inf
    for events with p <= delta.

    Given are the training runs in each event and all of them, on the likelier and on the other side, and from how many
    `events` one will be chosen.
    """
    x = np.asarray(hits, dtype=np.float64)
    y = np.asarray(neighbour_hits, dtype=np.float64)
    p = (x + 0.5) / (trained + 1)
    q = (y + 0.5) / (neighbour_trained + 1)
    most = MARKDOWN if test.delta == 0 else MARKDOWN_OF_DELTA
    penalty = min(most, math.sqrt(2 * math.log(max(events, 1.0))))
    low = wilson_limit(x, trained, -(penalty - ndtri(test.gamma) * np.sqrt(trained / test.runs)))
    high = wilson_limit(y, neighbour_trained, penalty - ndtri(test.gamma) * np.sqrt(neighbour_trained / test.runs))
    good = (low > test.delta) & (p > test.delta)
    room = np.where(good, p - test.delta, 1.0)
    least = np.where(good, low - test.delta, 1.0)
    spread = np.hypot(np.log(room / least), np.log(high / q))
    return np.where(good, np.log(room / q) - spread, -np.inf)


def refutation_score(
    hits: Integers, neighbour_hits: Integers, test: PlannedTest, epsilon: float, *, ordered: bool
) -> Array:
    """Return by how many standard errors of training each prefix of the atoms would refute a claim.

    With x of m and y of k training runs in an event it is (b - epsilon) / sqrt(1 / x + 1 / (y + 1/2)), where b is ln((L
    - delta) / U) with the Wilson limits L and U at z_gamma of x n / m and y n / k hits in n runs: the bound of the test
    to come if shares are what training shows. The normal distribution function of it is about the probability that the
    test refutes the claim; `expected_bound`, which is cautious, would rather have a safe event that does not.

    Given are the training runs in each atom, shape (m,), in order, on the likelier side and on the other. The order is
    `ordered` if it comes from elsewhere; if not, atoms without a hit on one side come first by luck, so that each of
    them counts one more there.
    """
    x = np.cumsum(hits)
    y = np.cumsum(neighbour_hits + (0 if ordered else 1))
    low = wilson_limit(x / x[-1] * test.runs, test.runs, ndtri(test.gamma))
    high = wilson_limit(y / y[-1] * test.runs, test.runs, -ndtri(test.gamma))
    good = (low > test.delta) & (x > 0)
    bound = np.log(np.where(good, low - test.delta, 1.0) / high)
    return to_grid(np.where(good, (bound - epsilon) / np.sqrt(1 / np.maximum(x, 1) + 1 / (y + 0.5)), -np.inf))


def confirmation_error(log_ratio: Array, pooled: Array, runs: int) -> Array:
    """Return the standard error of ln(p/q) by n fresh runs a side, where p and q have this ratio and (p + q) / 2 = w.

    It is sqrt((1 - p) / (n p) + (1 - q) / (n q)) (1 + 1 / (n q)), with q = 2 w / (1 + exp(log_ratio)).

    Given are ln(p/q) and w of each event, shape (m,), and the runs n.
    """
    # An infinite ratio has no error.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        q = np.minimum(2 * pooled / (1 + np.exp(log_ratio)), 1.0)
        p = np.minimum(q * np.exp(log_ratio), 1.0)
        # The confirmation needs some hits on the rarer side before a ratio of counts is near normal.
        few = 1 + 1 / (q * runs)
        error: Array = np.sqrt((1 - p) / (p * runs) + (1 - q) / (q * runs)) * few
    return error


def prefix_bounds(
    hits: Integers,
    neighbour_hits: Integers,
    test: PlannedTest,
    *,
    ordered: bool = False,
    models: Sequence[PrefixRatio] = (),
    penalty: float = 1.0,
    rivals: int = 1,
) -> tuple[Array, Array]:
    """Return the bound expected of each prefix of the atoms, and by how much it is marked down for the luck of models.

    With `models`, estimates of each prefix's ratio that have a prior, the expected bound is the mean of theirs: where
    one of them is wrong the others hold it back. If the order comes from these counts, each event's own counts are one
    of them. If models see no signal, the bound is that by the counts, as it is without models.

    Counts, shape (m,), and `ordered` are as for `refutation_score`. Each model is marked down by so many of its
    standard errors as the `penalty` says: fewer runs in an event make it no less certain. The best event will be chosen
    from so many `rivals`: of twenty orders with one event each the luckiest wins too.
    """
    inside = np.cumsum(hits)
    outside = np.cumsum(neighbour_hits)
    counts = (inside, int(inside[-1]), outside, int(outside[-1]))
    # Everything is the last prefix, and shows nothing.
    real = float(np.count_nonzero(hits + neighbour_hits) - 1)
    by_counts = to_grid(expected_bound(*counts, test, events=rivals * real))
    if models:
        # The rate of the prefix, whichever side it comes from.
        pooled = np.divide(inside + outside + 1.0, counts[1] + counts[3] + 2.0, dtype=np.float64)
        sampling = [ndtri(test.gamma) * confirmation_error(ratio, pooled, test.runs) for ratio, _ in models]
        bounds = [ratio + s - penalty * error for (ratio, error), s in zip(models, sampling, strict=True)]
        if not ordered:
            bounds.append(by_counts)
        mean = to_grid(np.mean(bounds, axis=0))
        # A prior that sees no signal would have the event that loses least, which is everything.
        if mean[np.argmax(mean)] > 0:
            return mean, to_grid(penalty * np.sum([error for _, error in models], axis=0) / len(bounds))
    return by_counts, np.zeros(len(by_counts))


# The probability with which a leak is to be learned.
POWER = 0.95
# Its normal quantile, and a third of a standard error for the luck of other events that are compared.
QUANTILE = 2.0
HALVINGS = 40
# Counts that are tried: an event that needs more of them is none that a claim makes impossible.
MOST_MET = 400


@lru_cache(maxsize=4096)
def learnable_delta(training: int, test: PlannedTest, epsilon: float) -> float:
    """Return the least probability of an event, impossible on the other side, that training has tested.

    So many `training` runs a side meet it x times with probability `POWER`, where x is the least count whose
    `refutation_score` is positive; infinite if none is.
    """
    counts = range(1, min(training, MOST_MET) + 1)
    least = next((x for x in counts if _score(x, 0.0, training, test, epsilon) > 0), None)
    if least is None:
        return math.inf
    return float(betaincinv(least, training - least + 1, POWER))


@lru_cache(maxsize=4096)
def learnable_epsilon(mass: float, training: int, test: PlannedTest, epsilon: float) -> float:
    """Return the least ln((p - delta) / q) of an event of probability q, the `mass`, on the other side that is tested.

    It is where the `refutation_score` of the counts expected in training is 2: training then errs to a score of a third
    or less with probability 0.05. Infinite where no p <= 1 reaches it, and for an event that never happens on one side.
    """
    if not mass:
        return math.inf
    low = epsilon
    high = math.log((1 - test.delta) / mass)
    if high <= low or not _is_learned(high, mass, training, test, epsilon):
        return math.inf
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if _is_learned(middle, mass, training, test, epsilon):
            high = middle
        else:
            low = middle
    return high


def _is_learned(ratio: float, mass: float, training: int, test: PlannedTest, epsilon: float) -> bool:
    p = math.exp(ratio) * mass + test.delta
    return _score(training * p, training * mass, training, test, epsilon) > QUANTILE


def _score(x: float, y: float, training: int, test: PlannedTest, epsilon: float) -> float:
    """Return the score of an event that is compared with its complement alone."""
    both = np.array([x, max(0.0, training - x)]), np.array([y, training - y])
    return float(refutation_score(*both, test, epsilon, ordered=False)[0])
