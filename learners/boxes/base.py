"""Learners of axis-parallel boxes: their domain, class, codes and symmetries."""

from __future__ import annotations

from learners.arrays import Integers
from learners.boxes.concepts import Box, Boxes
from learners.domains import OnAGrid, grid_rows
from learners.symmetries import moving_points

__all__ = ["BoxLearner"]


class BoxLearner(OnAGrid):
    """A learner of boxes; codes are the numbers of `boxes.concepts.Boxes`, 0 the empty box."""

    @property
    def concepts(self) -> Boxes:
        """All boxes, and the empty one."""
        return Boxes(self.side, self.dimension)

    def decode(self, code: int) -> Box:
        """Return the box with that number."""
        return self.concepts.concept(code)

    def symmetries(self) -> list[Integers]:
        """Return the reflection of the first axis, and its exchanges with the others."""
        points = self.domain.points()
        images = [points.copy()]
        images[0][:, 0] = self.side - points[:, 0]
        for i in range(1, self.dimension):
            order = [i, *range(1, i), 0, *range(i + 1, self.dimension)]
            images.append(points[:, order])
        return [moving_points(grid_rows(image, self.side)) for image in images]
