"""Exponential mechanisms over points and thresholds with one known leak each."""

from __future__ import annotations

from dpaudit.contract import Instance
from learners.finite.faults import exponential_controls
from learners.points.exponential import PointExponential, ThresholdExponential

__all__ = ["LEARNERS"]

TWO = Instance({"domain_size": 4, "epsilon": 1.0}, n=2)

POINTS = PointDoubled, PointSupport, PointShortcut, PointFrozen = exponential_controls(
    __name__, PointExponential, "point", "points", TWO, frozen=True
)
THRESHOLDS = ThresholdDoubled, ThresholdSupport, ThresholdShortcut, ThresholdFrozen = exponential_controls(
    __name__, ThresholdExponential, "threshold", "thresholds", TWO, frozen=True
)

LEARNERS = (*POINTS, *THRESHOLDS)
