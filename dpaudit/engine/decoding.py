"""What the codes that a finding names stand for: an output 3 says little, a threshold at 4 says what was learned."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dpaudit.contract import FAIL

__all__ = ["decoded", "named_codes"]

_MOST = 4
_LONGEST = 60
_EVENT = re.compile(r"output in \{(-?\d+(?:\.\.-?\d+)?(?:, -?\d+(?:\.\.-?\d+)?)*)\}")


def named_codes(text: str) -> list[int]:
    """Return the integer outputs that a worst atom or an event names; none if they are more than four, or not integers.

    >>> named_codes("output in {-1, 3..5}"), named_codes("7"), named_codes("(1, 2)")
    ([-1, 3, 4, 5], [7], [])
    """
    if re.fullmatch(r"-?\d+", text):
        return [int(text)]
    event = _EVENT.match(text)
    codes: list[int] = []
    for part in event[1].split(", ") if event else ():
        low, dots, high = part.partition("..")
        last = int(high if dots else low)
        if last - int(low) >= _MOST - len(codes):
            return []
        codes += range(int(low), last + 1)
    return codes


def decoded(learner: Any, finding: Mapping[str, Any]) -> dict[str, str]:
    """Return what the codes named by a finding on privacy stand for, by code; without what cannot be said in short."""
    texts = [finding["worst_atom"]] if finding["kind"] == "exact" else [finding["witness"]["event"]]
    words = {str(code): _words(learner, code) for text in texts for code in named_codes(text)}
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
