"""Decodes the outputs that a finding names: output 3 is the threshold at 4."""

from __future__ import annotations

from typing import Any

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.contract import FAIL
from dpaudit.engine.findings import AnyFinding
from dpaudit.events.event import Cells, Event
from dpaudit.exact.finding import LawFinding

__all__ = ["codes_of", "decoded"]

_MOST = 4
_LONGEST = 60


def codes_of(named: Event | str) -> list[int]:
    """Return the integer outputs that an event or a worst atom names; none if they are more than four, or not integers.

    >>> codes_of(Cells("output", ((-1, -1), (3, 5)))), codes_of("7"), codes_of("(1, 2)")
    ([-1, 3, 4, 5], [7], [])
    """
    if isinstance(named, str):
        return [int(named)] if named.removeprefix("-").isdecimal() else []
    if not isinstance(named, Cells) or named.feature != "output" or named.values or named.size > _MOST:
        return []
    return [code for low, high in named.ranges for code in range(low, high + 1)]


def decoded(learner: Any, finding: AnyFinding) -> dict[str, str]:
    """Return what the codes named by a finding on privacy stand for, by code; without what cannot be said in short."""
    if isinstance(finding, LawFinding):
        codes = codes_of(finding.worst_atom)
    elif isinstance(finding, PrivacyFinding):
        codes = codes_of(finding.witness.event)
    else:
        codes = []
    words = {str(code): _words(learner, code) for code in codes}
    return {code: word for code, word in words.items() if word}


def _words(learner: Any, code: int) -> str:
    """Return an output in words; an empty text if that is long, or would differ from run to run."""
    if code == FAIL:
        return "failure"
    try:
        hypothesis = learner.decode(code)
        text = "failure" if hypothesis is None else str(hypothesis)
    except Exception:  # a learner may refuse a code that its law has; what was found does not depend on it
        return ""
    return "" if len(text) > _LONGEST or " at 0x" in text or "\n" in text else text
