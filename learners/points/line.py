"""Learners on the line {0 .. domain_size - 1}: their domain, and the class that they learn."""

from __future__ import annotations

from learners.domains import OnALine
from learners.points.concepts import Points
from learners.points.threshold_class import Threshold, Thresholds

__all__ = ["PointsOnALine", "ThresholdsOnALine"]


class PointsOnALine(OnALine):
    """A learner of point functions; code i is c_i."""

    @property
    def concepts(self) -> Points:
        """All point functions."""
        return Points(self.domain_size)


class ThresholdsOnALine(OnALine):
    """A learner of thresholds; code j is c_j."""

    @property
    def concepts(self) -> Thresholds:
        """All thresholds."""
        return Thresholds(self.domain_size)

    def decode(self, code: int) -> Threshold:
        """Return c_code."""
        return self.concepts.concept(code)
