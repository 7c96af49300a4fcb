"""The report of a single audit as one HTML page of two printed pages: the answer, the witness, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpaudit.engine.records import Result
from dpaudit.report.numbers import count, plural
from dpaudit.report.page.claim_figures import claim_bar, power_figure
from dpaudit.report.page.curve_figures import accuracy_figure, curve_figure
from dpaudit.report.page.finding import answer_one, lede_one, power_words
from dpaudit.report.page.method import method
from dpaudit.report.page.part import audited_numbers
from dpaudit.report.page.template import filled
from dpaudit.report.page.witness import witness
from dpaudit.report.page.words import FEW
from dpaudit.report.view import Mechanism, Row, row_of
from dpaudit.report.wording import named_event

__all__ = ["render_finding"]


def render_finding(result: Result | Sequence[Result], command: str = "") -> str:
    """Return the report of the audits of one mechanism as a self-contained page; equal results give equal bytes.

    Parameters
    ----------
    result : Result or sequence of Result
        What an audit found, or several of one mechanism, as of its accuracy in several settings.
    command : str
        The command that repeats it; left out if empty.
    """
    results = [result] if isinstance(result, Result) else list(result)
    row = row_of(results)
    mechanism = Mechanism("mechanism", [row])
    tone, verdict, answer = answer_one(mechanism)
    privacy = row.claim is not None or row.exact is not None
    page: dict[str, Any] = {
        "name": row.learner,
        "tone": tone,
        "verdict": verdict,
        "answer": answer,
        "lede": lede_one(mechanism),
        "bar": claim_bar(mechanism) if privacy else "",
        "curve": curve_figure(mechanism) if privacy else None,
        "five": _numbers(mechanism, privacy),
        "accuracy": accuracy_figure(row),
        "method": [*method(mechanism), ("Seed and versions", _versions(results))],
        "command": command,
        "words": FEW,
        **_witness(row),
        **_power(row),
    }
    return filled("one.html.j2", page)


def _numbers(mechanism: Mechanism, privacy: bool) -> list[tuple[str, str]]:
    """Return the numbers that were asked for: those of what was not audited are left out."""
    row = mechanism.tested
    found = audited_numbers(mechanism, privacy)
    if row.blackbox is not None:
        runs = f"runs a side of each of {plural(row.blackbox.pairs, 'pair')}, on average"
        found.append((count(row.blackbox.trials), f"{runs}; {plural(row.blackbox.events, 'event')} compared"))
    return found


def _witness(row: Row) -> dict[str, Any]:
    """Return the heading, the two inputs and the note on the witness; no sides without one."""
    if row.blackbox is None:
        return {"sides": [], "witness_title": "", "witness_note": ""}
    shown = witness(row, row.blackbox)
    named = named_event(row.blackbox.witness.event, row.decoded(row.blackbox))
    counted = row.blackbox.witness.hits is not None
    fresh = "Both bars run from 0 to 100 % of runs. These runs are fresh: none of them chose the inputs or the answer."
    return {
        "sides": shown.sides,
        "witness_title": f"{shown.heading}: the {named}" if counted else shown.heading,
        "witness_note": fresh if counted else f"{shown.answer[:1].upper()}{shown.answer[1:]}.",
    }


def _power(row: Row) -> dict[str, Any]:
    """Return the figure of power and its words; empty without runs."""
    if row.blackbox is None:
        return {"power": "", "power_words": []}
    return {"power": power_figure(row.blackbox), "power_words": power_words(row.blackbox)}


def _versions(results: Sequence[Result]) -> str:
    """Return the seeds and the versions that the numbers depend on."""
    seeds = sorted({str(seed) for r in results if (seed := getattr(r.finding, "seed", None)) is not None})
    used = ", ".join(f"{name} {version}" for name, version in sorted(results[0].finding.versions.items()))
    return "; ".join(filter(None, (", ".join(seeds), used)))
