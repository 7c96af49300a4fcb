r"""Compute the power of an audit: the least leaks that it detects with probability about 0.95.

For a fixed number of runs that is the power of the bounds. Bets on an event T have two cells, T and its complement;
cell x turns up in a run with probability m_x, and a run in it was on data with probability r_x. A bettor who knew r
would win

.. math:: g = \sum_x m_x (r_x \ln e(x, 1) + (1 - r_x) \ln e(x, 0))

a run on average (`eprocess.expected_growth`): at delta = 0 the Kullback-Leibler divergence between the coin given the
cell and the nearest coin that the claim allows. The claim falls after about ln(1 / gamma) / g runs.

The bettor of `Session` has to learn r. After N runs it believes in an r' that is normal around r with variance
r_x (1 - r_x) / (N m_x), moved towards 1/2 as `posterior` does, and its mean growth g(N) is that of bets by r' in a
world of r. So log E after all batches, of n_j runs after N_j earlier ones, has about the mean M = sum n_j g(N_j). A run
moves log E twice: by its payoff, and as a part of every later r'. To first order a coin in cell x that falls a unit
above r_x moves it by

.. math:: k_x = \ln e(x, 1) - \ln e(x, 0) + \sum_{i \text{ later}} \frac{n_i}{N_i m_x} \frac{\partial g}{\partial r'_x},

which gives the variance V. As a Brownian motion of that drift and variance, log E exceeds L = ln(1 / gamma) at some
time with probability

.. math:: \Phi\Bigl(\frac{M - L}{\sqrt V}\Bigr) + e^{2 M L / V} \Phi\Bigl(-\frac{M + L}{\sqrt V}\Bigr) .

All this is an approximation. Simulated bets (`tests/oracle`) refute a little more seldom than it says, because late
beliefs are not quite normal, and more so where few runs show the leak: 0.93 to 0.94 instead of 0.95 on events possible
on both sides, 0.88 to 0.93 on catastrophes. So a leak counts as detectable only where 0.6 (for catastrophes 0.2) of the
allowed probability of a miss is predicted; there simulated bets refute at least as often as stated. No verdict depends
on it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from scipy.special import log_ndtr

from dpaudit.audit.eprocess import FIRST_BATCH, batch_schedule, log_payoffs, place_bet, posterior
from dpaudit.audit.finding import PowerAt
from dpaudit.bounds import POWER
from dpaudit.bounds.base import Array
from dpaudit.bounds.detectable import detectable_delta, detectable_epsilon, least_where
from dpaudit.bounds.melded import Melded
from dpaudit.bounds.tangent import gaussian_delta, mu_between, tangent_epsilon
from dpaudit.contract import PrivacyClaim
from dpaudit.events.expected_bound import PlannedTest, learnable_delta, learnable_epsilon

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(7)
# Standard normal errors of the two posteriors, shape (49, 2).
_BELIEFS = np.stack([v.ravel() for v in np.meshgrid(_NODES, _NODES)], axis=1)
_CHANCES = np.outer(_WEIGHTS, _WEIGHTS).ravel() / _WEIGHTS.sum() ** 2
# Sizes of the past at which beliefs are averaged; between them everything is smooth in the logarithm.
_AGES = 12
# Of what is sought, relatively: finer than the approximation.
_PRECISION = 1e-4
# The probabilities of detection that are predicted at what is called detectable: a share of 0.05 may be missed.
_EVENT_ASKED, _CATASTROPHE_ASKED = (1 - share * (1 - POWER) for share in (0.6, 0.2))


def refutation_probability(p: float, q: float, runs: int, *, epsilon: float, delta: float = 0.0, gamma: float) -> float:
    """Return about the probability that bets at level gamma on a given event, of probabilities p and q, refute a claim.

    The pair has so many `runs` on both sides together.
    """
    past, sizes = batch_schedule(runs)
    if p == q or not len(past):
        return 0.0
    mass = np.array([(p + q) / 2, 1 - (p + q) / 2])
    rate = np.array([p / (p + q), (1 - p) / (2 - p - q)])
    ages = np.geomspace(past[0], past[-1], min(_AGES, len(past)))

    def at_batches(values: Array) -> Array:
        """Interpolate values at some ages to the ages of all batches, linearly in the logarithm of the age."""
        return np.apply_along_axis(lambda column: np.interp(np.log(past), np.log(ages), column), 0, values)

    growth, noise, lever, slope = map(at_batches, _moments(rate, mass, ages, epsilon, delta))
    # What a run in cell x adds to later beliefs: of batch j to those of the batches after it.
    pull = sizes[:, None] * slope / (past[:, None] * mass)
    later = np.cumsum(pull[::-1], axis=0)[::-1]
    spread = mass * rate * (1 - rate)
    swing = noise + (spread * ((lever + later - pull) ** 2 - lever**2)).sum(axis=1)
    variance = float((sizes * swing).sum() + past[0] * (spread * later[0] ** 2).sum())
    # A Brownian motion, of this mean and variance at the end, has exceeded a level.
    level = -math.log(gamma)
    drift = float((sizes * growth).sum())
    if drift <= 0 or variance <= 0:
        return float(drift >= level)
    deviation = math.sqrt(variance)
    # In logarithms: one factor of the second term may overflow while the other vanishes.
    ends_above = log_ndtr((drift - level) / deviation)
    came_back = 2 * drift * level / variance + log_ndtr(-(drift + level) / deviation)
    return float(min(1.0, np.exp(np.logaddexp(ends_above, came_back))))


def detectable_epsilon_by_bets(q: float, runs: int, *, epsilon: float, delta: float = 0.0, gamma: float) -> float:
    """Return the least true epsilon of a given event, of probability q on the unlikelier side, that bets detect.

    That is with probability 0.95, within `runs` runs of one pair, both sides together; inf if there is none.
    """
    if q == 0 or math.exp(epsilon) * q + delta >= 1:
        return math.inf

    def refuted(e: float) -> bool:
        p = min(math.exp(e) * q + delta, 1.0)
        return refutation_probability(p, q, runs, epsilon=epsilon, delta=delta, gamma=gamma) >= _EVENT_ASKED

    return least_where(refuted, epsilon, math.log((1 - delta) / q), _PRECISION)


def detectable_delta_by_bets(runs: int, *, epsilon: float, delta: float = 0.0, gamma: float) -> float:
    """Return the least probability of a given event, impossible on the other side, that bets refute as often."""

    def refuted(logarithm: float) -> bool:
        p = math.exp(logarithm)
        return refutation_probability(p, 0.0, runs, epsilon=epsilon, delta=delta, gamma=gamma) >= _CATASTROPHE_ASKED

    # The answer may be tiny: its logarithm is sought.
    return math.exp(least_where(refuted, math.log(max(delta, 1 / runs)), 0.0, _PRECISION))


def leading_pair_runs(runs: int, pairs: int) -> int:
    """Return the runs reckoned for a leaking pair: after a first batch of each pair, the others take twice as many.

    Measured by `scripts/bench.py few_runs`.
    """
    if pairs == 1:
        return runs
    return max(1, (runs - FIRST_BATCH * pairs) // 3)


def _moments(rate: Array, mass: Array, ages: Array, epsilon: float, delta: float) -> tuple[Array, Array, Array, Array]:
    """Return by age, averaged over beliefs: growth and variance a run (A,), levers and slopes of the cells (A, 2).

    A lever is ln e(x, 1) - ln e(x, 0), a slope dg / dr'_x, by Stein's identity E[z g] / (standard error).
    """
    seen = ages[:, None] * mass
    error = np.sqrt(rate * (1 - rate) / seen)
    guess = np.clip(rate + error[:, None, :] * _BELIEFS, 0, 1)
    belief = posterior(seen[:, None, :] * guess, seen[:, None, :] * (1 - guess)).reshape(-1, 2)
    bet = place_bet(belief, np.broadcast_to(mass, belief.shape), np.full(len(belief), epsilon), delta)
    one, zero = (log.reshape(len(ages), -1, 2) for log in log_payoffs(bet))
    mean = (mass * (rate * one + (1 - rate) * zero)).sum(axis=2)
    square = (mass * (rate * one**2 + (1 - rate) * zero**2)).sum(axis=2)
    stein = np.einsum("k,kx,ak->ax", _CHANCES, _BELIEFS, mean)
    slope = np.divide(stein, error, out=np.zeros_like(stein), where=error > 0)
    lever = np.einsum("k,akx->ax", _CHANCES, one - zero)
    return mean @ _CHANCES, (square - mean**2) @ _CHANCES, lever, slope


# Of the verdict's error, for a second opinion where the best event is not expected to refute the claim: the other
# events lose a twentieth of a standard error by it.
REFUTING_SHARE = 0.1

# Probabilities of an event on the unlikelier side at which the frontier is stated.
MASSES = (0.1, 0.01, 0.001, 0.0001)

# Events that are likelier than this are met often enough in any training to be chosen by it.
RARE = 0.05

# Runs that are reckoned for an event that has to be learned, as a multiple of those for one that is given. An event
# chosen on a quarter as many runs as confirm it loses up to a standard error or so of the three that detection takes,
# whatever their number. Where all tails of a leak have the same ratio, training often takes a smaller one than the
# likeliest: with 2 such shifts were detected in 109 of 120 audits, with 3 in 118 (`docs/research/promises.md`).
LEARNING = 3

# The same for bets, which detect more often than that already (`docs/research/calibration.md`).
LEARNING_OF_BETS = 2

# A search among pairs believes a pair's epsilon if bets on all its runs against that epsilon would be expected to win
# this much, in log E; with 1 pairs that had luck in few runs are taken for the best one more often.
CHANCE = 3.0

# By how much the logarithm of a probability lies below that of one run in all, where the search for a leak ends.
RARER = 5.0
# The relative precision of that search: each of its steps takes a tenth of a second.
PRECISION = 1e-3

_detectable_epsilon = lru_cache(maxsize=4096)(partial(detectable_epsilon, Melded()))
# The numbers that audits in a series with one budget share: an epsilon takes a tenth of a second.
_detectable_delta = lru_cache(maxsize=256)(partial(detectable_delta, Melded()))


@dataclass(frozen=True)
class Power:
    """The least leaks that a budget detects with probability about 0.95, although the event has to be learned.

    They are those that 1 / `LEARNING` of the runs detect when the event is given, or 1 / `LEARNING_OF_BETS` for bets.

    `epsilon` is the least true epsilon, `at` the event on which it is stated, of probability `mass` on the unlikelier
    side, and `frontier` the same for events of other probabilities there, as (probability, epsilon). `delta` is the
    least probability of an event that is impossible on the other side.
    """

    epsilon: float
    at: PowerAt
    frontier: tuple[tuple[float, float], ...]
    delta: float
    mass: float = 0.0

    @classmethod
    def of_test(
        cls, likelier: float, unlikelier: float, training: int, runs: int, claim: PrivacyClaim, gamma: float
    ) -> Power:
        """Return the power of `runs` confirmation runs a side at error `gamma`, by the melded bound.

        The main event has the probabilities `likelier` and `unlikelier` on the two sides. A rare event has to be met
        in training before it can be tested: what is stated of rare events is the greater of what confirmation detects
        and of what `training` runs a side make the second opinion test. Guesses of coins detect what the melded bound
        does within a percent or so, but rare events in runs made one by one, which take up to half as many runs again:
        `LEARNING` leaves room for that.
        """
        # Rare events are tested by the second opinion, which has a part of the error.
        learned = PlannedTest(runs, claim.delta, REFUTING_SHARE * gamma)
        runs = -(-runs // LEARNING)

        def least(q: float) -> float:
            able = _detectable_epsilon(q, runs, runs, epsilon=claim.epsilon, delta=claim.delta, gamma=gamma)
            if q >= RARE:
                return able
            return max(learnable_epsilon(q, training, learned, claim.epsilon), able)

        delta = _detectable_delta(runs, runs, epsilon=claim.epsilon, delta=claim.delta, gamma=gamma)
        delta = max(delta, learnable_delta(training, learned, claim.epsilon))
        return cls._of(least, likelier, unlikelier, runs, claim, delta)

    @classmethod
    def mu_of_test(cls, unlikelier: float, training: int, runs: int, mu: float, gamma: float) -> float:
        """Return the least mu that refutes a claim of mu-Gaussian privacy on an event; infinite if none does.

        The event has the probability `unlikelier` on that side. Of a mechanism that leaks so much training would choose
        the point of the claim whose line supports its region at this event: that point is tested. Other parameters are
        those of `of_test`.
        """
        epsilon = tangent_epsilon(unlikelier, mu)
        point = PrivacyClaim(abs(epsilon), float(gaussian_delta(mu, abs(epsilon))))
        if epsilon >= 0:
            power = cls.of_test(unlikelier, unlikelier, training, runs, point, gamma)
        else:  # the line is that of the complement, whose probability on the likelier side is known
            power = cls.of_test(1 - unlikelier, 1.0, training, runs, point, gamma)
        return power.mu(point, mu)

    def mu(self, point: PrivacyClaim, claimed: float) -> float:
        """Return the mu of Gaussian privacy with the leak that is detected at a point of a claim; infinite if none is.

        It is at least the mu that is `claimed`.
        """
        if self.at is PowerAt.FRONTIER or not math.isfinite(self.epsilon):
            return math.inf
        p = math.exp(self.epsilon) * self.mass + point.delta
        return max(claimed, mu_between(p, self.mass))

    @classmethod
    @lru_cache(maxsize=256)
    def of_bets(cls, mass: float, runs: int, claim: PrivacyClaim, gamma: float) -> Power:
        """Return the power of bets on `runs` runs of one pair, both sides together, at error `gamma`."""
        runs = -(-runs // LEARNING_OF_BETS)

        def least(q: float) -> float:
            return detectable_epsilon_by_bets(q, runs, epsilon=claim.epsilon, delta=claim.delta, gamma=gamma)

        delta = detectable_delta_by_bets(runs, epsilon=claim.epsilon, delta=claim.delta, gamma=gamma)
        return cls._of(least, mass, mass, runs, claim, delta)

    def compared(self, runs: Iterable[int], claim: PrivacyClaim) -> int:
        """Return how many pairs had runs, both sides together, that would have shown `epsilon` to a search among them.

        A search takes a pair for one that leaks if bets on its runs, chosen in hindsight, win `CHANCE`; bets on an
        event that is given stand for them.
        """
        # exp of more leaves the floats; the epsilon may be infinite.
        p = min(math.exp(min(self.epsilon, 700.0)) * self.mass + claim.delta, 1.0)
        gamma = math.exp(-CHANCE)
        found = 0
        # Many pairs had the same number of runs.
        for n, pairs in Counter(runs).items():
            if not n:
                continue
            known = refutation_probability(p, self.mass, n, epsilon=claim.epsilon, delta=claim.delta, gamma=gamma)
            if known >= POWER:
                found += pairs
        return found

    @classmethod
    def _of(
        cls,
        least: Callable[[float], float],
        likelier: float,
        unlikelier: float,
        runs: int,
        claim: PrivacyClaim,
        delta: float,
    ) -> Power:
        """Return the power, given the least epsilon detected by the event's probability on the unlikelier side.

        `PowerAt` has the event on which it is stated. (An event of probability 0.5 on both sides can show no epsilon of
        1 by becoming likelier on one of them, but any by becoming less likely on the other.)
        """
        frontier = tuple((q, least(q)) for q in MASSES)
        if math.exp(claim.epsilon) * unlikelier + claim.delta < 1:
            epsilon = least(unlikelier)
            at = PowerAt.UNLIKELIER
            mass = unlikelier
        else:
            mass = max(likelier - claim.delta, 1 / runs)
            at = PowerAt.LIKELIER
            # Beyond the last of these an event is not to be expected in any run of the unlikelier side.
            last = max(claim.epsilon, math.log(mass * runs)) + RARER
            epsilon = least_where(lambda e: least(mass * math.exp(-e)) <= e, claim.epsilon, last, PRECISION)
            mass *= math.exp(-epsilon)
        if math.isinf(epsilon):
            # No leak would show on an event as likely as the one tested: the likeliest of the frontier is stated.
            seen = ((one, PowerAt.FRONTIER, q) for q, one in frontier if math.isfinite(one))
            epsilon, at, mass = next(seen, (epsilon, at, mass))
        return cls(epsilon, at, frontier, delta, mass)
