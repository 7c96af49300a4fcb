"""Learners of halfspaces on a grid: where their points live, and the class that they learn."""

from __future__ import annotations

from learners.domains import Grid
from learners.halfspaces.concepts import Halfspaces

__all__ = ["HalfspacesOnAGrid"]


class HalfspacesOnAGrid:
    """A learner whose examples are points of the grid {0 .. side}^dimension."""

    side: int
    dimension: int

    @property
    def domain(self) -> Grid:
        """The grid {0 .. side}^dimension."""
        return Grid(self.side, self.dimension)

    @property
    def concepts(self) -> Halfspaces:
        """All halfspaces on the grid."""
        return Halfspaces(self.side, self.dimension)
