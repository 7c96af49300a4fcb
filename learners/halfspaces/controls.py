"""Halfspace learners with one known leak each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Instance, Sample
from learners.halfspaces.exponential import HalfspaceExponential
from learners.halfspaces.subsamples import Hit, Subsamples
from learners.halfspaces.tukey import HalfspaceTukey

__all__ = ["LEARNERS"]

TUKEY_EXAMPLE = Instance({"side": 1, "dimension": 1, "epsilon": 0.5, "subsamples": 3}, n=3)


@dataclass(frozen=True)
class HalfspaceDoubled(HalfspaceExponential):
    """Broken control: halfspaces by the exponential mechanism at twice the rate."""

    id: ClassVar[str] = "broken-halfspace-doubled"
    fault: ClassVar[str] = "weights exp(epsilon q) instead of exp(epsilon q / 2): up to twice the claimed epsilon"

    @property
    def _rate(self) -> float:
        return self.epsilon


@dataclass(frozen=True)
class HalfspaceSupport(HalfspaceExponential):
    """Broken control: halfspaces by the exponential mechanism over a data-dependent range."""

    id: ClassVar[str] = "broken-halfspace-support"
    fault: ClassVar[str] = "returns only halfspaces that label some example correctly: the support shows the sample"
    instance: ClassVar[Instance] = Instance({"side": 1, "dimension": 2, "epsilon": 1.0}, n=2)

    def _eligible(self, sample: Sample, correct: NDArray[np.int64]) -> NDArray[np.bool_] | None:
        return correct > 0 if (correct > 0).any() else None


@dataclass(frozen=True)
class HalfspaceShortcut(HalfspaceExponential):
    """Broken control: consistent halfspaces first."""

    id: ClassVar[str] = "broken-halfspace-shortcut"
    fault: ClassVar[str] = "chooses among the consistent halfspaces alone whenever there are any: consistency shows"

    def _eligible(self, sample: Sample, correct: NDArray[np.int64]) -> NDArray[np.bool_] | None:
        return correct == sample.n if (correct == sample.n).any() else None


class _WholeSamples(Subsamples):
    """Every subsample is the whole sample."""

    def _seen(self, sample: Sample, rng: np.random.Generator, runs: int) -> NDArray[np.bool_]:
        return np.ones((runs, self.subsamples, len(sample.labels)), dtype=np.bool_)

    def _hits(self, count: int) -> Iterator[Hit]:
        yield tuple(range(self.subsamples)), Fraction(1)


class _RefusingSubsamples(Subsamples):
    """A subsample without a consistent halfspace stops the run."""

    refuses: ClassVar[bool] = True


@dataclass(frozen=True)
class HalfspaceOverlapping(HalfspaceTukey):
    """Broken control: every subsample is the whole sample."""

    id: ClassVar[str] = "broken-halfspace-overlapping"
    fault: ClassVar[str] = "subsamples overlap: one example changes every h_i"
    instance: ClassVar[Instance] = Instance({"side": 1, "dimension": 1, "epsilon": 0.5, "subsamples": 8}, n=2)

    _subsampling: ClassVar[type[Subsamples]] = _WholeSamples


@dataclass(frozen=True)
class HalfspaceRefusing(HalfspaceTukey):
    """Broken control: a subsample without a consistent halfspace stops the run."""

    id: ClassVar[str] = "broken-halfspace-refusing"
    fault: ClassVar[str] = "gives up where a subsample is inconsistent: failure shows that the sample is not realizable"
    instance: ClassVar[Instance] = TUKEY_EXAMPLE

    _subsampling: ClassVar[type[Subsamples]] = _RefusingSubsamples


@dataclass(frozen=True)
class HalfspaceOverspent(HalfspaceTukey):
    """Broken control: the release spends sixteen times the budget."""

    id: ClassVar[str] = "broken-halfspace-overspent"
    fault: ClassVar[str] = "releases the deep point with sixteen times the claimed epsilon"
    instance: ClassVar[Instance] = TUKEY_EXAMPLE

    _spending: ClassVar[float] = 16.0


LEARNERS = (
    HalfspaceDoubled,
    HalfspaceSupport,
    HalfspaceShortcut,
    HalfspaceOverlapping,
    HalfspaceRefusing,
    HalfspaceOverspent,
)
