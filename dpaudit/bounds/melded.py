"""The melded bound: one joint confidence statement on ln((p - delta) / q), without splitting the error.

**Beta densities** with integer parameters are accurate to counts of 1e12. With a, b >= 0 the density of
Beta(a + 1, b + 1) is v^a (1 - v)^b / B(a + 1, b + 1), with mode m = a / (a + b). All is written in the deviation
d = v - m, because ln v and ln(1 - v) themselves would lose the digits that matter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betaincc, gammaln, ndtri

from dpaudit.arguments import CONFIDENCE, read_number
from dpaudit.bounds.base import MAX_EPSILON, Array, Bools, CountArrays, bisect

Tail = Callable[[Array, NDArray[np.intp]], Array]
"""``tail(t, index)``: p-values at parameters t of the events with those indices, shape (len(index),)."""

# Evaluations at most: every third halves after the ninth, so that 90 leave 1e-8 of any bracket.
_MAX_STEPS = 90
# The low end of a bracket where nothing was rejected yet.
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

    A bracketed secant search in all events at once, from guesses `start` with the standard deviations `scale`, shape
    (m,), up to `ceiling`. It ends where the p-value lies in [gamma (1 - tightness), gamma], or the bracket is narrower
    than `resolution` times (1 + t). Every value returned but 0 has been seen to be rejected: where `tail` is an upper
    bound on an increasing p-value, the result is a lower bound on inf{t : p(t) > gamma}.
    """
    low = np.full(len(start), _UNSEEN)
    high = np.full(len(start), ceiling)
    # The next point, 1 / slope of the scores, and the point before with its score.
    t = np.clip(start, 0, np.nextafter(ceiling, 0))
    run = scale.copy()
    before, score_before = np.full((2, len(start)), np.nan)
    level, goal, floor = _score(gamma * np.array([1, 1 - 0.5 * tightness, 1 - tightness]))
    i = np.arange(len(start), dtype=np.intp)
    for step in range(_MAX_STEPS):
        if len(i) == 0:
            break
        now = t[i]
        score = _score(tail(t[i], i))
        rejected = score <= level
        low[i] = np.where(rejected, now, low[i])
        high[i] = np.where(rejected, high[i], now)
        rise = score - score_before[i]
        known = np.abs(rise) > 1e-12
        run[i] = np.where(known, (now - before[i]) / np.where(known, rise, 1), run[i])
        before[i] = now
        score_before[i] = score
        guess = now + (goal - score) * run[i]
        good = (guess > np.maximum(low[i], 0)) & (guess < high[i]) & (step < 9 or step % 3 > 0)
        # Else the middle, and zero first where nothing was rejected yet.
        t[i] = np.where(good, guess, np.where(low[i] < 0, 0, 0.5 * (low[i] + high[i])))
        narrow = (low[i] >= 0) & (high[i] - low[i] <= resolution * (1 + low[i]))
        i = i[~((rejected & (score >= floor)) | narrow | (high[i] <= 0))]
    return np.asarray(np.maximum(low, 0))


def _score(p: Array) -> Array:
    """Return the normal quantile of p: nearly linear in the parameter, so that secants are accurate."""
    return np.asarray(ndtri(np.clip(p, 1e-300, 1 - 1e-16)))


# Depth of the logarithm of a density below its peak at the ends of its window: exp(-44) is 1e-19.
DROP = 44.0

# ln(2 pi) / 2, which Stirling's formula subtracts.
_HALF_LOG_2PI = 0.9189385332046727
# Halvings that find the ends of a window to 1e-10 of it, on the outer side.
_HALVINGS = 34


def mode(a: Array, b: Array) -> Array:
    """Return the mode a / (a + b); 1/2 for the uniform density a = b = 0."""
    total = a + b
    return np.where(total > 0, a / np.maximum(total, 1), 0.5)


def log_fall(a: Array, b: Array, dev: Array) -> Array:
    """Return ln f(m + d) - ln f(m) = a ln(1 + d / m) + b ln(1 - d / (1 - m)) for the mode m of Beta(a + 1, b + 1).

    Deviations `dev` are in [-m, 1 - m]; arrays broadcast.
    """
    total = np.maximum(a + b, 1)
    # Rounding may lead a deviation beyond the end of the unit interval, where the density is 0.
    with np.errstate(divide="ignore", invalid="ignore"):
        left, right = (
            k * np.log1p(np.maximum(d / np.maximum(k, 1), -1)) for k, d in ((a, dev * total), (b, -dev * total))
        )
    return np.asarray(np.where(a > 0, left, 0) + np.where(b > 0, right, 0))


