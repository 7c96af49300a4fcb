"""Features that are chosen by comparing the two sides, of too many to be screened each.

Of two numbers the product, chosen by second moments: one matrix product a side gives those of all pairs. Of an integer
the remainder by a number whose remainders differ, or that divides differences on one side. Of long texts and bytes what
stands far from both ends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.events.cells import to_grid
from dpaudit.events.feature_screening import numbers, texts
from dpaudit.events.feature_screening.feature import CellNumbers, Feature, LeafFeature, one_of, quantile_edges
from dpaudit.outputs.readers import WholeValues, is_usual

Floats = NDArray[np.float64]
Sides = NDArray[np.bool_]
"""Which of some values are the neighbour's."""

CHOSEN = 4
"""Pairs, moduli and places that are returned."""
BLOCK = 1024
FARTHEST = 4.0
"""Standardised numbers are cut here, so that few far ones do not decide."""
BALANCED = 0.02
"""The share of numbers that must lie on either side of zero for their signs to be looked at; else of the median."""
COMPARED = 2_000
"""Values a side that moduli and places are compared on."""
MODULUS = 512
"""All moduli up to here are compared."""
WIDEST = 4096
"""Characters of a text, or bytes, that are looked at."""


def widest_gaps(data: Any, neighbour: Any, count: int = CHOSEN) -> list[tuple[int, int]]:
    """Return the pairs of columns whose mean product differs most between rows of two sides, by blocks of columns."""
    best: list[tuple[float, int, int]] = []
    width = data.shape[1]
    for i in range(0, width, BLOCK):
        for j in range(i, width, BLOCK):
            left, right = slice(i, i + BLOCK), slice(j, j + BLOCK)
            means = (side[:, left].T @ side[:, right] / len(side) for side in (data, neighbour))
            gap = to_grid(np.abs(next(means) - next(means)))
            if i == j:
                gap[np.tril_indices(len(gap))] = -1.0
            least = np.partition(gap, -count, axis=None)[-count] if gap.size > count else -np.inf
            for at in np.flatnonzero(gap > least).tolist() + np.flatnonzero(gap == least).tolist()[:count]:
                a, b = divmod(int(at), gap.shape[1])
                if gap[a, b] >= 0:
                    best.append((float(gap[a, b]), i + a, j + b))
    best.sort(reverse=True)
    return [(a, b) for _, a, b in best[:count]]


@dataclass(frozen=True, eq=False)
class Standardised:
    """A number of an output less its middle, in units of its spread, cut at `FARTHEST`; 0 where there is none."""

    middle: float
    spread: float

    @classmethod
    def of(cls, values: Floats) -> Standardised | None:
        """Return it for numbers like these; None if they do not vary."""
        usual = values[is_usual(values)]
        if not len(usual):
            return None
        low, middle, high = np.quantile(usual, [0.16, 0.5, 0.84]).tolist()
        spread = (high - low) / 2 or float(usual.std())
        return cls(middle, spread) if 0 < spread < np.inf else None

    def __call__(self, values: Floats) -> Floats:
        """Return the numbers."""
        found = (np.where(is_usual(values), values, self.middle) - self.middle) / self.spread
        return np.clip(found, -FARTHEST, FARTHEST)


@dataclass(frozen=True, eq=False)
class Product:
    """The product of two numbers of an output, each standardised.

    Attributes
    ----------
    factors : tuple of (Feature, Standardised)
        The numbers.
    edges : array
        Cuts between cells.
    """

    factors: tuple[tuple[Feature, Standardised], ...]
    edges: Floats
    representation: bool = False
    ordered: bool = True
    reduced: bool = False
    kind: str = "product"

    @property
    def name(self) -> str:
        """The name of the feature."""
        return f"product of {' and '.join(feature.name for feature, _ in self.factors)}, standardised"

    def real(self, outputs: Sequence[Any]) -> Floats:
        """Return the product of each output; 0 where one of the numbers is missing."""
        first, second = (scaled(feature.real(outputs)) for feature, scaled in self.factors)
        return first * second

    def __call__(self, outputs: Sequence[Any]) -> CellNumbers:
        """Return the cell of each output."""
        return np.searchsorted(self.edges, self.real(outputs), side="right").astype(np.int64)

    def cell(self, code: int) -> str | int:
        """Return a cell as a person would write it."""
        return LeafFeature("", self.real, edges=self.edges).cell(code)


def products(columns: Sequence[tuple[Feature, Floats]], neighbour: Sides, fit: Sides) -> Iterator[Product]:
    """Yield products of two numbers whose second moments differ most, given the numbers of all runs.

    `fit` are the runs that choose.
    """
    scaled = [(feature, one, one(column)) for feature, column in columns if (one := Standardised.of(column))]
    if len(scaled) < 2:
        return
    table = np.stack([column for *_, column in scaled], axis=1).astype(np.float32)
    table -= table[fit].mean(axis=0)
    for i, j in widest_gaps(table[fit & ~neighbour], table[fit & neighbour]):
        edges = quantile_edges(scaled[i][2] * scaled[j][2])
        yield Product((scaled[i][:2], scaled[j][:2]), edges)


def signs(columns: Sequence[tuple[Feature, Floats]]) -> Iterator[tuple[Feature, CellNumbers]]:
    """Yield for each number the bit that it is above zero, or above its middle where few are on the other side."""
    for feature, column in columns:
        above = column > 0
        cut = 0.0 if BALANCED < above.mean() < 1 - BALANCED else float(np.median(column))
        name = f"{feature.column.name or 'value'} being above {cut:.6g}"
        read = partial(_above, feature.column.read, cut)
        bit = Feature(feature.leaf, LeafFeature(name, read, one_of("no", "yes")), "sign")
        yield bit, (column > cut).astype(np.int64)


