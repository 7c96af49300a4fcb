"""The certified exact unconditional bound: proved for every n1, n2, p and q, whatever the counts.

**Order of outcomes.** Outcomes (x, y) are ordered as evidence by the likelihood-ratio lower limit for
ln((p - delta) / q). Write g(q) = min(1, exp(t) q + delta). The deviance of the hypothesis p <= g(q) is

    L_t(x, y) = min over p <= g(q) of n1 KL(x / n1, p) + n2 KL(y / n2, q),

0 where x / n1 <= g(y / n2). It rises in x and falls in y: by the envelope theorem its derivatives are
logit(p^) - logit(p~) >= 0 and logit(q^) - logit(q~) <= 0, since the constrained optimum (p~, q~) has p~ <= p^ and
q~ >= q^ for the estimates p^ = x / n1 and q^ = y / n2. It falls in t, as the hypotheses are nested. So the lower limit
T(x, y) = sup{t : L_t(x, y) >= h}, for a fixed height h, rises in x and falls in y, and

    {(x', y') : T(x', y') >= t} = {(x', y') : L_t(x', y') >= h},

which is what makes regions cheap and their probabilities monotone in p and in q.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincc, betainccinv, betaincinv, ndtri

from dpaudit.bounds import UNCONDITIONAL_RUNS
from dpaudit.bounds.base import Bound, CountArrays
from dpaudit.bounds.melded import Melded, first_guess, last_rejected, log_density, mode
from dpaudit.errors import InputError

Array = NDArray[np.float64]

_RAISED = 1 + 1e-7
"""The factor that covers the error of the tail probabilities, measured at 3e-9."""
_FIRST_CELLS, _MOST_PIECES, _LEVELS = 16, 16, 12
"""Cells at first, the most pieces that one is cut into, and how often cells are cut: what is then still too wide counts
at its upper end, so that none of them affects validity."""
_ROWS = 64
"""Values of q whose sums are made together: neighbouring ones need nearly the same y'."""


