"""Single audits on the command line: the learner that was named, the result as it is shown, and what is written."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from dpaudit.app.command import here, in_options, suffix_of
from dpaudit.app.options import FORMS, HERE, On, Shown
from dpaudit.app.streams import notify, output, pending, say, wants_color, width_of, written
from dpaudit.errors import InputError, blamed

if TYPE_CHECKING:
    from dpaudit.contract import Learner, Parameter, Verdict
    from dpaudit.evidence.records import Fault, Listed, Result, Run
    from dpaudit.evidence.tasks import Task
    from dpaudit.record import Frozen
    from dpaudit.registry import Entry, Registry
    from dpaudit.report.formats import Promise
    from dpaudit.report.terminal import Lines
    from dpaudit.report.words.finding import OneSearch


# When this command was started: the module is imported for it.
BEGAN = time.time()


def find_learners(paths: Sequence[str], to_audit: bool = True) -> Registry:
    """Return the learners, with a warning for each module that does not load.

    To audit them, a path that the user named must load, or its learners would go unaudited.
    """
    from dpaudit.registry import load

    registry = load(tuple(paths))
    # A module that the user named must load; of others a warning is enough.
    wanted = [problem for problem in registry.problems if problem.requested]
    if wanted and to_audit:
        raise InputError("; ".join(map(str, wanted)))
    for problem in registry.problems:
        notify("warning", str(problem))
    return registry


def note_taken(entry: Entry, values: Mapping[str, Parameter]) -> None:
    """Report, with the result, which values were taken from the learner's example; an error is shown without them."""
    if values:
        pending.append(f"{', '.join(f'{k} = {v}' for k, v in values.items())} taken from the example of {entry.id}")


def find_learner(
    id: str, parameter: Sequence[str], paths: Sequence[str]
) -> tuple[Entry, Learner, dict[str, Parameter]]:
    """Return the learner of a single audit: parameters not given are its example's, which a note lists."""
    entry = find_learners(paths).get(id)
    given = read_parameters(parameter)
    taken = {name: value for name, value in entry.instance.parameters.items() if name not in given}
    note_taken(entry, taken)
    parameters = {**taken, **given}
    try:
        with blamed(f"the learner {entry.id}"):
            learner = entry.build(**parameters)
            # Asked for here, so that an error in it is blamed on the learner too.
            _ = learner.privacy
    except InputError as error:
        # In the parameters' names, for -p takes those.
        raise InputError(str(error)) from error
    return entry, learner, parameters


def read_parameters(texts: Sequence[str]) -> dict[str, Parameter]:
    """Return the parameters of the learner that were given."""
    named = [_parameter(text) for text in texts]
    often = Counter(name for name, _ in named)
    if twice := sorted(name for name, times in often.items() if times > 1):
        raise InputError(f"-p must be given once for each parameter; got {', '.join(twice)} more than once")
    return dict(named)


