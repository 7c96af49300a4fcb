"""From p-values to confidence bounds: the largest parameter that a test still rejects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

__all__ = ["Tail", "last_rejected"]

Array = NDArray[np.float64]

Tail = Callable[[Array, NDArray[np.intp]], Array]
"""``tail(t, index)``: p-values at parameters t of the events with those indices, shape (len(index),)."""

_MAX_STEPS = 90
_UNSEEN = -1.0


def last_rejected(
    tail: Tail,
    gamma: float,
    start: Array,
    scale: Array,
    ceiling: float,
    *,
    tightness: float = 1e-5,
    resolution: float = 1e-12,
) -> Array:
    """Return for each event a parameter t >= 0 with tail(t) <= gamma, as large as can be found; 0 if there is none.

    The result errs to the small side only: every value returned but 0 has been seen to be rejected. So where `tail`
    is an upper bound on an increasing p-value, the result is a lower bound on inf{t : p(t) > gamma}.

    Parameters
    ----------
    tail : callable
        See `Tail`.
    gamma : float
        The level.
    start, scale : array, shape (m,)
        First guesses and the standard deviations of the estimates behind them; the better, the fewer steps.
    ceiling : float
        No parameter above it is tried.
    tightness : float
        The search ends when the p-value of the result lies in [gamma (1 - tightness), gamma].
    resolution : float
        It also ends when the bracket is narrower than this times (1 + t).
    """
    search = _Search.begin(start, scale, ceiling)
    marks = _score(gamma * np.array([1, 1 - 0.5 * tightness, 1 - tightness]))
    live = np.arange(len(start), dtype=np.intp)
    for step in range(_MAX_STEPS):
        if len(live) == 0:
            break
        value = _score(tail(search.t[live], live))
        live = live[~search.advance(live, value, marks, resolution, step)]
    return np.maximum(search.low, 0)


@dataclass
class _Search:
    """A bracketed secant search in every event: the bracket, the next point, the point before and 1 / slope."""

    low: Array
    high: Array
    t: Array
    run: Array
    before: Array
    score_before: Array

    @classmethod
    def begin(cls, start: Array, scale: Array, ceiling: float) -> _Search:
        """Return the search before its first evaluation: nothing is known to be rejected."""
        unknown = np.full(len(start), np.nan)
        low, high = np.full(len(start), _UNSEEN), np.full(len(start), ceiling)
        return cls(low, high, np.clip(start, 0, np.nextafter(ceiling, 0)), scale.copy(), unknown, unknown.copy())

    def advance(
        self, i: NDArray[np.intp], score: Array, marks: Array, resolution: float, step: int
    ) -> NDArray[np.bool_]:
        """Take in the scores found at the events i, choose their next points, and say which are finished."""
        level, goal, floor = marks
        now = self.t[i]
        rejected = score <= level
        low = np.where(rejected, now, self.low[i])
        high = np.where(rejected, self.high[i], now)
        rise = score - self.score_before[i]
        known = np.abs(rise) > 1e-12
        run = np.where(known, (now - self.before[i]) / np.where(known, rise, 1), self.run[i])
        self.low[i], self.high[i], self.run[i] = low, high, run
        self.before[i], self.score_before[i] = now, score
        self.t[i] = _inside(now + (goal - score) * run, low, high, halve=step >= 9 and step % 3 == 0)
        narrow = (low >= 0) & (high - low <= resolution * (1 + low))
        return np.asarray((rejected & (score >= floor)) | narrow | (high <= 0))


def _score(p: Array) -> Array:
    """Return the normal quantile of p: nearly linear in the parameter, so that secants are accurate."""
    return np.asarray(ndtri(np.clip(p, 1e-300, 1 - 1e-16)))


def _inside(guess: Array, low: Array, high: Array, *, halve: bool) -> Array:
    """Return the guess if it lies in the bracket, else its middle; zero first where nothing was rejected yet."""
    fallback = np.where(low < 0, 0, 0.5 * (low + high))
    good = (guess > np.maximum(low, 0)) & (guess < high)
    return np.where(good & (not halve), guess, fallback)
