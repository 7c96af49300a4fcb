"""Privacy of the composed Gaussian mechanism with Poisson sampling, from its privacy-loss distribution.

One step releases the sum of vectors of norm at most 1 of a batch, plus noise N(0, sigma^2); each example is in the
batch with probability q, independently. For neighbours by adding or removing an example the worst pair is

    P = (1 - q) N(0, sigma^2) + q N(1, sigma^2)  (with the example),   Q = N(0, sigma^2)  (without),

in both orders, and T steps are at most as distinguishable as T independent draws from it (Zhu, Dong and Wang, Optimal
accounting of differential privacy via characteristic function, AISTATS 2022). The loss

    l(x) = ln P(x) / Q(x) = ln(1 - q + q exp((2 x - 1) / (2 sigma^2)))

increases with x, so its law on a grid is a difference of normal distribution functions. Losses are rounded up to the
grid for upper bounds and down for lower ones, and T of them are added by a Fourier transform. The truth lies between
the two but for the rounding of the transform, about 1e-13 in delta, which is not bounded here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from dpaudit.contract import InputError

from ..arrays import Floats
from ..parameters import check_integer, check_positive

# The most cells of the grid on which the sum of losses lies.
_CELLS = 2**20
# The finest step of the grid.
_FINEST = 1e-5
# Standard deviations of noise beyond which a loss counts as infinite for upper bounds and as absent for lower ones.
_TAIL = 10.0


@dataclass(frozen=True)
class Accountant:
    """The privacy of `steps` noisy sums.

    Parameters
    ----------
    noise_multiplier : float
        sigma: the standard deviation of the noise as a multiple of the clip norm; > 0.
    sampling_rate : float
        q in (0, 1], the probability with which an example is in a batch; 1 means no sampling.
    steps : int
        T >= 1. `InputError` if the sum of losses needs a grid too coarse to be of use.
    """

    noise_multiplier: float
    sampling_rate: float = 1.0
    steps: int = 1

    def __post_init__(self) -> None:
        check_positive("noise_multiplier", self.noise_multiplier)
        if not 0 < self.sampling_rate <= 1:
            raise InputError.of("sampling_rate", self.sampling_rate, "in (0, 1]")
        check_integer("steps", self.steps, 1)
        if self._step > 0.01:
            allowed = "noise and steps whose losses, added up, span less than about 10,000"
            raise InputError.of("noise_multiplier", self.noise_multiplier, allowed)

    def delta(self, epsilon: float, *, upper: bool = True) -> float:
        """Return a bound on the least delta at which the steps are (epsilon, delta)-private, by default from above."""
        return max(_summed(self, removal, upper).delta(epsilon) for removal in (True, False))

    def epsilon(self, delta: float, *, upper: bool = True) -> float:
        """Return a bound on the least epsilon >= 0 at which the steps are (epsilon, delta)-private, 0 < delta < 1."""
        if not 0 < delta < 1:
            raise InputError.of("delta", delta, "in (0, 1)")
        low = 0.0
        # No sum of losses that counts is greater.
        high = self.steps * self._loss(1 + _TAIL * self.noise_multiplier)
        if self.delta(0.0, upper=upper) <= delta:
            return 0.0
        if self.delta(high, upper=upper) > delta:
            return math.inf
        while high - low > 1e-9 * max(1.0, high):
            middle = (low + high) / 2
            if self.delta(middle, upper=upper) > delta:
                low = middle
            else:
                high = middle
        # The end of the last interval that lies on the safe side.
        return high if upper else low

    @property
    def _step(self) -> float:
        """The step of the grid: the sums span at most half of it, so that none wraps around."""
        ends = [self._loss(side * _TAIL * self.noise_multiplier + (side > 0)) for side in (-1, 1)]
        return max(_FINEST, 2 * self.steps * (ends[1] - ends[0]) / _CELLS)

    def _loss(self, x: float) -> float:
        q = self.sampling_rate
        exponent = (2 * x - 1) / (2 * self.noise_multiplier**2)
        if q == 1:
            return exponent
        # ln(1 - q + q e^exponent), which overflows nowhere.
        return float(np.logaddexp(math.log1p(-q), math.log(q) + exponent))

    def _where(self, losses: Floats) -> Floats:
        """Return the x with l(x) = loss; -inf below the least loss ln(1 - q)."""
        q = self.sampling_rate
        variance = self.noise_multiplier**2
        if q == 1:
            return np.asarray(variance * losses + 0.5)
        above = losses > math.log1p(-q)
        safe = np.where(above, losses, 0.0)
        # ln(e^l - (1 - q)), without a loss of digits for large l
        exponent = safe + np.log(-np.expm1(math.log1p(-q) - safe)) - math.log(q)
        return np.where(above, variance * exponent + 0.5, -np.inf)

    def _masses(self, edges: Floats, removal: bool) -> Floats:
        """Return the mass of l between consecutive edges, under P (of removal) or Q (of addition)."""
        x = self._where(edges)
        sigma = self.noise_multiplier
        q = self.sampling_rate
        # Beyond these x the mass counts as missing.
        x = np.clip(x, -_TAIL * sigma, 1 + _TAIL * sigma)
        without = np.diff(_normal(x / sigma))
        if removal:
            return (1 - q) * without + q * np.diff(_normal((x - 1) / sigma))
        return without


@dataclass(frozen=True, eq=False)
class _Sum:
    """The law of a sum of losses on the grid `first + step * i`, and the mass at infinity."""

    first: float
    step: float
    masses: Floats
    infinite: float

    @cached_property
    def _tails(self) -> tuple[int, Floats, Floats]:
        """The first cell of a positive loss, and for it and each further one the tails of the mass under both laws."""
        # Only positive losses enter delta(epsilon) for epsilon >= 0.
        start = max(0, math.floor(-self.first / self.step) + 1)
        masses = self.masses[start:]
        other = masses * np.exp(-(self.first + self.step * np.arange(start, len(self.masses))))
        return start, masses[::-1].cumsum()[::-1], other[::-1].cumsum()[::-1]

    def delta(self, epsilon: float) -> float:
        """Return the mass of losses l > epsilon >= 0, each times 1 - exp(epsilon - l)."""
        start, here, there = self._tails
        place = max(0, math.floor((epsilon - self.first) / self.step) + 1 - start)
        if place >= len(here):
            return self.infinite
        if epsilon > 700:  # the exponential overflows
            losses = self.first + self.step * np.arange(start + place, len(self.masses))
            return min(1.0, self.infinite + float(self.masses[start + place :] @ -np.expm1(epsilon - losses)))
        return min(1.0, self.infinite + max(0.0, float(here[place] - math.exp(epsilon) * there[place])))


@cache
def _summed(one: Accountant, removal: bool, upper: bool) -> _Sum:
    """Return the law of the sum of T losses ln P / Q under P, or with addition of losses ln Q / P under Q."""
    step = one._step
    sigma = one.noise_multiplier
    ends = one._loss(-_TAIL * sigma), one._loss(1 + _TAIL * sigma)
    first = math.floor(ends[0] / step)
    last = math.ceil(ends[1] / step)
    masses = one._masses(np.asarray(step * np.arange(first, last + 1), dtype=np.float64), removal)
    # The loss of a cell is an edge of it: of ln P / Q the upper one for an upper bound; of ln Q / P, its negative,
    # the lower one.
    lowest = first + 1 if removal == upper else first
    if not removal:
        # Under Q the loss is -l: the grid is read backwards.
        masses = masses[::-1]
        lowest = -(lowest + len(masses) - 1)
    # What lies beyond the tails counts as an infinite loss in an upper bound and is left out of a lower one.
    missing = max(0.0, 1 - float(masses.sum())) if upper else 0.0
    # As long as the sum of T losses, so that the cyclic convolution does not wrap around.
    size = 1 << (one.steps * len(masses)).bit_length()
    total = np.fft.irfft(np.fft.rfft(masses, size) ** one.steps, size)[: one.steps * (len(masses) - 1) + 1]
    # Rounding in the transform leaves values below 0, which are no masses.
    total = np.maximum(total, 0.0)
    return _Sum(one.steps * lowest * step, step, total, -math.expm1(one.steps * math.log1p(-missing)))


_erf = np.frompyfunc(math.erf, 1, 1)


def _normal(x: Floats) -> Floats:
    """Return the normal distribution function, less 1 / 2 where it only enters differences."""
    return 0.5 * np.asarray(_erf(x / math.sqrt(2)), dtype=np.float64)
