"""Parities by Gaussian elimination (not private)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit.contract import FAIL, Instance, Law, Sample
from learners.citations import NIS
from learners.finite.consistent import ConsistentLearner, occam_sample_size
from learners.finite.counting import point_law
from learners.parameters import check_law_limit, check_sample
from learners.parities.concepts import Parities
from learners.parities.gf2 import equations_of

__all__ = ["LEARNERS", "ParityElimination"]

LAW_DIMENSION = 16


@dataclass(frozen=True)
class ParityElimination(ConsistentLearner):
    """Solve <r, x> = y over GF(2) for all examples; the particular solution, `FAIL` if there is none. Not private.

    Pivots are leftmost and free variables 0. A consistent learner: n >= (d ln 2 + ln(1/beta))/alpha suffices for
    Pr[error > alpha] <= beta.

    Parameters
    ----------
    dimension : int
        Number d of Boolean coordinates, at most 63.
    """

    dimension: int

    id: ClassVar[str] = "parity-elimination"
    claim_id: ClassVar[str] = "NIS-Occam"
    source: ClassVar[str] = f"{NIS}, Example 2: parities"
    instance: ClassVar[Instance] = Instance({"dimension": 3}, n=3)

    @property
    def concepts(self) -> Parities:
        """All 2^dimension parities."""
        return Parities(self.dimension)

    def _choose(self, sample: Sample) -> int:
        rows: dict[int, int] = {}
        for equation in map(int, equations_of(sample, self.dimension)):
            # The lowest bit is the leftmost variable, or the right-hand side if no variable is left: that row is 0 = 1.
            while equation and (low := equation & -equation) in rows:
                equation ^= rows[low]
            if equation:
                rows[low] = equation
        return self._back_substitute(rows)

    def _back_substitute(self, rows: dict[int, int]) -> int:
        if 1 << self.dimension in rows:
            return FAIL
        solution = 0
        for low in sorted(rows, reverse=True):
            value = (rows[low] & solution).bit_count() + (rows[low] >> self.dimension)
            solution |= low * (value & 1)
        return solution

    def law(self, sample: Sample) -> Law:
        """Return all mass on the least code that satisfies every equation, found by trying all 2^d of them.

        It is the particular solution: kernel vectors have a free variable as their highest one, so among the solutions
        the one with all free variables 0 is the least integer.
        """
        check_sample(sample, self.domain)
        check_law_limit("dimension", self.dimension, LAW_DIMENSION)
        alive = np.ones(2**self.dimension, dtype=np.bool_)
        for x, y in zip(sample.points, sample.labels, strict=True):
            alive &= self.concepts.evaluate(x[None, :])[:, 0] == y
        return point_law(range(FAIL, 2**self.dimension), int(alive.argmax()) if alive.any() else FAIL)

    def sample_size(self, alpha: float, beta: float) -> int:
        """Return ceil((d ln 2 + ln(1/beta)) / alpha): Occam's razor with |C| = 2^d."""
        return occam_sample_size(self.dimension * math.log(2), alpha, beta)


LEARNERS = (ParityElimination,)
