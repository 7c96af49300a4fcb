"""The tightest box around the positive examples; not private."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit.contract import Instance, Law, Sample
from learners.arrays import Integers
from learners.boxes.concepts import Boxes
from learners.citations import STE
from learners.domains import moving_negatives
from learners.finite.consistent import ConsistentLearner, occam_sample_size
from learners.finite.counting import check_law_size, point_law
from learners.parameters import check_sample

__all__ = ["LEARNERS", "BoxTightest"]


@dataclass(frozen=True)
class BoxTightest(ConsistentLearner):
    """Return the tightest box around the positive examples, the empty one if there are none. Not private.

    If a box labels the sample, the answer lies inside it and errs on unseen positive points alone. Cut from the target,
    at each of its 2 d faces, the thinnest slab with probability at least alpha/(2 d): if the sample meets all slabs,
    the error is below alpha, so Pr[error > alpha] <= 2 d (1 - alpha/(2 d))^n and n >= (2 d/alpha) ln(2 d/beta)
    suffices; so does (ln|C| + ln(1/beta))/alpha. The smaller is claimed.

    Parameters
    ----------
    side : int
        d of the grid {0 .. d}^dimension, at least 1.
    dimension : int
        At least 1.
    """

    side: int
    dimension: int

    id: ClassVar[str] = "box-tightest"
    instance: ClassVar[Instance] = Instance({"side": 2, "dimension": 2}, n=3)
    claim_id: ClassVar[str] = "STE-BoxTight"
    source: ClassVar[str] = f"{STE}, boxes without privacy"

    @property
    def concepts(self) -> Boxes:
        """All boxes, and the empty one."""
        return Boxes(self.side, self.dimension)

    def _choose(self, sample: Sample) -> int:
        positive = sample.points[sample.labels == 1]
        if not len(positive):
            return 0
        return self.concepts.number([int(v) for v in positive.min(axis=0)], [int(v) for v in positive.max(axis=0)])

    def law(self, sample: Sample) -> Law:
        """Return all mass on one box: of all that hold the positive points the one with the fewest points."""
        check_sample(sample, self.domain)
        check_law_size(self.concepts)
        labels = self.concepts.evaluate(np.concatenate([sample.points[sample.labels == 1], self.domain.points()]))
        inner = len(labels[0]) - self.domain.size
        holding = labels[:, :inner].all(axis=1)
        volumes = np.where(holding, labels[:, inner:].sum(axis=1, dtype=np.int64), self.domain.size + 1)
        return point_law(range(self.concepts.size), int(volumes.argmin()))

    def sample_size(self, alpha: float, beta: float) -> int:
        """Return the smaller of ceil((2 d/alpha) ln(2 d/beta)) and ceil((ln|C| + ln(1/beta))/alpha)."""
        faces = 2 * self.dimension
        occam = occam_sample_size(math.log(self.concepts.size), alpha, beta)
        return min(occam, math.ceil(faces / alpha * math.log(faces / beta)))

    def symmetries(self) -> list[Integers]:
        """Return those of the grid, and the permutations of the negative examples, which the learner ignores."""
        return [*self.concepts.symmetries(), *moving_negatives(self.domain.size)]


LEARNERS = (BoxTightest,)
