"""A case on which a cover by halfplanes misses the only point that matters: hardly any halfplane covers it alone.

On the grid {0 .. d}^2 let w be the odd one of d and d - 1. The points p = (0, 0) and r = (w, 2) are positive, and
q = ((w - 1)/2, 1), which is above the segment between them by 1/w, is negative: the target is the halfplane below a
line that passes between. q has a little more than alpha of the mass, and p and r half of the rest, more than alpha
each. An answer errs by more than alpha unless q is covered and neither p nor r is.

In the dual plane the lines (a, b) above p and r and not above q are a triangle, of area G; a triangle between three
crossings can hardly be smaller (KMMS, Claim 4.5). With N the measure of the halfplanes that cover none of the three,
with m examples at q, and b the noisy count of a round in which nothing was covered before, the round covers q alone,
and not nothing, with odds

    (G/N) exp(rate (min{m - b/k, 0} - min{-b/k, 0})) = (G/N) exp(rate min{max{b/k, 0}, m}).

A round that covers p or r fails, and is left out here: the rate that one computes is lower then. So, the noise being
independent in all rounds, Pr[failure] >= E_m (E_b 1/(1 + odds))^J, m ~ Bin(n, mass).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np

from dpaudit.contract import InputError

from ..arrays import Floats
from ..covers.rounds import RoundedNoise
from ..finite.worst_case import likely_counts
from ..parameters import check_integer

# Numbers of examples at q that are further from their mean have a probability of less than 1e-15.
DEVIATIONS = 9.0
# The numbers that are looked at; others count as the next larger one, which is covered more easily.
NUMBERS = 64
# Scales of the noise on either side that are looked at, and the values within a scale. Beyond, 1e-13 of the mass fails.
REACH = 30
VALUES = 50
# Relative excess of the mass of q over alpha.
EXCESS = 0.001


@dataclass(frozen=True)
class MissedPoint:
    """The case above for a grid, J `rounds`, k, the inverse temperature `rate`, the noise, and alpha.

    `InputError` if side is below 3, where the three points are no triangle; or if alpha is too large for p and r to
    have more than alpha each.
    """

    side: int
    rounds: int
    k: int
    rate: float
    noise: RoundedNoise
    alpha: float

    def __post_init__(self) -> None:
        check_integer("side", self.side, 3)
        if (1 - self.mass) / 2 <= self.alpha:
            raise InputError.of("alpha", self.alpha, "below 0.333, for a failure rate that is computed")

    @property
    def mass(self) -> float:
        """The mass of q."""
        return (1 + EXCESS) * self.alpha

    @property
    def points(self) -> tuple[tuple[int, int], tuple[int, int], tuple[int, int]]:
        """Return p, r and q."""
        width = self.side if self.side % 2 else self.side - 1
        return (0, 0), (width, 2), ((width - 1) // 2, 1)

    @cached_property
    def measures(self) -> tuple[Fraction, Fraction]:
        """G and N, exactly: areas between the lines b = y - a x of the points, in the box |a|, |b| <= 2 d^2."""
        bound = 2 * self.side**2
        points = self.points
        ends = {Fraction(-bound), Fraction(bound)}
        # The heights are linear between the crossings of the lines with each other and with the edges of the box.
        for i, (x, y) in enumerate(points):
            for u, v in points[:i]:
                ends.add(Fraction(v - y, u - x))
            if x:
                ends |= {Fraction(y - bound, x), Fraction(y + bound, x)}
        alone = Fraction(0)
        between = Fraction(0)
        for low, high in pairwise(sorted(a for a in ends if abs(a) <= bound)):
            middle = (low + high) / 2
            heights = [min(max(y - middle * x, Fraction(-bound)), Fraction(bound)) for x, y in points]
            *others, own = heights
            alone += (high - low) * max(own - max(others), Fraction(0))
            between += (high - low) * (max(heights) - min(heights))
        # Of both signs together all but the strip between the lines covers nothing, and as much all three.
        return alone, 4 * Fraction(bound) ** 2 - between

    def failure(self, n: int) -> float:
        """Return a lower bound for Pr[error > alpha] on n examples, which falls with n."""
        counts, chances = likely_counts(n, self.mass, DEVIATIONS, DEVIATIONS)
        step = math.ceil(len(counts) / NUMBERS)
        # Each number is taken for the last one of its block: more examples at q make it easier to find.
        starts = np.arange(0, len(counts), step)
        blocks = np.add.reduceat(chances, starts)
        last = counts[np.minimum(starts + step, len(counts)) - 1]
        return float(blocks @ self.missed(last))

    def missed(self, numbers: Floats) -> Floats:
        """Return for numbers m of examples at q the chance that no round covers q alone, on many at p and r."""
        values, weights = self._values()
        odds = self._log_ratio + self.rate * np.clip((numbers[:, None] + values) / self.k, 0, numbers[:, None])
        return np.asarray(((1 / (1 + np.exp(np.minimum(odds, 700.0)))) @ weights) ** self.rounds)

    @cached_property
    def _log_ratio(self) -> float:
        alone, none = self.measures
        ratio = alone / none
        return math.log(ratio.numerator) - math.log(ratio.denominator)

    def _values(self) -> tuple[Floats, Floats]:
        """Return values of b - m and their probabilities: those of a block count as its greatest, an easier one."""
        from scipy.stats import laplace

        scale = self.noise.scale
        if not scale:
            return np.zeros(1), np.ones(1)
        step = max(1, int(scale / VALUES))
        low = math.floor(-REACH * scale - self.noise.offset)
        values = np.arange(low, math.ceil(REACH * scale - self.noise.offset) + step, step, dtype=np.float64)
        # ceil(w - offset) <= v exactly if w <= v + offset.
        below = laplace.cdf((values + self.noise.offset) / scale)
        return values, np.diff(below, prepend=0.0)

    def __str__(self) -> str:
        return (
            f"mass {self.mass:.6g} on a point above the middle of the segment between two others, which have the rest, "
            f"side {_power(self.side)}; a lower bound for the failure rate"
        )


def _power(number: int) -> str:
    """Return a number, as a power of two where it is a large one."""
    if number > 10**6:
        return f"2^{math.log2(number):g}"
    return str(number)
