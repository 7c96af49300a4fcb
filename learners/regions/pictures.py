"""Pictures of regions and of the dual plane, the targets and samples that are pictured, and targets that are hard.

Hard ones are thin regions, regions with one tiny component, all probability at the boundary, and random targets: for
the utility audit of learners of planar regions, where the concept class itself does not show what is hard.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import ClassVar, Protocol, TypeVar

import numpy as np

from dpaudit.contract import (
    ConceptClass,
    Distribution,
    Hypothesis,
    InputError,
    Instance,
    Panel,
    Picture,
    Sample,
    Shape,
)

from ..arrays import Bools, Floats
from ..domains import Grid
from ..geometry.arrangement import Arrangement, half_width
from ..geometry.pictures import panel, regions
from ..geometry.polygons import polygon
from .shapes import Halfplane

# The most distinct points of a pictured sample.
MOST_POINTS = 128
# The panel shows the middle four fifths of the vertices of the sample's lines, and half as much again.
REACH = 1.5


class Planar(Protocol):
    """A learner of regions of the plane."""

    pictured: ClassVar[Instance]

    @property
    def side(self) -> int:
        """The side of the grid."""

    @property
    def concepts(self) -> ConceptClass:
        """The class that is learned."""

    def decode(self, code: Hashable) -> Hypothesis:
        """Return the region that an output stands for."""


Learner = TypeVar("Learner", bound=Planar)


def scene_of(
    target_of: Callable[[Learner], Hypothesis],
) -> Callable[[Learner, np.random.Generator], tuple[Sample, Hypothesis]]:
    """Return the method `scene` of a learner whose picture has the target that `target_of` makes of the learner.

    The examples are from the uniform law on the grid, or on `MOST_POINTS` random points of a larger one.
    """

    def scene(self: Learner, rng: np.random.Generator) -> tuple[Sample, Hypothesis]:
        """Return the sample of the picture and its target."""
        grid = Grid(self.side, 2)
        target = target_of(self)
        if grid.size <= MOST_POINTS:
            points = grid.points()
        else:
            points = np.unique(rng.integers(0, self.side + 1, (MOST_POINTS, 2)), axis=0)
        law = Distribution(points, np.full(len(points), 1 / len(points)), "uniform")
        return grid.draw(target, law, self.pictured.n, rng), target

    return scene


def plane_picture(self: Planar, sample: Sample, codes: Sequence[Hashable], target: Hypothesis | None = None) -> Picture:
    """Return what a report draws: the sample, the target and some outputs."""
    shapes = regions(self.side, sample, [self.decode(code) for code in codes], target)
    return Picture((panel(self.side, sample, shapes),))


def dual_panels(arrangement: Arrangement, shares: Floats, chosen: Sequence[Halfplane]) -> tuple[Panel, ...]:
    """Return one panel for each copy of the dual plane.

    The arrangement is the sample's own; `shares` (2, cells) are the probabilities of its cells in the copies z = 1 and
    z = -1, of which the darkest is the likeliest. The `chosen` outputs are drawn as points in their copies.
    """
    cells = [tuple((p / q, r / q) for p, r, q in polygon(arrangement, cell)) for cell in range(arrangement.cells)]
    width = float(half_width(arrangement.side))
    x, y = (_reach([point[axis] for cell in cells for point in cell], width) for axis in (0, 1))
    found = []
    for row, z in enumerate((1, -1)):
        mass = float(shares[row].sum())
        shapes = [
            Shape("polygon", cell, "blue", shade=float(np.sqrt(share / shares.max())), width=0.4)
            for cell, share in zip(cells, shares[row], strict=True)
        ]
        dots = tuple((float(h.a), float(h.b)) for h in chosen if h.z == z)
        seen = tuple((a, b) for a, b in dots if x[0] <= a <= x[1] and y[0] <= b <= y[1])
        if dots:
            label = f"selected; {len(seen)} of {len(dots)} in the part shown"
            shapes.append(Shape("points", dots, "orange", marker="cross", label=label))
        caption = (
            f"The dual plane, copy z = {z} with {mass:.3g} of the probability: a point (a, b) is the halfplane "
            f"y {'≥' if z == 1 else '≤'} a x + b, a line is a point of the sample. The darker a cell, the likelier; "
            f"the likeliest of both copies has {float(shares.max()):.3g}."
        )
        found.append(Panel(caption, x, y, tuple(shapes), "a", "b", equal=False))
    return tuple(found)


def _reach(values: list[float], width: float) -> tuple[float, float]:
    """Return the ends of an axis: around most vertices inside the box (corners and sides of the box left out)."""
    inner = [value for value in values if abs(value) < width] or [0.0]
    low, high = (float(end) for end in np.quantile(sorted(set(inner)), (0.1, 0.9)))
    middle = (low + high) / 2
    half = max(REACH * (high - low) / 2, 1.0)
    return max(middle - half, -width), min(middle + half, width)


# Classes are searched up to this size.
MAX_CONCEPTS = 2**16
RANDOM = 2


def plane_targets(learner: Planar, alpha: float) -> list[tuple[int, Distribution, str]]:
    """Return (code, distribution, name) for each kind of hard target of a learner's class, if it can be searched.

    A tiny component has a probability just above the accuracy alpha.
    """
    concepts = learner.concepts
    side = learner.side
    try:
        if concepts.size > MAX_CONCEPTS:
            return []
    except InputError:
        return []
    points = Grid(side, 2).points()
    squares = concepts.evaluate(points).astype(np.bool_).reshape(-1, side + 1, side + 1)
    # Just above alpha, so that an error on it alone is a failure.
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
    # A point without neighbours in the region: a component of its own, which an answer easily misses.
    lone = squares & ~_beside(squares, diagonal=True)
    others = np.flatnonzero(lone.any(axis=(1, 2)) & (sizes > 1))
    if len(others):
        code = int(others[sizes[others].argmax()])
    else:
        code = int(np.flatnonzero(sizes == 1)[0])
    tiny = np.zeros_like(squares[code])
    tiny[tuple(np.argwhere(lone[code] if len(others) else squares[code])[0])] = True
    if len(others):
        name = "just above alpha on a tiny component"
    else:
        name = "just above alpha on a region of one point"
    yield code, _weighted(tiny, ~tiny, mass), name
    code = int(rims.sum(axis=(1, 2)).argmax())
    yield code, _halves(squares[code] & rims[code], rims[code] & ~squares[code]), "all on both sides of the boundary"
    for code in np.random.default_rng(0).choice(len(squares), RANDOM, replace=False).tolist():
        yield int(code), np.ones(squares.shape[1:]), "random target, uniform"


def _beside(squares: Bools, diagonal: bool) -> Bools:
    """Return which points have a neighbour in the set, along the axes and, if asked, the diagonals."""
    wide = np.pad(squares, ((0, 0), (1, 1), (1, 1)))
    size = squares.shape[1]
    found = np.zeros_like(squares)
    steps = [(i, j) for i in range(3) for j in range(3) if (i, j) != (1, 1) and (diagonal or 1 in (i, j))]
    for i, j in steps:
        found |= wide[:, i : i + size, j : j + size]
    return found


def _on_one_line(square: Bools) -> bool:
    """Return whether the set has three points or more, all on one line."""
    points = np.argwhere(square)
    if len(points) < 3:
        return False
    u = points[1] - points[0]
    v = points - points[0]
    return bool((u[0] * v[:, 1] == u[1] * v[:, 0]).all())


def _halves(one: Bools, other: Bools) -> Floats:
    """Return equal weight on both sets, spread evenly; all on one where the other is empty."""
    if one.any() and other.any():
        return _weighted(one, other, 0.5)
    return np.asarray(one | other, dtype=np.float64)


def _weighted(one: Bools, other: Bools, mass: float) -> Floats:
    return np.asarray(one * (mass / one.sum()) + other * ((1 - mass) / other.sum()), dtype=np.float64)
