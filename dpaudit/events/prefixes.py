"""Order atoms into families of nested events, with models of the ratio of each of their prefixes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from dpaudit.bounds.base import Array, Integers
from dpaudit.contract import Direction
from dpaudit.events.cells import to_grid
from dpaudit.events.expected_bound import PrefixRatio
from dpaudit.events.random_walk import Walk, fit_walk, prefix_ratios

# Standard deviations that are mixed: from no difference that any audit can see to certainty.
SCALES = np.geomspace(1e-3, 8.0, 40)
# Steps of expectation maximisation, which is slow near its end; the weights need not be exact.
ITERATIONS = 100


@dataclass(frozen=True)
class ScaleMixture:
    """Posterior mean and variance of each atom's log-likelihood ratio g given its counts, shape (m,)."""

    mean: Array
    variance: Array

    def draws(self, rng: np.random.Generator, number: int, spread: float) -> Array:
        """Return draws of g from the posterior, shape (draws, m), with so many times its deviations."""
        return self.mean + spread * rng.standard_normal((number, len(self.mean))) * np.sqrt(self.variance)

    def prefixes(self, order: NDArray[np.intp], total: Array, offset: float) -> tuple[Array, Array]:
        """Return the `prefix_ratios` of the atoms in an order; atoms are independent.

        The `offset` is the log-ratio of all runs.
        """
        variance = self.variance[order]

        def squares(a: Array, b: Array) -> tuple[Array, Array, Array]:
            return np.cumsum(a**2 * variance), np.cumsum(b**2 * variance), np.cumsum(a * b * variance)

        return prefix_ratios(total[order], expit(self.mean[order] + offset), squares)


def fit_scale_mixture(hits: Array, neighbour_hits: Array) -> ScaleMixture:
    r"""Fit a prior to the log-likelihood ratios of atoms, and return each one's posterior.

    The observed ratio of an atom, g' = ln((x + 1/2) / (y + 1/2)) - c, is normal about g with variance
    1 / (x + 1/2) + 1 / (y + 1/2). The prior of g is a mixture of normal laws with mean 0 and standard deviations
    `SCALES`; its weights are those that make the counts likeliest (expectation maximisation). So a few ratios far from
    0 among many at 0 are believed, and many that are as far from 0 as luck takes them are not.

    Given are the counts x and y of the two sides in each atom, shape (m,).
    """
    pairs, back, copies = np.unique(
        np.column_stack([hits, neighbour_hits]), axis=0, return_inverse=True, return_counts=True
    )
    a, b = pairs.T + 0.5
    observed = np.log(a / b) - np.log((hits + 0.5).sum() / (neighbour_hits + 0.5).sum())
    noise = 1 / a + 1 / b
    variance = noise[:, None] + SCALES**2
    likelihood = -0.5 * (np.log(variance) + observed[:, None] ** 2 / variance)
    likelihood = np.exp(likelihood - likelihood.max(axis=1, keepdims=True))
    weights = np.full(len(SCALES), 1 / len(SCALES))
    for _ in range(ITERATIONS):
        part = likelihood * weights
        # One atom's worth of counts for the uniform mixture, so that no scale dies out.
        weights = (copies @ (part / part.sum(axis=1, keepdims=True)) + 1 / len(SCALES)) / (len(hits) + 1)
    part = likelihood * weights
    part /= part.sum(axis=1, keepdims=True)
    kept = SCALES**2 / variance
    mean = (part * kept).sum(axis=1) * observed
    square = (part * (kept * noise[:, None] + np.square(kept * observed[:, None]))).sum(axis=1)
    back = back.ravel()
    return ScaleMixture(mean[back], (square - mean**2)[back])


T = TypeVar("T")
# Both directions, and the sign in each of the log-likelihood ratio of data to neighbour.
SIGNS = ((Direction.FORWARD, 1.0), (Direction.BACKWARD, -1.0))

# Fewer atoms say nothing about how a ratio wanders.
LEAST_ATOMS = 5

# By how many standard errors a walk's ratio is marked down: shrinkage already corrects most of the selection bias. On
# the laws of `test_families` the events chosen are worth the same to a percent between 0.25 and 1, and up to 2 % less
# at 0.
WALK_PENALTY = 0.5

# The same along a fitted score: those that are compared have been fitted, and chosen, with some luck too.
SCORE_PENALTY = 1.25

# The same where each event's own counts, with a penalty of their own, hold the model back: among 200 weak atoms it
# reached 0.58 of the best event's worth, and 0.52 with none; on strong ones the penalty changes nothing.
MIXTURE_PENALTY = 0.5


