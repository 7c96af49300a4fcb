"""A point deep in the data, released by one private selection among all points that it may be (BMNS, Section 1.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np

from dpaudit.contract import InputError, Instance, Law, Sample, WorstFailure

from ..arrays import Integers
from ..citations import BMNS
from ..mechanisms import exponential
from ..mechanisms.selections import selections_failure
from ..parameters import check_parameters, check_probability, check_sample
from .depth.extended_domain import MAX_SIDE, ExtendedDomain
from .depth.plane_lattice import LatticeSelection, PlaneLattice
from .depth.tukey_depth import tukey_depths
from .hull_point import HullPoint, Point, Rows, as_arrays, as_tuples, weighted_points

# The most candidate points whose depths are computed.
MOST_POINTS = 2**14


@lru_cache(maxsize=64)
def _listed(side: int, dimension: int) -> bool:
    """Say whether X~ is small enough to be listed."""
    extended = ExtendedDomain.grid(side, dimension)
    # The bound on the size first: listing too many points to count them would take minutes.
    return math.prod(extended.most) <= 2**20 and len(extended.points) <= MOST_POINTS


_lattice = lru_cache(maxsize=8)(PlaneLattice)


@lru_cache(maxsize=8)
def _selection(side: int, points: Rows, weights: tuple[int, ...], rate: float) -> LatticeSelection:
    """Return the selection on a large grid: its cuts and rings serve every run on the same sample."""
    return LatticeSelection(_lattice(side), *as_arrays(points, weights, 2), rate)


@dataclass(frozen=True)
class HullPointJoint(HullPoint):
    """Release a deep point by one exponential mechanism over the whole extended domain X~, score the Tukey depth.

    Pure epsilon-differentially private: the depth has sensitivity 1, and X~ does not depend on the sample. The depth is
    no sum of parts, so that the whole of epsilon is spent on one selection; coordinate by coordinate each of d
    selections has epsilon/d, and candidates on one axis.

    Where X~ is too large to be listed, the candidates are all (m/q, k/q) with q <= 2 side^2 in the square that the grid
    fills. These depend on no sample either, and hold every corner of a T(r), so that all that is said here holds with
    their number for |X~|; the law is another one than on X~ itself. See `halfspaces.depth.plane_lattice`.

    With probability 1 - beta the selection loses at most L = (2/epsilon) ln(|X~|/beta) of a depth that is at least
    n/(d + 1), so that the point lies in the convex hull for n > (d + 1) L, and keeps half of n/(d + 1) for n >= 2 (d +
    1) L.

    Parameters
    ----------
    side, dimension : int
        The grid {0 .. side}^dimension: with at most 2^14 points in X~ (side up to 3 in the plane), or, for runs and
        `pair_laws` alone, side up to 100 in the plane.
    epsilon : float
        The privacy claim.

    Notes
    -----
    Source: BMNS, Section 1.1, over the domain of Claim 3.5. Its text runs the mechanism once over X~.
    """

    id: ClassVar[str] = "hull-point-joint"
    instance: ClassVar[Instance] = Instance({"side": 1, "dimension": 2, "epsilon": 1.0}, n=3)
    claim_id: ClassVar[str] = "BMNS-Joint"
    source: ClassVar[str] = f"{BMNS}, Section 1.1"

    def __post_init__(self) -> None:
        check_parameters(self, side=(1, None))
        if self.lattice is None and not _listed(self.side, self.dimension):
            raise InputError.of("side", self.side, f"a grid with at most {MOST_POINTS} candidate points")

    @property
    def lattice(self) -> PlaneLattice | None:
        """The candidates on a large grid of the plane; None where they are listed, in `extended`."""
        if self.dimension != 2 or (self.side <= MAX_SIDE[2] and _listed(self.side, 2)):
            return None
        return _lattice(int(self.side))

    @property
    def _size(self) -> int:
        """The number of candidates."""
        if self.lattice is None:
            return len(self.extended.points)
        return self.lattice.square.size

    def worst_failure(self, alpha: float, n: int) -> WorstFailure:
        """Return an upper end of the probability of a point outside of the hull; see `mechanisms.selections`."""
        return selections_failure((self._size,), self._rate, n, Fraction(1, self.dimension + 1), strict=False)

    def _loss(self, beta: float) -> float:
        check_probability("beta", beta)
        size = self._size
        # More than L is lost with probability |X~| exp(-epsilon L/2) at most.
        return 2 / self.epsilon * math.log(size / beta)

    def sample_size(self, alpha: float, beta: float) -> int:
        """Return the least n > (d + 1) L."""
        return math.floor((self.dimension + 1) * self._loss(beta)) + 1

    def explicit_examples(self, beta: float) -> int:
        """Return the least n >= 2 (d + 1) L: half of the depth n/(d + 1) is kept with probability 1 - beta."""
        return math.ceil(2 * (self.dimension + 1) * self._loss(beta))

    def find(self, points: Integers, weights: Integers, rng: np.random.Generator, size: int) -> list[Point]:
        """Return `size` points deep in a weighted multiset."""
        if self.lattice is not None:
            # Candidates are counted ring by ring of equal depth and never listed.
            return list(self._selection(points, weights).draw(rng, size))
        candidates = self.extended.points
        # Depths of all candidates at once: one selection, so that nothing depends on a prefix.
        drawn = self._draw(tukey_depths(points, weights, candidates), 0, int(weights.sum()), rng, size)
        return [candidates[i] for i in drawn.tolist()]

    def find_law(self, points: Integers, weights: Integers) -> Law:
        """Return the law of `find`; not where the candidates are only counted."""
        if self.lattice is not None:
            raise InputError(
                f"side must be a grid with at most {MOST_POINTS} candidate points for the exact law, got {self.side}: "
                f"its atoms would be {self.lattice.square.size} candidates; `pair_laws` compares two neighbours "
                "without them"
            )
        depths = tukey_depths(points, weights, self.extended.points)
        return Law(list(self.extended.points), *self._log_law(depths, 0, int(weights.sum())))

    def _selection(self, points: Integers, weights: Integers) -> LatticeSelection:
        return _selection(int(self.side), *as_tuples(points, weights), self._rate)

    def pair_laws(self, sample: Sample, neighbour: Sample) -> tuple[Law, Law] | None:
        """Return the laws of two neighbours on candidates that are one deeper, as deep, and one less deep on the first.

        Every level is counted, which takes some tenths of a second each.
        """
        if self.lattice is None:
            return None
        for one in (sample, neighbour):
            check_sample(one, self.domain)
        here, there = (self._selection(*weighted_points(one)) for one in (sample, neighbour))
        return exponential.pair_laws(here.shifts(there), self._rate)


LEARNERS = (HullPointJoint,)