def _parameter(text: str) -> tuple[str, Parameter]:
    """Read ``name=value``; the value is an integer, a number, true, false, none, or else text."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise InputError(f"a parameter must be given as NAME=VALUE, got {text!r}")
    # As JSON and TOML write them, in any case of letters.
    words: dict[str, Parameter] = {"true": True, "false": False, "none": None}
    if value.lower() in words:
        return name, words[value.lower()]
    for kind in (int, float):
        try:
            return name, kind(value)
        except ValueError:
            continue
    return name, value


def audit(
    tasks: Sequence[Task], shown: Shown, *, seed: int = 0, repeat: str | None = None, n_jobs: int = 1, on: On = HERE
) -> int:
    """Perform the tasks of a single audit, show the results, and return the status."""
    from dpaudit.evidence.perform import perform
    from dpaudit.evidence.records import Result

    made = partial(
        perform,
        seed=seed,
        paths=shown.learners,
        n_jobs=n_jobs,
        backend=on.backend,
        address=on.address,
        progress=not shown.quiet,
    )
    # In a process of its own: a learner may end it, and other audits and the message do not depend on it.
    results: list[Result] = [made_apart(f"the audit of {task.learner}", Result, partial(made, task)) for task in tasks]
    return show(results, seed, shown, repeat)


R = TypeVar("R", bound="Frozen")


def made_apart(what: str, kind: type[R], call: Callable[[], R]) -> R:
    """Return the record of a kind that a call makes in a process of its own; `what` names the code that it runs."""
    from dpaudit.record import as_json, decode
    from dpaudit.running.workers import in_own_process

    def made() -> bytes:
        with blamed(what):
            return as_json(call())

    found: R = decode(in_own_process(made), kind)
    return found


def show(results: Sequence[Result], seed: int, shown: Shown, repeat: str | None = None) -> int:
    """Print results as JSON or as text, write the report that was asked for, and return the status.

    `repeat` is the command that makes them again; that of the first result by default.
    """
    from dpaudit.contract import OPEN
    from dpaudit.evidence.outcome import leaves_open, p_value_of, refutes
    from dpaudit.record import encodable
    from dpaudit.report.html import render_finding
    from dpaudit.report.repeat import repeat_command
    from dpaudit.report.words.finding import verdict_block, verdict_summary

    repeat = repeat or repeat_command(results[0], seed, shown.learners)
    if shown.json:
        # What only the lines of a run's file have.
        stored = {"record", "index", "digest"}
        made = []
        for one in results:
            fields = {name: value for name, value in encodable(one).items() if name not in stored}
            # It follows from what is stored, and has no field there.
            p_value = p_value_of(one)
            if p_value is not None:
                fields["p_value"] = p_value
            made.append(fields)
        say(json_lines({**fields, "command": repeat} for fields in made))
    else:
        say(terminal_text(verdict_summary(in_options(here()), results, repeat)))
        if shown.verbose:
            say("\n" + verdict_block(in_options(here()), results))
    status = 0
    if any(map(refutes, results)):
        status = 1
    elif any(map(leaves_open, results)) and not shown.allow_no_evidence:
        status = OPEN
    # What was found is printed by now: a file that cannot be written hides no violation.
    if (out := shown.out) is None:
        return status
    if suffix_of(out) == "html":
        page = partial(render_finding, without_pace(results), repeat, started_at())
        return written(status, lambda: _write(out, page().encode()))
    return written(status, lambda: write_report(run_of(results, seed, repeat, paths=shown.learners), out))


# The words of a note on the check of a certificate that names no relation.
UNNAMED = "; an audit with --relation names what neighbours are, without it the status is 3, not checked"


def run_of(
    results: Sequence[Result],
    seed: int,
    command: str,
    faults: Sequence[Fault] = (),
    listed: Mapping[str, Listed] | None = None,
    *,
    audited: Sequence[str] | None = None,
    root: Path = Path(),
    paths: tuple[str, ...] = (),
) -> Run:
    """Return results of one command as a run: with the audits that raised, and those that a project lists.

    `audited` are the mechanisms, those of the results by default; their files are found in `root`, their learners in
    `paths` too.
    """
    from dpaudit.evidence.records import SINGLE, Header, Planned, Run
    from dpaudit.evidence.subjects import subjects_of

    if audited is None:
        # Statements of papers are no files or packages of the user.
        audited = [one.learner for one in results if one.kind != "ledger"]
    plan = tuple(Planned(result.task, result.learner, result.kind) for result in results)
    controls = {result.learner: result.fault for result in results if result.fault is not None}
    header = Header(
        plan=plan,
        seed=seed,
        profile=SINGLE,
        command=command,
        controls=controls,
        faults=tuple(faults),
        subjects=subjects_of(audited, root, paths),
    )
    return Run(header, tuple(without_pace(results)), listed=dict(listed or {}), started=started_at())


def started_at() -> str:
    """Return when this command was started, in UTC."""
    from dpaudit.evidence.started import now

    return now(BEGAN)


def without_pace(results: Sequence[Result]) -> list[Result]:
    """Return results as they are stored: how long a run took is known in this process alone, and no file names it."""
    from msgspec.structs import replace

    return [replace(one, finding=replace(one.finding)) for one in results]


def rendered(run: Run, suffix: str) -> str:
    """Return a run in the format of a suffix."""
    module, name = FORMS[f".{suffix}"]
    # Only the module of that format is loaded.
    text: str = getattr(import_module(f"dpaudit.report.{module}"), name)(run)
    return text


def write_report(run: Run, path: str) -> None:
    """Write a run to a file, in the format of its suffix."""
    _write(path, rendered(run, suffix_of(path)).encode())


def _write(path: str, content: bytes) -> None:
    """Write a file; one that dpaudit did not write is kept beside it."""
    from dpaudit.files import keep_foreign, write_atomically

    keep_foreign(Path(path))
    write_atomically(Path(path), content)


def json_lines(records: Iterable[Any]) -> str:
    """Return records as JSON, a line each."""
    from dpaudit.evidence.tasks import canonical
    from dpaudit.record import encodable

    return "".join(f"{canonical(encodable(record))}\n" for record in records)


def terminal_text(lines: Lines) -> str:
    """Return labelled lines as wide and as coloured as the standard output wants them."""
    from dpaudit.report.terminal import laid_out

    return laid_out(lines, width_of(output()), wants_color())


def show_plain(
    as_json: bool,
    out: str | None,
    shown: str,
    *,
    json: str,
    status: int = 0,
    title: str = "",
    text: str = "",
    lines: Lines | None = None,
    heads: Sequence[str] = (),
    rows: Sequence[Sequence[str]] = (),
    case: Promise | None = None,
    figure: Callable[[], bytes] | None = None,
) -> int:
    """Print a text, or JSON if that was asked for, and return the status, which is 2 if a file cannot be written.

    The file is made of `json` and of all parameters from `title` on, which are the fields of `formats.Plain`.
    """
    if as_json:
        say(json)
    else:
        say(shown)
    if out is None:
        return status

    def write() -> None:
        # Loads what reports are made with.
        from dpaudit.report.formats import Plain, rendered

        # Made when it is written, after the verdict was printed.
        parts = Plain(
            title=title, json=json, text=text, lines=lines or [], heads=heads, rows=rows, case=case, figure=figure
        )
        _write(out, rendered(parts, Path(out).suffix.lower()))

    return written(status, write)


def show_measured(
    finding: OneSearch,
    name: str,
    repeat: str,
    shown: Shown,
    *,
    title: str,
    data: Mapping[str, Any],
    verdict: Verdict | None = None,
) -> int:
    """Show what was measured, and return the status of a verdict; the JSON has `data` beside the command."""
    from dpaudit.contract import exit_status
    from dpaudit.report.formats import Promise, summed
    from dpaudit.report.plots import as_svg
    from dpaudit.report.terminal import ShellCommand, aligned
    from dpaudit.report.words.finding import search_brief, search_page

    verdict = verdict or finding.verdict
    brief = search_brief(finding, name, ShellCommand(repeat))
    page = search_page(finding, name, ShellCommand(repeat))
    printed = terminal_text(brief)
    if shown.verbose:
        printed += f"\n{aligned(page)}"
    return show_plain(
        shown.json,
        shown.out,
        printed,
        status=exit_status([verdict], allow_open=shown.allow_no_evidence),
        title=title,
        json=json_lines([{**data, "command": repeat}]),
        text=aligned(page),
        # The verdict leads, and stands once.
        lines=[brief[0], *(line for line in page if line != brief[0])],
        case=Promise(name, "result", verdict, summed(brief)),
        # Drawn only if a file wants it: it loads what draws.
        figure=lambda: as_svg(finding.plot()),
    )


def show_lines(
    shown: Shown, lines: Lines, record: Frozen, title: str, case: Promise | None = None, *, status: int = 0
) -> int:
    """Print labelled lines, or the record that they are about as JSON, and return the status as `show_plain` does."""
    from dpaudit.report.terminal import laid_out

    return show_plain(
        shown.json,
        shown.out,
        terminal_text(lines),
        json=json_lines([record]),
        status=status,
        title=title,
        text=laid_out(lines),
        lines=lines,
        case=case,
    )
