"""The command that measures failure rates: on all hard cases, on one, or on the uniform distribution."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from dpaudit.cli.learners import note_taken
from dpaudit.cli.single_audit import audit, find_learner
from dpaudit.cli.verb import Given
from dpaudit.contract import SETTINGS, Learner
from dpaudit.engine.arguments import UtilityArguments
from dpaudit.engine.tasks import Task, offered_settings, utility_tasks
from dpaudit.errors import InputError
from dpaudit.registry import Entry
from dpaudit.report.repeat import command_line

__all__ = ["command"]


def command(args: Given) -> int:
    """Measure failure rates and return the status."""
    cases = _cases(args.distribution)
    if args.setting not in (None, "all", *SETTINGS):
        raise InputError.among("setting", args.setting, (*SETTINGS, "all"))
    entry, learner, parameters = find_learner(args)
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
        settings=_settings(args, entry, learner),
        noise=args.noise,
    )
    if not tasks:
        raise InputError(f"{entry.id} has no hard cases; choose --distribution uniform")
    tasks = [_growing(task, args.most) for task in tasks]
    taken = tasks[0].arguments
    assert isinstance(taken, UtilityArguments)
    note_taken(entry, {name: getattr(taken, name) for name in ("alpha", "beta") if getattr(args, name) is None})
    return audit(args, tasks, _repeat(args, tasks[0], taken))


def _cases(distribution: str) -> list[int | None] | None:
    """Return which hard cases to measure: None for all, [None] for the uniform distribution."""
    if distribution in ("all", "uniform"):
        return None if distribution == "all" else [None]
    try:
        return [int(distribution)]
    except ValueError:
        allowed = "uniform, all, or the number of a hard case"
        raise InputError.of("distribution", distribution, allowed) from None


def _settings(args: Given, entry: Entry, learner: Learner) -> tuple[str | None, ...]:
    """Return the settings in which the learner is to succeed; None is its theorem's own."""
    if args.setting != "all":
        return (args.setting,)
    alpha = entry.instance.alpha if args.alpha is None else args.alpha
    beta = entry.instance.beta if args.beta is None else args.beta
    return offered_settings(learner, alpha, beta)


def _growing(task: Task, most: int | None) -> Task:
    """Return a task whose runs may grow to `most` where its interval contains beta."""
    assert isinstance(task.arguments, UtilityArguments)
    return Task(task.learner, task.parameters, replace(task.arguments, most=most))


def _repeat(args: Given, task: Task, taken: UtilityArguments) -> str:
    """Return the command that repeats the audit of all its cases, from the arguments of the first."""
    options: dict[str, Any] = {
        "alpha": taken.alpha,
        "beta": taken.beta,
        "n": args.n if args.setting == "all" else taken.n,  # each setting has an n of its own
        "trials": taken.trials,
        "most": taken.most,
        "setting": args.setting or taken.setting,
        "confidence": args.confidence,
        "concept": args.concept,
        "distribution": args.distribution,
        "noise": args.noise,
        "seed": args.seed,
    }
    return command_line("utility", task.learner, task.parameters, options, args.learners)
