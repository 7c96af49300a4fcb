"""The exponential mechanism over all halfspaces of a grid: listed on small grids, by directions on large planes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit.contract import Instance, Law, Sample

from ..arrays import Integers, summed, tallied
from ..finite.exponential import ExponentialLearner
from ..mechanisms import exponential
from ..parameters import Built, check_run, check_sample
from .concepts import Halfspaces
from .plane_dichotomies import PlaneDichotomies, unlisted

# Numbers of equal scores are added up when there are so many.
MERGED = 2**20


@dataclass(frozen=True, eq=False)
class PlaneCorrect:
    """The numbers of examples that the labellings of a large grid of the plane get right.

    Between the examples, in the order of a direction, all cuts have the same score: they form blocks.

    `points` (m, 2) are distinct; `ones` and `zeros` (m,) are the numbers of examples with each label. Any other weights
    that a labelling collects where it has 1 and where it has 0 may stand for these.
    """

    concepts: PlaneDichotomies
    points: Integers
    ones: Integers
    zeros: Integers

    @classmethod
    def of(cls, concepts: PlaneDichotomies, sample: Sample) -> PlaneCorrect:
        """Return the scores on a sample."""
        # A point may stand twice in a sample, once with each label.
        points = sample.points.astype(np.int64)
        counts = sample.counts
        distinct, ones = summed(points, np.where(sample.labels, counts, 0))
        return cls(concepts, distinct, ones, summed(points, counts)[1] - ones)

    def beside(self, other: PlaneCorrect) -> PlaneCorrect:
        """Return 4 q + (q - q') for the scores q here and q' there: one number has both, which differ by at most 1."""
        points = np.concatenate([self.points, other.points])
        distinct, ones = summed(points, np.concatenate([5 * self.ones, -other.ones]))
        _, zeros = summed(points, np.concatenate([5 * self.zeros, -other.zeros]))
        return PlaneCorrect(self.concepts, distinct, ones, zeros)

    def scores(self, index: int) -> tuple[Integers, Integers]:
        """Return the score of each block of a direction, for ones after the cut and then before it, and the sizes.

        After all directions come the constants 1 and 0.
        """
        # All ones are right with the constant 1, all zeros with the constant 0.
        right = int(self.ones.sum())
        left = int(self.zeros.sum())
        if index == len(self.concepts.directions):
            return np.array([right, left]), np.ones(2, dtype=np.int64)
        keys = self.points @ self.concepts.normals[index]
        cuts = self.concepts.cuts(index)
        order = np.argsort(keys)
        # Ones that lie before the cut are wrong, zeros before it are right.
        excess = np.append(0, np.cumsum((self.ones - self.zeros)[order]))
        sizes = np.diff(cuts.searchsorted(keys[order]), prepend=0, append=len(cuts))
        return np.concatenate([right - excess, left + excess]), np.tile(sizes, 2)

    def blocks(self) -> Iterator[tuple[Integers, Integers]]:
        """Yield for each direction the scores of its labellings and how many have each; last the constants'."""
        return (tallied(*self.scores(index)) for index in range(len(self.concepts.directions) + 1))

    def draw(self, rate: float, rng: np.random.Generator, size: int) -> list[int]:
        """Return the numbers of `size` labellings, each with probability exactly proportional to exp(rate score)."""
        values, totals = added(self.blocks())
        # First pass: how many labellings have each score, over all directions; so the scores can be drawn.
        cells = exponential.draw_cells(totals.tolist(), values, rate, rng, size)
        wanted = Counter(cells.tolist())
        occurring = np.array(sorted(wanted))
        ranks = [sorted(exponential.uniform_below(int(totals[c]), rng, wanted[c]))[::-1] for c in occurring.tolist()]
        passed = np.zeros(len(occurring), dtype=np.int64)
        found = list[int]()
        # Second pass: the labelling of each rank drawn is found in its direction, and nothing is kept of the others.
        for index, (scores, counts) in enumerate(self.blocks()):
            place = np.minimum(scores.searchsorted(values[occurring]), len(scores) - 1)
            here = np.where(scores[place] == values[occurring], counts[place], 0)
            following = np.array([some[-1] if some else -1 for some in ranks])
            for k in np.flatnonzero((passed <= following) & (following < passed + here)).tolist():
                while ranks[k] and ranks[k][-1] < passed[k] + here[k]:
                    found.append(self._numbered(index, int(values[occurring[k]]), ranks[k].pop() - int(passed[k])))
            passed += here
            if not any(ranks):
                break
        return [found[i] for i in rng.permutation(size)]

    def _numbered(self, index: int, score: int, rank: int) -> int:
        """Return the number of the labelling of a direction that has a rank among those with a score."""
        scores, sizes = self.scores(index)
        ends = np.cumsum(np.where(scores == score, sizes, 0))
        block = int(ends.searchsorted(rank, side="right"))
        within = rank - int(ends[block]) + int(sizes[block])
        return int(self.concepts.firsts[index]) + int(sizes[:block].sum()) + within


def added(tables: Iterator[tuple[Integers, Integers]]) -> tuple[Integers, Integers]:
    """Return the distinct values of several tables, increasing, and the sums of their counts, below 2^53."""
    held = [(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))]
    for table in tables:
        held.append(table)
        if sum(len(row) for row, _ in held[1:]) >= MERGED:
            held = [_joined(held)]
    return _joined(held)


