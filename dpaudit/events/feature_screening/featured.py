"""Discretizers by one feature of the screen, or by the doubles that a floating-point sampler can never return.

Laplace and exponential noise made from a uniform double is z = -ln(j 2^-b) with a whole j and b = 52 or 53. Far from
its centre c many doubles share few j, so that most doubles y = c +- s z are never returned; noise around another centre
returns them. (Mironov, "On significance of the least significant bits for differential privacy", CCS 2012.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from itertools import compress, product, starmap
from typing import Any

import numpy as np
from scipy.special import xlogy

from dpaudit.bounds.base import Array
from dpaudit.events.discretizers import Discretizer, PackedRows, Ranked, ScoreBins, score_edges
from dpaudit.events.event import Cells, CellSet, Event, Interval, Outputs
from dpaudit.events.feature_screening.compared import Parity
from dpaudit.events.feature_screening.feature import CellNumbers, Feature, LeafFeature, one_of
from dpaudit.events.feature_screening.products import Product
from dpaudit.events.feature_screening.search import Screened, screen_features
from dpaudit.naming import Name, estimated, position
from dpaudit.outputs import readers
from dpaudit.outputs.leaf import OUTPUT
from dpaudit.outputs.plan import LeafPlan

# Of 1 - 2 |random() - 1/2|; and of 1 - random() and of NumPy's Laplace noise, whose 2 - random() is rounded.
GRIDS = (52, 53)
# Values that say whether a sampler is the one: where it is, all of them lie on its grid.
FARTHEST = 64
# The farthest of them, which exclude most samplers.
FIRST = 16
# Values beyond it are no noise of such a sampler, and their sums would overflow.
FINITE = 1e300
# The least number of values that must lie where doubles are missed, for the grid shows only there.
LEAST_SPARSE = 12
# The share of these that must lie on the grid.
ON_GRID = 0.95
# Round numbers that are tried for the centre.
CENTRES = 32
# Round numbers that are tried for the scale, and for its inverse.
SCALES = 2
# Standard errors, about, within which centre and scale are sought.
ERRORS = 4.0
# The cells of a value: doubles are too dense to say, the sampler returns it, or it never does.
DENSE = 0
REACHED = 1
GAP = 2
# The kind of the features that show them.
GAPS = "gaps"


@dataclass(frozen=True)
class FloatSupport:
    """Distinguishes doubles that noise of one sampler, of its centre and scale, can return from the gaps between.

    The uniform number behind the noise is a multiple of 2^-grid.
    """

    centre: float
    scale: float
    grid: int

    @property
    def feature(self) -> LeafFeature:
        """The feature that shows gaps, in which floating-point rounding reveals the input."""
        words = "being floating-point noise (centre {}, scale {}, {} bits)"
        name = Name.of(words, estimated(self.centre), estimated(self.scale), position(self.grid))
        return LeafFeature(name, self.cells, one_of("too dense to say", "yes", "no"), representation=True)

    def cells(self, values: Array) -> CellNumbers:
        """Return for each value whether doubles are dense there, the sampler reaches it, or it is in a gap."""
        return _support_cells(values, self.centre, self.scale, 2.0**self.grid)

    def fits(self, values: Array) -> bool:
        """Say whether values are on the grid wherever that shows."""
        _, reached, gaps = np.bincount(self.cells(values), minlength=3).tolist()
        return bool(reached + gaps >= LEAST_SPARSE and reached >= ON_GRID * (reached + gaps))


def _support_cells(values: Array, centres: Array | float, scales: Array | float, grids: Array | float) -> CellNumbers:
    """Return whether doubles are dense, reached or missed at values by samplers, arrays that are broadcast together.

    The uniform number behind a sampler is a whole number over its element of `grids`.
    """
    values, centres, scales, grids = np.broadcast_arrays(values, centres, scales, grids)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        steps = np.rint(np.exp(-np.abs(values - centres) / scales) * grids)
        sparse = np.isfinite(values) & (steps >= 2) & (steps * np.spacing(np.abs(values)) < scales / 2)
    found = np.full(values.shape, DENSE, dtype=np.int64)
    some, near, centre, scale, grid = (one[sparse] for one in (values, steps, centres, scales, grids))
    away = np.where(some < centre, scale, -scale)
    hit = np.zeros(len(some), dtype=np.bool_)
    for share in (step / grid for step in (near - 1, near, near + 1)):
        # Samplers in C take the library's logarithm, others numpy's: last digits differ on some processors.
        for log in (np.log(share), xlogy(1.0, share)):
            hit |= centre + away * log == some
    found[sparse] = np.where(hit, REACHED, GAP)
    return found


def sampler_of(values: Array) -> FloatSupport | None:
    """Return the sampler that has made some values, if it is one that is known, with round numbers around these.

    Tried are the roundest numbers near the median for the centre, and for the scale those near the mean distance from
    it, and inverses of such.
    """
    values = values[np.abs(values) < FINITE]
    if len(values) < LEAST_SPARSE:
        return None
    centre = float(np.median(values))
    scale = float(np.abs(values - centre).mean())
    if not 0 < scale < math.inf:
        return None
    error = ERRORS / math.sqrt(len(values))
    # Those that repeat were clipped.
    different = np.unique(values)
    far = different[np.argsort(np.abs(different - centre), kind="stable")[-FARTHEST:]]
    low = scale * (1 - min(error, 0.5))
    high = scale * (1 + error)
    scales = round_numbers(low, high, SCALES) + [1 / s for s in round_numbers(1 / high, 1 / low, SCALES)]
    centres = round_numbers(centre - error * scale, centre + error * scale, CENTRES)
    tried = list(starmap(FloatSupport, product(centres, dict.fromkeys(scales), GRIDS)))
    # All are looked at together at a few values each: most of them miss too many of the very farthest values for `fits`
    # to be in reach, whatever the others show.
    given = np.array([(one.centre, one.scale, 2.0**one.grid) for one in tried]).reshape(-1, 3, 1)
    missed = (_support_cells(far[-FIRST:], *np.moveaxis(given, 1, 0)) == GAP).sum(axis=1)
    kept = compress(tried, (missed <= math.floor((1 - ON_GRID) * FARTHEST)).tolist())
    return next((one for one in kept if one.fits(far)), None)


def round_numbers(low: float, high: float, most: int) -> list[float]:
    """Return numbers from an interval, at most so many, those of the fewest decimals first."""
    found: list[float] = []
    for places in range(-9, 16):
        if not math.isfinite(max(-low, high) * 10.0**places):
            break
        first = math.ceil(low * 10.0**places)
        last = math.floor(high * 10.0**places)
        for k in range(first, min(last, first + most) + 1):
            number = float(f"{k}e{-places}")
            if number not in found:
                found.append(number)
        if len(found) >= most:
            break
    return found[:most]


# Features of the screen that meet the fitted scores on runs that chose neither.
KEPT = 3
# Samplers whose gaps are compared, of outputs of many floats.
MOST_SAMPLERS = 8
# More cells have an order by luck: sixty without a signal promised an epsilon of 0.3 of 50,000 runs, and gave 0.
MANY = 6


@dataclass(frozen=True)
class FeatureCells(Discretizer):
    """Takes the cells of a feature."""

    feature: Screened
    name: Name
    screened = True

    def __call__(self, outputs: Outputs) -> CellNumbers:
        """Return the cell of each output."""
        return self.feature(outputs)

    def describe(self, event: CellSet) -> Event:
        """Return an event over the cells, each as a person would write it; of a number itself it is said to be NaN."""
        shown = (self.feature.cell(code) for code in event.inside if isinstance(code, int))
        one = self.feature
        name = one.leaf.name if isinstance(one, Feature) and one.kind == "nans" else self.name
        return Cells.of_values(name, shown, event.rare, rounding=one.kind == GAPS)


@dataclass(frozen=True)
class FeatureBins(ScoreBins):
    """Takes the bins of a real feature."""

    feature: Feature | Product
    name: Name
    edges: Array = field(repr=False)
    screened = True

    @property
    def midpoints(self) -> None:
        """Return None: the number of a feature estimates no ratio, and may be infinite where an output has none."""

    @property
    def columns(self) -> tuple[int, ...] | None:
        """The column of reduced rows that the feature reads."""
        if isinstance(self.feature, Feature) and self.feature.reduced:
            return (self.feature.index,)
        return None

    def __call__(self, outputs: Outputs) -> CellNumbers:
        """Return the bin of each output's number."""
        return np.searchsorted(self.edges, self.feature.real(outputs), side="right").astype(np.int64)

    def describe(self, event: CellSet) -> Event:
        """Return an interval of the feature; of a number itself it is called by where it stands in the output."""
        found = super().describe(event)
        if not isinstance(found, Interval) or not isinstance(self.feature, Feature):
            return found
        if self.feature.kind != "value" or self.feature.reduced:
            return found
        where = self.feature.leaf.name
        if where == OUTPUT:
            where = Name("value")
        return Interval(where, found.low, found.high)


