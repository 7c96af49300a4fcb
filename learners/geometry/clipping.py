"""Cutting convex polygons by lines, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

__all__ = ["Corners", "clip", "square"]

Corners = list[tuple[Fraction, Fraction]]


def square(low: Fraction | int, high: Fraction | int) -> Corners:
    """Return the corners of [low, high]^2, in order around it."""
    a, b = Fraction(low), Fraction(high)
    return [(a, a), (b, a), (b, b), (a, b)]


def clip(corners: Corners, heights: Sequence[Fraction | int]) -> Corners:
    """Return the part of a convex polygon where an affine function is >= 0, given its values at the corners.

    What touches the line alone remains, as one corner or two.
    """
    kept = []
    for i, ((x, y), height) in enumerate(zip(corners, heights, strict=True)):
        (u, v), before = corners[i - 1], heights[i - 1]
        if (height > 0 > before) or (height < 0 < before):
            share = Fraction(before) / (before - height)
            kept.append((u + share * (x - u), v + share * (y - v)))
        if height >= 0:
            kept.append((x, y))
    return kept
