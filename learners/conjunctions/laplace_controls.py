"""Noisy conjunction learners with one known leak each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit.contract import Instance, Law, Sample
from learners.arrays import Floats, Integers
from learners.conjunctions.laplace import ConjunctionLaplace, contradictions
from learners.inputs import check_run, check_sample
from learners.mechanisms.laplace import log_above, log_below, log_between
from learners.mechanisms.log_laws import ULP
from learners.symmetries import moving_negatives

__all__ = ["LEARNERS"]

# A large beta makes the threshold small, so that a handful of examples crosses it.
EXAMPLE = Instance({"dimension": 2, "epsilon": 2.0, "beta": 0.9}, n=4, beta=0.95)


@dataclass(frozen=True)
class HalfSensitivity(ConjunctionLaplace):
    """Broken control: noise as if a replaced example moved only one half of the counts."""

    id: ClassVar[str] = "broken-conjunction-half-sensitivity"
    fault: ClassVar[str] = "noise Lap(d/epsilon): scaled to adding or removing an example, not to replacing one"
    instance: ClassVar[Instance] = Instance({"dimension": 1, "epsilon": 2.0, "beta": 0.9}, n=4, beta=0.95)

    @property
    def _scale(self) -> float:
        return self.dimension / self.epsilon


@dataclass(frozen=True)
class Undivided(ConjunctionLaplace):
    """Broken control: every count spends the whole budget."""

    id: ClassVar[str] = "broken-conjunction-undivided"
    fault: ClassVar[str] = "noise Lap(1/epsilon): the budget is not divided over the 2 d counts"
    instance: ClassVar[Instance] = EXAMPLE

    @property
    def _scale(self) -> float:
        return 1 / self.epsilon


@dataclass(frozen=True)
class BareNegations(ConjunctionLaplace):
    """Broken control: the counts of negated variables get no noise."""

    id: ClassVar[str] = "broken-conjunction-bare-negations"
    fault: ClassVar[str] = "no noise on the counts of the negated literals"
    instance: ClassVar[Instance] = EXAMPLE

    def _noise(self, literal: int, rng: np.random.Generator, size: int) -> Floats:
        return np.zeros(size) if literal % 2 else super()._noise(literal, rng, size)

    def _log_tails(self, z: Floats) -> tuple[Floats, Floats]:
        bare = np.arange(len(z)) % 2 == 1
        deleted = np.where(bare, np.where(z < 0, 0.0, -np.inf), log_above(z))
        return deleted, np.where(bare, np.where(z < 0, -np.inf, 0.0), log_below(z))

    def symmetries(self) -> list[Integers]:
        """Return the permutations of negative examples; complementing a variable would exchange noise and none."""
        return moving_negatives(self.domain.size)


@dataclass(frozen=True)
class SharedNoise(ConjunctionLaplace):
    """Broken control: one noise for all counts."""

    id: ClassVar[str] = "broken-conjunction-shared-noise"
    fault: ClassVar[str] = "all literals share one noise: the order of their counts shows"
    instance: ClassVar[Instance] = EXAMPLE

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> Integers:
        """Return the masks (size,) of the literals kept in independent runs."""
        check_run(sample, self.domain, size)
        noise = rng.laplace(0.0, self._scale, size)
        codes = np.zeros(size, dtype=np.int64)
        for literal, count in enumerate(contradictions(sample)):
            codes |= (count + noise <= self._threshold).astype(np.int64) << literal
        return codes

    def law(self, sample: Sample) -> Law:
        """Return the law on all 4^d masks.

        The noise deletes exactly the literals whose count is above threshold - noise: the masks that can occur form a
        chain, one for each gap between consecutive counts. The error of an end of a gap of width w is magnified by at
        most 2 / (1 - e^-w).
        """
        check_sample(sample, self.domain)
        counts = contradictions(sample)
        levels = sorted({int(c) for c in counts}, reverse=True)
        t = self._threshold / self._scale
        log_prob = np.full(4**self.dimension, -np.inf)
        for above, below in zip([None, *levels], [*levels, None], strict=True):
            mask = sum(1 << i for i, c in enumerate(counts) if above is None or c < above)
            log_prob[mask] = self._log_gap(above, below, t)
        magnified = 2 / -math.expm1(-1 / self._scale)
        error = ULP * magnified * (6 * t + 4 * max(levels) / self._scale + 16)
        return Law(range(4**self.dimension), log_prob, error)

    def _log_gap(self, above: int | None, below: int | None, t: float) -> float:
        """Return ln Pr[counts from `above` on are deleted, those up to `below` are not]."""
        if above is None:
            assert below is not None
            return float(log_below(np.array(t - below / self._scale)))
        start = t - above / self._scale
        if below is None:
            return float(log_above(np.array(start)))
        return log_between(start, (above - below) / self._scale)


LEARNERS = (HalfSensitivity, Undivided, BareNegations, SharedNoise)
