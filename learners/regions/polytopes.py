"""Simplices and polytopes over small grids in three dimensions (KMMS, Section 6, the extension to R^d)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpaudit.contract import Hypothesis, InputError, Instance, Sample
from learners.arrays import Integers
from learners.covers.accounting import AUDITED
from learners.domains import grid_rows
from learners.mechanisms import equal_scores
from learners.parameters import check_run
from learners.regions.kinds import HalfspaceRegions, SimplexRegions
from learners.regions.planar.families import Family
from learners.regions.planar.polytope_families import DIMENSION, HALFSPACE_SIDE, SIMPLEX_SIDE, halfspace_family
from learners.regions.planar.tuple_counts import TupleCounts
from learners.regions.polytope_class import Polytopes, SimplexUnions, polytope
from learners.regions.region_cover import RegionCover
from learners.regions.region_selection import ListedSelection

__all__ = ["LEARNERS", "ConvexPolytope", "SimplexSelect", "SimplexUnion"]


@dataclass(frozen=True)
class SimplexSelect(SimplexRegions, ListedSelection):
    """Select an intersection of four halfspaces over the cube with probability proportional to exp(epsilon q / 2).

    q is the number of examples that it labels correctly. The exponential mechanism runs over all quadruples of the N
    labellings of the grid by halfspaces, 104 for the cube and 2,702 for side 2. For side 1 the output is the number of
    the labelling that the quadruple gives, so that a labelling has as much measure as quadruples make it. For side 2
    it is the quadruple itself, sorted numbers of halfspaces: how the quadruples label the sample is counted exactly,
    without a list of the 5e13, for at most 18 distinct points; see `regions.planar.tuple_counts`. Pure
    epsilon-differential privacy.

    Utility. With probability 1 - b over the coins q >= max q - (2/epsilon) (4 ln N + ln(1/b)).

    Parameters
    ----------
    side : int
        d of the grid {0 .. d}^3; 1 or 2.
    epsilon : float
        > 0.
    """

    id: ClassVar[str] = "simplex-select"
    instance: ClassVar[Instance] = Instance({"side": 1, "epsilon": 1.0}, n=2)
    _place: ClassVar[str] = "Section 6"
    _statement: ClassVar[tuple[str, str]] = ("KMMS-Prop2.5", "Proposition 2.5 over quadruples of halfspaces")
    _most_side: ClassVar[int | None] = HALFSPACE_SIDE

    @property
    def concepts(self) -> Polytopes:
        """The labellings of the grid by intersections of at most four halfspaces; they can be listed for the cube."""
        return Polytopes(self.side, DIMENSION + 1)

    def _family(self) -> Family | None:
        return super()._family() if self.side <= SIMPLEX_SIDE else None

    @property
    def _log_behaviours(self) -> float:
        return super()._log_behaviours if self.side <= SIMPLEX_SIDE else self._log_ratio

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> Integers | list[Any]:
        """Return the outputs of independent runs."""
        if self._family() is not None:
            return super().run(sample, rng, size)
        check_run(sample, self.domain, size)
        return self._quadruples(sample, rng, size)

    def _quadruples(self, sample: Sample, rng: np.random.Generator, size: int) -> list[tuple[int, ...]]:
        """Return sorted quadruples: a score by the number of quadruples that have it, then one of them uniformly."""
        rows, place = np.unique(grid_rows(sample.points, self.side), return_inverse=True)
        gains = np.zeros(len(rows), dtype=np.int64)
        np.add.at(gains, place.reshape(-1), np.where(sample.labels == 1, sample.counts, -sample.counts))
        masks = halfspace_family(self.side).labels[:, rows].astype(np.int64) @ (1 << np.arange(len(rows)))
        table = TupleCounts(masks, len(rows), DIMENSION + 1)
        # The score up to a constant, the negative examples.
        scores = np.zeros(1, dtype=np.int64)
        for gain in gains.tolist():
            scores = np.concatenate([scores, scores + gain])
        occurring = np.flatnonzero(table.counts)
        occurring = occurring[np.argsort(scores[occurring], kind="stable")]
        values, starts = np.unique(scores[occurring], return_index=True)
        sizes = np.add.reduceat(table.counts[occurring], starts)
        groups = equal_scores.draw(sizes.tolist(), values, self._rate, rng, size)
        within = rng.integers(0, sizes[groups])
        ends = np.cumsum(table.counts[occurring])
        drawn = occurring[np.searchsorted(ends, (ends[starts] - table.counts[occurring][starts])[groups] + within,
                                          side="right")]  # fmt: skip
        found: list[tuple[int, ...]] = [()] * size
        for target in np.unique(drawn).tolist():
            runs = np.flatnonzero(drawn == target)
            quadruples = np.sort(table.draw(target, rng, len(runs)), axis=1).tolist()
            for i, quadruple in zip(runs.tolist(), quadruples, strict=True):
                found[i] = tuple(quadruple)
        return found

    def decode(self, code: Any) -> Hypothesis:
        """Return the simplex."""
        if self._family() is not None:
            return super().decode(code)
        regions = halfspace_family(self.side).regions
        members = tuple(code) if isinstance(code, tuple | list) else ()
        if len(members) != DIMENSION + 1 or not all(
            isinstance(i, int | np.integer) and 0 <= i < len(regions) for i in members
        ):
            raise InputError(f"code must be {DIMENSION + 1} numbers of halfspaces below {len(regions)}, got {code!r}")
        return polytope([regions[int(i)][0] for i in members])


@dataclass(frozen=True)
class ConvexPolytope(HalfspaceRegions, RegionCover):
    """Convex polytopes with at most k facets: cover the negatives by complements of halfspaces, spare the positives.

    The halfspaces are the labellings of {0 .. side}^3, side at most 2, with equal measure: a region is the number of
    one. See `regions.region_cover.RegionCover`.
    """

    id: ClassVar[str] = "convex-polytope"
    # Two rounds, so that all pairs of regions can be listed; with them only the sample's errors can be bounded.
    instance: ClassVar[Instance] = Instance(
        {"side": 1, "k": 1, "epsilon": 1.0, "delta": 1e-6, "alpha": 0.74, "beta": 0.2}, n=2, alpha=0.9, beta=0.5
    )
    audited: ClassVar[tuple[Instance, ...]] = (Instance({**AUDITED, "side": 1, "k": 2}, n=2, alpha=0.2, beta=0.1),)
    _covered_label: ClassVar[int] = 0
    _theorem: ClassVar[tuple[str, str]] = ("KMMS-Thm3.2", "Theorem 3.2 and Section 6, in three dimensions,")

    @property
    def concepts(self) -> Polytopes:
        """The labellings of the grid by intersections of at most k halfspaces."""
        return Polytopes(self.side, self.k)


@dataclass(frozen=True)
class SimplexUnion(SimplexRegions, RegionCover):
    """Unions of at most k simplices over the cube: cover the positives by simplices, spare the negatives.

    The simplices have the measure of `simplex-select`. A union of polytopes is one of simplices. See
    `regions.region_cover.RegionCover`.
    """

    id: ClassVar[str] = "simplex-union"
    instance: ClassVar[Instance] = Instance(ConvexPolytope.instance.parameters, n=1, alpha=0.9, beta=0.5)
    audited: ClassVar[tuple[Instance, ...]] = ConvexPolytope.audited
    _covered_label: ClassVar[int] = 1
    _theorem: ClassVar[tuple[str, str]] = ConvexPolytope._theorem

    @property
    def concepts(self) -> SimplexUnions:
        """The labellings of the cube by unions of at most k simplices."""
        return SimplexUnions(self.side, self.k)


LEARNERS = (SimplexSelect, ConvexPolytope, SimplexUnion)
