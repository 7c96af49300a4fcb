"""Exit statuses of commands, by verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dpaudit.contract.verdicts import PrivacyVerdict, TaskVerdict, UtilityVerdict, Verdict

__all__ = ["OPEN", "exit_status", "status_of"]

OPEN = 3
"""The exit status of an audit that could not have detected a violation, or did not decide."""
_STATUSES: Mapping[str, int] = {
    TaskVerdict.MISSED: 1,
    PrivacyVerdict.VIOLATION: 1,
    TaskVerdict.FAILED: 2,
    TaskVerdict.INCOMPLETE: 2,
    PrivacyVerdict.NO_EVIDENCE: OPEN,
    UtilityVerdict.UNDECIDED: OPEN,
}


def status_of(verdict: Verdict) -> int:
    """Return the exit status of a command that ends with a verdict on a mechanism; 0 if nothing is wrong or open."""
    return _STATUSES.get(verdict, 0)


def exit_status(verdicts: Iterable[Verdict], *, allow_open: bool = False) -> int:
    """Return the exit status of a command with several verdicts: 2 comes before 1, before 3, before 0.

    With `allow_open` "no evidence" and "undecided" are no fault: they count as 0.
    """
    found = {status_of(verdict) for verdict in verdicts}
    if allow_open:
        found.discard(OPEN)
    # A fault of the tool comes first: what it left out might be a violation as well.
    for status in (2, 1, OPEN):
        if status in found:
            return status
    return 0
