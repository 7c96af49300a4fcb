r"""Bound epsilon by right guesses of coins where the number of guesses is one of a schedule, chosen by the outcome.

Canaries are ranked by how sure their guesses are, and N_k of the first k guesses are right, for each k of a schedule
k_1 < ... < k_K that is fixed in advance. The statistic is T = min_k p(k, N_k) with the p-values of `bounds.coin`, of
which the least over several points where a claim implies several. Its critical counts c_k(t) = min{v : p(k, v) <= t}
do not depend on the outcome.

Theorem. If the claim is true, then at each of its points (epsilon, delta), with m coins, p = e^epsilon /
(1 + e^epsilon) and independent Bernoulli(p) guesses in the place of those made,

    Pr[T <= t] <= K t,    and    Pr[T <= t] <= Pr[N_k >= c_k(t) for some k] + m delta L,

where L is the lesser of 1 / (1 + e^epsilon) and max B_v (1 - B_v) / (v b_v), the maximum over v >= 1 and the laws b of
Bin(k_i - k_{i-1}, p), k_0 = 0, with tails B. Where only one side of the coins is ever guessed, m delta / 2 stands for
m delta.

Proof. The first is the union bound. In the second, the set on the right grows with each right guess; the first L is
that of the second bound of `bounds.coin`. For the other let h_i(n) be the probability that independent guesses cross by
the end if N = n after step i, so that h_0(0) is that on the right, and Pr[T <= t] = h_0(0) + sum_i E[h_i(N_i) -
h_{i-1}(N_{i-1})]. In step i let G_l(n) = Pr[N_{i-1} = n, l of the step are right] / b_l. As in `bounds.coin`, flipping
the coin of a right guess of the step, the claim bounds the sum over i, n and l of l b_l (G_l(n) - G_{l-1}(n))_+ by
m delta. The sum over l of b_l (h_i(n+l) - h_{i-1}(n)) is 0, and its terms grow in sign with l, so summation by parts
leaves increments of G times c_j = sum_{l>=j} b_l (h_i(n+l) - h_{i-1}(n)) >= 0. Among h in [0, 1] that do not fall and
have the mean h_{i-1}(n), c_j is largest for an indicator of l >= v: at most B_v (1 - B_j) for j <= v and B_j (1 - B_v)
for j > v, and c_j / (j b_j) at most its value at j = v. []

The probability of a crossing is exact: the law of N_k among the paths that have not crossed, step by step. All bounds
are functions of t, fixed in advance, so the least of them is a p-value. A bound on epsilon is read off a grid that is
fixed in advance: the last point up to which all are rejected. It exceeds the true epsilon only if the least grid point
above it is rejected, which is an error of the test there.

**Gaussian privacy.** Under assumptions on the canaries right guesses bound the mu of Gaussian privacy further. A
mechanism can be mu-Gaussian private and let canaries interfere, so that right guesses come together: at mu = 1 there
is one with which 41 of 50 guesses are right with probability .31, where independent ones are with .03. Assumed is of
mechanisms that are mu-Gaussian private that they

- "recursion": have the law of right guesses that the recursion of Mahloujifar, Melis and Chaudhuri, Auditing
  f-differential privacy in one run (ICML 2025), supposes, a tail at its least count;
- "independent": let no canary influence another's score (Xiang, Wang et al., Tight privacy audit in one run, 2025,
  arXiv 2509.08704). Then the r surest guesses of m are the best of independent tests of N(mu, 1) against N(0, 1).

With y the observation of an independent canary less mu / 2, the guess is the sign of y, as sure as |y| is large, and

    Pr[|y| >= t] = Phi(mu/2 - t) + Phi(-mu/2 - t),    of which wrong: Phi(-mu/2 - t).

The share W of the law of |y| below the (r+1)-th surest is Beta(m - r, r + 1), and given W the r guesses above it are
independent, each wrong with probability g(W) = Phi(-mu/2 - t) / Pr[|y| >= t], Pr[|y| < t] = W. So

    Pr[at least v of r are right] = E Pr[Bin(r, g(W)) <= r - v].

Where only the highest y are guessed to be in, the share is of the law of y, whose tail is half of that of |y|.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr, betaincinv, expit, gammaln, ndtr, ndtri

from dpaudit.bounds.base import MAX_EPSILON, Array, Integers, bisect
from dpaudit.bounds.coin import additive_term, p_value
from dpaudit.bounds.tangent import ClaimPoints
from dpaudit.contract.curve_claims import MOST

# The least number of guesses of a schedule; each further one is twice as large.
FIRST = 8
# The ratio of neighbouring points, above the claim, of the grids on which bounds are read off.
GRID = 1.005
# By how much the grid's point at a claim exceeds the claim, relatively.
_ABOVE = 1e-9
# Points of a grid up to the claim.
_PARTS = 200
# Points of a claim for which the probability of a crossing is computed, the best ones by the union bound.
_CROSSED_AT = 3
# Probabilities of single counts that may be moved to the crossings.
_NEGLECTED = 1e-22
# Halvings of the bracket of a parameter: to 1e-9 of it.
_HALVINGS = 30
# By which probabilities of crossings are raised, relatively, for rounding.
_MARGIN = 1e-9


class Tested(NamedTuple):
    """The outcome of a test: its p-value, and the places in the schedule and among the points that gave it."""

    p_value: float
    at: int
    point: int


@dataclass(frozen=True)
class Schedule:
    """A schedule of numbers of guesses over one ranking.

    Parameters
    ----------
    guesses : tuple of int
        k_1 < ... < k_K.
    coins : int
        m, the coins that were flipped, guessed or not, of all runs together.
    one_sided : bool
        Whether only one side of the coins is ever guessed.
    """

    guesses: tuple[int, ...]
    coins: int
    one_sided: bool = False

    @classmethod
    def doubling(cls, coins: int, *, one_sided: bool = False) -> Schedule:
        """Return the schedule 8, 16, 32, ... up to m, or m / 2 where one side is guessed, and that."""
        last = max(1, coins // 2 if one_sided else coins)
        found = [FIRST << i for i in range(64) if FIRST << i < last]
        return cls((*found, last), coins, one_sided)

    def useful(self, points: ClaimPoints, gamma: float) -> Schedule:
        """Return the schedule without numbers of guesses that could not refute the claim if all were right.

        The claim alone decides, so that the rest share the error. Where none could, all stay.
        """
        best = self.p_values(self._counts, points)[0]
        kept = tuple(k for k, p in zip(self.guesses, best, strict=True) if p <= gamma)
        return Schedule(kept or self.guesses, self.coins, self.one_sided)

    @cached_property
    def _counts(self) -> Integers:
        return np.array(self.guesses, np.int64)

    def delta_runs(self, delta: Array) -> Array:
        """Return m delta, or half of it: what `bounds.coin` calls `delta_runs`."""
        return np.asarray(self.coins * delta * (0.5 if self.one_sided else 1.0))

    def p_values(self, right: ArrayLike, points: ClaimPoints) -> tuple[Array, Integers]:
        """Return, for each number of guesses, the least p-value of its count over the points, and the point.

        Parameters
        ----------
        right : array of int, shape (K,)
            N_k for each k of the schedule.
        points : ClaimPoints
            What the claim implies.
        """
        v = np.asarray(right)[:, None]
        r = self._counts[:, None]
        every = p_value(v, r, points.epsilon, delta_runs=self.delta_runs(points.delta))
        best = every.argmin(axis=1)
        return every[np.arange(len(best)), best], best

    def critical(self, t: float, points: ClaimPoints) -> Integers:
        """Return c_k(t) for each k; k + 1 where no count has a p-value of at most t."""
        # At `low` counts are accepted, at `high` they are not.
        low = np.zeros_like(self._counts)
        high = self._counts + 1
        while (high - low > 1).any():
            middle = (low + high) // 2
            rejected = self.p_values(np.minimum(middle, self._counts), points)[0] <= t
            low = np.where(rejected, low, middle)
            high = np.where(rejected, middle, high)
        return high

    def crossing(self, critical: Integers, epsilon: float) -> float:
        """Return Pr[N_k >= c_k for some k] of independent guesses, each right with probability p, from above."""
        law = np.ones(1)
        first = 0
        crossed = 0.0
        before = 0
        for k, c in zip(self.guesses, critical, strict=True):
            step, start = _binomial(k - before, epsilon)
            law = np.convolve(law, step)
            first += start
            before = k
            alive = max(0, int(c) - first)
            crossed += float(law[alive:].sum())
            law = law[:alive]
            kept = np.flatnonzero(law > _NEGLECTED)
            if not len(kept):
                break
            crossed += float(law[: kept[0]].sum() + law[kept[-1] + 1 :].sum())
            law = law[kept[0] : kept[-1] + 1]
            first += int(kept[0])
        return crossed * (1 + _MARGIN) + self.guesses[-1] * _NEGLECTED

    def test(self, right: ArrayLike, points: ClaimPoints) -> Tested:
        """Return the p-value of a claim from the right guesses; see the theorem of this module."""
        each, best = self.p_values(right, points)
        at = int(each.argmin())
        t = float(each[at])
        found = Tested(min(1.0, len(self.guesses) * t), at, int(best[at]))
        if t == 1 or len(self.guesses) == 1:
            return found
        critical = self.critical(t, points)
        return Tested(min(found.p_value, self._crossing(critical, points)), at, found.point)

    def _crossing(self, critical: Integers, points: ClaimPoints) -> float:
        """Return the second bound of the theorem, the least over the best points."""
        places: Integers = np.arange(len(points.epsilon))
        # Those at which the union bound is least: the others would hardly be better.
        if len(places) > _CROSSED_AT:
            v = np.minimum(critical, self._counts)[:, None]
            r = self._counts[:, None]
            each = p_value(v, r, points.epsilon) * (critical <= self._counts)[:, None]
            total = each.sum(axis=0) + self.delta_runs(points.delta) * expit(-points.epsilon)
            places = total.argsort()[:_CROSSED_AT]
        steps = {after - before for before, after in pairwise((0, *self.guesses))}

        def bound(epsilon: float, runs: float) -> float:
            found = self.crossing(critical, epsilon)
            # Plus m delta L.
            if runs:
                share = max(_largest_share(step, epsilon) for step in steps)
                found += min(float(additive_term(epsilon, runs)), float(runs * share * (1 + _MARGIN)))
            return found

        return min(map(bound, points.epsilon[places].tolist(), self.delta_runs(points.delta)[places]))

    def level(self, points: ClaimPoints, gamma: float) -> float:
        """Return the largest t, up to a thousandth of it, at which the test rejects at level gamma."""
        low = gamma / len(self.guesses)
        high = gamma
        while high > low * 1.001:
            # Levels differ by factors, so that the middle is the geometric one.
            middle = math.sqrt(low * high)
            accepted = self._crossing(self.critical(middle, points), points) > gamma
            low, high = (low, middle) if accepted else (middle, high)
        return low


def lower_bound(rejects: Callable[[float], bool], union_lower: float, claim: float) -> float:
    """Return the last point of a grid up to which all points are rejected; 0, its first, if no other is.

    The test is known to reject up to `union_lower`, the bound by the union bound. The grid is made from the claim: c =
    claim (1 + 1e-9), or 1, times multiples of 1/200 up to c, and times powers of 1.005 from there on.
    """
    base = claim * (1 + _ABOVE) if claim > 0 else 1.0

    def point(i: int) -> float:
        return base * (i / _PARTS if i <= _PARTS else GRID ** (i - _PARTS))

    ratio = union_lower / base
    below = math.log(ratio) / math.log(GRID) + _PARTS if ratio > 1 else _PARTS * ratio
    i = max(1, math.floor(below) - 1)
    while point(i) <= union_lower or (point(i) < MAX_EPSILON and rejects(point(i))):
        i += 1
    return point(i - 1)


def largest_rejected(rejects: Callable[[float], bool], high: float) -> float:
    """Return the largest rejected parameter, from below, of a test that rejects all smaller ones; 0 if it does none."""
    return float(bisect(0.0, high, rejects, _HALVINGS)[0]) if rejects(1e-9) else 0.0


def detectable_epsilon(guesses: ArrayLike, critical: ArrayLike, power: float) -> float:
    """Return the least epsilon of randomised responses of all coins of which some count is critical that probably.

    It is the logit of the p with Pr[Bin(k, p) >= c_k] = power, the least over k; infinite where no count is critical.
    """
    k = np.asarray(guesses, np.float64)
    c = np.asarray(critical, np.float64)
    reachable = c <= k
    if not reachable.any():
        return math.inf
    p = betaincinv(c[reachable], k[reachable] - c[reachable] + 1, power)
    with np.errstate(divide="ignore"):
        return float(np.min(np.log(p) - np.log1p(-p)))


@lru_cache(maxsize=4096)
def _largest_share(n: int, epsilon: float) -> float:
    """Return max_v B_v (1 - B_v) / (v b_v) of Bin(n, p): near its median, and less where masses are neglected."""
    law, first = _binomial(n, epsilon)
    v = first + np.arange(len(law))
    seen = (law > _NEGLECTED) & (v > 0)
    tail = law[::-1].cumsum()[::-1]
    rest = law.cumsum() - law
    return float((np.minimum(tail, 1.0) * rest / np.where(seen, v * law, 1.0))[seen].max(initial=0.0))


def _binomial(n: int, epsilon: float) -> tuple[Array, int]:
    """Return the law of Bin(n, p) at counts from some first one on, without those that hardly ever occur."""
    p = 1 / (1 + math.exp(-epsilon))
    half = 12 * math.sqrt(n * p * (1 - p)) + 60
    first = max(0, math.floor(n * p - half))
    last = min(n, math.ceil(n * p + half))
    j = np.arange(first, last + 1, dtype=np.float64)
    log_wrong = -epsilon - math.log1p(math.exp(-epsilon))
    log_mass = gammaln(n + 1) - gammaln(j + 1) - gammaln(n - j + 1) + j * math.log(p) + (n - j) * log_wrong
    return np.exp(log_mass), first


# Quantiles of W; each stands for an equal share of its law.
_NODES = 128
# Points at which the law of y is known.
_GRID = 4_001
# Standard deviations that the points reach to on either side.
_FAR = 9.0
# A bound on mu below it is 0.
_LEAST = 1e-6


def independent_p_value(right: int, guesses: int, coins: int, mu: float, *, one_sided: bool = False) -> float:
    """Return Pr[at least v of the r surest guesses of m are right] at mu >= 0, of canaries that do not interfere.

    If `one_sided`, the r highest scores are guessed to be in, and no others.
    """
    t = np.zeros(1)
    # The t of some quantiles of W.
    if guesses < coins or one_sided:
        middle = (np.arange(_NODES) + 0.5) / _NODES
        tail = 1 - betaincinv(max(coins - guesses, 1e-9), guesses + 1, middle)
        # Of Phi(mu/2 - t) + Phi(-mu/2 - t), which falls from 2 to 0.
        wanted = tail * (2.0 if one_sided else 1.0)
        grid = np.linspace(-mu / 2 - _FAR, mu / 2 + _FAR, _GRID)
        tails = ndtr(mu / 2 - grid) + ndtr(-mu / 2 - grid)
        t = np.interp(wanted, tails[::-1], grid[::-1])
    right_tail = ndtr(mu / 2 - t)
    wrong_tail = ndtr(-mu / 2 - t)
    wrong = wrong_tail / np.maximum(right_tail + wrong_tail, 1e-300)
    return float(np.minimum(bdtr(guesses - right, guesses, wrong), 1.0).mean())


def recursion_refutes(
    right: int, guesses: int, coins: int, mu: float, error: float, *, one_sided: bool = False
) -> bool:
    """Say whether the recursion refutes mu-Gaussian privacy with an error, from v of r right guesses of m coins.

    With f the trade-off function of N(0, 1) and N(mu, 1) and F = 1 - f: R = error v / m and H = error (r - v) / m are
    the least shares of right and wrong guesses if the tail has that mass; from i = v - 1 down to 0, H' = max(H,
    F^-1(R)) and R grows by i (H' - H) / (r - i). More than r / m in all cannot be. Guesses of one side alone have m / 2
    coins.
    """
    m = coins / 2 if one_sided else float(coins)
    share = error * right / m
    other = error * (guesses - right) / m
    for i in range(right - 1, -1, -1):
        if share + other > guesses / m or share >= 1:
            return True
        more = max(other, 0.5 * math.erfc(-(float(ndtri(share)) - mu) / math.sqrt(2)))
        if guesses > i:
            share += i * (more - other) / (guesses - i)
        other = more
    return share + other > guesses / m


def mu_lower(
    right: int,
    guesses: int,
    coins: int,
    error: float,
    *,
    one_sided: bool = False,
    at_least: tuple[float, float] = (0, 0),
) -> tuple[float, float]:
    """Return the largest mu that is refuted with an error, by the recursion and of canaries that do not interfere.

    The bounds `at_least` are returned where the counts give none that is larger.
    """
    counts = right, guesses, coins
    tests: tuple[Callable[[float], bool], ...] = (
        lambda mu: recursion_refutes(*counts, mu, error, one_sided=one_sided),
        lambda mu: independent_p_value(*counts, mu, one_sided=one_sided) <= error,
    )
    first, second = (
        largest_rejected(test, MOST) if test(max(mu, _LEAST)) else mu for test, mu in zip(tests, at_least, strict=True)
    )
    return first, second


def detectable_mu(
    guesses: Sequence[int], critical: Sequence[int], coins: int, power: float, *, one_sided: bool = False
) -> tuple[float, int]:
    """Return the least mu of independent canaries at which some count is critical that probably, and its place.

    That is one of v_k of the r_k surest guesses; infinite, and the last place, where no count is critical.
    """

    def unlikely(v: int, r: int, mu: float) -> bool:
        return independent_p_value(v, r, coins, mu, one_sided=one_sided) < power

    best = math.inf
    at = len(guesses) - 1
    for i, (r, v) in enumerate(zip(guesses, critical, strict=True)):
        if v <= r and not unlikely(v, r, min(best, 2 * MOST)):
            best = largest_rejected(partial(unlikely, v, r), 2 * MOST)
            at = i
    return best, at
