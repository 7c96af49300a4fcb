"""Set Cover Learners over regions of a grid of any size: where the regions are not listed, they are drawn exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.contract import Hypothesis, Instance, Sample
from learners.arrays import Integers
from learners.geometry.cells import Bits
from learners.parameters import check_run
from learners.regions.kinds import PlaneRegions
from learners.regions.planar.snapping import Region, region_of
from learners.regions.planar.triangle_draws import TupleSampler
from learners.regions.polygon_class import triangle
from learners.regions.region_cover import RegionCover
from learners.samples import distinct_points

__all__ = ["COVERED", "INSTANCE", "PlaneCover"]

INSTANCE = Instance(
    {"side": 1, "k": 1, "epsilon": 1.0, "delta": 1e-6, "alpha": 0.49, "beta": 0.2}, n=2, alpha=0.99, beta=0.5
)
COVERED = {"epsilon": 1.0, "delta": 1e-6, "alpha": 0.2, "beta": 0.2}
"""Parameters of the instances that are pictured."""

Points = list[tuple[int, int]]
Weights = list[tuple[int, int]]


@dataclass(frozen=True)
class _CoverScore:
    """k q = min{k c - b, -k e}: integers."""

    k: int
    b: int

    def __call__(self, covered: Integers, spoiled: Integers) -> Integers:
        return np.minimum(self.k * covered - self.b, -self.k * spoiled)


@dataclass(frozen=True)
class PlaneCover(PlaneRegions, RegionCover):
    """Cover by intersections of halfplanes; beyond the listed sides the output is a tuple of J tuples of regions."""

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> Integers | list[Any]:
        """Return the outputs of independent runs; without noise all share the first round's refinement."""
        if self._family() is not None:
            return super().run(sample, rng, size)
        check_run(sample, self.domain, size)
        self._split(sample)
        bits, (points, weights) = Bits(rng), distinct_points(sample, self._covered_label)
        first = None if self._noise.scale else self._sampler(points, weights, rng)
        return [self._run_once(points, weights, rng, bits, first) for _ in range(size)]

    def _sampler(self, points: Points, weights: Weights, rng: np.random.Generator) -> TupleSampler:
        """Return the sampler of a round on what is left, with fresh noise."""
        b = int(self._noise.estimate(np.array([sum(wanted for wanted, _ in weights)]), rng)[0])
        score, rate = _CoverScore(self.k, b), Fraction(self._rate) / self.k
        return TupleSampler(points, weights, self.side, score, rate, self._components)

    def _run_once(
        self, points: Points, weights: Weights, rng: np.random.Generator, bits: Bits, first: TupleSampler | None
    ) -> tuple[tuple[Region, ...], ...]:
        found: list[tuple[Region, ...]] = []
        for _ in range(self.rounds):
            sampler = self._sampler(points, weights, rng) if found or first is None else first
            found.append(sampler.draw(bits, region_of(self.side)))
            spared = triangle(found[-1]).predict(np.array(points, dtype=object).reshape(-1, 2)) == 0
            points = [point for point, kept in zip(points, spared, strict=True) if kept]
            weights = [pair for pair, kept in zip(weights, spared, strict=True) if kept]
        return tuple(found)

    def decode(self, code: Any) -> Hypothesis:
        """Return the hypothesis of an output."""
        if self._family() is not None:
            return super().decode(code)
        # What is no sequence of J regions is refused as a region that is none.
        parts = code if isinstance(code, tuple) and len(code) == self.rounds else (None,)
        return self._join(tuple(self._drawn(part) for part in parts))

    def _drawn(self, regions: Any) -> Hypothesis:
        """Return the hypothesis of a drawn region; `InputError` if it is none."""
        raise NotImplementedError("a learner says what its regions are")
