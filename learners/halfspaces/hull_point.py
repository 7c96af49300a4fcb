"""A point deep in the data, released one coordinate after the other by a private selection (BMNS: FindTukey).

Selections by the exponential mechanism, score the Tukey depth (BMNS, Section 1.1), on each coordinate or once on all
points, are here; `halfspaces.hull_point_rec_concave` selects by RecConcave.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from typing import ClassVar

import numpy as np

from dpaudit.contract import Distribution, Hypothesis, InputError, Instance, Law, Panel, Picture, Sample, WorstFailure

from ..arrays import Bools, Floats, Integers, summed
from ..citations import BMNS
from ..domains import moving_points
from ..finite.counting import SOLUTION, ClassLearner, pure_privacy, solution_utility
from ..geometry.pictures import examples
from ..mechanisms import exponential
from ..mechanisms.log_laws import ULP, greatest
from ..mechanisms.selections import selections_failure
from ..parameters import Built, check_integer, check_parameters, check_probability, check_run, check_sample
from .concepts import Halfspace, Halfspaces
from .depth.depth_extents import DepthExtents
from .depth.depth_regions import depth_panel
from .depth.extended_domain import MAX_SIDE, ExtendedDomain
from .depth.fraction_ranks import MAX_FRACTION_SIDE, PlaneFractions, Span
from .depth.level_rings import Selection, by_coordinates
from .depth.space_fractions import Pairs, SpaceExtents, SpaceFractions
from .depth.tukey_depth import centerpoint_bound, tukey_depth

# Up to this many points a law has them in a tuple.
MAX_ATOMS = 2**16
# Up to this many points of the plane a law has their probabilities, and makes a point when it is asked for.
MAX_PLANE_ATOMS = 2**25
PICTURED_EXAMPLES = 300

Point = tuple[Fraction, ...]
Rows = tuple[tuple[int, ...], ...]
Selected = tuple[Floats, float]


def weighted_points(sample: Sample) -> tuple[Integers, Integers]:
    """Return the distinct points (m, d) of a sample and how often each occurs, with either label."""
    return summed(sample.points.astype(np.int64), sample.counts)


def as_tuples(points: Integers, weights: Integers) -> tuple[Rows, tuple[int, ...]]:
    """Return a weighted multiset as what caches are asked with."""
    return tuple(map(tuple, points.tolist())), tuple(weights.tolist())


def as_arrays(points: Rows, weights: tuple[int, ...], dimension: int) -> tuple[Integers, Integers]:
    """Return the arrays of `as_tuples`."""
    return np.array(points, dtype=np.int64).reshape(-1, dimension), np.array(weights, dtype=np.int64)


def exponential_examples(dimension: int, candidates: tuple[int, ...], epsilon: float, beta: float) -> int:
    """Return 2 (d + 1) (2 d/epsilon) sum of ln(d |X~_i| / beta), from which the exponential mechanism suffices.

    It loses at most the sum of (2 d/epsilon) ln(d |X~_i|/beta) of a depth n/(d + 1), which may be half of it.
    """
    # Each coordinate has a d-th of epsilon and of beta; their losses add up.
    losses = sum(math.log(dimension) + math.log(size) - math.log(beta) for size in candidates)
    return math.ceil(2 * (dimension + 1) * 2 * dimension / epsilon * losses)


class _Depths:
    """The candidates after each prefix and their depths in one multiset, each found when it is first asked for."""

    def __init__(self, extended: ExtendedDomain, points: Integers, weights: Integers) -> None:
        self.extended = extended
        self.regions = extended.regions(points, weights)
        self.after = cache(self._after)

    def _after(self, prefix: Point) -> tuple[tuple[Fraction, ...], Integers]:
        """Return X~_i(prefix) and the values of Q_prefix on it."""
        slices = self.extended.slices
        if slices is None:
            candidates = self.extended.coordinates(prefix)
            return candidates, self.regions.values(prefix, candidates)
        if not prefix:
            # In the plane first coordinates and slices are found in integers, for all prefixes alike.
            return slices.firsts, slices.first_values(self.regions)
        index = bisect_left(slices.firsts, prefix[0])
        return slices.coordinates(index), next(slices.depths(self.regions, [index]))

    def along(self, axis: int) -> Iterator[Integers]:
        """Yield the values of Q_prefix on X~_i(prefix) for all prefixes in order, i = axis + 1."""
        slices = self.extended.slices
        if axis and slices is not None:
            return slices.depths(self.regions, range(len(slices.firsts)))
        return (self.after(prefix)[1] for prefix in self.extended.prefixes(axis))


@lru_cache(maxsize=256)
def _depths(extended: ExtendedDomain, points: Rows, weights: tuple[int, ...]) -> _Depths:
    """Return the depths in a multiset: neighbours, learners and runs ask for those of the same few again and again."""
    return _Depths(extended, *as_arrays(points, weights, extended.dimension))


@lru_cache(maxsize=4)
def _selection(
    candidates: PlaneFractions | SpaceFractions, points: Rows, weights: tuple[int, ...], rate: float
) -> Selection[Span] | Selection[Pairs]:
    """Return the selection on a large grid: its cuts and rings serve every run on the same sample."""
    if isinstance(candidates, PlaneFractions):
        return Selection(candidates, DepthExtents(*as_arrays(points, weights, 2), candidates.side), rate)
    return Selection(candidates, SpaceExtents(*as_arrays(points, weights, 3)), rate)


@dataclass(frozen=True)
class HullPoint(ClassLearner):
    """A learner that releases a deep point: coordinate i is selected from X~_i(prefix) by Q_prefix, of sensitivity 1.

    Q_prefix(x) is the greatest depth of a point that begins with (prefix, x); see `halfspaces.depth.depth_regions`.
    Outputs are tuples of d fractions. `decode` reads a point p as the halfspace x_1 >= p_1.
    """

    side: int
    dimension: int
    epsilon: float

    settings: ClassVar[tuple[str, ...]] = SOLUTION
    claim_id: ClassVar[str]
    source: ClassVar[str]
    _failure: ClassVar[str] = "the point lies outside the convex hull"

    def __post_init__(self) -> None:
        check_parameters(self, side=(1, None))
        if self.fractions is None:
            _ = self.extended

    concepts = Built(Halfspaces)

    utility = solution_utility

    @property
    def extended(self) -> ExtendedDomain:
        """The coordinates that can be released, where they are listed."""
        return ExtendedDomain.grid(self.side, self.dimension)

    @property
    def fractions(self) -> PlaneFractions | SpaceFractions | None:
        """The candidates on a large grid; None where they are listed, in `extended`."""
        return None

    @property
    def _most(self) -> tuple[int, ...]:
        """An upper bound on the number of candidates on each axis."""
        if self.fractions is None:
            return self.extended.most
        return self.fractions.most

    privacy = pure_privacy

    def decode(self, code: Point) -> Halfspace:
        """Return the halfspace x_1 >= p_1."""
        return Halfspace((1, *[0] * (self.dimension - 1)), code[0])

    def solves(self, code: Point, sample: Sample) -> bool:
        """Say whether the point lies in the convex hull of the sample, that is, has a depth of at least 1."""
        return tukey_depth(*weighted_points(sample), code) >= 1

    def worst_targets(self, alpha: float) -> list[tuple[int, Distribution, str]]:
        """Return two neighbouring points with half of the mass each: their hull has few candidates."""
        points = np.zeros((2, self.dimension), dtype=np.int64)
        points[1, -1] = 1
        return [(0, Distribution(points, np.full(2, 0.5)), "two points side by side")]

    def explicit_examples(self, beta: float) -> int:
        """Return the n from which a depth of n/(2 (d + 1)) is proved with probability 1 - beta, on every sample."""
        raise NotImplementedError("a hull point learner has a size that keeps half of the depth")

    def _eligible(self, depths: Integers) -> Bools:
        return np.ones(len(depths), dtype=np.bool_)

    @property
    def _rate(self) -> float:
        return self.epsilon / 2

    def _draw(self, scores: Integers, axis: int, n: int, rng: np.random.Generator, size: int) -> Integers:
        """Return `size` indices into the candidates on an axis (from 0), by the exponential mechanism."""
        # Cells of one candidate each: the exact sampler of cells serves.
        kept = np.flatnonzero(self._eligible(scores))
        return np.asarray(kept[exponential.draw_cells([1] * len(kept), scores[kept], self._rate, rng, size)])

    def _log_law(self, scores: Integers, axis: int, n: int) -> Selected:
        """Return the log-probabilities of `_draw` and a bound on their error."""
        return exponential.log_law(scores, self._rate, self._eligible(scores))

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> list[Point]:
        """Return the points of independent runs."""
        check_run(sample, self.domain, size)
        return self.find(*weighted_points(sample), rng, size)

    def find(self, points: Integers, weights: Integers, rng: np.random.Generator, size: int) -> list[Point]:
        """Return `size` points deep in a weighted multiset; runs that share a prefix share its scores."""
        depths = _depths(self.extended, *as_tuples(points, weights))
        n = int(weights.sum())

        def select(prefix: Point, count: int) -> list[Fraction]:
            candidates, scores = depths.after(prefix)
            # Sorted, as candidates of one prefix go on together; the order of runs is drawn in the end.
            return [candidates[i] for i in sorted(self._draw(scores, len(prefix), n, rng, count).tolist())]

        return by_coordinates(self.extended.dimension, select, rng, size)

    def law(self, sample: Sample) -> Law:
        """Return the law on all points of the extended domain: the product of the selections along each."""
        check_sample(sample, self.domain)
        return self.find_law(*weighted_points(sample))

    def find_law(self, points: Integers, weights: Integers) -> Law:
        """Return the law of `find`."""
        depths = _depths(self.extended, *as_tuples(points, weights))
        n = int(weights.sum())
        extended = self.extended
        slices = self.extended.slices
        if extended.fixed and math.prod(extended.sizes) > MAX_ATOMS:
            raise InputError(
                f"side must be smaller for the exact law: {math.prod(extended.sizes)} points, more than {MAX_ATOMS}; "
                "run has no such limit"
            )
        if slices is not None and len(slices) > MAX_PLANE_ATOMS:
            raise InputError(
                f"side must be smaller for the exact law: {len(slices)} points, more than {MAX_PLANE_ATOMS}; run has "
                "no limit"
            )
        # The law of the prefixes on the first axes, which grows by an axis in each step.
        logs = np.zeros(1)
        error = 0.0
        for axis in range(extended.dimension):
            parts = []
            worst = 0.0
            for log, scores in zip(logs.tolist(), depths.along(axis), strict=True):
                selected, more = self._log_law(scores, axis, n)
                parts.append(log + selected)
                worst = max(worst, more)
            logs = np.concatenate(parts)
            error += worst
            if slices is None and len(logs) > MAX_ATOMS:
                raise InputError(
                    f"side must be smaller for the exact law: more than {MAX_ATOMS} points; run has no limit"
                )
        atoms: Sequence[Point] = extended.points if slices is None or len(slices) <= MAX_ATOMS else slices
        return Law(atoms, logs, error + self.dimension * ULP * greatest(logs))

    def scene(self, rng: np.random.Generator) -> tuple[Sample, None]:
        """Return the sample of the picture: uneven weights on the grid, nothing that labels them."""
        # Uneven weights: with equal ones the regions of depth would be as symmetric as the grid.
        points = self.domain.points()
        counts = rng.multinomial(PICTURED_EXAMPLES, rng.dirichlet(np.ones(len(points))))
        return self.domain.sample(points, np.zeros(len(points), dtype=np.int64), counts), None

    def picture(self, sample: Sample, codes: Sequence[Point], target: Hypothesis | None = None) -> Picture:
        """Return the sample's regions of depth, with the points that were released; dimension 2 only."""
        check_integer("dimension", self.dimension, 2, 2)
        regions = self.extended.regions(*weighted_points(sample))
        return Picture((depth_panel(self.side, regions, examples(sample), codes), *self._panels()))

    def _panels(self) -> tuple[Panel, ...]:
        """Return what else the picture shows."""
        return ()

    def symmetries(self) -> list[Integers]:
        """Return the flips of one point's label, which is ignored."""
        places = np.arange(self.domain.size)
        return [moving_points(places, places == place) for place in places]


