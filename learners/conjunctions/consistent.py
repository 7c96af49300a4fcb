"""Conjunctions without privacy: by elimination of literals, and by the greedy algorithm for set cover."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit.contract import Instance, Law, Sample, count_steps

from ..arrays import Integers
from ..citations import KMMS, STE
from ..domains import moving_negatives
from ..finite.consistent import ConsistentLearner, occam_sample_size
from ..finite.counting import point_law
from ..parameters import Built, check_integer, check_law
from .concepts import LAW_DIMENSION, MAX_DIMENSION, Conjunctions, ShortConjunctions, contradicted, decoded_mask


@dataclass(frozen=True)
class ConjunctionElimination(ConsistentLearner):
    """Start with all 2 d literals and delete every one that a positive example contradicts. Not private.

    If a conjunction labels the sample, the answer does too. Elimination is a consistent learner for 3^d + 1 functions
    (each variable absent, positive or negated; or the contradiction), so n >= (ln(3^d + 1) + ln(1/beta))/alpha
    suffices for Pr[error > alpha] <= beta.

    Parameters
    ----------
    dimension : int
        Number d of Boolean variables, at most 31.
    """

    dimension: int

    id: ClassVar[str] = "conjunction-elimination"
    claim_id: ClassVar[str] = "STE-NonPriv"
    source: ClassVar[str] = f"{STE}, non-private algorithm"
    instance: ClassVar[Instance] = Instance({"dimension": 3}, n=3)
    concepts = Built(Conjunctions)
    decode = decoded_mask

    def __post_init__(self) -> None:
        check_integer("dimension", self.dimension, 1, MAX_DIMENSION)

    def _choose(self, sample: Sample) -> int:
        positive = sample.points[sample.labels == 1]
        count_steps("cells looked at", positive.size)
        kept = ~contradicted(positive).any(axis=0)
        # The literals that survive all positive examples are the longest conjunction that accepts them.
        return sum(1 << int(i) for i in np.flatnonzero(kept))

    def law(self, sample: Sample) -> Law:
        """Return all mass on one mask, made by striking literals out example by example."""
        check_law(self, sample, dimension=LAW_DIMENSION)
        mask = 4**self.dimension - 1
        for x, y in zip(sample.points, sample.labels, strict=True):
            for i, value in enumerate(x):
                mask &= ~(int(y) << 2 * i + int(value))
        return point_law(range(4**self.dimension), mask)

    def symmetries(self) -> list[Integers]:
        """Return generators of the renamings of literals and of the permutations of negative examples."""
        return [*self.concepts.symmetries(), *moving_negatives(self.domain.size)]


@dataclass(frozen=True)
class ConjunctionCover(ConsistentLearner):
    """Keep the literals that no positive example contradicts; cover the negative examples by few of them. Not private.

    Of the literals kept, the one that contradicts most of the negative examples left is chosen, the first of equals,
    until none is left or none of the rest is contradicted. The answer is the conjunction of the literals chosen; code:
    their mask.

    Utility. If a conjunction of at most k literals labels the sample, its literals are kept and contradict all negative
    examples, so one of them contradicts a k-th of those left. After t rounds at most m (1 - 1/k)^t of m negative
    examples are left, none for t = max(1, ceil(k ln m)): the answer is consistent and has at most
    K(n) = max(1, ceil(k ln n)) literals. With H_n the conjunctions of so many literals, n >= (ln|H_n| + ln(1/beta))
    / alpha examples suffice for Pr[error > alpha] <= beta (Occam's razor).

    Parameters
    ----------
    dimension : int
        Number d of Boolean variables, at most 31.
    k : int
        The most literals of the target, 1 .. dimension.

    Notes
    -----
    Source: KMMS, Section 1.1, which recalls it as the classical learner that theirs makes private.
    """

    dimension: int
    k: int

    id: ClassVar[str] = "conjunction-cover"
    claim_id: ClassVar[str] = "KMMS-Greedy"
    source: ClassVar[str] = f"{KMMS}, Section 1.1"
    instance: ClassVar[Instance] = Instance({"dimension": 2, "k": 1}, n=3)
    concepts = Built(ShortConjunctions)
    decode = decoded_mask

    def __post_init__(self) -> None:
        check_integer("dimension", self.dimension, 1, MAX_DIMENSION)
        check_integer("k", self.k, 1, self.dimension)

    def _choose(self, sample: Sample) -> int:
        struck = contradicted(sample.points)
        count_steps("cells looked at", sample.points.size)
        kept = ~struck[sample.labels == 1].any(axis=0)
        left = np.where(sample.labels == 0, sample.counts, 0)
        mask = 0
        # Greedy set cover: `gains` are the negative examples left that each literal allowed would exclude.
        while (gains := np.where(kept, left @ struck, 0)).any():
            # argmax takes the first of equals, as the docstring promises.
            best = int(gains.argmax())
            count_steps("cells looked at", sample.points.size)
            mask |= 1 << best
            left = np.where(struck[:, best], 0, left)
        return mask

    def law(self, sample: Sample) -> Law:
        """Return all mass on one mask, made with a set of negative examples for each literal."""
        check_law(self, sample, dimension=LAW_DIMENSION)
        rows = list(zip(sample.points.tolist(), sample.labels.tolist(), sample.counts.tolist(), strict=True))
        sets: dict[int, set[int]] = {}
        for literal in range(2 * self.dimension):
            false = {i for i, (x, _, _) in enumerate(rows) if x[literal // 2] == literal % 2}
            # A literal is allowed if no example that makes it false is positive.
            if not any(rows[i][1] for i in false):
                sets[literal] = false
        mask = 0
        left = {i for i, (_, label, _) in enumerate(rows) if not label}
        while left and sets:
            most, best = min((-sum(rows[i][2] for i in left & found), literal) for literal, found in sets.items())
            if not most:
                break
            mask |= 1 << best
            left -= sets[best]
        return point_law(range(4**self.dimension), mask)

    def most_literals(self, n: int) -> int:
        """Return K(n), or all d variables if these are fewer: a longer conjunction is contradictory or no longer."""
        return min(self.dimension, max(1, math.ceil(self.k * math.log(n))))

    def sample_size(self, alpha: float, beta: float) -> int:
        """Return an n from which on n >= (ln|H_n| + ln(1/beta)) / alpha.

        It is where n -> ceil((ln|H_n| + ln(1/beta)) / alpha) stops, begun where |H_n| is at most 3^d + 1: on the way
        down each n is enough for all up to the one before, since H_n grows with n.
        """
        # From above: K(n), and so the bound, only falls on the way down, and the first n that repeats is a fixed
        # point.
        size = occam_sample_size(math.log(3**self.dimension + 1), alpha, beta)
        while True:
            possible = ShortConjunctions(self.dimension, self.most_literals(size)).size
            smaller = occam_sample_size(math.log(possible), alpha, beta)
            if smaller >= size:
                return size
            size = smaller


LEARNERS = (ConjunctionElimination, ConjunctionCover)
