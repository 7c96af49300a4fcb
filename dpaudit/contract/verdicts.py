"""Verdicts with what they entail in every format, and grades of evidence."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Any, Self

__all__ = [
    "ACCUSATIONS",
    "OF_CHECKS",
    "OF_LAWS",
    "OF_PRIVACY",
    "OF_SENSITIVITY",
    "OF_STATEMENTS",
    "OF_UTILITY",
    "OPEN",
    "Constants",
    "Direction",
    "Grade",
    "Part",
    "Support",
    "Survives",
    "Tone",
    "Verdict",
    "exit_status",
]


class Tone(enum.StrEnum):
    """The colours of verdicts, by name.

    Attributes
    ----------
    sign : str
        Its sign in Markdown.
    style : str
        Its style in a terminal, in rich's words.
    """

    sign: str
    style: str

    def __new__(cls, name: str, sign: str, style: str = "") -> Self:
        """Return the member that equals its name."""
        member = str.__new__(cls, name)
        member._value_, member.sign, member.style = name, sign, style
        return member

    BAD = "bad", "🔶", "bold red"
    """Refuted, false or missed."""
    NONE = "none", "⬜", "bold"
    """Left open; of a statement also a slip that its source repairs."""
    OK = "ok", "🔵", "blue"
    """Kept."""
    NC = "nc", "\N{HEAVY MINUS SIGN}"
    """Nothing to judge."""
    CAUGHT = "caught", "✔️"
    """Detected as planned."""


class Verdict(enum.StrEnum):
    """The verdict on a promise, a control or a statement of a paper; those that speak first for several come first.

    The meaning of each stands in `report.glossary`; of the classes of statements, in `report.ledger`.

    Attributes
    ----------
    gravity : int
        A change to a verdict of larger gravity is a change for the worse.
    mark : str
        Its sign in tables of plain text.
    tone : Tone
        Its colours.
    status : int
        The exit status of a command that ends with it.
    junit : {"failure", "error", "skipped", "passed", ""}
        The outcome of its test case; empty where it is no test.
    sarif : {"error", "warning", "note", ""}
        The level of its result; empty where there is none.
    rule : str
        The identifier of its rule.
    """

    gravity: int
    mark: str
    tone: Tone
    status: int
    junit: str
    sarif: str
    rule: str

    def __new__(cls, word: str, *line: Any) -> Self:
        """Return the member that equals its word, with the attributes of its line."""
        member = str.__new__(cls, word)
        member._value_ = word
        member.gravity, member.mark, member.tone, member.status, member.junit, member.sarif, member.rule = line
        return member

    MISSED = "missed", 6, "!", Tone.BAD, 1, "failure", "error", "missed-control"
    VIOLATION = "violation", 5, "!", Tone.BAD, 1, "failure", "error", "privacy-violation"
    REFUTED = "refuted", 5, "!", Tone.BAD, 0, "", "", "refuted"
    FALSE = "false", 5, "!", Tone.BAD, 0, "", "", "false"
    GAP = "gap", 4, "!", Tone.BAD, 0, "", "", "gap"
    MISPRINT = "misprint", 3, "~", Tone.NONE, 0, "", "", "misprint"
    EDGE_CASE = "edge case", 3, "~", Tone.NONE, 0, "", "", "edge-case"
    FAILED = "failed", 4, "x", Tone.NONE, 2, "error", "", "audit-not-finished"
    INCOMPLETE = "incomplete", 4, "x", Tone.NONE, 2, "error", "", "audit-not-finished"
    NO_EVIDENCE = "no evidence", 2, "?", Tone.NONE, 3, "skipped", "warning", "no-evidence"
    UNDECIDED = "undecided", 2, "~", Tone.NONE, 3, "skipped", "warning", "accuracy-undecided"
    ACCEPTED = "accepted", 3, "~", Tone.NONE, 0, "skipped", "note", "privacy-violation"
    LOOSE = "loose", 1, "", Tone.OK, 0, "", "", "loose"
    DERIVED = "derived", 0, "", Tone.NC, 0, "", "", "derived"
    HOLDS = "holds", 0, "", Tone.OK, 0, "passed", "", "accuracy-holds"
    NOT_REFUTED = "not refuted", 0, "", Tone.OK, 0, "passed", "", "accuracy-not-refuted"
    VACUOUS = "vacuous", 1, "", Tone.NC, 0, "passed", "", "accuracy-vacuous"
    CONSISTENT = "consistent", 0, "", Tone.OK, 0, "passed", "", "consistent"
    NOT_CHECKED = "not checked", 0, "", Tone.NC, 0, "", "", "not-audited"
    NO_CLAIM = "no claim", 0, "", Tone.NC, 0, "", "", "no-claim"
    CAUGHT = "caught", 0, "", Tone.CAUGHT, 0, "passed", "", "caught"

    @property
    def needs_look(self) -> bool:
        """Whether it is refuted, missed, accepted or left open."""
        return self.tone in (Tone.BAD, Tone.NONE)

    @property
    def rank(self) -> int:
        """Its place in the order of all verdicts."""
        return list(Verdict).index(self)

    def counted(self, n: int) -> str:
        """Return how many there are of it, as "2 violations" and "3 consistent"."""
        return f"{n:,} {self if n == 1 else _PLURALS.get(self, self)}"


OF_PRIVACY = (Verdict.VIOLATION, Verdict.CONSISTENT, Verdict.NO_EVIDENCE)
"""The verdicts of an audit of privacy; of several audits the first of them speaks for all."""
OF_UTILITY = (Verdict.VIOLATION, Verdict.UNDECIDED, Verdict.HOLDS, Verdict.VACUOUS)
"""The verdicts of an audit of utility; of several audits the first of them speaks for all."""
OF_SENSITIVITY = (Verdict.VIOLATION, Verdict.NOT_REFUTED, Verdict.NO_EVIDENCE)
"""The verdicts on a sensitivity: no number of pairs proves it."""
OF_LAWS = (Verdict.NOT_REFUTED, Verdict.VIOLATION, Verdict.UNDECIDED)
"""The verdicts on the growth of a sample complexity."""
OF_CHECKS = (Verdict.HOLDS, Verdict.LOOSE, Verdict.REFUTED, Verdict.UNDECIDED)
"""The finds of a check; which class a contradiction has, the statement declares."""
ACCUSATIONS = (Verdict.FALSE, Verdict.GAP, Verdict.MISPRINT, Verdict.EDGE_CASE)
"""The classes of statements that a witness contradicts, the gravest first."""
OF_STATEMENTS = (
    *ACCUSATIONS, Verdict.LOOSE, Verdict.HOLDS, Verdict.UNDECIDED, Verdict.DERIVED, Verdict.REFUTED
)  # fmt: skip
"""The classes of statements: the verdicts of rows of the ledger."""
_PLURALS = {
    "violation": "violations",
    "holds": "hold",
    "gap": "gaps",
    "misprint": "misprints",
    "edge case": "edge cases",
}

OPEN = 3
"""The exit status of an audit that could not have detected a violation, or did not decide."""


def exit_status(verdicts: Iterable[Verdict], *, allow_open: bool = False) -> int:
    """Return the exit status of a command with several verdicts: 2 comes before 1, before 3, before 0.

    With `allow_open` "no evidence" and "undecided" are no fault: they count as 0.
    """
    found = {verdict.status for verdict in verdicts} - ({OPEN} if allow_open else set())
    return next((status for status in (2, 1, OPEN) if status in found), 0)


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
    """A fault of which the answer is known, which tests the auditor."""


class Direction(enum.StrEnum):
    """The input of a pair on which an event is the likelier."""

    FORWARD = "forward"
    """Pr[M(data) in event] is compared with exp(epsilon) Pr[M(neighbour) in event]."""
    BACKWARD = "backward"
    """The two inputs are swapped."""
