"""Multisets of integers, and step functions on the integers 0 .. size - 1, given by few pieces.

The domain is never listed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise

import numpy as np

from dpaudit.contract import InputError

from ..arrays import Exact, Floats, Integers
from . import exponential
from .log_laws import ULP, placed

Multiset = tuple[list[int], list[int]]
"""Distinct values in ascending order, and their counts."""


def multiset(values: Exact, counts: Integers) -> Multiset:
    """Return the distinct values in ascending order, as Python integers, and how often each occurs."""
    total: Counter[int] = Counter()
    for value, count in zip(values.tolist(), counts.tolist(), strict=True):
        total[value] += count
    return of_counter(total)


def of_counter(counts: Counter[int]) -> Multiset:
    """Return the multiset of a counter; values that occur 0 times are left out."""
    items = sorted((x, c) for x, c in counts.items() if c)
    return [x for x, _ in items], [c for _, c in items]


def ranks(data: Multiset, start: int, stop: int) -> Multiset:
    """Return the elements with ranks start .. stop - 1, counted from 0 at the smallest one."""
    points = []
    counts = []
    seen = 0
    for x, count in zip(*data, strict=True):
        # The copies of x have the ranks seen .. seen + count - 1.
        kept = min(seen + count, stop) - max(seen, start)
        seen += count
        if kept > 0:
            points.append(x)
            counts.append(kept)
    return points, counts


def merged(first: Multiset, second: Multiset) -> Multiset:
    """Return the union of two multisets."""
    counts = Counter(dict(zip(*first, strict=True)))
    return of_counter(counts + Counter(dict(zip(*second, strict=True))))


def extremes(values: Exact, counts: Integers, m: int, padding: int, largest: bool) -> Multiset:
    """Return the m smallest (largest) values of a multiset, filled up with copies of `padding`.

    Whatever the multiset: replacing one value, removing one or adding one replaces at most one of the m. That needs the
    padding to be an upper bound of the values where the smallest are taken (a lower bound for the largest): then these
    are the m first of the sorted list with endless padding behind it.
    """
    data = multiset(values, counts)
    n = sum(data[1])
    kept = ranks(data, max(0, n - m), n) if largest else ranks(data, 0, m)
    return merged(kept, ([padding], [m - n])) if n < m else kept


Number = int | Fraction


@dataclass(frozen=True)
class Steps:
    """The function with value `values[i]` from `starts[i]` to the next start (or to `size`).

    Starts ascend; the first is 0 in a function on the whole domain. `lengths` says how many integers each piece holds;
    pieces need not touch, so that a restriction is one too.
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

    def merged(self) -> Steps:
        """Return the same function on 0 .. size - 1 in as few pieces as possible."""
        kept = [i for i, value in enumerate(self.values) if i == 0 or value != self.values[i - 1]]
        return Steps.of([self.starts[i] for i in kept], [self.values[i] for i in kept], self.size)

    def restricted(self, intervals: Iterable[tuple[int, int]]) -> Steps:
        """Return the function on the union of disjoint intervals [a, b), in the order given."""
        pieces = [
            (max(s, a), min(s + length, b) - max(s, a), v)
            for a, b in intervals
            for s, length, v in zip(self.starts, self.lengths, self.values, strict=True)
            if s < b and a < s + length
        ]
        return Steps([p[0] for p in pieces], [p[1] for p in pieces], [p[2] for p in pieces])

    def integers(self) -> tuple[Integers, int]:
        """Return integers w and a divisor d with values = w / d, or raise `InputError` where they pass 2^62."""
        divisor = math.lcm(*{v.denominator for v in self.values})
        # Exact samplers need integer scores; the divisor goes into the rate.
        if divisor == 1:
            scaled = [int(v) for v in self.values]
        else:
            scaled = [int(v * divisor) for v in self.values]
        if max(-min(scaled), max(scaled)) >= 2**62:
            raise InputError(
                f"scores must be rationals with a small common denominator, got one of {divisor}; "
                "give promise and alpha as simple fractions"
            )
        return np.array(scaled, dtype=np.int64), divisor

    def draw_exponential(self, rate: float, rng: np.random.Generator, size: int) -> list[int]:
        """Return `size` integers, x with probability exactly proportional to exp(rate f(x))."""
        scores, divisor = self.integers()
        # A piece by its length times its weight, then an integer of it uniformly: no domain is listed.
        cells = exponential.draw_cells(self.lengths, scores, rate / divisor, rng, size)
        offsets = exponential.uniform_within([self.lengths[i] for i in cells], rng)
        return [self.starts[i] + offset for i, offset in zip(cells, offsets, strict=True)]

    def log_exponential(self, rate: float, size: int) -> tuple[Floats, float]:
        """Return the log-probabilities (size,) of `draw_exponential` and a bound on the error of the finite ones."""
        scores, divisor = self.integers()
        logs, error = exponential.log_law(np.repeat(scores, self.lengths), rate / divisor)
        points = np.concatenate([np.arange(s, s + n) for s, n in zip(self.starts, self.lengths, strict=True)])
        return placed(size, points, logs), error + ULP * float(-logs.min())

    def log_pieces(self, rate: float) -> tuple[Floats, float]:
        """Return the log-probability of one integer of each piece by `draw_exponential`, and a bound on the error.

        As in `exponential.log_law`, with a rounding more of each term of the normaliser: the product with a length.
        """
        scores, divisor = self.integers()
        gaps = rate / divisor * (scores.max() - scores)
        lengths = np.array([float(n) for n in self.lengths])
        total = math.log(math.fsum(lengths * np.exp(-gaps)))
        error = ULP * (4 * float(gaps.max()) + 8 * math.log(lengths.sum()) + 12)
        return -gaps - total, error

    def outside(self, rate: float, low: int, high: int) -> float:
        """Return the probability that `draw_exponential` gives an integer outside of low .. high.

        Only the lengths of pieces are used, as integers of any size: domains that no computer lists are no harder.
        """

        def log_mass(*intervals: tuple[int, int]) -> float:
            part = self.restricted(intervals)
            terms = [math.log(n) + rate * float(v) for n, v in zip(part.lengths, part.values, strict=True)]
            return float(np.logaddexp.reduce(terms)) if terms else -math.inf

        odds = log_mass((self.starts[0], low), (high + 1, self.size)) - log_mass((low, high + 1))
        # Below e^-700 the probability is 0 in floats, and exp(-odds) would overflow.
        return 1 / (1 + math.exp(-odds)) if odds > -700 else 0.0


