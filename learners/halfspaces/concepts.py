"""Closed halfspaces, the class of all of them on a small grid, and its exponential mechanism.

All labellings are listed with one integer representation each. A labelling by a halfspace can be moved until its
boundary is spanned by points; those on the boundary are then labelled by a halfspace of the boundary. So the labellings
are, over all spanned hyperplanes and both sides, (the open side) together with (a labelling of the points on the
hyperplane): a recursion over the dimension.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from dpaudit.contract import Distribution, Hypothesis, InputError

from ..arrays import Exact, Integers, Labels
from ..domains import Grid, grid_rows, moving_points
from ..finite.counting import Numbered, check_code
from ..geometry.sign_counts import count_sign_patterns
from ..parameters import Built, check_integer
from ..targets import MANY, case, point_array
from ..words import linear
from .depth.depth_regions import spanned_normals
from .depth.tukey_depth import MAX_DIMENSION


@dataclass(frozen=True)
class Halfspace:
    """The halfspace hs_{w,t}(x) = 1 iff <w, x> >= t, with integer or rational entries.

    Parameters
    ----------
    weights : tuple of int or Fraction, length d
        The normal w; all zero gives a constant.
    threshold : int or Fraction
        The bias t.
    """

    weights: tuple[int | Fraction, ...]
    threshold: int | Fraction

    def predict(self, points: Exact) -> Labels:
        """Return the labels of points (m, d), exactly."""
        normal = np.array(self.weights, dtype=object)
        return np.asarray(np.asarray(points).astype(object) @ normal >= self.threshold, dtype=np.uint8)

    def __str__(self) -> str:
        terms = linear([(w, f"x{i + 1}") for i, w in enumerate(self.weights)])
        return f"{terms} >= {self.threshold}"


# The normal of a hard target, on its first axes: no face of the grid is parallel to it.
NORMAL = (3, 5, 7)


@dataclass(frozen=True)
class Halfspaces(Numbered):
    """HALFSPACE(X): the labellings of the grid {0 .. side}^dimension by closed halfspaces, one representation each.

    Numbers follow the lexicographic order of the labellings of the grid's points.
    """

    side: int
    dimension: int

    def __post_init__(self) -> None:
        check_integer("side", self.side, 1)
        check_integer("dimension", self.dimension, 1, MAX_DIMENSION)

    domain = Built(Grid)

    @property
    def size(self) -> int:
        """The number of labellings; `InputError` if they are too many to list."""
        return halfspace_count(self.side, self.dimension)

    @property
    def vc_dimension(self) -> int:
        """The dimension plus 1: Radon."""
        return self.dimension + 1

    @property
    def representations(self) -> Integers:
        """The set H of Claim 4.1 of BMNS: rows (w_1, .., w_d, t), shape (size, d + 1)."""
        return grid_halfspaces(self.side, self.dimension)[1]

    def evaluate(self, points: ArrayLike) -> Labels:
        """Return the labels (size, m) of points (m, dimension) of the grid."""
        return grid_halfspaces(self.side, self.dimension)[0][:, grid_rows(np.asarray(points), self.side)]

    def concept(self, code: int) -> Halfspace:
        """Return the halfspace with that number."""
        check_code(self, code)
        *weights, threshold = (int(v) for v in self.representations[int(code)])
        return Halfspace(tuple(weights), threshold)

    def has(self, hypothesis: Hypothesis) -> bool:
        """Say whether a hypothesis is a halfspace of this dimension."""
        return isinstance(hypothesis, Halfspace) and len(hypothesis.weights) == self.dimension

    def hard_targets(self, alpha: float) -> list[tuple[Hypothesis, Distribution, str]]:
        """Return a halfspace through the middle of the grid, and pairs of points that its boundary passes between.

        Before it one between two opposite corners, on these: most halfspaces between them are as good.
        """
        corners = [(0,) * self.dimension, (self.side,) * self.dimension]
        between = Halfspace((2,) * self.dimension, self.dimension * self.side)
        apart = case(between, point_array(corners), "a halfspace between two opposite corners, on these alone")
        rng = np.random.default_rng(self.dimension)
        weights = NORMAL[: self.dimension]
        threshold = sum(weights) * self.side // 2
        points = []
        # In space fewer: a learner may look at all hyperplanes that three of them span.
        for _ in range(MANY if self.dimension < 3 else MANY // 4):
            *first, last = weights
            head = [int(self.side * (1 + 2 * rng.random()) / 4) for _ in first]
            # The least last coordinate at which the point is labelled 1, and the one below.
            tail = -((sum(w * x for w, x in zip(first, head, strict=True)) - threshold) // last)
            points += [(*head, tail), (*head, tail - 1)]
        inside = [point for point in points if 0 <= point[-1] <= self.side]
        name = "a halfspace, all on both sides of its edge"
        return [apart, case(Halfspace(weights, threshold), point_array(inside), name)]

    def symmetries(self) -> list[Integers]:
        """Return generators: reflection and permutation of the axes, and flipping all labels (H is closed under it)."""
        axes = range(self.dimension)
        orders = ([*axes[1:], 0], [1, 0, *axes[2:]]) if self.dimension > 1 else ()
        return [*self.domain.renamings(*orders), moving_points(np.arange(self.domain.size), 1)]


Vector = tuple[int, ...]

# A bound 2 |X|^(d + 1) (Claim 4.1 of BMNS) above this is too many to enumerate.
MAX_DICHOTOMIES = 2**21


def halfspace_dichotomies(points: ArrayLike) -> dict[Vector, Vector]:
    """Return every labelling of the points by a halfspace, with a halfspace (w_1, .., w_d, t) that makes it.

    The points (m, d) are distinct, in any position, m >= 1 and d >= 1. Labels (m,) map to (w_1, .., w_d, t): label 1
    where <w, x> >= t, and no point lies on the boundary. They are sorted by labels; the representation of each is the
    shortest that was found (greatest absolute entry, then lexicographic order).
    """
    xs = np.asarray(points)
    if xs.ndim != 2 or not len(xs):
        raise InputError(f"points must have shape (m, d) with m >= 1, got {xs.shape}")
    return dict(sorted(_dichotomies(xs.astype(np.int64)).items()))


def _dichotomies(points: Integers) -> dict[Vector, Vector]:
    """Return labels -> functional; recursion as in the module's docstring."""
    if points.shape[1] == 1:
        return _on_a_line(points[:, 0])
    found: dict[Vector, Vector] = {}
    for normal in spanned_normals(points):
        heights = points @ normal
        for height in np.unique(heights):
            _around(points, normal, heights - height, found)
    return found


