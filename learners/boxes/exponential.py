"""Axis-parallel boxes by the exponential mechanism over all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit.contract import Instance, Sample
from learners.arrays import Integers
from learners.boxes.base import BoxLearner
from learners.boxes.cells import BoxCells
from learners.citations import STE
from learners.finite.counting import as_codes
from learners.finite.exponential import ExponentialLearner
from learners.inputs import check_run
from learners.mechanisms import equal_scores
from learners.parameters import check_positive

__all__ = ["LEARNERS", "BoxExponential"]


@dataclass(frozen=True)
class BoxExponential(BoxLearner, ExponentialLearner):
    """Learn boxes by the exponential mechanism over all of them and the empty one, score = examples labelled correctly.

    `run` never lists the boxes: it draws a cell of boxes that label the sample alike, exactly by the number of its
    boxes times exp(epsilon score/2), and a box of the cell uniformly. With c_i distinct coordinates of examples on axis
    i, that takes time and memory O(prod c_i^2), whatever the side (see `boxes.cells`). `law` lists all boxes. In the
    sample sizes ln|C| is at most 2 d ln(side + 1).

    Parameters
    ----------
    side, dimension : int
        Of the grid {0 .. side}^dimension.
    epsilon : float
        The privacy claim, > 0.
    """

    side: int
    dimension: int
    epsilon: float

    id: ClassVar[str] = "box-exponential"
    claim_id: ClassVar[str] = "STE-ExpRec"
    source: ClassVar[str] = f"{STE}, the exponential mechanism"
    instance: ClassVar[Instance] = Instance({"side": 1, "dimension": 2, "epsilon": 1.0}, n=3)

    def __post_init__(self) -> None:
        _ = self.concepts
        check_positive("epsilon", self.epsilon)

    def _cells(self, sample: Sample) -> tuple[BoxCells, list[int]]:
        """Return the cells, and those that may be returned and have boxes."""
        cells = BoxCells(sample, self.side, self.dimension)
        eligible = self._eligible(sample, cells.scores)
        allowed = np.ones(len(cells.sizes), dtype=np.bool_) if eligible is None else eligible
        return cells, [i for i, size in enumerate(cells.sizes) if size and allowed[i]]

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> Integers | list[int]:
        """Return the codes of `size` independent runs; a list of integers where there are more than 2^63 boxes."""
        check_run(sample, self.domain, size)
        cells, kept = self._cells(sample)
        drawn = equal_scores.draw([cells.sizes[i] for i in kept], cells.scores[kept], self._rate, rng, size)
        codes = []
        for pick in drawn:
            sides = cells.draw_in(kept[pick], rng)
            codes.append(0 if sides is None else self.concepts.number([a for a, _ in sides], [b for _, b in sides]))
        return as_codes(codes, self.concepts.size)


LEARNERS = (BoxExponential,)
