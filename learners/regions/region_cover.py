"""The Set Cover Learner over regions of a grid: polygons, polytopes and their unions, and discs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Hypothesis, later
from learners.arrays import Floats, Labels
from learners.covers.rounds import RoundedNoise
from learners.covers.set_cover import SetCoverLearner
from learners.domains import grid_rows
from learners.parameters import check_integer
from learners.regions.kinds import Regions
from learners.regions.polygon_class import Intersection, Union

__all__ = ["RegionCover"]


@dataclass(frozen=True)
class RegionCover(Regions, SetCoverLearner):
    """Cover the examples of one label by regions that spare those of the other; see `covers.set_cover`.

    The noise is rounded up: b = R + ceil(Lap(J/epsilon) - (J/epsilon) ln(J/beta)), as exact samplers need. The output
    is the whole sequence h_1 .. h_J: where the regions are listed, the number sum h_j size^(j-1);
    otherwise a tuple of regions.

    Utility. With probability 1 - g every round's q is within lam = (2/eps_hat)(V + ln(J/g)) of the best, and there are
    at most exp(J D) outputs; see `regions.kinds.Regions` for V and D.

    Parameters
    ----------
    side : int
        d of the grid {0 .. d}^2 or {0 .. d}^3.
    k, epsilon, delta, alpha, beta, variant, budget
        See `covers.set_cover.SetCoverLearner`.
    """

    side: int
    k: int
    epsilon: float
    delta: float
    alpha: float
    beta: float
    variant: str = "paper"
    budget: str = later("paper")

    _noise_type = RoundedNoise
    _paper_claim: ClassVar[tuple[str, str]] = ("KMMS-Claim4.3", "Claim 4.3 with the constant of Claim 3.4")

    def __post_init__(self) -> None:
        check_integer("side", self.side, 1, self._most_side)
        check_integer("k", self.k, 1, 2**10)
        super().__post_init__()

    @property
    def _steps(self) -> int:
        return self.k

    @property
    def _sets(self) -> int:
        return len(self._listed())

    @property
    def _log_measures(self) -> Floats:
        return self._listed().log_shares

    def _cover(self, points: NDArray[Any]) -> Labels:
        labels = self._listed().labels[:, grid_rows(points, self.side)].T
        return labels if self._covered_label else np.asarray(1 - labels, dtype=np.uint8)

    def decode(self, code: Any) -> Hypothesis:
        """Return the intersection, or the union, of the regions selected."""
        regions = self._listed().regions
        return self._join(tuple(self._region(regions[member]) for member in self._selected(code)))

    def _join(self, members: tuple[Hypothesis, ...]) -> Hypothesis:
        return Union(members) if self._covered_label else Intersection(members)
