"""Step functions on the integers 0 .. size - 1, given by few pieces; the domain is never listed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import InputError
from learners.mechanisms import equal_scores, exponential

__all__ = ["Steps", "interior_scores", "log_mixture"]

ULP = 2.0**-52
Number = int | Fraction


@dataclass(frozen=True)
class Steps:
    """The function with value `values[i]` from `starts[i]` to the next start (or to `size`).

    Attributes
    ----------
    starts : sequence of int
        Ascending; the first is 0 in a function on the whole domain.
    lengths : sequence of int
        How many integers each piece holds; pieces need not touch, so that a restriction is one too.
    values : sequence of int or Fraction
        The values.
    """

    starts: Sequence[int]
    lengths: Sequence[int]
    values: Sequence[Number]

    @classmethod
    def of(cls, starts: Sequence[int], values: Sequence[Number], size: int) -> Steps:
        """Return the function on 0 .. size - 1 whose pieces begin at `starts`."""
        return cls(starts, [b - a for a, b in pairwise([*starts, size])], values)

    @classmethod
    def of_values(cls, values: Sequence[Number]) -> Steps:
        """Return the function with the given value at 0, 1, 2, ..."""
        return cls(range(len(values)), [1] * len(values), values)

    @property
    def size(self) -> int:
        """One more than the last integer of the last piece."""
        return self.starts[-1] + self.lengths[-1]

    def restricted(self, intervals: Iterable[tuple[int, int]]) -> Steps:
        """Return the function on the union of disjoint intervals [a, b), in the order given."""
        pieces = [
            (max(s, a), min(s + length, b) - max(s, a), v)
            for a, b in intervals
            for s, length, v in zip(self.starts, self.lengths, self.values, strict=True)
            if s < b and a < s + length
        ]
        return Steps([p[0] for p in pieces], [p[1] for p in pieces], [p[2] for p in pieces])

    def integers(self) -> tuple[NDArray[np.int64], int]:
        """Return integers w and a divisor d with values = w / d, or raise `InputError` where they pass 2^62."""
        divisor = math.lcm(*{v.denominator for v in self.values})
        scaled = [int(v) for v in self.values] if divisor == 1 else [int(v * divisor) for v in self.values]
        if max(-min(scaled), max(scaled)) >= 2**62:
            raise InputError(
                f"scores must be rationals with a small common denominator, got one of {divisor}; "
                "give promise and alpha as simple fractions"
            )
        return np.array(scaled, dtype=np.int64), divisor

    def draw_exponential(self, rate: float, rng: np.random.Generator, size: int) -> list[int]:
        """Return `size` integers, x with probability exactly proportional to exp(rate f(x))."""
        scores, divisor = self.integers()
        cells = equal_scores.draw(self.lengths, scores, rate / divisor, rng, size)
        offsets = equal_scores.uniform_within([self.lengths[i] for i in cells], rng)
        return [self.starts[i] + offset for i, offset in zip(cells, offsets, strict=True)]

    def log_exponential(self, rate: float, size: int) -> tuple[NDArray[np.float64], float]:
        """Return the log-probabilities (size,) of `draw_exponential` and a bound on the error of the finite ones."""
        scores, divisor = self.integers()
        logs, error = exponential.log_law(np.repeat(scores, self.lengths), rate / divisor)
        points = np.concatenate([np.arange(s, s + n) for s, n in zip(self.starts, self.lengths, strict=True)])
        everywhere = np.full(size, -np.inf)
        everywhere[points] = logs
        return everywhere, error + ULP * float(-logs.min())


def interior_scores(points: Sequence[int], counts: Sequence[int], size: int) -> Steps:
    """Return q(x) = min(#{x_i <= x}, #{x_i >= x}) on 0 .. size - 1.

    Replacing one x_i moves each of the two counts by at most 1, so q has sensitivity 1; the first count ascends and the
    second descends, so q is quasi-concave; at a median it is at least half of the number of points.

    Parameters
    ----------
    points : sequence of int
        Distinct, ascending.
    counts : sequence of int
        How often each occurs.
    """
    below = list(accumulate(counts, initial=0))
    n = below[-1]
    starts, values = [], []
    if not points or points[0] > 0:
        starts, values = [0], [0]
    for i, x in enumerate(points):
        starts.append(x)
        values.append(min(below[i + 1], n - below[i]))
        following = points[i + 1] if i + 1 < len(points) else size
        if following > x + 1:
            starts.append(x + 1)
            values.append(min(below[i + 1], n - below[i + 1]))
    return Steps.of(starts, values, size)


def log_mixture(
    log_weights: Sequence[float], laws: Sequence[NDArray[np.float64]], error: float
) -> tuple[NDArray[np.float64], float]:
    """Return the logarithms of sum over i of e^w_i e^law_i, and a bound on their error.

    If each w_i + law_i is within `error` of the truth, so is the logarithm of the sum of their exponentials. Relative
    to the greatest of k terms, subtracting it, exponentials (4 ulp) and the sum add at most 5 k ulp; the logarithm and
    adding the greatest term back add 2 (|result| + ln k + 1) ulp.
    """
    kept = [(w, law) for w, law in zip(log_weights, laws, strict=True) if w > -math.inf]
    terms = np.stack([w + law for w, law in kept])
    peak = terms.max(axis=0)
    safe = np.where(np.isfinite(peak), peak, 0.0)
    with np.errstate(divide="ignore"):
        total = np.log(np.exp(terms - safe).sum(axis=0)) + safe
    finite = total[np.isfinite(total)]
    size = float(np.abs(finite).max()) if len(finite) else 0.0
    return total, error + ULP * (6 * len(kept) + 3 * size + 4)
