"""The commands that make one audit of one learner; each function returns the exit status."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from dpaudit.cli.mechanism import audit_mechanism, is_mechanism
from dpaudit.cli.terminal import find_learners, note_taken, say
from dpaudit.cli.verdict_block import verdict_block
from dpaudit.contract import Learner
from dpaudit.engine.outcome import refutes
from dpaudit.engine.perform import perform
from dpaudit.engine.tasks import Task, canonical, exact_task, privacy_task
from dpaudit.engine.utility_tasks import offered_settings, utility_tasks
from dpaudit.errors import InputError, blamed
from dpaudit.exact.composition import check_times
from dpaudit.exact.enclosure import require_exact_law
from dpaudit.neighbours.sources import is_source
from dpaudit.registry import Entry

__all__ = ["exact_command", "privacy_command", "utility_command"]


_PRIVACY_FLAGS = ("strict", "sequential", "curve", "float_bits")


def privacy_command(args: argparse.Namespace) -> int:
    """Make one black-box audit: of a learner, or of anybody's MODULE:FUNCTION."""
    _check_design(args)
    given = {name: getattr(args, name) for name in ("epsilon", "delta", "relation", *_PRIVACY_FLAGS)}
    if is_mechanism(args.id):
        options = {"n": args.n, "trials": args.trials, "confidence": args.confidence, **given}
        record = audit_mechanism(args, options)
        places = {"pairs": args.pairs, "batched": args.batched}
        return _show(args, [record], _single_line(args, {}, {**options, **places, "seed": args.seed}))
    if args.batched or (args.pairs is not None and not is_source(args.pairs)):
        raise InputError(
            f"--pairs and --batched are for MODULE:FUNCTION; the pairs of the learner {args.id} are crafted, or drawn "
            "by --pairs random:COUNT"
        )
    given["pairs"] = args.pairs
    entry, _, parameters = _learner(args)
    task = privacy_task(
        entry,
        trials=args.trials,
        confidence=args.confidence,
        parameters=parameters,
        n=_taken_n(args, entry),
        **given,
    )
    return _audit(args, [task], {name: task.arguments[name] for name in ("n", "trials", "confidence")} | given)


def _check_design(args: argparse.Namespace) -> None:
    """Refuse options that the sequential design has no use for, rather than drop them in silence."""
    useless = [f"--{name}" for name in ("strict", "curve") if getattr(args, name)]
    if args.sequential and useless:
        raise InputError(f"{' and '.join(useless)} must be left out with --sequential, which bets instead of counting")


def exact_command(args: argparse.Namespace) -> int:
    """Compute one exact worst case."""
    if args.compose is not None:
        check_times(args.compose, "compose")
    entry, learner, parameters = _learner(args)
    if args.enclose:
        require_exact_law(learner)
    task = exact_task(
        entry,
        learner,
        parameters=parameters,
        n=args.n,
        relation=args.relation,
        crafted=args.crafted or None,
        enclosure=args.enclose,
        compose=args.compose,
    )
    if args.n is None:
        note_taken(entry, {"n": task.arguments["n"]})
    options = {name: task.arguments[name] for name in ("n", "relation")}
    options |= {"crafted": task.arguments["samples"] == "crafted" or None}
    return _audit(args, [task], options | {"enclose": args.enclose, "compose": args.compose})


def utility_command(args: argparse.Namespace) -> int:
    """Measure failure rates: on all hard cases, on one, or on the uniform distribution."""
    cases: list[int | None] | None = None
    if args.distribution != "all":
        try:
            cases = [None if args.distribution == "uniform" else int(args.distribution)]
        except ValueError:
            raise InputError(
                f"distribution must be uniform, all, or the number of a hard case; got {args.distribution!r}"
            ) from None
    entry, learner, parameters = _learner(args)
    settings: tuple[str | None, ...] = (args.setting,)
    if args.setting == "all":
        levels = (getattr(entry.instance, name) if given is None else given
                  for name, given in (("alpha", args.alpha), ("beta", args.beta)))  # fmt: skip
        settings = offered_settings(learner, *levels)
    tasks = utility_tasks(
        entry,
        learner,
        trials=args.trials,
        confidence=args.confidence,
        parameters=parameters,
        alpha=args.alpha,
        beta=args.beta,
        n=args.n,
        concept=args.concept,
        cases=cases,
        settings=settings,
        noise=args.noise,
    )
    if not tasks:
        raise InputError(f"{entry.id} has no hard cases; choose --distribution uniform")
    taken = tasks[0].arguments
    note_taken(entry, {name: taken[name] for name in ("alpha", "beta") if getattr(args, name) is None})
    options = {name: taken[name] for name in ("alpha", "beta", "n", "trials")}
    options["setting"] = taken["setting"] if args.setting is None else args.setting
    if args.setting == "all":
        options["n"] = args.n  # each setting has an n of its own
    more = {"confidence": args.confidence, "concept": args.concept, "distribution": args.distribution}
    more["noise"] = args.noise
    return _audit(args, tasks, options | more)


def _learner(args: argparse.Namespace) -> tuple[Entry, Learner, dict[str, Any]]:
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
    return entry, entry.build(**parameters), parameters


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


def _taken_n(args: argparse.Namespace, entry: Entry) -> int:
    """Return n, the example's unless given."""
    if args.n is not None:
        return int(args.n)
    note_taken(entry, {"n": entry.instance.n})
    return entry.instance.n


def _audit(args: argparse.Namespace, tasks: Sequence[Task], options: Mapping[str, Any]) -> int:
    """Perform the tasks of a single audit and show what they found."""
    seed = getattr(args, "seed", None)
    repeat = _single_line(args, tasks[0].parameters, {**options, "seed": seed})
    paths, jobs = tuple(args.learners), getattr(args, "jobs", 1)
    with blamed(f"the audit of {tasks[0].learner}"):
        records = [perform(task, seed=seed or 0, paths=paths, n_jobs=jobs) for task in tasks]
    return _show(args, records, repeat)


def _show(args: argparse.Namespace, records: Sequence[Mapping[str, Any]], repeat: str) -> int:
    """Print the records as JSON or as text, and return the status."""
    if args.json:
        say("".join(canonical({**record, "command": repeat}) + "\n" for record in records))
    else:
        say(verdict_block(records, repeat))
    return int(any(refutes(record) for record in records))


def _single_line(args: argparse.Namespace, parameters: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    """Return the command that repeats a single audit, with nothing left to defaults."""
    words = ["dpaudit", args.command, args.id]
    for name, value in parameters.items():
        words += ["-p", f"{name}={getattr(value, 'value', value)}"]
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        if value is not None and value is not False:
            words += [option] if value is True else [option, str(value)]
    return shlex.join(words + [word for path in args.learners for word in ("--learners", path)])
