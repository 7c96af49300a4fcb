"""The command that measures failure rates: on all hard cases, on one, or on the uniform distribution."""

from __future__ import annotations

import argparse
from typing import Any

from dpaudit.cli.learners import note_taken
from dpaudit.cli.single_audit import audit, find_learner
from dpaudit.contract import SETTINGS, Learner
from dpaudit.engine.arguments import UtilityArguments
from dpaudit.engine.utility_tasks import offered_settings, utility_tasks
from dpaudit.errors import InputError
from dpaudit.registry import Entry

__all__ = ["command"]


def command(args: argparse.Namespace) -> int:
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
    taken = tasks[0].arguments
    assert isinstance(taken, UtilityArguments)
    note_taken(entry, {name: getattr(taken, name) for name in ("alpha", "beta") if getattr(args, name) is None})
    return audit(args, tasks, _options(args, taken))


def _cases(distribution: str) -> list[int | None] | None:
    """Return which hard cases to measure: None for all, [None] for the uniform distribution."""
    if distribution in ("all", "uniform"):
        return None if distribution == "all" else [None]
    try:
        return [int(distribution)]
    except ValueError:
        allowed = "uniform, all, or the number of a hard case"
        raise InputError.of("distribution", distribution, allowed) from None


def _settings(args: argparse.Namespace, entry: Entry, learner: Learner) -> tuple[str | None, ...]:
    """Return the settings in which the learner is to succeed; None is its theorem's own."""
    if args.setting != "all":
        return (args.setting,)
    alpha = entry.instance.alpha if args.alpha is None else args.alpha
    beta = entry.instance.beta if args.beta is None else args.beta
    return offered_settings(learner, alpha, beta)


def _options(args: argparse.Namespace, taken: UtilityArguments) -> dict[str, Any]:
    """Return what repeats the audit, from the arguments of its first task."""
    return {
        "alpha": taken.alpha,
        "beta": taken.beta,
        "n": args.n if args.setting == "all" else taken.n,  # each setting has an n of its own
        "trials": taken.trials,
        "setting": args.setting or taken.setting,
        "confidence": args.confidence,
        "concept": args.concept,
        "distribution": args.distribution,
        "noise": args.noise,
    }
