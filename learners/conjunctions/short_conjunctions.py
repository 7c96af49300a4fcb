"""Conjunctions of at most k literals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Sample
from learners.arrays import Integers, Labels
from learners.conjunctions.concepts import Conjunction, contradicted
from learners.finite.counting import Numbered, check_code, check_listable
from learners.parameters import check_integer

__all__ = ["ShortConjunctions"]

CELLS = 2**22
"""The number of (conjunction, example) cells that are looked at together."""


@dataclass(frozen=True)
class ShortConjunctions(Numbered):
    """The class CONJ_{k,d}: the distinct functions that conjunctions of at most k literals over d variables compute.

    Its size is sum_{j <= k} C(d, j) 2^j, and one more for k >= 2: the contradiction, 0 everywhere, which stands last.
    The others are numbered by their number of literals j, then lexicographically by their literals l_1 < .. < l_j. Here
    literal 2 i is v_{i+1} and literal 2 i + 1 is not v_{i+1}; each variable occurs once at most.
    """

    dimension: int
    k: int

    def __post_init__(self) -> None:
        check_integer("dimension", self.dimension, 1)
        check_integer("k", self.k, 1, self.dimension)

    def _of_length(self, j: int) -> int:
        return comb(self.dimension, j) << j

    @property
    def size(self) -> int:
        """sum_{j <= k} C(d, j) 2^j, plus 1 if k >= 2."""
        return sum(map(self._of_length, range(self.k + 1))) + (self.k >= 2)

    def concept(self, code: int) -> Conjunction:
        """Return the conjunction with that number."""
        check_code(self, code)
        rest, length = int(code), 0
        while length <= self.k and rest >= self._of_length(length):
            rest -= self._of_length(length)
            length += 1
        if length > self.k:
            return Conjunction(self.dimension, 4**self.dimension - 1)
        return Conjunction(self.dimension, self._mask(rest, length))

    def _mask(self, rest: int, length: int) -> int:
        """Return the mask of conjunction number `rest` of those with `length` literals."""
        mask, variable = 0, 0
        for left in range(length - 1, -1, -1):
            while True:
                each = comb(self.dimension - variable - 1, left) * 2**left
                if rest < 2 * each:
                    break
                rest -= 2 * each
                variable += 1
            sign, rest = divmod(rest, each)
            mask |= 1 << 2 * variable + sign
            variable += 1
        return mask

    def evaluate(self, points: NDArray[Any]) -> Labels:
        """Return the labels (size, m) of points (m, dimension); `InputError` if the class is too large to list."""
        check_listable(self)
        true = 1 - contradicted(points)
        levels = []
        for literals in self._levels():
            rows = np.ones((len(literals), len(points)), dtype=np.uint8)
            for column in literals.T:
                rows &= true[:, column].T
            levels.append(rows)
        if self.k >= 2:
            levels.append(np.zeros((1, len(points)), dtype=np.uint8))
        return np.concatenate(levels)

    def _levels(self) -> Iterator[Integers]:
        """Yield for j = 0 .. k the literals (number, j) of all conjunctions of j literals, in order."""
        literals = np.zeros((1, 0), dtype=np.int64)
        yield literals
        for _ in range(self.k):
            literals = self._extended(literals)[0]
            yield literals

    def _extended(self, literals: Integers) -> tuple[Integers, Integers]:
        """Return all extensions of the conjunctions by one later variable, and which one each extends."""
        first = literals[:, -1] // 2 + 1 if literals.shape[1] else np.zeros(len(literals), dtype=np.int64)
        amounts = 2 * (self.dimension - first)
        owner = np.repeat(np.arange(len(literals)), amounts)
        place = np.arange(len(owner)) - np.repeat(np.cumsum(amounts) - amounts, amounts)
        added = 2 * first[owner] + place
        return np.concatenate([literals[owner], added[:, None]], axis=1), owner

    def count_correct(self, sample: Sample) -> Integers:
        """Return how many examples each concept labels correctly, (size,), without evaluating the longest ones.

        A conjunction is right on N_0 examples and n_1 - n_0 more for the examples that satisfy it. One matrix product
        gives this for all extensions of a conjunction of k - 1 literals at once, so only those are evaluated. Doubles
        hold the sums exactly while the sample has fewer than 2^53 examples; beyond, integers are multiplied.
        """
        check_listable(self)
        number = np.float64 if sample.n < 2**53 else np.int64
        signed = np.where(sample.labels == 1, sample.counts, -sample.counts).astype(number)
        true = (1 - contradicted(sample.points)).astype(number)
        negatives = int(sample.counts[sample.labels == 0].sum())
        excess = [np.array([int(signed.sum())])]
        literals = np.zeros((1, 0), dtype=np.int64)
        for _ in range(self.k):
            longer, owner = self._extended(literals)
            table = np.concatenate([*self._products(literals, true, signed)])
            excess.append(table[owner, longer[:, -1]].astype(np.int64))
            literals = longer
        if self.k >= 2:
            excess.append(np.array([0]))
        return np.asarray(negatives + np.concatenate(excess), dtype=np.int64)

    def _products(self, literals: Integers, true: NDArray[Any], signed: NDArray[Any]) -> Iterator[NDArray[Any]]:
        """Yield, in blocks of conjunctions, n_1 - n_0 of each conjunction joined with each literal, (block, 2 d)."""
        step = max(1, CELLS // max(1, len(signed)))
        for start in range(0, len(literals), step):
            block = literals[start : start + step]
            rows = np.broadcast_to(signed, (len(block), len(signed)))
            for column in block.T:
                rows = rows * true[:, column].T
            yield rows @ true
