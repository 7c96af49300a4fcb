"""The dominating pair of a mechanism: one pair of laws that is at least as bad as every pair of neighbours at once.

For a pair of laws (P, Q) let H(g) = sum_o (P(o) - g Q(o))_+, g >= 0, so that delta(epsilon) = H(exp(epsilon)). H
is the greatest of the lines P(S) - g Q(S) over the events S: convex, decreasing, H(0) = 1. The supremum h of the H of
all pairs is again of this form, and every T-fold composition, adaptive or not, of mechanisms below h has

    delta_T(epsilon) <= the same for T independent copies of any pair (P^, Q^) with H^ >= h

(Zhu, Dong and Wang, "Optimal accounting of differential privacy via characteristic function", AISTATS 2022,
Theorem 10). The proof adds up H over the outputs of the other mechanisms with non-negative weights, so it holds for
measures P^, Q^ that are no probabilities just as well: where a rounding error must be covered, mass is added.

No single pair need attain h: the one with the greatest epsilon can be far below it elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpaudit.bounds.curve import lower_hull
from dpaudit.exact.profiles import LossProfiles

# Greater losses count as infinite in upper bounds (which raises them): exp of it must be a float.
MAX_LOSS = 500.0

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_ULP = 2.0**-52
# A chord this close to the supremum is taken for it; about the rounding error of H.
_FLAT = 2.0**-46
# Knots are set no closer than this in epsilon; the chord between two of them is still an upper bound.
_WIDTH = 1e-4
# The least distance of a knot from the ends of a wider interval, relative to them.
_CLOSE = 2.0**-30
_MAX_KNOTS = 2**15


@dataclass(frozen=True, eq=False)
class LossLaw:
    """The law of the privacy loss ln dP/dQ under P: all that composition needs to know of a pair (P, Q).

    `losses` are the finite ones, increasing, and `mass` the probability of each under P, both of shape (m,); `infinite`
    is the probability under P of what is impossible under Q.
    """

    losses: Floats
    mass: Floats
    infinite: float

    def delta(self, epsilon: float) -> float:
        """Return the hockey-stick divergence: infinite + sum of mass (1 - exp(epsilon - loss))_+."""
        gap = np.minimum(epsilon - self.losses, 0.0)
        return float((-np.expm1(gap) * self.mass).sum()) + self.infinite


def dominating_law(profiles: LossProfiles) -> LossLaw:
    """Return the loss law of a pair that dominates every pair of the profiles.

    The supremum h is bounded by its chords between knots. Knots are found by intersecting tangents: between two knots
    h lies above the tangents at both and below the chord; where the tangents meet, h is evaluated, and becomes a knot
    unless it touches the chord. A break of a piecewise linear h is hit exactly, so the result is exact for a few
    breaks, and otherwise off by what a shift of the loss by `_WIDTH` can do, to second order.

    The knots' values become masses: with slopes s_i of the chords, Q has the mass q_i = s_{i+1} - s_i at the loss
    ln g_i, P the mass g_i q_i. The curve of these masses is evaluated at all knots, and what rounding made it lack
    there is added to the infinite loss. Finally masses and losses are raised by the errors of the laws.
    """
    law = _masses(*_knots(profiles))
    scale, shift = _errors(profiles)
    return LossLaw(law.losses + shift, law.mass * scale, min(1.0, law.infinite * scale))


def _errors(profiles: LossProfiles) -> tuple[float, float]:
    """Return the factor on masses and the shift of losses that cover the errors of the laws and of a computed H.

    If ln P is off by at most a and ln Q by at most b, the true P is at most e^a P and the true loss at most a + b
    more: the true H(g) is at most e^a H(g e^-(a + b)). An exponential rounds P and Q by 2 ulp, the product g Q rounds
    by 1/2 ulp: more of the same. The difference and the sum over K atoms round their result by at most K + 1 ulp.
    """
    error = profiles.error
    each = float(max(error[profiles.left].max(), error[profiles.right].max()))
    both = float((error[profiles.left] + error[profiles.right]).max())
    return math.exp(min(each, 700.0)) * (1 + _ULP * (profiles.log_prob.shape[1] + 8)), both + 8 * _ULP


@dataclass(frozen=True, eq=False)
class _Knot:
    """The supremum h at one g: its value, the line height - g slope of the best event, and H of each candidate."""

    gamma: float
    value: float
    height: float
    slope: float
    curves: Floats

    def tangent(self, gamma: float) -> float:
        """Return the line of the best event: h is nowhere below it."""
        return self.height - gamma * self.slope


def _knots(profiles: LossProfiles) -> tuple[Floats, Floats]:
    """Return the knots g, increasing from 0, and h there; beyond the last one h is constant.

    A pair whose chord between two knots is below the tangents where these meet is nowhere between them the greatest
    (chord minus tangents is concave and greatest there), and is a candidate no more.
    """
    everyone = np.arange(len(profiles.left), dtype=np.int64)
    # At 0 every H is 1 and falls with the mass of Q on what P can give.
    slopes = _sums(profiles, everyone, lambda p, q: np.where(p > 0, q, 0.0))
    first = _Knot(0.0, 1.0, 1.0, float(slopes.min()), np.ones(len(everyone)))
    last = _last(profiles, everyone)
    found = {first.gamma: first.value, last.gamma: last.value}
    stack = [(first, last, everyone)]
    while stack and len(found) < _MAX_KNOTS:
        low, high, pairs = stack.pop()
        gamma = _next_knot(low, high)
        if gamma is None:
            continue
        meeting = _meeting(low, high)
        share = (meeting - low.gamma) / (high.gamma - low.gamma)
        chords = low.curves + share * (high.curves - low.curves)
        # Only these pairs can be the greatest somewhere between the two knots.
        kept = np.flatnonzero(chords >= low.tangent(meeting) - _FLAT)
        middle = _evaluate(profiles, gamma, pairs[kept])
        found[gamma] = middle.value
        low, high = (replace(end, curves=end.curves[kept]) for end in (low, high))
        stack += [(low, middle, pairs[kept]), (middle, high, pairs[kept])]
    gammas = sorted(found)
    return np.array(gammas), np.array([found[g] for g in gammas])


def _last(profiles: LossProfiles, pairs: Indices) -> _Knot:
    """Return a knot beyond the greatest loss up to `MAX_LOSS`, where H is the mass of P on greater losses."""
    losses = (profiles.losses(part) for part in profiles.blocks(pairs))
    greatest = max(float(loss.max(where=loss <= MAX_LOSS, initial=0.0)) for loss in losses)
    top = math.exp(greatest) * (1 + 8 * _ULP * (1 + greatest))
    curves = _sums(profiles, pairs, lambda p, q: np.where(p > top * q, p, 0.0))
    value = float(curves.max())
    return _Knot(top, value, value, 0.0, curves)


def _evaluate(profiles: LossProfiles, gamma: float, pairs: Indices) -> _Knot:
    """Return the knot at `gamma`, given that one of `pairs` is the greatest there."""
    curves = _sums(profiles, pairs, lambda p, q: np.maximum(p - gamma * q, 0.0))
    best = int(np.argmax(curves))
    left, right = _sides(profiles, pairs[best : best + 1])
    event = left > gamma * right
    return _Knot(gamma, float(curves[best]), float(left[event].sum()), float(right[event].sum()), curves)


def _sums(profiles: LossProfiles, pairs: Indices, terms: Callable[[Floats, Floats], Floats]) -> Floats:
    """Return for each pair the sum over its atoms of terms(P, Q)."""
    return np.concatenate([terms(*_sides(profiles, part)).sum(axis=1) for part in profiles.blocks(pairs)])


def _sides(profiles: LossProfiles, pairs: Indices) -> tuple[Floats, Floats]:
    return profiles.probability[profiles.left[pairs]], profiles.probability[profiles.right[pairs]]


def _meeting(low: _Knot, high: _Knot) -> float:
    """Return where the two tangents meet, within the knots; the middle if rounding left them parallel."""
    fall = low.slope - high.slope
    if fall <= 0:
        return (low.gamma + high.gamma) / 2
    return min(max((low.height - high.height) / fall, low.gamma), high.gamma)


def _next_knot(low: _Knot, high: _Knot) -> float | None:
    """Return where to evaluate h between two knots; None if they are close, or the tangents touch the chord."""
    gamma = _meeting(low, high)
    chord = low.value + (gamma - low.gamma) / (high.gamma - low.gamma) * (high.value - low.value)
    if chord - low.tangent(gamma) <= _FLAT or high.gamma <= low.gamma * (1 + _WIDTH):
        return None
    # Not at a knot that is there already, whatever rounding says.
    found = min(max(gamma, low.gamma * (1 + _CLOSE)), high.gamma * (1 - _CLOSE))
    return found if found > low.gamma else None


def _masses(gammas: Floats, values: Floats) -> LossLaw:
    """Return the loss law whose curve H is at least `values` at the knots, hence at least their chords everywhere."""
    corners = lower_hull(gammas, values)
    slopes = np.append(np.diff(values[corners]) / np.diff(gammas[corners]), 0.0)
    knots = gammas[corners][1:]
    mass = knots * np.maximum(np.diff(slopes), 0.0)
    # By how much the curve of the masses is below the values, which the infinite loss makes up for.
    lack = float((values - _curve(knots, mass, gammas)).max())
    rounding = 4 * len(gammas) * float(np.finfo(np.longdouble).eps) + 4 * _ULP
    kept = mass > 0
    return LossLaw(np.log(knots[kept]), mass[kept], max(lack, 0.0) + rounding)


def _curve(knots: Floats, mass: Floats, gammas: Floats) -> Floats:
    """Return H(g) = sum of mass (1 - g / knot)_+ at every g, both increasing, by sums from the right.

    Extended precision, so that the rounding of n additions of numbers that total 1 is n times its epsilon (where a
    platform has none, that of a double: `_masses` asks for it).
    """
    above = np.searchsorted(knots, gammas, side="right")
    heavy = mass.astype(np.longdouble)
    heights = np.append(np.cumsum(heavy[::-1])[::-1], 0)
    slopes = np.append(np.cumsum((heavy / knots)[::-1])[::-1], 0)
    return np.asarray(heights[above] - gammas * slopes[above], dtype=np.float64)
