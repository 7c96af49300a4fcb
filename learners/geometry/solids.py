"""Convex solids in exact arithmetic: parts cut off by planes, volumes, and random points in them.

Vertices are homogeneous integers (p, r, t, q), q > 0, coprime, for the point (a, b, c) = (p/q, r/q, t/q) of dual space.
A plane (x, y, s) there is {(a, b, c) : c + x a + y b = s}.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise, product
from math import gcd, lcm

Vertex = tuple[int, int, int, int]
Face = list[Vertex]
Solid = list[Face]
"""The faces of a solid, each with its vertices in order around it."""
Plane = tuple[int, int, int]
Cuboid = tuple[int, int, int, int, int, int, int]
"""(a_low, a_high, b_low, b_high, c_low, c_high, q): the point lies in the product of the three intervals over q."""


def cuboid(a: int, b: int, c: int) -> Solid:
    """Return the faces of [-a, a] x [-b, b] x [-c, c]."""
    ends = (a, b, c)
    found = []
    for axis, sign in product(range(3), (-1, 1)):
        first, second = (other for other in range(3) if other != axis)
        face = []
        for u, v in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
            corner = [0, 0, 0, 1]
            corner[axis] = sign * ends[axis]
            corner[first] = u * ends[first]
            corner[second] = v * ends[second]
            face.append((corner[0], corner[1], corner[2], 1))
        found.append(face)
    return found


def cut(solid: Solid, plane: Plane, side: int) -> Solid:
    """Return the part of a solid above (side 1) or below (side -1) a plane that passes through its inside."""
    x, y, s = plane
    heights = {
        (p, r, t, q): side * (t + x * p + y * r - s * q) for face in solid for p, r, t, q in face
    }
    faces = []
    # On the plane a new face is made, whose edges are those that the faces kept have there.
    after: dict[Vertex, list[Vertex]] = {}
    for face in solid:
        # A face that only touches the plane from below is gone, and so are those in the plane.
        if max(heights[vertex] for vertex in face) <= 0:
            continue
        kept = _kept(face, heights)
        faces.append(kept)
        on = [vertex for vertex in kept if heights.get(vertex, 0) == 0]
        if len(on) == 2:
            after.setdefault(on[0], []).append(on[1])
            after.setdefault(on[1], []).append(on[0])
    faces.append(_ring(after))
    return faces


def _kept(face: Face, heights: dict[Vertex, int]) -> Face:
    """Return the vertices of the part of a face that is not below 0."""
    kept = []
    for i, vertex in enumerate(face):
        before = face[i - 1]
        level = heights[before]
        height = heights[vertex]
        if (height > 0 > level) or (height < 0 < level):
            kept.append(_crossing(before, level, vertex, height))
        if height >= 0:
            kept.append(vertex)
    return kept


def _crossing(u: Vertex, f: int, v: Vertex, g: int) -> Vertex:
    """Return the point of the segment uv where the height, proportional to f at u and g at v, is 0."""
    p, r, t, q = (f * end - g * start for start, end in zip(u, v, strict=True))
    common = gcd(p, r, t, q) * (1 if q > 0 else -1)
    return p // common, r // common, t // common, q // common


def _ring(after: dict[Vertex, list[Vertex]]) -> Face:
    """Return the vertices of a face in order around it, given the two neighbours of each."""
    start = next(iter(after))
    ring = [start, after[start][0]]
    while len(ring) < len(after):
        one, other = after[ring[-1]]
        ring.append(other if one == ring[-2] else one)
    return ring


def tetrahedra(solid: Solid) -> Iterator[tuple[Vertex, Vertex, Vertex, Vertex]]:
    """Yield tetrahedra that make up a solid: fans of the faces that do not hold its first vertex, joined to that."""
    apex = solid[0][0]
    for face in solid:
        if apex not in face:
            yield from ((apex, face[0], v, w) for v, w in pairwise(face[1:]))


def six_volumes(corners: tuple[Vertex, Vertex, Vertex, Vertex]) -> tuple[int, int]:
    """Return numerator and denominator of six times the volume of a tetrahedron."""
    (p, r, t, q), *others = corners
    edges = [(p2 * q - p * q2, r2 * q - r * q2, t2 * q - t * q2) for p2, r2, t2, q2 in others]
    (a, b, c), (d, e, f), (g, h, i) = edges
    determinant = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
    # Each edge is over q and the denominator of its other end.
    bottom = q**3
    for *_, other in others:
        bottom *= other
    return abs(determinant), bottom


def volume(solid: Solid) -> Fraction:
    """Return the volume of a solid."""
    return sum((Fraction(*six_volumes(corners)) for corners in tetrahedra(solid)), Fraction(0)) / 6


def vertices(solid: Solid) -> list[Vertex]:
    """Return the distinct vertices of a solid."""
    return list(dict.fromkeys(vertex for face in solid for vertex in face))


@dataclass(frozen=True)
class UniformSolidPoint:
    """Uniformly random points of a solid as far as `bits` random bits decide them.

    A tetrahedron is chosen with probability proportional to its volume, by comparing a uniform real number whose
    leading bits are known with exact fractions of integers. With three uniform numbers in order, u <= v <= w, the point
    v0 + u (v1 - v0) + (v - u) (v2 - v0) + (w - v) (v3 - v0) is uniform in it.
    """

    cumulative: tuple[int, ...]
    corners: tuple[tuple[Vertex, Vertex, Vertex, Vertex], ...]

    @classmethod
    def of(cls, solid: Solid) -> UniformSolidPoint:
        """Prepare the solid."""
        corners = tuple(tetrahedra(solid))
        volumes = [Fraction(*six_volumes(four)) for four in corners]
        common = lcm(*(part.denominator for part in volumes))
        cumulative = accumulate(part.numerator * (common // part.denominator) for part in volumes)
        return cls(tuple(cumulative), corners)

    def box(self, pick: int, first: int, second: int, third: int, bits: int) -> Cuboid | None:
        """Return where the point is, given the first `bits` bits of four uniform numbers; None if undecided."""
        total = self.cumulative[-1]
        # The known bits leave the real number in an interval; both of its ends must choose the same tetrahedron.
        index = bisect_right(self.cumulative, pick * total >> bits)
        if index != bisect_right(self.cumulative, ((pick + 1) * total - 1) >> bits):
            return None
        u, v, w = sorted((first, second, third))
        # Numbers with the same known bits may be in either order.
        if u == v or v == w:
            return None
        four = self.corners[index]
        q = lcm(*(corner[3] for corner in four))
        ends = []
        for axis in range(3):
            start, one, two, three = (corner[axis] * (q // corner[3]) for corner in four)
            # The point is start + u (one - two) + v (two - three) + w (three - start): each number may be larger by 1.
            steps = (one - two, two - three, three - start)
            low = (start << bits) + u * steps[0] + v * steps[1] + w * steps[2]
            ends += [low + sum(min(step, 0) for step in steps), low + sum(max(step, 0) for step in steps)]
        return ends[0], ends[1], ends[2], ends[3], ends[4], ends[5], q << bits