def log_density(a: Array, b: Array, dev: Array) -> Array:
    """Return ln f(m + d) of Beta(a + 1, b + 1); the error is below 2e-9 up to a + b = 1e12 inside the window.

    By Stirling's formula with its correction ln f(m) = ln(n + 1) + ln Pr[Bin(n, a / n) = a], n = a + b.
    """
    n = a + b
    inner = (a > 0) & (b > 0)
    a1, b1, n1 = (np.where(inner, v, 1) for v in (a, b, n))
    at_mode = 0.5 * np.log(n1 / (a1 * b1)) - _HALF_LOG_2PI + _stirling(n1) - _stirling(a1) - _stirling(b1)
    return np.log(n + 1) + np.where(inner, at_mode, 0) + log_fall(a, b, dev)


def window(a: Array, b: Array) -> tuple[Array, Array]:
    """Return deviations (low <= 0 <= high) outside which Beta(a + 1, b + 1) has mass at most 2.0001 exp(-DROP).

    Let the density have fallen by the factor exp(-K) at distance w from the mode. It is log-concave, so between it lies
    above the chord exp(-K t / w), whence peak * w * (1 - exp(-K)) / K <= 1, and beyond it below the same exponential,
    whence the mass beyond is at most peak * exp(-K) * w / K <= exp(-K) / (1 - exp(-K)). The ends are found by
    bisection and lie on the outer side; an end where the density ends first is that end.
    """
    m = mode(a, b)
    ends = np.stack([-m, 1 - m])
    # As `log_fall`, step by step the same: an exponent 0 has no deviation here whose logarithm is not finite.
    total = np.maximum(a + b, 1)
    divisors = np.stack([np.maximum(a, 1), -np.maximum(b, 1)])[:, None]
    exponents = np.stack([a, b])[:, None]

    def fallen(dev: Array) -> Bools:
        logs = dev * total / divisors
        np.log1p(np.maximum(logs, -1, out=logs), out=logs)
        logs *= exponents
        return np.asarray(logs[0] + logs[1] < -DROP)

    with np.errstate(divide="ignore"):
        outer, _ = bisect(ends, np.zeros_like(ends), fallen, _HALVINGS)
    low, high = np.where(log_fall(a, b, ends) >= -DROP, ends, outer)
    return low, high


def _stirling(k: Array) -> Array:
    """Return ln k! - [(k + 1/2) ln k - k + ln(2 pi) / 2] for k >= 1, to about 1e-15."""
    small = np.minimum(k, 16)
    direct = gammaln(small + 1) - (small + 0.5) * np.log(small) + small - _HALF_LOG_2PI
    r = 1 / np.maximum(k, 16)
    r2 = r * r
    series = r * (1 / 12 - r2 * (1 / 360 - r2 * (1 / 1260 - r2 * (1 / 1680 - r2 / 1188))))
    return np.asarray(np.where(k < 16, direct, series))


# By how much p-values are raised: above the error of the tails (measured 3e-8 at 1e12 runs) and of the quadrature.
RELATIVE_ERROR = 1e-7

# Nodes and weights on [-1, 1]: 200 of them change p-values by less than 5e-9 (`tests/oracle`).
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(72)
# More than the window of a density leaves out.
_MISSED = 1e-17


@dataclass(frozen=True)
class _Sides:
    """Exponents, modes and windows of both Beta densities, stacked: they do not depend on the parameter sought."""

    counts: CountArrays
    a: Array
    b: Array
    mode: Array
    low: Array
    high: Array
    spread: Array

    @classmethod
    def of(cls, c: CountArrays) -> _Sides:
        """Return the densities of B1 ~ Beta(x, n1 - x + 1) and B2 ~ Beta(y + 1, n2 - y), rows 0 and 1."""
        a = np.stack([np.maximum(c.x - 1, 0), c.y])
        b = np.stack([c.n1 - c.x, np.maximum(c.n2 - c.y - 1, 0)])
        low, high = window(a, b)
        n = a + b + 2
        return cls(c, a, b, mode(a, b), low, high, np.sqrt((a + 1) * (b + 1) / (n * n * (n + 1))))

    def take(self, i: NDArray[np.intp]) -> _Sides:
        """Return the events with those indices."""
        arrays = (self.a, self.b, self.mode, self.low, self.high, self.spread)
        return _Sides(self.counts.take(i), *(v[:, i] for v in arrays))


