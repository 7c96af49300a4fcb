"""Events in words, made here and nowhere else; nothing parses them.

All sentences of reports have the signs of mathematics, as ε and ≥; `report.terminal` writes them in ASCII.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from dpaudit.contract import FAIL
from dpaudit.events import event as events
from dpaudit.events.event import Cells, Event, Interval
from dpaudit.events.exceptions import EXCEPTION, NO_EXCEPTION
from dpaudit.evidence.records import codes_of
from dpaudit.outputs.canonical import TIMED_OUT
from dpaudit.report.view import Decoded

# Outputs of an event that are listed.
_MOST_LABELS = 12
# Answers that are named one by one, at most, and the characters of each.
_FEW_ANSWERS = 4
_LONG_ANSWER = 60
_RARE = "any output rare or unseen in training"


def event_words(event: Event, decoded: Decoded = None) -> str:
    """Return an event in words, with what its codes stand for, as far as known."""
    match event:
        case Cells():
            return _cells_words(event, decoded)
        case Interval():
            return f"{_subject(event.feature, event.path)} in [{event.low:.6g}, {event.high:.6g})"
        case events.Bets():
            stake = f"raised the stake by exp({event.log_stake:.4g})"
            return f"no single event: bets on {event.runs} runs of this pair {stake}"
        case events.Withheld():
            told = ""
            if event.feature:
                told = f"told by {event.feature}; "
            return f"answers that are not shown, as they may reveal records ({told}include_data shows them)"


def answer_words(event: Event, decoded: Decoded = None) -> str:
    """Return an event as the answers that it consists of, where these are few; otherwise as `event_words`.

    >>> answer_words(Cells("output", ((5, 5),)), {"5": "parity of x1 and x3"})
    '“parity of x1 and x3”'
    """
    match event:
        case Interval(feature="raised"):
            words = "an exception" if event.low > 0 else "no exception"
            return f"{words} as {_part(event.path)}" if event.path else words
        case Interval(feature="NaN") if event.low > 0:
            return f"{_part(event.path)} is NaN"
        case Interval(feature="NaN"):
            return f"{_part(event.path)} is not NaN"
        case Interval(feature="present", path=(*path, step)):
            kind = "key" if isinstance(step, str) else "element"
            if event.low > 0:
                return f"{_part(path)} has the {kind} {step!r}"
            if path:
                return f"no {kind} {step!r} in {_part(path)}"
            return f"no {kind} {step!r}"
        case Interval(feature="length"):
            return _between(f"len({_part(event.path)})", event)
        case Interval(feature="value"):
            return _between(_part(event.path), event)
        # An explicit event is read off an output, so that the words say where; a score has no place in it.
        case Interval() if event.explicit:
            return _between(f"{event.feature} of {_part(event.path)}", event)
        case Interval():
            return _between(_subject(event.feature, event.path), event)
    known = known_codes(decoded)
    labels = answers_of(event)
    return " or ".join(f"“{known.get(label, label)}”" for label in labels) or event_words(event, decoded)


def known_codes(decoded: Decoded) -> Mapping[str, str]:
    """Return what codes stand for; -1 is failure wherever outputs are codes."""
    if decoded is None:
        return {}
    return {str(FAIL): "failure", **decoded}


def answers_of(event: Event) -> list[str]:
    """Return the labels of the few answers that an event consists of; none for any other event."""
    if not isinstance(event, Cells) or event.feature != "output" or event.path or event.rare or event.complement:
        return []
    labels = [str(code) for code in codes_of(event)] or list(event.labels if not event.ranges else ())
    # Whether a number is NaN is a property of the output, and no answer.
    if _says_whether_nan(labels):
        return []
    if len(labels) <= _FEW_ANSWERS and all(len(label) <= _LONG_ANSWER for label in labels):
        return labels
    return []


def _says_whether_nan(labels: Sequence[str]) -> bool:
    return len(labels) == 1 and labels[0] in events.NAN_CELLS


def _between(subject: str, event: Interval) -> str:
    # With the subject in front, as it is read.
    if event.high == math.inf and event.low > -math.inf:
        return f"{subject} ≥ {event.low:g}"
    words = subject
    if event.low > -math.inf:
        words = f"{event.low:g} ≤ {words}"
    if event.high < math.inf:
        words = f"{words} < {event.high:g}"
    return words


def _part(path: Sequence[int | str]) -> str:
    return "output" + "".join(f"[{step!r}]" for step in path)


def _exception_words(event: Cells) -> str:
    """Return the exceptions of an event as "raised KeyError or timed out after 5 s"."""
    raised = [label for label in event.labels if not label.startswith((TIMED_OUT, NO_EXCEPTION, "another"))]
    parts = [label for label in event.labels if label not in raised]
    if raised:
        parts.append(f"raised {' or '.join(raised)}")
    if event.rare:
        parts.append(_RARE)
    return " or ".join(parts)


def _cells_words(event: Cells, decoded: Decoded) -> str:
    if event.feature == EXCEPTION:
        return _exception_words(event)
    subject = _subject(event.feature, event.path)
    whole = event.feature == "output"
    ranges = [label for ends in event.ranges for label in events.range_labels(*ends)]
    labels = [*ranges, *event.labels]
    shown = ", ".join(labels[:_MOST_LABELS])
    if len(labels) > _MOST_LABELS:
        shown += f", ... ({event.size} outputs)"
    # Ranges of other features than the output are cells of a discretizer, and no values.
    if ranges and not whole:
        subject = f"cell of the {subject}"
    named = ""
    if labels and event.complement:
        named = f"{subject} not in {{{shown}}}"
    elif labels:
        named = f"{subject} in {{{shown}}}"
    # What a person reads off the output.
    if labels and not whole and not ranges and event.size <= 1:
        named = f"{subject} = {labels[0]}"
    if _says_whether_nan(labels):
        named = f"{subject} is {labels[0]}"
    parts = [named] if named else []
    if event.rare:
        parts.append(_RARE)
    words = " or ".join(parts)
    if event.path or event.complement or not whole:
        return words
    # The codes that are worth decoding: a few, or failure among many.
    codes = codes_of(event) or [FAIL] * any(low <= FAIL <= high for low, high in event.ranges)
    known = known_codes(decoded)
    meant = ", ".join(f"{code}: {known[code]}" for code in map(str, codes) if code in known)
    if meant:
        return f"{words} ({meant})"
    return words


def _subject(feature: str, path: Sequence[int | str]) -> str:
    """Return a feature with the place in the output where it is read, if that is not the whole output."""
    if feature == "output":
        return _part(path)
    if path:
        return f"{feature} of {_part(path)}"
    return feature
