"""Wide outputs: rows of more numbers than scores can be fitted on are reduced to the columns that promise most.

Training runs stream through sums of each coordinate, so that memory does not grow with the runs. What is kept: the
coordinates in which the sides differ most, the pairs whose covariance differs most, projections on the difference of
the means, and numbers that sum up the whole row. Which, is learned on runs that nothing else is fitted on.

Limits, for n screening runs a side and d coordinates: one shifted coordinate is found from about
(sqrt(2 ln 6d) + 2) sqrt(2/n) standard deviations on; a shift of all coordinates by unknown signs keeps of its
Mahalanobis distance m about m^2 / sqrt(m^2 + 2d/n), so that it cannot be learned where d is far above n m^4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.events.cells import to_grid
from dpaudit.events.event import Outputs
from dpaudit.events.feature_screening.products import widest_gaps
from dpaudit.events.feature_screening.rows import SUMMARIES
from dpaudit.naming import Name, position
from dpaudit.outputs import readers
from dpaudit.outputs.leaf import Leaf, spread, walk
from dpaudit.outputs.plan import LeafPlan
from dpaudit.outputs.readers import MISSING, Block, Rows, finite, usual

# Columns that scores are fitted on: with more, noise drowns what a thousand runs can teach.
WIDTH = 128
# Coordinates kept for each kind of difference: more would drown the scores that are fitted on them.
COORDINATES = 32
# Rows a side whose covariances are compared.
PAIR_ROWS = 400
# The most coordinates whose covariances are compared in full: 0.5 s for 10^4.
PAIR_WIDTH = 12_000
# Pairs of coordinates that are kept.
PAIRS = 4
# Standard deviations beyond which a coordinate counts as one of a tail.
TAIL = 2.0
# A shift of so many standard deviations leaks an epsilon of about 2 at a probability of a tenth.
KEPT_DISTANCE = 1.5
# About how many coordinates a median is taken over: of a million it would take ten times as long as a sum.
MEDIAN_WIDTH = 10_000


# Arrays have no one truth value.
@dataclass(frozen=True, eq=False)
class Moments:
    """Sums of each of d coordinates over one side's `n` training runs, outputs of some shape.

    The `centre` and `scale`, shape (d,), are a rough place and spread of each coordinate, from the first rows of both
    sides. The `sums`, shape (kinds, d), are those of standardised values, of their squares, and counts of both tails
    and of zeros. The first standardised rows are `kept`, `PAIR_ROWS` at most, for their covariances are compared; none
    of rows that are too wide for it.
    """

    centre: Rows
    scale: Rows
    shape: tuple[int, ...]
    n: int
    sums: Rows
    kept: NDArray[np.float32]

    @classmethod
    def around(cls, rows: Rows, shape: tuple[int, ...] = ()) -> Moments:
        """Return empty sums, around the place and spread that some rows show."""
        scale = rows.std(axis=0)
        none = np.zeros((5, 1)), np.zeros((0, rows.shape[1]), dtype=np.float32)
        return cls(rows.mean(axis=0), np.where(scale > 0, scale, 1.0), shape, 0, *none)

    def of(self, rows: Rows) -> Moments:
        """Return the sums of rows, shape (n, d), around the same place and spread."""
        z = (rows - self.centre) / self.scale
        tails = (z > TAIL).sum(axis=0), (z < -TAIL).sum(axis=0)
        sums = np.stack([z.sum(axis=0), np.einsum("ij,ij->j", z, z), *tails, (rows == 0).sum(axis=0)])
        kept = z[: PAIR_ROWS if rows.shape[1] <= PAIR_WIDTH else 0].astype(np.float32)
        return replace(self, n=len(rows), sums=sums, kept=kept)

    def __add__(self, other: Moments) -> Moments:
        """Return the sums of the rows of both."""
        kept = np.concatenate([self.kept, other.kept[: PAIR_ROWS - len(self.kept)]])
        return replace(self, n=self.n + other.n, sums=self.sums + other.sums, kept=kept)

    def differences(self, other: Moments) -> Rows:
        """Return z-scores, shape (kinds, d), of how each coordinate differs from the other side; 0 without rows."""
        # Every run of a side raised.
        if not self.n or not other.n:
            return np.zeros((5, len(self.centre)))
        mean, var = self._mean_and_variance()
        mean2, var2 = other._mean_and_variance()
        found = [(mean - mean2) / np.sqrt(np.maximum(var / self.n + var2 / other.n, 1e-300))]
        ratio = np.log(np.maximum(var, 1e-12) / np.maximum(var2, 1e-12))
        found.append(ratio / np.sqrt(2 / self.n + 2 / other.n))
        for row in (2, 3, 4):
            x = self.sums[row]
            y = other.sums[row]
            pooled = (x + y) / (self.n + other.n)
            spread = np.sqrt(np.maximum(pooled * (1 - pooled), 1 / (self.n + other.n)) * (1 / self.n + 1 / other.n))
            found.append((x / self.n - y / other.n) / spread)
        return to_grid(np.stack(found))

    def _mean_and_variance(self) -> tuple[Rows, Rows]:
        mean = self.sums[0] / self.n
        return mean, np.maximum(self.sums[1] / self.n - mean**2, 0.0)


ColumnOf = Callable[[Rows, Rows], Rows]
"""Makes a column of standardised rows and of the rows themselves."""


@dataclass(frozen=True)
class Reduction:
    """Maps wide rows to few columns: coordinates as they are, products of pairs, and combinations of standardised ones.

    The `centre` and `scale` are of each of d coordinates. The `weights`, shape (projections, d), are those of linear
    projections of the standardised row, `squares`, shape (d,), those of its squares, if there are such. The `wanted`
    columns alone are looked at; all by default.
    """

    centre: Rows
    scale: Rows
    coordinates: NDArray[np.intp]
    pairs: tuple[tuple[int, int], ...]
    weights: Rows
    squares: Rows | None
    wanted: frozenset[int] | None = None

    @classmethod
    def fit(cls, data: Moments, neighbour: Moments, *, paired: bool = True) -> Reduction:
        """Return the reduction that two sides' sums suggest; without pairs of coordinates if they are not `paired`."""
        z = data.differences(neighbour)
        kept = [np.argsort(-np.abs(row), kind="stable")[:COORDINATES] for row in z[:2]]
        kept += [np.argsort(-np.abs(row), kind="stable")[: COORDINATES // 4] for row in z[2:]]
        pairs = _pairs(data, neighbour) if paired else ()
        coordinates = np.unique(np.concatenate([*kept, np.array([i for pair in pairs for i in pair], dtype=np.intp)]))
        strong = np.where(np.abs(z[1]) > max(3.0, np.sqrt(2 * np.log(z.shape[1]))), np.sign(z[1]), 0.0)
        weights = _projections(z[0], data.shape)
        squares = strong if strong.any() else None
        return cls(data.centre, data.scale, coordinates, pairs, weights, squares)

    @property
    def _combined(self) -> list[tuple[Name, ColumnOf]]:
        found: list[tuple[Name, ColumnOf]] = []
        for i, j in self.pairs:
            name = Name.of("product of elements {} and {}", position(i), position(j))
            found.append((name, partial(lambda i, j, z, rows: z[:, i] * z[:, j], i, j)))
        for k, weights in enumerate(self.weights):
            name = Name.of("learned direction {}", position(k))
            found.append((name, partial(lambda w, z, rows: z @ w, weights)))
        if self.squares is not None:
            of = partial(lambda w, z, rows: np.einsum("ij,ij,j->i", z, z, w), self.squares)
            found.append((Name("learned sum of squares"), of))
        return [*found, *_WHOLE]

    @cached_property
    def names(self) -> list[Name]:
        """The name of each column."""
        single = [Name.of("element {}", position(i)) for i in self.coordinates.tolist()]
        return [*single, *(name for name, _ in self._combined)]

    def __call__(self, rows: Rows) -> Rows:
        """Return the columns, shape (n, columns), of rows of shape (n, d); those that are not wanted are 0."""
        found = np.zeros((len(rows), len(self.names)))
        at = len(self.coordinates)
        found[:, :at] = rows[:, self.coordinates]
        combined = [(j, of) for j, (_, of) in enumerate(self._combined, at) if self.wanted is None or j in self.wanted]
        if combined:
            z = (rows - self.centre) / self.scale
            for j, of in combined:
                found[:, j] = of(z, rows)
        return finite(found)


def _projections(z: Rows, shape: tuple[int, ...]) -> Rows:
    """Return weights of projections on the difference of the means: all of it, its strongest parts, and blurred."""
    levels = [0.0, 1.5, 3.0, float(np.sqrt(2 * np.log(len(z))))]
    found = [np.where(np.abs(z) > level, z, 0.0) for level in levels]
    root = round(len(z) ** 0.5)
    image: tuple[int, ...] | None = None
    if len(shape) == 2 and min(shape) > 2:
        image = shape
    elif root**2 == len(z):
        # Rows of a square number of coordinates may be images that were flattened.
        image = (root, root)
    if image is not None:
        found.append(_blurred(z.reshape(image), max(1, min(image) // 20)).ravel())
    found.append(np.ones_like(z))
    weights = np.stack([w for w in found if w.any()])
    units: Rows = weights / np.maximum(np.linalg.norm(weights, axis=1, keepdims=True), 1e-300)
    return units


def _blurred(image: Rows, reach: int) -> Rows:
    """Return the sums over squares of 2 reach + 1 pixels a side; weak ones as 0."""
    sums = np.pad(image, reach + 1)[:-1, :-1].cumsum(axis=0).cumsum(axis=1)
    width = 2 * reach + 1
    total = sums[width:, width:] - sums[:-width, width:] - sums[width:, :-width] + sums[:-width, :-width]
    total = total[: image.shape[0], : image.shape[1]]
    return np.where(np.abs(total) > 3.0 * width, total, 0.0)


# Seconds, about, that the search for pairs takes for each pair of coordinates: of 10,000 of them 5 s.
PAIR_SECONDS = 1e-7


def pair_seconds(data: Moments, neighbour: Moments) -> float:
    """Return about how long the search for pairs of coordinates takes."""
    if not len(data.kept) or not len(neighbour.kept):
        return 0.0
    width: int = data.kept.shape[1]
    return PAIR_SECONDS * width * width / 2


def _pairs(data: Moments, neighbour: Moments) -> tuple[tuple[int, int], ...]:
    """Return the pairs of coordinates whose covariance differs most, or none if rows were too wide."""
    if not len(data.kept) or not len(neighbour.kept):
        return ()
    x, y = (side.kept - side.kept.mean(axis=0) for side in (data, neighbour))
    return tuple(widest_gaps(x, y, PAIRS))


_COMMON = ("sum", "greatest", "least", "place of the greatest", "zeros", "ascents", "equal neighbours")
_WHOLE: tuple[tuple[Name, ColumnOf], ...] = (
    (Name("sum of squares"), lambda z, rows: np.einsum("ij,ij->i", z, z)),
    (Name("sum of magnitudes"), lambda z, rows: np.abs(z).sum(axis=1)),
    (Name("greatest, standardised"), lambda z, rows: z.max(axis=1)),
    (Name("least, standardised"), lambda z, rows: z.min(axis=1)),
    *((Name(name), partial(lambda of, z, rows: of(rows), SUMMARIES[name])) for name in _COMMON),
    (Name("median"), lambda z, rows: np.median(z[:, :: max(1, z.shape[1] // MEDIAN_WIDTH)], axis=1)),
)


def least_shift(width: int, runs: int) -> float:
    """Return the least shift of one coordinate, in standard deviations, that so many screening runs a side find."""
    return float((np.sqrt(2 * np.log(6 * width)) + 2) * np.sqrt(2 / runs))


def least_dense_shift(width: int, runs: int) -> float:
    """Return the least Mahalanobis distance of a shift of all coordinates, by signs unknown, that is learned.

    A learned direction keeps m^2 / sqrt(m^2 + 2 d / n) of a distance m in d coordinates with n screening runs a side;
    this is the m of which it keeps `KEPT_DISTANCE`.
    """
    x = KEPT_DISTANCE**2
    return float(np.sqrt((x + np.sqrt(x**2 + 8 * x * width / runs)) / 2))


# Readers of single values, which are kept unchanged together with the reduced rows.
AS_THEY_ARE = (readers.whole, readers.real, readers.text, readers.byte_string)


def wide_leaves(plan: LeafPlan) -> tuple[Leaf, ...]:
    """Return the rows of more numbers than scores can be fitted on."""
    return tuple(leaf for leaf in plan.leaves if isinstance(leaf.reader, Block) and leaf.reader.width > WIDTH)


Plain = tuple[tuple[int, Rows, NDArray[np.float32]], ...]
"""Sums of the leaves without what is known of them beforehand."""


@dataclass(frozen=True)
class SumUp:
    """Sums the coordinates of each wide leaf over a batch of outputs, around the place and spread of `empty` sums."""

    leaves: tuple[Leaf, ...]
    empty: tuple[Moments, ...]

    @classmethod
    def around(cls, leaves: tuple[Leaf, ...], outputs: Outputs) -> SumUp:
        """Return sums around what some outputs show."""
        found = (Moments.around(usual(leaf.read(outputs)[0]), _shape(leaf, outputs)) for leaf in leaves)
        return cls(leaves, tuple(found))

    def __call__(self, outputs: Outputs) -> Plain:
        """Return the sums of these outputs, of each leaf the number of rows, their sums, and the rows that are kept."""
        leaves = zip(self.leaves, self.empty, strict=True)
        found = (empty.of(usual(leaf.read(outputs)[0])) for leaf, empty in leaves)
        return tuple((one.n, one.sums, one.kept) for one in found)

    def added(self, sums: tuple[Moments, ...], more: Plain) -> tuple[Moments, ...]:
        """Return sums with those of other outputs."""
        rows = zip(sums, more, strict=True)
        return tuple(mine + replace(mine, n=n, sums=total, kept=kept) for mine, (n, total, kept) in rows)


def _shape(leaf: Leaf, outputs: Outputs) -> tuple[int, ...]:
    """Return the shape of a leaf's first array, by which neighbours in an image are known."""
    if isinstance(outputs, np.ndarray):
        return tuple(outputs.shape[1:])
    values, _ = walk(outputs[:1], leaf.path)
    if values and isinstance(values[0], np.ndarray):
        return tuple(values[0].shape)
    return ()


@dataclass(frozen=True)
class Reducer:
    """Maps wide outputs to rows of few columns, and keeps all other leaves unchanged."""

    wide: tuple[tuple[Leaf, Reduction], ...]
    others: tuple[Leaf, ...]

    @classmethod
    def of(cls, plan: LeafPlan, reductions: Iterable[Reduction]) -> Reducer:
        """Return the reducer with a reduction for each wide leaf of a plan."""
        leaves = wide_leaves(plan)
        others = tuple(leaf for leaf in plan.leaves if leaf not in leaves and not leaf.in_row)
        return cls(tuple(zip(leaves, reductions, strict=True)), others)

    @property
    def names(self) -> tuple[Name, ...]:
        """The names of the leaves that stay."""
        return tuple(leaf.name for leaf in self.others)

    @property
    def columns(self) -> tuple[Name, ...]:
        """The names of the columns of the reduced rows."""
        return tuple(Name.of("{} of {}", name, leaf.name) for leaf, reduction in self.wide for name in reduction.names)

    def keep(self, wanted: Iterable[int]) -> Reducer:
        """Return a reducer that makes some of the columns only, the others 0."""
        places = frozenset(wanted)
        wide = []
        start = 0
        for leaf, reduction in self.wide:
            mine = frozenset(j for j in range(len(reduction.names)) if start + j in places)
            wide.append((leaf, replace(reduction, wanted=mine)))
            start += len(reduction.names)
        return Reducer(tuple(wide), self.others)

    def __call__(self, outputs: Outputs) -> Outputs:
        """Return the reduced rows, shape (outputs, columns), or tuples of the other leaves' values and such a row."""
        reduced = []
        for leaf, reduction in self.wide:
            values, where = leaf.read(outputs)
            found = np.zeros((0, len(reduction.names)))
            if len(values):
                found = reduction(usual(values))
            reduced.append(spread(found, where, len(outputs), MISSING))
        rows = np.concatenate(reduced, axis=1)
        if not self.others:
            return rows
        kept = [_values(leaf, outputs) for leaf in self.others]
        return list(zip(*kept, rows, strict=True))


def _values(leaf: Leaf, outputs: Outputs) -> list[Any]:
    """Return one value of a leaf for each output, None for outputs without one."""
    if leaf.reader in AS_THEY_ARE:
        values, where = walk(outputs, leaf.path)
    else:
        read, where = leaf.read(outputs)
        values = list(read) if read.ndim > 1 else read.tolist()
    if where is None:
        return list(values)
    placed: list[Any] = [None] * len(outputs)
    for at, value in zip(where.tolist(), values, strict=True):
        placed[at] = value
    return placed
