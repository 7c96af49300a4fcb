"""Unions of discs by the Set Cover Learner: halfspaces over the lifted points (x, y, x^2 + y^2) (KMMS, Section 6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpaudit.contract import Distribution, Hypothesis, Instance, Picture, Sample, Shape
from learners.covers.accounting import AUDITED
from learners.geometry.pictures import error_share, panel
from learners.regions.disc_class import MAX_DISC_SIDE, Disc, Discs
from learners.regions.kinds import CountedRegions
from learners.regions.planar.disc_family import disc_family
from learners.regions.planar.families import Family, Region
from learners.regions.planar.hard_targets import hard_targets
from learners.regions.planar.scenes import uniform_sample
from learners.regions.plane_cover import COVERED, INSTANCE
from learners.regions.region_cover import RegionCover

__all__ = ["LEARNERS", "DiscUnion"]


@dataclass(frozen=True)
class DiscUnion(CountedRegions, RegionCover):
    """Unions of at most k discs: cover the positives by discs, spare the negatives.

    The discs are halfspaces over the lifted points, one for each labelling of the grid, with equal measure (the plain
    exponential mechanism on a finite class); they are listed, in integers, so side is at most 8. Utility is claimed for
    targets that are one of `concepts`: any of them is a union of k regions. See `regions.region_cover.RegionCover`.
    """

    id: ClassVar[str] = "disc-union"
    instance: ClassVar[Instance] = INSTANCE
    audited: ClassVar[tuple[Instance, ...]] = (Instance({**AUDITED, "side": 3, "k": 1}, n=2, alpha=0.2, beta=0.1),)
    pictured: ClassVar[Instance] = Instance({"side": 6, "k": 1, **COVERED}, n=20_000)
    _most_side: ClassVar[int | None] = MAX_DISC_SIDE
    _covered_label: ClassVar[int] = 1
    _theorem: ClassVar[tuple[str, str]] = ("KMMS-Thm3.2", "Theorem 3.2 and Section 6, linearisation,")

    @property
    def concepts(self) -> Discs:
        """The regions themselves; unions of k of them are learned as well."""
        return Discs(self.side)

    def _family(self) -> Family:
        return disc_family(self.side)

    def _region(self, parts: tuple[Region, ...]) -> Disc:
        return Disc(*parts[0])

    def picture(self, sample: Sample, codes: Any, target: Hypothesis | None = None) -> Picture:
        """Return what a report draws: the sample, the target and the discs of some outputs."""
        shapes: list[Shape] = []
        for code in codes:
            union = self.decode(code)
            label = f"learned, error {error_share(sample, union):.3g} on the sample"
            # A union of what `_region` makes.
            shapes += [disc.shape(self.side, "blue", label) for disc in union.parts]  # type: ignore[attr-defined]
        if isinstance(target, Disc):
            shapes.append(target.shape(self.side, "orange", "target"))
        return Picture((panel(self.side, sample, shapes, "discs (dashed: the outside of a disc)"),))

    def hard_targets(self, alpha: float) -> list[tuple[int, Distribution, str]]:
        """Return thin and tiny targets, the boundary, and random targets; see `regions.planar.hard_targets`."""
        return hard_targets(self.concepts, self.side, alpha)

    def scene(self, rng: np.random.Generator) -> tuple[Sample, Disc]:
        """Return the sample of the picture and its target, a disc around the middle."""
        grid = self.domain.points()
        middle = (2 * grid - self.side).astype(np.int64)
        labels = (2 * (middle * middle).sum(axis=1) <= self.side**2).astype(np.uint8)
        target = self.concepts.concept(int((disc_family(self.side).labels == labels).all(axis=1).argmax()))
        return uniform_sample(self.side, target, self.pictured.n, rng), target


LEARNERS = (DiscUnion,)
