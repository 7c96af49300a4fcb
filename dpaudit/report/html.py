"""Reports as one HTML page: of a run with a figure and a table of all mechanisms, or of the audits of one mechanism.

Nothing is loaded from elsewhere, and nothing needs the few lines of script: they sort and filter the table.
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.contract import OF_PRIVACY, Direction, OriginKind, Part, PrivacyVerdict, Relation, TaskVerdict
from dpaudit.escaping import printable
from dpaudit.events.event import Withheld
from dpaudit.evidence.records import LedgerRow, Result, Run
from dpaudit.exact.finding import LawFinding
from dpaudit.places import parted
from dpaudit.report import figures, sentences
from dpaudit.report.about import about_row, date_words, started_words
from dpaudit.report.columns import PRIVACY, Column, columns_of, numbers_of, shown_number
from dpaudit.report.glossary import CATCHES, OF_ONE, OF_RUNS, OFTEN, meanings
from dpaudit.report.ledger import MEANINGS, PARTS, place_words
from dpaudit.report.numbers import count, number, percent, plural, raised, share, value_text
from dpaudit.report.pictures import pictures
from dpaudit.report.repeat import repeat_command
from dpaudit.report.summary import Summary, shown_of, summarise
from dpaudit.report.terminal import Lines
from dpaudit.report.trade_off import trade_off_figure
from dpaudit.report.view import AuditedMechanism, OneAudit, Row, row_of, view_of
from dpaudit.report.words.claims import label_parameters, times_words
from dpaudit.report.words.events import answer_words, event_words
from dpaudit.report.words.finding import finding_lines
from dpaudit.report.words.laws import covers_text
from dpaudit.report.words.privacy import (
    BOUNDS,
    clock_words,
    curve_lines,
    detected_words,
    group_noun,
    pairs_words,
    seen_words,
    shown_event,
)

if TYPE_CHECKING:
    import jinja2

# Controls that were caught, at most, of which each has a part of the page.
_MOST_UNFOLDED = 12
# Sorts infinity, which no number in a page can be, behind everything.
_LARGEST = 1e99
# The class of each verdict in a page, which has its colour.
TONES = {
    **dict.fromkeys(("missed", "violation", "refuted", "false", "gap"), "bad"),
    **dict.fromkeys(("misprint", "edge case"), "none"),
    **dict.fromkeys(("failed", "incomplete", "no evidence", "undecided", "accepted"), "none"),
    **dict.fromkeys(("loose", "holds", "not refuted", "consistent"), "ok"),
    **dict.fromkeys(("derived", "vacuous", "not checked", "no claim"), "nc"),
    "caught": "caught",
}
# The verdicts that the table of all mechanisms is filtered by, each with all others of its tone.
_VERDICTS = (*OF_PRIVACY, TaskVerdict.NO_CLAIM, TaskVerdict.CAUGHT)
# Characters of what differs in an input, before and behind it; recipes of a dataset are shown whole.
_LONGEST_PART = 100
_LONGEST_RECIPE = 1_000
_WITHHELD_BARS = (
    "Bars: in how many runs the answer was one of those by which the two inputs are told apart best; whoever gets such "
    "an answer learns {more}about what differs. Which answers these are is not shown, as they may reveal records "
    "(include_data shows them)."
)
# Relations of neighbours in words, and what then differs between two of them; {} is what comes or goes.
_NEIGHBOURS = {
    Relation.REPLACE_ONE: ("one {} is replaced", "one {} changes"),
    Relation.ADD_REMOVE_ONE: ("one {} is added or removed", "one {} more or less"),
    Relation.REPLACE_PRIVATE: ("one private {} is replaced", "one private {} changes"),
    None: ("as you gave them", "two neighbouring inputs"),
}


def render(run: Run) -> str:
    """Return the report of a run as one self-contained HTML page; the same results give the same bytes."""
    return filled("run.html.j2", run_page(run))


def run_page(run: Run) -> dict[str, Any]:
    """Return what the page of a run shows, by the names in its template."""
    summary = summarise(run)
    learners, missed, rest = shown_of(summary)
    # Controls that were caught have parts of their own only where they are few; else a table lists them.
    few = []
    if len(rest) <= _MOST_UNFOLDED:
        few = rest
    parts = {m.id: _part(m, _command(m.tested, run)) for m in (*missed, *learners, *few)}
    confidences = {row.blackbox.confidence for row in (*summary.learners, *summary.controls) if row.blackbox}
    columns = columns_of([numbers_of(m) for m in (*missed, *learners, *few)])
    # A claim that is a curve has no place on the axis of epsilon.
    claiming = [m for m in learners if m.state != TaskVerdict.NO_CLAIM and m.tested.curve is None]

    def drawn(shown: Sequence[AuditedMechanism]) -> list[dict[str, Any]]:
        return [{"mechanism": m, "svg": figures.claim_row(m), "aside": figures.aside(m)} for m in shown]

    return {
        "answer": sentences.headline(summary),
        "date": date_words(run.started),
        "counts": sentences.tallies(summary),
        "caveat": sentences.CAVEAT,
        "contents": _contents(summary, run),
        "grid": figures.grid(),
        "axis": figures.claims_axis(),
        "rows": drawn([*missed, *claiming]),
        "unclaimed": plural(len(learners) - len(claiming), "mechanism") if len(claiming) < len(learners) else "",
        "control_rows": drawn(few),
        "confidence": " or ".join(map(percent, sorted(confidences))) or "not",
        "verdicts": _VERDICTS,
        "columns": columns,
        "catches": CATCHES,
        "accuracy": any(column.promise == "accuracy" for column in columns),
        "lines": [_line(m, columns) for m in (*missed, *learners, *few)],
        "open": [parts[m.id] for m in (*missed, *learners) if m.needs_look],
        "calm": [parts[m.id] for m in learners if not m.needs_look],
        "most": _MOST_UNFOLDED,
        "any_controls": bool(summary.controls),
        "single": run.single,
        "controls": [parts[m.id] for m in few],
        "control_columns": PRIVACY,
        "control_lines": [] if few else [_line(m, PRIVACY) for m in rest],
        "calibration": calibration_words(),
        "ledgers": _ledgers(summary.ledger),
        "pending": [key + (f": {summary.errors[key]}" if key in summary.errors else "") for key in summary.pending],
        "faults": [f"{fault.learner}: {fault.error}" for fault in summary.faults],
        "words": meanings(OF_RUNS),
        "command": run.header.command,
        "remake": _remake_words(run),
    }


def _remake_words(run: Run) -> str:
    """Return with what a run was made, and what is the same if it is made again."""
    header = run.header
    # What the clock decided another machine may decide otherwise.
    same = "The same command with the same versions gives the same bytes but for the date"
    if clock := clock_words(*(one.finding for one in run.results)):
        same = f"The same command may give other bytes, for {clock}; made with"
    work = f"Profile {header.profile}, seed {header.seed}"
    digests = "".join(f"; {name} has the digest {digest}" for name, digest in sorted(header.sources.items()))
    sealed = ""
    # Audits that were asked for one by one have no run file, and so no seal.
    if not run.single:
        sealed = f" Seal of the results, as `dpaudit verify` prints it: {run.seal}."
    return f"Started: {started_words(run)}. {work}. {same}: {_versions(header.versions)}{digests}.{sealed}"


def _contents(summary: Summary, run: Run) -> list[tuple[str, str]]:
    found = [("figure", "All claims"), ("table", "Table"), ("each", "Each mechanism")]
    if summary.controls or not run.single:
        found += [("controls", "Controls")]
    if summary.ledger:
        found += [("ledger", "Ledger of papers")]
    if not summary.whole:
        found += [("pending", "Without a result")]
    return [*found, ("words", "Words"), ("again", "Repeat")]


def _line(mechanism: AuditedMechanism, columns: Sequence[Column]) -> dict[str, Any]:

    # The table is sorted in the browser by these: what is missing is less than every number, and infinity more.
    def key(value: float | None) -> float:
        if value is None:
            return -1
        if math.isfinite(value):
            return value
        return _LARGEST

    numbers = numbers_of(mechanism)
    return {
        "mechanism": mechanism,
        "cells": [(raised(column.text(numbers)), key(numbers.get(column.name))) for column in columns],
        "accuracy": mechanism.accuracy,
        "caught_by": " and ".join("the laws" if kind == "exact" else "runs" for kind in mechanism.tested.convicted_by),
    }


def _ledgers(rows: Sequence[LedgerRow]) -> list[dict[str, Any]]:

    def statement(row: LedgerRow) -> dict[str, Any]:
        return {
            "row": row,
            "short": row.short or row.statement,
            "summary": row.summary.rstrip("."),
            "place": "; ".join(filter(None, place_words(row))),
            "printed": raised(row.printed),
            "found": raised(row.found),
            "best": raised(row.best),
        }

    # Statements of papers come first, the gravest verdict before others; then ours, and those that test the auditor.
    grouped: dict[tuple[bool, int, str], list[LedgerRow]] = {}
    for row in rows:
        of_papers = row.part == Part.PAPERS
        if of_papers:
            key = (not of_papers, row.verdict.rank, str(row.verdict))
        else:
            key = (True, 0, PARTS[row.part])
        grouped.setdefault(key, []).append(row)
    return [
        {
            "id": f"ledger-{label.replace(' ', '-')}",
            "label": label.capitalize(),
            "meaning": "" if others else MEANINGS[found[0].verdict],
            "rows": [*map(statement, found)],
            "open": not others and found[0].verdict.needs_look,
        }
        for (others, _, label), found in sorted(grouped.items())
    ]


def calibration_words() -> str:
    """Return how often the auditor errs, either way, as `scripts/calibrate.py` measures it."""
    found = json.loads(files("dpaudit").joinpath("data", "calibration.json").read_bytes())
    audits, refuted, faults, detected = (count(found[name]) for name in ("audits", "refuted", "faults", "detected"))
    return (
        f"How often the auditor errs: {refuted} of {audits} audits of claims that hold found a violation "
        f"({percent(found['level'])} are allowed), and {detected} of {faults} learners with a planted leak were "
        "detected. All settings are in docs/research/calibration.md."
    )


def _command(row: Row, run: Run) -> str:
    """Return the command that audits a mechanism again: the check of a project, or the audit that decided."""
    if row.learner in run.listed:
        return shlex.join(["dpaudit", "check", run.listed[row.learner].name])
    # The file that it went on from no result names.
    if row.blackbox is not None and row.blackbox.continued:
        return run.header.command
    audits = (finding for finding in (row.blackbox, row.exact, row.utility) if finding is not None)
    stored = (row.view_of(finding).stored for finding in audits)
    return next((repeat_command(one, run.header.seed) for one in stored if one is not None), "")


def render_finding(found: OneAudit | Result | Sequence[OneAudit | Result], command: str = "", started: str = "") -> str:
    """Return the report of the audits of one mechanism as a self-contained page; equal findings give equal bytes.

    There are several of its accuracy in several settings; the `command` repeats them, and is left out if empty. They
    were `started` at a time in UTC, where that is known.
    """
    views = [view_of(one) for one in (found if isinstance(found, Sequence) else [found])]
    row = row_of(views)
    mechanism = AuditedMechanism("mechanism", [row])
    privacy = row.blackbox is not None or row.exact is not None
    if privacy:
        verdict = row.verdict
    else:
        verdict = row.utility_verdict
    shown = _part(mechanism, command)
    seeds = {str(view.finding.seed) for view in views if not isinstance(view.finding, LawFinding)}
    made = "; ".join(filter(None, (", ".join(sorted(seeds)), _versions(views[0].finding.versions))))
    page = {
        "name": parted(row.learner)[1],
        "date": date_words(started),
        "verdict": verdict,
        "says": sentences.finding_words(mechanism),
        "bar": figures.claim_bar(mechanism) if privacy else "",
        "often": OFTEN if row.blackbox is None else f"{OFTEN}, {pairs_words(row.blackbox)}",
        "power": "" if row.blackbox is None else figures.power_figure(row.blackbox),
        "part": {**shown, "says": [], "method": [*shown["method"], ("Seed and versions", made)]},
        "words": meanings(OF_ONE),
        "clock": clock_words(*(view.finding for view in views)),
    }
    return filled("one.html.j2", page)


def _versions(used: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in sorted(used.items()))


def filled(template: str, page: object) -> str:
    """Return a template of ours filled with what a page shows."""
    return _tidy(_environment().get_template(template).render(page=page))


def extended(source: str, page: object) -> str:
    """Return a template that is given as text, and may extend one of ours, filled with what a page shows."""
    return _tidy(_environment().from_string(source).render(page=page))


def _tidy(text: str) -> str:
    # Tags of templates leave empty lines behind.
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip()) + "\n"


@cache
def _environment() -> jinja2.Environment:
    """Return the template environment: all text is escaped, and an unknown name is an error."""
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("dpaudit.report"),
        autoescape=True,
        finalize=lambda value: printable(value) if isinstance(value, str) and not hasattr(value, "__html__") else value,
        # A name that a page does not have is a fault of the tool, and no empty place in a report.
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # For figures alone, which `report.svg` escapes.
    environment.filters["markup"] = Markup
    environment.filters["tone"] = TONES.__getitem__
    return environment


def _part(mechanism: AuditedMechanism, command: str) -> dict[str, Any]:
    """Return everything that a page shows of one mechanism, by the names in the templates; `command` repeats it."""
    row = mechanism.tested
    return {
        "mechanism": mechanism,
        "aside": figures.aside(mechanism),
        "says": sentences.says(mechanism),
        "about": about_row(row),
        "curve": trade_off_figure(mechanism) or figures.curve_figure(mechanism),
        "numbers": _numbers(mechanism),
        "witness": None if row.blackbox is None else _witness(row, row.blackbox),
        "accuracy": figures.accuracy_figure(mechanism.accurate),
        "method": _method(mechanism),
        "pictures": [view for instance in mechanism.rows for view in pictures(instance, f"{mechanism.id}-picture")],
        "command": command,
    }


def _numbers(mechanism: AuditedMechanism) -> Lines:
    row = mechanism.tested
    claim = mechanism.tested.claim
    lines = list[tuple[str, str]]()
    if claim is not None:
        relation: Relation | None = claim.relation
        if row.blackbox is not None:
            relation = row.blackbox.relation
        neighbours = _NEIGHBOURS[relation][0].format(_noun(row))
        curve = None
        if row.curve is not None:
            curve = row.blackbox
        # A number that was given is shown as it was given; that of a point was computed, and is rounded.
        word, shown = ("point tested", number) if curve else ("claimed", value_text)
        lines = []
        if curve:
            lines = curve_lines(curve)
        what = f"{word}, with δ = {raised(shown(claim.delta))}; neighbours: {neighbours}"
        lines.append((f"ε = {raised(shown(claim.epsilon))}", what))
    elif row.exact is not None:
        lines.append(("none", "claimed: it promises no privacy"))
    if (exact := row.exact) is not None:
        # Without an epsilon at the claimed delta the exact one is that at delta = 0.
        delta = 0.0
        if exact.epsilon_at_claim is not None:
            delta = exact.claimed_delta
        at = ""
        if delta:
            at = f" at δ = {raised(value_text(delta))}"
        worst = f"exact{at}, the worst of {covers_text(exact)}"
        lines.append((f"ε = {shown_number(row, 'exact_epsilon')}", worst))
        if exact.claimed_delta > 0:
            least = number(exact.delta_at_claim, "up", apart_from=exact.claimed_delta)
            lines.append((f"δ = {least}", "exact at the claimed ε"))
    if (found := row.blackbox) is not None and row.curve is None:
        fresh = f"{count(2 * found.confirmation_trials)} fresh runs on two inputs"
        by = "bets on runs"
        if found.design == "fixed":
            by = fresh
        lines.append((f"ε ≥ {shown_number(row, 'epsilon_lower')}", f"found, {percent(found.confidence)} sure, by {by}"))
        if found.gaps or math.isinf(found.detectable_epsilon):
            lines.append(("none", "is detectable: no leak was within reach"))
        else:
            lines.append((f"ε ≥ {shown_number(row, 'detectable_epsilon')}", detected_words(found)))
    if row.fault is None and (utility := mechanism.accurate.utility) is not None:
        interval = f"[{share(utility.failure_lower, 'down')} to {share(utility.failure_upper, 'up')} %]"
        runs = f"of {plural(utility.trials, 'run')} fail at n = {count(utility.n)} {interval}"
        kept = mechanism.accuracy
        lines.append((f"{share(utility.failure_rate)} %", f"{runs}; {share(utility.beta)} % are allowed: {kept}"))
    return lines


def _noun(row: Row) -> str:
    """Return what neighbours of a mechanism differ in: a learner's samples hold examples."""
    if row.blackbox is not None and (group := group_noun(row.blackbox)):
        return f"group of {group}"
    if row.blackbox is not None and any(origin.kind is OriginKind.OWN_USERS for origin in row.blackbox.origins):
        return "user"
    if any(view.is_learner for view in row.views):
        return "example"
    return "record"