@dataclass(frozen=True)
class Region:
    """The outcomes at least as extreme as (x, y), {(x', y') : x' >= least[y']}, and what y says of q.

    `ys` are ascending y', and `least` the least x' in the region (n1 + 1 where none is), which ascends too; both of
    shape (m,). Values of q outside of [q_low, q_high] count for `outside` at most, the sup of tau(q) / theta there,
    where theta is the part of the error that pays for disregarding them. `reach` is how many standard deviations of Y
    are summed on either side (the rest is bounded), and `tolerance` by what fraction a supremum may be exceeded.
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


def _divide(a: Array, b: Array, upper: Array, lower: Array, enough: float) -> tuple[Array, Array]:
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


SLACK = 1e-9
"""Regions are taken this much larger in deviance than they are, above its rounding error."""

_NEWTON_STEPS = 40
"""Newton steps at most; the bracket is halved where one leaves it."""
_FAR = 600.0
"""A limit below minus this is none: exp of it is no longer a number apart from 0."""


def deviance(x: Array, n1: float, y: Array, n2: float, ratio: float, delta: float) -> Array:
    """Return L_t(x, y) for ratio = exp(t), never below its true value but for rounding; x and y of one shape."""
    p_hat, q_hat = x / n1, y / n2
    with np.errstate(over="ignore"):
        top = np.minimum((p_hat - delta) / ratio, 1.0)
    against = top > q_hat
    low, high = q_hat, np.where(against, top, q_hat)
    q = 0.5 * (low + high)
    for _ in range(_NEWTON_STEPS):
        p = ratio * q + delta
        value = n1 * ratio * (p_hat - p) * q * (1 - q) + n2 * (q_hat - q) * p * (1 - p)
        slope = n1 * ratio * ((p_hat - p) * (1 - 2 * q) - ratio * q * (1 - q)) + n2 * (
            (q_hat - q) * ratio * (1 - 2 * p) - p * (1 - p)
        )
        low, high = np.where(value >= 0, q, low), np.where(value >= 0, high, q)
        step = np.where(slope < 0, q - value / np.where(slope < 0, slope, -1), np.inf)
        new = np.where((step >= low) & (step <= high), step, 0.5 * (low + high))
        settled = np.abs(new - q) <= 1e-13 * q
        q = new
        if settled.all():
            break
    total = n1 * _kl(p_hat, ratio * q + delta) + n2 * _kl(q_hat, q)
    return np.asarray(np.where(against, total, 0.0))


def epsilon_limit(x: float, n1: float, y: float, n2: float, delta: float, height: float) -> float:
    """Return t, at most T(x, y) = sup{t : L_t(x, y) >= height} and close to it; -inf where there is no such t."""
    xs, ys = np.array([x]), np.array([y])

    def reached(t: float) -> bool:
        return bool(deviance(xs, n1, ys, n2, math.exp(t), delta)[0] >= height)

    low = high = math.log(max(x / n1 - delta, 0.1 / n1) / ((y + 0.5) / n2))
    step = 1.0
    while not reached(low):
        low, high, step = low - step, low, 2 * step
        if low < -_FAR:
            return -math.inf
    while reached(high):
        low, high, step = high, high + step, 2 * step
    while high - low > 1e-10 * max(1.0, abs(low)):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if reached(middle) else (low, middle)
    return low


def region(ys: Array, n1: float, n2: float, ratio: float, delta: float, height: float) -> Array:
    """Return for every y (ascending) the least x with L(x, y) >= height, n1 + 1 where there is none.

    The region is never too small: heights are lowered by `SLACK`, and the boundary is made to ascend.
    """
    low, high = np.full_like(ys, -1.0), np.full_like(ys, n1 + 1.0)
    for _ in range(math.ceil(math.log2(n1 + 2)) + 1):
        middle = np.clip(np.floor(0.5 * (low + high)), 0, n1)
        open_ = high - low > 1
        inside = deviance(middle, n1, ys, n2, ratio, delta) >= height - SLACK
        high = np.where(open_ & inside, middle, high)
        low = np.where(open_ & ~inside, middle, low)
    return np.asarray(np.minimum.accumulate(high[::-1])[::-1])


def _kl(p_hat: Array, p: Array) -> Array:
    """Return the Kullback-Leibler divergence of Bernoulli(p) from Bernoulli(p_hat); inf where it is singular."""
    gap = p - p_hat
    with np.errstate(divide="ignore", invalid="ignore"):
        hit = np.where(p_hat > 0, p_hat * np.log1p(np.where(p_hat > 0, gap / np.maximum(p_hat, 1e-300), 0)), 0)
        miss = np.where(p_hat < 1, (1 - p_hat) * np.log1p(-gap / np.where(p_hat < 1, 1 - p_hat, 1)), 0)
    return np.asarray(np.maximum(-(hit + miss), 0.0))


_LEVEL = 0.05
"""The level at which p-values are strongest where none is asked for."""
_FLOOR, _IGNORED = 1e-12, 0.01
"""P-values below the one, or below this part of a level that is known, are not computed further."""


@dataclass(frozen=True)
class Unconditional(Bound):
    r"""Buehler's bound with the nuisance parameter q eliminated by a certified supremum.

    Parameters
    ----------
    ordering : float
        Outcomes are ordered by their likelihood-ratio limits T (see the module) at level ordering * gamma; any
        value fixed in advance is valid. Near 1 the outcomes with y' = 0 rank too high, which costs power.
    nuisance_error : float
        The part theta of the error that pays for disregarding values of q which y makes implausible.
    slack : float
        About what part of the distance between estimate and bound may be lost to the enclosure.

    Notes
    -----
    With R = {T >= T(x, y)}, g(q) = min(1, exp(epsilon) q + delta) and the two-sided binomial p-value of q,
    tau(q) = 2 min(Pr[Bin(n2, q) <= y], Pr[Bin(n2, q) >= y]),

    .. math:: p(\epsilon) = \sup_q \min\{ \Pr_{g(q), q}[R] / (1 - \theta),\; \tau(q) / \theta \}

    is a p-value: at the true q, p <= gamma means that Pr[R] <= (1 - theta) gamma or tau <= theta gamma, and these have
    probability at most (1 - theta) gamma (as the regions are nested) and theta gamma. It rises in epsilon, because R
    does not depend on it.

    The supremum is enclosed, not searched for. R holds with (x, y) all (x + 1, y) and (x, y - 1), so Pr[R] rises in p
    and falls in q, and on a cell [a, b] it is at most its value at p = g(b), q = a. Cells are divided until the largest
    upper end is near the largest value seen; the upper end is what is returned.

    References
    ----------
    Buehler (1957), J. Amer. Statist. Assoc. 52; Berger and Boos (1994), J. Amer. Statist. Assoc. 89; Chan and Zhang
    (1999), Biometrics 55.
    """

    ordering: float = 0.2
    nuisance_error: float = 0.005
    slack: float = 0.01
    name: ClassVar[str] = "unconditional"
    max_epsilon: ClassVar[float] = 60.0
    max_runs: ClassVar[int] = UNCONDITIONAL_RUNS

    def __post_init__(self) -> None:
        for field in ("ordering", "nuisance_error", "slack"):
            value = getattr(self, field)
            if not (math.isfinite(value) and 0 < value < 1):
                raise InputError.of(field, value, "in (0, 1)")

    def _p_values(self, c: CountArrays, ratio: Array, delta: Array, gamma: float | None) -> Array:
        """Return p-values that are valid at every level, and strongest at gamma (by default 0.05).

        The level orders the outcomes, and `epsilon_lower` inverts the p-values with its own. Where gamma is given,
        p-values below gamma / 100 are not computed further.
        """
        level = _LEVEL if gamma is None else gamma
        return _tail(self._regions(c, delta, level, _FLOOR if gamma is None else _IGNORED * level), ratio, delta)

    def _epsilons(self, c: CountArrays, delta: Array, gamma: float) -> Array:
        """Return the bounds, by a search no finer than the p-values are known."""
        regions = self._regions(c, delta, gamma, _IGNORED * gamma)

        def tail(t: Array, i: NDArray[np.intp]) -> Array:
            return _tail([regions[k] for k in i], np.exp(t), delta[i])

        start, scale = first_guess(c, delta, gamma)
        tightness = min(self._tolerance(gamma), 0.5)
        return last_rejected(tail, gamma, start, scale, self.max_epsilon, tightness=tightness, resolution=1e-7)

    def _regions(self, c: CountArrays, delta: Array, gamma: float, floor: float) -> Sequence[Region]:
        """Return the regions of outcomes with no smaller limits on epsilon.

        The limit is -infinity where x alone does not refute p <= delta at the level of the ordering. These outcomes
        come last and are ordered by x.
        """
        height, tolerance, found = self._height(gamma), self._tolerance(gamma), []
        for x, n1, y, n2, d in zip(c.x, c.n1, c.y, c.n2, delta, strict=True):
            t = epsilon_limit(x, n1, y, n2, d, height)
            edge: Callable[[Array], Array] = partial(np.full_like, fill_value=x)
            if not math.isinf(t):
                edge = partial(region, n1=n1, n2=n2, ratio=math.exp(t), delta=d, height=height)
            found.append(Region.of(n1, y, n2, edge, theta=self.nuisance_error, tolerance=tolerance, floor=floor))
        return found

    def _height(self, gamma: float) -> float:
        """Return the deviance that a normal deviate at the level of the ordering has."""
        return 0.5 * float(ndtri(0.5 * self.ordering * min(2 * gamma, 1))) ** 2

    def _tolerance(self, gamma: float) -> float:
        """Return by what fraction a p-value may be too large: near the level ln p moves by z a standard deviation."""
        return self.slack * max(float(ndtri(gamma)) ** 2, 0.5)


def _tail(regions: Sequence[Region], ratio: Array, delta: Array) -> Array:
    """Return one certified p-value a region."""
    each = zip(regions, ratio, delta, strict=True)
    return np.array([r.p_value(float(e), float(d)) for r, e, d in each], dtype=np.float64)


BOUNDS: dict[str, type[Bound]] = {kind.name: kind for kind in (Melded, Unconditional)}


def get_bound(name: str) -> Bound:
    """Return a bound by name; the choice must not depend on the counts that the bound is then given."""
    if name not in BOUNDS:
        raise InputError.of("bound", name, f"one of {', '.join(BOUNDS)}")
    return BOUNDS[name]()
