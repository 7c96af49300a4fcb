r"""Bet against a claim of privacy by e-values, whose product stays valid at any stopping time.

A fair coin b puts each run on data (b = 1) or neighbour (b = 0); P and Q are the laws of the output x. Fix in
advance functions w+, w- >= 0 with disjoint supports, put u = max w+, v = max w-, c = 1 - (u + v) delta / 2,
and pay for each run

.. math:: e = c + b\,(w_+(x) - e^\epsilon w_-(x)) + (1 - b)\,(w_-(x) - e^\epsilon w_+(x)) .

**e is an e-value for (epsilon, delta)-privacy.** For 0 <= h <= 1 the claim gives E_P h - exp(epsilon) E_Q h
<= delta and the same with P and Q swapped: integrate it over the events {h > t}, 0 < t < 1. With h = w+ / u
and with h = w- / v,

.. math:: E e = c + \tfrac12 (E_P w_+ - e^\epsilon E_Q w_+) + \tfrac12 (E_Q w_- - e^\epsilon E_P w_-)
              \le c + \tfrac12 u \delta + \tfrac12 v \delta = 1 .

**The best bet for given caps u and v.** If r(x) is the posterior probability of b = 1, the mean of log e is
maximised cell by cell: d/dw [r log(c + w) + (1 - r) log(c - exp(epsilon) w)] = 0 at

.. math:: w_+ = c\,(r e^{-\epsilon} - (1 - r)) \text{ cut to } [0, u],
          \qquad w_- = c\,((1 - r) e^{-\epsilon} - r) \text{ cut to } [0, v] .

As r < 1, w+ < c exp(-epsilon), so e > 0 always and caps above exp(-epsilon) are never needed. At most one of
w+, w- is positive, because r > exp(epsilon) (1 - r) and 1 - r > exp(epsilon) r exclude each other. At delta =
0 nothing is paid for the caps, and e = Bern(b; r) / Bern(b; clip(r, 1 - rho, rho)) with rho = 1 / (1 +
exp(-epsilon)): the clipped likelihood ratio.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpaudit.bounds.base import Array, Bools, Integers

# Pseudo-count on each side, and standard errors by which the posterior is moved towards 1/2; both affect power.
ESTIMATES = ((0.5, 0.75), (0.5, 0.25))
# The same for outputs that repeat: one that is impossible on a side is believed so after a few runs.
RARE_ESTIMATE = (0.05, 0.0)

# Caps that are tried, as parts of exp(-epsilon): steps of sqrt 2 cost at most a tenth of the growth.
_CAPS = np.concatenate([[0.0], 2.0 ** (-0.5 * np.arange(19, -1, -1))])
# Difference of the logarithms of epsilons that share their caps, as parts of exp(-epsilon): they vary slowly.
_ALIKE = 0.1
# Numbers worked on at a time: they and what is made of them fit a processor's cache, which halves the time.
_MOST_NUMBERS = 50_000
# Stands for a payoff of nothing or less, where no run is paid it.
_LEAST = 1e-300
# Beyond it exp(epsilon) leaves the floats; no posterior is sure enough for a bet against that or more.
_MOST_EPSILON = 700.0
# How far above the claim, relatively and absolutely, a point of the grid lies for a bound that exceeds the claim.
_ABOVE = 1e-6
# Ends of the grid of epsilons that are bet against, and the factor between them: it costs at most 1 % of a bound.
_GRID_START = 0.01
_GRID_END = 12.0
GRID_RATIO = 1.01

# Runs of a pair's first batch, on which nothing is known and nothing is bet.
FIRST_BATCH = 16
# The length of a batch as a part of the past.
BATCH_GROWTH = 0.1


def batch_size(past: int) -> int:
    """Return the size of the next batch of a pair after `past` runs of it."""
    return max(FIRST_BATCH, int(BATCH_GROWTH * past))


def batch_schedule(runs: int) -> tuple[Array, Array]:
    """Return how many runs of its only pair an audit has made before each batch but the first, and its size."""
    past = [min(FIRST_BATCH, runs)]
    sizes = []
    while past[-1] < runs:
        sizes.append(min(runs - past[-1], batch_size(past[-1])))
        past.append(past[-1] + sizes[-1])
    return np.array(past[:-1], dtype=np.float64), np.array(sizes, dtype=np.float64)


@dataclass(frozen=True)
class Bet:
    """A bet for each of G epsilons on L cells: payoffs are positive, their mean under the claim at most 1.

    `up` and `down` are the stakes w+ on "data" and w- on "neighbour", shape (G, L); `keep` is the part
    c = 1 - (max w+ + max w-) delta / 2 that a cell without a stake pays, and `ratio` exp(epsilon), shape (G,).
    """

    up: Array
    down: Array
    keep: Array
    ratio: Array


def posterior(ones: ArrayLike, zeros: ArrayLike, pseudo: float = 0.5, shrinkage: float = 0.75) -> Array:
    """Return for each cell the probability that a run in it was on data, moved towards 1/2.

    The estimate is r = (k1 + a) / (k1 + k0 + 2 a), of Krichevsky and Trofimov at the pseudo-count a = 1/2, its standard
    error sqrt(r (1 - r) / (k1 + k0 + 1)), where k1 `ones` and k0 `zeros` are past runs in the cell on data and on
    neighbour. It is moved by `shrinkage` standard errors, never past 1/2, which is that of a cell never seen.
    """
    # Pseudo-counts keep a cell that was met on one side alone from being believed impossible on the other.
    hits = np.asarray(ones, dtype=np.float64) + pseudo
    total = hits + np.asarray(zeros, dtype=np.float64) + pseudo
    rate = hits / total
    away = rate - 0.5
    error = np.sqrt(rate * (1 - rate) / (total - 2 * pseudo + 1))
    return 0.5 + np.sign(away) * np.maximum(np.abs(away) - shrinkage * error, 0.0)


def place_bet(rate: Array, mass: Array, epsilon: Array, delta: float) -> Bet:
    """Return the bets of the module's docstring for posteriors r, at every epsilon >= 0 of a grid, shape (G,).

    `rate` are these posteriors, `mass` the shares of runs in the cells, both from the past, of shape (L,) or (G, L).
    """
    ratio = np.exp(epsilon)
    row = np.zeros(len(ratio), dtype=np.int64)
    if rate.ndim == 2:  # a posterior for each epsilon
        row = np.arange(len(ratio))
    upper, lower = CellSums.expected(np.atleast_2d(rate), np.atleast_2d(mass)).best_caps(row, ratio, delta)
    keep = 1 - 0.5 * delta * (upper + lower)
    odds = ratio[:, None]
    scale = keep[:, None]
    up = np.clip(scale * (rate / odds - (1 - rate)), 0, upper[:, None])
    down = np.clip(scale * ((1 - rate) / odds - rate), 0, lower[:, None])
    return Bet(up, down, keep, ratio)


class CellSums:
    """Runs on both sides, of N pasts of L cells each, added up in the order of the posteriors r.

    In that order the cells with a stake are the last ones (w+) or the first (w-), and those whose stake is cut to its
    cap are at the end. Where it is not cut, log e is ln(c r) + ln(1 + exp(-epsilon)) for b = 1 and ln(c (1 - r)) + ln(1
    + exp(epsilon)) for b = 0 if the stake is w+, and with the two constants exchanged if it is w-. So the sum of log e
    over any number of runs needs the sums below four posteriors only.

    Given are the posteriors and the runs in each cell on data and on neighbour, all of shape (N, L).
    """

    def __init__(self, rate: Array, hits: Array, misses: Array) -> None:
        rows, cells = rate.shape
        order = np.argsort(rate, axis=1)
        order += cells * np.arange(rows)[:, None]
        rate, hits, misses = (values.take(order) for values in (rate, hits, misses))
        # Posteriors are in (0, 1): with the number of the row added, one search serves all rows.
        self._keys = (np.arange(rows)[:, None] + rate).ravel()
        self._sums = np.zeros((rows, cells + 1, 3))
        for i, part in enumerate((hits * np.log(rate) + misses * np.log1p(-rate), hits, misses)):
            part.cumsum(axis=1, out=self._sums[:, 1:, i])

    @classmethod
    def expected(cls, rate: Array, mass: Array) -> CellSums:
        """Return the expected sums of one run, if r and the cells' shares `mass` were true."""
        return cls(rate, mass * rate, mass * (1 - rate))

    def _below(self, row: Integers, rate: Array) -> Array:
        """Return the sums over a row's cells with posteriors below `rate`, of log-likelihoods, hits and misses."""
        at = self._keys.searchsorted(row + np.minimum(np.maximum(rate, 0.0), 1.0))
        return self._sums.reshape(-1, 3).take(at + row, axis=0)

    def log_payoff(
        self, row: Integers, ratio: Array, delta: float = 0.0, upper: Array | float = 0.0,
        lower: Array | float = 0.0,
    ) -> Array:  # fmt: skip
        """Return the sum of log e over a row's runs, bet against `ratio` = exp(epsilon) with the caps u and v.

        `row` are places in [0, N), `upper` and `lower` the caps; all arguments but delta broadcast to the shape of what
        is returned. At delta = 0 nothing is paid for caps, and no stake is cut. The formula is in the class docstring,
        with c = 1 - (u + v) delta / 2; a stake that is cut pays c + u, or c - exp(epsilon) u.
        """
        bar = ratio / (1 + ratio)
        rare = np.log1p(1 / ratio)
        common = np.log1p(ratio)
        everything = self._sums[row, -1]
        above = self._below(row, bar)
        low = self._below(row, 1 - bar)
        if delta == 0:
            last = everything - above
            first = low
            total = np.float64(0)
        else:
            keep = 1 - 0.5 * delta * (upper + lower)
            top = self._below(row, (upper / keep + 1) * bar)
            bottom = self._below(row, 1 - (lower / keep + 1) * bar)
            last = top - above
            first = low - bottom
            total = np.log(keep) * (top - bottom)[..., 1:].sum(axis=-1)
            last_cut = everything - top
            for cap, won, lost in (
                (upper, last_cut[..., 1], last_cut[..., 2]),
                (lower, bottom[..., 2], bottom[..., 1]),
            ):
                # Where no stake is cut, a cap may be more than any e could bear.
                total = total + won * np.log(keep + cap) + lost * np.log(np.maximum(keep - ratio * cap, _LEAST))
        total = total + last[..., 0] + last[..., 1] * rare + last[..., 2] * common
        return np.asarray(total + first[..., 0] + first[..., 1] * common + first[..., 2] * rare)

    def best_caps(self, row: Integers, ratio: Array, delta: float) -> tuple[Array, Array]:
        """Return the caps u and v with the greatest `log_payoff`, by row and ratio, both of shape (M,).

        At delta > 0 they are chosen on a grid of exp(-epsilon) 2^(-k/2), first u, then v, then u again. A direction is
        left out where it does not pay by itself: growth is concave in u with slope sum over x of
        mass (r - exp(epsilon) (1 - r))_+ minus delta / 2 at u = v = 0.
        """
        if delta == 0:  # nothing is paid for caps, and greater ones are never reached
            return 1 / ratio, 1 / ratio
        upper = np.zeros(len(ratio))
        lower = np.zeros(len(ratio))
        bar = ratio / (1 + ratio)
        last = self._sums[row, -1] - self._below(row, bar)
        first = self._below(row, 1 - bar)
        up_pays = last[:, 1] - ratio * last[:, 2] > delta / 2
        down_pays = first[:, 2] - ratio * first[:, 1] > delta / 2
        for turn, pays in enumerate((up_pays, down_pays, up_pays & down_pays)):
            places = np.flatnonzero(pays)
            step = _MOST_NUMBERS // len(_CAPS)
            for some in (places[start : start + step] for start in range(0, len(places), step)):
                caps = _CAPS[:, None] / ratio[some]
                if turn == 1:
                    best = self.log_payoff(row[some], ratio[some], delta, upper[some], caps).argmax(axis=0)
                    lower[some] = caps[best, np.arange(len(some))]
                else:
                    best = self.log_payoff(row[some], ratio[some], delta, caps, lower[some]).argmax(axis=0)
                    upper[some] = caps[best, np.arange(len(some))]
        return upper, lower