def _above(read: Any, cut: float, values: Any) -> CellNumbers:
    return np.asarray(read(values) > cut, dtype=np.int64)


def remainders(values: WholeValues, neighbour: Sides, chosen: Sides) -> list[LeafFeature]:
    """Return remainders by moduli that are chosen on some of the values: small ones, and divisors of one side's."""
    some = [_first(np.flatnonzero(chosen & (neighbour == side))) for side in (False, True)]
    if min(map(len, some)) < 2 * numbers.REPEATED:
        return []
    listed = numbers.signed(values)
    sides = [[listed[i] for i in places.tolist()] for places in some]
    spread = max(map(max, sides)) - min(map(min, sides))
    found = [*_small_moduli(sides, spread), *_common_divisors(sides, spread)]
    features = []
    for modulus in dict.fromkeys(found):
        read = partial(_remainders, modulus)
        if modulus <= MODULUS:
            features.append(LeafFeature(f"remainder by {modulus}", read))
        else:
            features.append(numbers.repeated(f"remainder by {modulus}", read, Counter(read(values)), repr))
    return features


def _first(places: NDArray[np.intp]) -> NDArray[np.intp]:
    return places[:COMPARED]


def _remainders(modulus: int, values: WholeValues) -> Any:
    """Return the remainder of each integer."""
    rest = [value % modulus for value in numbers.signed(values)]
    return np.array(rest, dtype=np.int64) if modulus <= MODULUS else rest


def _small_moduli(sides: Sequence[Sequence[int]], spread: int) -> list[int]:
    """Return the moduli whose remainders differ most between the sides, no multiples of each other.

    Differences are measured by the chi-squared statistic in its standard deviations, in which multiples of a modulus
    show less than itself.
    """
    cuts = np.repeat([0, 1], [len(side) for side in sides])
    values = [value for side in sides for value in side]
    gaps = np.zeros(MODULUS + 1)
    for shared, moduli in _groups(min(MODULUS, spread // 2)):
        rest = np.array([value % shared for value in values], dtype=np.int64)
        for modulus in moduli:
            counts = np.bincount(rest % modulus + modulus * cuts, minlength=2 * modulus).reshape(2, modulus)
            shares = counts / np.bincount(cuts)[:, None]
            both = shares.sum(axis=0)
            gap = (np.square(shares[0] - shares[1]) / np.where(both > 0, both, 1.0)).sum() * len(values) / 2
            gaps[modulus] = (gap - modulus + 1) / np.sqrt(2 * modulus)
    best: list[int] = []
    for modulus in np.argsort(-to_grid(gaps), kind="stable").tolist():
        if len(best) == CHOSEN or gaps[modulus] <= 0:
            break
        if not any(modulus % other == 0 for other in best):
            best.append(modulus)
    return best


def _groups(most: int) -> list[tuple[int, list[int]]]:
    """Return the moduli up to some number in groups, each with a common multiple of at most 62 bits."""
    found: list[tuple[int, list[int]]] = []
    for modulus in range(most, 1, -1):
        for i, (shared, group) in enumerate(found):
            if lcm(shared, modulus) < 2**62:
                found[i] = (lcm(shared, modulus), [*group, modulus])
                break
        else:
            found.append((modulus, [modulus]))
    return found


def _common_divisors(sides: Sequence[Sequence[int]], spread: int) -> list[int]:
    """Return large numbers that often are the greatest common divisor of two differences on one side.

    Where many values have the same remainder by m, two differences of such have a multiple of m for a divisor, and m
    itself most often.
    """
    if spread <= MODULUS * MODULUS:
        return []
    times: list[Counter[int]] = []
    for side in sides:
        a, b, c, d = (np.array(side[k : len(side) // 4 * 4 : 4], dtype=object) for k in range(4))
        times.append(Counter(np.gcd(a - b, c - d).tolist()))
    common = [
        (count, divisor)
        for one in times
        for divisor, count in one.items()
        if divisor > MODULUS and count >= numbers.REPEATED
    ]
    return [divisor for _, divisor in sorted(common, key=lambda item: (-item[0], item[1]))[:CHOSEN]]


def far_places(values: Sequence[Any], neighbour: Sides, chosen: Sides) -> list[LeafFeature]:
    """Return what stands at the places of texts, or bytes, beyond those near the ends where the sides differ most."""
    width = min(WIDEST, max(map(len, values), default=0))
    if width <= texts.NEAR:
        return []
    counts = []
    for side in (False, True):
        some = [values[i] for i in _first(np.flatnonzero(chosen & (neighbour == side))).tolist()]
        if not some:
            return []
        cut = (
            value[:width] if isinstance(value, bytes) else value[:width].encode("latin-1", "replace") for value in some
        )
        rows = np.frombuffer(b"".join([one.ljust(width, b"\0") for one in cut]), dtype=np.uint8).reshape(-1, width)
        codes = rows[:, texts.NEAR :] + 256 * np.arange(width - texts.NEAR)
        counts.append(np.bincount(codes.ravel(), minlength=256 * (width - texts.NEAR)).reshape(-1, 256) / len(some))
    both = counts[0] + counts[1]
    gap = (np.square(counts[0] - counts[1]) / np.where(both > 0, both, 1.0)).sum(axis=1)
    # Places with more values differ more by luck.
    gap = to_grid(gap - (both > 0).sum(axis=1) / COMPARED)
    best = np.argsort(-gap, kind="stable")[:CHOSEN]
    return texts.at_places(values, sorted((texts.NEAR + best).tolist()))


def _as_bytes(value: Any) -> bytes:
    """Return a text as one byte a character; bytes as they are."""
    return value if isinstance(value, bytes) else bytes(value.encode("latin-1", "replace"))
