"""The examples on which a learner is run: drawn anew for every run, or one fixed sample."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Distribution, Learner

__all__ = ["apportioned", "draw_noisy", "fixed_sample"]

_SLACK = Fraction(1, 2**40)
"""A share that exceeds an integer by less than this, relatively, is that integer: ten times 0.1 is one."""


def draw_noisy(
    learner: Learner,
    distribution: Distribution,
    truth: NDArray[np.uint8],
    noise: NDArray[np.float64],
    n: int,
    rng: np.random.Generator,
) -> Any:
    """Draw n independent examples; point x_i gets the label c(x_i), and with probability eta_i the other one.

    Whether an example is public is the distribution's to say, if it has flags, whatever label it gets.

    One multinomial draw and one binomial draw a point: the cost does not depend on n.
    """
    weights = np.asarray(distribution.probabilities, dtype=np.float64)
    counts = rng.multinomial(n, weights / weights.sum())
    flipped = rng.binomial(counts, noise)
    points = np.concatenate([distribution.points, distribution.points])
    labels, both = np.concatenate([truth, 1 - truth]), np.concatenate([counts - flipped, flipped])
    if distribution.public is None:
        return learner.domain.sample(points, labels, both)
    return learner.domain.sample(points, labels, both, np.concatenate([distribution.public, distribution.public]))


def fixed_sample(learner: Learner, distribution: Distribution, truth: NDArray[np.uint8], n: int) -> Any:
    """Return the sample of n examples, labelled without noise, that `apportioned` makes of a distribution."""
    counts = apportioned(distribution.probabilities, n)
    seen = np.flatnonzero(counts)
    flags = () if distribution.public is None else (distribution.public[seen],)
    return learner.domain.sample(distribution.points[seen], truth[seen], counts[seen], *flags)


def apportioned(probabilities: NDArray[np.float64], n: int) -> NDArray[np.int64]:
    """Divide n examples among points in proportion to their probabilities.

    Every point but the likeliest gets its share n p_i rounded up, so that a point with a little more than alpha of the
    probability has more than alpha n examples; the likeliest gets the rest. Where that is not enough, point i gets
    floor(n P_i) - floor(n P_{i-1}) for the cumulative probabilities P.

    Returns
    -------
    array of int64, shape (m,)
        Counts >= 0 that sum to n.
    """
    weights = [Fraction(float(p)) for p in probabilities]
    total = sum(weights)
    likeliest = max(range(len(weights)), key=weights.__getitem__)
    counts = [math.ceil(n * w / total * (1 - _SLACK)) for w in weights]
    counts[likeliest] += n - sum(counts)
    if counts[likeliest] <= 0:
        ends, cumulative = [0], Fraction(0)
        for w in weights:
            cumulative += w
            ends.append(math.floor(n * cumulative / total))
        counts = [after - before for before, after in itertools.pairwise(ends)]
    return np.array(counts, dtype=np.int64)
