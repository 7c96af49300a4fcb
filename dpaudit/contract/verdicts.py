"""Verdicts, each with its word and its gravity, and grades of evidence.

There are four vocabularies: of privacy, of utility, of the statements of papers, and of tasks. Marks,
colours and levels stand with the format that shows them, and exit statuses in `dpaudit.contract.statuses`.
"""

from __future__ import annotations

import enum
from typing import Self

__all__ = [
    "ACCUSATIONS",
    "EVERY_VERDICT",
    "OF_CHECKS",
    "OF_LAWS",
    "OF_PRIVACY",
    "OF_SENSITIVITY",
    "OF_STATEMENTS",
    "OF_UTILITY",
    "Constants",
    "Direction",
    "Grade",
    "Part",
    "PrivacyVerdict",
    "StatementVerdict",
    "Support",
    "Survives",
    "TaskVerdict",
    "UtilityVerdict",
    "Verdict",
]

NEEDS_LOOK = 2
"""The least gravity of a verdict that somebody should look at."""


class Verdict(str):
    """Base of the verdicts of every vocabulary: equal words of two of them are equal.

    The meaning of each stands in `report.glossary`; of the classes of statements, in `report.ledger`.

    Attributes
    ----------
    gravity : int
        A change to a verdict of larger gravity is a change for the worse.
    """

    gravity: int

    # A vocabulary called with a word alone looks its member up, and makes none.
    def __new__(cls, word: str, gravity: int = 0) -> Self:
        """Return the member that equals its word."""
        if cls is Verdict:
            raise TypeError("a verdict is of one of the four vocabularies: Verdict.of(word) looks it up")
        member = str.__new__(cls, word)
        member.gravity = gravity
        # What enumerations, and with them stored records, have as the value of a member.
        member._value_ = word  # type: ignore[attr-defined]
        return member

    @property
    def word(self) -> str:
        """The verdict as a plain text."""
        return str(self)

    @property
    def needs_look(self) -> bool:
        """Whether it is refuted, missed, accepted or left open."""
        return self.gravity >= NEEDS_LOOK

    @property
    def rank(self) -> int:
        """Its place among all verdicts: of several, the first one speaks for all."""
        return EVERY_VERDICT.index(self)

    @staticmethod
    def of(word: str) -> Verdict:
        """Return the verdict that a word stands for.

        Raises
        ------
        ValueError
            If no vocabulary has the word.
        """
        # Equal words of two vocabularies are equal, and the first one stands for both.
        for verdict in EVERY_VERDICT:
            if verdict == word:
                return verdict
        raise ValueError(f"Invalid verdict {word!r:.60}")


class PrivacyVerdict(Verdict, enum.ReprEnum):
    """The verdict on a claim of privacy or of sensitivity."""

    VIOLATION = "violation", 5
    CONSISTENT = "consistent", 0
    NOT_REFUTED = "not refuted", 0
    """Of a sensitivity, which no number of pairs proves."""
    NO_EVIDENCE = "no evidence", 2


class UtilityVerdict(Verdict, enum.ReprEnum):
    """The verdict on a claim of utility, or on the growth of a sample complexity."""

    VIOLATION = "violation", 5
    UNDECIDED = "undecided", 2
    HOLDS = "holds", 0
    NOT_REFUTED = "not refuted", 0
    """Of the growth of a sample complexity."""
    VACUOUS = "vacuous", 1


class StatementVerdict(Verdict, enum.ReprEnum):
    """The find of a check, or the class of a statement of a paper."""

    REFUTED = "refuted", 5
    FALSE = "false", 5
    GAP = "gap", 4
    MISPRINT = "misprint", 3
    EDGE_CASE = "edge case", 3
    LOOSE = "loose", 1
    HOLDS = "holds", 0
    UNDECIDED = "undecided", 2
    DERIVED = "derived", 0


class TaskVerdict(Verdict, enum.ReprEnum):
    """The fate of an audit, of a control, or of a violation that a project accepts."""

    MISSED = "missed", 6
    CAUGHT = "caught", 0
    FAILED = "failed", 4
    INCOMPLETE = "incomplete", 4
    ACCEPTED = "accepted", 3
    NOT_CHECKED = "not checked", 0
    NO_CLAIM = "no claim", 0


