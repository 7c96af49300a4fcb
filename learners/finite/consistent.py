"""Consistent learners of any finite class; they are not private.

A third party learns its own class by deriving a frozen dataclass from `ConsistentLearner` that has the properties
`domain` and `concepts`.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from dpaudit.contract import FAIL, Law, PrivacyClaim, Sample, UtilityClaim

from ..arrays import Integers
from ..citations import NIS
from ..parameters import check_run, check_sample, check_setting, check_statement
from .counting import ClassLearner, check_law_size, point_law, scores


def occam_sample_size(log_size: float, alpha: float, beta: float) -> int:
    """Return ceil((ln|C| + ln(1/beta)) / alpha): enough for any consistent learner.

    A hypothesis with error above alpha is consistent with n examples with probability at most
    (1 - alpha)^n <= e^(-alpha n); there are at most |C| of them.
    """
    check_statement(alpha, beta)
    return math.ceil((log_size - math.log(beta)) / alpha)


class ConsistentLearner(ClassLearner):
    """Return the first concept that is consistent with the sample, `FAIL` if there is none. Not private.

    If the sample is labelled by a concept of the class and n >= (ln|C| + ln(1/beta)) / alpha, then
    Pr[error > alpha] <= beta. Codes are the concepts' numbers.
    """

    claim_id: ClassVar[str] = "NIS-Occam"
    source: ClassVar[str] = f"{NIS}, Occam's razor"
    settings: ClassVar[tuple[str, ...]] = ("realizable", "empirical")

    def __post_init__(self) -> None:
        _ = self.concepts

    @property
    def privacy(self) -> PrivacyClaim | None:
        """No claim: the output can change with certainty when one example does."""
        return None

    def _choose(self, sample: Sample) -> int:
        consistent = scores(self.concepts, sample) == sample.n
        return int(consistent.argmax()) if consistent.any() else FAIL

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> Integers | list[int]:
        """Return the same code `size` times; a list of integers where there are more than 2^63 concepts."""
        check_run(sample, self.domain, size)
        code = self._choose(sample)
        return np.full(size, code, dtype=np.int64) if self.concepts.size <= 2**63 else [code] * size

    def law(self, sample: Sample) -> Law:
        """Return the law on `FAIL` and all concepts: all mass on the first row of labels that equals the sample's."""
        check_sample(sample, self.domain)
        check_law_size(self.concepts)
        labels = self.concepts.evaluate(sample.points)
        equal = np.flatnonzero((labels == sample.labels).all(axis=1))
        return point_law(range(FAIL, self.concepts.size), int(equal[0]) if len(equal) else FAIL)

    def sample_size(self, alpha: float, beta: float) -> int:
        """Return ceil((ln|C| + ln(1/beta)) / alpha); see `occam_sample_size`."""
        return occam_sample_size(math.log(self.concepts.size), alpha, beta)

    def utility(self, alpha: float, beta: float, setting: str = "realizable") -> UtilityClaim:
        """Return the claim Pr[error > alpha] <= beta, in the setting "realizable" or "empirical" (at any n)."""
        check_setting(setting, self.settings)
        size = self.sample_size(alpha, beta) if setting == "realizable" else 1
        return UtilityClaim(alpha, beta, size, setting, self.claim_id, self.source)

    def symmetries(self) -> list[Integers]:
        """Return no symmetry: which concept is the first is not symmetric in general."""
        return []
