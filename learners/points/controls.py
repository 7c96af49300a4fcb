"""Exponential mechanisms over points and thresholds with one known leak each."""

from __future__ import annotations

from dpaudit.contract import Instance

from ..controls import DOUBLED, FROZEN, SHORTCUT, SUPPORT, controls
from .exponential import PointExponential, ThresholdExponential

SEEN = SUPPORT.shown(Instance({"domain_size": 4, "epsilon": 1.0}, n=2))

LEARNERS = (
    *controls(PointExponential, "point", doubled=DOUBLED, support=SEEN, shortcut=SHORTCUT, frozen=FROZEN),
    *controls(ThresholdExponential, "threshold", doubled=DOUBLED, support=SEEN, shortcut=SHORTCUT, frozen=FROZEN),
)
