"""Private releases of one halfspace that agrees with many of given halfspaces h_1 .. h_m at every point.

All take counts (|H|,), how often each halfspace of H is among the h_i; neighbours differ in one h_i. Outputs are
representations (w_1, .., w_d, t) as tuples of fractions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from dpaudit.contract import InputError, Law

from ..arrays import Integers
from ..mechanisms import exponential
from ..parameters import Built
from .concepts import Halfspaces
from .depth.extended_domain import ExtendedDomain
from .depth.space_fractions import SpaceFractions
from .depth.tukey_depth import centerpoint_bound
from .hull_point import HullPoint, HullPointExponential, Point
from .hull_point_rec_concave import HullPointRecConcave
from .plane_consistent import short_box
from .plane_dichotomies import PlaneAgreement, plane_dichotomies, unlisted


@lru_cache(maxsize=8)
def _extended(side: int, dimension: int) -> ExtendedDomain:
    """Return the extended domain of the representations of all halfspaces on the grid."""
    return ExtendedDomain(tuple(map(tuple, Halfspaces(side, dimension).representations.tolist())))


class _OverHalfspaces(HullPoint):
    """A hull point learner on the representations, points of R^(d + 1); its `dimension` is d + 1.

    A point z of depth r agrees with r of the h_i at every x: the halfspaces that label x like z contain those on one
    side of a hyperplane through z, since <z, (x, -1)> >= 0 where z labels x by 1 and < 0 where by 0.
    """

    @property
    def extended(self) -> ExtendedDomain:
        """The extended domain of H."""
        return _extended(self.side, self.dimension - 1)

    @property
    def fractions(self) -> SpaceFractions | None:
        """The candidates for representations of halfplanes on large grids; None where H is listed."""
        if self.dimension != 3 or self.side == 1:
            return None
        w, t = short_box(self.side)
        return SpaceFractions((-w, -w, -t), (w, w, t))

    @property
    def outputs(self) -> Sequence[Point]:
        """All points of the extended domain; dimension 1 only."""
        if self.dimension > 2:
            raise InputError(
                f"dimension must be 1 for the exact law of a release by coordinates, got {self.dimension - 1}: the "
                f"extended domain has {len(self.extended.coordinates())} first coordinates alone; run has no such limit"
            )
        return self.extended.points

    def _among(self, counts: ArrayLike) -> tuple[Integers, Integers]:
        table = np.asarray(counts, dtype=np.int64)
        rows = Halfspaces(self.side, self.dimension - 1).representations
        # Halfspaces that no h_i is are no points of the multiset.
        return rows[table > 0], table[table > 0]

    def release(self, counts: ArrayLike, rng: np.random.Generator, size: int) -> list[Point]:
        """Return points deep among the h_i."""
        return self.find(*self._among(counts), rng, size)

    def release_law(self, counts: ArrayLike) -> Law:
        """Return the law on the extended domain; dimension 1 only."""
        # Refuses higher dimensions before anything is computed.
        _ = self.outputs
        return self.find_law(*self._among(counts))


@dataclass(frozen=True)
class DeepExponential(_OverHalfspaces, HullPointExponential):
    """A deep point, each coordinate by the exponential mechanism."""

    def agreement(self, m: int, beta: float) -> int:
        """Return the depth that `depth_guarantee` promises, at least 0."""
        return max(0, math.ceil(self.depth_guarantee(m, beta)))


@dataclass(frozen=True)
class DeepRecConcave(_OverHalfspaces, HullPointRecConcave):
    """A deep point, each coordinate by RecConcave."""

    def agreement(self, m: int, beta: float) -> int:
        """Return the depth n/(2 (d + 2)) or so that FindTukey promises; 0 if m is too small for it."""
        # One number for all coordinates: the most candidates that any of them has.
        enough = replace(self, beta=beta).required_examples(max(self._most))
        return math.ceil(self.guaranteed_depth(m)) if m >= enough else 0


@dataclass(frozen=True)
class AnyHullPoint(DeepRecConcave):
    """Any point of the convex hull of the h_i, of whatever depth > 0, each coordinate by RecConcave.

    In D = d + 1 coordinates each may lose the fraction 1/D of what is left, where FindTukey spares it with 1/(2 D):
    r_i = m/(D + 1) (1 - 1/D)^(i - 1). The promises must reach c D instead of 2 c D, c a quantity of RecConcave, so
    that m = c D (D + 1) (1 - 1/D)^(1 - D) points suffice instead of 4 c D^2: 12 c instead of 16 c for D = 2, 27 c
    instead of 36 c for D = 3.
    """

    @property
    def accuracy(self) -> Fraction:
        """The fraction that one coordinate may lose."""
        return Fraction(1, self.dimension)

    def promise(self, axis: int, n: int) -> Fraction:
        """Return r of coordinate `axis` (from 0)."""
        return Fraction(n, self.dimension + 1) * (1 - self.accuracy) ** axis

    def agreement(self, m: int, beta: float) -> int:
        """Return 1, all that a point of the hull promises; 0 if m is too small for it."""
        # Depth 1 is all that a point of the hull has.
        return min(1, super().agreement(m, beta))


@dataclass(frozen=True)
class Agreement:
    """A halfspace of H by the exponential mechanism, score the least number of the h_i that agree with it at a point.

    q(h) = min over x of the number of i with h_i(x) = h(x). Where q(h) >= 1, h labels as all h_i do wherever these are
    of one mind: all that the remark after Corollary 4.3 uses of a positive combination of the h_i. Every such
    combination has it; others may too, as 00 on {0, 1} with 01 and 10, whose combinations are 01, 10 and (what remains
    is 0) 11. A point of depth r among the h_i has q >= r, so some h of H has q >= m/(d + 2) for any h_1 .. h_m, and
    with probability 1 - beta one with q >= m/(d + 2) - (2/epsilon) ln(|H|/beta) is returned. Replacing one h_i moves
    every number by at most 1, and so q: epsilon-differentially private.

    Over the grid {0 .. side}^dimension; `epsilon` is what the release spends. Where H is not listed, on large grids of
    the plane, `release_among` takes the place of `release`.
    """

    side: int
    dimension: int
    epsilon: float

    concepts = Built(Halfspaces)

    @property
    def outputs(self) -> Sequence[Point]:
        """The representations of H."""
        return [tuple(map(Fraction, row)) for row in self.concepts.representations.tolist()]

    def scores(self, counts: ArrayLike) -> Integers:
        """Return q (|H|,)."""
        table = np.asarray(counts, dtype=np.int64)
        labels = self.concepts.evaluate(self.concepts.domain.points()).astype(np.bool_)
        # At each point the h_i that say 1 agree with a halfspace that does, all others with one that says 0.
        ones = table @ labels.astype(np.int64)
        return np.asarray(np.where(labels, ones, table.sum() - ones).min(axis=1), dtype=np.int64)

    def release_among(self, ones: Integers, m: int, rng: np.random.Generator, size: int) -> list[Point]:
        """Return halfplanes with a high score, for the number of the m that have 1 at each point of the grid."""
        return [*PlaneAgreement(plane_dichotomies(self.side), ones, m).draw(self.epsilon / 2, rng, size)]

    def release(self, counts: ArrayLike, rng: np.random.Generator, size: int) -> list[Point]:
        """Return halfspaces with a high score."""
        drawn = exponential.draw(self.scores(counts), self.epsilon / 2, rng, size)
        rows = self.outputs
        return [rows[i] for i in drawn.tolist()]

    def release_law(self, counts: ArrayLike) -> Law:
        """Return the softmax on H."""
        return Law(self.outputs, *exponential.log_law(self.scores(counts), self.epsilon / 2))

    def agreement(self, m: int, beta: float) -> int:
        """Return ceil(m/(d + 2)) - floor((2/epsilon) ln(|H|/beta)), at least 0."""
        # On large grids of the plane H is counted and not listed.
        concepts = unlisted(self.side, self.dimension) or self.concepts
        loss = 2 / self.epsilon * math.log(concepts.size / beta)
        return max(0, math.ceil(centerpoint_bound(m, self.dimension + 1) - loss))


Release = Agreement | DeepExponential | DeepRecConcave
"""`outputs` are all that `release` can return, for counts (|H|,) of the h_i; except with probability beta, at least
`agreement(m, beta)` of the m halfspaces agree with the output at any point."""