EVERY_VERDICT: tuple[Verdict, ...] = (
    TaskVerdict.MISSED,
    PrivacyVerdict.VIOLATION,
    StatementVerdict.REFUTED,
    StatementVerdict.FALSE,
    StatementVerdict.GAP,
    StatementVerdict.MISPRINT,
    StatementVerdict.EDGE_CASE,
    TaskVerdict.FAILED,
    TaskVerdict.INCOMPLETE,
    PrivacyVerdict.NO_EVIDENCE,
    UtilityVerdict.UNDECIDED,
    TaskVerdict.ACCEPTED,
    StatementVerdict.LOOSE,
    StatementVerdict.DERIVED,
    UtilityVerdict.HOLDS,
    PrivacyVerdict.NOT_REFUTED,
    UtilityVerdict.VACUOUS,
    PrivacyVerdict.CONSISTENT,
    TaskVerdict.NOT_CHECKED,
    TaskVerdict.NO_CLAIM,
    TaskVerdict.CAUGHT,
)
"""The words of all vocabularies, once each, in the order in which one of several speaks for all."""
OF_PRIVACY = (PrivacyVerdict.VIOLATION, PrivacyVerdict.CONSISTENT, PrivacyVerdict.NO_EVIDENCE)
"""The verdicts of an audit of privacy; of several audits the first of them speaks for all."""
OF_UTILITY = (UtilityVerdict.VIOLATION, UtilityVerdict.UNDECIDED, UtilityVerdict.HOLDS, UtilityVerdict.VACUOUS)
"""The verdicts of an audit of utility; of several audits the first of them speaks for all."""
OF_SENSITIVITY = (PrivacyVerdict.VIOLATION, PrivacyVerdict.NOT_REFUTED, PrivacyVerdict.NO_EVIDENCE)
"""The verdicts on a sensitivity: no number of pairs proves it."""
OF_LAWS = (UtilityVerdict.NOT_REFUTED, UtilityVerdict.VIOLATION, UtilityVerdict.UNDECIDED)
"""The verdicts on the growth of a sample complexity."""
OF_CHECKS = (StatementVerdict.HOLDS, StatementVerdict.LOOSE, StatementVerdict.REFUTED, StatementVerdict.UNDECIDED)
"""The finds of a check; which class a contradiction has, the statement declares."""
ACCUSATIONS = (
    StatementVerdict.FALSE,
    StatementVerdict.GAP,
    StatementVerdict.MISPRINT,
    StatementVerdict.EDGE_CASE,
)
"""The classes of statements that a witness contradicts, the gravest first."""
OF_STATEMENTS = (
    *ACCUSATIONS,
    StatementVerdict.LOOSE,
    StatementVerdict.HOLDS,
    StatementVerdict.UNDECIDED,
    StatementVerdict.DERIVED,
    StatementVerdict.REFUTED,
)
"""The classes of statements: the verdicts of rows of the ledger."""


class Grade(enum.StrEnum):
    """The kind of evidence that a number rests on, the strongest first."""

    EXACT = "exact"
    """Enumerated, with a proved bound on the error."""
    NUMERIC = "numeric"
    """Quadrature or optimisation, with an estimated error."""
    STATISTICAL = "statistical"
    """True with a stated confidence."""


class Support(enum.StrEnum):
    """The kind of evidence that a supremum over all samples rests on, the strongest first."""

    PROVED = "proved"
    """A closed form with a proof; no search result contradicts it."""
    LIMIT = "limit"
    """The exact limit along a ray of samples: no sample need attain it, and another ray may reach more."""
    LOWER_BOUND = "lower bound"
    """The loss of one pair: others may lose more."""


class Constants(enum.StrEnum):
    """The author of the constants with which a statement is checked."""

    PAPER = "paper"
    """Its source prints them."""
    OURS = "ours"
    """Its source has O(.), Theta(.) or Omega(.), or the statement is our own."""


class Survives(enum.StrEnum):
    """The fate of the theorem for which a contradicted statement stands: whether it survives."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"
    NOT_APPLICABLE = "not applicable"


class Part(enum.StrEnum):
    """The part of the ledger in which a row is counted."""

    PAPERS = "papers"
    """A statement of a paper."""
    OURS = "ours"
    """A statement of ours, on an algorithm or a constant that no paper has."""
    AUDITOR = "auditor"
    """A fault whose answer is known, which tests the auditor."""


class Direction(enum.StrEnum):
    """The input of a pair on which an event is the likelier."""

    FORWARD = "forward"
    """Pr[M(data) in event] is compared with exp(epsilon) Pr[M(neighbour) in event]."""
    BACKWARD = "backward"
    """The two inputs are swapped."""
