"""Axis-parallel boxes by the exponential mechanism over all of them: exact sampling without a list."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise, product
from typing import ClassVar

import numpy as np

from dpaudit.contract import InputError, Instance, Sample

from ..arrays import Integers
from ..citations import STE
from ..finite.counting import as_codes
from ..finite.exponential import ExponentialLearner
from ..mechanisms import exponential
from ..parameters import Built, check_run
from .concepts import Boxes, interval_of

# The most cells that are ever made.
MAX_CELLS = 2**22


@dataclass(frozen=True)
class Axis:
    """The intervals [a, b] of {0 .. count - 1}, grouped by which of the distinct coordinates v_0 < v_1 < .. they hold.

    Those that hold exactly v_p .. v_q are (v_p - v_{p-1}) (v_{q+1} - v_q) many (v_{-1} = -1, v_c = count). The other
    ones lie in a gap between neighbours; a gap of length g has g (g + 1)/2.
    """

    values: tuple[int, ...]
    count: int

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """The pairs (p, q), p <= q."""
        # Exactly v_p .. v_q are held: a in (v_{p-1}, v_p] and b in [v_q, v_{q+1}).
        return [(p, q) for p in range(len(self.values)) for q in range(p, len(self.values))]

    @cached_property
    def steps(self) -> list[int]:
        """v_i - v_{i-1} for i = 0 .. c."""
        ends = [-1, *self.values, self.count]
        return [b - a for a, b in pairwise(ends)]

    @cached_property
    def sizes(self) -> list[int]:
        """The numbers of intervals of the spans, then of the gaps."""
        gaps = [step - 1 for step in self.steps]
        return [self.steps[p] * self.steps[q + 1] for p, q in self.spans] + [g * (g + 1) // 2 for g in gaps]

    @cached_property
    def holding(self) -> int:
        """The number of intervals that hold some v_i."""
        return sum(self.sizes[: len(self.spans)])

    @property
    def total(self) -> int:
        """The number of intervals."""
        return self.count * (self.count + 1) // 2

    @cached_property
    def _cumulative(self) -> list[int]:
        return list(accumulate(self.sizes))

    def inside(self, kind: int, rng: np.random.Generator) -> tuple[int, int]:
        """Return a uniform interval of one span or gap."""
        if kind < len(self.spans):
            p, q = self.spans[kind]
            return self.values[p] - _below(self.steps[p], rng), self.values[q] + _below(self.steps[q + 1], rng)
        gap = kind - len(self.spans)
        # The gap's integers are those strictly between two neighbouring coordinates.
        start = [-1, *self.values][gap] + 1
        length = self.steps[gap] - 1
        a, b = interval_of(_below(length * (length + 1) // 2, rng), length)
        return start + a, start + b

    def any(self, low: int, high: int, rng: np.random.Generator) -> tuple[int, int]:
        """Return a uniform interval among those that number low .. high - 1 when listed by span, then by gap."""
        rank = low + _below(high - low, rng)
        return self.inside(bisect_right(self._cumulative, rank), rng)


def _below(bound: int, rng: np.random.Generator) -> int:
    """Return a uniform integer in [0, bound); without a draw where there is nothing to choose."""
    if bound == 1:
        return 0
    return exponential.uniform_below(bound, rng, 1)[0]


class BoxCells:
    """The cells of all boxes for one sample.

    A box whose i-th side holds v_p .. v_q of every axis i labels positive the examples in a product of index ranges;
    their number of correct labels comes from prefix sums of (positives - negatives) over the grid of distinct
    coordinates. All other boxes, and the empty one, label all examples negative: d more cells (the first axis whose
    side holds nothing) and one for the empty box. With c_i distinct coordinates on axis i there are
    prod c_i (c_i + 1)/2 + d + 1 cells, and time and memory are linear in that, whatever the side of the grid.
    """

    def __init__(self, sample: Sample, side: int, dimension: int) -> None:
        if len(sample.labels):
            columns = sample.points.T.tolist()
        else:
            columns = [[]] * dimension
        self.axes = [Axis(tuple(sorted(set(column))), side + 1) for column in columns]
        spans = math.prod(len(axis.spans) for axis in self.axes)
        if spans > MAX_CELLS:
            raise InputError(
                f"the sample's distinct coordinates cut the boxes into {spans} cells, more than {MAX_CELLS}, the most "
                "that can be handled; use box-interior-point"
            )
        table = np.zeros([len(axis.values) for axis in self.axes], dtype=np.int64)
        places = zip(self.axes, columns, strict=True)
        index = [np.array([bisect_left(axis.values, v) for v in column], dtype=np.intp) for axis, column in places]
        np.add.at(table, tuple(index), np.where(sample.labels == 1, sample.counts, -sample.counts))
        for i, axis in enumerate(self.axes):
            # Axis by axis, from values to sums over every span p .. q of the axis: a difference of two prefix sums.
            below = np.insert(np.cumsum(table, axis=i), 0, 0, axis=i)
            p, q = np.array(axis.spans, dtype=np.intp).reshape(-1, 2).T
            table = below.take(q + 1, axis=i) - below.take(p, axis=i)
        # Of every combination of spans, the last axis fastest; then of the cells that label all examples negative.
        excess = np.concatenate([table.ravel(), np.zeros(dimension + 1, dtype=np.int64)])
        self.scores: Integers = int(sample.counts[sample.labels == 0].sum()) + excess
        self.sizes = [math.prod(own) for own in product(*(axis.sizes[: len(axis.spans)] for axis in self.axes))]
        for i, axis in enumerate(self.axes):
            before = math.prod(other.holding for other in self.axes[:i])
            after = math.prod(other.total for other in self.axes[i + 1 :])
            self.sizes.append(before * (axis.total - axis.holding) * after)
        self.sizes.append(1)

    def draw_in(self, cell: int, rng: np.random.Generator) -> list[tuple[int, int]] | None:
        """Return the sides of a uniform box of a cell, None for the empty box."""
        first = cell - (len(self.sizes) - len(self.axes) - 1)
        if first == len(self.axes):
            return None
        if first < 0:
            kinds = np.unravel_index(cell, [len(axis.spans) for axis in self.axes])
            return [axis.inside(int(kind), rng) for axis, kind in zip(self.axes, kinds, strict=True)]
        ends = [
            (axis.holding if i == first else 0, axis.holding if i < first else axis.total)
            for i, axis in enumerate(self.axes)
        ]
        return [axis.any(low, high, rng) for axis, (low, high) in zip(self.axes, ends, strict=True)]


@dataclass(frozen=True)
class BoxExponential(ExponentialLearner):
    """Learn boxes by the exponential mechanism over all of them and the empty one, score = examples labelled correctly.

    `run` never lists the boxes: it draws a cell of boxes that label the sample alike, exactly by the number of its
    boxes times exp(epsilon score/2), and a box of the cell uniformly. With c_i distinct coordinates of examples on axis
    i, that takes time and memory O(prod c_i^2), whatever the side (see `BoxCells`). `law` lists all boxes. In the
    sample sizes ln|C| is at most 2 d ln(side + 1).

    Parameters
    ----------
    side, dimension : int
        Of the grid {0 .. side}^dimension.
    epsilon : float
        The privacy claim, > 0.
    """

    side: int
    dimension: int
    epsilon: float

    id: ClassVar[str] = "box-exponential"
    claim_id: ClassVar[str] = "STE-ExpRec"
    source: ClassVar[str] = f"{STE}, the exponential mechanism"
    instance: ClassVar[Instance] = Instance({"side": 1, "dimension": 2, "epsilon": 1.0}, n=3)
    concepts = Built(Boxes)

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> Integers | list[int]:
        """Return the codes of `size` independent runs; a list of integers where there are more than 2^63 boxes."""
        check_run(sample, self.domain, size)
        cells = BoxCells(sample, self.side, self.dimension)
        # A gap between adjacent coordinates has no interval, so some cells are empty.
        kept = [i for i in np.flatnonzero(self._eligible(sample, cells.scores)).tolist() if cells.sizes[i]]
        drawn = exponential.draw_cells([cells.sizes[i] for i in kept], cells.scores[kept], self._rate, rng, size)
        codes = []
        for pick in drawn:
            sides = cells.draw_in(kept[pick], rng)
            codes.append(0 if sides is None else self.concepts.number([a for a, _ in sides], [b for _, b in sides]))
        return as_codes(codes, self.concepts.size)


LEARNERS = (BoxExponential,)
