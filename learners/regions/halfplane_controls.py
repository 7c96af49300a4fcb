"""Private selections of a halfplane with one known leak each."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, cast

import numpy as np

from dpaudit.contract import Instance, Law, Sample
from learners.arrays import Bools, Integers
from learners.geometry.arrangement import Arrangement, sweep
from learners.geometry.cells import Box, polygon, vertex_mean
from learners.parameters import check_sample
from learners.regions.halfplane_select import HalfplaneSelect
from learners.regions.planar.selection import Selector
from learners.regions.planar.snapping import FullGrid, Region, full_grid
from learners.samples import distinct_points

__all__ = ["LEARNERS"]


@dataclass(frozen=True)
class Unhalved(HalfplaneSelect):
    """Broken control: four times the rate."""

    id: ClassVar[str] = "broken-halfplane-unhalved"
    fault: ClassVar[str] = (
        "weights exp(2 epsilon q) under a claim of epsilon: four times the rate of the convention half"
    )
    instance: ClassVar[Instance] = Instance({"side": 1, "epsilon": 0.5}, n=3)

    @property
    def _rate(self) -> float:
        return 4 * super()._rate


@dataclass(frozen=True)
class ConsistentFirst(HalfplaneSelect):
    """Broken control: only the cells with the greatest score."""

    id: ClassVar[str] = "broken-halfplane-consistent-first"
    fault: ClassVar[str] = "chooses among the cells with the greatest score alone: the support shows the sample"
    instance: ClassVar[Instance] = Instance({"side": 1, "epsilon": 1.0}, n=2)

    def _selector(self, build: Callable[[int], Arrangement], scores: Integers) -> Selector:
        # The others keep a share below e^-1000, which no run will ever see.
        steep = math.ceil(1000 / self._rate)
        return super()._selector(build, np.where(scores == scores.max(), scores, scores - steep))

    def _eligible(self, correct: Integers) -> Bools | None:
        return np.asarray(correct == correct.max())


@dataclass(frozen=True)
class OwnCell(HalfplaneSelect):
    """Broken control: a fixed point of the chosen cell of the sample instead of a random one."""

    id: ClassVar[str] = "broken-halfplane-own-cell"
    fault: ClassVar[str] = "returns the vertex mean of the sample's cell: the range of outputs shows the sample's lines"
    instance: ClassVar[Instance] = Instance({"side": 1, "epsilon": 1.0}, n=2)

    def _resolver(self, arrangement: Arrangement) -> Callable[[int, int, Box, int], Region]:
        means = [vertex_mean(polygon(arrangement, cell)) for cell in range(arrangement.cells)]
        return lambda z, cell, box, bits: (z, *means[cell])

    def law(self, sample: Sample) -> Law:
        """Return the law on the vertex means of the sample's own cells, from the cells of the full grid in each."""
        whole = super().law(sample)
        grid = full_grid(self.side)
        points, weights = distinct_points(sample)
        own = sweep(points, weights, self.side)
        means = [vertex_mean(polygon(own, cell)) for cell in range(own.cells)]
        place = {_signs(points, mean): mean for mean in means}
        mass: dict[Region, list[float]] = {}
        for atom, value in zip(whole.atoms, whole.log_prob, strict=True):
            z, a, b = cast(Region, atom)
            mass.setdefault((z, *place[_signs(points, (a, b))]), []).append(math.exp(value))
        logs = np.log([math.fsum(values) for values in mass.values()])
        return Law(tuple(mass), logs, whole.error + 2.0**-50 * len(grid.points))


def _signs(points: list[tuple[int, int]], at: tuple[Fraction, Fraction]) -> tuple[bool, ...]:
    """Return which dual lines lie below a dual point."""
    a, b = at
    return tuple(y - x * a < b for x, y in points)


@dataclass(frozen=True)
class Unweighted(HalfplaneSelect):
    """Broken control: cells of the sample's arrangement chosen without regard to their areas."""

    id: ClassVar[str] = "broken-halfplane-unweighted"
    fault: ClassVar[str] = "chooses cells by exp(rate q) without their areas: small cells show the sample's lines"
    instance: ClassVar[Instance] = Instance({"side": 1, "epsilon": 1.0}, n=2)

    def _selector(self, build: Callable[[int], Arrangement], scores: Integers) -> Selector:
        flat = replace(build(0), areas=[1] * build(0).cells, precision=0, slack=0)
        return super()._selector(lambda extra: flat, scores)

    def law(self, sample: Sample) -> Law:
        """Return the law on the cells of the full grid: a cell's share of the area of the sample's cell around it."""
        check_sample(sample, self.domain)
        grid = full_grid(self.side)
        points = distinct_points(sample)[0]
        around = [_signs(points, point) for point in grid.points]
        shares = _shares(grid, around)
        whole = HalfplaneSelect(self.side, self.epsilon, self.convention).law(sample)
        # exp(rate q) = Pr / area up to a constant, in each copy.
        logs = whole.log_prob - np.log([float(value) for value in grid.areas] * 2) + np.log(shares * 2)
        top = float(logs.max())
        logs = logs - top - math.log(math.fsum(np.exp(logs - top)))
        return Law(whole.atoms, logs, 4 * whole.error + 2.0**-45)


def _shares(grid: FullGrid, around: list[tuple[bool, ...]]) -> list[float]:
    """Return the share of each full-grid cell in the area of the sample's cell that holds it."""
    total: dict[tuple[bool, ...], float] = {}
    for key, value in zip(around, grid.areas, strict=True):
        total[key] = total.get(key, 0.0) + float(value)
    return [float(value) / total[key] for key, value in zip(around, grid.areas, strict=True)]


LEARNERS = (Unhalved, ConsistentFirst, OwnCell, Unweighted)
