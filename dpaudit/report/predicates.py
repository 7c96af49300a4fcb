"""The explicit events of certificates in words."""

from __future__ import annotations

import math

from dpaudit.certificates.predicates import Outputs, Predicate, Threshold
from dpaudit.certificates.values import decode_value
from dpaudit.events.event import Path
from dpaudit.outputs.canonical import canonical, in_words
from dpaudit.report.wording import event_words

__all__ = ["predicate_words"]


def predicate_words(predicate: Predicate) -> str:
    """Return an event in words, as "output >= 0.8"."""
    match predicate:
        case Threshold():
            what = _part(predicate.path)
            what = what if predicate.feature == "value" else f"{predicate.feature} of {what}"
            if predicate.feature == "raised":
                return "an exception" if predicate.low > 0 else "no exception"
            low = f"{predicate.low:g} <= " if math.isfinite(predicate.low) else ""
            high = f" < {predicate.high:g}" if math.isfinite(predicate.high) else ""
            return f"{what} >= {predicate.low:g}" if low and not high else f"{low}{what}{high}"
        case Outputs():
            ranges = [f"{low}..{high}" if low < high else str(low) for low, high in predicate.ranges]
            values = [in_words(canonical(decode_value(value))) for value in predicate.values]
            return f"{_part(predicate.path)} {'not ' * predicate.complement}in {{{', '.join([*ranges, *values])}}}"
    return event_words(predicate.event)


def _part(path: Path) -> str:
    return "output" + "".join(f"[{step!r}]" for step in path)
