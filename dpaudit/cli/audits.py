"""Single audits on the command line: the learner that was named, the result as it is shown, and what is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from dpaudit.cli.command import here, in_options
from dpaudit.cli.options import FORMS, PLAIN, SUFFIXES, Parameters, Shown, Size, argument
from dpaudit.cli.streams import output, pending, say, tell, wants_color, width_of
from dpaudit.errors import InputError, blamed

if TYPE_CHECKING:
    from dpaudit.contract import Learner
    from dpaudit.engine.records import Fault, Listed, Result, Run
    from dpaudit.engine.tasks import Task
    from dpaudit.registry import Entry, Registry
    from dpaudit.report.plain import Plain
    from dpaudit.report.terminal import Lines

__all__ = [
    "Chosen",
    "audit",
    "check_out",
    "check_plain",
    "find_learner",
    "find_learners",
    "note_taken",
    "read_parameters",
    "rendered",
    "run_of",
    "show",
    "show_plain",
    "suffix_of",
    "warn",
    "write_plain",
    "write_report",
]


class Chosen(NamedTuple):
    """The learner that is audited, and on how many examples."""

    id: Annotated[str, argument("ID")]
    parameter: Parameters
    n: Size


def find_learners(paths: Sequence[str]) -> Registry:
    """Return the learners; a path that the user named must load, or its learners would go unaudited."""
    from dpaudit.registry import load

    registry = load(tuple(paths))
    wanted = [problem for problem in registry.problems if problem.requested]
    if wanted:
        raise InputError("; ".join(map(str, wanted)))
    warn(registry)
    return registry


def warn(registry: Registry) -> None:
    """Report on stderr which modules of learners did not load."""
    for problem in registry.problems:
        tell("warning", str(problem))


def note_taken(entry: Entry, values: Mapping[str, Any]) -> None:
    """Report, with the result, which values were taken from the learner's example; an error is shown without them."""
    if values:
        pending.append(f"{', '.join(f'{k} = {v}' for k, v in values.items())} taken from the example of {entry.id}")


def find_learner(id: str, parameter: Sequence[str], paths: Sequence[str]) -> tuple[Entry, Learner, dict[str, Any]]:
    """Return the learner of a single audit: parameters not given are its example's, which a note lists."""
    entry, given = find_learners(paths).get(id), read_parameters(parameter)
    taken = {name: value for name, value in entry.instance.parameters.items() if name not in given}
    note_taken(entry, taken)
    parameters = {**taken, **given}
    try:
        with blamed(f"the learner {entry.id}"):
            learner = entry.build(**parameters)
            _ = learner.privacy
    except InputError as error:
        raise InputError(str(error)) from error  # in the parameters' names, for -p takes those
    return entry, learner, parameters


def read_parameters(texts: Sequence[str]) -> dict[str, Any]:
    """Return the parameters of the learner that were given."""
    named = [_parameter(text) for text in texts]
    given = dict(named)
    if len(given) < len(named):
        twice = sorted(name for name in given if [other for other, _ in named].count(name) > 1)
        raise InputError(f"-p must be given once for each parameter; got {', '.join(twice)} more than once")
    return given