@dataclass(frozen=True)
class Melded:
    r"""The melded one-sided confidence bound for one event fixed in advance.

    Counts broadcast against each other; results have their shape. Results err to the safe side: p-values upwards, lower
    bounds downwards. Bounds are never negative, never infinite, and 0 where there is no signal or its sign is wrong.
    `InputError` is raised for bad counts or parameters.

    Let B1 ~ Beta(x, n1 - x + 1) (the point 0 if x = 0) and B2 ~ Beta(y + 1, n2 - y) (the point 1 if y = n2) be
    independent: the distributions whose quantiles are the lower limits for p and the upper limits for q. Then

    .. math:: p(\epsilon, \delta) = \Pr[B_1 \le \delta + e^{\epsilon} B_2], \qquad
              \epsilon_L = \inf\{\epsilon \ge 0 : p(\epsilon, \delta) > \gamma\}.

    At epsilon = delta = 0 it is Fisher's exact one-sided test, whose error is proved to be at most gamma. Elsewhere
    that rests on exact enumeration (`tests/calibration`), not on a proof.

    Notes
    -----
    The integral runs over the narrower of B1 and e^epsilon B2 by Gauss-Legendre quadrature on the window that holds
    all but 1e-18 of its mass, cut where the other factor stops being analytic; the piece beyond has a closed form.
    p-values are raised by a relative 1e-7 and an absolute 1e-17, above every error measured (relative 3e-8 down to
    p = 1e-9 and up to 1e12 runs), so that bounds err downwards.

    References
    ----------
    Fay, Proschan and Brittain (2015), Combining one-sample confidence procedures for inference in the two-sample
    case, Biometrics 71.
    """

    name: ClassVar[str] = "melded"

    def p_value(
        self, x: ArrayLike, n1: ArrayLike, y: ArrayLike, n2: ArrayLike, *, epsilon: ArrayLike, delta: ArrayLike = 0.0
    ) -> Array:
        """Return p-values of H0(epsilon, delta), which a test at level gamma rejects where they are <= gamma."""
        c = CountArrays.of(x, n1, y, n2)
        ratio = np.exp(c.spread("epsilon", epsilon, 0, MAX_EPSILON))
        return self._p_values(c, ratio, c.spread("delta", delta, 0, 1)).reshape(c.shape)

    def epsilon_lower(
        self, x: ArrayLike, n1: ArrayLike, y: ArrayLike, n2: ArrayLike, *, delta: ArrayLike = 0.0, gamma: float
    ) -> Array:
        """Return inf{epsilon : p_value > gamma}, which exceeds ln((p - delta) / q) with probability at most gamma."""
        c = CountArrays.of(x, n1, y, n2)
        level = read_number("gamma", gamma, 0, 1)
        return self._epsilons(c, c.spread("delta", delta, 0, 1), level).reshape(c.shape)

    def _p_values(self, c: CountArrays, ratio: Array, delta: Array) -> Array:
        return _tail(_Sides.of(c), ratio, delta)

    def _epsilons(self, c: CountArrays, delta: Array, gamma: float) -> Array:
        sides = _Sides.of(c)

        def tail(t: Array, i: NDArray[np.intp]) -> Array:
            return _tail(sides.take(i), np.exp(t), delta[i])

        return last_rejected(tail, gamma, *first_guess(c, delta, gamma), MAX_EPSILON)


def epsilon_lower(
    hits: ArrayLike,
    runs: ArrayLike,
    neighbour_hits: ArrayLike,
    neighbour_runs: ArrayLike,
    *,
    delta: ArrayLike = 0.0,
    confidence: float = CONFIDENCE,
) -> float | Array:
    r"""Return a lower confidence bound on epsilon from counts of one event that was fixed before they were seen.

    Let p and q be the probabilities of the event on the data and on its neighbour. With probability at least
    `confidence` over independent runs the bound is at most

    .. math:: \max(0, \ln((p - \delta) / q)),

    and so at most epsilon, if the mechanism is (epsilon, delta)-differentially private. It is `Melded`, which has the
    formula. Of several events, or of both directions of one, each needs its own part of 1 - confidence.

    Parameters
    ----------
    hits, runs : int or array of int
        Runs with the event and all runs on the data; where the event is the likelier one there, the bound is positive.
    neighbour_hits, neighbour_runs : int or array of int
        The same on the neighbour. Counts broadcast against each other.
    delta : float or array, in [0, 1)
        The claimed delta.
    confidence : float, in (0, 1)
        Of each bound by itself.

    Returns
    -------
    float, or array of the counts' shape
        0 where the counts show nothing or the event is likelier on the neighbour; never infinite.

    Raises
    ------
    InputError
        If a count is not a whole number, hits exceed runs, there are no runs or more than 10^12 of them, or a number is
        out of its range.

    References
    ----------
    Fay, Proschan and Brittain (2015), Combining one-sample confidence procedures for inference in the two-sample
    case, Biometrics 71.

    Examples
    --------
    >>> round(epsilon_lower(750, 1000, 250, 1000), 3)
    0.924
    """
    names = ("hits", "runs", "neighbour_hits", "neighbour_runs")
    counts = CountArrays.of(hits, runs, neighbour_hits, neighbour_runs, names=names)
    gamma = 1 - read_number("confidence", confidence, 0, 1)
    found = Melded()._epsilons(counts, counts.spread("delta", delta, 0, 1), gamma).reshape(counts.shape)
    return found if found.ndim else float(found)


