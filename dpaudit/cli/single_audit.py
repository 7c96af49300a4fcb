"""The audit of one learner: its parameters, the result, and the command that repeats it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dpaudit.cli.learners import find_learners, note_taken
from dpaudit.cli.report_files import check_suffix, write_results
from dpaudit.cli.streams import output, say, wants_color, width_of
from dpaudit.cli.verb import Given
from dpaudit.cli.verdict_summary import brief_block
from dpaudit.contract import Learner
from dpaudit.engine.outcome import OPEN, leaves_open, refutes
from dpaudit.engine.perform import perform
from dpaudit.engine.records import Result
from dpaudit.engine.tasks import Task, canonical
from dpaudit.errors import InputError, blamed
from dpaudit.record import encodable
from dpaudit.registry import Entry
from dpaudit.report.repeat import repeat_command
from dpaudit.report.terminal import laid_out
from dpaudit.report.verdict_block import verdict_block

__all__ = ["audit", "find_learner", "read_parameters", "show"]


def find_learner(args: Given) -> tuple[Entry, Learner, dict[str, Any]]:
    """Return the learner of a single audit: parameters not given are its example's, which a note says."""
    entry, given = find_learners(args).get(args.id), read_parameters(args)
    taken = {name: value for name, value in entry.instance.parameters.items() if name not in given}
    note_taken(entry, taken)
    parameters = {**taken, **given}
    return entry, _built(entry, parameters), parameters


def read_parameters(args: Given) -> dict[str, Any]:
    """Return the parameters of the learner that were given."""
    named = [_parameter(text) for text in args.parameter]
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


def _built(entry: Entry, parameters: Mapping[str, Any]) -> Learner:
    """Return the learner, whose claim can be made; what is wrong is told by parameters' names, for -p takes those."""
    try:
        with blamed(f"the learner {entry.id}"):
            learner = entry.build(**parameters)
            _ = learner.privacy
    except InputError as error:
        raise InputError(str(error)) from error
    return learner


def audit(
    args: Given, tasks: Sequence[Task], repeat: str | None = None, then: Callable[[Result], None] | None = None
) -> int:
    """Perform the tasks of a single audit, do with each result what comes then, show them, and return the status."""
    check_suffix(args.out)
    seed = getattr(args, "seed", 0)
    with blamed(f"the audit of {tasks[0].learner}"):
        jobs = getattr(args, "n_jobs", 1)
        results = [
            perform(task, seed=seed, paths=args.learners, n_jobs=jobs, progress=not args.quiet) for task in tasks
        ]
    if then is not None:
        for result in results:
            then(result)
    return show(args, results, seed, repeat)


def show(args: Given, results: Sequence[Result], seed: int, repeat: str | None = None) -> int:
    """Print results as JSON or as text, write the report that was asked for, and return the status.

    Parameters
    ----------
    args : Given
        Of the command.
    results : sequence of Result
        What the audits found.
    seed : int
        The root seed.
    repeat : str, optional
        The command that makes them again; that of the first result by default.
    """
    repeat = repeat or repeat_command(results[0], seed, args.learners)
    if args.json:
        say("".join(f"{canonical({**_told(result), 'command': repeat})}\n" for result in results))
    else:
        *lines, last = brief_block(args, results, repeat)
        shown = lines if args.verbose else [*lines, last]
        say(laid_out(shown, width_of(output()), wants_color(args.color)))
        if args.verbose:
            say("\n" + verdict_block(results, repeat))
    if args.out is not None:
        write_results(results, seed, repeat, args.out)
    if any(map(refutes, results)):
        return 1
    return OPEN if any(map(leaves_open, results)) and not args.allow_no_evidence else 0


def _told(result: Result) -> dict[str, Any]:
    """Return a result without what only the lines of a run's file have."""
    told: dict[str, Any] = encodable(result)
    return {name: value for name, value in told.items() if name not in ("record", "index", "digest")}
