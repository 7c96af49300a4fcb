"""Events over the kinds of exceptions that runs end in, told by their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpaudit.bounds.base import Integers
from dpaudit.contract import Direction
from dpaudit.events.cells import tally
from dpaudit.events.discretizers import Discretizer
from dpaudit.events.event import Cells, CellSet, Event, Outputs, Tally
from dpaudit.events.selected import SelectedEvent
from dpaudit.naming import Name
from dpaudit.outputs.canonical import TIMED_OUT, Raised, canonical

# The feature of events over them.
EXCEPTION = Name("exception")
# The name of the discretizer by them.
KINDS_OF_EXCEPTIONS = Name("kinds of exceptions")
# The cell of a run that returned something.
NO_EXCEPTION = "no exception"
# Kinds of exceptions that are named together.
MOST_KINDS = 4


def kind_of(output: Raised) -> str:
    """Return the name of an exception's kind, with the time of one that timed out."""
    if output.kind == TIMED_OUT:
        return f"{output.kind} {output.message}"
    return output.kind


@dataclass(frozen=True)
class ExceptionKinds(Discretizer):
    """Takes the kind of exception that a run ended in: 0 for none, the last for one that training did not show."""

    kinds: tuple[str, ...]
    name: Name = KINDS_OF_EXCEPTIONS

    def __call__(self, outputs: Outputs) -> Integers:
        """Return the number of each output's kind."""
        if isinstance(outputs, np.ndarray) and outputs.dtype != object:
            return np.zeros(len(outputs), dtype=np.int64)
        numbers = {kind: place + 1 for place, kind in enumerate(self.kinds)}
        other = len(self.kinds) + 1
        found = (numbers.get(kind_of(one), other) if type(one) is Raised else 0 for one in outputs)
        return np.fromiter(found, np.int64, len(outputs))

    def describe(self, event: CellSet) -> Event:
        """Return an event over the names of the kinds."""
        shown = (NO_EXCEPTION, *self.kinds, "another exception")
        return Cells.of_values(EXCEPTION, (shown[cell] for cell in event.inside if isinstance(cell, int)), event.rare)


def exceptions_of(outputs: Outputs) -> ExceptionKinds | None:
    """Return the kinds of exceptions among outputs, if there are some, few, and outputs that are none."""
    raised = [one for one in outputs if type(one) is Raised]
    kinds = sorted(set(map(kind_of, raised)))
    if len(kinds) <= MOST_KINDS and 0 < len(raised) < len(outputs):
        return ExceptionKinds(tuple(kinds))
    return None


def as_exceptions(
    selected: SelectedEvent, sides: Sequence[Outputs]
) -> tuple[ExceptionKinds, tuple[Tally, Tally]] | None:
    """Return the kinds of exceptions and their counts on both sides, if an event holds all outputs of some kinds.

    None if it does not, on these training outputs of the two sides.
    """
    # An exception is in no array.
    if any(isinstance(side, np.ndarray) for side in sides):
        return None
    outputs = [one for side in sides for one in side]
    found = exceptions_of(outputs)
    if found is None:
        return None
    cells = selected.discretizer(outputs)
    inside = [selected.event.has(canonical(cell)) for cell in cells]
    pairs = set(zip(found(outputs).tolist(), inside, strict=True))
    if len(pairs) > len(set(found(outputs).tolist())) or len(set(inside)) < 2:
        return None
    return found, (tally(found(sides[0])), tally(found(sides[1])))


def by_name(outputs: Outputs, inside: Sequence[bool]) -> Cells | None:
    """Return the event of the kinds of exceptions that some outputs end in, those inside an event; None if too many."""
    raised = [one for one, taken in zip(outputs, inside, strict=True) if taken and type(one) is Raised]
    kinds = sorted(set(map(kind_of, raised)))
    if 0 < len(kinds) <= MOST_KINDS:
        return Cells.of_values(EXCEPTION, kinds)
    return None


def exceptions_first(selected: SelectedEvent) -> SelectedEvent:
    """Return a selection whose first guess names the exceptions, where it names that there is none as well."""
    if not selected.guesses:
        return selected
    first, *others = selected.guesses
    if first.opposite is None or not first.event.has(0) or first.opposite.has(0):
        return selected
    direction = Direction.BACKWARD if first.direction is Direction.FORWARD else Direction.FORWARD
    turned = replace(first, event=first.opposite, opposite=first.event, direction=direction)
    return replace(selected, event=turned.event, direction=direction, guesses=(turned, *others))
