"""A point deep in the data, released one coordinate after the other (BMNS: FindTukey). Labels are ignored."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import InputError, Instance, Panel, PrivacyClaim
from learners.halfspaces.depth.tukey_depth import centerpoint_bound
from learners.halfspaces.hull_point_base import PICTURED_EXAMPLES, SOURCE, HullPoint, Point, Selected, weighted_points
from learners.mechanisms import equal_scores, exponential
from learners.mechanisms.composition import Cost, advanced, basic
from learners.mechanisms.rec_concave import BASE, RecConcave
from learners.mechanisms.steps import Steps
from learners.parameters import check_positive, check_probability

__all__ = [
    "LEARNERS",
    "SOURCE",
    "HullPoint",
    "HullPointExponential",
    "HullPointRecConcave",
    "Point",
    "Selected",
    "figure_1_share",
    "weighted_points",
]


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
        The grid {0 .. side}^dimension: dimension 1, 2 (side <= 8) or 3 (side 1).
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
    pictured: ClassVar[Instance] = Instance({"side": 6, "dimension": 2, "epsilon": 1.0}, n=PICTURED_EXAMPLES)

    def __post_init__(self) -> None:
        check_positive("epsilon", self.epsilon)
        _ = self.extended

    @property
    def privacy(self) -> PrivacyClaim:
        """Pure epsilon-differential privacy under replacement of one example."""
        claim_id, source = self._theorem
        return PrivacyClaim(self.epsilon, claim_id=claim_id, source=source)

    @property
    def _theorem(self) -> tuple[str, str]:
        return "BMNS-Exponential", f"{SOURCE}, Section 1.1"

    def sample_size(self, alpha: float, beta: float) -> int:
        """Return the least n with `depth_guarantee(n, beta)` > 0: (d + 1) floor(L) + 1 for a loss of at most L."""
        return (self.dimension + 1) * math.floor(-self.depth_guarantee(0, beta)) + 1

    @property
    def _rate(self) -> float:
        return self.epsilon / (2 * self.dimension)

    def _eligible(self, scores: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which candidates may be selected."""
        return np.ones(len(scores), dtype=np.bool_)

    def _draw(
        self, scores: NDArray[np.int64], axis: int, n: int, rng: np.random.Generator, size: int
    ) -> NDArray[np.int64]:
        kept = np.flatnonzero(self._eligible(scores))
        return np.asarray(kept[equal_scores.draw([1] * len(kept), scores[kept], self._rate, rng, size)])

    def _log_law(self, scores: NDArray[np.int64], axis: int, n: int) -> Selected:
        return exponential.log_law(scores, self._rate, self._eligible(scores))

    def depth_guarantee(self, n: int, beta: float) -> float:
        """Return a depth that the released point reaches with probability 1 - beta, for every n points; may be < 0."""
        check_probability("beta", beta)
        losses = sum(math.log(self.dimension * size / beta) for size in self.extended.most)
        return centerpoint_bound(n, self.dimension) - 2 * self.dimension / self.epsilon * losses


def figure_1_share(epsilon: float, delta: float, dimension: int) -> float:
    """Return epsilon_0 = epsilon / (2 sqrt(2 d ln(2/delta))), what Figure 1 gives each coordinate."""
    return epsilon / (2 * math.sqrt(2 * dimension * math.log(2 / delta)))


