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
from scipy.special import log_ndtr, ndtr, ndtri

from dpaudit.bounds.base import Array, Bools, bisect
from dpaudit.bounds.limits import wilson_limit
from dpaudit.bounds.melded import Melded
from dpaudit.contract.curve_claims import CurveClaim

# Deltas are raised by it, more than rounding can have lowered them.
SLACK = 1e-12
# Orders that are tried of a claim for all of them.
ORDERS = (1.02, 1.05, 1.1, 1.2, 1.35, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0)
# Probabilities on the unlikelier side at which Renyi claims have their tangents.
_RATES = np.concatenate([np.geomspace(1e-7, 0.5, 60), 1 - np.geomspace(0.5, 1e-4, 40)[1:]])
# Points of a Gaussian claim.
_STEPS = 61
# Bisections of a probability, to the last digit of a float.
_HALVINGS = 80
# Of events that show nothing one is tested that is as likely as this, and as unlikely, if there is one.
COMMON = 0.05
# Standard errors by which training marks events down before it compares them: they are many, and tails of few runs have
# much luck. With 4 noise that is 5 % too small is found in 65 % of audits of 10,000 runs a side at error 5 %, with 2 or
# by the excess over its standard error alone in 48 % (`scripts/bench.py claims`).
CAUTION = 4.0


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
        p = most[best, np.arange(len(_RATES))]
        q = _RATES
        inner = p < 1 - 1e-9
        alpha = alpha[inner]
        p = p[inner]
        q = q[inner]
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

    def shares(self, hits: Array, trained: int, neighbour_hits: Array, neighbour_trained: int) -> Array:
        r"""Return what share of each point counts show, `CAUTION` standard errors below what they have, shape (J, m).

        Of a point (epsilon, delta) that is the greater of delta' / delta and epsilon' / epsilon, with the lower limits
        delta' on p - exp(epsilon) q, and epsilon' on the logarithm of (p - delta) / q, of an event. Above 1 they refute
        the point. So a leak that is smaller than what is claimed is measured where it shows: at its own tangent, and
        not at the point which it comes nearest to exceeding, where both are next to nothing.

        If an event shows no share of any point, its entry is negative at the point that limits it most: less than 0 by
        how little a leak as large as the claim allows would exceed its noise, and less than that of any other event if
        it hardly ever or nearly always occurs. Elsewhere entries are -inf.

        Parameters
        ----------
        hits, neighbour_hits : array, shape (m,)
            Training runs in each event on the likelier side and on the other.
        trained, neighbour_trained : int
            Training runs made on each side.
        """
        p = hits / trained
        q = neighbour_hits / neighbour_trained
        # Wilson limits at two standard errors see what few hits may hide.
        scale = CAUTION / 2
        low = scale * (p - wilson_limit(hits, trained, -2.0)) + 1e-12
        high = scale * (wilson_limit(neighbour_hits, neighbour_trained, 2.0) - q) + 1e-12
        epsilon = self.epsilon[:, None]
        delta = self.delta[:, None]
        ratio = np.exp(epsilon)
        noise = np.hypot(low, ratio * high)
        of_delta = (p - ratio * q - noise) / np.maximum(delta, 1e-12)
        # The least ratio r with p - delta - r q within the noise of it (Fieller), 0 where there is none.
        rest = p - delta
        room = np.maximum(rest**2 - low**2, 0.0)
        root = np.sqrt(np.maximum((rest * high) ** 2 + (q * low) ** 2 - (low * high) ** 2, 0.0))
        least = np.divide(room, rest * q + root, out=np.zeros_like(room), where=rest > low)
        of_epsilon = np.log(np.maximum(least, 1e-300)) / np.maximum(epsilon, 1e-12)
        shares = np.maximum(np.where(delta > 0, of_delta, -np.inf), np.where(epsilon > 0, of_epsilon, -np.inf))
        # Of events that show nothing that is best on which a leak of the size claimed would be plainest.
        allowed = np.minimum(ratio * q + delta, 1.0)
        binding = allowed <= allowed.min(axis=0) * (1 + 1e-12)
        blank = np.minimum((p - q - noise) / np.maximum(allowed - q, 1e-12), 0.0)
        # Where a claim allows much of an event that never occurs, such an event would be plainest, and says least.
        blank -= np.where(np.abs(p + q - 1) < 1 - 2 * COMMON, 0.0, 1e6)
        found: Array = np.where(shares > 0, shares, np.where(binding, blank, -np.inf))
        return found


def gaussian_epsilons(mu: float) -> Array:
    """Return the epsilons of the points of a Gaussian claim."""
    return np.linspace(0, mu * (4 + mu / 2), _STEPS)


def gaussian_delta(mu: float, epsilon: Array | float) -> Array:
    """Return delta(epsilon) of mu-Gaussian privacy, rounded up.

    >>> gaussian_delta(1.0, 0.0).round(6).item()
    0.382925
    """
    e = np.asarray(epsilon, dtype=np.float64)
    high = log_ndtr(mu / 2 - e / mu)
    low = e + log_ndtr(-mu / 2 - e / mu)
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
    """Return the largest mu, from below, whose Gaussian privacy allows at most this delta at epsilon; 0 at delta 0.

    A mechanism with p - exp(epsilon) q >= delta for an event is mu-Gaussian private for no smaller mu.
    """
    return float(bisect(0.0, 64.0, lambda mu: gaussian_delta(mu, epsilon) < delta, 60)[0]) if delta > 0 else 0.0


def tangent_epsilon(q: float, mu: float) -> float:
    """Return the epsilon whose line supports the region of mu-Gaussian privacy at an event, from its other side's q.

    It is negative where q is so large that the line is that of the complement, with the sides exchanged.
    """
    return float(-mu * ndtri(q) - mu**2 / 2)


def tangent_probability(epsilon: float, mu: float) -> float:
    """Return q of the event at which the line of epsilon supports the region of mu-Gaussian privacy."""
    return float(ndtr(-epsilon / mu - mu / 2))


def mu_between(p: float, q: float) -> float:
    """Return Phi^-1(p) - Phi^-1(q), the least mu with which Gaussian privacy allows these probabilities."""
    return float(ndtri(p) - ndtri(q)) if 0 < q and p < 1 else math.inf