def _on_a_line(values: Integers) -> dict[Vector, Vector]:
    """Return the labellings of numbers by rays, thresholds halfway between (all entries doubled)."""
    levels = sorted(set(values.tolist()))
    # Halfway between neighbours, where no point lies on the boundary; all numbers are doubled, so these are integers.
    cuts = [2 * level - 1 for level in levels] + [2 * levels[-1] + 1]
    found: dict[Vector, Vector] = {}
    for sign in (1, -1):
        for cut in cuts:
            labels = tuple(int(v) for v in sign * (2 * values - cut) > 0)
            _keep(found, labels, (2 * sign, sign * cut))
    return found


def _around(points: Integers, normal: Integers, heights: Integers, found: dict[Vector, Vector]) -> None:
    """Add the labellings by slight turns of one hyperplane: off it they follow the side, on it a smaller halfspace.

    The functional is K times the hyperplane's plus the smaller one's, with K above what the smaller one reaches.
    """
    on = heights == 0
    # The points on the hyperplane, projected along an axis that it does not contain: one dimension less.
    dropped = int(np.flatnonzero(normal)[-1])
    rest = [k for k in range(points.shape[1]) if k != dropped]
    offset = points[on][0] @ normal
    for part, functional in _dichotomies(points[on][:, rest]).items():
        small = np.zeros(points.shape[1], dtype=np.int64)
        small[rest] = functional[:-1]
        # So large that off the hyperplane, where heights are at least 1, the smaller functional cannot turn the sign.
        factor = 1 + int(np.abs(points @ small - functional[-1]).max())
        for sign in (1, -1):
            labels = sign * heights > 0
            labels[on] = part
            whole = [*(sign * factor * normal + small).tolist(), sign * factor * int(offset) + functional[-1]]
            _keep(found, tuple(labels.astype(int).tolist()), tuple(int(v) for v in whole))


def _keep(found: dict[Vector, Vector], labels: Vector, functional: Vector) -> None:
    """Keep the shortest functional, after division by the common divisor."""
    divisor = int(np.gcd.reduce(functional))
    short = tuple(v // divisor for v in functional)
    if labels not in found or (max(map(abs, short)), short) < (max(map(abs, found[labels])), found[labels]):
        found[labels] = short


@lru_cache(maxsize=16)
def grid_halfspaces(side: int, dimension: int) -> tuple[Labels, Integers]:
    """Return labels (size, m) of the grid's points and functionals (size, d + 1), one row a dichotomy.

    `InputError` if the dimension is above 3 or Claim 4.1's bound 2 |X|^(d + 1) exceeds `MAX_DICHOTOMIES`.
    """
    _check_listed(side, dimension)
    found = halfspace_dichotomies(Grid(side, dimension).points())
    tables = (np.array(list(found), dtype=np.uint8), np.array(list(found.values()), dtype=np.int64))
    for table in tables:
        table.flags.writeable = False
    return tables


@lru_cache(maxsize=64)
def halfspace_count(side: int, dimension: int) -> int:
    """Return how many labellings `grid_halfspaces` lists, without a list; `InputError` as there."""
    _check_listed(side, dimension)
    points = Grid(side, dimension).points()
    # The labellings by halfspaces are those by functionals of (x, 1).
    return count_sign_patterns(np.insert(points, dimension, 1, axis=1))


def _check_listed(side: int, dimension: int) -> None:
    check_integer("dimension", dimension, 1, MAX_DIMENSION)
    check_integer("side", side, 1)
    bound = 2 * (side + 1) ** (dimension * (dimension + 1))
    if bound > MAX_DICHOTOMIES:
        raise InputError(
            f"side {side} in dimension {dimension} allows up to {bound} halfspaces, "
            f"more than the {MAX_DICHOTOMIES} that can be listed"
        )
