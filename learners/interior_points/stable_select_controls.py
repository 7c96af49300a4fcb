"""Stable selection with known leaks, as learners of points: the most frequent point, if it leads by far."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from dpaudit.contract import FAIL, Hypothesis, Instance, Law, PrivacyClaim, Sample
from learners.arrays import Bools, Integers
from learners.inputs import check_run, check_sample
from learners.mechanisms.log_laws import placed
from learners.mechanisms.multisets import multiset
from learners.mechanisms.stable_select import StableSelect, Standing, standing_of_values
from learners.parameters import check_integer, check_positive, check_probability
from learners.points.line import PointsOnALine

__all__ = ["LEARNERS", "AlwaysStable", "BareStable", "StableMode", "StableWrong", "WrongStable"]


@dataclass(frozen=True)
class WrongStable(StableSelect):
    """Smith and Thakurta's constants for the distance to instability, used on the gap, which is about twice that."""

    @property
    def scale(self) -> float:
        """1/epsilon."""
        return 1 / float(self.epsilon)

    @property
    def threshold(self) -> float:
        """ln(1/delta)/epsilon."""
        return self.scale * math.log(1 / float(self.delta))


@dataclass(frozen=True)
class BareStable(StableSelect):
    """No noise on the gap."""

    def draw(self, standing: Standing, rng: np.random.Generator, size: int) -> Bools:
        """Return `size` times whether the gap reaches the threshold."""
        return np.full(size, standing.gap is None or float(standing.gap) >= self.threshold)

    def log_law(self, standing: Standing) -> tuple[float, float, float]:
        """Return all mass on one answer."""
        named = standing.gap is None or float(standing.gap) >= self.threshold
        return (0.0, -math.inf, 0.0) if named else (-math.inf, 0.0, 0.0)


@dataclass(frozen=True)
class AlwaysStable(StableSelect):
    """Names the best solution however small its lead."""

    @property
    def threshold(self) -> float:
        """Below every gap."""
        return -100 * self.scale


@dataclass(frozen=True)
class StableMode(PointsOnALine):
    """Name the most frequent point by `StableSelect`; `FAIL` if it leads by too little."""

    domain_size: int
    epsilon: float
    delta: float

    _stable: ClassVar[type[StableSelect]] = StableSelect

    def __post_init__(self) -> None:
        check_integer("domain_size", self.domain_size, 2)
        check_positive("epsilon", self.epsilon)
        check_probability("delta", self.delta)
        _ = StableSelect(Fraction(self.epsilon), Fraction(self.delta))

    @property
    def privacy(self) -> PrivacyClaim:
        """The guarantee that a stable selection with the right calibration keeps."""
        return PrivacyClaim(self.epsilon, self.delta, claim_id="Stable-select-safe", source="mechanisms.stable_select")

    def _standing(self, sample: Sample) -> Standing:
        often = dict(zip(*multiset(sample.points[:, 0], sample.counts), strict=True))
        return standing_of_values([often.get(x, 0) for x in range(self.domain_size)])

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> Integers:
        """Return the point or `FAIL` in `size` independent runs."""
        check_run(sample, self.domain, size)
        standing = self._standing(sample)
        named = self._stable(Fraction(self.epsilon), Fraction(self.delta)).draw(standing, rng, size)
        return np.where(named, standing.best, FAIL).astype(np.int64)

    def law(self, sample: Sample) -> Law:
        """Return the law on `FAIL` and all points."""
        check_sample(sample, self.domain)
        standing = self._standing(sample)
        named, none, error = self._stable(Fraction(self.epsilon), Fraction(self.delta)).log_law(standing)
        log_prob = placed(self.domain_size + 1, [0, 1 + standing.best], [none, named])
        return Law(range(FAIL, self.domain_size), log_prob, error)

    def decode(self, code: int) -> Hypothesis | None:
        """Return c_code, None for `FAIL`."""
        return None if code == FAIL else self.concepts.concept(code)


@dataclass(frozen=True)
class StableWrong(StableMode):
    """Broken control: stable selection calibrated for the distance to instability, applied to the gap."""

    id: ClassVar[str] = "broken-stable-select-wrong"
    fault: ClassVar[str] = "Lap(1/epsilon) and threshold ln(1/delta)/epsilon on the gap, which has sensitivity 2"
    instance: ClassVar[Instance] = Instance({"domain_size": 2, "epsilon": 1.0, "delta": 0.02}, n=4)
    _stable: ClassVar[type[StableSelect]] = WrongStable


@dataclass(frozen=True)
class StableBare(StableMode):
    """Broken control: stable selection without noise."""

    id: ClassVar[str] = "broken-stable-select-bare"
    fault: ClassVar[str] = "no noise on the gap: whether it reaches the threshold shows"
    instance: ClassVar[Instance] = Instance({"domain_size": 2, "epsilon": 2.0, "delta": 0.2}, n=4)
    _stable: ClassVar[type[StableSelect]] = BareStable


@dataclass(frozen=True)
class StableAlways(StableMode):
    """Broken control: stable selection without a threshold."""

    id: ClassVar[str] = "broken-stable-select-always"
    fault: ClassVar[str] = "names the best solution however small its lead: which one is best shows"
    instance: ClassVar[Instance] = Instance({"domain_size": 3, "epsilon": 1.0, "delta": 0.02}, n=3)
    _stable: ClassVar[type[StableSelect]] = AlwaysStable


LEARNERS = (StableWrong, StableBare, StableAlways)
