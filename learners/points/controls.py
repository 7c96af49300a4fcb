"""Exponential mechanisms over points and thresholds with one known leak each."""

from __future__ import annotations

from dpaudit.contract import Instance
from learners.controls import control
from learners.finite.faults import Doubled, Frozen, Shortcut, Support
from learners.points.exponential import PointExponential, ThresholdExponential

__all__ = ["LEARNERS"]

TWO = Instance({"domain_size": 4, "epsilon": 1.0}, n=2)

PointDoubled = control(
    PointExponential, Doubled, "broken-point-doubled", "points by the exponential mechanism at twice the rate"
)
PointSupport = control(
    PointExponential,
    Support,
    "broken-point-support",
    "points by the exponential mechanism over a data-dependent range",
    TWO,
)
PointShortcut = control(
    PointExponential,
    Shortcut,
    "broken-point-shortcut",
    "points by the exponential mechanism, but consistent ones first",
)
PointFrozen = control(
    PointExponential,
    Frozen,
    "broken-point-frozen",
    "points by the exponential mechanism with noise drawn once and for all",
)
ThresholdDoubled = control(
    ThresholdExponential,
    Doubled,
    "broken-threshold-doubled",
    "thresholds by the exponential mechanism at twice the rate",
)
ThresholdSupport = control(
    ThresholdExponential,
    Support,
    "broken-threshold-support",
    "thresholds by the exponential mechanism over a data-dependent range",
    TWO,
)
ThresholdShortcut = control(
    ThresholdExponential,
    Shortcut,
    "broken-threshold-shortcut",
    "thresholds by the exponential mechanism, but consistent ones first",
)
ThresholdFrozen = control(
    ThresholdExponential,
    Frozen,
    "broken-threshold-frozen",
    "thresholds by the exponential mechanism with noise drawn once and for all",
)

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
