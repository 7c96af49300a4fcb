"""Smooth a likelihood ratio along ordered atoms: each borrows from its neighbours as much as the data allow.

Posterior modes of many walks are found at once: their precisions stand on the diagonal of one banded matrix, where
nothing connects them, and each has the numbers that it has alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.special import expit, log_expit, logit

from dpaudit.bounds.base import Array

# The step sizes that are tried: from a ratio that is level to one that jumps from 0 to certainty.
STEPS = np.geomspace(0.002, 8.0, 10)
# The logarithm of the factor between two of them.
_FACTOR = np.log(STEPS[1] / STEPS[0])
# By how much, in nats, a range is less likely a priori where it does not saturate (has not the least steps), by the
# square of the grid points between its steps and those further in, and by each grid point that its own are longer. With
# steps as likely anywhere, saturated ratios reached 0.983 instead of 0.99 of the best event's worth at 1,300 runs.
UNSATURATED = 1.5
LIKE = 0.03
RISING = 0.5


def _log_prior(steps: NDArray[np.intp], saturating: bool) -> float:
    """Return the log prior of step sizes, up to a constant.

    With d the number of grid points by which each range but the middle one has longer steps than the one further in, it
    is the sum over these ranges of -(d ln f)^2 / 8 - max(d, 0), f being the factor between grid points: neighbouring
    ranges differ by a few grid points, and less is met outwards. A bounded ratio saturates towards its ends. Where it
    does, luck looks like small steps.

    If `saturating`, it is the sum of -(UNSATURATED + LIKE d^2 + RISING max(d, 0)) over those of them that do not have
    the least steps: a ratio saturates outwards, or goes on in steps like those further in.
    """
    middle = len(steps) // 2
    rises = np.concatenate([-np.diff(steps[: middle + 1]), np.diff(steps[middle:])])
    if not saturating:
        return -0.5 * float(np.square(rises * _FACTOR / 2).sum()) - float(np.maximum(rises, 0).sum())
    penalties = UNSATURATED + LIKE * np.square(rises) + RISING * np.maximum(rises, 0)
    return -float(penalties[np.delete(steps, middle) > 0].sum())


# Keeps a precision regular where runs say nothing, as of the level of ratios or where one side has hardly a run.
RIDGE = 1e-6
# Damped Newton steps at most; three or four are usual.
ITERATIONS = 40


def fit_line(scores: Array, hits: Array, total: Array, offset: float) -> tuple[Array, Array] | None:
    """Regress the side on the score: a log-likelihood ratio that is linear in it, by logistic regression.

    Returned are the line in each atom, and its covariance, shapes (m,) and (m, m); None where the score is constant or
    there is no solution.
    """
    mean = np.average(scores, weights=total)
    spread = np.sqrt(np.average(np.square(scores - mean), weights=total))
    if not 0 < spread < np.inf:
        return None
    design = np.column_stack([np.ones_like(scores), (scores - mean) / spread])
    beta = np.zeros(2)
    for _ in range(ITERATIONS):
        share = expit(design @ beta + offset)
        information = design.T @ (design * (total * share * (1 - share))[:, None]) + RIDGE * np.eye(2)
        step = np.linalg.solve(information, design.T @ (hits - total * share) - RIDGE * beta)
        size = float(np.abs(step).max())
        beta = beta + step * min(1.0, 3.0 / max(size, 1e-12))
        if size < 1e-8:
            return design @ beta, design @ np.linalg.inv(information) @ design.T
    return None


def modes(hits: Array, total: Array, centre: Array, precision: Array, start: Array) -> tuple[Array, Array, Array]:
    """Find the posterior mode of each walk's deviations from a centre by damped Newton steps.

    Each walk takes steps until its own has converged; those of walks that have are not taken any more. They are found
    one by one where rounding has left one of their precisions without a factor, which ends those after it too.

    Given are counts of the first side, and of both, in each atom, shape (walks, m); the log-ratio that a walk deviates
    from, shape (walks, m) or (walks, 1); the inverse variances of the differences between neighbouring atoms, shape
    (walks, m - 1); and where to begin. Returned are the deviations; the logarithm of the marginal likelihood, up to a
    constant, by Laplace's approximation, shape (walks,); and the banded Cholesky factor of each precision, as LAPACK
    stores it (upper), shape (2, walks, m).
    """
    given = (hits, total, centre, precision, start)
    try:
        return _modes(*given)
    except np.linalg.LinAlgError:
        alone = [_modes(*(one[i : i + 1] for one in given)) for i in range(len(hits))]
        deviations, evidence, factors = zip(*alone, strict=True)
        return np.concatenate(deviations), np.concatenate(evidence), np.concatenate(factors, axis=1)


def _modes(hits: Array, total: Array, centre: Array, precision: Array, start: Array) -> tuple[Array, Array, Array]:
    band = np.zeros((2, *total.shape))
    band[0, :, 1:] = -precision
    band[1] = RIDGE
    band[1, :, :-1] += precision
    band[1, :, 1:] += precision
    g = start.copy()
    left: slice | NDArray[np.intp] = slice(None)
    for _ in range(ITERATIONS):
        some = g[left]
        both = total[left]
        prior = band[:, left]
        share = expit(some + centre[left])
        pull = prior[1] * some
        pull[:, :-1] += prior[0, :, 1:] * some[:, 1:]
        pull[:, 1:] += prior[0, :, 1:] * some[:, :-1]
        slope = hits[left] - both * share - pull
        factor = _factor(prior, both, share).reshape(2, -1)
        step = scipy.linalg.lapack.dpbtrs(factor, slope.ravel())[0].reshape(slope.shape)
        size = np.abs(step).max(axis=1)
        g[left] += step * np.minimum(1.0, 3.0 / np.maximum(size, 1e-12))[:, None]
        small = size < 1e-4
        if small.all():
            break
        if small.any():
            left = (np.arange(len(g)) if isinstance(left, slice) else left)[~small]
    factor = _factor(band, total, expit(g + centre))
    above = log_expit(g + centre)
    below = log_expit(-g - centre)
    squares = np.square(g[:, 1:] - g[:, :-1])
    others = total - hits
    volume = 0.5 * np.log(precision).sum(axis=1) - np.log(factor[1]).sum(axis=1)
    products = [(hits, above), (others, below), (precision, squares), (g, g)]
    # Of one vector with one other each, for those of matrices have another order of their sums.
    one, other, rough, level = ((a[:, None] @ b[..., None])[:, 0, 0] for a, b in products)
    return g, one + other - 0.5 * (rough + RIDGE * level) + volume, factor


def _factor(band: Array, total: Array, share: Array) -> Array:
    """Return the factors of the precisions where the first side has these shares, shape (2, walks, m)."""
    precision = band.copy()
    precision[1] += total * share * (1 - share)
    factor, failed = scipy.linalg.lapack.dpbtrf(precision.reshape(2, -1))
    if failed and len(share) > 1:
        raise np.linalg.LinAlgError("a precision has no factor")
    return np.asarray(factor).reshape(precision.shape)


# Ranks between which the walk has one step size: both tails, both shoulders, the middle.
CUTS = (0.02, 0.2, 0.8, 0.98)

# Times that the step size of each range is chosen again, given those of the others.
ROUNDS = 2

# With fewer counts there is one step size: ten of them are in either tail, too few to estimate a step. Audits of 1,000
# runs show as much so, by the mean of 40 of Laplace, Gaussian and exponential noise each, in half the time.
FEW = 500


def prefix_ratios(
    total: Array, share: Array, squares: Callable[[Array, Array], tuple[Array, Array, Array]]
) -> tuple[Array, Array]:
    """Return ln(P_t / Q_t) of each prefix of the atoms and its standard deviation.

    The pooled mass w_i of an atom is split by its share s_i, p_i = w_i s_i and q_i = w_i (1 - s_i). With s_i the
    logistic function of a log-ratio g_i, the deviation is linear in g: d ln(P_t / Q_t) / d g_i = a_i / P_t + b_i / Q_t,
    where a_i = p_i (1 - s_i) and b_i = q_i s_i. `squares` maps a and b to the quadratic forms a'Ca, b'Cb and a'Cb of
    each prefix, C being the covariance of g.
    """
    p = total * share
    q = total * (1 - share)
    p = p / p.sum()
    q = q / q.sum()
    above = np.cumsum(p)
    below = np.cumsum(q)
    of_a, of_b, of_both = squares(p * (1 - share), q * share)
    # A model may be certain: then counts decide.
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = of_a / above**2 + of_b / below**2 + 2 * of_both / (above * below)
        return np.log(above / below), np.sqrt(variance)


@dataclass(frozen=True)
class Walk:
    """A posterior mode of the log-likelihood ratio g of each atom, with `evidence` and `factor` as for `modes`.

    The `line` is the covariance, shape (m, m), of the line that the walk deviates from, if there is one.
    """

    ratio: Array
    evidence: float
    factor: Array
    line: Array | None = None

    def draws(self, rng: np.random.Generator, number: int, spread: float) -> Array:
        """Return draws of g by the normal law around the mode, shape (draws, m), with `spread` times its deviations."""
        normal = rng.standard_normal((number, len(self.ratio)))
        found: Array = scipy.linalg.solve_banded((0, 1), self.factor, normal.T).T
        left = np.zeros((1, 1)) if self.line is None else self.line
        # The covariance of a line has rank two: a column taken off it leaves one less.
        for _ in range(2):
            most = int(np.argmax(left.diagonal()))
            if left[most, most] > 0:
                column = left[most] / math.sqrt(left[most, most])
                found = found + rng.standard_normal((number, 1)) * column
                left = left - np.outer(column, column)
        return self.ratio + spread * found

    def prefixes(self, total: Array, offset: float, *, descending: bool = False) -> tuple[Array, Array]:
        """Return the `prefix_ratios` by the mode; the errors of a line are added to those of the walk around it."""
        covariance = self._covariance
        share = expit(self.ratio + offset)
        if descending:
            covariance = covariance[::-1, ::-1]
            share = share[::-1]
            total = total[::-1]
        own = covariance.diagonal()
        rows = np.tril(covariance)

        def squares(a: Array, b: Array) -> tuple[Array, Array, Array]:
            # The quadratic form of a prefix is that of the one before it and a row more.
            of_a = rows @ a
            of_b = rows @ b
            products = a * (2 * of_a - a * own), b * (2 * of_b - b * own), a * of_b + b * of_a - a * b * own
            return np.cumsum(products[0]), np.cumsum(products[1]), np.cumsum(products[2])

        return prefix_ratios(total, share, squares)

    @cached_property
    def _covariance(self) -> Array:
        covariance, _ = scipy.linalg.lapack.dpbtrs(self.factor, np.eye(len(self.ratio)))
        return np.asarray(covariance if self.line is None else covariance + self.line)


def fit_walk(
    hits: Array,
    neighbour_hits: Array,
    *,
    cuts: tuple[float, ...] = CUTS,
    scores: Array | None = None,
    saturating: bool = False,
) -> Walk:
    """Fit a random walk to the log-likelihood ratio along ordered atoms, given both sides' counts; no atom is empty.

    Given that a run is in atom i, it is of the first side with probability s(g_i + c), where s is the logistic function
    and c the log-ratio of all runs. The prior is g_{i+1} - g_i ~ N(0, tau^2 (u_{i+1} - u_i)) with u the logit of an
    atom's pooled rank, and tau one number for each range between `cuts`, none where counts are fewer than `FEW`. These
    step sizes are those that make the counts likeliest: a ratio that saturates gets small steps where it does, and is
    averaged there. With `scores`, ascending, that should be log-likelihood ratios up to scale and shift, the walk is
    around the line a + b score that fits the counts best, so that where counts are few the score speaks. If
    `saturating`, a ratio that does not wander outwards is likelier a priori than one that does.
    """
    total = hits + neighbour_hits
    if total.sum() < FEW:
        cuts = ()
    rank = (np.cumsum(total) - total / 2) / total.sum()
    gaps = np.maximum(np.diff(logit(rank)), 1e-3)
    middle = np.searchsorted(cuts, (rank[1:] + rank[:-1]) / 2)
    offset = float(np.log(hits.sum() / neighbour_hits.sum()))
    line = None
    if scores is not None:
        line = fit_line(scores, hits, total, offset)
    centre = np.full(len(total), offset)
    if line is not None:
        centre = line[0] + offset

    def walks(trials: NDArray[np.intp], start: Array) -> list[Walk]:
        x, both, middles, first = (
            np.broadcast_to(one, (len(trials), len(one))) for one in (hits, total, centre, start)
        )
        found = modes(x, both, middles, 1 / (STEPS[trials][:, middle] ** 2 * gaps), first)
        return [Walk(found[0][i], float(found[1][i]), found[2][:, i]) for i in range(len(trials))]

    steps = np.zeros(len(cuts) + 1, dtype=np.intp)
    best, *_ = walks(steps[None], np.zeros(len(total)))
    current = best
    for i in range(1, len(STEPS)):
        current, *_ = walks(np.full((1, len(steps)), i), current.ratio)
        if current.evidence > best.evidence:
            best = current
            steps = np.full_like(steps, i)
    tried = dict.fromkeys(range(len(steps)))
    rounds = ROUNDS if cuts else 0
    for j in [*tried] * rounds:
        if tried[j] is best:
            continue
        tried[j] = best
        most = best.evidence + _log_prior(steps, saturating)
        others = np.tile(steps, (len(STEPS), 1))
        others[:, j] = np.arange(len(STEPS))
        others = np.delete(others, steps[j], axis=0)
        for trial, found in zip(others, walks(others, best.ratio), strict=True):
            if found.evidence > most and (worth := found.evidence + _log_prior(trial, saturating)) > most:
                best = found
                steps = trial
                most = worth
    if line is None:
        return best
    return replace(best, ratio=best.ratio + line[0], line=line[1])


def fit_walks(hits: Array, neighbour_hits: Array) -> Array:
    """Return the log-likelihood ratios, shape (columns, m), of walks with one step size each.

    Given are the counts of the two sides in each atom of each column, in order, of the same shape; no atom is empty.
    """
    if not len(hits):
        return hits
    total = hits + neighbour_hits
    sums = total.sum(axis=1, keepdims=True)
    rank = (np.cumsum(total, axis=1) - total / 2) / sums
    gaps = np.maximum(np.diff(logit(rank), axis=1), 1e-3)
    centre = np.log(hits.sum(axis=1, keepdims=True) / neighbour_hits.sum(axis=1, keepdims=True))
    current = np.zeros(total.shape)
    best = np.zeros(total.shape)
    evidence = np.full(len(total), -np.inf)
    for step in np.square(STEPS):
        current, found, _ = modes(hits, total, centre, 1 / (step * gaps), current)
        better = found > evidence
        best[better] = current[better]
        evidence[better] = found[better]
    return best
