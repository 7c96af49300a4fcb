"""SVG paths with few characters: one decimal, and no points that a straight line goes through anyway."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["straightened", "thinned"]

_TOLERANCE = 0.06  # of a pixel of the figure: a tenth of the thinnest line

Point = tuple[float, float]


def straightened(path: str) -> str:
    """Return a path of absolute M, L, C and z commands in short, without the points of lines that nobody can see.

    Coordinates are rounded to one decimal; those of curves, which draw small marks, to two.
    """
    commands = [(command, numbers.split()) for command, numbers in re.findall(r"([MLCz])([^MLCz]*)", path)]
    if any(command == "C" for command, _ in commands):
        return "".join(command + " ".join(_short(float(v), 2) for v in values) for command, values in commands)
    parts: list[str] = []
    run: list[Point] = []
    for command, values in commands:
        if command != "L":
            parts.append(_written(run))
            run = []
        if command == "z":
            parts.append("z")
        else:
            run.append((float(values[0]), float(values[1])))
    return "".join([*parts, _written(run)])


def _written(run: Sequence[Point]) -> str:
    """Return a run of points as a move and lines."""
    if not run:
        return ""
    return "M" + "L".join(f"{_short(x)} {_short(y)}" for x, y in thinned(run, _TOLERANCE))


def thinned(points: Sequence[Point], tolerance: float) -> list[Point]:
    """Return the points that a polyline needs to stay within `tolerance` of all of them; the ends are kept.

    Source: Douglas, Peucker, "Algorithms for the reduction of the number of points" (1973).
    """
    kept = {0, len(points) - 1}
    ranges = [(0, len(points) - 1)]
    while ranges:
        low, high = ranges.pop()
        far, at = max(((_off(points[i], points[low], points[high]), i) for i in range(low + 1, high)), default=(0.0, 0))
        if far > tolerance:
            kept.add(at)
            ranges += [(low, at), (at, high)]
    return [points[i] for i in sorted(kept)]


def _off(point: Point, start: Point, end: Point) -> float:
    """Return the distance of a point from the segment between two others."""
    ax, ay = end[0] - start[0], end[1] - start[1]
    bx, by = point[0] - start[0], point[1] - start[1]
    length = ax * ax + ay * ay
    along = 0.0 if length == 0 else min(1.0, max(0.0, (ax * bx + ay * by) / length))
    return float(((bx - along * ax) ** 2 + (by - along * ay) ** 2) ** 0.5)


def _short(value: float, digits: int = 1) -> str:
    text = f"{value:.{digits}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