def _parameter(text: str) -> tuple[str, Any]:
    """Read ``name=value``; the value is an integer, a number, true, false, none, or else text."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise InputError(f"a parameter must be given as NAME=VALUE, got {text!r}")
    words: dict[str, Any] = {"true": True, "false": False, "none": None}
    if value.lower() in words:
        return name, words[value.lower()]
    for kind in (int, float):
        try:
            return name, kind(value)
        except ValueError:
            continue
    return name, value


def audit(tasks: Sequence[Task], shown: Shown, *, seed: int = 0, n_jobs: int = 1, repeat: str | None = None) -> int:
    """Perform the tasks of a single audit, show the results, and return the status."""
    from dpaudit.engine.perform import perform

    check_out(shown.out)
    with blamed(f"the audit of {tasks[0].learner}"):
        results = [
            perform(task, seed=seed, paths=shown.learners, n_jobs=n_jobs, progress=not shown.quiet) for task in tasks
        ]
    return show(results, seed, shown, repeat)


def show(results: Sequence[Result], seed: int, shown: Shown, repeat: str | None = None) -> int:
    """Print results as JSON or as text, write the report that was asked for, and return the status.

    Parameters
    ----------
    results : sequence of Result
        The findings of the audits.
    seed : int
        The root seed.
    shown : Shown
        How they are shown.
    repeat : str, optional
        The command that makes them again; that of the first result by default.
    """
    from dpaudit.engine.outcome import OPEN, leaves_open, refutes
    from dpaudit.engine.tasks import canonical
    from dpaudit.record import encodable
    from dpaudit.report.brief import brief_block
    from dpaudit.report.details import verdict_block
    from dpaudit.report.html import render_finding
    from dpaudit.report.repeat import repeat_command
    from dpaudit.report.terminal import laid_out

    repeat = repeat or repeat_command(results[0], seed, shown.learners)
    if shown.json:
        stored = ("record", "index", "digest")  # what only the lines of a run's file have
        for result in results:
            fields = {name: value for name, value in encodable(result).items() if name not in stored}
            say(f"{canonical({**fields, 'command': repeat})}\n")
    else:
        *lines, last = brief_block(in_options(here()), results, repeat)
        lines = lines if shown.verbose else [*lines, last]
        say(laid_out(lines, width_of(output()), wants_color(shown.color)))
        if shown.verbose:
            say("\n" + verdict_block(results, repeat))
    if shown.out is not None and suffix_of(shown.out) == "html":
        _write(shown.out, render_finding(results, repeat).encode())
    elif shown.out is not None:
        write_report(run_of(results, seed, repeat), shown.out)
    if any(map(refutes, results)):
        return 1
    return OPEN if any(map(leaves_open, results)) and not shown.allow_no_evidence else 0


def run_of(
    results: Sequence[Result],
    seed: int,
    command: str,
    faults: Sequence[Fault] = (),
    listed: Mapping[str, Listed] | None = None,
) -> Run:
    """Return results of one command as a run: with the audits that raised, and those that a project lists."""
    from dpaudit.engine.records import Header, Planned, Run

    plan = tuple(Planned(result.task, result.learner, result.kind) for result in results)
    controls = {result.learner: result.fault for result in results if result.fault is not None}
    header = Header(plan=plan, seed=seed, profile="single", command=command, controls=controls, faults=tuple(faults))
    return Run(header, tuple(results), listed=dict(listed or {}))


def suffix_of(path: str) -> str:
    """Return the suffix of a file without its dot; `InputError` if no report has that format."""
    suffix = Path(path).suffix.lower()
    if suffix not in FORMS:
        raise InputError.of("out", path, f"a file that ends in {SUFFIXES}")
    return suffix[1:]


def rendered(run: Run, suffix: str) -> str:
    """Return a run in the format of a suffix."""
    from importlib import import_module

    module, name = FORMS[f".{suffix}"]
    text: str = getattr(import_module(f"dpaudit.report.{module}"), name)(run)
    return text


def write_report(run: Run, path: str) -> None:
    """Write a run to a file, in the format of its suffix."""
    _write(path, rendered(run, suffix_of(path)).encode())


def _write(path: str, content: bytes) -> None:
    """Write a file; one that dpaudit did not write is kept beside it."""
    from dpaudit.engine.files import keep_foreign, write_atomically

    keep_foreign(Path(path))
    write_atomically(Path(path), content)


def check_out(path: str | None, forms: Sequence[str] = tuple(FORMS)) -> None:
    """Refuse a file of an unknown format, or in a folder that is not there, before anything runs."""
    if path is None:
        return
    if Path(path).suffix.lower() not in forms:
        raise InputError.of("out", path, f"a file that ends in {', '.join(forms)}")
    if not Path(path).parent.is_dir():
        raise InputError.of("out", path, "a file in a folder that exists")


def check_plain(path: str | None, *more: str) -> None:
    """Refuse the same for what is no report; `more` are suffixes of an audit: of its test case and of its figure."""
    check_out(path, (*PLAIN, *more))


def show_plain(as_json: bool, color: str, data: str, brief: Lines, page: Lines | None = None) -> None:
    """Print a finding: as JSON if that was asked for, or in a few lines, and after them the page, if one is given."""
    from dpaudit.report.terminal import aligned, laid_out

    if as_json:
        say(data)
        return
    say(laid_out(brief, width_of(output()), wants_color(color)))
    if page:
        say("\n" + aligned(page))


def write_plain(path: str | None, plain: Callable[[], Plain]) -> None:
    """Write what is shown to a file, if one was asked for."""
    if path is None:
        return
    from dpaudit.report.plain import rendered  # loads what reports are made with

    _write(path, rendered(plain(), Path(path).suffix.lower()))
