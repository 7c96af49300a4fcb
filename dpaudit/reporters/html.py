"""The report as one HTML page: no scripts, no requests, nothing but what the results say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dpaudit.engine.records import Run
from dpaudit.harmless import harmless
from dpaudit.reporters.calibration import broken_promises, rates, tables
from dpaudit.reporters.calibration_record import load_calibration
from dpaudit.reporters.compact import share_styles
from dpaudit.reporters.ledger import TONES, counts_text
from dpaudit.reporters.numbers import count, percent, value_text
from dpaudit.reporters.summary import Summary, learners_text, summarise
from dpaudit.reporters.views import View, unbroken, view
from dpaudit.reporters.wording import BOUNDS, SETTINGS, label_parameters

if TYPE_CHECKING:
    import jinja2

__all__ = ["render"]

_TEMPLATE = "report.html.j2"


def render(run: Run) -> str:
    """Return the report of a run as one self-contained HTML page.

    The same results give the same bytes (with the same version of matplotlib, which draws the figures).

    Parameters
    ----------
    run : Run
        The stored run.
    """
    summary = summarise(run)
    views = [view(f"learner-{i}", row) for i, row in enumerate([*summary.learners, *summary.controls], start=1)]
    styles, views = _with_shared_styles(views)
    split = len(summary.learners)
    return (
        _environment()
        .get_template(_TEMPLATE)
        .render(
            header=run.header,
            summary=summary,
            learners=views[:split],
            controls=views[split:],
            outcome=_outcome(summary),
            headline=_headline(summary),
            counted=learners_text(summary.learners),
            figure_styles=styles,
            tones=TONES,
            ledger_counts=counts_text(summary.ledger),
            calibration=_calibration(),
            bounds=BOUNDS,
            settings=SETTINGS,
            versions=sorted(run.header.versions.items()),
            sources=sorted(run.header.sources.items()),
        )
    )


def _environment() -> jinja2.Environment:
    """Return the template environment: everything is made harmless and escaped, and an unknown name is an error."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("dpaudit.reporters"),
        autoescape=True,
        finalize=_harmless,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(count=count, percent=_percent, value=value_text, parameters=label_parameters)
    return environment


def _harmless(value: Any) -> Any:
    """Return what a template is about to show; markup is made here from words that are harmless."""
    return harmless(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def _percent(share: float) -> str:
    """Return a percentage that no line break tears from its sign."""
    return unbroken(percent(share))


def _outcome(summary: Summary) -> str:
    """Return the word that colours the verdict paragraph."""
    if summary.violations or summary.missed:
        return "violation"
    if summary.without_evidence and summary.whole:
        return "no-evidence"
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
    unseen = len({row.learner for row in summary.without_evidence})
    open_ = f", and no evidence on {unseen} of {learners} learner{'s' * (learners != 1)}" if unseen else ""
    return f"No violation found at these runs{open_}{missed}."


def _with_shared_styles(views: Sequence[View]) -> tuple[Any, list[View]]:
    """Return the style sheet that the figures of all views share, and the views with their figures as markup."""
    from markupsafe import Markup

    sheet, slim = share_styles([drawn for view in views for drawn, _ in view.figures])
    svgs = iter(slim)
    # Figures are made here from escaped words.
    shared = [view._replace(figures=[(Markup(next(svgs)), caption) for _, caption in view.figures]) for view in views]
    return Markup(sheet), shared


def _calibration() -> dict[str, Any] | None:
    """Return the auditor's own audit in text; None where the package carries none."""
    found = load_calibration()
    if found is None:
        return None
    used = ", ".join(f"{name} {version}" for name, version in found.versions.items())
    return {
        "rates": [sentence.replace(" %", "\N{NO-BREAK SPACE}%") for sentence in rates(found)],
        "broken": broken_promises(found),
        "tables": tables(found),
        "made": f"profile {found.profile}, seed {found.seed}, {used}",
    }