def first_guess(c: CountArrays, delta: Array, gamma: float) -> tuple[Array, Array]:
    """Return the normal approximation to the bound on epsilon and its width: where a search starts, never a result."""
    p = (c.x + 0.5) / (c.n1 + 1)
    q = (c.y + 0.5) / (c.n2 + 1)
    # Where the share is hardly above delta, or below it, the logarithm stays finite.
    gain = np.maximum(p - delta, 0.1 * p)
    width = np.sqrt(p * (1 - p) / c.n1 / gain**2 + (1 - q) / (q * c.n2))
    return np.log(gain / q) + ndtri(gamma) * width, width


def _tail(s: _Sides, ratio: Array, delta: Array) -> Array:
    """Return upper bounds on Pr[B1 <= delta + ratio B2], tight to `RELATIVE_ERROR`; shape (m,)."""
    over_first = s.spread[0] <= ratio * s.spread[1]
    p = np.empty(len(ratio))
    for chosen, integral in ((over_first, _over_first), (~over_first, _over_second)):
        if len(i := np.flatnonzero(chosen)):
            p[i] = integral(s.take(i), ratio[i], delta[i])
    certain = (s.counts.x == 0) | (s.counts.y == s.counts.n2)
    return np.where(certain, 1.0, np.minimum(p * (1 + RELATIVE_ERROR) + _MISSED, 1.0))


def _over_first(s: _Sides, ratio: Array, delta: Array) -> Array:
    """Integrate over B1: Pr[B1 <= delta] + E[Pr[B2 >= (B1 - delta) / ratio]; B1 > delta]."""
    c = s.counts
    low = np.maximum(s.low[0], delta - s.mode[0])
    high = s.high[0]
    dev, weight = _nodes(low, high, s.a[0], s.b[0])
    needed = np.clip(((s.mode[0] - delta)[:, None] + dev) / ratio[:, None], 0, 1)
    inner = betaincc((c.y + 1)[:, None], np.maximum(c.n2 - c.y, 1)[:, None], needed)
    return np.asarray(betainc(np.maximum(c.x, 1), c.n1 - c.x + 1, delta) + (weight * inner).sum(axis=1))


def _over_second(s: _Sides, ratio: Array, delta: Array) -> Array:
    """Integrate over B2: E[Pr[B1 <= delta + ratio B2]; B2 <= cut] + Pr[B2 > cut] with delta + ratio cut = 1."""
    c = s.counts
    cut = np.minimum((1 - delta) / ratio, 1)
    low = s.low[1]
    high = np.minimum(s.high[1], cut - s.mode[1])
    dev, weight = _nodes(low, high, s.a[1], s.b[1])
    reach = np.clip(delta[:, None] + ratio[:, None] * (s.mode[1][:, None] + dev), 0, 1)
    inner = betainc(np.maximum(c.x, 1)[:, None], (c.n1 - c.x + 1)[:, None], reach)
    return np.asarray(betaincc(c.y + 1, np.maximum(c.n2 - c.y, 1), cut) + (weight * inner).sum(axis=1))


def _nodes(low: Array, high: Array, a: Array, b: Array) -> tuple[Array, Array]:
    """Return deviations and density-weighted quadrature weights on [low, high], shape (m, nodes); none if empty."""
    half = 0.5 * np.maximum(high - low, 0)
    dev = (low + half)[:, None] + half[:, None] * _NODES
    return dev, half[:, None] * _WEIGHTS * np.exp(log_density(a[:, None], b[:, None], dev))
