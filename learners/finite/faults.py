"""Faults of exponential mechanisms, to be mixed into any learner of a finite class."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from dpaudit.contract import Instance, Law, Sample
from learners.arrays import Bools, Integers
from learners.controls import control
from learners.finite.exponential import ExponentialLearner
from learners.finite.scores import point_law, scores
from learners.inputs import check_run, check_sample

__all__ = ["Doubled", "Frozen", "Shortcut", "Support", "exponential_controls"]

GOLDEN = (math.sqrt(5) - 1) / 2


class Doubled(ExponentialLearner):
    """Weights exp(epsilon q)."""

    fault: ClassVar[str] = "weights exp(epsilon q) instead of exp(epsilon q / 2): up to twice the claimed epsilon"

    @property
    def _rate(self) -> float:
        return self.epsilon


class Support(ExponentialLearner):
    """Output range taken from the data."""

    fault: ClassVar[str] = "returns only concepts that label some example correctly: the support shows the sample"

    def _eligible(self, sample: Sample, correct: Integers) -> Bools | None:
        return correct > 0 if (correct > 0).any() else None


class Shortcut(ExponentialLearner):
    """Consistent concepts first."""

    fault: ClassVar[str] = "chooses among the consistent concepts alone whenever there are any: consistency shows"

    def _eligible(self, sample: Sample, correct: Integers) -> Bools | None:
        return correct == sample.n if (correct == sample.n).any() else None


class Frozen(ExponentialLearner):
    """The same noise in every run."""

    fault: ClassVar[str] = "noise is the same in every run: the answer is a function of the sample"

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> Integers:
        """Return `size` times the concept with the greatest score plus frozen Gumbel noise."""
        check_run(sample, self.domain, size)
        correct = scores(self.concepts, sample)
        uniform = (np.arange(1, len(correct) + 1) * GOLDEN) % 1
        noisy = self._rate * (correct - correct.max()) - np.log(-np.log(uniform))
        return np.full(size, noisy.argmax(), dtype=np.int64)

    def law(self, sample: Sample) -> Law:
        """Return all mass on the concept that wins a duel with every other one."""
        check_sample(sample, self.domain)
        labels = self.concepts.evaluate(sample.points)
        best, champion = -math.inf, 0
        for code, row in enumerate(labels):
            wrong = int(sample.counts[row != sample.labels].sum())
            value = -self._rate * wrong - math.log(-math.log((code + 1) * GOLDEN % 1))
            if value > best:
                best, champion = value, code
        return point_law(range(self.concepts.size), champion)

    def symmetries(self) -> list[Integers]:
        """Return no symmetry: the frozen noise prefers some concepts."""
        return []


_LEAKS: dict[type[ExponentialLearner], tuple[str, str]] = {
    Doubled: ("doubled", " at twice the rate"),
    Support: ("support", " over a data-dependent range"),
    Shortcut: ("shortcut", ", but consistent ones first"),
    Frozen: ("frozen", " with noise drawn once and for all"),
}
"""The end of a control's id, and of its summary, by its fault."""


def exponential_controls(
    module: str, base: type[Any], name: str, concepts: str, support: Instance, *, frozen: bool = False
) -> tuple[type[Any], ...]:
    """Return the controls of an exponential mechanism: its rate, its range and its choice at fault, or its noise too.

    Parameters
    ----------
    module : str
        Where they are assigned to names; see `controls.control`.
    base : type
        The sound learner.
    name, concepts : str
        The ids are broken-NAME-doubled, ...; the concepts in words.
    support : Instance
        The small instance on which the range shows the sample; the other leaks show on the learner's own.
    frozen : bool
        Whether there is a control whose noise is the same in every run.
    """
    return tuple(
        control(
            base,
            fault,
            f"broken-{name}-{leak}",
            f"{concepts} by the exponential mechanism{summary}",
            support if fault is Support else None,
            module=module,
        )
        for fault, (leak, summary) in _LEAKS.items()
        if frozen or fault is not Frozen
    )
