"""Discs over the grid {0 .. d}^2, their complements and halfplanes, and unions of discs (KMMS, Section 6).

Lifted to (x, y, x^2 + y^2), points lie on a paraboloid, and those labellings are the ones by halfspaces. A labelling
can be moved until its boundary plane is spanned by three lifted points; the points on the plane are in convex position
(they lie on a circle or, lifted over a line, on a parabola), so halfplanes of the plane label exactly the cyclic runs
of them. Hence the labellings are: the points on one side of a spanned plane, and a cyclic run of the points on it.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, ClassVar

import numpy as np

from dpaudit.contract import Distribution, Hypothesis, InputError, Instance, Picture, Sample, Shape

from ..arrays import Exact, Integers, Labels
from ..covers.accounting import AUDITED
from ..domains import Grid
from ..geometry.pictures import error_share, panel
from ..geometry.polygons import clip, square
from ..geometry.sign_counts import count_sign_patterns
from ..parameters import Built, check_integer
from ..targets import MANY, case, point_array
from ..words import linear
from .concepts import Joins, Listed, joins
from .disc_draws import DualCubes, SolidPieces, log_labellings, log_measures
from .families import Family, Region, Regions
from .pictures import plane_targets, scene_of
from .region_cover import COVERED, RegionCover
from .shapes import Union
from .tuple_draws import Resolver, Weights

# The largest side whose labellings by discs are listed: 462,000 of them, in half a minute and half a gigabyte.
MAX_DISC_SIDE = 10
# The largest side at which discs are drawn: every draw looks at the 10^6 points of the grid, in about 0.2 s.
MAX_DRAWN_SIDE = 1000

# The cubes of a grid, whose points serve all draws.
_cubes = lru_cache(maxsize=4)(DualCubes)

VIEWS = ((0, 1), (1, 2), (0, 2))
# The number of planes that are turned together.
BLOCK = 2**13
BEYOND = (
    f"the 462,000 discs of side {MAX_DISC_SIDE} are listed in half a minute, and their number grows nearly as side^6"
)
Found = dict[bytes, tuple[int, int, tuple[int, ...]]]
"""From labels to the plane, the turn and the functional that make them."""


def lifted(points: Integers) -> Integers:
    """Return (x, y, x^2 + y^2) for points (m, 2), (m, 3)."""
    x = points[:, 0]
    y = points[:, 1]
    return np.stack([x, y, x * x + y * y], axis=1)


@lru_cache(maxsize=4)
def disc_family(side: int) -> Family:
    """Return the labellings of {0 .. side}^2 in lexicographic order, with equal measures.

    The region of a labelling, ((u, v, w, t),) in integers, labels 1 where u x + v y + w (x^2 + y^2) >= t; no point of
    the grid lies on its boundary. `InputError` beyond side 10.
    """
    check_integer("side", side, 1, MAX_DISC_SIDE, BEYOND)
    points = lifted(Grid(side, 2).points())
    planes = _spanned_planes(points)
    on = (planes[:, :3] @ points.T == planes[:, 3:]).sum(axis=1)
    # The coordinates in which the points of a plane are seen: (x, y) for circles, beside the height for lines.
    views = np.where(planes[:, 2] != 0, 0, np.where(planes[:, 0] != 0, 1, 2))
    found: Found = {}
    # Planes with equally many points on them are turned together, as rows of one array.
    for count, view in sorted({*zip(on.tolist(), views.tolist(), strict=True)}):
        group = np.flatnonzero((on == count) & (views == view))
        for first in range(0, len(group), BLOCK):
            _add_turns(points, planes, group[first : first + BLOCK], list(VIEWS[view]), found)
    keys = sorted(found)
    labels = np.unpackbits(np.array([np.frombuffer(key, dtype=np.uint8) for key in keys]), axis=1, count=len(points))
    return Family(labels, (1,) * len(keys), tuple((found[key][2],) for key in keys))


@lru_cache(maxsize=16)
def disc_count(side: int) -> int:
    """Return the size of `disc_family`, without a list."""
    points = lifted(Grid(side, 2).points())
    # The labellings by halfspaces are those by functionals of (x, 1).
    return count_sign_patterns(np.insert(points, 3, 1, axis=1))


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


def _add_turns(points: Integers, planes: Integers, group: Integers, kept: list[int], found: Found) -> None:
    """Add the labellings by slight turns of planes, about lines that cut off a cyclic run of the points on them.

    The planes have equally many points on them. Of planes and turns that label alike the first is taken.
    """
    heights = planes[group, :3] @ points.T - planes[group, 3:]
    on = np.nonzero(heights == 0)[1].reshape(len(group), -1)
    corners = points[on][:, :, kept]
    # In order around their mean. Steps from the mean, k times as long, are integers below 2^13, so that two directions
    # differ by more than 2^-27.
    steps = corners.shape[1] * corners - corners.sum(axis=1, keepdims=True)
    order = np.argsort(np.arctan2(steps[:, :, 1], steps[:, :, 0]) % (2 * math.pi), axis=1)
    ring = np.take_along_axis(on, order, axis=1)
    rows = np.arange(len(group))[:, None]
    for turn, (run, small) in enumerate(_runs(points, ring, kept)):
        # The plane times a factor so large that the turn changes no sign off the plane.
        factor = 1 + np.abs(small[:, :3] @ points.T - small[:, 3:]).max(axis=1, keepdims=True)
        for sign, labels in ((1, heights > 0), (-1, heights < 0)):
            labels[rows, run] = True
            wholes = sign * factor * planes[group] + small
            wholes //= np.gcd.reduce(wholes, axis=1)[:, None]
            keys = np.packbits(labels, axis=1)
            for key, plane, whole in zip(keys, group.tolist(), wholes.tolist(), strict=True):
                place = (plane, 2 * turn + (sign < 0))
                known = found.get(name := key.tobytes())
                if known is None or place < known[:2]:
                    found[name] = *place, tuple(whole)


def _runs(points: Integers, ring: Integers, kept: list[int]) -> Iterator[tuple[Integers, Integers]]:
    """Yield every cyclic run (planes, ..) with functionals (planes, 4) that are positive on it and negative beside it.

    They vanish on the line through the middles of the two edges where the run begins and ends, all entries doubled.
    """
    planes, size = ring.shape
    yield ring[:, :0], np.tile([0, 0, 0, 1], (planes, 1))
    yield ring, np.tile([0, 0, 0, -1], (planes, 1))
    corners = points[ring][:, :, kept]
    for first in range(size):
        start = corners[:, first - 1] + corners[:, first]
        for length in range(1, size):
            run = ring[:, (first + np.arange(length)) % size]
            last = (first + length - 1) % size
            end = corners[:, last] + corners[:, (last + 1) % size]
            small = np.zeros((planes, 4), dtype=np.int64)
            small[:, kept] = 2 * np.stack([start[:, 1] - end[:, 1], end[:, 0] - start[:, 0]], axis=1)
            small[:, 3] = (small[:, kept] * start).sum(axis=1) // 2
            inside = (points[run[:, 0]] * small[:, :3]).sum(axis=1) > small[:, 3]
            yield run, np.where(inside[:, None], small, -small)


@dataclass(frozen=True)
class Disc:
    """f(x, y) = 1 iff u x + v y + w (x^2 + y^2) >= t: a disc for w < 0, its complement for w > 0, else a halfplane."""

    u: int
    v: int
    w: int
    t: int

    def predict(self, points: Exact) -> Labels:
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
            x = -self.u / (2 * self.w)
            y = -self.v / (2 * self.w)
            # A disc without points of the plane, as for t > max f, is drawn as small as can be.
            radius = math.sqrt(max(self.t / self.w + x * x + y * y, 1e-6))
            return Shape("disc", ((x, y),), tone, shade, radius=radius, dashed=self.w > 0, label=label)
        corners = square(0, side)
        kept = clip(corners, [self.u * x + self.v * y - self.t for x, y in corners])
        return Shape("polygon", tuple((float(x), float(y)) for x, y in kept), tone, shade, label=label)


def dual_disc(code: Any) -> Disc:
    """Return the disc ((z, a, b, c),) that a draw stands for."""
    good = isinstance(code, tuple) and len(code) == 1 and isinstance(code[0], tuple) and len(code[0]) == 4
    if not good or code[0][0] not in (-1, 1) or not all(isinstance(one, Fraction | int) for one in code[0]):
        raise InputError(f"code must hold a disc (z, a, b, c) with z = 1 or -1 and rational numbers, got {code!r:.200}")
    ((z, *numbers),) = code
    q = math.lcm(*(Fraction(number).denominator for number in numbers))
    a, b, c = (int(number * q) for number in numbers)
    # z (x^2 + y^2) >= z (a x + b y + c), times the common denominator.
    return Disc(-z * a, -z * b, z * q, z * c)


def discs(side: int) -> Regions:
    """Return the discs: listed with equal measure where they are few, else with the measure of `disc_draws`."""
    listing = partial(disc_family, side)
    if side > MAX_DISC_SIDE:
        measures = partial(log_measures, side), partial(log_labellings, side)
        return Regions(side, listing, lambda parts: Disc(*parts[0]), *measures, False, halfplanes=1, drawn=dual_disc)
    return Regions(side, listing, lambda parts: Disc(*parts[0]), count=partial(disc_count, side))


@dataclass(frozen=True)
class Discs(Listed):
    """The labellings of {0 .. side}^2 by halfspaces over the lifted points, in lexicographic order; side at most 10.

    These are discs, their complements, and halfplanes: linearisation learns all of them together.
    """

    side: int

    _regions = Built(discs)

    @property
    def vc_dimension(self) -> int:
        """4: halfspaces of space, and four points that are not on a circle; 3 on the square, whose corners are."""
        return 3 if self.side == 1 else 4

    def __post_init__(self) -> None:
        check_integer("side", self.side, 1, MAX_DISC_SIDE, BEYOND)


def circle(side: int, centre: tuple[float, float], radius: float) -> Disc:
    """Return the disc with this centre and radius, in units of the side; no point of the grid lies on its edge."""
    x = round(centre[0] * side)
    y = round(centre[1] * side)
    # 2 (X - x)^2 + 2 (Y - y)^2 <= 2 r + 1 for an integer r.
    r = round((radius * side) ** 2)
    return Disc(4 * x, 4 * y, -2, 2 * (x * x + y * y) - 2 * r - 1)


def beside_circle(side: int, centre: tuple[float, float], radius: float, many: int) -> list[tuple[int, int]]:
    """Return the points of the grid next to about `many`/2 places of the edge of `circle`, within and outside."""
    x, y = (round(one * side) for one in centre)
    r = round((radius * side) ** 2)
    found = []
    places = max(1, many // 4)
    for i in range(places):
        step = round(radius * side * math.cos(math.pi * (2 * i + 1) / (2 * places)))
        if step * step > r:
            continue
        height = math.isqrt(r - step * step)
        found += [(x + step, y + sign * (height + more)) for sign in (-1, 1) for more in (0, 1)]
    return [(u, v) for u, v in found if 0 <= u <= side and 0 <= v <= side]


# Centre and radius of the discs of a hard target.
HARD = (((0.3, 0.3), 0.2), ((0.7, 0.65), 0.25))


@dataclass(frozen=True)
class DiscUnions(Joins):
    """The labellings of the grid by unions of at most k discs, their complements and halfplanes."""

    _regions = Built(joins(discs, united=True))

    def has(self, hypothesis: Hypothesis) -> bool:
        """Say whether a hypothesis is a disc, or a union of at most k discs."""
        if isinstance(hypothesis, Union):
            return len(hypothesis.parts) <= self.k and all(isinstance(part, Disc) for part in hypothesis.parts)
        return isinstance(hypothesis, Disc)

    def hard_targets(self, alpha: float) -> list[tuple[Hypothesis, Distribution, str]]:
        """Return two discs, one if k is 1, and points next to their edges."""
        chosen = HARD[: self.k]
        points = [p for disc in chosen for p in beside_circle(self.side, *disc, MANY // len(chosen))]
        union = Union(tuple(circle(self.side, *disc) for disc in chosen))
        return [case(union, point_array(points), f"{len(chosen)} discs, all on both sides of their edges")]


@dataclass(frozen=True)
class DiscUnion(RegionCover):
    """Unions of at most k discs: cover the positives by discs, spare the negatives.

    The discs are halfspaces over the lifted points (x, y, x^2 + y^2). For side <= 10 they are listed, one for each
    labelling of the grid, with equal measure (the plain exponential mechanism on a finite class); utility is then
    claimed for targets that are one of `concepts`: any of them is a union of k regions. Beyond, they have Lebesgue
    measure on three dual coordinates, as halfplanes have on two, a region is ((z, a, b, c),) for the disc
    z (x^2 + y^2) >= z (a x + b y + c), and the targets are unions of k discs; see `regions.disc_draws`. See
    `regions.region_cover.RegionCover`.
    """

    id: ClassVar[str] = "disc-union"
    audited: ClassVar[tuple[Instance, ...]] = (Instance({**AUDITED, "side": 3, "k": 1}, n=2, alpha=0.2, beta=0.1),)
    pictured: ClassVar[Instance] = Instance({"side": 6, "k": 1, **COVERED}, n=20_000)
    _most_side: ClassVar[int] = MAX_DRAWN_SIDE
    _beyond: ClassVar[str] = "each draw looks at all points of the grid"
    _covered_label: ClassVar[int] = 1
    _theorem: ClassVar[tuple[str, str]] = ("KMMS-Thm3.2", "Theorem 3.2 and Section 6, linearisation,")
    _regions = Built(discs)
    hard_targets = plane_targets

    @property
    def concepts(self) -> Discs | DiscUnions:
        """The class of the targets: discs where they are listed, else unions of k."""
        if self._regions.listed:
            return Discs(self.side)
        return DiscUnions(self.side, self.k)

    @property
    def _resolver(self) -> Resolver:
        return _cubes(self.side).resolve

    def _taken(self, regions: tuple[Region, ...]) -> Hypothesis:
        return dual_disc(regions)

    def _pieces(self, points: Weights) -> SolidPieces:
        return SolidPieces(points, self.side)

    def picture(self, sample: Sample, codes: Sequence[Hashable], target: Hypothesis | None = None) -> Picture:
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

    @scene_of
    def scene(self) -> Hypothesis:
        """Return the target of the picture, a disc around the middle."""
        if not self._regions.listed:
            return circle(self.side, (0.5, 0.5), 2**-0.5 / 2)
        middle = 2 * self.domain.points() - self.side
        labels = 2 * (middle * middle).sum(axis=1) <= self.side**2
        target: Hypothesis = self.concepts.concept(int((disc_family(self.side).labels == labels).all(axis=1).argmax()))
        return target


LEARNERS = (DiscUnion,)
