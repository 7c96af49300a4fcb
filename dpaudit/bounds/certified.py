"""Certified suprema: the probability of a region of outcomes, bounded over every value of the nuisance parameter."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincc, betainccinv, betaincinv, ndtri

from dpaudit.bounds.beta_density import log_density, mode

__all__ = ["Region"]

Array = NDArray[np.float64]

_RAISED = 1 + 1e-7
_FIRST_CELLS = 16
_MOST_PIECES = 16
_LEVELS = 12
_ROWS = 64


@dataclass(frozen=True)
class Region:
    """The outcomes at least as extreme as (x, y), {(x', y') : x' >= least[y']}, and what y says of q.

    Attributes
    ----------
    ys, least : array, shape (m,)
        Ascending y', and the least x' in the region (n1 + 1 where none is); `least` ascends too.
    n1, y, n2 : float
        Runs on the first side, hits and runs on the second.
    q_low, q_high : float
        Values of q outside this interval count for `outside` at most.
    outside : float
        The sup of tau(q) / theta there.
    reach : float
        How many standard deviations of Y are summed on either side; the rest is bounded.
    theta : float
        The part of the error that pays for disregarding implausible q.
    tolerance : float
        By what fraction a supremum may be exceeded.
    """

    ys: Array
    least: Array
    n1: float
    y: float
    n2: float
    q_low: float
    q_high: float
    outside: float
    reach: float
    theta: float
    tolerance: float

    @classmethod
    def of(
        cls,
        n1: float,
        y: float,
        n2: float,
        boundary: Callable[[Array], Array],
        *,
        theta: float,
        tolerance: float,
        floor: float,
    ) -> Region:
        """Return the region above a boundary, on all y' that matter.

        `boundary` maps ascending y' to the least x' in the region; below the p-value `floor` no precision is needed.
        """
        tail = 0.5 * theta * floor
        q_low = 0.0 if y == 0 else float(betaincinv(y, n2 - y + 1, tail))
        q_high = 1.0 if y == n2 else float(betainccinv(y + 1, n2 - y, tail))
        below = 0.0 if y == 0 else float(betainc(y, n2 - y + 1, q_low))
        above = 0.0 if y == n2 else float(betaincc(y + 1, n2 - y, q_high))
        reach = -float(ndtri(1e-4 * floor))
        first, last = _span(n2, q_low, q_high, reach)
        ys = np.arange(first, last + 1, dtype=np.float64)
        outside = 2 * _RAISED * max(below, above) / theta
        return cls(ys, boundary(ys), n1, y, n2, q_low, q_high, outside, reach, theta, tolerance)

    def probability(self, p: Array, q: Array) -> Array:
        """Return upper bounds on Pr[(X, Y) in the region], X ~ Bin(n1, p), Y ~ Bin(n2, q), tight to 1e-7; shape (m,).

        q ascends. Mass of Y below the y' that are summed counts in full, mass above them as if Y were the last of them.
        """
        chance = np.empty(len(q))
        for i in range(0, len(q), _ROWS):
            rows = slice(i, i + _ROWS)
            first, last = _span(self.n2, float(q[rows][0]), float(q[rows][-1]), self.reach)
            some = slice(*np.searchsorted(self.ys, [first, last + 1]))
            chance[rows] = self._summed(self.ys[some], self.least[some], p[rows, None], q[rows, None])
        return np.minimum(chance * _RAISED, 1.0)

    def _summed(self, ys: Array, least: Array, p: Array, q: Array) -> Array:
        """Return sum over y' of Pr[Y = y'] Pr[X >= least(y')], with what lies outside `ys` bounded."""
        a, b = ys, self.n2 - ys
        weight = np.exp(log_density(a, b, q - mode(a, b))) / (self.n2 + 1)
        inner = betainc(np.maximum(least, 1), np.maximum(self.n1 - least + 1, 1), p)
        inner = np.where(least <= 0, 1.0, np.where(least > self.n1, 0.0, inner))
        first, last = ys[0], ys[-1]
        before = betaincc(first, self.n2 - first + 1, q[:, 0]) if first > 0 else 0.0
        after = betainc(last + 1, self.n2 - last, q[:, 0]) if last < self.n2 else 0.0
        return np.asarray((weight * inner).sum(axis=1) + before + after * inner[:, -1])

    def p_value(self, ratio: float, delta: float) -> float:
        """Bound sup over q of min(Pr[R] / (1 - theta), tau(q) / theta) from above, at p = min(1, ratio q + delta)."""
        seen = top = self.outside
        a, b = self._first_cells(min((1 - delta) / ratio, 1.0))
        for _ in range(_LEVELS):
            upper, lower = self._enclose(a, b, ratio, delta)
            seen = max(seen, float(lower.max()))
            enough = seen * (1 + self.tolerance)
            open_ = upper > enough
            top = max(top, float(upper[~open_].max(initial=0)))
            if not open_.any():
                return min(top, 1.0)
            a, b = _divide(a[open_], b[open_], upper[open_], lower[open_], enough)
        return min(max(top, float(upper.max())), 1.0)

    def _first_cells(self, cut: float) -> tuple[Array, Array]:
        """Return the ends of first cells, even in arcsin sqrt q; where p reaches 1 the supremum is at the left end."""
        ends = np.arcsin(np.sqrt([self.q_low, self.q_high]))
        edges = np.sin(np.linspace(ends[0], ends[1], _FIRST_CELLS + 1)) ** 2
        edges[0], edges[-1] = self.q_low, self.q_high
        edges = np.unique(np.append(edges, np.clip(cut, self.q_low, self.q_high)))
        return edges[:-1], edges[1:]

    def _enclose(self, a: Array, b: Array, ratio: float, delta: float) -> tuple[Array, Array]:
        """Return upper bounds on the supremum over each cell, and the values at its left end (but for rounding)."""
        upper = self.probability(np.minimum(ratio * b + delta, 1), a)
        lower = self.probability(np.minimum(ratio * a + delta, 1), a)
        at_most, at_least = self._tails(a), self._tails(b)
        cell = np.minimum(at_most[0], at_least[1])
        point = np.minimum(at_most[0], at_most[1])
        return self._joined(upper, cell), self._joined(lower, point)

    def _joined(self, chance: Array, tail: Array) -> Array:
        return np.minimum(chance / (1 - self.theta), 2 * _RAISED * tail / self.theta)

    def _tails(self, q: Array) -> tuple[Array, Array]:
        """Return Pr[Bin(n2, q) <= y], which falls in q, and Pr[Bin(n2, q) >= y], which rises."""
        y, n2 = self.y, self.n2
        at_most = np.ones_like(q) if y == n2 else betaincc(y + 1, n2 - y, q)
        at_least = np.ones_like(q) if y == 0 else betainc(y, n2 - y + 1, q)
        return at_most, at_least


def _span(n: float, q_low: float, q_high: float, reach: float) -> tuple[float, float]:
    """Return the ends of the values that Bin(n, q) takes within `reach` standard deviations, q in [q_low, q_high]."""
    first = math.floor(n * q_low - reach * math.sqrt(n * q_low * (1 - q_low)) - 1)
    last = math.ceil(n * q_high + reach * math.sqrt(n * q_high * (1 - q_high)) + reach * reach / 3 + 1)
    return float(max(first, 0)), float(min(last, n))


def _divide(
    a: Array,
    b: Array,
    upper: Array,
    lower: Array,
    enough: float,
) -> tuple[Array, Array]:
    """Return the cells, each cut into as many pieces as should bring its upper bound down to `enough`."""
    with np.errstate(divide="ignore", invalid="ignore"):
        wanted = np.log(upper / lower) / np.log(enough / lower)
    wanted = np.where(np.isfinite(wanted), wanted, _MOST_PIECES)
    pieces = np.clip(np.ceil(wanted), 2, _MOST_PIECES).astype(np.intp)
    parent = np.repeat(np.arange(len(a)), pieces)
    rank = np.arange(len(parent)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    edge = a[parent] + (b - a)[parent] * (rank / pieces[parent])
    after = np.where(rank + 1 == pieces[parent], b[parent], np.append(edge[1:], 0))
    return edge, after
