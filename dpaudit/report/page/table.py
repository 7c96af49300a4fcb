"""The table of all mechanisms: each cell with what it is sorted by."""

from __future__ import annotations

import math
from typing import NamedTuple

from dpaudit.contract import Verdict
from dpaudit.report.numbers import value_text
from dpaudit.report.page.text import epsilon_exact, epsilon_found, epsilon_seen, raised, share
from dpaudit.report.view import Mechanism, Row

__all__ = ["Cell", "ControlLine", "Line", "control_line", "line"]

_LARGEST = 1e99
"""Sorts infinity, which no number in a page can be, behind everything."""
_ACCURACY = {
    Verdict.VIOLATION: "broken",
    Verdict.NOT_CHECKED: "not run",
    Verdict.INCOMPLETE: "not finished",
}


class Cell(NamedTuple):
    """The text of a cell and the number that it is sorted by."""

    text: str
    key: float


class Line(NamedTuple):
    """A line of the table."""

    id: str
    name: str
    state: Verdict
    conflict: bool
    cells: list[Cell]
    interval: str
    allowed: Cell
    accuracy: str


def line(mechanism: Mechanism) -> Line:
    """Return the line of a mechanism."""
    row, found = mechanism.tested, mechanism.accurate.utility
    interval = "–"
    if found is not None:
        interval = f"{share(found.failure_lower, 'down')}–{share(found.failure_upper, 'up')}"
    return Line(
        id=mechanism.id,
        name=mechanism.name,
        state=mechanism.state,
        conflict=row.conflict,
        cells=[
            *_privacy(mechanism, row),
            _cell("" if found is None else share(found.failure_rate), None if found is None else found.failure_rate),
        ],
        interval=interval,
        allowed=_cell("" if found is None else share(found.beta), None if found is None else found.beta),
        accuracy=_ACCURACY.get(mechanism.accuracy, str(mechanism.accuracy)),
    )


def _privacy(mechanism: Mechanism, row: Row) -> list[Cell]:
    """Return the claim, the exact epsilon, the one found and the least that would have been caught."""
    claim, bound = row.claim, row.blackbox
    exact = "" if row.exact is None else epsilon_exact(row, row.exact)
    return [
        Cell("none", -1) if claim is None else _cell(raised(value_text(claim.epsilon)), claim.epsilon),
        Cell("", -1) if claim is None else _cell(raised(value_text(claim.delta)), claim.delta),
        _cell(exact, mechanism.tested.exact_epsilon),
        _cell(epsilon_found(row), None if bound is None else bound.epsilon_lower),
        _cell(epsilon_seen(row), None if bound is None else bound.detectable_epsilon),
    ]


def _cell(text: str, value: float | None) -> Cell:
    """Return a cell; a dash where there is no number."""
    if value is None:
        return Cell("–", -1)
    return Cell(text, value if math.isfinite(value) else _LARGEST)


class ControlLine(NamedTuple):
    """A line of the table of controls."""

    id: str
    name: str
    state: Verdict
    fault: str
    claimed: Cell
    exact: Cell
    found: Cell
    caught_by: str


def control_line(mechanism: Mechanism) -> ControlLine:
    """Return the line of a control."""
    shown = line(mechanism)
    claimed, _, exact, found = shown.cells[:4]
    row = mechanism.tested
    caught_by = " and ".join("the laws" if kind == "exact" else "runs" for kind in row.convicted_by)
    return ControlLine(shown.id, shown.name, shown.state, row.fault or "", claimed, exact, found, caught_by)