@dataclass(frozen=True)
class HullPointRecConcave(HullPoint):
    """Release a deep point: each coordinate by RecConcave with score Q (FindTukey).

    Coordinate i is promised r_i = n/(d + 1) - (i - 1) n/(2 d (d + 1)) and loses the fraction 1/(2 d) of it, so that the
    point has depth n/(2 (d + 1)) with probability 1 - beta, if n >= `required_examples`. The printed r subtracts twice
    as much: `literal=True` takes it, and Figure 1's share of the budget.

    (epsilon, delta)-private: each coordinate gets (epsilon/d, delta/d), by basic composition. Figure 1's share
    epsilon/(2 sqrt(2 d ln(2/delta))) is larger only for d > 8 ln(2/delta). With |X~_i| <= 33 RecConcave is the
    exponential mechanism and delta is not spent: `cost` says what the calls made sum to, and that is claimed.

    Parameters
    ----------
    side, dimension : int
        The grid; dimension 1, 2 (side <= 8) or 3 (side 1).
    epsilon, delta : float
        What may be spent; delta in (0, 1/2).
    beta : float
        The failure probability.
    literal : bool
        Take r, epsilon_0 and delta_0 as printed in Figure 1.

    Notes
    -----
    Source: BMNS, Figure 1 and Theorem 3.6.
    """

    side: int
    dimension: int
    epsilon: float
    delta: float
    beta: float
    literal: bool = False

    id: ClassVar[str] = "hull-point-rec-concave"
    instance: ClassVar[Instance] = Instance(
        {"side": 1, "dimension": 2, "epsilon": 1.0, "delta": 1e-6, "beta": 0.1}, n=3
    )
    pictured: ClassVar[Instance] = Instance({**instance.parameters, "side": 2}, n=PICTURED_EXAMPLES)

    _spent: ClassVar[int] = 1

    def __post_init__(self) -> None:
        check_positive("epsilon", self.epsilon)
        check_probability("beta", self.beta)
        check_probability("delta", self.delta)
        if self.delta >= 0.5 or (self.literal and self.epsilon > 1):
            raise InputError(
                f"delta must be in (0, 1/2), and epsilon at most 1 if literal; got delta={self.delta!r} and "
                f"epsilon={self.epsilon!r}"
            )
        _ = self.extended

    def _panels(self) -> tuple[Panel, ...]:
        """Return how many examples it takes, against the domain's size."""
        # Measuring runs the learners of this module, so it cannot be imported before them.
        from learners.halfspaces.pictures import size_panels

        return size_panels()

    @property
    def privacy(self) -> PrivacyClaim:
        """What the calls made cost, under replacement of one example: (epsilon, delta), or less.

        The calls depend on the number of candidates by their levels alone; where the first axis already recurses, so
        that delta is spent, the other axes need not be counted.
        """
        claim_id, source = self._theorem
        first = len(self.extended.coordinates())
        cost = self.cost(first if first > BASE + 1 else max(self.extended.most), 1)
        # A control that overspends claims what it was asked for all the same.
        epsilon, delta = min(float(cost.epsilon), self.epsilon), min(float(cost.delta), self.delta)
        return PrivacyClaim(epsilon, delta, claim_id=claim_id, source=source)

    @property
    def _theorem(self) -> tuple[str, str]:
        return "BMNS-Thm3.6", f"{SOURCE}, Theorem 3.6"

    def sample_size(self, alpha: float, beta: float) -> int:
        """Return `required_examples` for the largest extended domain; beta must be at least the learner's own."""
        if beta < self.beta:
            raise InputError(f"beta must be at least {self.beta!r}, for which this learner is built; got {beta!r}")
        return self.required_examples(max(self.extended.most))

    @property
    def share(self) -> tuple[Fraction, Fraction]:
        """The (epsilon_0, delta_0) of one coordinate."""
        d = self.dimension
        if self.literal:
            return Fraction(figure_1_share(self.epsilon, self.delta, d)), Fraction(self.delta) / (2 * d)
        return self._spent * Fraction(self.epsilon) / d, Fraction(self.delta) / d

    @property
    def accuracy(self) -> Fraction:
        """The fraction of its promise that one coordinate may lose."""
        return Fraction(1, 2 * self.dimension)

    def promise(self, axis: int, n: int) -> Fraction:
        """Return r of coordinate `axis` (from 0); not below 0."""
        d = self.dimension
        step = Fraction(n, d * (d + 1)) if self.literal else Fraction(n, 2 * d * (d + 1))
        return max(Fraction(n, d + 1) - axis * step, Fraction(0))

    def mechanism(self, candidates: int, axis: int, n: int) -> RecConcave:
        """Return the selection among so many candidates; at least two indices, the last one repeated if need be."""
        return RecConcave.within(max(1, candidates - 1), self.promise(axis, n), self.accuracy, *self.share)

    def cost(self, candidates: int, n: int) -> Cost:
        """Return what the d selections cost together, by the better of basic and advanced composition."""
        calls = [self.mechanism(candidates, axis, n).cost for axis in range(self.dimension)]
        plain, strong = basic(calls), advanced(calls, Fraction(self.delta) / 2)
        return strong if self.literal and strong.epsilon < plain.epsilon else plain

    @staticmethod
    def _steps(scores: NDArray[np.int64]) -> Steps:
        values = scores.tolist()
        return Steps.of_values(values if len(values) > 1 else values * 2)

    def _draw(
        self, scores: NDArray[np.int64], axis: int, n: int, rng: np.random.Generator, size: int
    ) -> NDArray[np.int64]:
        drawn = self.mechanism(len(scores), axis, n).draw(self._steps(scores), rng, size)
        return np.minimum(np.array(drawn, dtype=np.int64), len(scores) - 1)

    def _log_law(self, scores: NDArray[np.int64], axis: int, n: int) -> Selected:
        logs, error = self.mechanism(len(scores), axis, n).log_law(self._steps(scores))
        if len(scores) > 1:
            return logs, error
        return np.zeros(1), 0.0

    def required_examples(self, candidates: int) -> int:
        """Return an n from which every coordinate's promise suffices, for at most so many candidates on each axis.

        The last promise is the least, and promises are proportional to n; what they must reach does not depend on n.
        """
        d = self.dimension
        needed = self.mechanism(candidates, 0, 1).promise_needed(self.beta / d)
        return math.ceil(needed / float(self.promise(d - 1, 10**12)) * 10**12)

    def guaranteed_depth(self, n: int) -> Fraction:
        """Return the depth promised for the released point: (1 - alpha) r_d, alpha = 1/(2 d)."""
        return (1 - self.accuracy) * self.promise(self.dimension - 1, n)


LEARNERS = (HullPointExponential, HullPointRecConcave)
