"""Finite domains: an interval of integers, the Boolean cube, and the grid; and permutations of examples over them.

In a permutation of the example universe, example (x, y) is number 2 i + y, with i the row of x in the domain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from dpaudit.contract import Distribution, Domain, Hypothesis, InputError

from .arrays import Bools, Exact, Integers
from .parameters import check_integer
from .samples import Sample

# The largest domain whose points are listed; larger ones must be handled implicitly.
ENUMERABLE = 2**22


def grid_rows(points: Exact, side: int) -> Integers:
    """Return the rows (m,) of points (m, k) in the lexicographic order of {0 .. side}^k, last coordinate fastest."""
    rows = np.zeros(len(points), dtype=np.int64)
    for column in points.T:
        # Mixed radix, the last coordinate the lowest digit.
        rows = rows * (side + 1) + column.astype(np.int64)
    return rows


class _Box:
    """The integer box {0 .. side}^dimension."""

    side: Any
    dimension: Any

    @property
    def size(self) -> int:
        """The number of points."""
        return int((self.side + 1) ** self.dimension)

    def points(self) -> Integers:
        """Return all points (size, dimension) in lexicographic order."""
        if self.size > ENUMERABLE:
            raise InputError(f"{self} has {self.size} points, more than the {ENUMERABLE} that can be listed")
        axes = np.meshgrid(*[np.arange(self.side + 1)] * self.dimension, indexing="ij")
        return np.stack(axes, axis=-1).reshape(-1, self.dimension)

    def contains(self, points: Exact) -> Bools:
        """Say for each row of `points` whether it is a point of the domain."""
        if points.ndim != 2 or points.shape[1] != self.dimension:
            raise InputError(
                f"points of {self} have {self.dimension} coordinate(s); got an array of shape {points.shape}"
            )
        return np.asarray(((points >= 0) & (points <= self.side)).all(axis=1), dtype=np.bool_)

    def landmarks(self) -> Exact:
        """Return the corners 0 and `side`, the middle, and the neighbours of each along one axis, without repeats."""
        side = self.side
        dimension = self.dimension
        levels = sorted({0, side, side // 2, (side + 1) // 2})
        rows = [[level] * dimension for level in levels]
        # A neighbour of each of the two corners, and a corner that is `side` on the first half of the axes.
        rows += [[1] + [0] * (dimension - 1), [side - 1] + [side] * (dimension - 1)]
        rows += [[side] * (dimension // 2) + [0] * (dimension - dimension // 2)]
        # Coordinates beyond int64 are Python integers.
        dtype = np.int64 if side < 2**63 else object
        return np.array(sorted({tuple(row) for row in rows}), dtype=dtype)

    def renamings(self, *orders: Sequence[int]) -> list[Integers]:
        """Return the permutations of the examples that reflect the first axis, and that reorder the axes."""
        points = self.points()
        reflected = points.copy()
        reflected[:, 0] = self.side - points[:, 0]
        images = [reflected, *(points[:, order] for order in orders)]
        return [moving_points(grid_rows(image, self.side)) for image in images]

    def sample(
        self, points: ArrayLike, labels: ArrayLike, counts: ArrayLike | None = None, public: ArrayLike | None = None
    ) -> Sample:
        """Return the labelled multiset over this domain."""
        return Sample.of(points, labels, counts, public, domain=cast(Domain, self))

    def empty_sample(self) -> Sample:
        """Return the sample without examples."""
        return Sample.empty(cast(Domain, self))

    def draw(self, concept: Hypothesis, distribution: Distribution, n: int, rng: np.random.Generator) -> Sample:
        """Draw n independent examples from a distribution, with its public flags, labelled by a concept.

        One multinomial draw over the distribution's points gives the counts, so n = 1e12 costs the same as n = 10.
        """
        check_integer("n", n, 1)
        weights = np.asarray(distribution.probabilities, dtype=np.float64)
        # Probabilities sum to 1 up to rounding, which the generator would refuse.
        counts = rng.multinomial(int(n), weights / weights.sum())
        seen = counts > 0
        points = distribution.points[seen]
        public = None if distribution.public is None else distribution.public[seen]
        return self.sample(points, concept.predict(points), counts[seen], public)


@dataclass(frozen=True)
class Interval(_Box):
    """The integers 0 .. domain_size - 1, as points with one coordinate."""

    domain_size: int

    def __post_init__(self) -> None:
        check_integer("domain_size", self.domain_size, 2)

    @property
    def dimension(self) -> int:
        """One coordinate."""
        return 1

    @property
    def side(self) -> int:
        """The last point."""
        return self.domain_size - 1


@dataclass(frozen=True)
class Cube(_Box):
    """The Boolean cube {0, 1}^dimension."""

    dimension: int

    def __post_init__(self) -> None:
        check_integer("dimension", self.dimension, 1)

    @property
    def side(self) -> int:
        """The last coordinate on each axis."""
        return 1


@dataclass(frozen=True)
class Grid(_Box):
    """The grid {0 .. side}^dimension."""

    side: int
    dimension: int

    def __post_init__(self) -> None:
        check_integer("side", self.side, 1)
        check_integer("dimension", self.dimension, 1)


def moving_points(images: Integers, flips: Integers | int = 0) -> Integers:
    """Return the permutation (x, y) -> (g(x), y + f(x) mod 2).

    `images` (size of the domain,) has in entry i the row of g(x) for the point x in row i, a permutation; `flips`,
    alike or one number, f(x) in {0, 1}: whether the label of x is flipped.
    """
    # Example (x, y) is number 2 x + y, and moves to 2 g(x) + (y xor f(x)).
    labels = np.arange(2)[None, :] ^ np.broadcast_to(np.asarray(flips, dtype=np.int64), images.shape)[:, None]
    return np.asarray(2 * images[:, None] + labels, dtype=np.int64).ravel()


def moving_negatives(size: int) -> list[Integers]:
    """Return generators of all permutations of the negative examples, positive ones fixed.

    They are symmetries of every learner that ignores the negative examples. A transposition and a cycle generate the
    symmetric group on the `size` points.
    """
    generators = []
    for images in (np.array([1, 0, *range(2, size)]), np.roll(np.arange(size), 1)):
        moved = np.arange(2 * size, dtype=np.int64)
        moved[::2] = 2 * images
        generators.append(moved)
    return generators
