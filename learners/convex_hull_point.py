"""A point deep in the data, released one coordinate after the other (BMNS: FindTukey). Labels are ignored."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Example, InputError, Law, PrivacyClaim, Sample
from learners.concepts.halfspaces import Halfspace, Halfspaces
from learners.domains import Grid
from learners.geometry.depth_regions import DepthRegions
from learners.geometry.extended_domain import ExtendedDomain
from learners.geometry.tukey_depth import centerpoint_bound
from learners.inputs import check_run, check_sample
from learners.mechanisms import equal_scores, exponential
from learners.mechanisms.composition import Cost, advanced, basic
from learners.mechanisms.rec_concave import RecConcave
from learners.mechanisms.steps import Steps
from learners.parameters import check_positive, check_probability
from learners.symmetries import moving_points

__all__ = ["LEARNERS", "HullPoint", "HullPointExponential", "HullPointRecConcave", "figure_1_share", "weighted_points"]

SOURCE = "Beimel, Moran, Nissim, Stemmer, Private center points and learning of halfspaces (2019)"

MAX_ATOMS = 2**16

Point = tuple[Fraction, ...]
Selected = tuple[NDArray[np.float64], float]


def weighted_points(sample: Sample) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct points (m, d) of a sample and how often each occurs, with either label."""
    points, place = np.unique(sample.points.astype(np.int64), axis=0, return_inverse=True)
    weights = np.zeros(len(points), dtype=np.int64)
    np.add.at(weights, place.reshape(-1), sample.counts)
    return points, weights


