"""Exponential mechanisms over points and thresholds with one known leak each."""

from __future__ import annotations

from dpaudit.contract import Instance
from learners.controls import DOUBLED, FROZEN, SHORTCUT, SUPPORT, control
from learners.points.exponential import PointExponential, ThresholdExponential

TWO = Instance({"domain_size": 4, "epsilon": 1.0}, n=2)

LEARNERS = (
    control(PointExponential, "broken-point-doubled", **DOUBLED),
    control(PointExponential, "broken-point-support", TWO, **SUPPORT),
    control(PointExponential, "broken-point-shortcut", **SHORTCUT),
    control(PointExponential, "broken-point-frozen", **FROZEN),
    control(ThresholdExponential, "broken-threshold-doubled", **DOUBLED),
    control(ThresholdExponential, "broken-threshold-support", TWO, **SUPPORT),
    control(ThresholdExponential, "broken-threshold-shortcut", **SHORTCUT),
    control(ThresholdExponential, "broken-threshold-frozen", **FROZEN),
)
