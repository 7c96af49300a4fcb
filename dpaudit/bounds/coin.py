"""Bound epsilon by a count of right guesses of fair coins, each of which decided which of two neighbours was run.

Coins are independent and fair; from everything that is seen r of them are guessed. If the mechanism is pure
epsilon-private, a guess is right with probability at most p = e^epsilon / (1 + e^epsilon), whatever the guesses before
it were: by Bayes the odds of a fair coin are a ratio of two densities, in [e^-epsilon, e^epsilon]. So the number N of
right guesses is dominated by Bin(r, p), whichever coins are guessed and how; r is fixed before guesses meet coins.

With delta > 0 let there be m coins in all, and b_j = Pr[Bin(r, p) = j], B_v = Pr[Bin(r, p) >= v].

Theorem. For the coins of independent runs, or the m coins of one run, and v >= 1:

    Pr[N >= v] <= B_v + m delta B_v (1 - B_v) / (v b_v),    and    Pr[N >= v] <= B_v + m delta / (1 + e^epsilon).

Where only one side of the coins is ever guessed, m delta / 2 stands for m delta.

Proof. Let P_j = Pr[N = j] and T a set of numbers. "Guess i is right and N in T" has, summed over i, the probability
sum_T j P_j; with coin i flipped the guess is wrong and N one less: sum_T (r - j + 1) P_{j-1}. The claim bounds the
first by e^epsilon times the second plus delta / 2 for each coin and side guessed, so m delta bounds the sum of the
positive parts of j P_j - e^epsilon (r - j + 1) P_{j-1}. With P_j = b_j G_j and j b_j = e^epsilon (r - j + 1) b_{j-1}
that is sum_j j b_j (G_j - G_{j-1})_+ <= m delta. Let d_i be the increments of G. As all P_j add up to 1, Pr[N >= v] =
B_v + sum_i d_i c_i with c_i = B_v (1 - B_i) for i <= v and B_i (1 - B_v) for i > v. All c_i >= 0, so the sum is at most
m delta max_i c_i / (i b_i). The binomial law is log-concave: (1 - B_i) / (i b_i) grows with i, B_i / (i b_i) falls, and
the maximum is at i = v. For the second bound let x_i be the excess over p of the probability that guess i is right,
given the outputs and the earlier coins. The claim bounds the sum of E (x_i)_+ by m delta / (1 + e^epsilon); but for an
event of that probability the guesses are dominated by independent ones. []

The second bound holds for every rule that rejects when more guesses are right. Run by run, with fresh coins, it also
holds for a mechanism with a state that is private in every state. A weaker term for delta is that of T. Steinke,
M. Nasr, M. Jagielski, Privacy auditing with one (1) training run, NeurIPS 2023.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincc, expit, log_expit

from dpaudit.arguments import read_number
from dpaudit.bounds.base import (
    MAX_EPSILON,
    MAX_RUNS,
    Array,
    Bools,
    bisect,
    broadcast,
    check_range,
    in_interval,
    whole_numbers,
)
from dpaudit.bounds.limits import LEVEL_MARGIN, lower_limit
from dpaudit.bounds.melded import log_density
from dpaudit.errors import InputError

# A smaller tail has lost digits: what is below it counts as this.
_TINY = 1e-290
# Bisections of an epsilon: to the last digit of a float.
_HALVINGS = 60


def p_value(right: ArrayLike, guesses: ArrayLike, epsilon: ArrayLike, *, delta_runs: float | Array = 0.0) -> Array:
    """Return p-values of (epsilon, delta)-privacy from counts of right guesses; see the theorem of this module.

    Parameters
    ----------
    right, guesses : array of int
        v and r, 0 <= v <= r, 1 <= r <= 1e12; r was fixed before the guesses were compared with the coins.
    epsilon : array of float
        The claim, in [0, 700); the arrays broadcast.
    delta_runs : float or array of float
        m delta: the number of coins, guessed or not, times the delta of the claim; half of it where only one side is
        ever guessed. With it the runs are independent, or the coins those of one run; 0 asks for no independence.

    Returns
    -------
    array of float64
        In (0, 1], rounded upwards: a test at level gamma rejects where the p-value is at most gamma. 1 where nothing
        was guessed right. A tail too small for a float counts as 1e-290.

    Raises
    ------
    InputError
        For bad counts or parameters.
    """
    v, r, eps = _checked(right, guesses, epsilon)
    return _p_values(v, r, eps, delta_runs if isinstance(delta_runs, np.ndarray) else _amount(delta_runs))


def epsilon_lower(right: ArrayLike, guesses: ArrayLike, gamma: float, *, delta_runs: float = 0.0) -> Array:
    """Return lower bounds on epsilon from counts of right guesses, each too large with probability at most `gamma`.

    For delta = 0 that is ln(l / (1 - l)) for the Clopper-Pearson lower limit l of the share of right guesses; with
    delta the epsilon at which the p-value reaches gamma, by bisection from the safe side. It is 0 where no more guesses
    are right than by chance, and where more are wrong than right.

    Parameters
    ----------
    right, guesses, delta_runs
        As for `p_value`.
    gamma : float
        In (0, 1).

    Returns
    -------
    array of float64
        Finite, >= 0, rounded downwards.

    Raises
    ------
    InputError
        For bad counts or parameters.
    """
    v, r, _ = _checked(right, guesses, 0.0)
    level = read_number("gamma", gamma, 0, 1)
    delta_runs = _amount(delta_runs)
    limit = np.maximum(lower_limit(v, r, level), 0.5)
    high = np.log(limit) - np.log1p(-limit)
    if delta_runs == 0 or not high.any():
        return np.asarray(high)

    def rejected(eps: Array) -> Bools:
        return np.asarray(_p_values(v, r, eps, delta_runs) <= level)

    low = np.zeros_like(high)
    return np.where(rejected(low), bisect(low, high, rejected, _HALVINGS)[0], 0.0)


def guesses_needed(epsilon: float, gamma: float) -> int:
    """Return the least number of guesses that refute pure epsilon-privacy at level gamma where all of them are right.

    It is the least r with p^r <= gamma, for p = e^epsilon / (1 + e^epsilon).

    Raises
    ------
    InputError
        If that is more than `MAX_RUNS`.
    """
    level = math.log(gamma * (1 - LEVEL_MARGIN))
    each = float(log_expit(epsilon))
    if level < MAX_RUNS * each:
        raise InputError(f"no audit of {MAX_RUNS:g} runs could detect a leak of more than epsilon = {epsilon!r}")
    return math.ceil(level / each)


def additive_term(epsilon: ArrayLike, delta_runs: float) -> Array:
    """Return m delta / (1 + e^epsilon), rounded upwards: what delta adds to the level of any monotone test of coins."""
    return np.asarray(_amount(delta_runs) * expit(-np.asarray(epsilon, np.float64)) * (1 + LEVEL_MARGIN))


def _p_values(v: Array, r: Array, eps: Array, delta_runs: float | Array) -> Array:
    """Return the lesser of the theorem's two bounds."""
    # 1 - p, with all its digits.
    wrong = expit(-eps)
    tail = np.maximum(betaincc(r - v + 1, np.maximum(v, 1), wrong), _TINY)
    found = tail
    if np.any(delta_runs > 0):
        # Below its mean a count is no evidence, and the second bound is good enough.
        above = v > r * (1 - wrong)
        share = np.where(above, _share_of_delta(v, r, eps, tail), expit(-eps) * (1 + LEVEL_MARGIN))
        found = tail + delta_runs * np.minimum(share, expit(-eps) * (1 + LEVEL_MARGIN))
    return np.where(v == 0, 1.0, np.minimum(found * (1 + LEVEL_MARGIN), 1.0))


