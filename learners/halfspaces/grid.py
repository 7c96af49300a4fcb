"""Learners of halfspaces on a grid: where their points live, and the class that they learn."""

from __future__ import annotations

from learners.domains import OnAGrid
from learners.halfspaces.concepts import Halfspaces

__all__ = ["HalfspacesOnAGrid"]


class HalfspacesOnAGrid(OnAGrid):
    """A learner of halfspaces on the grid {0 .. side}^dimension."""

    @property
    def concepts(self) -> Halfspaces:
        """All halfspaces on the grid."""
        return Halfspaces(self.side, self.dimension)
