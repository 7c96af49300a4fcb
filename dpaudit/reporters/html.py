"""The report as one HTML page: no scripts, no requests, nothing but what the results say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dpaudit.reporters import wording
from dpaudit.reporters.calibration import load_calibration, sentences, tables
from dpaudit.reporters.compact import share_styles
from dpaudit.reporters.figures import figures
from dpaudit.reporters.ledger import TONES, counts_text
from dpaudit.reporters.row import NO_VIOLATION, Finding, Row, powerless
from dpaudit.reporters.summary import Summary, learners_text, summarise
from dpaudit.reporters.unseen import (
    POWER,
    assumed_text,
    budget_text,
    conviction_text,
    errors_text,
    frontier_text,
    origin_text,
    origins_text,
    power_text,
    scores_text,
)
from dpaudit.reporters.wording import BOUNDS, SETTINGS, count, failure_text, percent, rate, significant, value_text

if TYPE_CHECKING:
    import jinja2

__all__ = ["render"]

_TEMPLATE = "report.html.j2"


def render(run: Mapping[str, Any]) -> str:
    """Return the report of a run as one self-contained HTML page.

    The same results give the same bytes (with the same version of matplotlib, which draws the figures).

    Parameters
    ----------
    run : mapping
        ``{"header": {...}, "results": [...]}``.

    Raises
    ------
    InputError
        If the run is of another schema version.
    """
    summary = summarise(run)
    views = [_view(i, row) for i, row in enumerate([*summary.learners, *summary.controls], start=1)]
    styles = _share_styles(views)
    split = len(summary.learners)
    return (
        _environment()
        .get_template(_TEMPLATE)
        .render(
            header=run["header"],
            summary=summary,
            learners=views[:split],
            controls=views[split:],
            outcome=_outcome(summary),
            headline=_headline(summary),
            counted=learners_text(summary.learners),
            figure_styles=styles,
            ledger=[{"row": row, "tone": TONES[row["verdict"]]} for row in summary.ledger],
            ledger_counts=counts_text(summary.ledger),
            calibration=_calibration(),
            bounds=BOUNDS,
            settings=SETTINGS,
            versions=sorted(run["header"]["versions"].items()),
            sources=sorted(run["header"].get("sources", {}).items()),
        )
    )


def _environment() -> jinja2.Environment:
    """Return the template environment: everything is escaped, and an unknown name is an error."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("dpaudit.reporters"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(
        count=count,
        percent=_percent,
        value=value_text,
        parameters=wording.label_parameters,
        claim=wording.claim_text,
        output=wording.output_text,
        event=wording.event_text,
    )
    return environment


def _percent(share: float) -> str:
    """Return a percentage that no line break tears from its sign."""
    return _unbroken(percent(share))


def _unbroken(text: str) -> str:
    """Return text that stays on one line."""
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def _outcome(summary: Summary) -> str:
    """Return the word that colours the verdict paragraph."""
    if summary.violations or summary.missed:
        return "violation"
    return "clear" if summary.learners and summary.whole and not summary.undecided else "undecided"


def _headline(summary: Summary) -> str:
    """Return the verdict on the whole run in one sentence: the gravest first."""
    learners, broken = (len({row.learner for row in rows}) for rows in (summary.learners, summary.violations))
    if broken:
        return f"{broken} of {learners} learner{'s' * (learners != 1)} break{'s' * (broken == 1)} a promise."
    if not summary.whole:
        planned = len(summary.pending) + summary.done
        without = f"{count(len(summary.pending))} of {count(planned)} planned audits have no result."
        return f"Incomplete: {without}" if summary.pending else "Incomplete: some learners could not be audited."
    if not learners:
        return "No learner was audited."
    missed = ", but a positive control was missed" if summary.missed else ""
    return f"No violation found at these runs{missed}."


def _share_styles(views: Sequence[dict[str, Any]]) -> Any:
    """Let the figures of all views share their styles; return the style sheet."""
    from markupsafe import Markup

    drawn = [figure for view in views for figure in view["figures"]]
    sheet, slim = share_styles([figure["svg"] for figure in drawn])
    for figure, svg in zip(drawn, slim, strict=True):
        figure["svg"] = Markup(svg)  # made here from escaped words
    return Markup(sheet)


def _calibration() -> dict[str, Any] | None:
    """Return the auditor's own audit in text; None where the package carries none."""
    found = load_calibration()
    if found is None:
        return None
    used = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    return {
        "sentences": [sentence.replace(" %", "\N{NO-BREAK SPACE}%") for sentence in sentences(found)],
        "tables": tables(found),
        "made": f"profile {found['profile']}, seed {found['seed']}, {used}",
        "broken": bool(found["broken"]),
    }


