"""Bases of the learners of conjunctions: masks of literals, and the renamings of literals."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from learners.arrays import Integers
from learners.conjunctions.concepts import Conjunction, Conjunctions
from learners.domains import Cube, OnTheCube, grid_rows
from learners.parameters import check_integer
from learners.symmetries import moving_negatives, moving_points

__all__ = ["LAW_DIMENSION", "EliminationLearner", "MaskLearner", "renaming_symmetries"]

LAW_DIMENSION = 8
"""The largest number of variables for which a law lists all 4^d masks."""


def renaming_symmetries(domain: Cube) -> list[Integers]:
    """Return generators of the renamings of literals: two permutations of the coordinates, and complementing one."""
    points = domain.points()
    complemented = points.copy()
    complemented[:, 0] = 1 - points[:, 0]
    images = [complemented]
    if domain.dimension > 1:
        images += [points[:, [1, 0, *range(2, domain.dimension)]], np.roll(points, 1, axis=1)]
    return [moving_points(grid_rows(image, 1)) for image in images]


class MaskLearner(OnTheCube):
    """A learner of conjunctions whose codes are masks of literals; see `conjunctions.concepts`."""

    settings: ClassVar[tuple[str, ...]] = ("realizable", "empirical")

    def decode(self, code: int) -> Conjunction:
        """Return the conjunction of the literals in the mask."""
        check_integer("code", code, 0, 4**self.dimension - 1)
        return Conjunction(self.dimension, int(code))


class EliminationLearner(MaskLearner):
    """A learner that deletes literals by the positive examples alone."""

    @property
    def concepts(self) -> Conjunctions:
        """The 3^d + 1 functions that conjunctions compute (numbered in their own way, not by masks)."""
        return Conjunctions(self.dimension)

    def symmetries(self) -> list[Integers]:
        """Return generators of the renamings of literals and of the permutations of negative examples."""
        return renaming_symmetries(self.domain) + moving_negatives(self.domain.size)