def _share_of_delta(v: Array, r: Array, eps: Array, tail: Array) -> Array:
    """Return B_v (1 - B_v) / (v b_v) for v > r p.

    B_v / b_v is at most 1 / (1 - b_{v+1} / b_v), as later ratios are smaller; that is taken where B_v is too small.
    """
    wrong = expit(-eps)
    rest = betainc(r - v + 1, np.maximum(v, 1), wrong)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        geometric = 1 / (1 - (r - v) / (v + 1) * np.exp(np.minimum(eps, MAX_EPSILON)))
        log_mass = log_density(r - v, v, wrong - (r - v) / r) - np.log(r + 1)
        ratio = np.exp(np.log(tail) - log_mass)
    ratio = np.where((tail > _TINY) & (ratio >= 1), np.minimum(ratio, geometric), geometric)
    return np.asarray(ratio * rest / np.maximum(v, 1))


def _checked(right: ArrayLike, guesses: ArrayLike, epsilon: ArrayLike) -> tuple[Array, Array, Array]:
    """Return the counts and the epsilons as arrays of one shape, or raise `InputError`."""
    v = whole_numbers("right", right)
    r = whole_numbers("guesses", guesses)
    check_range("guesses", r, 1, MAX_RUNS)
    eps = in_interval("epsilon", epsilon, 0, MAX_EPSILON)
    v, r, eps = broadcast(("right", "guesses", "epsilon"), (v, r, eps))
    check_range("right", v, 0, r)
    return v, r, eps


def _amount(delta_runs: float) -> float:
    return read_number("delta_runs", delta_runs, 0, math.inf, closed=True)