def _view(index: int, row: Row) -> dict[str, Any]:
    """Return everything that the template shows of a learner, with the numbers as text."""
    name = f"learner-{index}"
    return {
        "id": name,
        "row": row,
        "exact": _exact(row),
        "blackbox": _blackbox(row),
        "utility": _utility(row.utility),
        "unseen": _unseen(row.blackbox),
        "witness": _witness(row.blackbox),
        "settings": [_setting(row.in_setting(setting)) for setting in row.settings],
        "outcome": _row_outcome(row) if row.fault is None else _control_outcome(row)[0],
        "conviction": _control_outcome(row)[1],
        "powerless": row.blackbox is not None and powerless(row.blackbox),
        "figures": _figures(row, name),
    }


def _row_outcome(row: Row) -> str:
    """Return the word that colours a learner's verdict."""
    if row.verdict.startswith("violation"):
        return "violation"
    if row.verdict == "no privacy claim" or (row.verdict == NO_VIOLATION and row.powerless):
        return "neutral"
    unsettled = ("failed", "incomplete", "undecided", "privacy not")
    return "undecided" if row.verdict.startswith(unsettled) else "clear"


def _control_outcome(row: Row) -> tuple[str, str]:
    """Return the word that colours a control, and how it was convicted, if it was."""
    if row.convicted_by:
        return "clear", " + ".join(row.convicted_by)
    return ("violation", "not convicted") if row.complete else ("undecided", row.verdict.partition(":")[0])


def _exact(row: Row) -> dict[str, str] | None:
    """Return the exact worst case in text."""
    f = row.exact
    if f is None:
        return None
    return {
        "epsilon": significant(f["epsilon"], apart_from=f["claimed_epsilon"], error=f["error"], infinity="∞"),
        "error": "0" if f["error"] == 0 else significant(f["error"], "up", digits=2),
        "delta": significant(f["delta_at_claim"], digits=4, apart_from=f["claimed_delta"], error=f["error"]),
    }


def _blackbox(row: Row) -> dict[str, str] | None:
    """Return the black-box numbers in text: bounds rounded the safe way."""
    f = row.blackbox
    if f is None:
        return None
    return {
        "lower": significant(f["epsilon_lower"], "down", apart_from=f["epsilon"], infinity="∞"),
        "conviction": conviction_text(f),
    }


def _unseen(finding: Finding | None) -> dict[str, Any] | None:
    """Return the block "what was not seen" in text."""
    if finding is None:
        return None
    return {
        "power": _unbroken(POWER),
        "seen": power_text(finding),
        "assumed": assumed_text(finding),
        "frontier": frontier_text(finding, infinity="none in reach"),
        "origins": origins_text(finding),
        "scores": scores_text(finding),
        "budget": budget_text(finding),
        "errors": errors_text(finding),
    }


def _utility(finding: Mapping[str, Any] | None) -> dict[str, str] | None:
    """Return a failure rate with its interval in text."""
    if finding is None:
        return None
    beta = finding["beta"]
    return {
        "rate": rate(finding["failure_rate"], beta=beta),
        "lower": rate(finding["failure_lower"], "down", beta=beta),
        "upper": rate(finding["failure_upper"], "up", beta=beta),
    }


def _setting(row: Row) -> dict[str, Any]:
    """Return what was found in one setting for its table; `row` holds the cases of that one alone."""
    finding = row.cases[0]["finding"]
    return {
        "name": finding["setting"],
        "claim": f"Pr[{failure_text(finding)}] should be at most {value_text(finding['beta'])}",
        "claim_id": finding["claim_id"] or "no id given",
        "meaning": SETTINGS[finding["setting"]],
        "cases": [_case(result) for result in row.cases],
    }


def _case(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a hard case for its table."""
    finding = result["finding"]
    name = result["arguments"].get("case") or f"{finding['concept']} under {finding['distribution']}"
    return {"name": name, "finding": finding, "utility": _utility(finding)}


def _witness(finding: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the witness with the two inputs in the order likelier side, other side."""
    if finding is None:
        return None
    w = finding["witness"]
    sides = (w["data"], w["neighbour"])
    likely, other = sides if w["direction"] == "forward" else sides[::-1]
    return {
        "likely": likely,
        "other": other,
        "event": w["event"],
        "origin": origin_text(w["origin"]),
        "pair": w["pair"],
        "hits": w["hits"],
        "trials": w["trials"],
        "other_hits": w["neighbour_hits"],
        "other_trials": w["neighbour_trials"],
        "share": _share(w["hits"], w["trials"]),
        "other_share": _share(w["neighbour_hits"], w["neighbour_trials"]),
    }


def _share(hits: int | None, trials: int | None) -> str:
    """Return hits as a percentage of trials; a share that is not 0 or 1 never looks like it."""
    if hits is None or trials is None:
        return "no single event"
    return "no runs" if trials == 0 else f"{significant(100 * hits / trials, apart_from=100.0)}\N{NO-BREAK SPACE}%"


def _figures(row: Row, name: str) -> list[dict[str, str]]:
    """Return the learner's figures with captions."""
    return [{"svg": drawn, "caption": caption} for drawn, caption in figures(row, name)]
