"""Laplace noise on what is left to cover, and the law of a round over it, integrated with a proved error bound.

With R left to cover, noise w ~ Lap(s) and b = R + w - offset, a round chooses h with probability

    p(h) = E_w [m_h exp(a q_h(w)) / sum_g m_g exp(a q_g(w))],    q_h(w) = min{c_h - b/k, -e_h}.

q_h equals -e_h for w up to k (c_h + e_h) - R + offset and falls with slope 1/k beyond: outside the breakpoints the
integrand is constant in w, and its tails are closed forms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np

from dpaudit.contract import InputError
from learners.arrays import Floats
from learners.covers.rounds import Round
from learners.mechanisms.laplace import log_above, log_below
from learners.mechanisms.log_laws import ULP, log_softmax, log_sum

__all__ = ["LaplaceNoise"]


NODES = 16
MAX_PIECES = 4096


@dataclass(frozen=True)
class LaplaceNoise:
    """Laplace noise of a scale s with an offset, b = R + w - offset; none for scale 0, b = R."""

    scale: float
    offset: float

    def estimate(self, remaining: Floats, rng: np.random.Generator) -> Floats:
        """Return b for each R, (runs,)."""
        return remaining + rng.laplace(0.0, self.scale, len(remaining)) - self.offset if self.scale else remaining

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

        Raises
        ------
        InputError
            If the sample has too many examples for the integral.
        """
        if not self.scale:
            return a_round.law_without_noise()
        rate, covered, spoiled = a_round.rate, a_round.covered, a_round.spoiled
        breaks = a_round.k * (covered + spoiled) - a_round.remaining + self.offset
        low, high = float(breaks.min()), float(breaks.max())
        centres, halves = _pieces(breaks, rate / a_round.k + 1 / self.scale)
        parts = [log_softmax(logs + a_round.log_measures) + float(share) for logs, share in (
            (-rate * spoiled, log_below(np.array(low / self.scale))),
            (rate * covered, log_above(np.array(high / self.scale))),
        )]  # fmt: skip
        if len(centres):
            parts.append(self._integral(a_round, centres, halves))
        logs = log_sum(np.stack(parts))
        reach = max(abs(low), abs(high))
        size = a_round.greatest_score(a_round.remaining + reach + self.offset)
        exponents = 12 * rate * size + 12 * reach / self.scale + 4 * float(-logs.min())
        return logs, ULP * (exponents + 20 * len(centres) + 128 + 12 * a_round.width)

    def _integral(self, a_round: Round, centres: Floats, halves: Floats) -> Floats:
        """Return the logarithm of the integral over all pieces, for each h."""
        nodes, weights = _gauss_legendre()
        w = (centres[:, None] + halves[:, None] * nodes).ravel()
        size = np.log((halves[:, None] * weights).ravel())
        b = a_round.remaining + w - self.offset
        density = -np.abs(w) / self.scale - math.log(2 * self.scale)
        return log_sum(log_softmax(a_round.log_weights(b[:, None])) + (density + size)[:, None])


@cache
def _gauss_legendre() -> tuple[Floats, Floats]:
    """Return nodes and weights on [-1, 1]."""
    return np.polynomial.legendre.leggauss(NODES)


def _pieces(breaks: Floats, slope: float) -> tuple[Floats, Floats]:
    """Return centres and half-lengths (at most 1/(2 slope)) of the pieces between the extreme breakpoints."""
    low, high = float(breaks.min()), float(breaks.max())
    cuts = sorted({*map(float, breaks), *([0.0] if low < 0 < high else [])})
    if (high - low) * slope > MAX_PIECES:
        raise InputError("the sample has too many examples for the exact law; run has no such limit")
    ends = [np.linspace(u, v, math.ceil((v - u) * slope) + 1) for u, v in pairwise(cuts)]
    starts = np.concatenate([e[:-1] for e in ends]) if ends else np.zeros(0)
    stops = np.concatenate([e[1:] for e in ends]) if ends else np.zeros(0)
    return (starts + stops) / 2, (stops - starts) / 2