class HullPoint:
    """What the learners share: coordinate i is selected from X~_i(prefix) by the score Q_prefix of sensitivity 1.

    Q_prefix(x) is the greatest depth of a point that begins with (prefix, x); see `geometry.depth_regions`. Outputs are
    tuples of d fractions. `decode` reads a point p as the halfspace x_1 >= p_1.
    """

    side: int
    dimension: int

    @property
    def domain(self) -> Grid:
        """The grid {0 .. side}^dimension."""
        return Grid(self.side, self.dimension)

    @property
    def concepts(self) -> Halfspaces:
        """Halfspaces: the point's first coordinate bounds one."""
        return Halfspaces(self.side, self.dimension)

    @property
    def extended(self) -> ExtendedDomain:
        """The coordinates that can be released."""
        return ExtendedDomain.grid(self.side, self.dimension)

    def decode(self, code: Point) -> Halfspace:
        """Return the halfspace x_1 >= p_1."""
        return Halfspace((1, *[0] * (self.dimension - 1)), code[0])

    def _draw(
        self, scores: NDArray[np.int64], axis: int, n: int, rng: np.random.Generator, size: int
    ) -> NDArray[np.int64]:
        """Return `size` indices into the candidates on an axis (from 0)."""
        raise NotImplementedError("a hull point learner selects")

    def _log_law(self, scores: NDArray[np.int64], axis: int, n: int) -> Selected:
        """Return the log-probabilities of `_draw` and a bound on their error."""
        raise NotImplementedError("a hull point learner has a law of its selections")

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> list[Point]:
        """Return the points of independent runs."""
        check_run(sample, self.domain, size)
        return self.find(*weighted_points(sample), rng, size)

    def find(
        self, points: NDArray[np.int64], weights: NDArray[np.int64], rng: np.random.Generator, size: int
    ) -> list[Point]:
        """Return `size` points deep in a weighted multiset; runs that share a prefix share its scores."""
        regions, n = self.extended.regions(points, weights), int(weights.sum())
        groups: Counter[Point] = Counter({(): size})
        for axis in range(self.extended.dimension):
            following: Counter[Point] = Counter()
            for prefix, count in groups.items():
                candidates = self.extended.coordinates(prefix)
                drawn = self._draw(regions.values(prefix, candidates), axis, n, rng, count)
                for index, times in sorted(Counter(drawn.tolist()).items()):
                    following[(*prefix, candidates[index])] += times
            groups = following
        found = [point for point, count in groups.items() for _ in range(count)]
        return [found[i] for i in rng.permutation(size)]

    def law(self, sample: Sample) -> Law:
        """Return the law on all points of the extended domain: the product of the selections along each."""
        check_sample(sample, self.domain)
        return self.find_law(*weighted_points(sample))

    def find_law(self, points: NDArray[np.int64], weights: NDArray[np.int64]) -> Law:
        """Return the law of `find`."""
        regions, n = self.extended.regions(points, weights), int(weights.sum())
        atoms: list[Point] = [()]
        logs, error = np.zeros(1), 0.0
        for axis in range(self.extended.dimension):
            parts = list(self._extend(regions, atoms, logs, axis, n))
            atoms = [atom for longer, _, _ in parts for atom in longer]
            if len(atoms) > MAX_ATOMS:
                raise InputError(
                    f"side must be smaller for the exact law: more than {MAX_ATOMS} points; run has no limit"
                )
            logs = np.concatenate([log for _, log, _ in parts])
            error += max(e for _, _, e in parts)
        finite = logs[np.isfinite(logs)]
        return Law(atoms, logs, error + self.dimension * 2.0**-52 * float(-finite.min()))

    def _extend(
        self, regions: DepthRegions, atoms: list[Point], logs: NDArray[np.float64], axis: int, n: int
    ) -> Iterator[tuple[list[Point], NDArray[np.float64], float]]:
        """Yield for each prefix the longer prefixes, their log-probabilities and an error."""
        for prefix, log in zip(atoms, logs.tolist(), strict=True):
            candidates = self.extended.coordinates(prefix)
            selected, error = self._log_law(regions.values(prefix, candidates), axis, n)
            yield [(*prefix, x) for x in candidates], log + selected, error

    def symmetries(self) -> list[NDArray[np.int64]]:
        """Return the flips of one point's label, which is ignored."""
        flips = np.eye(self.domain.size, dtype=np.int64)
        return [moving_points(np.arange(len(flips)), flip) for flip in flips]


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
    example: ClassVar[Example] = Example({"side": 1, "dimension": 2, "epsilon": 1.0}, n=3)

    def __post_init__(self) -> None:
        check_positive("epsilon", self.epsilon)
        _ = self.extended

    @property
    def privacy(self) -> PrivacyClaim:
        """Pure epsilon-differential privacy under replacement of one example."""
        return PrivacyClaim(self.epsilon, claim_id="BMNS-Exponential", source=f"{SOURCE}, Section 1.1")

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
        losses = sum(math.log(self.dimension * size / beta) for size in self.extended.sizes)
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
    exponential mechanism and delta is not spent: `cost` says what the calls made sum to, at most the claim.

    Parameters
    ----------
    side, dimension : int
        The grid; dimension 1, 2 (side <= 8) or 3 (side 1).
    epsilon, delta : float
        The privacy claim; delta in (0, 1/2).
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
    example: ClassVar[Example] = Example({"side": 1, "dimension": 2, "epsilon": 1.0, "delta": 1e-6, "beta": 0.1}, n=3)

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

    @property
    def privacy(self) -> PrivacyClaim:
        """(epsilon, delta)-differential privacy under replacement of one example."""
        return PrivacyClaim(self.epsilon, self.delta, claim_id="BMNS-Thm3.6", source=f"{SOURCE}, Theorem 3.6")

    @property
    def share(self) -> tuple[Fraction, Fraction]:
        """The (epsilon_0, delta_0) of one coordinate."""
        d = self.dimension
        if self.literal:
            return Fraction(figure_1_share(self.epsilon, self.delta, d)), Fraction(self.delta) / (2 * d)
        return self._spent * Fraction(self.epsilon) / d, Fraction(self.delta) / d

    def promise(self, axis: int, n: int) -> Fraction:
        """Return r of coordinate `axis` (from 0); not below 0."""
        d = self.dimension
        step = Fraction(n, d * (d + 1)) if self.literal else Fraction(n, 2 * d * (d + 1))
        return max(Fraction(n, d + 1) - axis * step, Fraction(0))

    def mechanism(self, candidates: int, axis: int, n: int) -> RecConcave:
        """Return the selection among so many candidates; at least two indices, the last one repeated if need be."""
        alpha = Fraction(1, 2 * self.dimension)
        return RecConcave.within(max(1, candidates - 1), self.promise(axis, n), alpha, *self.share)

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
        """Return the depth promised for the released point: (1 - 1/(2 d)) r_d."""
        return (1 - Fraction(1, 2 * self.dimension)) * self.promise(self.dimension - 1, n)


LEARNERS = (HullPointExponential, HullPointRecConcave)
