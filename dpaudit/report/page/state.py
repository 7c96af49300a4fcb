"""The state of a privacy claim as the pages show it: a word, a glyph and a colour that say the same."""

from __future__ import annotations

import enum

from dpaudit.report.row import Row
from dpaudit.report.verdicts import RowVerdict

__all__ = ["State", "state_of"]


class State(enum.StrEnum):
    """The state of a privacy claim, or of a control; what needs a look comes first."""

    MISSED = "MISSED"
    """A control that no audit caught, though all were made."""
    VIOLATION = "violation"
    UNFINISHED = "not finished"
    """An audit raised, or was not run to its end."""
    NO_EVIDENCE = "no evidence"
    ACCEPTED = "accepted"
    """A violation that the project lives with."""
    CONSISTENT = "consistent"
    UNTESTED = "not audited"
    NO_CLAIM = "no claim"
    CAUGHT = "caught"

    @property
    def tone(self) -> str:
        """The name of its colours and of its glyph."""
        return _TONES[self]

    @property
    def needs_look(self) -> bool:
        """Whether its part of a page is open."""
        return self in (State.MISSED, State.VIOLATION, State.UNFINISHED, State.NO_EVIDENCE, State.ACCEPTED)

    @property
    def rank(self) -> int:
        """Its place in the order of all."""
        return list(State).index(self)


_TONES = {
    State.MISSED: "bad",
    State.VIOLATION: "bad",
    State.UNFINISHED: "none",
    State.NO_EVIDENCE: "none",
    State.ACCEPTED: "none",
    State.CONSISTENT: "ok",
    State.UNTESTED: "nc",
    State.NO_CLAIM: "nc",
    State.CAUGHT: "caught",
}
_OF_VERDICTS = {
    RowVerdict.VIOLATION: State.VIOLATION,
    RowVerdict.FAILED: State.UNFINISHED,
    RowVerdict.INCOMPLETE: State.UNFINISHED,
    RowVerdict.NO_EVIDENCE: State.NO_EVIDENCE,
    RowVerdict.ACCEPTED: State.ACCEPTED,
    RowVerdict.NO_VIOLATION: State.CONSISTENT,
    RowVerdict.NO_CLAIM: State.NO_CLAIM,
}


def state_of(row: Row) -> State:
    """Return the state of the privacy of a row."""
    if row.fault is None:
        return _OF_VERDICTS.get(row.privacy_verdict, State.UNTESTED)
    if row.convicted_by:
        return State.CAUGHT
    return State.MISSED if row.complete else State.UNFINISHED
