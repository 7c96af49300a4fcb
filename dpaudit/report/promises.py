"""Every promise of a run with its outcome: what the formats for other tools are made from.

A control promises that it is caught: one that is missed is broken like any other promise.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import NamedTuple

from dpaudit.engine.records import Run
from dpaudit.report.page.mechanism import Mechanism, mechanisms
from dpaudit.report.page.sentences import Phrase, accuracy_words, says
from dpaudit.report.page.state import State
from dpaudit.report.page.text import share
from dpaudit.report.summary import Summary, summarise
from dpaudit.report.verdicts import RowVerdict

__all__ = ["Kept", "Promise", "promises", "without_result"]


class Kept(enum.StrEnum):
    """The outcome for a promise."""

    KEPT = "kept"
    """Not refuted, though it could have been."""
    BROKEN = "broken"
    OPEN = "open"
    """No evidence, or undecided."""
    ACCEPTED = "accepted"
    """Broken, and the project lives with it."""
    ERROR = "error"
    """An audit failed or was not run to its end."""
    NONE = "none"
    """Nothing was promised, or nothing was audited."""


class Promise(NamedTuple):
    """A promise of one mechanism.

    Attributes
    ----------
    mechanism : str
        The id of the learner, or the place of the function.
    subject : {"privacy", "accuracy", "control"}
        The subject of the promise.
    rule : str
        The word for the outcome: "violation", "missed-control", "no-evidence", ...
    kept : Kept
        The outcome.
    text : str
        The verdict and the numbers in a few sentences.
    """

    mechanism: str
    subject: str
    rule: str
    kept: Kept
    text: str


_PRIVACY = {
    State.MISSED: ("missed-control", Kept.BROKEN),
    State.VIOLATION: ("privacy-violation", Kept.BROKEN),
    State.UNFINISHED: ("audit-not-finished", Kept.ERROR),
    State.NO_EVIDENCE: ("no-evidence", Kept.OPEN),
    State.ACCEPTED: ("privacy-violation", Kept.ACCEPTED),
    State.CONSISTENT: ("consistent", Kept.KEPT),
    State.CAUGHT: ("caught", Kept.KEPT),
    State.UNTESTED: ("not-audited", Kept.NONE),
    State.NO_CLAIM: ("no-claim", Kept.NONE),
}
_ACCURACY = {
    RowVerdict.VIOLATION: ("accuracy-broken", Kept.BROKEN),
    RowVerdict.FAILED: ("audit-not-finished", Kept.ERROR),
    RowVerdict.INCOMPLETE: ("audit-not-finished", Kept.ERROR),
    RowVerdict.UNDECIDED: ("accuracy-undecided", Kept.OPEN),
    RowVerdict.HOLDS: ("accuracy-holds", Kept.KEPT),
    RowVerdict.VACUOUS: ("accuracy-vacuous", Kept.KEPT),
    RowVerdict.NOT_CHECKED: ("not-audited", Kept.NONE),
}


def promises(run: Run) -> list[Promise]:
    """Return the promises of the mechanisms and controls of a run: those that need a look first."""
    summary = summarise(run)
    found = []
    for mechanism in (*mechanisms(summary.controls), *mechanisms(summary.learners)):
        rule, kept = _PRIVACY[mechanism.state]
        subject = "privacy" if mechanism.tested.fault is None else "control"
        found.append(Promise(mechanism.name, subject, rule, kept, _privacy_text(mechanism)))
        if mechanism.tested.fault is None:
            rule, kept = _ACCURACY[mechanism.accuracy]
            found.append(Promise(mechanism.name, "accuracy", rule, kept, _accuracy_text(mechanism)))
    order = (Kept.BROKEN, Kept.ERROR, Kept.OPEN, Kept.ACCEPTED, Kept.KEPT, Kept.NONE)
    return sorted(found, key=lambda promise: order.index(promise.kept))


def without_result(summary: Summary) -> list[tuple[str, str]]:
    """Return (name, reason) of each planned audit without a result and of each mechanism that could not be planned."""
    planned = [(key, summary.errors.get(key, "not run to its end")) for key in summary.pending]
    return [*planned, *((fault.learner, fault.error) for fault in summary.faults)]


def _privacy_text(mechanism: Mechanism) -> str:
    """Return the sentences on privacy, without those on accuracy."""
    phrases = says(mechanism)
    spoken = accuracy_words(mechanism.accurate) if mechanism.accuracy_needs_look else []
    return _plain(phrases[: len(phrases) - len(spoken)])


def _accuracy_text(mechanism: Mechanism) -> str:
    """Return the sentence on accuracy."""
    row = mechanism.accurate
    if mechanism.accuracy_needs_look:
        return _plain(accuracy_words(row))
    found = row.utility
    if found is None:
        return "Accuracy was not audited."
    vacuous = ", and promises next to nothing" if mechanism.accuracy == RowVerdict.VACUOUS else ""
    return (
        f"It fails in {share(found.failure_rate)} % of {found.trials:,} runs at n = {found.n:,}; "
        f"{share(found.beta)} % are allowed: it holds{vacuous}."
    )


def _plain(phrases: Sequence[Phrase]) -> str:
    return "".join(phrase.text for phrase in phrases).strip()
