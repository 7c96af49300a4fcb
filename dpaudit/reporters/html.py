"""The report as one HTML page: no scripts, no requests, nothing but what the results say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dpaudit.reporters import wording
from dpaudit.reporters.figures import figures
from dpaudit.reporters.ledger import TONES, counts_text
from dpaudit.reporters.row import Finding, Row
from dpaudit.reporters.summary import Summary, summarise
from dpaudit.reporters.unseen import (
    POWER,
    budget_text,
    errors_text,
    frontier_text,
    origin_text,
    origins_text,
    power_text,
    scores_text,
)
from dpaudit.reporters.wording import count, percent, rate, significant, value_text

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
            ledger=[{"row": row, "tone": TONES[row["verdict"]]} for row in summary.ledger],
            ledger_counts=counts_text(summary.ledger),
            versions=sorted(run["header"]["versions"].items()),
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
    if summary.violations or len(summary.convicted) < len(summary.controls):
        return "violation"
    return "undecided" if summary.undecided or summary.pending or not summary.learners else "clear"


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
        "cases": [_case(result) for result in row.cases],
        "outcome": _row_outcome(row),
        "figures": _figures(row, name),
    }


def _row_outcome(row: Row) -> str:
    """Return the word that colours a learner's verdict."""
    if row.verdict.startswith("violation"):
        return "violation"
    if row.verdict == "no privacy claim":
        return "neutral"
    return "undecided" if row.verdict.startswith(("undecided", "privacy not")) else "clear"


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
        "detectable": significant(f["detectable_epsilon"], "up", apart_from=f["epsilon"], infinity="∞"),
    }


def _unseen(finding: Finding | None) -> dict[str, Any] | None:
    """Return the block "what was not seen" in text."""
    if finding is None:
        return None
    return {
        "power": _unbroken(POWER),
        "seen": power_text(finding),
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
    """Return the learner's figures as safe markup with captions."""
    from markupsafe import Markup

    return [{"svg": Markup(drawn), "caption": caption} for drawn, caption in figures(row, name)]
