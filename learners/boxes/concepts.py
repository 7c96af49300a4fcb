"""Axis-parallel boxes in the grid {0 .. side}^dimension, and the empty one; the tightest one, not private."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit.contract import Distribution, Hypothesis, InputError, Instance, Law, Sample

from ..arrays import Exact, Integers, Labels
from ..citations import OURS
from ..domains import Grid, moving_negatives
from ..finite.consistent import ConsistentLearner, occam_sample_size
from ..finite.counting import Numbered, check_code, check_law_size, check_listable, point_law
from ..parameters import Built, check_sample
from ..targets import MANY, case, point_array

# The most labels that are evaluated at once.
LABELS = 2**26


def interval_number(a: int, b: int, count: int) -> int:
    """Return the number of [a, b], 0 <= a <= b < count, in lexicographic order of (a, b)."""
    return a * count - a * (a - 1) // 2 + b - a


def interval_of(number: int, count: int) -> tuple[int, int]:
    """Return the [a, b] with that number, exactly for integers of any size.

    Counted from the last interval, those that begin at a or later are r (r + 1)/2 with r = count - a.
    """
    # The root is taken of an exact integer: numbers may be far beyond what floats hold.
    behind = count * (count + 1) // 2 - 1 - number
    r = (math.isqrt(8 * behind + 1) - 1) // 2 + 1
    a = count - r
    return a, a + number - interval_number(a, a, count)


@dataclass(frozen=True)
class Box:
    """The indicator of the points with lows[i] <= x_i <= highs[i] for every i; empty if a low exceeds its high."""

    lows: tuple[int, ...]
    highs: tuple[int, ...]

    def predict(self, points: Exact) -> Labels:
        """Return the labels of points (m, dimension)."""
        inside = np.ones(len(points), dtype=np.bool_)
        for column, low, high in zip(points.T, self.lows, self.highs, strict=True):
            inside &= np.asarray((low <= column) & (column <= high), dtype=np.bool_)
        return inside.astype(np.uint8)

    def __str__(self) -> str:
        if any(low > high for low, high in zip(self.lows, self.highs, strict=True)):
            return "the empty box"
        sides = (str(a) if a == b else f"{a}..{b}" for a, b in zip(self.lows, self.highs, strict=True))
        return f"the box {' x '.join(sides)}"


@dataclass(frozen=True)
class Boxes(Numbered):
    """The class of all boxes, as functions: number 0 is the empty box.

    Number 1 + sum over i of t_i N^(d - 1 - i) is the box whose i-th side is interval t_i in lexicographic order,
    N = (side + 1)(side + 2)/2. The lecture's class has the same functions, with |D|^(2 d) names.
    """

    side: int
    dimension: int

    def __post_init__(self) -> None:
        _ = self.domain

    domain = Built(Grid)

    @property
    def sides(self) -> int:
        """N, the number of intervals on an axis."""
        return (self.side + 1) * (self.side + 2) // 2

    @property
    def size(self) -> int:
        """N^dimension + 1."""
        return int(self.sides**self.dimension) + 1

    @property
    def vc_dimension(self) -> int:
        """2 d for side >= 2; on the cube {0, 1}^d boxes are conjunctions: max(2, d).

        The 2 d points that differ from the centre (1, .., 1) by 1 in one coordinate are shattered; of any 2 d + 1
        points one is in the smallest box around 2 d others that are extreme in some coordinate.
        """
        if self.side >= 2:
            return 2 * self.dimension
        return max(2, self.dimension)

    def number(self, lows: Sequence[int], highs: Sequence[int]) -> int:
        """Return the number of a box given by its ends; 0 if it is empty."""
        # All boxes without a point are one function, number 0.
        if any(a > b for a, b in zip(lows, highs, strict=True)):
            return 0
        code = 0
        for a, b in zip(lows, highs, strict=True):
            code = code * self.sides + interval_number(a, b, self.side + 1)
        return code + 1

    def hard_targets(self, alpha: float) -> list[tuple[Hypothesis, Distribution, str]]:
        """Return a box with points just inside and just outside of each of its faces; none on a side below 4."""
        # The box would reach the ends of the grid, beyond which there are no points.
        if self.side < 4:
            return []
        rng = np.random.default_rng(self.dimension)
        low = self.side // 4
        high = self.side - low
        points = []
        for axis in range(self.dimension):
            for inside, outside in ((low, low - 1), (high, high + 1)):
                for _ in range(max(1, MANY // (4 * self.dimension))):
                    # Somewhere on the face, the two differ by one step through it.
                    point = [int(low + rng.random() * (high - low)) for _ in range(self.dimension)]
                    for value in (inside, outside):
                        point[axis] = value
                        points.append([*point])
        box = Box((low,) * self.dimension, (high,) * self.dimension)
        return [case(box, point_array(points), "a box of half the side, all on both sides of its faces")]

    def has(self, hypothesis: Hypothesis) -> bool:
        """Say whether a hypothesis is a box of this dimension; its part outside of the grid does not count."""
        return isinstance(hypothesis, Box) and len(hypothesis.lows) == self.dimension

    def concept(self, code: int) -> Box:
        """Return the box with that number; the empty one as [side, 0] on every axis."""
        check_code(self, code)
        if code == 0:
            return Box((self.side,) * self.dimension, (0,) * self.dimension)
        rest = int(code) - 1
        ends = []
        for _ in range(self.dimension):
            rest, t = divmod(rest, self.sides)
            # The last axis is the lowest digit, so the ends come out in reverse.
            ends.append(interval_of(t, self.side + 1))
        return Box(tuple(a for a, _ in ends[::-1]), tuple(b for _, b in ends[::-1]))

    def evaluate(self, points: Exact) -> Labels:
        """Return the labels (size, m) of points (m, dimension); `InputError` if there are too many to list."""
        check_listable(self)
        if self.size * len(points) > LABELS:
            raise InputError(f"{self} has {self.size} concepts, too many to evaluate on {len(points)} points at once")
        a, b = np.triu_indices(self.side + 1)
        rows = np.ones((1, len(points)), dtype=np.uint8)
        for column in points.T:
            # Each interval of this axis with each box of the axes before it.
            inside = ((a[:, None] <= column) & (column <= b[:, None])).astype(np.uint8)
            rows = (rows[:, None, :] * inside[None, :, :]).reshape(-1, len(points))
        return np.concatenate([np.zeros((1, len(points)), dtype=np.uint8), rows])

    def symmetries(self) -> list[Integers]:
        """Return the reflection of the first axis, and its exchanges with the others."""
        axes = range(1, self.dimension)
        return self.domain.renamings(*([i, *range(1, i), 0, *range(i + 1, self.dimension)] for i in axes))


@dataclass(frozen=True)
class BoxTightest(ConsistentLearner):
    """Return the tightest box around the positive examples, the empty one if there are none. Not private.

    If a box labels the sample, the answer lies inside it and errs on unseen positive points alone. Cut from the target,
    at each of its 2 d faces, the thinnest slab with probability at least alpha/(2 d): if the sample meets all slabs,
    the error is below alpha, so Pr[error > alpha] <= 2 d (1 - alpha/(2 d))^n and n >= (2 d/alpha) ln(2 d/beta)
    suffices; so does (ln|C| + ln(1/beta))/alpha. The smaller is claimed.

    Parameters
    ----------
    side : int
        d of the grid {0 .. d}^dimension, at least 1.
    dimension : int
        At least 1.
    """

    side: int
    dimension: int

    id: ClassVar[str] = "box-tightest"
    instance: ClassVar[Instance] = Instance({"side": 2, "dimension": 2}, n=3)
    claim_id: ClassVar[str] = "OURS-BoxTight"
    source: ClassVar[str] = f"{OURS}, the tightest box on examples of a distribution"
    concepts = Built(Boxes)

    def _choose(self, sample: Sample) -> int:
        positive = sample.points[sample.labels == 1]
        if not len(positive):
            return 0
        return int(self.concepts.number(positive.min(axis=0).tolist(), positive.max(axis=0).tolist()))

    def law(self, sample: Sample) -> Law:
        """Return all mass on one box: of all that hold the positive points the one with the fewest points."""
        check_sample(sample, self.domain)
        check_law_size(self.concepts)
        labels = self.concepts.evaluate(np.concatenate([sample.points[sample.labels == 1], self.domain.points()]))
        # The columns of the positive examples come first, those of the whole domain after them.
        inner = len(labels[0]) - self.domain.size
        holding = labels[:, :inner].all(axis=1)
        volumes = np.where(holding, labels[:, inner:].sum(axis=1, dtype=np.int64), self.domain.size + 1)
        return point_law(range(self.concepts.size), int(volumes.argmin()))

    def sample_size(self, alpha: float, beta: float) -> int:
        """Return the smaller of ceil((2 d/alpha) ln(2 d/beta)) and ceil((ln|C| + ln(1/beta))/alpha)."""
        faces = 2 * self.dimension
        occam = occam_sample_size(math.log(self.concepts.size), alpha, beta)
        return min(occam, math.ceil(faces / alpha * math.log(faces / beta)))

    def symmetries(self) -> list[Integers]:
        """Return those of the grid, and the permutations of the negative examples, which the learner ignores."""
        return [*self.concepts.symmetries(), *moving_negatives(self.domain.size)]


LEARNERS = (BoxTightest,)
