"""Bound the whole privacy curve of a pair at once: nested events, simultaneous limits, and what follows from them.

Thresholds are fixed on training runs; fresh runs count the nested events; every number read off the curve
afterwards, at as many epsilons, deltas or error rates as one likes, holds on the one event that all limits
hold.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtrik, ndtri

from dpaudit.arguments import read_number
from dpaudit.bounds.base import Array, CountArrays, Integers
from dpaudit.bounds.limits import upper_limit
from dpaudit.errors import InputError
from dpaudit.record import Amount, Frozen, Level, Share, Size


def lower_hull(x: Array, y: Array) -> Integers:
    """Return which points are corners of the greatest convex function that is nowhere above the points.

    Parameters
    ----------
    x, y : array of float64, shape (m,)
        The coordinates, m >= 1, in lexicographic order: of points with one x only the first, lowest one counts.

    Returns
    -------
    array of int64, shape (k,)
        Ascending indices, from the first point to the lowest of those with the greatest x. Slopes between successive
        corners increase strictly.
    """
    corners: list[int] = []
    for i in range(len(x)):
        if corners and x[i] == x[corners[-1]]:
            continue
        while len(corners) > 1:
            a, b = corners[-2:]
            if (y[b] - y[a]) * (x[i] - x[b]) < (y[i] - y[b]) * (x[b] - x[a]):
                break
            corners.pop()
        corners.append(i)
    return np.array(corners, dtype=np.int64)


# Events that share the curve's error: a Berk-Jones band over all events was no tighter than the limits of 32 at 10,000
# runs a side.
DEFAULT_THRESHOLDS = 32
# Training runs in the smallest event that is worth a threshold: the limits of 20 hits err by more than half.
LEAST_TAIL = 20


def choose_thresholds(data: ArrayLike, neighbour: ArrayLike, thresholds: int = DEFAULT_THRESHOLDS) -> NDArray[np.intp]:
    """Return which nested events to count, as ascending numbers of leading atoms, chosen on training runs.

    Half of the events have training false positive rates spaced logarithmically from 20 / n to 1/2, the
    others false negative rates spaced likewise, so that both ends of the trade-off are seen. Event i holds
    the first ``result[i]`` atoms; fewer than `thresholds` are returned where atoms are few.

    Parameters
    ----------
    data, neighbour : array of int, shape (m,)
        Training runs in each atom, atoms ordered from the likeliest to be data's to the likeliest to be
        neighbour's.
    thresholds : int
        How many events at most, at least 2.
    """
    left = np.asarray(data, dtype=np.int64)
    right = np.asarray(neighbour, dtype=np.int64)
    if len(left) - 1 <= thresholds:
        return np.arange(1, len(left))
    # Prefixes that hold everything or nothing are no tests.
    false_positives = np.cumsum(right)[:-1] / right.sum()
    false_negatives = 1 - np.cumsum(left)[:-1] / left.sum()
    half = (thresholds - 1) // 2
    by_positive = _nearest_rates(false_positives, thresholds - 1 - half, int(right.sum()))
    by_negative = _nearest_rates(false_negatives[::-1], half, int(left.sum()))
    # Where the sides differ most, delta(0) is read off.
    widest = [int(np.argmax(1 - false_negatives - false_positives))]
    return np.unique(np.concatenate([by_positive, len(left) - 2 - by_negative, widest])) + 1


def _nearest_rates(ascending: Array, number: int, runs: int) -> NDArray[np.intp]:
    """Return the indices of the ascending rates that are nearest to so many ones of logarithmic distances."""
    goals = np.geomspace(min(LEAST_TAIL / runs, 0.5), 0.5, number)
    above = np.clip(np.searchsorted(ascending, goals), 1, len(ascending) - 1)
    return np.where(goals - ascending[above - 1] <= ascending[above] - goals, above - 1, above)


# A few units in the last place, by which values are moved to the side that keeps them valid.
_SLACK = 1e-15
# Its exponential is still a float.
_MAX_EXPONENT = 700.0


class Curve(Frozen, frozen=True):
    r"""Simultaneous upper limits on both error rates of K nested tests of "neighbour" against "data".

    With P and Q the output laws on data and neighbour and S_i the i-th event, with probability at least 1 -
    gamma

    .. math:: Q(S_i) \le a_i \quad\text{and}\quad 1 - P(S_i) \le b_i \quad\text{for all } i .

    Everything below follows from these 2K inequalities alone, so it holds simultaneously at level 1 - gamma.
    The other direction is free: the complement of S_i has P at most b_i and Q at least 1 - a_i.

    Attributes
    ----------
    false_positive_upper : tuple of K floats
        a_i, in (0, 1].
    false_negative_upper : tuple of K floats
        b_i, in (0, 1].
    gamma : float
        The error of all statements together.
    trials, neighbour_trials : int
        Fresh runs on data and on neighbour.
    mu_lower : float
        The bound mu_L on the parameter of Gaussian differential privacy; 0 shows nothing.

    Notes
    -----
    Values are moved by a few units in the last place to the side that keeps them valid.

    .. math:: \mu_L = \max\{0, \max_i (\Phi^{-1}(1 - a_i) - \Phi^{-1}(b_i))\}

    mu-GDP says Phi^{-1}(1 - Q(S)) - Phi^{-1}(1 - P(S)) <= mu for every S. The expression is signed: a score that points
    the wrong way makes it negative, and its absolute value would mean nothing. Turning mu_L into epsilon(delta)
    *assumes* that the true trade-off is Gaussian; `epsilon_lower` assumes nothing.
    """

    false_positive_upper: tuple[Share, ...]
    false_negative_upper: tuple[Share, ...]
    gamma: Level
    trials: Size
    neighbour_trials: Size
    mu_lower: Amount

    def __post_init__(self) -> None:
        a, b = self._limits
        if a.shape != b.shape or a.size == 0:
            raise InputError(f"limits must be K >= 1 numbers each, got {a.size} and {b.size}", parameter="limits")
        if not bool(((a > 0) & (a <= 1) & (b > 0) & (b <= 1)).all()):
            raise InputError(
                f"limits must be in (0, 1], got {a.tolist()!r:.100} and {b.tolist()!r:.100}", parameter="limits"
            )
        read_number("gamma", self.gamma, 0, 1)
        if not abs(self.mu_lower - _mu_lower(a, b)) <= 1e-9:
            raise InputError.of("mu_lower", self.mu_lower, f"what follows from the limits, {_mu_lower(a, b)}")

    @property
    def _limits(self) -> tuple[Array, Array]:
        return np.asarray(self.false_positive_upper, np.float64), np.asarray(self.false_negative_upper, np.float64)

    def delta_lower(self, epsilon: ArrayLike) -> Array:
        r"""Return lower bounds on delta(epsilon), the greater of both directions' hockey-stick divergences.

        .. math:: \delta_L(\epsilon) =
                  \max_i \max\{1 - b_i - e^\epsilon a_i,\; 1 - a_i - e^\epsilon b_i,\; 0\}

        Parameters
        ----------
        epsilon : array
            Finite, >= 0; any shape, which the result has.
        """
        ratio = np.exp(np.minimum(_within("epsilon", epsilon, np.inf), _MAX_EXPONENT))[..., None]
        a, b = self._limits
        gain = np.maximum(1 - b - ratio * a, 1 - a - ratio * b)
        return np.asarray(np.maximum(gain.max(axis=-1) - _SLACK, 0.0))

    def epsilon_lower(self, delta: ArrayLike = 0.0) -> Array:
        r"""Return lower bounds on the least epsilon with which the pair is (epsilon, delta)-close both ways.

        .. math:: \epsilon_L(\delta) = \max_i \max\left\{\ln \frac{1 - b_i - \delta}{a_i},\;
                  \ln \frac{1 - a_i - \delta}{b_i},\; 0\right\}

        Parameters
        ----------
        delta : array
            In [0, 1); any shape, which the result has.
        """
        room = _within("delta", delta, 1.0)[..., None]
        a, b = self._limits
        ratio = np.maximum((1 - b - room - _SLACK) / a, (1 - a - room - _SLACK) / b).max(axis=-1)
        return np.asarray(np.maximum(np.log(np.maximum(ratio, 1.0)) * (1 - _SLACK) - _SLACK, 0.0))

    def trade_off_upper(self, alpha: ArrayLike, *, reverse: bool = False) -> Array:
        """Return upper bounds on the least false negative rate at a false positive rate alpha.

        The trade-off function T is convex and not increasing, T(0) <= 1, T(1) = 0 and T(a_i) <= T(Q(S_i)) <=
        b_i, so the lower convex hull of (0, 1), (a_i, b_i) and (1, 0) lies above it.

        Parameters
        ----------
        alpha : array
            In [0, 1]; any shape, which the result has.
        reverse : bool
            Swap the roles of the sides: tests of "data" against "neighbour".
        """
        rate = np.asarray(alpha, dtype=np.float64)
        if not bool(((rate >= 0) & (rate <= 1)).all()):
            raise InputError.of("alpha", alpha, "in [0, 1]")
        corners = self.hull(reverse=reverse)
        return np.minimum(np.interp(rate, corners[:, 0], corners[:, 1]) * (1 + 4 * _SLACK), 1.0)

    def hull(self, *, reverse: bool = False) -> Array:
        """Return the corners (m, 2) of the lower convex hull, from (0, 1) to (1, 0)."""
        a, b = self._limits
        points = np.column_stack([b, a] if reverse else [a, b])
        points = np.vstack([[[0.0, 1.0]], points, [[1.0, 0.0]]])
        points = points[np.lexsort((points[:, 1], points[:, 0]))]
        return np.asarray(points[lower_hull(points[:, 0], points[:, 1])])


def fit_curve(hits: ArrayLike, trials: int, neighbour_hits: ArrayLike, neighbour_trials: int, gamma: float) -> Curve:
    r"""Return the curve from fresh counts of K nested events, by Clopper-Pearson limits at gamma / (2K).

    a_i solves Pr[Bin(n', a) <= y_i] = gamma / (2K) with y_i the neighbour's hits, b_i solves Pr[Bin(n, b) <=
    n - x_i] = gamma / (2K) with x_i the data's hits; the union bound over the 2K limits gives the level.

    Parameters
    ----------
    hits, neighbour_hits : array of int, shape (K,)
        Fresh runs on data and on neighbour in each event; not descending, as events are nested.
    trials, neighbour_trials : int
        Fresh runs made on each side.
    gamma : float
        The error of the whole curve, in (0, 1).

    Raises
    ------
    InputError
        If counts are not whole, exceed the runs, descend, or are of different lengths.
    """
    level = read_number("gamma", gamma, 0, 1)
    counts = CountArrays.of(hits, trials, neighbour_hits, neighbour_trials)
    shapes = np.shape(hits), np.shape(neighbour_hits)
    if shapes[0] != shapes[1] or len(shapes[0]) != 1 or shapes[0][0] == 0:
        raise InputError(
            f"hits and neighbour_hits must be K >= 1 counts each, got shapes {shapes[0]} and {shapes[1]}",
            parameter="hits",
        )
    for name, values in (("hits", counts.x), ("neighbour_hits", counts.y)):
        if (np.diff(values) < 0).any():
            raise InputError(
                f"{name} must not descend, as the events are nested; got {values.tolist()!r:.200}", parameter=name
            )
    each = level / (2 * len(counts.x))
    a = upper_limit(counts.y, counts.n2, each)
    b = upper_limit(counts.n1 - counts.x, counts.n1, each)
    runs = int(trials), int(neighbour_trials)
    return Curve(tuple(a.tolist()), tuple(b.tolist()), level, *runs, _mu_lower(a, b))


def counts_of(curve: Curve) -> tuple[Array, Array]:
    """Return the counts that give the limits of a curve, which say as much: hits, and hits on the neighbour.

    A limit grows with its count, so at most one whole number gives it; `fit_curve` shows whether that one does.
    """
    a, b = curve._limits
    each = curve.gamma / (2 * a.size)
    runs = (curve.neighbour_trials, curve.trials)
    below, missed = (
        np.where(limit < 1, np.clip(np.rint(bdtrik(each, n, np.minimum(limit, 1 - 1e-16))), 0, n), n)
        for limit, n in zip((a, b), runs, strict=True)
    )
    return curve.trials - missed, below


def _mu_lower(a: Array, b: Array) -> float:
    return max(0.0, float((-ndtri(a) - ndtri(b)).max()) - 1e-12)


def _within(name: str, value: ArrayLike, high: float) -> Array:
    array = np.asarray(value, dtype=np.float64)
    if not bool(((array >= 0) & (array < high)).all()):
        raise InputError.of(name, value, f"in [0, {high:g})")
    return array


def claimed_delta(epsilon: float, claim_epsilon: float, claim_delta: float) -> float:
    r"""Return the largest delta at `epsilon` that a mechanism which keeps the claim can have.

    A claim of (e, d) bounds the trade-off of errors by f(x) = max(0, 1 - d - exp(e) x, exp(-e) (1 - d - x)), and
    delta(epsilon) = sup_x 1 - f(x) - exp(epsilon) x. Below e the supremum is at the kink x = (1 - d) / (1 + exp(e)):

    .. math:: \delta(\varepsilon) = 1 - (1 - d) \frac{1 + e^{\varepsilon}}{1 + e^{e}},

    and from e on it is d. Source: Kairouz, Oh, Viswanath, "The composition theorem for differential privacy" (2015).
    """
    if epsilon >= claim_epsilon:
        return claim_delta
    # Divided by exp(claim_epsilon): a claim of any size must not overflow.
    ratio = (math.exp(-claim_epsilon) + math.exp(epsilon - claim_epsilon)) / (math.exp(-claim_epsilon) + 1)
    return 1 - (1 - claim_delta) * ratio
