"""The audit of one learner: its parameters, the result, and the command that repeats it."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from dpaudit.cli.learners import find_learners, note_taken
from dpaudit.cli.options import option_words
from dpaudit.cli.streams import say
from dpaudit.contract import Learner
from dpaudit.engine.outcome import OPEN, leaves_open, refutes
from dpaudit.engine.perform import perform
from dpaudit.engine.records import Result
from dpaudit.engine.tasks import Task, canonical
from dpaudit.errors import InputError, blamed
from dpaudit.record import encodable
from dpaudit.registry import Entry
from dpaudit.reporters.verdict_block import verdict_block

__all__ = ["audit", "find_learner", "show"]


def find_learner(args: argparse.Namespace) -> tuple[Entry, Learner, dict[str, Any]]:
    """Return the learner of a single audit: parameters not given are its example's, which a note says."""
    entry = find_learners(args).get(args.id)
    named = [_parameter(text) for text in args.parameter]
    given = dict(named)
    if len(given) < len(named):
        twice = sorted(name for name in given if [other for other, _ in named].count(name) > 1)
        raise InputError(f"-p must be given once for each parameter; got {', '.join(twice)} more than once")
    taken = {name: value for name, value in entry.instance.parameters.items() if name not in given}
    note_taken(entry, taken)
    parameters = {**taken, **given}
    return entry, _built(entry, parameters), parameters


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


def audit(args: argparse.Namespace, tasks: Sequence[Task], options: Mapping[str, Any]) -> int:
    """Perform the tasks of a single audit, show what they found, and return the status."""
    seed = getattr(args, "seed", None)
    with blamed(f"the audit of {tasks[0].learner}"):
        results = [
            perform(task, seed=seed or 0, paths=tuple(args.learners), n_jobs=getattr(args, "n_jobs", 1))
            for task in tasks
        ]
    return show(args, results, {**options, "seed": seed}, tasks[0].parameters)


def show(
    args: argparse.Namespace,
    results: Sequence[Result],
    options: Mapping[str, Any],
    parameters: Mapping[str, Any] | None = None,
) -> int:
    """Print results as JSON or as text, and return the status.

    Parameters
    ----------
    args : Namespace
        Of the command.
    results : sequence of Result
        What the audits found.
    options : mapping
        What repeats them: the values of the command's options, by the parameters that these set.
    parameters : mapping, optional
        The learner's parameters.
    """
    repeat = _repeat(args, parameters or {}, options)
    if args.json:
        say("".join(f"{canonical({**_told(result), 'command': repeat})}\n" for result in results))
    else:
        say(verdict_block(results, repeat))
    if any(map(refutes, results)):
        return 1
    return OPEN if any(map(leaves_open, results)) and not args.allow_no_evidence else 0


def _told(result: Result) -> dict[str, Any]:
    """Return a result without what only the lines of a run's file have."""
    told: dict[str, Any] = encodable(result)
    return {name: value for name, value in told.items() if name not in ("record", "index", "digest")}


def _repeat(args: argparse.Namespace, parameters: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    """Return the command that repeats a single audit, with nothing left to defaults."""
    words = ["dpaudit", args.command, args.id]
    for name, value in parameters.items():
        words += ["-p", f"{name}={getattr(value, 'value', value)}"]
    for name, value in options.items():
        if value is not None and value is not False:
            words += option_words(args.parser, name, value)
    for path in args.learners:
        words += ["--learners", path]
    return shlex.join(words)