def _witness(row: Row, finding: PrivacyFinding) -> dict[str, Any]:
    found = finding.witness
    decoded = row.view_of(finding).decoded
    refutes = finding.verdict == PrivacyVerdict.VIOLATION or row.fault is not None
    title = f"{'The witness' if refutes else 'The closest call'}: {_NEIGHBOURS[finding.relation][1].format(_noun(row))}"
    # An event in simpler words is shown in the place of the one that was tested, with its own counts.
    counted = shown_event(finding)
    # Bets have no single event that was counted.
    if counted.hits is None:
        answer = event_words(found.event, decoded)
        counts = [(0, 0), (0, 0)]
    else:
        likely, other = counted.rates or (0.0, 0.0)
        often = "in no run"
        if likely:
            often = "on one alone"
        if other:
            often = times_words(likely / other, finding.epsilon, number) + " times, and δ" * (finding.delta > 0)
        title += f", and one answer comes {often}"
        answer = answer_words(counted.event, decoded) + seen_words(finding)
        counts = [(counted.hits, counted.trials or 0), (counted.neighbour_hits or 0, counted.neighbour_trials or 0)]
    # Counts begin with the likelier side, and the page with the data.
    if counted.direction == Direction.BACKWARD:
        counts.reverse()
    sides = [("D", found.data, found.differs[0], *counts[0]), ("D′", found.neighbour, found.differs[1], *counts[1])]
    longest = _LONGEST_PART
    if found.origin.kind.own:
        longest = _LONGEST_RECIPE
    differs = ""
    if found.difference is not UNSET and found.difference not in found.neighbour:
        differs = f"D′ is D, but {found.difference}. "
    bars = f"Bars: how often the answer is {answer}."
    if isinstance(counted.event, Withheld):
        bars = _WITHHELD_BARS.format(more="more than the claim allows " if refutes else "")
    shown = [_side(*side, longest=longest) for side in sides]
    return {"title": title, "answer": answer, "bars": bars, "differs": differs, "sides": shown}


