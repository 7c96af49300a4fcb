"""Simple polygons with integer vertices, cut into triangles by clipping ears; integers only."""

from __future__ import annotations

from itertools import pairwise

from dpaudit.contract import InputError

__all__ = ["contains", "cross", "triangulate"]

Corner = tuple[int, int]


def cross(o: Corner, p: Corner, q: Corner) -> int:
    """Return twice the signed area of the triangle o, p, q: positive if it turns left."""
    return (p[0] - o[0]) * (q[1] - o[1]) - (p[1] - o[1]) * (q[0] - o[0])


def contains(corners: list[Corner], point: Corner) -> bool:
    """Say whether the closed region of a simple polygon contains a point, by crossings of a ray and the boundary."""
    inside = False
    for p, q in pairwise([*corners, corners[0]]):
        side = cross(p, q, point)
        if side == 0 and all(min(u, v) <= w <= max(u, v) for u, v, w in zip(p, q, point, strict=True)):
            return True
        if (p[1] <= point[1]) != (q[1] <= point[1]):
            inside ^= (side > 0) == (q[1] > p[1])
    return inside


def triangulate(corners: list[Corner]) -> list[tuple[Corner, Corner, Corner]]:
    """Return at most k - 2 triangles whose union is the polygon with k corners, counter-clockwise and simple.

    An ear is a corner that turns left and whose triangle holds no other corner; every simple polygon has one. Corners
    on a straight edge are dropped.
    """
    rest, found = list(corners), []
    while len(rest) > 2:
        for i, corner in enumerate(rest):
            before, after = rest[i - 1], rest[(i + 1) % len(rest)]
            turn = cross(before, corner, after)
            ear = (before, corner, after)
            if turn > 0 and any(contains(list(ear), other) for other in rest if other not in ear):
                continue
            if turn >= 0:
                found += [ear] if turn else []
                del rest[i]
                break
        else:
            raise InputError(f"corners must be those of a simple polygon, counter-clockwise; got {corners!r}")
    return found
