"""Discs over the grid {0 .. d}^2, their complements and halfplanes, and unions of discs (KMMS, Section 6).

Lifted to (x, y, x^2 + y^2), points lie on a paraboloid, and those labellings are the ones by halfspaces. A labelling
can be moved until its boundary plane is spanned by three lifted points; the points on the plane are in convex position
(they lie on a circle or, lifted over a line, on a parabola), so halfplanes of the plane label exactly the cyclic runs
of them. Hence the labellings are: the points on one side of a spanned plane, and a cyclic run of the points on it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cmp_to_key, lru_cache, partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Hypothesis, Instance, Picture, Sample, Shape
from learners.arrays import Integers, Labels
from learners.covers.accounting import AUDITED
from learners.domains import Grid
from learners.geometry.pictures import error_share, panel
from learners.geometry.polygons import clip, square
from learners.parameters import Built, check_integer
from learners.regions.concepts import Listed, Union
from learners.regions.families import Family, Regions
from learners.regions.pictures import uniform_sample
from learners.regions.region_cover import COVERED, INSTANCE, RegionCover
from learners.regions.targets import plane_targets
from learners.words import linear

MAX_DISC_SIDE = 8
"""The largest side whose labellings by discs are listed: 134,438 of them, in a few seconds."""

Functional = tuple[int, int, int, int]


def lifted(points: Integers) -> Integers:
    """Return (x, y, x^2 + y^2) for points (m, 2), (m, 3)."""
    x, y = points[:, 0], points[:, 1]
    return np.stack([x, y, x * x + y * y], axis=1)


@lru_cache(maxsize=4)
def disc_family(side: int) -> Family:
    """Return the labellings of {0 .. side}^2 in lexicographic order, with equal measures.

    The region of a labelling, ((u, v, w, t),) in integers, labels 1 where u x + v y + w (x^2 + y^2) >= t; no point of
    the grid lies on its boundary.
    """
    points = lifted(Grid(side, 2).points())
    found: dict[bytes, Functional] = {}
    for plane in _spanned_planes(points):
        _add_turns(points, plane, found)
    keys = sorted(found)
    labels = np.array([np.frombuffer(key, dtype=np.uint8) for key in keys])
    return Family(labels, (1,) * len(keys), tuple((found[key],) for key in keys))


def _spanned_planes(points: Integers) -> Integers:
    """Return the distinct planes (n_1, n_2, n_3, offset) through three lifted points, coprime, up to sign.

    Three points of the paraboloid are never on a line, so every triple spans a plane.
    """
    i, j = np.triu_indices(len(points), 1)
    planes = []
    for k in range(len(points)):
        later = i > k
        normals = np.cross(points[i[later]] - points[k], points[j[later]] - points[k])
        found = np.concatenate([normals, (normals @ points[k])[:, None]], axis=1)
        found //= np.gcd.reduce(found, axis=1)[:, None]
        lead = found[np.arange(len(found)), (found != 0).argmax(axis=1)]
        planes.append(np.unique(found * np.sign(lead)[:, None], axis=0) if len(found) else found)
    return np.unique(np.concatenate(planes), axis=0)


def _add_turns(points: Integers, plane: Integers, found: dict[bytes, Functional]) -> None:
    """Add the labellings by slight turns of one plane, about lines that cut off a cyclic run of the points on it."""
    heights = points @ plane[:3] - plane[3]
    on = np.flatnonzero(heights == 0)
    kept = [0, 1] if plane[2] else [1, 2] if plane[0] else [0, 2]
    ring = on[_cyclic(points[on][:, kept])]
    above, below = (heights > 0).astype(np.uint8), (heights < 0).astype(np.uint8)
    for run, small in _runs(points, ring, kept):
        factor = 1 + int(np.abs(points @ small[:3] - small[3]).max())
        for sign, labels in ((1, above), (-1, below)):
            labels = labels.copy()
            labels[run] = 1
            if (key := labels.tobytes()) not in found:
                whole = sign * factor * plane + small
                found[key] = tuple((whole // np.gcd.reduce(whole)).tolist())


def _cyclic(corners: Integers) -> NDArray[np.intp]:
    """Return the order of points in convex position around their mean, exactly."""
    steps = len(corners) * corners - corners.sum(axis=0)
    upper = (steps[:, 1] > 0) | ((steps[:, 1] == 0) & (steps[:, 0] > 0))
    # Within a half turn the angle grows as the cotangent x/y falls; sums of squares keep apart what floats would not.
    turn = cmp_to_key(lambda i, j: int(steps[i, 1] * steps[j, 0] - steps[i, 0] * steps[j, 1]))
    return np.array(sorted(range(len(steps)), key=lambda i: (not upper[i], turn(i))), dtype=np.intp)


def _runs(points: Integers, ring: Integers, kept: list[int]) -> list[tuple[Integers, Integers]]:
    """Return every cyclic run of the ring with a functional (u, v, w, t) that is positive on it and negative beside it.

    It vanishes on the line through the middles of the two edges where the run begins and ends, all entries doubled.
    """
    size = len(ring)
    runs: list[tuple[Integers, Integers]] = [(ring[:0], np.array([0, 0, 0, 1])), (ring, np.array([0, 0, 0, -1]))]
    corners = points[ring][:, kept]
    for first in range(size):
        for length in range(1, size):
            run = np.take(ring, range(first, first + length), mode="wrap")
            start = corners[first - 1] + corners[first]
            end = corners[(first + length - 1) % size] + corners[(first + length) % size]
            normal = np.array([start[1] - end[1], end[0] - start[0]])
            small = np.zeros(4, dtype=np.int64)
            small[kept] = 2 * normal
            small[3] = normal @ start
            inside = points[run[0]] @ small[:3] - small[3]
            runs.append((run, small * (1 if inside > 0 else -1)))
    return runs


@dataclass(frozen=True)
class Disc:
    """f(x, y) = 1 iff u x + v y + w (x^2 + y^2) >= t: a disc for w < 0, its complement for w > 0, else a halfplane."""

    u: int
    v: int
    w: int
    t: int

    def predict(self, points: NDArray[Any]) -> Labels:
        """Return the labels of points (m, 2), exactly."""
        normal = np.array([self.u, self.v, self.w], dtype=object)
        heights = lifted(np.asarray(points).astype(object)) @ normal
        return np.asarray(heights >= self.t, dtype=np.uint8)

    def __str__(self) -> str:
        terms = [(self.u, "x"), (self.v, "y"), (self.w, "(x^2 + y^2)")]
        return f"{linear(terms)} >= {self.t}"

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


def discs(side: int) -> Regions:
    """Return the discs, with equal measure."""
    return Regions(side, partial(disc_family, side), lambda parts: Disc(*parts[0]))


@dataclass(frozen=True)
class Discs(Listed):
    """The labellings of {0 .. side}^2 by halfspaces over the lifted points, in lexicographic order; side at most 8.

    These are discs, their complements, and halfplanes: linearisation learns all of them together.
    """

    side: int

    _regions = Built(discs)

    def __post_init__(self) -> None:
        check_integer("side", self.side, 1, MAX_DISC_SIDE)


@dataclass(frozen=True)
class DiscUnion(RegionCover):
    """Unions of at most k discs: cover the positives by discs, spare the negatives.

    The discs are halfspaces over the lifted points, one for each labelling of the grid, with equal measure (the plain
    exponential mechanism on a finite class); they are listed, in integers, so side is at most 8. Utility is claimed for
    targets that are one of `concepts`: any of them is a union of k regions. See `regions.region_cover.RegionCover`.
    """

    id: ClassVar[str] = "disc-union"
    instance: ClassVar[Instance] = INSTANCE
    audited: ClassVar[tuple[Instance, ...]] = (Instance({**AUDITED, "side": 3, "k": 1}, n=2, alpha=0.2, beta=0.1),)
    pictured: ClassVar[Instance] = Instance({"side": 6, "k": 1, **COVERED}, n=20_000)
    _most_side: ClassVar[int] = MAX_DISC_SIDE
    _covered_label: ClassVar[int] = 1
    _theorem: ClassVar[tuple[str, str]] = ("KMMS-Thm3.2", "Theorem 3.2 and Section 6, linearisation,")
    _regions = Built(discs)

    hard_targets = plane_targets

    concepts = Built(Discs)

    def picture(self, sample: Sample, codes: Any, target: Hypothesis | None = None) -> Picture:
        """Return what a report draws: the sample, the target and the discs of some outputs."""
        shapes: list[Shape] = []
        for code in codes:
            union = self.decode(code)
            assert isinstance(union, Union)
            label = f"learned, error {error_share(sample, union):.3g} on the sample"
            shapes += [disc.shape(self.side, "blue", label) for disc in union.parts if isinstance(disc, Disc)]
        if isinstance(target, Disc):
            shapes.append(target.shape(self.side, "orange", "target"))
        return Picture((panel(self.side, sample, shapes, "discs (dashed: the outside of a disc)"),))

    def scene(self, rng: np.random.Generator) -> tuple[Sample, Disc]:
        """Return the sample of the picture and its target, a disc around the middle."""
        grid = self.domain.points()
        middle = (2 * grid - self.side).astype(np.int64)
        labels = (2 * (middle * middle).sum(axis=1) <= self.side**2).astype(np.uint8)
        target = self.concepts.concept(int((disc_family(self.side).labels == labels).all(axis=1).argmax()))
        return uniform_sample(self.side, target, self.pictured.n, rng), target


LEARNERS = (DiscUnion,)