def log_payoffs(bet: Bet) -> tuple[Array, Array]:
    """Return log e for b = 1 and for b = 0, shapes (..., L)."""
    keep = bet.keep[..., None]
    ratio = bet.ratio[..., None]
    return np.log(keep + bet.up - ratio * bet.down), np.log(keep + bet.down - ratio * bet.up)


def expected_growth(bet: Bet, rate: Array, mass: Array) -> Array:
    """Return the mean of log e of one run, shape (G,), if r and the cells' shares were true."""
    one, zero = log_payoffs(bet)
    return np.asarray((mass * (rate * one + (1 - rate) * zero)).sum(axis=-1))


def log_sum_exp(values: Array) -> Array:
    """Return ln(sum(exp(values))) over the first axis; scipy's takes three times as long on small arrays."""
    most = values.max(axis=0)
    found: Array = most + np.log(np.exp(values - most).sum(axis=0))
    return found


def log_payoff(rate: Array, mass: Array, epsilon: Array, delta: float, ones: Array, zeros: Array) -> Array:
    """Return the logarithm of the product of e over a batch, shape (N, G), by bettor and epsilon.

    `rate` and `mass`, shape (N, L), are the pasts of N bettors, as of `place_bet`, `ones` and `zeros` the batch's runs
    in each cell on data and on neighbour. Epsilons that differ by less than a tenth share their caps.
    """
    ratio = np.exp(np.minimum(epsilon, _MOST_EPSILON))
    row = np.arange(len(rate))[:, None]
    batch = CellSums(rate, ones, zeros)
    if delta == 0:
        return batch.log_payoff(row, ratio)
    _, some, which = np.unique(
        np.floor(np.log(np.maximum(epsilon, _GRID_START)) / _ALIKE), return_index=True, return_inverse=True
    )
    alike = np.broadcast_to(ratio[some], (len(rate), len(some)))
    found = CellSums.expected(rate, mass).best_caps(np.repeat(row, len(some)), alike.ravel(), delta)
    upper, lower = ((cap.reshape(alike.shape) * alike)[:, which] / ratio for cap in found)
    return batch.log_payoff(row, ratio, delta, upper, lower)


def epsilon_grid(claim: float, ratio: float = GRID_RATIO) -> Array:
    """Return the epsilons to bet against: 0.01 to 12 (or twice the claim) by 1 %, the claim, and a point just above it.

    The point above makes a bound exceed the claim that is refuted.
    """
    end = max(_GRID_END, 2 * claim)
    steps = int(np.ceil(np.log(end / _GRID_START) / np.log(ratio)))
    return np.unique(np.append(_GRID_START * ratio ** np.arange(steps + 1), [claim, claim * (1 + _ABOVE) + _ABOVE]))


def last_before_survivor(grid: Array, rejected: Bools) -> float:
    """Return the last grid point before the first that was never rejected; 0 if the first never was.

    Let e be the true epsilon and g the first grid point >= e. If the result exceeds or equals e, it is a grid
    point >= g, so g was rejected although its claim is true, which happens with probability at most gamma.
    One error probability thus covers the whole grid and all looks.
    """
    first = int(np.append(rejected, False).argmin())
    return float(grid[first - 1]) if first else 0.0