@dataclass(frozen=True)
class FeatureRanks(Ranked):
    """Takes the cells of a feature of many, in bins of their likelihood ratio on the runs that chose the feature."""

    screened = True

    def describe(self, event: CellSet) -> Event:
        """Return an event over the cells themselves, each as a person would write it."""
        inside = frozenset(cell for cell, place in self.bins.items() if event.has(place))
        return self.base.describe(CellSet(inside, frozenset(), event.has(self.middle)))


def is_intricate(discretizer: Discretizer, output: Any) -> bool:
    """Say whether a person who sees an output like this one makes little of the cells of a discretizer.

    So it is with packed rows, and features of several numbers together.
    """
    one = discretizer.base if isinstance(discretizer, FeatureRanks) else discretizer
    if isinstance(one, FeatureCells | FeatureBins):
        return not isinstance(one.feature, Feature) or one.feature.intricate(output)
    return isinstance(one, PackedRows)


def screened_discretizers(
    data: Outputs, neighbour: Outputs, confirm: int, *, epsilon: float, stored: bool | None, plan: LeafPlan
) -> list[Discretizer]:
    """Return discretizers by the most promising features of training outputs, given what `screen` takes."""
    found: list[Discretizer] = []
    for promising in screen_features(plan, data, neighbour, confirm, epsilon=epsilon, stored=stored)[:KEPT]:
        feature = promising.feature
        cells = FeatureCells(feature, feature.name)
        if not isinstance(feature, Parity) and feature.ordered:
            pooled = np.concatenate([feature.real(side) for side in (data, neighbour)])
            found.append(FeatureBins(feature, feature.name, score_edges(pooled)))
        elif len({*cells(data).tolist(), *cells(neighbour).tolist()}) <= MANY:
            found.append(cells)
        # Ranked, for their order must meet other runs.
        else:
            found.append(replace(FeatureRanks.fit(cells, data, neighbour), name=feature.name))
    return found


def support_gap_discretizers(data: Outputs, neighbour: Outputs, plan: LeafPlan) -> list[Discretizer]:
    """Return discretizers by the gaps of the floating-point samplers that have made floats of training outputs."""
    found: list[Discretizer] = []
    for leaf in plan.leaves:
        if leaf.reader is readers.real and not leaf.representation and len(found) < MOST_SAMPLERS:
            for sampler in dict.fromkeys(sampler_of(leaf.read(side)[0]) for side in (data, neighbour)):
                if sampler is not None:
                    feature = Feature(leaf, sampler.feature, GAPS)
                    found.append(FeatureCells(feature, feature.name))
    return found
