"""Unions of discs by linearisation: halfspaces over the lifted points (x, y, x^2 + y^2) (KMMS, Section 6)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Distribution, Hypothesis, InputError, Instance, Picture, Sample, Shape
from learners.covers.accounting import AUDITED
from learners.domains import grid_rows
from learners.finite.counting import Numbered, check_code
from learners.geometry.clipping import clip, square
from learners.geometry.pictures import error_share, panel
from learners.parameters import check_integer
from learners.regions.planar.disc_dichotomies import disc_dichotomies, lifted
from learners.regions.planar.hard_targets import hard_targets
from learners.regions.polygon_class import Union
from learners.regions.region_cover import Listed, RegionCover

__all__ = ["LEARNERS", "MAX_DISC_SIDE", "Disc", "DiscUnion", "Discs", "lifted"]

MAX_DISC_SIDE = 8
"""The largest side whose labellings by discs are listed: 134,438 of them, in a few seconds."""


@dataclass(frozen=True)
class Disc:
    """f(x, y) = 1 iff u x + v y + w (x^2 + y^2) >= t: a disc for w < 0, its complement for w > 0, else a halfplane."""

    u: int
    v: int
    w: int
    t: int

    def predict(self, points: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the labels of points (m, 2), exactly."""
        normal = np.array([self.u, self.v, self.w], dtype=object)
        heights = lifted(np.asarray(points).astype(object)) @ normal
        return np.asarray(heights >= self.t, dtype=np.uint8)

    def shape(self, side: int, tone: str, label: str) -> Shape:
        """Return the disc, dashed where the outside is labelled 1, or the part of [0, side]^2 in the halfplane."""
        shade = 0.14 if tone == "blue" and self.w <= 0 else 0.0
        if self.w:
            x, y = -self.u / (2 * self.w), -self.v / (2 * self.w)
            # A disc without points of the plane, as for t > max f, is drawn as small as can be.
            radius = math.sqrt(max(self.t / self.w + x * x + y * y, 1e-6))
            return Shape("disc", ((x, y),), tone, shade, radius=radius, dashed=self.w > 0, label=label)
        corners = square(0, side)
        kept = clip(corners, [self.u * x + self.v * y - self.t for x, y in corners])
        return Shape("polygon", tuple((float(x), float(y)) for x, y in kept), tone, shade, label=label)


@lru_cache(maxsize=4)
def _discs(side: int) -> tuple[NDArray[np.uint8], tuple[Disc, ...]]:
    labels, functionals = disc_dichotomies(side)
    return labels, tuple(Disc(*functional) for functional in functionals)


@dataclass(frozen=True)
class Discs(Numbered):
    """The labellings of {0 .. side}^2 by halfspaces over the lifted points, in lexicographic order; side at most 8.

    These are discs, their complements, and halfplanes: linearisation learns all of them together.
    """

    side: int

    def __post_init__(self) -> None:
        check_integer("side", self.side, 1, MAX_DISC_SIDE)

    @property
    def size(self) -> int:
        """How many labellings there are."""
        return len(_discs(self.side)[1])

    def evaluate(self, points: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the labels (size, m) of points (m, 2) of the grid."""
        return _discs(self.side)[0][:, grid_rows(points, self.side)]

    def concept(self, code: int) -> Disc:
        """Return the disc with that number."""
        check_code(self, code)
        return _discs(self.side)[1][int(code)]


@dataclass(frozen=True)
class DiscUnion(RegionCover):
    """Unions of at most k discs: cover the positives by discs, spare the negatives.

    The discs are halfspaces over the lifted points, one for each labelling of the grid, with equal measure (the plain
    exponential mechanism on a finite class); they are listed, in integers, so side is at most 8. Utility is claimed for
    targets that are one of `concepts`: any of them is a union of k regions. See `covers.regions.RegionCover`.
    """

    id: ClassVar[str] = "disc-union"
    instance: ClassVar[Instance] = Instance(
        {"side": 1, "k": 1, "epsilon": 1.0, "delta": 1e-6, "alpha": 0.49, "beta": 0.2}, n=2, alpha=0.99, beta=0.5
    )
    audited: ClassVar[tuple[Instance, ...]] = (Instance({**AUDITED, "side": 3, "k": 1}, n=2, alpha=0.2, beta=0.2),)
    pictured: ClassVar[Instance] = Instance(
        {"side": 6, "k": 1, "epsilon": 1.0, "delta": 1e-6, "alpha": 0.2, "beta": 0.2}, n=20_000
    )
    _covered_label: ClassVar[int] = 1
    _theorem: ClassVar[tuple[str, str]] = ("KMMS-Thm3.2", "Theorem 3.2 and Section 6, linearisation,")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.side > MAX_DISC_SIDE:
            raise InputError(f"side must be at most {MAX_DISC_SIDE} to list the discs, got {self.side}")

    @property
    def concepts(self) -> Discs:
        """The regions themselves; unions of k of them are learned as well."""
        return Discs(self.side)

    @property
    def _log_ratio(self) -> float:
        return math.log(self.concepts.size)

    @property
    def _log_behaviours(self) -> float:
        return math.log(self.concepts.size)

    def listed(self) -> Listed:
        """Return the discs with equal measure."""
        labels = _discs(self.side)[0]
        return Listed(labels, np.zeros(len(labels)))

    def _member(self, code: int) -> Disc:
        return _discs(self.side)[1][code]

    def _join(self, members: tuple[Hypothesis, ...]) -> Union:
        return Union(members)

    def picture(self, sample: Sample, codes: Any, target: Hypothesis | None = None) -> Picture:
        """Return what a report draws: the sample, the target and the discs of some outputs."""
        shapes: list[Shape] = []
        for code in codes:
            union = self.decode(code)
            label = f"learned, error {error_share(sample, union):.3g} on the sample"
            # The parts of a union of this learner are discs; `Union` knows them as hypotheses.
            shapes += [disc.shape(self.side, "blue", label) for disc in union.parts]  # type: ignore[attr-defined]
        if isinstance(target, Disc):
            shapes.append(target.shape(self.side, "orange", "target"))
        return Picture((panel(self.side, sample, shapes, "discs (dashed: the outside of a disc)"),))

    def hard_targets(self, alpha: float) -> list[tuple[int, Distribution, str]]:
        """Return thin and tiny targets, the boundary, and random targets; see `planar.hard_targets`."""
        return hard_targets(self.concepts, self.side, alpha)

    def scene(self, rng: np.random.Generator) -> tuple[Sample, Disc]:
        """Return the sample of the picture and its target, a disc around the middle."""
        grid = self.domain.points()
        middle = (2 * grid - self.side).astype(np.int64)
        labels = (2 * (middle * middle).sum(axis=1) <= self.side**2).astype(np.uint8)
        target = _discs(self.side)[1][int((_discs(self.side)[0] == labels).all(axis=1).argmax())]
        law = Distribution(grid, np.full(len(grid), 1 / len(grid)), "uniform")
        return self.domain.draw(target, law, self.pictured.n, rng), target


LEARNERS = (DiscUnion,)
