"""Exponential mechanisms over points and thresholds with one known leak each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpaudit.contract import Instance
from learners.finite.faults import Doubled, Frozen, Shortcut, Support
from learners.points.exponential import PointExponential, ThresholdExponential

__all__ = ["LEARNERS"]


@dataclass(frozen=True)
class PointDoubled(Doubled, PointExponential):
    """Broken control: points by the exponential mechanism at twice the rate."""

    id: ClassVar[str] = "broken-point-doubled"


@dataclass(frozen=True)
class PointSupport(Support, PointExponential):
    """Broken control: points by the exponential mechanism over a data-dependent range."""

    id: ClassVar[str] = "broken-point-support"
    instance: ClassVar[Instance] = Instance({"domain_size": 4, "epsilon": 1.0}, n=2)


@dataclass(frozen=True)
class PointShortcut(Shortcut, PointExponential):
    """Broken control: points by the exponential mechanism, but consistent ones first."""

    id: ClassVar[str] = "broken-point-shortcut"


@dataclass(frozen=True)
class PointFrozen(Frozen, PointExponential):
    """Broken control: points by the exponential mechanism with noise drawn once and for all."""

    id: ClassVar[str] = "broken-point-frozen"


@dataclass(frozen=True)
class ThresholdDoubled(Doubled, ThresholdExponential):
    """Broken control: thresholds by the exponential mechanism at twice the rate."""

    id: ClassVar[str] = "broken-threshold-doubled"


@dataclass(frozen=True)
class ThresholdSupport(Support, ThresholdExponential):
    """Broken control: thresholds by the exponential mechanism over a data-dependent range."""

    id: ClassVar[str] = "broken-threshold-support"
    instance: ClassVar[Instance] = Instance({"domain_size": 4, "epsilon": 1.0}, n=2)


@dataclass(frozen=True)
class ThresholdShortcut(Shortcut, ThresholdExponential):
    """Broken control: thresholds by the exponential mechanism, but consistent ones first."""

    id: ClassVar[str] = "broken-threshold-shortcut"


@dataclass(frozen=True)
class ThresholdFrozen(Frozen, ThresholdExponential):
    """Broken control: thresholds by the exponential mechanism with noise drawn once and for all."""

    id: ClassVar[str] = "broken-threshold-frozen"


LEARNERS = (
    PointDoubled,
    PointSupport,
    PointShortcut,
    PointFrozen,
    ThresholdDoubled,
    ThresholdSupport,
    ThresholdShortcut,
    ThresholdFrozen,
)
