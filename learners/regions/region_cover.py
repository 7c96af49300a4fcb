"""The Set Cover Learner over regions of a grid, and polygons by it: convex ones and unions (KMMS, Sections 4 and 5)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from dpaudit.contract import Distribution, Hypothesis, Instance, Sample, later

from ..arrays import Bools, Exact, Floats, Integers, Labels
from ..covers.accounting import AUDITED, TINY
from ..covers.rounds import RoundedNoise
from ..covers.set_cover import SetCoverLearner
from ..covers.worst_case import Covering, spoiling_ways
from ..domains import grid_rows
from ..finite.worst_case import ABOVE
from ..geometry.polygons import Bits
from ..parameters import Built, check_integer, check_run
from ..samples import distinct_points
from .concepts import ConvexPolygons, PolygonUnions, halfplanes, triangles
from .families import Region, Regions, above
from .missed_point import MissedPoint
from .pictures import plane_picture, plane_targets, scene_of
from .refinement import Pieces, PieceTree
from .shapes import Halfplane, Intersection, Union, triangle
from .snapping import check_regions, region_of
from .targets import TWO, regular_polygon
from .tuple_draws import Resolver, TupleSampler, Weights, grouped

# The kinds of targets of the least measures that are tried as worst ones.
LEAST = 6
# Parameters of the instances that are pictured.
COVERED = {"epsilon": 1.0, "delta": 1e-6, "alpha": 0.2, "beta": 0.2}


@dataclass(frozen=True)
class RegionCover(SetCoverLearner):
    """Cover the examples of one label by regions that spare those of the other; see `covers.set_cover`.

    The noise is rounded up: b = R + ceil(Lap(J/epsilon) - (J/epsilon) ln(J/beta)), as exact samplers need. The output
    is the whole sequence h_1 .. h_J: where the regions are listed, the number sum h_j size^(j-1);
    otherwise a tuple of regions, which are drawn exactly.

    Utility. With probability 1 - g every round's q is within lam = (2/eps_hat)(V + ln(J/g)) of the best, and there are
    at most exp(J D) outputs; see `regions.families.Regions` for V and D.

    Parameters
    ----------
    side : int
        d of the grid {0 .. d}^2 or {0 .. d}^3.
    k, epsilon, delta, alpha, beta, variant, budget
        See `covers.set_cover.SetCoverLearner`.
    """

    side: int
    k: int
    epsilon: float
    delta: float
    alpha: float
    beta: float
    variant: str = "paper"
    budget: str = later("paper")

    instance: ClassVar[Instance] = Instance({"side": 1, **TINY}, n=2, alpha=0.99, beta=0.5)
    _noise_type = RoundedNoise
    _paper_claim: ClassVar[tuple[str, str]] = ("KMMS-Claim4.3", "Claim 4.3 with the constant of Claim 3.4")
    _most_side: ClassVar[int] = 2**256 - 1
    # The cost of a greater side, for the message that refuses it.
    _beyond: ClassVar[str] = ""
    _regions: ClassVar[Built[Regions]]

    def __post_init__(self) -> None:
        check_integer("side", self.side, 1, self._most_side, self._beyond)
        check_integer("k", self.k, 1, 2**10)
        super().__post_init__()

    @property
    def _log_sizes(self) -> tuple[float, float]:
        return self._regions.log_ratio, self._regions.log_behaviours

    @property
    def _sets(self) -> int:
        return self._regions.size

    @property
    def _log_measures(self) -> Floats:
        # Equal measures cancel: zeros spare their rounding.
        if self._regions.measures is None:
            return super()._log_measures
        return self._regions.family.log_shares

    @property
    def _covering(self) -> Covering:
        # Each round that spoils anything new spoils another point of the domain.
        points = self.domain.size
        regions = self._regions
        answers = float(min(points * math.log(2), self.rounds * regions.log_behaviours))
        equal = regions.measures is None
        rivals = regions.rivals()
        bad = rivals if equal else regions.rivals(self._covers_nothing)
        return Covering(
            self.k, self._rate, self.rounds, rivals, bad, min(points, self.rounds), above(answers), equal,
            *self._noise_scale, _ways(self),
        )  # fmt: skip

    def worst_targets(self, alpha: float) -> list[tuple[int, Distribution, str]]:
        """Return cases in which points may be spoiled at a cost that many rounds, or sets of a large measure, repay.

        First a target that covers a single point, of all those that some region covers alone the one of the least
        measure; all others share a little more than alpha. Where measures differ, also the targets of the least ones:
        each point outside has a little more than alpha, and so have those inside but the last, which has the rest, or
        all of those have equal shares. Nothing where the regions are not listed.
        """
        if not self._regions.listed:
            return []
        points = self.domain.points()
        cover = self._cover(points).T
        shares = self._regions.family.log_shares
        above_alpha = alpha * (1 + ABOVE)
        found = []
        alone = np.flatnonzero(cover.sum(axis=1) == 1)
        if len(alone):
            target = cover[alone[shares[alone].argmin()]]
            each = above_alpha / (len(points) - 1)
            masses = np.where(target == 1, 1 - above_alpha, each)
            found += self._cases(target, masses, "alpha shared by all points but one, which alone is to be covered")
        if self._regions.measures is None:
            return found
        kinds: set[tuple[float, int]] = set()
        for row in np.argsort(shares, kind="stable").tolist():
            inside = np.flatnonzero(cover[row])
            rest = 1 - above_alpha * (len(points) - len(inside))
            kind = (round(float(shares[row]), 6), len(inside))
            # Targets of one measure are alike up to the symmetries of the grid.
            if kind in kinds or len(inside) in (0, len(points)) or rest < alpha or len(kinds) == LEAST:
                continue
            kinds.add(kind)
            masses = np.full(len(points), above_alpha)
            masses[inside] = rest / len(inside)
            name = "alpha on each point outside of a target of a small measure"
            found += self._cases(cover[row], masses, f"{name}, the rest even")
            uneven = masses.copy()
            uneven[inside] = min(above_alpha, rest / len(inside))
            uneven[inside[-1]] += 1 - uneven.sum()
            found += self._cases(cover[row], uneven, f"{name}, the rest on one point")
        return found

    def _cases(self, covered: Labels, masses: Floats, name: str) -> list[tuple[int, Distribution, str]]:
        """Return the case of the concept that covers so, or none if it is not of the class."""
        points = self.domain.points()
        labels = covered if self._covered_label else 1 - covered
        codes = np.flatnonzero((self.concepts.evaluate(points) == labels).all(axis=1))
        return [(int(code), Distribution(points, masses), name) for code in codes]

    def _covers_nothing(self, labels: Labels) -> Bools:
        """Return which listed labellings cover no point."""
        return np.asarray((labels == 1 - self._covered_label).all(axis=1))

    def _cover(self, points: Exact) -> Labels:
        labels = self._regions.family.labels[:, grid_rows(points, self.side)].T
        if self._covered_label:
            return labels
        return np.asarray(1 - labels, dtype=np.uint8)

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> Integers | Sequence[Hashable]:
        """Return the outputs of independent runs."""
        if self._regions.listed:
            return super().run(sample, rng, size)
        check_run(sample, self.domain, size)
        self._split(sample)
        return self._unlisted(sample, rng, size)

    def _unlisted(self, sample: Sample, rng: np.random.Generator, size: int) -> Sequence[Hashable]:
        """Return the outputs of independent runs; without noise all share the first round's refinement."""
        bits = Bits(rng)
        points, weights = grouped(*distinct_points(sample, self._covered_label))
        first = None if self._noise.scale else self._sampler(points, weights, rng)
        outputs = []
        for _ in range(size):
            # The round of the Set Cover Learner: a region by the exponential mechanism, then what it covers is
            # deleted.
            places = points
            left = weights
            found = list[tuple[Region, ...]]()
            sampler = first
            for _ in range(self.rounds):
                # Without noise the first round is the same in all runs; later ones depend on what was covered.
                if found or sampler is None:
                    sampler = self._sampler(places, left, rng, sampler)
                found.append(sampler.draw(bits, self._resolver))
                # Nothing of the sample was covered: the next round sees the same points, and goes on from the same
                # refinement.
                taken = self._taken(found[-1])
                spared = taken.predict(np.array(places, dtype=object).reshape(-1, 2)) == 0
                if not spared.all():
                    sampler = None
                    places = [point for point, kept in zip(places, spared, strict=True) if kept]
                    left = [pair for pair, kept in zip(left, spared, strict=True) if kept]
            outputs.append(tuple(found))
        return outputs

    @property
    def _resolver(self) -> Resolver:
        """The function that returns the output of an exact dual point."""
        return region_of(self.side)

    def _taken(self, regions: tuple[Region, ...]) -> Hypothesis:
        """Return what the regions that a round has drawn cover together."""
        return triangle(regions)

    def _pieces(self, points: Weights) -> PieceTree[Any, Any]:
        """Return the pieces of dual space that a round on these points is drawn from."""
        return Pieces(points, self.side)

    def _sampler(
        self, points: Weights, weights: Weights, rng: np.random.Generator, before: TupleSampler | None = None
    ) -> TupleSampler:
        """Return the sampler of a round on what is left, with fresh noise; `before` is one on the same points."""
        b = int(self._noise.estimate(np.array([sum(wanted for wanted, _ in weights)]), rng)[0])

        def score(covered: Integers, spoiled: Integers) -> Integers:
            """Return k q = min{k c - b, -k e}: integers."""
            return np.minimum(self.k * covered - b, -self.k * spoiled)

        rate = Fraction(self._rate) / self.k
        pieces = self._pieces(points) if before is None else None
        return TupleSampler(points, weights, self.side, score, rate, self._regions.halfplanes, before, pieces)

    def decode(self, code: Any) -> Hypothesis:
        """Return the intersection, or the union, of the regions selected."""
        if self._regions.listed:
            members: Any = self._selected(code)
        else:
            # What is no sequence of J regions is refused as a region that is none.
            if isinstance(code, tuple) and len(code) == self.rounds:
                members = code
            else:
                members = (None,)
        return (Union if self._covered_label else Intersection)(tuple(map(self._regions.decode, members)))