def _side(name: str, text: str, differs: tuple[int, int], hits: int, trials: int, *, longest: int) -> dict[str, str]:
    before = text[: differs[0]]
    changed = text[differs[0] : differs[1]]
    after = text[differs[1] :]
    # A space at the edge of what is marked would be marked as well.
    blank = len(changed) - len(changed.lstrip())
    before = before + changed[:blank]
    changed = changed[blank:]
    most = longest - 1
    changed, after = (part if len(part) <= most + 1 else f"{part[:most]}…" for part in (changed, after))
    # What stands right before the difference is of most help.
    if len(before) > most + 1:
        before = f"…{before[-most:]}"
    side = {"name": name, "before": before, "changed": changed, "after": after}
    if not trials:
        return side | {"share": ""}
    runs = f"{count(hits)} of {count(trials)}"
    return side | {"width": f"{100 * hits / trials:.2f}", "share": share(hits / trials), "runs": runs}


def _method(mechanism: AuditedMechanism) -> Lines:
    row = mechanism.tested
    exact = mechanism.tested.exact
    runs = mechanism.tested.blackbox
    lines = []
    if row.parameters:
        lines = [("parameters", label_parameters(row.parameters))]
    if exact is not None:
        lines += [("Exact", row.scope or "inputs given"), *finding_lines(row.view_of(exact))]
    else:
        lines.append(("Exact", f"not computed: {row.missing['exact']}"))
    if runs is not None:
        view = row.view_of(runs)
        lines += [("Runs", f"bound: {BOUNDS.get(runs.bound, runs.bound)}"), *finding_lines(view)]
        if len(runs.tests) > 1:
            lines += [("event", answer_words(test.event, view.decoded)) for test in runs.tests]
    elif row.claim is not None:
        lines.append(("Runs", f"none: {row.missing['privacy']}"))
    for instance in mechanism.rows:
        for one in map(instance.in_setting, instance.settings):
            if one.utility is not None:
                named = ""
                if len(mechanism.rows) > 1:
                    named = f" ({label_parameters(one.parameters)})"
                worst = f"{one.utility.setting}, the worst of {plural(len(one.cases), 'hard case')}{named}"
                lines += [("Accuracy", worst), *finding_lines(one.view_of(one.utility))]
    if row.fault is None and (why := mechanism.accurate.missing.get("utility")):
        lines.append(("Accuracy", f"not computed: {why}"))
    return lines