def _joined(tables: list[tuple[Integers, Integers]]) -> tuple[Integers, Integers]:
    return tallied(*(np.concatenate(parts) for parts in zip(*tables, strict=True)))


@dataclass(frozen=True)
class HalfspaceExponential(ExponentialLearner):
    """Learn halfspaces on the grid by the exponential mechanism over all labellings, one representation each.

    On grids of the plane beyond side 9 no labelling is listed: runs pass twice over the directions between grid points,
    and `pair_laws` once; see `halfspaces.plane_dichotomies`, also for the numbers that are returned there.

    Parameters
    ----------
    side, dimension : int
        The grid {0 .. side}^dimension, dimension 1, 2 or 3, with at most 2^21 >= 2 |X|^(d + 1); in dimension 2, for
        runs and `pair_laws` alone, side up to 100.
    epsilon : float
        The privacy claim.
    """

    side: int
    dimension: int
    epsilon: float

    id: ClassVar[str] = "halfspace-exponential"
    instance: ClassVar[Instance] = Instance({"side": 1, "dimension": 2, "epsilon": 1.0}, n=4)

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.concepts.size

    listed = Built(Halfspaces)

    @property
    def plane(self) -> PlaneDichotomies | None:
        """The class on a large grid of the plane; None where it is listed."""
        return unlisted(self.side, self.dimension)

    @property
    def concepts(self) -> Halfspaces | PlaneDichotomies:
        """The class that is learned."""
        return self.plane or self.listed

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> Integers | list[int]:
        """Return the codes (size,) of independent runs."""
        if self.plane is None:
            return super().run(sample, rng, size)
        check_run(sample, self.domain, size)
        correct = PlaneCorrect.of(self.plane, sample)
        return np.array(correct.draw(self._rate, rng, size), dtype=np.int64)

    def pair_laws(self, sample: Sample, neighbour: Sample) -> tuple[Law, Law] | None:
        """Return the laws on the labellings that get one more, as many, and one less right on the first sample."""
        if self.plane is None:
            return None
        for one in (sample, neighbour):
            check_sample(one, self.domain)
        here, there = (PlaneCorrect.of(self.plane, one) for one in (sample, neighbour))
        found: dict[int, dict[int, int]] = {-1: {}, 0: {}, 1: {}}
        for value, count in zip(*(row.tolist() for row in added(here.beside(there).blocks())), strict=True):
            # value = 4 q + (q - q') with the difference in {-1, 0, 1}.
            score = (value + 1) // 4
            found[value - 4 * score][score] = count
        return exponential.pair_laws(found, self._rate)


LEARNERS = (HalfspaceExponential,)
