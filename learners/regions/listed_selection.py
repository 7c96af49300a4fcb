"""The exponential mechanism on listed regions of a grid with exact measures, one region a labelling."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Law, PrivacyClaim, Sample
from learners.mechanisms.log_laws import ULP
from learners.regions.halfplanes import KMMS
from learners.regions.planar.families import Family

__all__ = ["ListedSelection", "grid_rows"]

Floats = NDArray[np.float64]


def grid_rows(sample: Sample, side: int) -> NDArray[np.int64]:
    """Return the rows of the sample's points in the lexicographic order of the grid, of any dimension."""
    rows = np.zeros(len(sample.points), dtype=np.int64)
    for column in sample.points.T:
        rows = rows * (side + 1) + column.astype(np.int64)
    return rows


class ListedSelection:
    """A base of frozen dataclasses with the fields side and epsilon.

    A labelling is drawn with probability proportional to its measure times exp(epsilon q / 2), q the number of examples
    that it labels correctly; replacing one example moves q by at most 1.
    """

    side: int
    epsilon: float

    _place: ClassVar[str]

    @property
    def privacy(self) -> PrivacyClaim:
        """Pure epsilon-differential privacy under replacement."""
        return PrivacyClaim(self.epsilon, claim_id="KMMS-Prop2.5", source=f"{KMMS}, Proposition 2.5 and {self._place}")

    @property
    def _rate(self) -> float:
        return self.epsilon / 2

    def _eligible(self, correct: NDArray[np.int64]) -> NDArray[np.bool_] | None:
        """Return which listed triangles may be chosen; None for all. Controls override it."""
        return None

    def _log_base(self, family: Family, sample: Sample) -> Floats:
        """Return the logarithms of the measures of the listed triangles; controls override it."""
        return family.log_shares

    def _log_weights(self, family: Family, sample: Sample) -> tuple[Floats, float]:
        """Return ln weight of each listed triangle, and the greatest exponent rate (max q - q)."""
        right = (family.labels[:, grid_rows(sample, self.side)] == sample.labels).astype(np.int64) @ sample.counts
        eligible = self._eligible(right)
        best = right.max() if eligible is None else right[eligible].max()
        logs = self._rate * (right - best) + self._log_base(family, sample)
        return (logs if eligible is None else np.where(eligible, logs, -np.inf)), self._rate * float(best - right.min())

    def _run_listed(self, family: Family, sample: Sample, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
        """Return the numbers of the labellings drawn."""
        logs, _ = self._log_weights(family, sample)
        cumulative = np.cumsum(np.exp(logs - logs.max()))
        # A uniform number that rounds up to the total belongs to the last labelling with positive weight.
        last = int(np.searchsorted(cumulative, cumulative[-1]))
        places = np.searchsorted(cumulative, rng.random(size) * cumulative[-1], side="right")
        return np.asarray(np.minimum(places, last), dtype=np.int64)

    def _listed_law(self, family: Family, sample: Sample) -> Law:
        """Return the law on the labellings.

        ln Pr = ln share + rate (q - max q) - ln Z. With u = 2^-53, x the greatest exponent, w the greatest |ln share|
        and K labellings, each ln share is off by at most u (4 w + 4), each sum by 3 u (x + w) more; ln Z inherits this
        and adds 9 u + u (8 ln K + 8 (x + w)) at most, the last subtraction u (x + w + ln K). In all at most
        2^-52 (8 x + 16 w + 8 ln K + 16).
        """
        logs, spread = self._log_weights(family, sample)
        finite = logs[np.isfinite(logs)]
        top = float(finite.max())
        total = top + math.log(math.fsum(np.exp(finite - top)))
        width = float(np.abs(self._log_base(family, sample)).max())
        return Law(range(len(family)), logs - total, ULP * (8 * spread + 16 * width + 8 * math.log(len(family)) + 16))
