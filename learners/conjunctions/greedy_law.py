"""The exact output law of the greedy conjunction learner."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from dpaudit.contract import Sample
from learners.arrays import Bools, Floats, Integers
from learners.conjunctions.concepts import contradicted
from learners.mechanisms.log_laws import ULP

__all__ = ["LAW_DIMENSION", "log_law"]


LAW_DIMENSION = 5
"""The largest number of variables for which all 4^d sets of literals are listed."""


def log_law(
    sample: Sample,
    dimension: int,
    k: int,
    rounds: int,
    rate: float,
    eligible: Callable[[Integers], Bools],
    *,
    idle: bool,
) -> tuple[Floats, float]:
    """Return the log-probabilities of all 4^d sets of chosen literals, and a bound on their error.

    What remains depends on the set M of literals chosen so far, not on their order, so the sum over all sequences of J
    candidates is a chain over sets: with p_M(l) the law of one round,

        P_0 = 1[M empty],    P_{j+1}(M) = P_j(M) (p_M(none) + sum_{l in M} p_M(l)) + sum_{l in M} P_j(M - l) p_{M-l}(l).

    Error: a log-probability of a round errs by at most 2^-52 (2 x + 6 ln K + 8), x the greatest exponent and K the
    number of candidates (see `mechanisms.exponential.log_law`). A path adds J of these; each of the at most 4 d + 2
    additions and joinings of a round rounds by 2^-52 (4 + V) at most, V = J (x + ln K) bounding the size of any entry,
    and joining never enlarges the errors of its two arguments.

    Parameters
    ----------
    sample : Sample
        Points (m, d), labels and counts.
    k, rounds, rate : int, int, float
        The number k of literals of the target, J, and the inverse temperature for the integers k q.
    eligible : callable
        Maps scores (.., K) to which candidates may be chosen.
    idle : bool
        Whether "no literal" is a candidate, the last one.
    """
    scores = _scores(sample, dimension, k, idle)
    allowed = eligible(scores)
    steps, largest = _log_steps(scores, allowed, rate)
    size = rounds * (largest + math.log(scores.shape[1]))
    each = ULP * (2 * largest + 6 * math.log(scores.shape[1]) + 8)
    error = rounds * (each + ULP * (4 * dimension + 2) * (4 + size))
    logs = np.full(len(scores), -np.inf)
    logs[0] = 0.0
    moves = _moves(dimension)
    for _ in range(rounds):
        logs = _next(logs, steps, moves, idle)
    return logs, error


@lru_cache(maxsize=8)
def _members(dimension: int) -> Bools:
    """Return which literals (columns) are in which set (rows, the mask being the row number)."""
    masks = np.arange(4**dimension)
    return np.asarray(masks[:, None] >> np.arange(2 * dimension) & 1, dtype=np.bool_)


@lru_cache(maxsize=8)
def _moves(dimension: int) -> list[tuple[Integers, Integers]]:
    """Return for each literal the sets that it is in, and the same sets without it."""
    members = _members(dimension)
    inside = [np.flatnonzero(members[:, literal]) for literal in range(2 * dimension)]
    return [(masks, masks ^ 1 << literal) for literal, masks in enumerate(inside)]


def _scores(sample: Sample, dimension: int, k: int, idle: bool) -> Integers:
    """Return k q of every candidate (columns) when the literals of a set (rows) have been chosen."""
    refuted = contradicted(sample.points).astype(np.int64)
    left = (_members(dimension).astype(np.int64) @ refuted.T) == 0
    negative = left * np.where(sample.labels == 0, sample.counts, 0)
    positive = left * np.where(sample.labels == 1, sample.counts, 0)
    total = negative.sum(axis=1)
    scores = np.minimum(k * (negative @ refuted) - total[:, None], -k * (positive @ refuted))
    return np.concatenate([scores, -total[:, None]], axis=1) if idle else scores


def _log_steps(scores: Integers, allowed: Bools, rate: float) -> tuple[Floats, float]:
    """Return ln p_M(candidate) for every set M, and the greatest exponent."""
    top = np.where(allowed, scores, np.iinfo(np.int64).min).max(axis=1, keepdims=True)
    exponents = np.where(allowed, rate * (top - scores), np.inf)
    totals = np.log(np.exp(-exponents).sum(axis=1, keepdims=True))
    return -exponents - totals, float(exponents[allowed].max())


def _next(logs: Floats, steps: Floats, moves: list[tuple[Integers, Integers]], idle: bool) -> Floats:
    """Return the law of the chosen set after one more round."""
    grown = logs + steps[:, -1] if idle else np.full(len(logs), -np.inf)
    for literal, (inside, without) in enumerate(moves):
        stay, come = logs[inside] + steps[inside, literal], logs[without] + steps[without, literal]
        grown[inside] = np.logaddexp(grown[inside], np.logaddexp(stay, come))
    return grown
