"""Verdicts, grades of evidence and directions, as enumerations whose members equal their words."""

from __future__ import annotations

import enum

__all__ = ["Direction", "Grade", "PrivacyVerdict", "StatementVerdict", "Support", "UtilityVerdict"]


class PrivacyVerdict(enum.StrEnum):
    """The verdict of an audit on a claim of privacy."""

    VIOLATION = "violation"
    """The claim is refuted: exactly, or at the stated confidence."""
    CONSISTENT = "consistent"
    """The claim is not refuted, and leaks of a stated size would have been found."""
    NO_EVIDENCE = "no evidence"
    """The claim is not refuted, and the audit could not have seen that it fails."""


class UtilityVerdict(enum.StrEnum):
    """The verdict of an audit on a claim of utility."""

    HOLDS = "holds"
    """The interval for the failure rate lies at or below beta."""
    VIOLATION = "violation"
    """The interval lies above beta."""
    UNDECIDED = "undecided"
    """The interval contains beta."""
    VACUOUS = "vacuous"
    """The claim promises next to nothing, so that it is no merit to keep it."""


class StatementVerdict(enum.StrEnum):
    """The verdict of a check on a statement of a paper."""

    HOLDS = "holds"
    LOOSE = "loose"
    """True, and its constant is far from the truth."""
    REFUTED = "refuted"
    """False: a witness contradicts it."""
    UNDECIDED = "undecided"


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