@lru_cache(maxsize=64)
def _ways(learner: RegionCover) -> float:
    """Return the sum over all ways to spoil, kept as each n asks for it; 0 where the regions are not listed."""
    if not learner._regions.listed:
        return 0.0
    shares = np.exp(learner._regions.family.log_shares)
    cover = learner._cover(learner.domain.points()).T
    noisy = learner._noise_scale[0] > 0
    return spoiling_ways(cover, shares, learner.rounds, single=learner.k == 1, noisy=noisy)


def covered_halfplanes(side: int) -> Regions:
    """Return the halfplanes, of which a drawn one is what is covered: it stands for its complement."""

    def complement(code: Any) -> Halfplane:
        ((z, a, b),) = check_regions(code, 1)
        return Halfplane(-z, a, b)

    return replace(halfplanes(side), drawn=complement)


def _pictured_polygon(learner: ConvexPolygon) -> Intersection:
    """Return the target of the picture: a regular polygon with k edges."""
    return regular_polygon(learner.side, learner.k)


def _pictured_union(learner: PolygonUnion) -> Union:
    """Return the target of the picture: k of the two triangles."""
    return Union(tuple(regular_polygon(learner.side, 3, *part) for part in TWO[: learner.k]))


@dataclass(frozen=True)
class ConvexPolygon(RegionCover):
    """Convex polygons with at most k edges: cover the negatives by complements of halfplanes, spare the positives.

    The halfplanes have Lebesgue measure on both copies of the dual box, as in `halfplane-select`. For side <= 6 a
    region is the number of a labelling of the grid by a halfplane; beyond, ((z, a, b),) for the halfplane that is
    covered, whose complement is a factor of the final intersection. See `regions.region_cover.RegionCover`.
    """

    id: ClassVar[str] = "convex-polygon"
    audited: ClassVar[tuple[Instance, ...]] = (Instance({**AUDITED, "side": 3, "k": 3}, n=2, alpha=0.2, beta=0.1),)
    pictured: ClassVar[Instance] = Instance({**COVERED, "side": 12, "k": 4}, n=100_000)
    _covered_label: ClassVar[int] = 0
    _theorem: ClassVar[tuple[str, str]] = ("KMMS-Thm4.7", "Theorem 4.7")
    _regions = Built(covered_halfplanes)
    picture = plane_picture
    scene = scene_of(_pictured_polygon)
    hard_targets = plane_targets
    concepts = Built(ConvexPolygons)

    def hard_failure(self, alpha: float, n: int) -> tuple[float, str]:
        """Return a lower bound for the failure rate on a case of three points; see `regions.missed_point`.

        `InputError` for a side below 3, and for alpha from 0.333 on.
        """
        noise = RoundedNoise(*self._noise_scale)
        hard = MissedPoint(self.side, self.rounds, self.k, self._rate, noise, alpha)
        return hard.failure(n), str(hard)


@dataclass(frozen=True)
class PolygonUnion(RegionCover):
    """Unions of at most k triangles: cover the positives by triangles, spare the negatives.

    A union of simple polygons with k edges in all is a union of at most k triangles. The triangles have the measure of
    `triangle-select`. For side <= 3 a region is the number of a labelling of the grid by a triangle; beyond, a sorted
    triple of (z, a, b). See `regions.region_cover.RegionCover`.
    """

    id: ClassVar[str] = "polygon-union"
    audited: ClassVar[tuple[Instance, ...]] = (Instance({**AUDITED, "side": 2, "k": 2}, n=2, alpha=0.2, beta=0.1),)
    pictured: ClassVar[Instance] = Instance({**COVERED, "side": 6, "k": 2, "variant": "noiseless"}, n=50_000)
    _covered_label: ClassVar[int] = 1
    _theorem: ClassVar[tuple[str, str]] = ("KMMS-Thm5.1", "Theorem 5.1")
    _regions = Built(triangles)
    picture = plane_picture
    scene = scene_of(_pictured_union)
    hard_targets = plane_targets
    concepts = Built(PolygonUnions)


LEARNERS = (ConvexPolygon, PolygonUnion)
