r"""Predict the power of a sequential audit: how likely bets on one event refute a claim, and the least leak detected.

Bets on an event T have two cells, T and its complement; cell x turns up in a run with probability m_x, and a run in it
was on data with probability r_x. A bettor who knew r would win

.. math:: g = \sum_x m_x (r_x \ln e(x, 1) + (1 - r_x) \ln e(x, 0))

a run on average (`eprocess.expected_growth`): at delta = 0 the Kullback-Leibler divergence between the coin given the
cell and the nearest coin that the claim allows. The claim falls after about ln(1 / gamma) / g runs.

The bettor of `session` has to learn r. After N runs it believes in an r' that is normal around r with variance
r_x (1 - r_x) / (N m_x), moved towards 1/2 as `posterior` does, and its mean growth g(N) is that of bets by r' in a
world of r. So log E after all batches, of n_j runs after N_j earlier ones, has about the mean M = sum n_j g(N_j). A run
moves log E twice: by its payoff, and as a part of every later r'. To first order a coin in cell x that falls a unit
above r_x moves it by

.. math:: k_x = \ln e(x, 1) - \ln e(x, 0) + \sum_{i \text{ later}} \frac{n_i}{N_i m_x} \frac{\partial g}{\partial r'_x},

which gives the variance V. As a Brownian motion of that drift and variance, log E exceeds L = ln(1 / gamma) at some
time with probability

.. math:: \Phi\Bigl(\frac{M - L}{\sqrt V}\Bigr) + e^{2 M L / V} \Phi\Bigl(-\frac{M + L}{\sqrt V}\Bigr) .

All this is an approximation. Simulated bets (`tests/oracle`) refute a little more seldom than it says, because late
beliefs are not quite normal, and more so where few runs tell: 0.93 to 0.94 instead of 0.95 on events possible on both
sides, 0.88 to 0.93 on catastrophes. So a leak counts as detectable only where 0.6 (for catastrophes 0.2) of the allowed
probability of a miss is predicted; there simulated bets refute at least as often as stated. No verdict depends on it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from dpaudit.audit.eprocess import log_payoffs, place_bet, posterior
from dpaudit.audit.schedule import batch_schedule
from dpaudit.bounds.detectable import least_where

__all__ = ["detectable_delta_by_bets", "detectable_epsilon_by_bets", "refutation_probability"]

Array = NDArray[np.float64]

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(7)
_BELIEFS = np.stack([v.ravel() for v in np.meshgrid(_NODES, _NODES)], axis=1)
"""Standard normal errors of the two posteriors, shape (49, 2)."""
_CHANCES = np.outer(_WEIGHTS, _WEIGHTS).ravel() / _WEIGHTS.sum() ** 2
_AGES = 12
"""Sizes of the past at which beliefs are averaged; between them everything is smooth in the logarithm."""
_PRECISION = 1e-4
"""Of what is sought, relatively: finer than the approximation."""
_EVENT_MISS, _CATASTROPHE_MISS = 0.6, 0.2
"""The share of the allowed probability of a miss that is predicted at what is called detectable."""


def refutation_probability(p: float, q: float, runs: int, *, epsilon: float, delta: float = 0.0, gamma: float) -> float:
    """Return about the probability that bets on one given event refute the claim within `runs` runs.

    Parameters
    ----------
    p, q : float
        The event's probabilities on data and on neighbour.
    runs : int
        Runs on both sides together, on one pair.
    epsilon, delta, gamma : float
        The claim and the level of the test.
    """
    if p == q:
        return 0.0
    past, sizes = batch_schedule(runs)
    mass = np.array([(p + q) / 2, 1 - (p + q) / 2])
    rate = np.array([p / (p + q), (1 - p) / (2 - p - q)])
    ages = np.geomspace(past[0], past[-1], min(_AGES, len(past)))
    growth, noise, lever, slope = (_at(past, ages, v) for v in _moments(rate, mass, ages, epsilon, delta))
    # What a run in cell x adds to later beliefs: of batch j to those of the batches after it.
    pull = sizes[:, None] * slope / (past[:, None] * mass)
    later = np.cumsum(pull[::-1], axis=0)[::-1]
    spread = mass * rate * (1 - rate)
    swing = noise + (spread * ((lever + later - pull) ** 2 - lever**2)).sum(axis=1)
    variance = float((sizes * swing).sum() + past[0] * (spread * later[0] ** 2).sum())
    return _ever_above(-math.log(gamma), float((sizes * growth).sum()), variance)


def detectable_epsilon_by_bets(
    q: float, runs: int, *, epsilon: float, delta: float = 0.0, gamma: float, power: float = 0.95
) -> float:
    """Return the least true epsilon of a given event, of probability q on the unlikelier side, that bets refute.

    Refuted with probability `power` within `runs` runs of one pair, both sides together; inf if there is none.
    """
    asked = 1 - _EVENT_MISS * (1 - power)
    if q == 0 or math.exp(epsilon) * q + delta >= 1:
        return math.inf

    def refuted(e: float) -> bool:
        p = min(math.exp(e) * q + delta, 1.0)
        return refutation_probability(p, q, runs, epsilon=epsilon, delta=delta, gamma=gamma) >= asked

    return least_where(refuted, epsilon, math.log((1 - delta) / q), _PRECISION)


def detectable_delta_by_bets(
    runs: int, *, epsilon: float, delta: float = 0.0, gamma: float, power: float = 0.95
) -> float:
    """Return the least probability of a given event, impossible on the other side, that bets refute as often."""
    asked = 1 - _CATASTROPHE_MISS * (1 - power)

    def refuted(logarithm: float) -> bool:
        p = math.exp(logarithm)
        return refutation_probability(p, 0.0, runs, epsilon=epsilon, delta=delta, gamma=gamma) >= asked

    # The answer may be tiny: its logarithm is sought.
    return math.exp(least_where(refuted, math.log(max(delta, 1 / runs)), 0.0, _PRECISION))


def _moments(rate: Array, mass: Array, ages: Array, epsilon: float, delta: float) -> tuple[Array, Array, Array, Array]:
    """Return by age, averaged over beliefs: growth and variance a run (A,), levers and slopes of the cells (A, 2).

    A lever is ln e(x, 1) - ln e(x, 0), a slope the derivative of the growth in the belief r'_x, by Stein's identity
    E[z g] / (standard error).
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


def _at(past: Array, ages: Array, values: Array) -> Array:
    """Return values known at some ages at every batch's, interpolated in the logarithm of the age."""
    columns = values.reshape(len(ages), -1).T
    found = np.stack([np.interp(np.log(past), np.log(ages), column) for column in columns], axis=1)
    return found.reshape(len(past), *values.shape[1:])


def _ever_above(level: float, drift: float, variance: float) -> float:
    """Return the probability that a Brownian motion, of this mean and variance at the end, has exceeded a level."""
    if drift <= 0 or variance <= 0:
        return float(drift >= level)
    deviation = math.sqrt(variance)
    ends_above = log_ndtr((drift - level) / deviation)
    came_back = 2 * drift * level / variance + log_ndtr(-(drift + level) / deviation)
    return float(min(1.0, np.exp(np.logaddexp(ends_above, came_back))))
