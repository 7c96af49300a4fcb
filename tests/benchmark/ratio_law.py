"""The law of the likelihood ratio of a pair, and the best lower bound that any auditor can expect from it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv
from scipy.stats import norm

from benchmark.noise import Array

__all__ = ["Optimum", "RatioLaw", "best_bound", "best_bound_of_two_sets"]


@dataclass(frozen=True)
class RatioLaw:
    """The probabilities under both inputs of cells of outputs.

    Parameters
    ----------
    p, q : array, shape (m,)
        Probabilities of the cells under the first and under the second input.
    grade : {"exact", "numeric", "statistical"}
        "exact" if the likelihood ratio is constant on every cell, "numeric" if the cells are a fine partition
        (events made of them fall short of the best by the second order of the mesh), "statistical" if a
        seeded sample.
    supremum : float, optional
        The greatest |ln(p / q)|, where the cells do not reach it.
    """

    p: Array
    q: Array
    grade: str = "exact"
    supremum: float | None = None

    @property
    def epsilon(self) -> float:
        """The greatest |ln(p / q)| over the outputs that can occur."""
        if self.supremum is not None:
            return self.supremum
        seen = (self.p > 0) | (self.q > 0)
        with np.errstate(divide="ignore"):
            return float(np.abs(np.log(self.p[seen]) - np.log(self.q[seen])).max())

    def epsilon_at(self, delta: float) -> float:
        """The least epsilon with p(T) <= exp(epsilon) q(T) + delta for all events, and with p and q exchanged."""
        return self.epsilon if delta == 0 else max(_at(self.p, self.q, delta), _at(self.q, self.p, delta), 0.0)


@dataclass(frozen=True)
class Optimum:
    """The greatest lower bound that an auditor who knows the best event can expect, and its standard error."""

    bound: float
    standard_error: float


def best_bound(law: RatioLaw, runs: int, gamma: float = 0.05, delta: float = 0.0) -> Optimum:
    """Return what the ideal auditor, who knows the best event beforehand, certifies from `runs` runs a side.

    Over the Neyman-Pearson events S_t = {ln p/q >= t} and both directions it is the greatest
    ln((p_t - delta) / q_t) - z_gamma s_t, s_t = sqrt(p_t (1 - p_t) / (runs (p_t - delta)^2) + (1 - q_t) / (runs q_t)):
    the normal approximation of the lower limit, whose standard error is s_t. An event that is impossible on the other
    side (q_t = 0) yields ln(runs (p_t - delta) / ln(1 / gamma)), the limit from no hits there. Where runs q_t is a
    dozen or less the approximation is low: exact limits reach more.
    """
    ways = (_one_way(law.p, law.q, runs, gamma, delta), _one_way(law.q, law.p, runs, gamma, delta))
    return max(*ways, Optimum(0.0, 0.0), key=lambda way: way.bound)


def _tails(p: Array, q: Array) -> tuple[Array, Array]:
    """Return the probabilities of the nested events with the greatest p/q, from the smallest event on."""
    seen = (p > 0) | (q > 0)
    p, q = p[seen], q[seen]
    order = np.argsort(q / (p + q), kind="stable")
    return np.minimum(np.cumsum(p[order]), 1.0), np.minimum(np.cumsum(q[order]), 1.0)


def _at(p: Array, q: Array, delta: float) -> float:
    ps, qs = _tails(p, q)
    ps, qs = ps[ps > delta], qs[ps > delta]
    with np.errstate(divide="ignore"):
        return float((np.log(ps - delta) - np.log(qs)).max(initial=-math.inf))


def _one_way(p: Array, q: Array, runs: int, gamma: float, delta: float) -> Optimum:
    ps, qs = _tails(p, q)
    ps, qs = ps[ps > delta], qs[ps > delta]
    if not len(ps):
        return Optimum(0.0, 0.0)
    excess = ps - delta
    of_data = ps * (1 - ps) / (runs * excess**2)
    with np.errstate(divide="ignore"):
        spread = np.sqrt(of_data + np.where(qs > 0, (1 - qs) / (runs * qs), 0.0))
        expected = np.log(excess / np.where(qs > 0, qs, math.log(1 / gamma) / runs))
    bounds = np.where(qs > 0, expected - norm.isf(gamma) * spread, expected)
    best = int(np.argmax(bounds))
    return Optimum(float(bounds[best]), float(spread[best]))


EXACT_BELOW = 100.0
"""The variance of the aligned hits below which the limit is a Clopper-Pearson one at the expected counts."""
CANDIDATES = 700
"""Tails that are kept of each end."""


def best_bound_of_two_sets(law: RatioLaw, runs: int, gamma: float = 0.05) -> float:
    """Return what an auditor certifies who knows the two best disjoint sets, from 2 `runs` runs with a fair coin each.

    T+ are outputs likelier on the data, T- those likelier on the neighbour, tails of ln p/q from both ends; either may
    be empty. Of the N = runs (p+ + q+ + p- + q-) hits that are expected the share s = (p+ + q-) / (p+ + q+ + p- + q-)
    is aligned with its coin, and the bound is the greatest logit(s) - z_gamma / sqrt(N s (1 - s)), or the logit of the
    Clopper-Pearson limit at the expected counts where N s (1 - s) is below 100. It is for delta = 0.
    """
    plus, minus = _tails(law.p, law.q), _tails(law.q, law.p)
    right, wrong = (_thinned(*sides) for sides in (plus, minus))
    aligned = right[0][:, None] + wrong[0]
    opposed = right[1][:, None] + wrong[1]
    # Disjoint: tails from both ends together weigh at most 1 on either side.
    apart = (right[0][:, None] + wrong[1] <= 1 + 1e-12) & (right[1][:, None] + wrong[0] <= 1 + 1e-12)
    kept = apart & (aligned > opposed)
    if not kept.any():
        return 0.0
    hits, misses = runs * aligned[kept], runs * opposed[kept]
    variance = hits * misses / (hits + misses)
    few = variance < EXACT_BELOW
    h, m = hits[few], misses[few]
    share = betaincinv(h, m + 1, gamma)
    with np.errstate(divide="ignore"):
        exact = np.log(share) - np.log1p(-share)
    h, m = hits[~few], misses[~few]
    normal = np.log(h / m) - norm.isf(gamma) / np.sqrt(variance[~few])
    return float(max(exact.max(initial=0.0), normal.max(initial=0.0)))


def _thinned(ps: Array, qs: Array) -> tuple[Array, Array]:
    """Return some of the tails, dense where they are small, and the empty one."""
    if len(ps) > CANDIDATES:
        levels = np.geomspace(max(ps[0], 1e-9), 1.0, CANDIDATES)
        at = np.unique(np.minimum(np.searchsorted(ps, levels), len(ps) - 1))
        ps, qs = ps[at], qs[at]
    return np.append(0.0, ps), np.append(0.0, qs)
