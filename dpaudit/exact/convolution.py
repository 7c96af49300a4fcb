"""T-fold sums of privacy losses, by a tilted Fourier transform with proved error bounds.

With losses l_i of mass p_i, K(t) = ln sum_i p_i exp(t l_i) and the tilted law f_i = p_i exp(t l_i - K(t)), the sum S of
T losses under the tilted law f^T gives

    sum over S > e of p^T(S) (1 - exp(e - S)) = exp(T K(t) - t e) sum f^T(S) w(S - e),
    w(x) = exp(-t x) (1 - exp(-x)) for x > 0, else 0.

The factor in front is Chernoff's bound, so whatever error the sum has, it is an error relative to Chernoff's bound: a
delta of 1e-30 keeps its digits. Errors of the sum, with u = 2^-53:

- the transform of f, its power by repeated squaring and the transform back move the result, in the 2-norm, by at most
  T (8 log2 N + 3) u |f|_2 (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., Theorem 24.2, with room);
  by Cauchy and Schwarz the sum moves by that times |w|_2;
- mass that falls outside the window wraps around; it is at most Chernoff's bound on the tilted law at both ends, and
  w is at most 1;
- the roundings of exponents, and of the sums of losses that share a cell, T times each.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpaudit.exact.dominating import LossLaw

Floats = NDArray[np.float64]
GridCells = NDArray[np.int64]

# The most compositions: the window has a few cells for each.
LARGEST_TIMES = 100_000

_CELLS = 2**20
# The most times that the tilt is fitted to the epsilon found; two or three are usual.
_ROUNDS = 6
# The mass that is aimed at outside the window. The mass that really is there enters the bound.
_SPILL = 2.0**-80
_UNIT = 2.0**-53
# The amount by which losses and masses are moved to the safe side for their own rounding.
_RAISE = 2.0**-48
# Bounds the relative rounding of one factor of the composition, for exponents near 1.
_ROUNDING = 2.0**-48
_TILTS = np.concatenate([[0.0], np.geomspace(1e-4, 1e4, 241)])


class LossSum:
    """The sum of T independent losses, and what it says about delta.

    The finite part of one loss, `law`, need not have total mass 1 - infinite; T = `times` is 1 .. `LARGEST_TIMES`. With
    `upper` every answer is an upper bound on the truth, else a lower one. Losses are put on a grid: for upper bounds
    each is split between its neighbours, keeping its mass under both P and Q (which adds variance of the order of the
    grid's square); for lower bounds it is rounded down.
    """

    def __init__(self, law: LossLaw, times: int, *, upper: bool) -> None:
        self._law = law
        self._times = times
        self._upper = upper
        self._infinite = _infinite_part(law, times, upper)
        log_mass = np.log(law.mass)
        self._cumulants = np.array([_cumulant(law.losses, log_mass, tilt) for tilt in _TILTS.tolist()])
        # Beyond T times the greatest loss no finite part is left; `_RAISE` covers the rounding of the product.
        self._highest = -math.inf
        if len(law.losses):
            greatest = times * float(law.losses[-1])
            self._highest = greatest + _RAISE * (1 + abs(greatest))
        self._last: tuple[int, _Tilted] | None = None

    def delta(self, epsilon: float) -> float:
        """Return the bound on delta at a finite epsilon."""
        return self._delta(epsilon, self._best_tilt(epsilon), self._upper)

    def epsilon(self, delta: float) -> float:
        """Return the bound on the least epsilon >= 0 with at most that delta > 0; inf if there is none.

        Root finding only proposes: the bound on delta has been evaluated at what is returned, and is at most the given
        one for upper bounds, above it for lower bounds (unless these return 0).
        """
        finite = delta - self._infinite
        if finite <= 0:
            return math.inf if finite < 0 or self._upper else 0.0
        if self._at_zero <= delta:
            return 0.0
        root, tilt = self._root(delta, finite)
        # The root is off by the tolerance of its search: it is moved to the safe side until the bound confirms it.
        safe_side = 1 if self._upper else -1
        for step in (0.0, *(1e-12 * 4.0 ** np.arange(40))):
            found = root + safe_side * step
            if found <= 0 and not self._upper:
                return 0.0
            if (self._delta(found, tilt, self._upper) <= delta) is self._upper:
                return float(found)
        return math.inf if self._upper else 0.0

    @cached_property
    def _at_zero(self) -> float:
        """The bound on delta at epsilon = 0."""
        return self.delta(0.0)

    def _root(self, delta: float, finite: float) -> tuple[float, int]:
        """Return about where delta is reached, and the tilt that suits that epsilon; start from Chernoff's bound."""
        root = max(0.0, float(((self._times * self._cumulants[1:] - math.log(finite)) / _TILTS[1:]).min()))
        tilt = -len(_TILTS)
        for _ in range(_ROUNDS):
            before = tilt
            tilt = self._best_tilt(root)
            # The bound is valid at every tilt, so that this one need not be the best.
            if abs(tilt - before) <= 2:
                break
            root = self._root_at(delta, tilt)
        return root, tilt

    def _root_at(self, delta: float, tilt: int) -> float:
        """Return about where delta is reached under one tilt; of the two bounds the upper one falls all the way."""
        from scipy.optimize import brentq

        def excess(epsilon: float) -> float:
            return math.log(max(self._delta(epsilon, tilt, True), 1e-320)) - math.log(delta)

        if excess(0.0) <= 0:
            return 0.0
        if excess(self._highest) > 0:
            return self._highest
        return float(brentq(excess, 0.0, self._highest, xtol=1e-12, rtol=1e-12))

    # The tilt with the least Chernoff bound: it puts the mean of the sum near epsilon, where digits are needed.
    def _best_tilt(self, epsilon: float) -> int:
        return int(np.argmin(self._times * self._cumulants - _TILTS * epsilon))

    def _delta(self, epsilon: float, tilt: int, upper: bool) -> float:
        if epsilon >= self._highest:
            return self._infinite
        # One transform serves every epsilon that is asked for at its tilt.
        if self._last is None or self._last[0] != tilt:
            self._last = tilt, _Tilted(self._law, self._times, float(_TILTS[tilt]), upper=self._upper)
        return float(min(1.0, self._infinite + self._last[1].delta(epsilon, upper=upper)))


def _infinite_part(law: LossLaw, times: int, upper: bool) -> float:
    """Return (m + i)^T - m^T for upper bounds, m and i the finite and the infinite mass; for lower ones 1 - (1 - i)^T.

    The two agree where m + i = 1; where mass was added, only the first covers it.
    """
    if law.infinite <= 0:
        return 0.0
    rounding = 4 * times * _ROUNDING
    # Both forms keep their digits where the infinite mass is tiny, by `log1p` and `expm1`.
    finite = float(law.mass.sum())
    if not upper:
        kept = -math.inf
        if law.infinite < 1:
            kept = times * math.log1p(-law.infinite)
        return -math.expm1(kept) * (1 - rounding)
    share = 1.0
    if finite > 0:
        share = -math.expm1(-times * math.log1p(law.infinite / finite))
    return min(1.0, math.exp(times * math.log(finite + law.infinite)) * share * (1 + rounding))


def _cumulant(losses: Floats, log_mass: Floats, tilt: float) -> float:
    """Return ln sum of mass exp(tilt loss)."""
    if not len(losses):
        return -math.inf
    # The greatest exponent is taken out, so that no exponential overflows.
    exponents = tilt * losses + log_mass
    top = float(np.maximum.reduce(exponents))
    return top + math.log(float(np.add.reduce(np.exp(exponents - top))))


class _Tilted:
    """The law of the sum under one tilt on a window of the grid.

    Its error is at most `_error` in the 2-norm; spilled mass and the roundings of exponents come to at most `_offset`.
    """

    def __init__(self, law: LossLaw, times: int, tilt: float, *, upper: bool) -> None:
        self._tilt = tilt
        low, high = _spread(law, times, tilt)
        greatest = float(np.abs(law.losses).max())
        self._step = max((high - low) / (_CELLS - 2 * times - 16), 2.0**-40 * (1 + greatest))
        put_on_grid = _split if upper else _rounded_down
        cells, mass = put_on_grid(law, self._step)
        losses = np.asarray(cells * self._step, dtype=np.float64)
        cumulant = _cumulant(losses, np.log(mass), tilt)
        weights = mass * np.exp(tilt * losses - cumulant)
        self._exponent = times * cumulant
        self._first = math.floor(low / self._step) - times - 4
        self._sum, self._error = _power(cells, weights, times, self._first)
        self._offset = _spill(losses, weights, times, self._first * self._step, _CELLS * self._step)
        exponents = abs(cumulant) + (1 + 2 * tilt) * (greatest + self._step)
        crowd = int(np.unique(cells, return_counts=True)[1].max())
        self._offset += times * (_ROUNDING * (1 + exponents) + 2 * _UNIT * crowd)

    def delta(self, epsilon: float, *, upper: bool) -> float:
        """Return a bound on the finite part of delta of the losses on the grid."""
        exponent = self._exponent - self._tilt * epsilon
        # The exponential would overflow; 1 and 0 are bounds on every delta.
        if exponent > 700:
            return 1.0 if upper else 0.0
        start = min(max(0, math.floor(epsilon / self._step) - self._first), _CELLS)
        gap = np.maximum((self._first + np.arange(start, _CELLS)) * self._step - epsilon, 0.0)
        weights = np.exp(-self._tilt * gap) * -np.expm1(-gap)
        value = float((self._sum[start:] * weights).sum())
        error = self._error * float(np.sqrt((weights * weights).sum())) + self._offset
        if upper:
            return math.exp(exponent) * (value + error) * (1 + self._offset)
        return math.exp(exponent) * max(0.0, value - error) * max(0.0, 1 - self._offset)


def _split(law: LossLaw, step: float) -> tuple[GridCells, Floats]:
    """Return cells of the grid and masses that dominate the law: each loss is split between its two neighbours.

    At distance y above the lower one, mass p becomes p (e^(step - y) - 1)/(e^step - 1) there and the rest above, so
    that the masses under P and under Q, p exp(-loss), are both kept: H becomes its chord. Losses and masses are raised
    by far more than what rounding could have lowered them.
    """
    losses = law.losses + _RAISE * (1 + np.abs(law.losses))
    cells = np.floor(losses / step).astype(np.int64)
    above = np.clip(losses - cells * step, 0.0, step)
    lower = law.mass * (np.expm1(step - above) / math.expm1(step)) * (1 + _RAISE)
    upper = law.mass * (np.expm1(-above) / math.expm1(-step)) * (1 + _RAISE)
    cells = np.concatenate([cells, cells + 1])
    masses = np.concatenate([lower, upper])
    return cells[masses > 0], masses[masses > 0]


def _rounded_down(law: LossLaw, step: float) -> tuple[GridCells, Floats]:
    """Return cells of the grid and masses that the law dominates: each loss is rounded down."""
    # Downwards by more than rounding could have raised them: a lower bound must never exceed the true delta.
    losses = law.losses - _RAISE * (1 + np.abs(law.losses))
    return np.floor(losses / step).astype(np.int64), law.mass * (1 - _RAISE)


def _spread(law: LossLaw, times: int, tilt: float) -> tuple[float, float]:
    """Return where the sum of T tilted losses lies, except for a mass of about `_SPILL` at each end."""
    logs = np.log(law.mass)
    logs = logs + tilt * law.losses - _cumulant(law.losses, logs, tilt)
    room = -math.log(_SPILL)
    low = max(-(times * _cumulant(law.losses, logs, -rate) + room) / rate for rate in _rates(law.losses))
    high = min((times * _cumulant(law.losses, logs, rate) + room) / rate for rate in _rates(law.losses))
    return max(low, times * float(law.losses[0])), min(high, times * float(law.losses[-1]))


def _rates(losses: Floats) -> Floats:
    """Return the rates at which Chernoff's bound is tried, in units of the range of the losses."""
    spread = float(losses.max() - losses.min())
    if spread == 0:
        spread = 1.0
    return np.geomspace(1e-4, 1e4, 161) / spread


def _spill(losses: Floats, weights: Floats, times: int, start: float, length: float) -> float:
    """Return Chernoff's bound on the mass of the sum outside of [start, start + length), doubled for rounding."""
    total = 0.0
    possible = weights > 0
    losses = losses[possible]
    logs = np.log(weights[possible])
    for side, end in ((1.0, start + length), (-1.0, -start)):
        if times * float((side * losses).max()) >= end:
            bounds = [times * _cumulant(side * losses, logs, rate) - rate * end for rate in _rates(losses)]
            total += 2 * math.exp(min(0.0, min(bounds)))
    return total


def _power(cells: GridCells, weights: Floats, times: int, first: int) -> tuple[Floats, float]:
    """Return the T-fold convolution on the cells from `first` on, and a bound on its error in the 2-norm."""
    # Cells are numbered modulo the window: what falls outside wraps around, and `_spill` bounds it.
    single = np.bincount(cells % _CELLS, weights, _CELLS)
    factor = np.fft.rfft(single)
    # The power by repeated squaring, from the lowest bit of `times` that is set.
    rest = times
    while not rest & 1:
        factor = factor * factor
        rest = rest >> 1
    result = factor
    while rest := rest >> 1:
        factor = factor * factor
        if rest & 1:
            result = result * factor
    summed = np.roll(np.fft.irfft(result, _CELLS), -(first % _CELLS))
    error = 1.01 * (times + 1) * (8 * math.log2(_CELLS) + 3) * _UNIT * float(np.sqrt((single * single).sum()))
    return summed, error