@dataclass(frozen=True)
class Prefixes:
    """Prefixes of the atoms in an order that comes from what the `name` says, meant to be likelier on one side.

    The `models` are ln(p/q) of each prefix by models with a prior, p being the likelier side, each marked down by so
    many of its standard errors as the `penalty` says. `draws` returns draws of ln(P[data] / P[neighbour]) of each atom
    by the models, shape (draws, atoms), given a generator, the number of draws a model, and by how much errors are
    taken for greater than they say.
    """

    name: str
    direction: Direction
    order: NDArray[np.intp]
    models: tuple[PrefixRatio, ...] = ()
    penalty: float = WALK_PENALTY
    draws: Callable[[np.random.Generator, int, float], Array] | None = None


Order = tuple[Prefixes, Prefixes]
"""Prefixes of the atoms in one order, meant to be likelier on data, and of those in the contrary one, on neighbour."""


def likelier_first(direction: Direction, data: T, neighbour: T) -> tuple[T, T]:
    """Return what belongs to the side where events are likelier, and what belongs to the other."""
    if direction is Direction.FORWARD:
        return (data, neighbour)
    return (neighbour, data)


def prefixes_by_score(
    bins: Sequence[int], x: Integers, y: Integers, midpoints: Array | None, careful: bool
) -> Iterator[Order]:
    """Yield the events above and below a threshold, with random walks along the bins if `careful`.

    Given are the numbers of the bins that are not empty, ascending; the counts x and y of the two sides in each, and
    last in all other cells, which have no place in the order; and the score of each bin, by its number, where it
    estimates a log-likelihood ratio.
    """
    hits = x[:-1].astype(np.float64)
    others = y[:-1].astype(np.float64)
    walks = []
    if careful and len(hits) >= LEAST_ATOMS and hits.any() and others.any():
        # A fitted score puts atoms and cells of a continuum side by side, where a ratio jumps.
        walks.append(fit_walk(hits, others, saturating=midpoints is None))
        if midpoints is not None:
            walks.append(fit_walk(hits, others, scores=midpoints[list(bins)]))
    last = np.array([len(bins)])
    up = np.arange(len(bins))
    offset = float(np.log(hits.sum() / others.sum())) if walks else 0.0
    penalty = WALK_PENALTY if midpoints is None else SCORE_PENALTY
    draws = partial(_draws, walks) if walks else None
    ways = []
    for descending in (False, True):
        ratios = [walk.prefixes(hits + others, offset, descending=descending) for walk in walks]
        # The last prefix, which takes in the other cells as well, is everything.
        ways.append([(np.append(ratio, 0.0), np.append(error, 0.0)) for ratio, error in ratios])
    orders = [np.concatenate([order, last]) for order in (up, up[::-1])]

    def family(way: int, direction: Direction, sign: float) -> Prefixes:
        models = tuple((sign * ratio, error) for ratio, error in ways[way])
        return Prefixes("score", direction, orders[way], models, penalty, draws)

    for first in (0, 1):
        yield family(first, *SIGNS[0]), family(1 - first, *SIGNS[1])


def prefixes_by_counts(x: Integers, y: Integers, careful: bool) -> Order:
    """Return the atoms by their likelihood ratio, marked down for small counts or, if `careful`, shrunk together."""
    found = []
    if not careful or not x.any() or not y.any():
        for direction, _ in SIGNS:
            a, b = (side + 0.5 for side in likelier_first(direction, x, y))
            worth = to_grid(np.log(a / b) - np.sqrt(1 / a + 1 / b))
            found.append(Prefixes("likelihood ratio", direction, np.argsort(-worth, kind="stable")))
        return found[0], found[1]
    hits = x.astype(np.float64)
    others = y.astype(np.float64)
    fit = fit_scale_mixture(hits, others)
    offset = float(np.log(hits.sum() / others.sum()))
    for direction, sign in SIGNS:
        # One order and its mirror image, so that a prefix of either never meets one of the other.
        order = np.argsort(-to_grid(fit.mean), kind="stable")[:: int(sign)]
        ratio, error = fit.prefixes(order, hits + others, offset)
        models = ((sign * ratio, error),)
        draws = partial(_draws, [fit])
        found.append(Prefixes("likelihood ratio", direction, order, models, MIXTURE_PENALTY, draws))
    return found[0], found[1]


def _draws(fits: Sequence[Walk | ScaleMixture], rng: np.random.Generator, number: int, spread: float) -> Array:
    return np.concatenate([one.draws(rng, number, spread) for one in fits])


def prefixes_by_law(cells: Sequence[Hashable], log_ratio: Mapping[Hashable, float]) -> Order:
    """Return the atoms by ln(Pr[cell | data] / Pr[cell | neighbour]) as the learner's own law has it."""
    ratios = to_grid(np.array([log_ratio.get(cell, 0.0) for cell in cells] + [0.0]))
    order = np.argsort(-ratios, kind="stable")
    return Prefixes("law", Direction.FORWARD, order), Prefixes("law", Direction.BACKWARD, order[::-1])
