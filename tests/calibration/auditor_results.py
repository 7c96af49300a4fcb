"""The results of a calibration, as the document that the package carries and as a page of Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from auditor_profiles import Cell
from auditor_trials import LEVEL
from scipy.stats import binom

from dpaudit.audit.power import LEARNING, LEARNING_OF_BETS
from dpaudit.report.calibration import Table, broken_promises, rates, tables
from dpaudit.report.calibration_record import CALIBRATION_VERSION, Calibration
from dpaudit.results import versions
from dpaudit.utility.interval import failure_interval

__all__ = ["BROKEN_BEYOND_CHANCE", "document", "markdown", "sentences"]

POWER = 0.95
BROKEN_BEYOND_CHANCE = 1e-3
"""The probability that a calibration finds a broken promise where all are kept, all cells together."""
PROMISED = {
    ("given", 1): POWER,
    ("bets given", 1): POWER,
    ("fixed", LEARNING): 0.9,
    ("sequential", LEARNING_OF_BETS): 0.9,
}
"""The power that is promised, by design and multiple of the runs that detect by a given event: what learning an event
costs differs between mechanisms, so that "about 0.95" is held against 0.9."""


def document(
    profile: str, cells: Sequence[tuple[Cell, int]], audits: Mapping[str, Mapping[str, Any]], budget: Mapping[str, Any]
) -> dict[str, Any]:
    """Return all that was found, without a date: the same results give the same document.

    Parameters
    ----------
    profile : str
        Its name.
    cells : sequence of (Cell, int)
        And how many audits of each accused.
    audits : mapping
        By id of a learner: "fault" (or None), "convicted", "lower" and "claim".
    budget : mapping
        "trials" and "confidence" of the audits of learners.
    """
    least = BROKEN_BEYOND_CHANCE / max(1, len(cells))
    null = [_null(cell, accused, least) for cell, accused in cells if not cell.factor]
    alternative = [_alternative(cell, accused, least) for cell, accused in cells if cell.factor]
    controls, sound = ([_learner(id, a) for id, a in audits.items() if bool(a["fault"]) == k] for k in (True, False))
    return {
        "schema_version": CALIBRATION_VERSION,
        "profile": profile,
        "seed": 0,
        "versions": versions(),
        "level": round(LEVEL, 6),
        "power_promised": POWER,
        "false_accusations": null,
        "power": alternative,
        "mutation": {**budget, "controls": controls, "sound": sound},
        "broken": _broken(null, alternative, controls, sound, 1 - budget["confidence"]),
    }


def _counted(cell: Cell, accused: int) -> dict[str, Any]:
    """Return the entries of a cell under the null or the alternative."""
    trial = cell.trial
    lower, upper = failure_interval(accused, cell.audits, 0.95)
    return {
        "mechanism": trial.case,
        "outputs": trial.of.kind,
        "delta": round(trial.of.delta, 6),
        "condition": trial.condition,
        "design": trial.design,
        "runs": trial.trials,
        "pairs": trial.pairs,
        "jobs": trial.jobs,
        "audits": cell.audits,
        "accused": accused,
        "rate": round(accused / cell.audits, 6),
        "lower": round(lower, 6),
        "upper": round(upper, 6),
    }


def _null(cell: Cell, accused: int, least: float) -> dict[str, Any]:
    """Return a cell with the one-sided p-value of its rate being at most the level."""
    p_value = float(binom.sf(accused - 1, cell.audits, LEVEL))
    return {**_counted(cell, accused), "level": round(LEVEL, 6), "p_value": _short(p_value), "broken": p_value < least}


def _alternative(cell: Cell, accused: int, least: float) -> dict[str, Any]:
    """Return a cell with, where power is promised, the one-sided p-value of its rate being at least that."""
    trial = cell.trial
    promised = PROMISED.get((trial.design, cell.factor))
    p_value = None if promised is None else float(binom.cdf(accused, cell.audits, promised))
    return {
        **_counted(cell, accused),
        "removed": round(1 - trial.noise, 6),
        "epsilon": round(trial.of.epsilon_at(trial.noise), 6),
        "predicted": cell.predicted,
        "factor": cell.factor,
        "p_value": None if p_value is None else _short(p_value),
        "broken": p_value is not None and p_value < least,
    }


def _short(p_value: float) -> float:
    return float(f"{p_value:.3g}")


def _learner(id: str, audit: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": id, "convicted": audit["convicted"], "lower": round(audit["lower"], 4), "claim": audit["claim"]}


def _broken(
    null: Sequence[Mapping[str, Any]],
    alternative: Sequence[Mapping[str, Any]],
    controls: Sequence[Mapping[str, Any]],
    sound: Sequence[Mapping[str, Any]],
    level: float,
) -> list[str]:
    """Return the promises that were broken, in words."""
    accused = [learner["id"] for learner in sound if learner["convicted"]]
    # One sound learner in a thousand may be accused; it is named only where there are more than chance allows.
    excess = binom.sf(len(accused) - 1, len(sound), level) < BROKEN_BEYOND_CHANCE
    return [
        *(f"accuses too often: {_words(cell)}" for cell in null if cell["broken"]),
        *(f"detects too seldom: {_words(cell)}" for cell in alternative if cell["broken"]),
        *(f"planted leak not detected: {control['id']}" for control in controls if not control["convicted"]),
        *(f"sound learner accused: {id}" for id in accused if excess),
    ]


def _words(cell: Mapping[str, Any]) -> str:
    pairs = "" if cell["pairs"] == 1 else f", {cell['pairs']} pairs"
    noise = f", {100 * cell['removed']:.0f} % less noise" if "removed" in cell else ""
    return f"{cell['mechanism']}, {cell['condition']}, {cell['design']}, {cell['runs']:,} runs a side{pairs}{noise}"


def sentences(found: Mapping[str, Any]) -> list[str]:
    """Return what a document amounts to."""
    calibration = msgspec.convert(found, Calibration)
    return [*rates(calibration), *broken_promises(calibration)]


def markdown(found: Mapping[str, Any]) -> str:
    """Return the page of a document."""
    used = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    command = f"python scripts/calibrate.py --profile {found['profile']} --out docs/calibration.md"
    lines = ["# The auditor audited", "", f"Made by `{command}` (seed {found['seed']}; {used}).", ""]
    lines += [f"* {sentence}" for sentence in sentences(found)]
    for table in tables(msgspec.convert(found, Calibration)):
        lines += ["", f"## {table.title}", "", table.note, "", *_table(table)]
    return "\n".join([*lines, ""])


def _table(table: Table) -> list[str]:
    """Return a table in Markdown; what breaks a promise is bold."""
    rows = [
        tuple(f"**{text}**" for text in row) if broken else row
        for row, broken in zip(table.rows, table.broken, strict=True)
    ]
    return [f"| {' | '.join(line)} |" for line in (table.heads, ["---"] * len(table.heads), *rows)]
