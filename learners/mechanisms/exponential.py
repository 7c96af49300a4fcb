"""The exponential mechanism on a finite set with integer scores."""

from __future__ import annotations

import math

import numpy as np

from learners.arrays import Bools, Floats, Integers
from learners.mechanisms.log_laws import ULP

__all__ = ["draw", "limit_logs", "log_law"]


def _log_weights(scores: Integers, rate: float, eligible: Bools | None) -> Floats:
    """Return rate * (score - greatest eligible score), -inf where not eligible; the differences are exact integers."""
    if eligible is None:
        return np.asarray(rate * (scores - scores.max()), dtype=np.float64)
    return np.where(eligible, rate * (scores - scores[eligible].max()), -np.inf)


def log_law(scores: Integers, rate: float, eligible: Bools | None = None) -> tuple[Floats, float]:
    """Return the log-probabilities of the law proportional to exp(rate * score), and a bound on their error.

    With u = 2^-53, x_h = rate * (max score - score_h) and Z = sum exp(-x_h) in [1, K] for K eligible outputs,
    log Pr[h] = -x_h - ln Z. The floating-point -x_h has relative error at most 2u (rounding a gap above 2^53, and the
    product). This moves ln Z by at most 2u sum p_h x_h <= 2u ln K, because sum p_h (x_h + ln Z) is an entropy. An
    exponential good to 4 ulp and a correctly rounded sum add 9u, the logarithm 8u ln K + u, the last subtraction
    u (x_h + ln K). In all at most u (3 x_max + 11 ln K + 10); the bound returned is 2^-52 (2 x_max + 6 ln K + 8).

    Parameters
    ----------
    scores : array of int64, shape (K,)
        Any size; only differences matter, so scores near 1e12 lose nothing.
    rate : float
        The inverse temperature: epsilon / 2 makes scores of sensitivity 1 epsilon-differentially private.
    eligible : array of bool, shape (K,), optional
        Which outputs may be returned; at least one.
    """
    logs = _log_weights(scores, rate, eligible)
    total = math.log(math.fsum(np.exp(logs)))
    finite = logs[np.isfinite(logs)]
    error = ULP * (2 * float(-finite.min()) + 6 * math.log(len(finite)) + 8)
    return logs - total, error


def limit_logs(
    scores: Integers, direction: Integers, rate: float, log_measure: Floats | None = None
) -> tuple[Floats, float]:
    """Return the logarithms of the law with scores `scores + t direction` as t grows, up to terms free of `scores`.

    Let M be the codes whose direction is greatest. The normaliser is exp(rate t max direction) times the sum over M of
    mu(g) exp(rate scores(g)), but for a share that vanishes. Left out is rate t (direction(h) - max direction), the
    same for every base of the ray. The bound on the error is that of `log_law`.

    Parameters
    ----------
    scores, direction : array of int64, shape (K,)
        The scores on the base of the ray, and on the examples that are added t times.
    rate : float
        The inverse temperature.
    log_measure : array of float64, shape (K,), optional
        ln mu; zeros by default.
    """
    base = np.zeros(len(scores)) if log_measure is None else log_measure
    ahead = direction == direction.max()
    best = scores[ahead].max()
    logs = rate * (scores - best) + base
    total = math.log(math.fsum(np.exp(logs[ahead])))
    spread, width = rate * float(np.abs(scores - best).max()), float(np.abs(base).max())
    return logs - total, ULP * (8 * spread + 16 * width + 8 * math.log(len(logs)) + 16)


def draw(scores: Integers, rate: float, rng: np.random.Generator, size: int, eligible: Bools | None = None) -> Integers:
    """Return `size` independent draws (size,) from the law proportional to exp(rate * score), by inversion."""
    cumulative = np.cumsum(np.exp(_log_weights(scores, rate, eligible)))
    # The first index whose cumulative weight reaches the total: a uniform number that rounds up to 1 lands there.
    last = int(np.searchsorted(cumulative, cumulative[-1]))
    drawn = np.searchsorted(cumulative, rng.random(size) * cumulative[-1], side="right")
    return np.asarray(np.minimum(drawn, last), dtype=np.int64)
