"""Consistent learners of any finite class; they are not private.

A third party learns its own class by deriving a frozen dataclass from `ConsistentLearner` that says its `domain` and
its `concepts`.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from dpaudit.contract import (
    FAIL,
    ConceptClass,
    Domain,
    Hypothesis,
    Law,
    PrivacyClaim,
    Sample,
    UtilityClaim,
)
from learners.arrays import Integers
from learners.citations import NIS
from learners.finite.counting import check_law_size, point_law, scores
from learners.parameters import check_run, check_sample, check_setting, check_statement

__all__ = ["ConsistentLearner", "Deterministic", "consistent_size", "occam_sample_size"]


def occam_sample_size(log_size: float, alpha: float, beta: float) -> int:
    """Return ceil((ln|C| + ln(1/beta)) / alpha): enough for any consistent learner.

    A hypothesis with error above alpha is consistent with n examples with probability at most
    (1 - alpha)^n <= e^(-alpha n); there are at most |C| of them.
    """
    check_statement(alpha, beta)
    return math.ceil((log_size - math.log(beta)) / alpha)


def consistent_size(realizable: int, setting: str) -> int:
    """Return the sample size of a consistent learner: `realizable` examples, or 1 where the error is on the sample."""
    check_setting(setting, ("realizable", "empirical"))
    return realizable if setting == "realizable" else 1


class Deterministic:
    """A learner whose answer is a function of the sample: one run is like another, and no privacy is claimed."""

    @property
    def domain(self) -> Domain:
        """The domain of the points."""
        raise NotImplementedError("a learner says its domain")

    @property
    def privacy(self) -> PrivacyClaim | None:
        """No claim: the output can change with certainty when one example does."""
        return None

    def _choose(self, sample: Sample) -> int:
        """Return the code of the answer."""
        raise NotImplementedError("a deterministic learner chooses")

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> Integers | list[int]:
        """Return the same code `size` times."""
        check_run(sample, self.domain, size)
        return np.full(size, self._choose(sample), dtype=np.int64)


class ConsistentLearner(Deterministic):
    """Return the first concept that is consistent with the sample, `FAIL` if there is none. Not private.

    If the sample is labelled by a concept of the class and n >= (ln|C| + ln(1/beta)) / alpha, then
    Pr[error > alpha] <= beta. Codes are the concepts' numbers.
    """

    claim_id: ClassVar[str] = "NIS-Occam"
    source: ClassVar[str] = f"{NIS}, Occam's razor"
    settings: ClassVar[tuple[str, ...]] = ("realizable", "empirical")

    @property
    def concepts(self) -> ConceptClass:
        """The class that it learns."""
        raise NotImplementedError("a consistent learner says its concepts")

    def _choose(self, sample: Sample) -> int:
        consistent = scores(self.concepts, sample) == sample.n
        return int(consistent.argmax()) if consistent.any() else FAIL

    def decode(self, code: int) -> Hypothesis | None:
        """Return the concept with that number, None for `FAIL`."""
        return None if code == FAIL else self.concepts.concept(code)

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
        size = consistent_size(self.sample_size(alpha, beta), setting)
        return UtilityClaim(alpha, beta, size, setting, self.claim_id, self.source)

    def symmetries(self) -> list[Integers]:
        """Return no symmetry: which concept is the first is not symmetric in general."""
        return []
