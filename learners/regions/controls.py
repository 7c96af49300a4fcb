"""Selections and Set Cover Learners of regions with one known leak each."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import cast

import numpy as np

from dpaudit.contract import Instance, Law, Sample

from ..arrays import Bools, Floats, Integers, Labels
from ..controls import controls, cover_controls, fault, rate, top
from ..domains import grid_rows
from ..geometry.arrangement import Arrangement, sweep
from ..geometry.polygons import Box, polygon, vertex_mean
from ..samples import distinct_points
from .discs import DiscUnion
from .families import Family
from .halfplane_select import HalfplaneSelect
from .polynomials import PolynomialSelect
from .polytopes import ConvexPolytope, SimplexSelect, SimplexUnion
from .region_cover import ConvexPolygon, PolygonUnion, RegionCover
from .region_selection import RegionSelection, TriangleSelect
from .snapping import Region, full_grid
from .tuple_draws import Selector

SELECTION = Instance({"side": 1, "epsilon": 0.5}, n=2)
UNWEIGHTED_SELECTION = Instance({"side": 1, "epsilon": 0.2}, n=2)
# By degree 2 all labellings of four points have equal measures: nothing to leave unweighted there.
LINES = Instance({"side": 2, "degree": 1, "epsilon": 0.2}, n=2)
PLANE = replace(RegionCover.instance, parameters={**RegionCover.instance.parameters, "epsilon": 0.5})
SPACE = Instance({**ConvexPolytope.instance.parameters, "epsilon": 0.5}, n=2, alpha=0.9, beta=0.5)


def _flat_base(self: RegionSelection, family: Family, sample: Sample) -> Floats:
    """Return ln of each region's share in the measure of those that label the sample alike."""
    # Regions that label the sample alike share one unit of measure, whatever their own measures.
    kinds = _kinds(family.labels[:, grid_rows(sample.points, self.side)])
    return np.asarray(family.log_shares - np.log(np.bincount(kinds, weights=np.exp(family.log_shares))[kinds]))


def _kinds(rows: Labels | Bools) -> Integers:
    """Return a number for each row, the same for equal ones."""
    found: dict[bytes, int] = {}
    return np.array([found.setdefault(row.tobytes(), len(found)) for row in rows])


def _flat_selector(self: HalfplaneSelect, build: Callable[[int], Arrangement], scores: Integers) -> Selector:
    """Return the sampler of the cells as if all had the same area."""
    # All cells with area 1, and no error of rounding.
    flat = replace(build(0), areas=[1] * build(0).cells, precision=0, slack=0)
    return HalfplaneSelect._selector(self, lambda extra: flat, scores)


def _flat_law(self: HalfplaneSelect, sample: Sample) -> Law:
    """Return the law on the cells of the full grid: a cell's share of the area of the sample's cell around it."""
    whole = HalfplaneSelect.law(self, sample)
    grid = full_grid(self.side)
    kinds = _kinds(grid.below[:, grid_rows(sample.points, self.side)])
    areas = np.array([float(value) for value in grid.areas])
    shares = areas / np.bincount(kinds, weights=areas)[kinds]
    # exp(rate q) = Pr / area up to a constant, in each copy.
    logs = whole.log_prob - np.tile(np.log(areas), 2) + np.tile(np.log(shares), 2)
    best = float(logs.max())
    logs = logs - best - math.log(math.fsum(np.exp(logs - best)))
    return Law(whole.atoms, logs, 4 * whole.error + 2.0**-45)


def _own_resolver(self: HalfplaneSelect, arrangement: Arrangement) -> Callable[[int, int, Box, int], Region]:
    """Return what turns a cell of the sample's arrangement into a fixed point of it."""
    means = [vertex_mean(polygon(arrangement, cell)) for cell in range(arrangement.cells)]
    return lambda z, cell, box, bits: (z, *means[cell])


def _own_law(self: HalfplaneSelect, sample: Sample) -> Law:
    """Return the law on the vertex means of the sample's own cells, from the cells of the full grid in each."""
    whole = HalfplaneSelect.law(self, sample)
    points, weights = distinct_points(sample)
    own = sweep(points, weights, self.side)

    def below(a: Fraction, b: Fraction) -> tuple[bool, ...]:
        return tuple(y - x * a < b for x, y in points)

    means = (vertex_mean(polygon(own, cell)) for cell in range(own.cells))
    place = {below(*mean): mean for mean in means}
    mass: dict[Region, list[float]] = {}
    for atom, value in zip(whole.atoms, whole.log_prob, strict=True):
        z, a, b = cast(Region, atom)
        mass.setdefault((z, *place[below(a, b)]), []).append(math.exp(value))
    logs = np.log([math.fsum(values) for values in mass.values()])
    return Law(tuple(mass), logs, whole.error + 2.0**-50 * len(full_grid(self.side).points))


UNHALVED = fault("weights exp(2 epsilon q) under a claim of epsilon: four times the rate", _rate=rate(2))
CONSISTENT_FIRST = fault(
    "chooses among the regions with the greatest score alone: the support shows the sample",
    check=lambda self: self._regions.family,
    _eligible=lambda self, correct: top(correct),
)
UNWEIGHTED = fault(
    "chooses how to label the sample without regard to measures: rare labels show its points",
    check=lambda self: self._regions.family,
    _log_base=_flat_base,
)


def _selections(
    base: type[RegionSelection], flat: Instance = UNWEIGHTED_SELECTION
) -> tuple[type[RegionSelection], ...]:
    """Return the controls of a selection among listed regions; without measures on the instance `flat`."""
    unweighted = UNWEIGHTED.shown(flat)
    stem = str(vars(base)["id"]).removesuffix("-select")
    return controls(base, stem, SELECTION, unhalved=UNHALVED, consistent_first=CONSISTENT_FIRST, unweighted=unweighted)


LEARNERS = (
    *controls(
        HalfplaneSelect,
        "halfplane",
        Instance({"side": 1, "epsilon": 1.0}, n=2),
        unhalved=fault(
            "weights exp(2 epsilon q) under a claim of epsilon: four times the rate of the convention half",
            instance=Instance({"side": 1, "epsilon": 0.5}, n=3),
            _rate=property(lambda self: self.epsilon * (2 if self.convention == "half" else 4)),
        ),
        consistent_first=fault(
            "chooses among the cells with the greatest score alone: the support shows the sample",
            _refined=False,
            # Cells with another score keep a share below e^-1000.
            _selector=lambda self, build, scores: HalfplaneSelect._selector(
                self, build, np.where(scores == scores.max(), scores, scores - math.ceil(1000 / self._rate))
            ),
            _eligible=lambda self, correct: top(correct),
        ),
        own_cell=fault(
            "returns the vertex mean of the sample's cell: the range of outputs shows the sample's lines",
            _refined=False,
            _resolver=_own_resolver,
            law=_own_law,
        ),
        unweighted=fault(
            "chooses cells by exp(rate q) without their areas: small cells show the sample's lines",
            _refined=False,
            _selector=_flat_selector,
            law=_flat_law,
        ),
    ),
    *_selections(TriangleSelect),
    *_selections(SimplexSelect),
    *_selections(PolynomialSelect, LINES),
    *cover_controls(ConvexPolygon, PLANE),
    *cover_controls(PolygonUnion, PLANE),
    *cover_controls(DiscUnion, PLANE),
    *cover_controls(ConvexPolytope, SPACE),
    *cover_controls(SimplexUnion, replace(SPACE, n=1)),
)
