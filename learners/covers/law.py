"""The law of one round of the Set Cover Learner, integrated over its Laplace noise with a proved error bound.

With c_h and e_h the weight that h covers on the side to be covered and on the other side, R what remains to be covered,
noise w ~ Lap(s) and b = R + w - offset, h is chosen with probability

    p(h) = E_w [exp(a q_h(w)) / sum_g exp(a q_g(w))],    q_h(w) = min{c_h - b/k, -e_h}.

q_h equals -e_h for w up to k (c_h + e_h) - R + offset and falls with slope 1/k beyond: outside the breakpoints the
integrand is constant in w, and its tails are closed forms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import InputError
from learners.covers.logs import log_softmax, log_sum
from learners.mechanisms.laplace import log_above, log_below

__all__ = ["Noise", "round_law"]

Floats = NDArray[np.float64]

NODES = 16
ULP = 2.0**-52
MAX_PIECES = 4096


@dataclass(frozen=True)
class Noise:
    """Laplace noise of a scale s > 0 with an offset: b = R + w - offset."""

    scale: float
    offset: float


def round_law(covered: Floats, spoiled: Floats, remaining: int, k: int, rate: float, noise: Noise | None) -> tuple[
    Floats, float
]:  # fmt: skip
    """Return ln p(h) for all h, and a bound on the absolute error.

    Between two neighbouring cuts (breakpoints, 0, and points at most 2 l apart) f = softmax times density is analytic:
    exp(linear) / (A exp(-a w/k) + B). Gauss-Legendre quadrature with n + 1 nodes errs by at
    most (64/15) l M r^(-2n) / (1 - r^-2), M the greatest modulus on the Bernstein ellipse with parameter r (Trefethen,
    "Approximation theory and approximation practice", Theorem 19.3). For r = 4 and l (a/k + 1/s) <= 1/2 the
    imaginary part of a w/k stays below 15/16 < pi/2, where |A e^(i t) x + B| >= (A x + B)/sqrt(2); the logarithm of f
    has slope at most a/k + 1/s, so M <= sqrt(2) e^(9/16) max f, and the integral is at least 2 l e^-1 max f. The
    relative error is therefore at most (32/15) sqrt(2) e^(25/16) (16/15) 4^-30 < 2e-17: less than one ulp, whatever the
    probabilities. The rest is rounding: of the exponents, of the sums of positive terms, of nodes and weights.

    Parameters
    ----------
    covered, spoiled : array of float64, shape (2 d,)
        c_h and e_h, integers.
    remaining : int
        R.
    k : int
        The k of the learner.
    rate : float
        a.
    noise : Noise or None
        None for b = R.
    """
    if noise is None:
        logs = log_softmax(rate * np.minimum(covered - remaining / k, -spoiled))
        size = float(covered.max() + spoiled.max() + remaining / k)
        return logs, ULP * (8 * rate * size + 4 * float(-logs.min()) + 64)
    breaks = k * (covered + spoiled) - remaining + noise.offset
    low, high = float(breaks.min()), float(breaks.max())
    centres, halves = _pieces(breaks, rate / k + 1 / noise.scale)
    parts = [log_softmax(-rate * spoiled) + float(log_below(np.array(low / noise.scale))),
             log_softmax(rate * covered) + float(log_above(np.array(high / noise.scale)))]  # fmt: skip
    if len(centres):
        parts.append(_integral(centres, halves, covered, spoiled, remaining, k, rate, noise))
    logs = log_sum(np.stack(parts))
    reach = max(abs(low), abs(high))
    size = float(covered.max() + spoiled.max()) + (remaining + reach + noise.offset) / k
    return logs, ULP * (12 * rate * size + 12 * reach / noise.scale + 4 * float(-logs.min()) + 20 * len(centres) + 128)


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


def _integral(
    centres: Floats, halves: Floats, covered: Floats, spoiled: Floats, remaining: int, k: int, rate: float, noise: Noise
) -> Floats:
    """Return the logarithm of the integral over all pieces, for each h."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    w = (centres[:, None] + halves[:, None] * nodes).ravel()
    size = np.log((halves[:, None] * weights).ravel())
    b = remaining + w - noise.offset
    q = np.minimum(covered - b[:, None] / k, -spoiled)
    density = -np.abs(w) / noise.scale - math.log(2 * noise.scale)
    return log_sum(log_softmax(rate * q) + (density + size)[:, None])
