"""A deep point by RecConcave on every coordinate, with Tukey depth as its score (BMNS: FindTukey)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np

from dpaudit.contract import Distribution, InputError, Instance, Panel, PrivacyClaim, Sample, WorstFailure

from ..arrays import Integers
from ..citations import BMNS
from ..mechanisms.composition import Cost, advanced, basic
from ..mechanisms.rec_concave import BASE, RecConcave
from ..mechanisms.selections import selections_failure
from ..mechanisms.steps import Steps
from .depth.extended_domain import ExtendedDomain
from .depth.level_rings import by_coordinates
from .depth.space_fractions import SpaceExtents, SpaceFractions, steps_after
from .depth.tukey_depth import tukey_depth
from .hull_point import PICTURED_EXAMPLES, HullPoint, HullPointExponential, Point, Selected, weighted_points
from .sizes import figure_1_share, size_panels

# Up to this many candidates on an axis laws are computed.
MAX_CANDIDATES = 2**15
# A share of two points that is less than the n/6 which a point of the plane must keep, also when it is rounded up.
LIGHT = 0.12


@dataclass(frozen=True)
class HullPointRecConcave(HullPoint):
    """Release a deep point: each coordinate by RecConcave with score Q (FindTukey).

    Coordinate i is promised r_i = n/(d + 1) - (i - 1) n/(2 d (d + 1)) and loses the fraction 1/(2 d) of it, so that the
    point has depth n/(2 (d + 1)) with probability 1 - beta, if n >= `required_examples`.

    (epsilon, delta)-private: each coordinate gets (epsilon/d, delta/d), by basic composition. With |X~_i| <= 33
    RecConcave is the exponential mechanism and delta is not spent: `cost` is the sum of the calls made, and that is
    claimed.

    This deviates from Figure 1 in three points, and `literal=True` runs the figure in all of them.

    * The figure fixes one set X~_i for all prefixes. Here coordinate i is selected from X~_i(prefix), the candidates
      that Claim 3.5 finds for the coordinates already released. They depend on these outputs alone, so that the
      selections still compose, and hold a maximum of Q, so that the promises are kept. They are far fewer: in the plane
      15 at most instead of 51 at side 2, where the exponential mechanism takes the place of a recursion that spends
      delta, and 56 instead of 701 at side 3.
    * The figure's r subtracts (i - 1) n/(d (d + 1)), twice as much, and then proves less than depth n/(2 (d + 1)) for
      d >= 2. The n that `literal=True` claims suffices for the printed promises; the depth is the paper's claim.
    * The figure's share of a coordinate, epsilon/(2 sqrt(2 d ln(2/delta))) and delta/(2 d), has a larger epsilon only
      for d > 8 ln(2/delta).

    Both take d - i + 1 hyperplanes where the proof of Claim 3.5 has d - i, with which the claim fails.

    Parameters
    ----------
    side, dimension : int
        The grid; dimension 1, 2 (side <= 16; the law on side <= 8) or 3 (side 1). In the plane side <= 4 if literal,
        the law on side <= 2.
    epsilon, delta : float
        What may be spent; delta in (0, 1/2).
    beta : float
        The failure probability.
    literal : bool
        Run Figure 1 as printed: fixed sets of candidates, r, epsilon_0 and delta_0.

    Notes
    -----
    Source: BMNS, Figure 1 and Theorem 3.6.
    """

    delta: float
    beta: float
    literal: bool = False

    id: ClassVar[str] = "hull-point-rec-concave"
    instance: ClassVar[Instance] = Instance(
        {"side": 1, "dimension": 2, "epsilon": 1.0, "delta": 1e-6, "beta": 0.1}, n=3
    )
    claim_id: ClassVar[str] = "BMNS-Thm3.6"
    source: ClassVar[str] = f"{BMNS}, Theorem 3.6"
    pictured: ClassVar[Instance] = Instance({**instance.parameters, "side": 2}, n=PICTURED_EXAMPLES)
    _failure: ClassVar[str] = "the point is less than n/(2 (d + 1)) deep"

    _spent: ClassVar[int] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.delta >= 0.5 or (self.literal and self.epsilon > 1):
            raise InputError(
                f"delta must be in (0, 1/2), and epsilon at most 1 if literal; got delta={self.delta!r} and "
                f"epsilon={self.epsilon!r}"
            )

    def _panels(self) -> tuple[Panel, ...]:
        """Return how many examples it takes, against the domain's size."""
        return size_panels(HullPointExponential, HullPointRecConcave)

    @property
    def extended(self) -> ExtendedDomain:
        """The coordinates that can be released, where they are listed; the same after every prefix if literal."""
        return ExtendedDomain.grid(self.side, self.dimension, fixed=self.literal)

    @property
    def privacy(self) -> PrivacyClaim:
        """The guarantee of the calls made, under replacement of one example: (epsilon, delta), or less."""
        cost = self.cost(self._counts, 1)
        # A control that overspends claims what it was asked for all the same.
        epsilon = min(float(cost.epsilon), self.epsilon)
        delta = min(float(cost.delta), self.delta)
        return PrivacyClaim(epsilon, delta, claim_id=self.claim_id, source=self.source)

    @property
    def _counts(self) -> tuple[int, ...]:
        """As many candidates on each axis as the calls may cost the most with.

        The calls depend on the number of candidates by their levels alone; where the first axis already recurses, so
        that delta is spent, the other axes need not be counted.
        """
        # Fixed sets have as many candidates after every prefix.
        if self.literal:
            return self._most
        # The number of first coordinates; where candidates are listed it is exact, and soon found.
        if self.fractions is not None:
            first = self._most[0]
        else:
            first = len(self.extended.coordinates())
        return (first if first > BASE + 1 else max(self._most),) * self.dimension

    def sample_size(self, alpha: float, beta: float) -> int:
        """Return `required_examples` for the largest extended domain; beta must be at least the learner's own."""
        if beta < self.beta:
            raise InputError(f"beta must be at least {self.beta!r}, for which this learner is built; got {beta!r}")
        return self.required_examples(max(self._most))

    def solves(self, code: Point, sample: Sample) -> bool:
        """Say whether the point is as deep as the theorem promises, n/(2 (d + 1)) at least."""
        depth = tukey_depth(*weighted_points(sample), code)
        return 2 * (self.dimension + 1) * int(depth) >= sample.n

    def worst_targets(self, alpha: float) -> list[tuple[int, Distribution, str]]:
        """Return the case of all hull points and, from two dimensions on, one in which a first coordinate misleads.

        Two neighbours have a little less than n/6 each, and two others the rest: after the first coordinate of the
        former no point is deep enough.
        """
        found = super().worst_targets(alpha)
        if self.dimension > 1:
            points = np.zeros((4, self.dimension), dtype=np.int64)
            points[:, :2] = [[0, 0], [0, 1], [1, 0], [1, 1]]
            law = Distribution(points, np.array([LIGHT, LIGHT, 0.5 - LIGHT, 0.5 - LIGHT]))
            found.append((0, law, f"shares of {LIGHT:g} on two neighbours, the rest on two others"))
        return found

    def worst_failure(self, alpha: float, n: int) -> WorstFailure:
        """Return an upper end of the probability of a point that is not deep enough; see `mechanisms.selections`.

        `InputError` where RecConcave recurses: on more than 33 candidates it is no exponential mechanism.
        """
        if max(self._most) > BASE + 1:
            raise InputError(f"an axis has more than {BASE + 1} candidates, for which no bound of all cases is proved")
        part = Fraction(1, 2 * (self.dimension + 1))
        return selections_failure(self._most, float(self.share[0]) / 2, n, part, strict=True)

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
        # Each coordinate may lose alpha r <= n/(2 d (d + 1)), which the next promise spares; the figure prints twice
        # that.
        if self.literal:
            step = Fraction(n, d * (d + 1))
        else:
            step = Fraction(n, 2 * d * (d + 1))
        return max(Fraction(n, d + 1) - axis * step, Fraction(0))

    def mechanism(self, candidates: int, axis: int, n: int) -> RecConcave:
        """Return the selection among so many candidates; at least two indices, the last one repeated if need be."""
        return RecConcave.within(max(1, candidates - 1), self.promise(axis, n), self.accuracy, *self.share)

    def cost(self, candidates: Sequence[int], n: int) -> Cost:
        """Return what selections among so many candidates on each axis cost together.

        If literal, by the better of basic and advanced composition.
        """
        calls = [self.mechanism(count, axis, n).cost for axis, count in enumerate(candidates)]
        plain = basic(calls)
        strong = advanced(calls, Fraction(self.delta) / 2)
        if self.literal and strong.epsilon < plain.epsilon:
            return strong
        return plain

    def find(self, points: Integers, weights: Integers, rng: np.random.Generator, size: int) -> list[Point]:
        """Return `size` points deep in a weighted multiset."""
        candidates = self.fractions
        n = int(weights.sum())
        if not isinstance(candidates, SpaceFractions):
            return super().find(points, weights, rng, size)
        # In space the scores are step functions over ranks of pairs, which are never listed.
        extents = SpaceExtents(points, weights)

        def select(prefix: Point, count: int) -> list[Fraction]:
            scale, pairs = candidates.after(prefix)
            steps = steps_after(extents, pairs, scale, prefix)
            drawn = self.mechanism(pairs.size, len(prefix), n).draw(steps, rng, count)
            return [pairs.at(rank) / scale for rank in drawn]

        return by_coordinates(3, select, rng, size)

    def _draw(self, scores: Integers, axis: int, n: int, rng: np.random.Generator, size: int) -> Integers:
        # RecConcave needs two indices at least: a single candidate is repeated.
        values = scores.tolist() * (2 if len(scores) == 1 else 1)
        drawn = self.mechanism(len(scores), axis, n).draw(Steps.of_values(values), rng, size)
        return np.minimum(np.array(drawn, dtype=np.int64), len(scores) - 1)

    def _log_law(self, scores: Integers, axis: int, n: int) -> Selected:
        if len(scores) == 1:
            return np.zeros(1), 0.0
        # Few depths occur, and on many coordinates the same: few pieces, whose law is found once.
        starts = np.flatnonzero(np.diff(scores, prepend=scores[0] - 1))
        pieces = tuple(starts.tolist()), tuple(scores[starts].tolist()), len(scores)
        return _piecewise_law(self.mechanism(len(scores), axis, n), *pieces)

    def required_examples(self, candidates: int) -> int:
        """Return an n from which every coordinate's promise suffices, for at most so many candidates on each axis.

        The last promise is the least, and promises are proportional to n; what they must reach does not depend on n.
        """
        d = self.dimension
        # The promise needed, divided by the last promise per example; 10^12 examples make rounding to integers
        # negligible.
        needed = self.mechanism(candidates, 0, 1).promise_needed(self.beta / d)
        return math.ceil(needed / float(self.promise(d - 1, 10**12)) * 10**12)

    def explicit_examples(self, beta: float) -> int:
        """Return the `required_examples` of the repaired promises for that beta."""
        repaired = replace(self, beta=beta, literal=False)
        return repaired.required_examples(max(self._most))

    def guaranteed_depth(self, n: int) -> Fraction:
        """Return the depth promised for the released point: (1 - alpha) r_d, alpha = 1/(2 d)."""
        return (1 - self.accuracy) * self.promise(self.dimension - 1, n)


@lru_cache(maxsize=2**13)
def _piecewise_law(mechanism: RecConcave, starts: tuple[int, ...], values: tuple[int, ...], size: int) -> Selected:
    logs, error = mechanism.log_law(Steps.of(starts, values, size), MAX_CANDIDATES)
    logs.flags.writeable = False
    return logs, error


LEARNERS = (HullPointRecConcave,)
