"""Verdicts with what they entail in every format, grades of evidence, and statements of papers that checks judge."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from dpaudit.contract.tools import Tools
from dpaudit.errors import InputError

__all__ = [
    "OF_PRIVACY",
    "OF_STATEMENTS",
    "OF_UTILITY",
    "OPEN",
    "Direction",
    "Evidence",
    "Grade",
    "Statement",
    "Support",
    "Verdict",
    "exit_status",
]


class Verdict(enum.StrEnum):
    """The verdict on a promise, a control or a statement of a paper; those that speak first for several come first.

    Attributes
    ----------
    gravity : int
        A change to a verdict of larger gravity is a change for the worse.
    mark : str
        Its sign in tables of plain text.
    tone : {"bad", "none", "ok", "nc", "caught"}
        The name of its colours: refuted or missed, left open, kept, nothing to judge, detected as planned.
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
    tone: str
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

    MISSED = "missed", 6, "!", "bad", 1, "failure", "error", "missed-control"
    """Of a positive control: no audit detected its leak, though all were made."""
    VIOLATION = "violation", 5, "!", "bad", 1, "failure", "error", "privacy-violation"
    """The claim is refuted: exactly, or at the stated confidence."""
    REFUTED = "refuted", 5, "!", "bad", 0, "", "", "refuted"
    """Of a statement: a witness contradicts it."""
    FAILED = "failed", 4, "x", "none", 2, "error", "", "audit-not-finished"
    """No finding: an audit raised."""
    INCOMPLETE = "incomplete", 4, "x", "none", 2, "error", "", "audit-not-finished"
    """No finding: an audit was planned and not run to its end."""
    NO_EVIDENCE = "no evidence", 2, "?", "none", 3, "skipped", "warning", "no-evidence"
    """Of privacy: the claim is not refuted, and the audit could not have detected that it fails."""
    UNDECIDED = "undecided", 2, "~", "none", 3, "skipped", "warning", "accuracy-undecided"
    """The interval for the failure rate contains beta; of a statement, the check did not decide."""
    ACCEPTED = "accepted", 3, "~", "none", 0, "skipped", "note", "privacy-violation"
    """Of privacy: a violation that the settings of the project accept."""
    LOOSE = "loose", 1, "", "ok", 0, "", "", "loose"
    """Of a statement: true, and its constant is far from the truth."""
    HOLDS = "holds", 0, "", "ok", 0, "passed", "", "accuracy-holds"
    """The interval for the failure rate lies at or below beta; of a statement, it is true."""
    VACUOUS = "vacuous", 1, "", "nc", 0, "passed", "", "accuracy-vacuous"
    """Of utility: the claim promises next to nothing, so that keeping it is no merit."""
    CONSISTENT = "consistent", 0, "", "ok", 0, "passed", "", "consistent"
    """Of privacy: the claim is not refuted, and leaks of a stated size would have been found."""
    NOT_CHECKED = "not checked", 0, "", "nc", 0, "", "", "not-audited"
    NO_CLAIM = "no claim", 0, "", "nc", 0, "", "", "no-claim"
    CAUGHT = "caught", 0, "", "caught", 0, "passed", "", "caught"
    """Of a positive control: an audit detected its leak."""

    @property
    def needs_look(self) -> bool:
        """Whether it is refuted, missed, accepted or left open."""
        return self.tone in ("bad", "none")

    @property
    def rank(self) -> int:
        """Its place in the order of all verdicts."""
        return list(Verdict).index(self)


OF_PRIVACY = (Verdict.VIOLATION, Verdict.CONSISTENT, Verdict.NO_EVIDENCE)
"""The verdicts of an audit of privacy."""
OF_UTILITY = (Verdict.HOLDS, Verdict.VIOLATION, Verdict.UNDECIDED, Verdict.VACUOUS)
"""The verdicts of an audit of utility."""
OF_STATEMENTS = (Verdict.HOLDS, Verdict.LOOSE, Verdict.REFUTED, Verdict.UNDECIDED)
"""The verdicts of a check of a statement of a paper."""

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


class Direction(enum.StrEnum):
    """The input of a pair on which an event is the likelier."""

    FORWARD = "forward"
    """Pr[M(data) in event] is compared with exp(epsilon) Pr[M(neighbour) in event]."""
    BACKWARD = "backward"
    """The two inputs are swapped."""


@dataclass(frozen=True)
class Evidence:
    """The evidence for or against a statement of a paper.

    Parameters
    ----------
    verdict : {"holds", "loose", "refuted", "undecided"}
        "loose" if the statement is true and its constant is far from the truth; "refuted" needs a witness.
    summary : str
        The finding in a sentence, numbers included.
    numbers : mapping of str to number
        The numbers that decided.
    grade : {"exact", "numeric", "statistical"}
        The kind of the evidence.
    witness : str
        The instance that refutes, in words; empty otherwise.
    witness_data : mapping of str to data
        The instance that decides (it refutes, or comes nearest to it) as data from which another program computes the
        numbers again: learners with their parameters, samples, distributions, outputs.
    """

    verdict: str
    summary: str
    numbers: Mapping[str, float]
    grade: str
    witness: str = ""
    witness_data: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, allowed in (("verdict", OF_STATEMENTS), ("grade", tuple(Grade))):
            value = getattr(self, name)
            if value not in allowed:
                raise InputError.among(name, value, allowed)
        if self.verdict == Verdict.REFUTED and not self.witness:
            raise InputError("a refutation needs a witness", parameter="witness", value="")


@dataclass(frozen=True)
class Statement:
    """A statement of a paper that computation can check; modules list theirs in ``STATEMENTS``.

    Parameters
    ----------
    id : str
        The paper's short name and the theorem, as in "NIS-ParityLearner".
    statement : str
        The statement as it is checked, with its constants.
    source : str
        Paper and place.
    check : callable
        Takes the audits as `Tools`, so that learners need not import the harness, and returns the `Evidence`.
        Deterministic; seconds, not minutes.
    short : str
        The statement in a line, for tables; empty where `statement` has to do.
    printed, found : str
        What the paper prints and what computation finds, in a few words. A name of the evidence's numbers in braces
        stands for that number, as in "ε = {epsilon:.3g}"; what follows the last colon is a format.
    slow : bool
        Whether the check takes more than two seconds, so that quick runs leave it out.
    best : str
        The best constant known to the tool, as `found` is written; empty where the statement has no constant.
    """

    id: str
    statement: str
    source: str
    check: Callable[[Tools], Evidence]
    short: str = ""
    printed: str = ""
    found: str = ""
    slow: bool = False
    best: str = ""