@dataclass(frozen=True)
class HullPointExponential(HullPoint):
    """Release a deep point: each coordinate by the exponential mechanism, score Q, epsilon/d a coordinate.

    Pure epsilon-differentially private by composition of d mechanisms with score of sensitivity 1.

    In the plane beyond side 16, and in space beyond side 1, the candidates are the larger sets of
    `halfspaces.depth.fraction_ranks` and `halfspaces.depth.space_fractions`, which are numbered and not listed. They
    depend on no sample and hold the corners of every T(r), so that privacy and the bound below are proved as before,
    with their sizes for |X~_i|; the law is another one than on X~ itself.

    With probability 1 - beta each selection loses at most (2 d/epsilon) ln(d |X~_i| / beta) of depth, so that the point
    has depth at least ceil(n/(d + 1)) - (2 d/epsilon) sum ln(d |X~_i|/beta), and lies in the convex hull if this is
    positive: `depth_guarantee`.

    Parameters
    ----------
    side, dimension : int
        The grid {0 .. side}^dimension: dimension 1, 2 (side <= 1,000; the law on side <= 8) or 3 (side <= 1,000, on
        samples with at most 200 distinct points beyond side 1; the law on side 1).
    epsilon : float
        The privacy claim.

    Notes
    -----
    Source: BMNS, Section 1.1 (the exponential mechanism with Tukey depth as quality), over Claim 3.5's domain.
    """

    id: ClassVar[str] = "hull-point-exponential"
    instance: ClassVar[Instance] = Instance({"side": 1, "dimension": 2, "epsilon": 1.0}, n=3)
    claim_id: ClassVar[str] = "OURS-HullPoint"
    source: ClassVar[str] = f"{BMNS}, Section 1.1"
    pictured: ClassVar[Instance] = Instance({"side": 6, "dimension": 2, "epsilon": 1.0}, n=PICTURED_EXAMPLES)

    @property
    def fractions(self) -> PlaneFractions | SpaceFractions | None:
        """The candidates on a large grid of the plane or of space; None where they are listed, in `extended`."""
        # Up to that side X~ is listed, and the law is the paper's.
        if self.dimension not in (2, 3) or self.side <= MAX_SIDE[self.dimension]:
            return None
        if self.side > MAX_FRACTION_SIDE:
            raise InputError(
                f"side must be at most {MAX_FRACTION_SIDE} in dimension {self.dimension}, got {self.side}: beyond it "
                "float64 does not order all slopes by which the depth of a candidate of the plane is found"
            )
        if self.dimension == 2:
            return PlaneFractions(self.side)
        return SpaceFractions((0,) * 3, (self.side,) * 3)

    def find(self, points: Integers, weights: Integers, rng: np.random.Generator, size: int) -> list[Point]:
        """Return `size` points deep in a weighted multiset."""
        if self.fractions is None:
            return super().find(points, weights, rng, size)
        return _selection(self.fractions, *as_tuples(points, weights), self._rate).draw(rng, size)

    def find_law(self, points: Integers, weights: Integers) -> Law:
        """Return the law of `find`; not where the candidates are only numbered."""
        if self.fractions is None:
            return super().find_law(points, weights)
        raise InputError(
            f"side must be at most {MAX_SIDE[self.dimension]} for the exact law, got {self.side}: the law of the "
            f"coordinates after the first differs from each of its {self._most[0]} candidates to the next, so that all "
            "of these would have to be gone through; run has no such limit"
        )

    def sample_size(self, alpha: float, beta: float) -> int:
        """Return the least n with `depth_guarantee(n, beta)` > 0: (d + 1) floor(L) + 1 for a loss of at most L."""
        return (self.dimension + 1) * math.floor(-self.depth_guarantee(0, beta)) + 1

    def worst_failure(self, alpha: float, n: int) -> WorstFailure:
        """Return an upper end of the probability of a point outside of the hull, over all samples.

        Some point is ceil(n/(d + 1)) deep, and a coordinate after which no deep one is left is of depth 0; see
        `mechanisms.selections`.
        """
        part = Fraction(1, self.dimension + 1)
        return selections_failure(self._most, self._rate, n, part, strict=False)

    @property
    def _rate(self) -> float:
        return self.epsilon / (2 * self.dimension)

    def explicit_examples(self, beta: float) -> int:
        """Return the n from which half of the depth n/(d + 1) is kept with probability 1 - beta, on every sample."""
        return exponential_examples(self.dimension, self._most, self.epsilon, beta)

    def depth_guarantee(self, n: int, beta: float) -> float:
        """Return a depth that the released point reaches with probability 1 - beta, for every n points; may be < 0."""
        check_probability("beta", beta)
        # beta is divided over the d selections, each of which has its share epsilon/d.
        losses = sum(math.log(self.dimension * size / beta) for size in self._most)
        return centerpoint_bound(n, self.dimension) - 2 * self.dimension / self.epsilon * losses


LEARNERS = (HullPointExponential,)
