"""Checks of randomness and state, as data: the question, the answer, and the runs that it took.

Words are made from a check in `report.evidence` and nowhere else.
"""

from __future__ import annotations

import enum

from dpaudit.record import Count, Frozen

__all__ = ["Answer", "Check", "CheckName"]


class CheckName(enum.StrEnum):
    """The question that a check asks of a mechanism."""

    INPUTS = "inputs"
    """Whether runs leave their inputs as they are."""
    GENERATOR = "generator"
    """Whether all randomness comes from the generator that is passed."""
    SEED = "seed"
    """Whether different generators give different outputs."""
    STATE = "state"
    """Whether outputs depend on earlier calls: their order or their number."""
    CLOCK = "clock"
    """Whether outputs depend on the time of day."""
    PROCESS = "process"
    """Whether outputs depend on the id of the process."""
    WORKERS = "workers"
    """Whether workers repeat each other's streams."""


class Answer(enum.StrEnum):
    """The answer of a check; all but the first two are findings against the mechanism."""

    PASSED = "passed"
    NOT_ASKED = "not asked"
    """Another answer, or what was declared, leaves nothing to ask."""
    GLOBAL = "global generator"
    """Equal generators gave equal outputs only where the global ones were set back too: a warning."""
    TIME = "seeded by the clock"
    """Equal generators gave equal outputs only while the clock stood still: a warning."""
    OWN = "own randomness"
    """Equal generators gave different outputs, and were not used: a warning."""
    DEPENDS = "depends"
    """The outputs depend on what they must not depend on: it makes an audit meaningless."""


class Check(Frozen, frozen=True):
    """One check of a mechanism's randomness or state.

    Attributes
    ----------
    name : CheckName
        The question.
    answer : Answer
        The answer.
    runs : int
        Runs that it took, on both sides together; a run that serves several checks counts with the first of them.
    """

    name: CheckName
    answer: Answer
    runs: Count

    @property
    def meaningless(self) -> bool:
        """Whether the answer makes the audit meaningless."""
        return self.answer == Answer.DEPENDS

    @property
    def passed(self) -> bool:
        """Whether there is nothing to tell."""
        return self.answer in (Answer.PASSED, Answer.NOT_ASKED)
