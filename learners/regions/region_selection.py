"""The exponential mechanism on regions of a grid; where they are listed, with exact measures, one for a labelling."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpaudit.contract import Hypothesis, Law, PrivacyClaim, Sample, Supremum, UtilityClaim
from learners.arrays import Bools, Floats, Integers
from learners.citations import KMMS
from learners.domains import grid_rows
from learners.finite.exponential import softmax_supremum
from learners.mechanisms.log_laws import ULP
from learners.parameters import check_integer, check_positive, check_run, check_sample, check_statement
from learners.regions.kinds import Regions
from learners.regions.planar.families import Family

__all__ = ["ListedSelection", "RegionSelection", "log_total"]


def log_total(logs: Floats) -> float:
    """Return the logarithm of the sum of exp(logs)."""
    finite = logs[np.isfinite(logs)]
    top = float(finite.max())
    return top + math.log(math.fsum(np.exp(finite - top)))


@dataclass(frozen=True)
class RegionSelection(Regions):
    """Select a region with density proportional to exp(rate q) with respect to a measure.

    q is the number of examples that it labels correctly; replacing one example moves it by at most 1. With probability
    1 - b over the coins q >= max q - (V + ln(1/b))/rate; see `regions.kinds.Regions` for V and D.
    """

    side: int
    epsilon: float

    _statement: ClassVar[tuple[str, str]]
    """Id and place of the utility claim."""

    def __post_init__(self) -> None:
        check_integer("side", self.side, 1, self._most_side)
        check_positive("epsilon", self.epsilon)

    @property
    def _rate(self) -> float:
        return self.epsilon / 2

    def _eligible(self, correct: Integers) -> Bools | None:
        """Return which regions may be chosen, given their scores; None for all. Controls override it."""
        return None

    def sample_size(self, alpha: float, beta: float) -> int:
        """Return ceil(max((8/alpha) (D + ln(2/beta)), (2/(alpha rate)) (V + ln(2/beta)))).

        The second term makes the empirical error at most alpha/2 with probability 1 - beta/2 over the coins. The first
        excludes, by the multiplicative Chernoff bound, that one of the at most e^D labellings of the grid with error
        above alpha has empirical error at most alpha/2.
        """
        check_statement(alpha, beta)
        union = 8 / alpha * (self._log_behaviours + math.log(2 / beta))
        coins = 2 / (alpha * self._rate) * (self._log_ratio + math.log(2 / beta))
        return math.ceil(max(union, coins))

    def utility(self, alpha: float, beta: float) -> UtilityClaim:
        """Return the claim Pr[error > alpha] <= beta in the realizable case; see `sample_size`."""
        size, (claim, place) = self.sample_size(alpha, beta), self._statement
        return UtilityClaim(alpha, beta, size, "realizable", claim, f"{KMMS}, {place}")


class ListedSelection(RegionSelection):
    """Select a labelling of the grid by a region, with the measure of all regions that give it; rate = epsilon/2."""

    _place: ClassVar[str]

    @property
    def privacy(self) -> PrivacyClaim:
        """Pure epsilon-differential privacy under replacement."""
        return PrivacyClaim(self.epsilon, claim_id="KMMS-Prop2.5", source=f"{KMMS}, Proposition 2.5 and {self._place}")

    def _log_base(self, family: Family, sample: Sample) -> Floats:
        """Return the logarithms of the measures of the labellings; controls override it."""
        return family.log_shares

    def _log_weights(self, family: Family, sample: Sample) -> tuple[Floats, float]:
        """Return ln weight of each labelling, and the greatest exponent rate (max q - q)."""
        agree = family.labels[:, grid_rows(sample.points, self.side)] == sample.labels
        right = agree.astype(np.int64) @ sample.counts
        eligible = self._eligible(right)
        best = right.max() if eligible is None else right[eligible].max()
        logs = self._rate * (right - best) + self._log_base(family, sample)
        return (logs if eligible is None else np.where(eligible, logs, -np.inf)), self._rate * float(best - right.min())

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> Integers | list[Any]:
        """Return the numbers of the labellings that independent runs select."""
        check_run(sample, self.domain, size)
        logs, _ = self._log_weights(self._listed(), sample)
        cumulative = np.cumsum(np.exp(logs - logs.max()))
        # A uniform number that rounds up to the total belongs to the last labelling with positive weight.
        last = int(np.searchsorted(cumulative, cumulative[-1]))
        places = np.searchsorted(cumulative, rng.random(size) * cumulative[-1], side="right")
        return np.asarray(np.minimum(places, last), dtype=np.int64)

    def law(self, sample: Sample) -> Law:
        """Return the law on the labellings.

        ln Pr = ln share + rate (q - max q) - ln Z. With u = 2^-53, x the greatest exponent, w the greatest |ln share|
        and K labellings, each ln share is off by at most u (4 w + 4), each sum by 3 u (x + w) more; ln Z inherits this
        and adds 9 u + u (8 ln K + 8 (x + w)) at most, the last subtraction u (x + w + ln K). In all at most
        2^-52 (8 x + 16 w + 8 ln K + 16).
        """
        check_sample(sample, self.domain)
        family = self._listed()
        logs, spread = self._log_weights(family, sample)
        width = float(np.abs(self._log_base(family, sample)).max())
        error = ULP * (8 * spread + 16 * width + 8 * math.log(len(family)) + 16)
        return Law(range(len(family)), logs - log_total(logs), error)

    def supremum(self) -> Supremum | None:
        """Return the supremum, epsilon; see `finite.exponential.softmax_supremum` for the proof."""
        return softmax_supremum(self.domain, self._listed().labels, self._rate)

    def decode(self, code: Any) -> Hypothesis:
        """Return the region of a labelling."""
        family = self._listed()
        check_integer("code", code, 0, len(family) - 1)
        return self._region(family.regions[int(code)])
