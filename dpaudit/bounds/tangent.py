r"""Points (epsilon, delta) that follow from a claim that is a curve, and the test of one of them.

A claim allows the probabilities p and q of an event on the two sides to lie in a convex region, and p <= k q + d holds
on all of it where the line supports it: then the claim implies (ln k, d)-differential privacy, and refuting that
refutes the claim. So training may choose the point by anything that it sees, and the test of one point on fresh runs
has all of the error. Lines of slopes k < 1 say of complements, with the sides exchanged, what one of slope 1 / k says:

.. math:: p \le k q + d \iff 1 - q \le (1 - p) / k + 1 - (1 - d) / k .

**Gaussian privacy** has delta(epsilon) = Phi(mu/2 - epsilon/mu) - exp(epsilon) Phi(-mu/2 - epsilon/mu) (Dong, Roth and
Su 2022). **Renyi privacy** of order a allows, of an event,

.. math:: F(p, q) = p^a q^{1-a} + (1-p)^a (1-q)^{1-a} \le e^{(a-1)\varepsilon} ,

by data processing, and exactly that, because Bern(p) and Bern(q) keep the claim themselves. F is jointly convex, so the
tangent at a point of the boundary, of slope -F_q / F_p, supports the region. (Asoodeh et al., 2021, "Three variants of
differential privacy", have the conversion by optimisation.) Zero-concentrated privacy is an intersection over orders.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr, ndtri

from dpaudit.bounds.base import Array, Bools, bisect
from dpaudit.bounds.limits import wilson_limit
from dpaudit.bounds.melded import Melded
from dpaudit.contract.curve_claims import CurveClaim

SLACK = 1e-12
"""Deltas are raised by it, more than rounding can have lowered them."""
ORDERS = (1.02, 1.05, 1.1, 1.2, 1.35, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0)
"""Orders that are tried of a claim for all of them."""
_RATES = np.concatenate([np.geomspace(1e-7, 0.5, 60), 1 - np.geomspace(0.5, 1e-4, 40)[1:]])
"""Probabilities on the unlikelier side at which Renyi claims have their tangents."""
_STEPS = 61
"""Points of a Gaussian claim."""
_HALVINGS = 80


def orders_of(claim: CurveClaim, most: float = math.inf) -> Sequence[tuple[float, float]]:
    """Return orders, of those for which a claim speaks of all up to `most`, with what it says of each; or none."""
    if claim.rho is None:
        return claim.orders
    return [(order, claim.rho * order) for order in ORDERS if order <= most]


@dataclass(frozen=True)
class ClaimPoints:
    """Points that a claim implies: epsilons >= 0 and deltas in [0, 1), both of shape (J,), J >= 1."""

    epsilon: Array
    delta: Array

    @classmethod
    def one(cls, epsilon: float, delta: float) -> ClaimPoints:
        """Return the one point of a claim of (epsilon, delta)-privacy."""
        return cls(np.array([epsilon], np.float64), np.array([delta], np.float64))

    @classmethod
    def of(cls, claim: CurveClaim) -> ClaimPoints:
        """Return points of a claim, dense enough that the best of them loses next to nothing to the best of all."""
        if claim.points:
            return cls(*np.array(claim.points, dtype=np.float64).T)
        if (mu := claim.mu) is not None:
            epsilon = gaussian_epsilons(mu)
            return cls(epsilon, gaussian_delta(mu, epsilon))
        # The tangents, at each of some rates, to the region of the order that is narrowest there.
        orders = orders_of(claim)
        most = np.array([largest_probability(_RATES, order, epsilon) for order, epsilon in orders])
        best = most.argmin(axis=0)
        alpha = np.array([order for order, _ in orders])[best]
        p, q = most[best, np.arange(len(_RATES))], _RATES
        inner = p < 1 - 1e-9
        alpha, p, q = alpha[inner], p[inner], q[inner]
        # -F_q / F_p = (a - 1) ((p/q)^a - ((1-p)/(1-q))^a) / (a ((p/q)^(a-1) - ((1-p)/(1-q))^(a-1)))
        odds = np.log(p / q)
        gap = odds - (np.log1p(-p) - np.log1p(-q))
        slope = (alpha - 1) / alpha * np.exp(odds) * np.expm1(-alpha * gap) / np.expm1(-(alpha - 1) * gap)
        delta = p - slope * q
        # Bisection ends above p, by some 1e-15; the tangent at a point outside the region is above it all the same.
        small = slope < 1
        delta = np.where(small, 1 - (1 - delta) / np.where(small, slope, 1), delta)
        epsilon = np.abs(np.log(slope))
        delta = np.maximum(delta, 0) + SLACK * (1 + np.exp(np.minimum(epsilon, 40)) * np.where(small, 1 - p, q))
        good = (delta < 1) & (epsilon < 60)
        return cls(epsilon[good], delta[good]) if good.any() else cls.one(0.0, 1 - 1e-9)

    def scores(self, hits: Array, trained: int, neighbour_hits: Array, neighbour_trained: int) -> Array:
        r"""Return by how many standard errors counts exceed each point, shape (J, m).

        It is (p - k q - d) / sqrt(a^2 + (k b)^2) with the shares p and q and the distances a down to, and b up to,
        their Wilson limits at two standard errors: an event that few runs met scores less than one of the same ratio
        that many did.

        Parameters
        ----------
        hits, neighbour_hits : array, shape (m,)
            Training runs in each event on the likelier side and on the other.
        trained, neighbour_trained : int
            Training runs made on each side.
        """
        p, q = hits / trained, neighbour_hits / neighbour_trained
        low, high = p - wilson_limit(hits, trained, -2.0), wilson_limit(neighbour_hits, neighbour_trained, 2.0) - q
        ratio = np.exp(self.epsilon)[:, None]
        scores: Array = (p - ratio * q - self.delta[:, None]) / np.hypot(low + 1e-12, ratio * high + 1e-12)
        return scores


def gaussian_epsilons(mu: float) -> Array:
    """Return the epsilons of the points of a Gaussian claim."""
    return np.linspace(0, mu * (4 + mu / 2), _STEPS)


def gaussian_delta(mu: float, epsilon: Array | float) -> Array:
    """Return delta(epsilon) of mu-Gaussian privacy, rounded up.

    >>> gaussian_delta(1.0, 0.0).round(6).item()
    0.382925
    """
    e = np.asarray(epsilon, dtype=np.float64)
    high, low = log_ndtr(mu / 2 - e / mu), e + log_ndtr(-mu / 2 - e / mu)
    delta = np.exp(high) * -np.expm1(np.minimum(low - high, 0.0))
    return np.asarray(np.minimum(delta * (1 + 1e-9) + 1e-15, 1 - 1e-12))


def largest_probability(q: Array, alpha: float, epsilon: float) -> Array:
    """Return the largest p with F(p, q) <= exp((alpha - 1) epsilon), never less; 1 where there is no limit below."""

    def inside(p: Array) -> Bools:
        with np.errstate(divide="ignore"):
            logs = alpha * np.log(p) + (1 - alpha) * np.log(q)
            others = alpha * np.log1p(-p) + (1 - alpha) * np.log1p(-q)
        return np.asarray(np.logaddexp(logs, others) <= (alpha - 1) * epsilon)

    return np.asarray(bisect(q, np.ones_like(q), inside, _HALVINGS)[1])


def delta_lower(hits: int, runs: int, other_hits: int, other_runs: int, *, epsilon: float, gamma: float) -> float:
    r"""Return a lower confidence bound on p - exp(epsilon) q, for an event and an epsilon that are fixed in advance.

    It is the largest d, from below, with a p-value of H0(epsilon, d) by the melded bound of at most gamma; 0 if there
    is none. p-values rise in d, so it exceeds max(p - exp(epsilon) q, 0) with probability at most gamma.
    """

    def refuted(delta: float) -> bool:
        return bool(Melded().p_value(hits, runs, other_hits, other_runs, epsilon=epsilon, delta=delta) <= gamma)

    return float(bisect(0.0, min(hits / runs, 1 - 1e-12), refuted, 50)[0]) if refuted(0.0) else 0.0


def mu_of_delta(epsilon: float, delta: float) -> float:
    """Return the largest mu, from below, of which Gaussian privacy allows at most this delta at epsilon; 0 at delta 0.

    A mechanism with p - exp(epsilon) q >= delta for an event is mu-Gaussian private for no smaller mu.
    """
    return float(bisect(0.0, 64.0, lambda mu: gaussian_delta(mu, epsilon) < delta, 60)[0]) if delta > 0 else 0.0


def mu_between(p: float, q: float) -> float:
    """Return Phi^-1(p) - Phi^-1(q), the least mu with which Gaussian privacy allows these probabilities."""
    return float(ndtri(p) - ndtri(q)) if 0 < q and p < 1 else math.inf
