r"""A test of Renyi privacy by Holder's inequality: it weighs all outputs, where one event is a poor test.

**Claim.** If D_a(P || Q) <= e, then for every function g of the output, every c > 0, with t = (a - 1) / a, k = e^{t e},

.. math:: E_P u - A\,E_Q w \le B, \quad u = e^{(a-1) g},\; w = e^{a g},\; A = k t c^{-1/a},\; B = k (1-t) c^{t} .

*Proof.* E_P u = E_Q (dP/dQ) u <= (E_Q (dP/dQ)^a)^{1/a} (E_Q w)^t <= k (E_Q w)^t by Holder's inequality, and the concave
function x^t lies below its tangent at c. []

**The bet.** Fix labels of outputs, g, c, a stake s and a centre m before the fresh runs. A run on data pays
1 + s (u - m), one on the neighbour 1 - s (A w - m + B), both positive. With n independent runs a side the product has
mean

.. math:: [(1 + s (U - m)) (1 - s (A W - m + B))]^n \le (1 + \tfrac s2 (U - A W - B))^{2n} \le 1

under the claim, U and W being the means, by the inequality of the means of two numbers. So it reaches 1 / gamma with
probability at most gamma (Markov). With a fair coin for each run's side the product is a supermartingale, whatever the
mechanism remembers.

**Both ways.** If D_a(Q || P) <= e as well, the same holds with P and Q exchanged, and so do sums of both statements
with weights: a run pays 1 + s times the sum of what it would pay in each. A mean of such products, with weights that
are fixed before the fresh runs, has a mean of at most 1 again.

**The stake** s = sqrt(2 ln(1/gamma) / n) / sigma is that which refutes the smallest excess, whatever it is:
n (s D - s^2 sigma^2 / 2) >= ln(1/gamma) has its least D there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_softmax, logsumexp, ndtr, ndtri

from dpaudit.bounds import POWER
from dpaudit.bounds.base import Array, Integers, bisect

Orders = Sequence[tuple[float, float]]

# Shares of all training runs at which labels end, in the order of the score: tails carry what high orders see.
LABEL_SHARES = (
    *(0.0005, 0.001, 0.002, 0.004, 0.008, 0.015, 0.03, 0.05, 0.08, 0.12, 0.18, 0.25, 0.33, 0.42, 0.5),
    *(0.58, 0.67, 0.75, 0.82, 0.88, 0.92, 0.95, 0.97, 0.985, 0.992, 0.996, 0.998, 0.999, 0.9995),
)
# Upper limits of g that are tried.
CAPS = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 9.0)
# The part of the largest stake, at which a single run could lose everything, that is never exceeded.
MOST_STAKE = 0.8
# The bets: the caps of g for P the law on data (True), that on the neighbour, or both.
PARTS = tuple(parts for cap in CAPS for parts in (((True, cap),), ((False, cap),), ((True, cap), (False, cap))))
# Standard deviations of promise for which a share of the stake is e times as large.
TRUST = 0.5
# A lower promise counts as this one.
WORTHLESS = -50.0
# The least number of labels from which on g is smoothed.
SMOOTHED = 12
# The standard deviation of the kernel, in labels.
BANDWIDTH = 2.0
# Shares by which noise may be too small that are looked at for what could be detected.
SHORTFALLS = (0.0, 0.5)


@dataclass(frozen=True)
class HolderBet:
    """Bets against (alpha, epsilon)-Renyi privacy with their weights, fixed before the runs that they are paid on.

    `log_weights`, shape (K,), are the logarithms of the shares of the stake that the bets have, and `paid`, shape (K,
    2, L), those of what a run with each label pays to each bet, on data and on the neighbour. `promise` is by how many
    standard deviations the logarithm of the evidence is expected to exceed ln(1 / gamma) by one bet alone.
    """

    alpha: float
    epsilon: float
    log_weights: Array
    paid: Array
    promise: float = -math.inf

    def log_evidence(self, data: Array, neighbour: Array) -> float:
        """Return the logarithm of the mean of the bets' products over fresh runs, given their numbers by label.

        The sides must have equally many runs. Its exponential has a mean of at most 1 under the claim.
        """
        return float(logsumexp(self.log_weights + (self.paid * np.stack([data, neighbour])).sum(axis=(1, 2))))


def fit_bet(
    data: Array, neighbour: Array, orders: Orders, runs: int, gamma: float, *, exact: bool = False
) -> HolderBet:
    """Return the bets of the order of which one promises most.

    There is one for each cap on P the law on data, one on P that on the neighbour, and one on both.
    What training promises of a bet is uncertain, and the best of many has been lucky. So all have a share, more where
    more is promised. A single bet, chosen by twofold cross-validation, detected noise that was 10 % too small for
    (3, 1.5)-Renyi privacy in 81 % of audits with 100,000 runs a side; these do in 100 % (`scripts/bench.py claims`).

    Parameters
    ----------
    data, neighbour : array, shape (L,)
        Training runs by label.
    orders : sequence of (float, float)
        Pairs (alpha, epsilon) that the claim implies.
    runs : int
        Fresh runs on each side that will be paid on.
    gamma : float
        The error of the test.
    exact : bool
        Whether the counts are the laws, of which nothing has to be learned.
    """
    both = np.stack([data, neighbour])
    g = _log_ratio(both)
    shares = both / np.maximum(both.sum(axis=1, keepdims=True), 1.0)
    laws = shares
    # Those with the ratio of g, that together are those of the counts.
    if not exact:
        laws = shares.sum(axis=0) * np.stack([expit(g), expit(-g)])
        laws /= np.maximum(laws.sum(axis=1, keepdims=True), 1e-12)

    def bets(order: tuple[float, float]) -> tuple[Array, Array]:
        paid = np.stack([_bet(g, shares, order, parts, runs, gamma) for parts in PARTS])
        return np.array([_ahead(one, laws, runs, gamma) for one in paid]), paid

    (alpha, epsilon), (ahead, paid) = max(((order, bets(order)) for order in orders), key=lambda one: one[1][0].max())
    log_weights = log_softmax(np.maximum(ahead, WORTHLESS) / TRUST)
    # A bet alone reaches 1 / gamma where it has multiplied its share by as much.
    alone = [_ahead(one, laws, runs, gamma * math.exp(share)) for one, share in zip(paid, log_weights, strict=True)]
    return HolderBet(alpha, epsilon, log_weights, paid, max(alone))


def _ahead(bet: Array, laws: Array, runs: int, gamma: float) -> float:
    """Return by how many standard deviations a bet, shape (2, L), is expected to exceed ln(1 / gamma) on such laws."""
    mean, variance = _moments(bet, laws)
    # The variance is 0 where every run pays the same.
    return (runs * mean + math.log(gamma)) / math.sqrt(max(runs * variance, 1e-12))


def _moments(paid: Array, shares: Array) -> tuple[float, float]:
    """Return the mean and the variance of what a run on each side is paid, together."""
    means = (shares * paid).sum(axis=1, keepdims=True)
    return float(means.sum()), float((shares * (paid - means) ** 2).sum())


def _log_ratio(both: Array) -> Array:
    """Return g, the logarithm of the ratio of both sides' shares, one half added to each count.

    Labels stand in the order of a score, so where there are many, g is smoothed along it: by straight lines that are
    fitted to the labels around each one, with the precisions of their ratios as weights. With 20,000 training runs a
    side that raised the power against (3, 1.5)-Renyi privacy, where noise was 15 % too small, from .86 to .96.
    """
    x, y = both + 0.5
    g = np.log(x / x.sum()) - np.log(y / y.sum())
    if len(g) >= SMOOTHED:
        gap = np.subtract.outer(np.arange(len(g)), np.arange(len(g))) / BANDWIDTH
        weight = np.exp(-0.5 * gap**2) / (1 / x + 1 / y)
        zero, one, two = (np.sum(weight * gap**power, axis=1) for power in range(3))
        g = np.sum(weight * (two[:, None] - one[:, None] * gap) * g, axis=1) / (zero * two - one**2)
    return np.asarray(np.clip(g, -20.0, 20.0))


def _part(g: Array, shares: Array, order: tuple[float, float], forward: bool, cap: float) -> Array:
    """Return u - m on P's side and m - A w - B on Q's, by side; c is E_Q w, and m between the means of both."""
    alpha, epsilon = order
    g = np.minimum(g if forward else -g, cap)
    p, q = shares if forward else shares[::-1]
    u = np.exp((alpha - 1) * g)
    w = np.exp(alpha * g)
    theta = (alpha - 1) / alpha
    c = max(float(q @ w), 1e-12)
    kappa = math.exp(theta * epsilon)
    w = kappa * theta * c ** (-1 / alpha) * w + kappa * (1 - theta) * c**theta
    centre = 0.5 * float(p @ u + q @ w)
    paid = np.stack([u - centre, centre - w])
    return paid if forward else paid[::-1]


def _bet(
    g: Array, shares: Array, order: tuple[float, float], parts: Sequence[tuple[bool, float]], runs: int, gamma: float
) -> Array:
    """Return the logarithms of what runs pay, shape (2, L), for parts by direction and cap.

    Two parts are added with the weights D / sigma^2, by which the sum of independent ones has the largest excess in
    standard deviations.
    """
    found = [_part(g, shares, order, *part) for part in parts]
    if len(found) > 1:
        moments = [_moments(one, shares) for one in found]
        found = [max(mean, 0.0) / max(var, 1e-24) * one for one, (mean, var) in zip(found, moments, strict=True)]
    paid: Array = np.sum(found, axis=0)
    # The labels are all that there are, so this is the largest loss.
    loss = max(-float(paid.min()), 1e-12)
    _, variance = _moments(paid, shares)
    stake = min(math.sqrt(-2 * math.log(gamma) / (runs * max(variance, 1e-24))), MOST_STAKE / loss)
    return np.log1p(stake * paid)


def label_ends(pooled: Array | Integers) -> NDArray[np.intp]:
    """Return how many atoms, in the order of the score, lie before the end of each label but the last.

    `pooled`, shape (m,), are the training runs of both sides in each atom; a label holds one atom at least.
    """
    ends = np.unique(np.searchsorted(np.cumsum(pooled) / pooled.sum(), LABEL_SHARES, side="left") + 1)
    return ends[ends < len(pooled)]


def by_label(counts: Array | Integers, ends: NDArray[np.intp]) -> Array:
    """Return the runs in each label of those by atom."""
    return np.asarray(np.add.reduceat(counts, np.concatenate([[0], ends])), dtype=np.float64)


def detectable_shortfall(orders: Orders, mu: float, runs: int, gamma: float) -> float:
    """Return by what share Gaussian noise must be too small, about, for the test to refute the claim.

    The reference is a number with Gaussian noise that keeps the claim exactly at a shift of `mu` standard deviations,
    and is refuted with probability `POWER`, by labels whose ratios are known. Infinite if half of the noise is not too
    little.
    """

    def seen(short: float) -> bool:
        shift = mu / (1 - short)
        scores = np.linspace(-6 - shift, 6 + shift, 4001)
        p, q = (np.diff(ndtr(scores + sign * shift / 2))[::-1] for sign in (-1, 1))
        ends = label_ends(p + q)
        data = by_label(p, ends) * runs
        neighbour = by_label(q, ends) * runs
        return fit_bet(data, neighbour, orders, runs, gamma, exact=True).promise >= float(ndtri(POWER))

    none, half = SHORTFALLS
    return float(bisect(half, none, seen, 8)[0]) if seen(half) else math.inf
