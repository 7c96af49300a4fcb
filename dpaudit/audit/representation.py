"""Look at how floats are stored, beside the verdict, which speaks of their values.

Noise added in floating point leaks through the bits of the sum whatever its scale: a sum lies on a coarser grid than a
draw, and holes in what a sampler can return lie elsewhere around another centre. An event over these bits is chosen on
training runs and tested on the runs that confirm, with an error of its own.
"""

from __future__ import annotations

from typing import Any

from dpaudit.audit.request import Request
from dpaudit.events.cell_families import CellFamilies
from dpaudit.events.events import PlannedTest
from dpaudit.events.featured import hole_discretizers, screened_discretizers
from dpaudit.events.histogram import tally
from dpaudit.events.selected_event import SelectedEvent
from dpaudit.outputs.plan import Plan

__all__ = ["ROWS", "representation_event"]

ROWS = 10_000
"""Runs a side that choose the event over the bits: they leak outright or hardly at all."""


def representation_event(request: Request, plan: Plan, first: list[Any], second: list[Any]) -> SelectedEvent | None:
    """Return the best event over how floats are stored; None where outputs hold none, or where bits count anyway.

    Parameters
    ----------
    request : Request
        The audit.
    plan : Plan
        The leaves of the outputs.
    first, second : list of two batches
        Training outputs of both sides: of the first the features are compared, on the second the cells counted.
    """
    if request.options.float_bits or request.wide:
        return None
    runs, claim = request.budget.confirmation, request.claim
    (data, neighbour), others = ([outputs[:ROWS] for outputs in half] for half in (first, second))
    found = screened_discretizers(data, neighbour, runs, epsilon=claim.epsilon, stored=None, plan=plan)[:1]
    found += hole_discretizers(data, neighbour, plan)
    test = PlannedTest(runs, claim.delta, request.gamma)
    events = [CellFamilies.of(one, (tally(one(others[0])), tally(one(others[1])))).best(test) for one in found]
    return max(events, key=lambda event: event.expected, default=None)
