"""A point deep in the data, released one coordinate after the other by some private selection (BMNS: FindTukey)."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from dpaudit.contract import Hypothesis, InputError, Law, Panel, Picture, PrivacyClaim, Sample, UtilityClaim
from learners.arrays import Bools, Floats, Integers
from learners.domains import moving_points
from learners.finite.counting import ClassLearner
from learners.geometry.pictures import examples
from learners.halfspaces.concepts import Halfspace, Halfspaces
from learners.halfspaces.depth.depth_regions import depth_panel
from learners.halfspaces.depth.extended_domain import ExtendedDomain
from learners.halfspaces.depth.plane_slices import PlaneSlices
from learners.halfspaces.depth.tukey_depth import tukey_depth
from learners.mechanisms.log_laws import ULP, greatest
from learners.parameters import check_integer, check_probability, check_run, check_sample

__all__ = ["PICTURED_EXAMPLES", "HullPoint", "Point", "Selected", "weighted_points"]

MAX_ATOMS = 2**16
"""Up to this many points a law has them in a tuple."""
MAX_PLANE_ATOMS = 2**25
"""Up to this many points of the plane a law has their probabilities, and makes a point when it is asked for."""
PICTURED_EXAMPLES = 300

Point = tuple[Fraction, ...]
Selected = tuple[Floats, float]


def weighted_points(sample: Sample) -> tuple[Integers, Integers]:
    """Return the distinct points (m, d) of a sample and how often each occurs, with either label."""
    points, place = np.unique(sample.points.astype(np.int64), axis=0, return_inverse=True)
    weights = np.zeros(len(points), dtype=np.int64)
    np.add.at(weights, place.reshape(-1), sample.counts)
    return points, weights


class _Depths:
    """The candidates after each prefix and their depths in one multiset, each found when it is first asked for."""

    def __init__(self, extended: ExtendedDomain, points: Integers, weights: Integers) -> None:
        self._extended, self._regions = extended, extended.regions(points, weights)
        self._known: dict[Point, tuple[tuple[Fraction, ...], Integers]] = {}

    def after(self, prefix: Point) -> tuple[tuple[Fraction, ...], Integers]:
        """Return X~_i(prefix) and the values of Q_prefix on it."""
        if prefix not in self._known:
            self._known[prefix] = self._found(prefix)
        return self._known[prefix]

    def _found(self, prefix: Point) -> tuple[tuple[Fraction, ...], Integers]:
        slices = self._extended.slices
        if slices is None:
            candidates = self._extended.coordinates(prefix)
            return candidates, self._regions.values(prefix, candidates)
        if not prefix:
            return slices.firsts, slices.first_values(self._regions)
        index = bisect_left(slices.firsts, prefix[0])
        return slices.coordinates(index), next(slices.depths(self._regions, [index]))

    def in_slices(self, slices: PlaneSlices) -> Iterator[Integers]:
        """Yield the depths of the candidates of one slice after the other."""
        return slices.depths(self._regions, range(len(slices.firsts)))


@lru_cache(maxsize=256)
def _depths(extended: ExtendedDomain, points: tuple[tuple[int, ...], ...], weights: tuple[int, ...]) -> _Depths:
    """Return the depths in a multiset: neighbours, learners and runs ask for those of the same few again and again."""
    table = np.array(points, dtype=np.int64).reshape(len(points), extended.dimension)
    return _Depths(extended, table, np.array(weights, dtype=np.int64))


class HullPoint(ClassLearner):
    """A learner that releases a deep point: coordinate i is selected from X~_i(prefix) by Q_prefix, of sensitivity 1.

    Q_prefix(x) is the greatest depth of a point that begins with (prefix, x); see `halfspaces.depth.depth_regions`.
    Outputs are tuples of d fractions. `decode` reads a point p as the halfspace x_1 >= p_1.
    """

    side: int
    dimension: int
    epsilon: float

    settings: ClassVar[tuple[str, ...]] = ("solution",)
    claim_id: ClassVar[str]
    source: ClassVar[str]

    @property
    def concepts(self) -> Halfspaces:
        """All halfspaces on the grid."""
        return Halfspaces(self.side, self.dimension)

    @property
    def extended(self) -> ExtendedDomain:
        """The coordinates that can be released."""
        return ExtendedDomain.grid(self.side, self.dimension)

    @property
    def privacy(self) -> PrivacyClaim:
        """Pure epsilon-differential privacy under replacement of one example."""
        return PrivacyClaim(self.epsilon, claim_id=self.claim_id, source=self.source)

    def decode(self, code: Point) -> Halfspace:
        """Return the halfspace x_1 >= p_1."""
        return Halfspace((1, *[0] * (self.dimension - 1)), code[0])

    def solves(self, code: Point, sample: Sample) -> bool:
        """Say whether the point lies in the convex hull of the sample, that is, has a depth of at least 1."""
        return tukey_depth(*weighted_points(sample), code) >= 1

    def sample_size(self, alpha: float, beta: float) -> int:
        """Return how many examples suffice for a point of the hull with probability 1 - beta, whatever alpha."""
        raise NotImplementedError("a hull point learner says how many examples it needs")

    def explicit_examples(self, beta: float) -> int:
        """Return the n from which a depth of n/(2 (d + 1)) is proved with probability 1 - beta, on every sample."""
        raise NotImplementedError("a hull point learner says how many examples keep half of the depth")

    def utility(self, alpha: float, beta: float, setting: str = "solution") -> UtilityClaim:
        """Return the claim that the point is in the hull with probability 1 - beta, for every sample of that size."""
        if setting != "solution":
            raise InputError(f"setting must be solution, got {setting!r}: the theorem is not on errors")
        check_probability("alpha", alpha)
        size, failure = self.sample_size(alpha, beta), "the point lies outside the convex hull"
        return UtilityClaim(alpha, beta, size, setting, self.claim_id, self.source, failure)

    def _eligible(self, depths: Integers) -> Bools:
        """Return which candidates an exponential mechanism may select."""
        return np.ones(len(depths), dtype=np.bool_)

    def _draw(self, scores: Integers, axis: int, n: int, rng: np.random.Generator, size: int) -> Integers:
        """Return `size` indices into the candidates on an axis (from 0)."""
        raise NotImplementedError("a hull point learner selects")

    def _log_law(self, scores: Integers, axis: int, n: int) -> Selected:
        """Return the log-probabilities of `_draw` and a bound on their error."""
        raise NotImplementedError("a hull point learner has a law of its selections")

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> list[Point]:
        """Return the points of independent runs."""
        check_run(sample, self.domain, size)
        return self.find(*weighted_points(sample), rng, size)

    def find(self, points: Integers, weights: Integers, rng: np.random.Generator, size: int) -> list[Point]:
        """Return `size` points deep in a weighted multiset; runs that share a prefix share its scores."""
        depths, n = self._depths(points, weights), int(weights.sum())
        groups: Counter[Point] = Counter({(): size})
        for axis in range(self.extended.dimension):
            following: Counter[Point] = Counter()
            for prefix, count in groups.items():
                candidates, scores = depths.after(prefix)
                drawn = self._draw(scores, axis, n, rng, count)
                for index, times in sorted(Counter(drawn.tolist()).items()):
                    following[(*prefix, candidates[index])] += times
            groups = following
        found = [point for point, count in groups.items() for _ in range(count)]
        return [found[i] for i in rng.permutation(size)]

    def _depths(self, points: Integers, weights: Integers) -> _Depths:
        return _depths(self.extended, tuple(map(tuple, points.tolist())), tuple(weights.tolist()))

    def law(self, sample: Sample) -> Law:
        """Return the law on all points of the extended domain: the product of the selections along each."""
        check_sample(sample, self.domain)
        return self.find_law(*weighted_points(sample))

    def find_law(self, points: Integers, weights: Integers) -> Law:
        """Return the law of `find`."""
        depths, n = self._depths(points, weights), int(weights.sum())
        slices = self.extended.slices
        if slices is not None:
            return self._plane_law(depths, slices, n)
        atoms: list[Point] = [()]
        logs, error = np.zeros(1), 0.0
        for axis in range(self.extended.dimension):
            parts = list(self._extend(depths, atoms, logs, axis, n))
            atoms = [atom for longer, _, _ in parts for atom in longer]
            if len(atoms) > MAX_ATOMS:
                raise InputError(
                    f"side must be smaller for the exact law: more than {MAX_ATOMS} points; run has no limit"
                )
            logs = np.concatenate([log for _, log, _ in parts])
            error += max(e for _, _, e in parts)
        return Law(atoms, logs, error + self.dimension * ULP * greatest(logs))

    def _plane_law(self, depths: _Depths, slices: PlaneSlices, n: int) -> Law:
        """Return the law on the points of the plane, slice by slice; no point is made where they are many."""
        total = int(slices.sizes.sum())
        if total > MAX_PLANE_ATOMS:
            raise InputError(
                f"side must be smaller for the exact law: {total} points, more than {MAX_PLANE_ATOMS}; run has no limit"
            )
        _, scores = depths.after(())
        firsts, error = self._log_law(scores, 0, n)
        parts, worst = [], 0.0
        for log, values in zip(firsts.tolist(), depths.in_slices(slices), strict=True):
            selected, more = self._log_law(values, 1, n)
            parts.append(log + selected)
            worst = max(worst, more)
        logs = np.concatenate(parts)
        atoms = self.extended.points if total <= MAX_ATOMS else self.extended.lazy_points
        return Law(atoms, logs, error + worst + self.dimension * ULP * greatest(logs))

    def _extend(
        self, depths: _Depths, atoms: list[Point], logs: Floats, axis: int, n: int
    ) -> Iterator[tuple[list[Point], Floats, float]]:
        """Yield for each prefix the longer prefixes, their log-probabilities and an error."""
        for prefix, log in zip(atoms, logs.tolist(), strict=True):
            candidates, scores = depths.after(prefix)
            selected, error = self._log_law(scores, axis, n)
            yield [(*prefix, x) for x in candidates], log + selected, error

    def scene(self, rng: np.random.Generator) -> tuple[Sample, None]:
        """Return the sample of the picture: uneven weights on the grid, nothing that labels them."""
        points = self.domain.points()
        counts = rng.multinomial(PICTURED_EXAMPLES, rng.dirichlet(np.ones(len(points))))
        return self.domain.sample(points, np.zeros(len(points), dtype=np.int64), counts), None

    def picture(self, sample: Sample, codes: Any, target: Hypothesis | None = None) -> Picture:
        """Return the sample's regions of depth, with the points that were released; dimension 2 only."""
        check_integer("dimension", self.dimension, 2, 2)
        regions = self.extended.regions(*weighted_points(sample))
        return Picture((depth_panel(self.side, regions, examples(sample), codes), *self._panels()))

    def _panels(self) -> tuple[Panel, ...]:
        """Return what else the picture shows."""
        return ()

    def symmetries(self) -> list[Integers]:
        """Return the flips of one point's label, which is ignored."""
        flips = np.eye(self.domain.size, dtype=np.int64)
        return [moving_points(np.arange(len(flips)), flip) for flip in flips]
