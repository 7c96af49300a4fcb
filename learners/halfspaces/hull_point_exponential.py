"""Deep points by exponential mechanisms, score the Tukey depth: on each coordinate, or once (BMNS, Section 1.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit.contract import InputError, Instance, Law
from learners.arrays import Integers
from learners.citations import BMNS
from learners.halfspaces.depth.tukey_depth import centerpoint_bound, tukey_depths
from learners.halfspaces.hull_point_base import PICTURED_EXAMPLES, HullPoint, Point, Selected
from learners.halfspaces.sizes import exponential_examples
from learners.mechanisms import equal_scores, exponential
from learners.parameters import check_positive, check_probability

__all__ = ["LEARNERS", "HullPointExponential", "HullPointJoint"]


@dataclass(frozen=True)
class HullPointExponential(HullPoint):
    """Release a deep point: each coordinate by the exponential mechanism, score Q, epsilon/d a coordinate.

    Pure epsilon-differentially private by composition of d mechanisms with score of sensitivity 1.

    With probability 1 - beta each selection loses at most (2 d/epsilon) ln(d |X~_i| / beta) of depth, so that the point
    has depth at least ceil(n/(d + 1)) - (2 d/epsilon) sum ln(d |X~_i|/beta), and lies in the convex hull if this is
    positive: `depth_guarantee`.

    Parameters
    ----------
    side, dimension : int
        The grid {0 .. side}^dimension: dimension 1, 2 (side <= 16) or 3 (side 1).
    epsilon : float
        The privacy claim.

    Notes
    -----
    Source: BMNS, Section 1.1 (the exponential mechanism with Tukey depth as quality), over Claim 3.5's domain.
    """

    side: int
    dimension: int
    epsilon: float

    id: ClassVar[str] = "hull-point-exponential"
    instance: ClassVar[Instance] = Instance({"side": 1, "dimension": 2, "epsilon": 1.0}, n=3)
    claim_id: ClassVar[str] = "BMNS-Exponential"
    source: ClassVar[str] = f"{BMNS}, Section 1.1"
    pictured: ClassVar[Instance] = Instance({"side": 6, "dimension": 2, "epsilon": 1.0}, n=PICTURED_EXAMPLES)

    def __post_init__(self) -> None:
        check_positive("epsilon", self.epsilon)
        _ = self.extended

    def sample_size(self, alpha: float, beta: float) -> int:
        """Return the least n with `depth_guarantee(n, beta)` > 0: (d + 1) floor(L) + 1 for a loss of at most L."""
        return (self.dimension + 1) * math.floor(-self.depth_guarantee(0, beta)) + 1

    @property
    def _rate(self) -> float:
        return self.epsilon / (2 * self.dimension)

    def _draw(self, scores: Integers, axis: int, n: int, rng: np.random.Generator, size: int) -> Integers:
        kept = np.flatnonzero(self._eligible(scores))
        return np.asarray(kept[equal_scores.draw([1] * len(kept), scores[kept], self._rate, rng, size)])

    def _log_law(self, scores: Integers, axis: int, n: int) -> Selected:
        return exponential.log_law(scores, self._rate, self._eligible(scores))

    def explicit_examples(self, beta: float) -> int:
        """Return the n from which half of the depth n/(d + 1) is kept with probability 1 - beta, on every sample."""
        return exponential_examples(self.dimension, self.extended.most, self.epsilon, beta)

    def depth_guarantee(self, n: int, beta: float) -> float:
        """Return a depth that the released point reaches with probability 1 - beta, for every n points; may be < 0."""
        check_probability("beta", beta)
        losses = sum(math.log(self.dimension * size / beta) for size in self.extended.most)
        return centerpoint_bound(n, self.dimension) - 2 * self.dimension / self.epsilon * losses


MOST_POINTS = 2**14
"""The most candidate points whose depths are computed."""


@dataclass(frozen=True)
class HullPointJoint(HullPoint):
    """Release a deep point by one exponential mechanism over the whole extended domain X~, score the Tukey depth.

    Pure epsilon-differentially private: the depth has sensitivity 1, and X~ does not depend on the sample. The depth is
    no sum of parts, so that the whole of epsilon is spent on one selection; coordinate by coordinate each of d
    selections has epsilon/d, and candidates on one axis.

    With probability 1 - beta the selection loses at most L = (2/epsilon) ln(|X~|/beta) of a depth that is at least
    n/(d + 1), so that the point lies in the convex hull for n > (d + 1) L, and keeps half of n/(d + 1) for n >= 2 (d +
    1) L.

    Parameters
    ----------
    side, dimension : int
        The grid {0 .. side}^dimension, with at most 2^14 candidate points: side up to 3 in the plane.
    epsilon : float
        The privacy claim.

    Notes
    -----
    Source: BMNS, Section 1.1, over the domain of Claim 3.5. Its text runs the mechanism once over X~.
    """

    side: int
    dimension: int
    epsilon: float

    id: ClassVar[str] = "hull-point-joint"
    instance: ClassVar[Instance] = Instance({"side": 1, "dimension": 2, "epsilon": 1.0}, n=3)
    claim_id: ClassVar[str] = "BMNS-Joint"
    source: ClassVar[str] = f"{BMNS}, Section 1.1"

    def __post_init__(self) -> None:
        check_positive("epsilon", self.epsilon)
        if math.prod(self.extended.most) > 2**20 or len(self.extended.points) > MOST_POINTS:
            raise InputError.of("side", self.side, f"a grid with at most {MOST_POINTS} candidate points")

    @property
    def _rate(self) -> float:
        return self.epsilon / 2

    def _loss(self, beta: float) -> float:
        """Return L."""
        check_probability("beta", beta)
        return 2 / self.epsilon * math.log(len(self.extended.points) / beta)

    def sample_size(self, alpha: float, beta: float) -> int:
        """Return the least n > (d + 1) L."""
        return math.floor((self.dimension + 1) * self._loss(beta)) + 1

    def explicit_examples(self, beta: float) -> int:
        """Return the least n >= 2 (d + 1) L: half of the depth n/(d + 1) is kept with probability 1 - beta."""
        return math.ceil(2 * (self.dimension + 1) * self._loss(beta))

    def find(self, points: Integers, weights: Integers, rng: np.random.Generator, size: int) -> list[Point]:
        """Return `size` points deep in a weighted multiset."""
        candidates = self.extended.points
        depths = tukey_depths(points, weights, candidates)
        kept = np.flatnonzero(self._eligible(depths))
        drawn = kept[equal_scores.draw([1] * len(kept), depths[kept], self._rate, rng, size)]
        return [candidates[i] for i in drawn.tolist()]

    def find_law(self, points: Integers, weights: Integers) -> Law:
        """Return the law of `find`."""
        depths = tukey_depths(points, weights, self.extended.points)
        return Law(list(self.extended.points), *exponential.log_law(depths, self._rate, self._eligible(depths)))


LEARNERS = (HullPointExponential, HullPointJoint)
