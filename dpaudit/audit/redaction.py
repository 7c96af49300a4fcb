"""Keep the values of people's records out of a finding whose pairs were made from their data."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from dpaudit.audit.finding import EventTest, PrivacyFinding
from dpaudit.audit.no_evidence import AllRaised, Gap, NotLookedAt
from dpaudit.contract import Made, MadePair, Pair
from dpaudit.events.event import Cells, Event, Interval, Withheld

__all__ = ["withheld"]

WITHHELD = "(withheld: it names a value of the data)"
"""The words in the place of others that name a value."""


def withheld(finding: PrivacyFinding, pairs: Iterable[Pair]) -> PrivacyFinding:
    """Return a finding that names no value of the records that its pairs were made from.

    An event over outputs may name one, where the mechanism releases it as it is; so may the name of a score, and the
    message of an exception. What a value does not stand in stays as it is.

    Parameters
    ----------
    finding : PrivacyFinding
        The finding.
    pairs : iterable of Pair
        The pairs that were audited; those that are given as they are, or may be shown, withhold nothing.
    """
    made = next((pair.sides[0] for pair in pairs if isinstance(pair, MadePair) and not pair.shown), None)
    if made is None:
        return finding
    stored = finding.representation
    return replace(
        finding,
        witness=replace(finding.witness, event=_event(made, finding.witness.event)),
        tests=tuple(_test(made, test) for test in finding.tests),
        representation=stored and _test(made, stored),
        gaps=tuple(_gap(made, gap) for gap in finding.gaps),
        scores=_texts(made, finding.scores),
        not_looked_at=_texts(made, finding.not_looked_at),
        distinguisher=_text(made, finding.distinguisher),
    )


def _test(made: Made, test: EventTest) -> EventTest:
    return replace(test, event=_event(made, test.event))


def _event(made: Made, event: Event) -> Event:
    """Return an event, or that it is withheld."""
    named: tuple[object, ...]
    if isinstance(event, Cells):
        named = (*(end for ends in event.ranges for end in ends), *event.values, *event.path)
    elif isinstance(event, Interval):
        named = (event.low, event.high, *event.path)
    else:
        return event
    tells = any(map(made.names_a_value, named)) or made.names_a_value(event.feature, numbers=False)
    return Withheld() if tells else event


def _gap(made: Made, gap: Gap) -> Gap:
    """Return a gap without a message that names a value, or a part of the output that does."""
    if isinstance(gap, NotLookedAt):
        return NotLookedAt(_texts(made, gap.parts))
    if not isinstance(gap, AllRaised) or not made.names_a_value(gap.usual):
        return gap
    return replace(gap, usual=f"{gap.usual.partition(':')[0]}: {WITHHELD}")


def _texts(made: Made, texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(_text(made, text) for text in texts)


def _text(made: Made, text: str) -> str:
    """Return words of ours, whose numbers are ours, unless they name a text of the data."""
    return WITHHELD if made.names_a_value(text, numbers=False) else text
