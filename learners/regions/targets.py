"""Targets and distributions over a small grid that are hard for learners of planar regions.

Thin regions, regions with one tiny component, all probability at the boundary, and random targets: for the utility
audit, where the concept class itself does not show what is hard.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dpaudit.contract import Distribution, InputError

from ..arrays import Bools, Floats
from ..domains import Grid

MAX_CONCEPTS = 2**16
"""Classes are searched up to this size."""
RANDOM = 2


def plane_targets(learner: Any, alpha: float) -> list[tuple[int, Distribution, str]]:
    """Return (code, distribution, name) for each kind of hard target of a learner's class, if it can be searched.

    A tiny component has a probability just above the accuracy alpha.
    """
    concepts, side = learner.concepts, learner.side
    points = Grid(side, 2).points()
    try:
        if concepts.size > MAX_CONCEPTS:
            return []
    except InputError:
        return []
    squares = concepts.evaluate(points).astype(np.bool_).reshape(-1, side + 1, side + 1)
    mass = alpha + min(alpha, 1 - alpha) / 1000
    found = []
    for code, weights, name in _cases(squares, mass):
        flat = weights.ravel() / weights.sum()
        found.append((code, Distribution(points[flat > 0], flat[flat > 0], name), name))
    return found


def _cases(squares: Bools, mass: float) -> Iterator[tuple[int, Floats, str]]:
    """Yield (code, weights of the grid's points, name)."""
    # Points that have a neighbour along the axes with the other label.
    rims = np.where(squares, _beside(~squares, False), _beside(squares, False))
    sizes = squares.sum(axis=(1, 2))
    thin = np.flatnonzero([_on_one_line(square) for square in squares])
    if len(thin):
        code = int(thin[sizes[thin].argmax()])
        yield code, _halves(squares[code], rims[code] & ~squares[code]), "a thin region and what lies beside it"
    lone = squares & ~_beside(squares, diagonal=True)
    others = np.flatnonzero(lone.any(axis=(1, 2)) & (sizes > 1))
    code = int(others[sizes[others].argmax()]) if len(others) else int(np.flatnonzero(sizes == 1)[0])
    tiny = _first(lone[code] if len(others) else squares[code])
    name = "just above alpha on a tiny component" if len(others) else "just above alpha on a region of one point"
    yield code, _weighted(tiny, ~tiny, mass), name
    code = int(rims.sum(axis=(1, 2)).argmax())
    yield code, _halves(squares[code] & rims[code], rims[code] & ~squares[code]), "all on both sides of the boundary"
    for code in np.random.default_rng(0).choice(len(squares), RANDOM, replace=False).tolist():
        yield int(code), np.ones(squares.shape[1:]), "random target, uniform"


def _beside(squares: Bools, diagonal: bool) -> Bools:
    """Return which points have a neighbour in the set, along the axes and, if asked, the diagonals."""
    wide = np.pad(squares, ((0, 0), (1, 1), (1, 1)))
    size, found = squares.shape[1], np.zeros_like(squares)
    steps = [(i, j) for i in range(3) for j in range(3) if (i, j) != (1, 1) and (diagonal or 1 in (i, j))]
    for i, j in steps:
        found |= wide[:, i : i + size, j : j + size]
    return found


def _on_one_line(square: Bools) -> bool:
    """Return whether the set has three points or more, all on one line."""
    points = np.argwhere(square)
    if len(points) < 3:
        return False
    u, v = points[1] - points[0], points - points[0]
    return bool((u[0] * v[:, 1] == u[1] * v[:, 0]).all())


def _first(square: Bools) -> Bools:
    alone = np.zeros_like(square)
    alone[tuple(np.argwhere(square)[0])] = True
    return alone


def _halves(one: Bools, other: Bools) -> Floats:
    """Return equal weight on both sets, spread evenly; all on one where the other is empty."""
    return _weighted(one, other, 0.5) if one.any() and other.any() else np.asarray(one | other, dtype=np.float64)


def _weighted(one: Bools, other: Bools, mass: float) -> Floats:
    return np.asarray(one * (mass / one.sum()) + other * ((1 - mass) / other.sum()), dtype=np.float64)
