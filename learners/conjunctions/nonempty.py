"""Conjunctions or disjunctions of at least one literal: the class without the constant that no literal makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from learners.arrays import Labels
from learners.conjunctions.concepts import Conjunction
from learners.conjunctions.disjunctions import Disjunction, ShortDisjunctions
from learners.conjunctions.short_conjunctions import ShortConjunctions
from learners.finite.counting import Numbered, check_code

__all__ = ["Nonempty"]


@dataclass(frozen=True)
class Nonempty(Numbered):
    """All concepts of a class but the first, which has no literal; numbers are one less.

    Parameters
    ----------
    every : ShortConjunctions or ShortDisjunctions
        The class of 0 .. k literals.
    """

    every: ShortConjunctions | ShortDisjunctions

    @property
    def size(self) -> int:
        """One less than the whole class has."""
        return self.every.size - 1

    def evaluate(self, points: NDArray[Any]) -> Labels:
        """Return the labels (size, m) of points (m, dimension)."""
        return self.every.evaluate(points)[1:]

    def concept(self, code: int) -> Conjunction | Disjunction:
        """Return the concept with that number."""
        check_code(self, code)
        return self.every.concept(int(code) + 1)