def interior_scores(points: Sequence[int], counts: Sequence[int], size: int) -> Steps:
    """Return q(x) = min(#{x_i <= x}, #{x_i >= x}) on 0 .. size - 1.

    Replacing one x_i moves each of the two counts by at most 1, so q has sensitivity 1; the first count ascends and the
    second descends, so q is quasi-concave; at a median it is at least half of the number of points.

    The points are distinct and ascend; `counts` says how often each occurs.
    """
    n = sum(counts)
    values = {0: 0}
    for x, (below, up_to) in zip(points, pairwise(accumulate(counts, initial=0)), strict=True):
        values[x] = min(up_to, n - below)
        # Up to the next point, which comes next or takes this place.
        values[x + 1] = min(up_to, n - up_to)
    values.pop(size, None)
    return Steps.of(list(values), list(values.values()), size)


def widest_windows(score: Steps, steps: int) -> list[Number]:
    """Return L(0) .. L(steps): the greatest minimum of the score over any 2^j consecutive integers.

    Every piece is extended to both sides as long as the score does not fall below its own; a window of 2^j integers has
    minimum >= v exactly if it fits into such an extension of a piece with value >= v. Works for any step function.
    """
    values = score.values
    ends = [s + n for s, n in zip(score.starts, score.lengths, strict=True)]
    left = _reach(values, score.starts)
    right = _reach(values[::-1], [-e for e in ends[::-1]])[::-1]
    widths = [-b - a for a, b in zip(left, right, strict=True)]
    order = sorted(range(len(values)), key=lambda i: -values[i])
    found: list[Number] = []
    widest = 0
    following = 0
    for j in range(steps + 1):
        # Pieces come by falling values: the first whose extension holds 2^j integers gives L(j).
        while widest < 1 << j:
            widest = max(widest, widths[order[following]])
            following += 1
        found.append(values[order[following - 1]])
    return found


def _reach(values: Sequence[Number], starts: Sequence[int]) -> list[int]:
    """Return for each piece the start of the first piece from which on no value up to it is smaller than its own."""
    stack: list[tuple[Number, int]] = []
    reached = []
    for value, start in zip(values, starts, strict=True):
        while stack and stack[-1][0] >= value:
            # Pieces that are not below this one are passed to the left, and so is everything that they had passed.
            start = stack.pop()[1]
        stack.append((value, start))
        reached.append(start)
    return reached
