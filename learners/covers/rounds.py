"""A round of the Set Cover Learner: the weights of the sets, the noise on what is left to cover, and the exact law.

With R left to cover, b is R with noise, and a round chooses h with probability

    p(h) = E_b [m_h exp(a q_h(b)) / sum_g m_g exp(a q_g(b))],    q_h(b) = min{c_h - b/k, -e_h}.

q_h equals -e_h for b up to k (c_h + e_h) and falls with slope 1/k beyond: outside the breakpoints the integrand is
constant in b, and its tails are closed forms. `LaplaceNoise` is b = R + w - offset with w ~ Lap(scale), integrated with
a proved error bound; `RoundedNoise` is b = R + ceil(w - offset), a finite sum. Rounding up keeps what the analysis of
the learner uses: R - 2 offset <= b <= R whenever |w| <= offset, and shifting R by one shifts b by one. With an integer
b all scores k q_h are integers, which exact samplers need.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np

from dpaudit.contract import InputError

from ..arrays import Floats, Integers
from ..mechanisms.log_laws import ULP, log_above, log_below, log_between, log_softmax, log_sum


@dataclass(frozen=True, eq=False)
class Round:
    """A choice of a set h with probability proportional to m_h exp(a q_h), q_h = min{c_h - b/k, -e_h}.

    `covered` and `spoiled`, (size,) or (runs, size), are c_h and e_h, integers: the weight that h covers on the side to
    be covered and on the other side. `remaining`, an integer or (runs,), is R, what is left to be covered, of which b
    is an estimate; `k` that of the learner, `rate` a, and `log_measures` (size,) ln m_h.
    """

    covered: Floats
    spoiled: Floats
    remaining: float | Floats
    k: int
    rate: float
    log_measures: Floats

    def log_weights(self, b: float | Floats | Integers) -> Floats:
        """Return ln (m_h exp(a q_h)) for estimates b that broadcast against c_h."""
        weights = self.rate * np.minimum(self.covered - b / self.k, -self.spoiled) + self.log_measures
        return np.asarray(weights, dtype=np.float64)

    @property
    def width(self) -> float:
        """The greatest |ln m_h|."""
        return float(np.abs(self.log_measures).max())

    def greatest_score(self, b: float) -> float:
        """Return a bound on |q_h| for estimates in [-b, b]."""
        return float(self.covered.max() + self.spoiled.max()) + b / self.k

    def law_without_noise(self, summands: int = 0) -> tuple[Floats, float]:
        """Return ln Pr[h] (size,) for b = R, and a bound on its error; `summands` counts those beyond 64."""
        logs = log_softmax(self.log_weights(self.remaining))
        size = self.rate * self.greatest_score(float(self.remaining)) + self.width
        return logs, ULP * (8 * size + 4 * float(-logs.min()) + summands + 64)


NODES = 16
MAX_PIECES = 4096


@dataclass(frozen=True)
class LaplaceNoise:
    """Laplace noise of a scale s with an offset, b = R + w - offset; none for scale 0, b = R."""

    scale: float
    offset: float

    def estimate(self, remaining: Floats, rng: np.random.Generator) -> Floats:
        """Return b for each R, (runs,)."""
        if self.scale:
            return remaining + rng.laplace(0.0, self.scale, len(remaining)) - self.offset
        return remaining

    def round_law(self, a_round: Round) -> tuple[Floats, float]:
        """Return ln p(h) (size,), and a bound on the absolute error.

        Between two neighbouring cuts (breakpoints, 0, and points at most 2 l apart) f = softmax times density is
        analytic: exp(linear) / (A exp(-a w/k) + B). Gauss-Legendre quadrature with n + 1 nodes errs by at most
        (64/15) l M r^(-2n) / (1 - r^-2), M the greatest modulus on the Bernstein ellipse with parameter r (Trefethen,
        "Approximation theory and approximation practice", Theorem 19.3). For r = 4 and l (a/k + 1/s) <= 1/2 the
        imaginary part of a w/k stays below 15/16 < pi/2, where |A e^(i t) x + B| >= (A x + B)/sqrt(2); the logarithm
        of f has slope at most a/k + 1/s, so M <= sqrt(2) e^(9/16) max f, and the integral is at least 2 l e^-1 max f.
        The relative error is therefore at most (32/15) sqrt(2) e^(25/16) (16/15) 4^-30 < 2e-17: less than one ulp,
        whatever the probabilities. The rest is rounding: of the exponents, of the sums of positive terms, of nodes and
        weights.

        `InputError` if the sample has too many examples for the integral.
        """
        if not self.scale:
            return a_round.law_without_noise()
        rate = a_round.rate
        covered = a_round.covered
        spoiled = a_round.spoiled
        breaks = a_round.k * (covered + spoiled) - a_round.remaining + self.offset
        low = float(breaks.min())
        high = float(breaks.max())
        # Outside the extreme breakpoints the softmax is constant in b: below them all scores are -e_h, above them c_h
        # - b/k, where b cancels.
        centres, halves = _pieces(breaks, rate / a_round.k + 1 / self.scale)
        parts = [log_softmax(logs + a_round.log_measures) + float(share) for logs, share in (
            (-rate * spoiled, log_below(np.array(low / self.scale))),
            (rate * covered, log_above(np.array(high / self.scale))),
        )]  # fmt: skip
        if len(centres):
            nodes, weights = _gauss_legendre(NODES)
            # Between them, Gauss-Legendre quadrature on each piece, with the density of the noise as weight.
            w = (centres[:, None] + halves[:, None] * nodes).ravel()
            density = -np.abs(w) / self.scale - math.log(2 * self.scale) + np.log((halves[:, None] * weights).ravel())
            b = (a_round.remaining + w - self.offset)[:, None]
            parts.append(log_sum(log_softmax(a_round.log_weights(b)) + density[:, None]))
        logs = log_sum(np.stack(parts))
        reach = max(abs(low), abs(high))
        size = a_round.greatest_score(float(a_round.remaining) + reach + self.offset)
        exponents = 12 * rate * size + 12 * reach / self.scale + 4 * float(-logs.min())
        return logs, ULP * (exponents + 20 * len(centres) + 128 + 12 * a_round.width)


# From a number of nodes to the nodes and weights on [-1, 1].
_gauss_legendre = cache(np.polynomial.legendre.leggauss)


def _pieces(breaks: Floats, slope: float) -> tuple[Floats, Floats]:
    """Return centres and half-lengths (at most 1/(2 slope)) of the pieces between the extreme breakpoints."""
    low = float(breaks.min())
    high = float(breaks.max())
    # The density has a corner at w = 0, so a piece ends there.
    cuts = sorted({*map(float, breaks), *([0.0] if low < 0 < high else [])})
    if (high - low) * slope > MAX_PIECES:
        raise InputError("the sample has too many examples for the exact law; run has no such limit")
    parts = [np.linspace(u, v, math.ceil((v - u) * slope), endpoint=False) for u, v in pairwise(cuts)]
    ends = np.concatenate([*parts, cuts[-1:]])
    return (ends[:-1] + ends[1:]) / 2, np.diff(ends) / 2


MAX_VALUES = 2**14


@dataclass(frozen=True)
class RoundedNoise:
    """v = ceil(w - offset) with w ~ Lap(scale); v = 0 for scale 0."""

    scale: float
    offset: float

    def estimate(self, remaining: Floats, rng: np.random.Generator) -> Floats:
        """Return b for each R, (runs,)."""
        if not self.scale:
            return remaining
        return remaining + np.ceil(rng.laplace(0.0, self.scale, len(remaining)) - self.offset).astype(np.int64)

    def log_law(self, low: int, high: int) -> Floats:
        """Return ln Pr[v <= low], ln Pr[v = low + 1], .., ln Pr[v = high], ln Pr[v > high].

        ceil(w - offset) <= v exactly if w <= v + offset. The argument (v + offset)/scale is rounded twice, which moves
        each probability by a relative 2^-52 (|v| + offset) max(1, 2/scale) at most.
        """
        # v exceeds `high` if w > high + offset, and is at most `low` if w <= low + offset.
        z = [(v + self.offset) / self.scale for v in range(low, high + 1)]
        middle = [log_between(start, 1 / self.scale) for start in z[:-1]]
        return np.array([float(log_below(np.array(z[0]))), *middle, float(log_above(np.array(z[-1])))])

    def round_law(self, a_round: Round) -> tuple[Floats, float]:
        """Return ln p(h) (size,), and a bound on the absolute error.

        q_h = -e_h for v up to k (c_h + e_h) - R: below the least of these the softmax is that of -e, above the greatest
        that of c, and in between there are finitely many v. All terms are positive, so errors are those of one term and
        of a sum of floats.

        `InputError` if the sample has too many examples for the sum.
        """
        sets = len(a_round.covered)
        if not self.scale:
            return a_round.law_without_noise(sets)
        breaks = a_round.k * (a_round.covered + a_round.spoiled) - a_round.remaining
        low = int(breaks.min())
        high = int(breaks.max())
        if high - low > MAX_VALUES:
            raise InputError("the sample has too many examples for the exact law; run has no such limit")
        shifts = np.arange(low, high + 2)
        # The first row is right for all v <= low, the last for all v > high, where b shifts every score alike.
        weights = a_round.log_weights(np.asarray(a_round.remaining + shifts[:, None]))
        logs = log_sum(log_softmax(weights) + self.log_law(low, high)[:, None])
        reach = max(abs(low), abs(high)) + 1 + self.offset
        size = a_round.greatest_score(float(a_round.remaining) + reach)
        exponents = 12 * (a_round.rate * size + a_round.width) + 4 * reach * max(1.0, 2 / self.scale)
        return logs, ULP * (exponents + 4 * float(-logs.min()) + len(shifts) + sets + 64)
