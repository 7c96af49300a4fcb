"""``dpaudit utility``: failure rates on all hard cases, on one, or on the uniform distribution."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from dpaudit.audit.options import OPTIONS
from dpaudit.cli.audits import audit, find_learner, note_taken
from dpaudit.cli.command import command
from dpaudit.cli.options import Parameters, Seed, Shown, argument, given, jobs, of
from dpaudit.errors import InputError

__all__ = ["utility"]


class Cases(NamedTuple):
    """The cases that are measured: the levels, the target, the distributions and the setting."""

    id: Annotated[str, argument("ID")]
    parameter: Parameters
    n: Annotated[int | None, given("examples in a sample (default: what the learner's theorem asks for)")]
    alpha: Annotated[float | None, given("error that is accepted (default: the example's)")]
    beta: Annotated[float | None, given("rate of failure that is accepted (default: the example's)")]
    concept: Annotated[
        int | None, given("number of the target concept (default: the hard case's own; 0 for uniform)", metavar="CODE")
    ]
    distribution: Annotated[
        str, given("uniform, the number of a hard case, or all hard cases", metavar="D", default="all")
    ]
    setting: Annotated[
        str | None,
        given(
            "what the error is, and what is random; all: each that the theorem covers (default: the theorem's)",
            metavar="NAME",
        ),
    ]
    noise: Annotated[
        float | None,
        given("setting agnostic: how often a label is wrong (default: the hard case's; needed for uniform)"),
    ]
    most: Annotated[
        int | None,
        given("the most runs, made where fewer leave the verdict open (default: --trials)", metavar="TRIALS"),
    ]


@command("utility", "dpaudit utility threshold-exponential --alpha 0.1 --beta 0.1 --distribution all")
def utility(
    asked: Cases,
    trials: Annotated[int, given("runs for each case", 1_000)],
    confidence: Annotated[float, of(OPTIONS["confidence"])],
    seed: Seed,
    n_jobs: Annotated[int, jobs("processes", 1)],
    shown: Shown,
) -> int:
    """Measure how often the learner's error exceeds alpha; its theorem promises: at most with probability beta.

    The error is that on the distribution, with fresh samples labelled by a concept (realizable); its excess over the
    best concept's, with noisy labels (agnostic); that on the sample, one for all runs (empirical); or whether the
    output solves the learner's problem on that sample (solution). The hard cases are concepts and distributions on
    which learners of the class fail most. With --n below the theorem's n, or without a theorem, failures are shown and
    refute nothing.
    """
    import dataclasses

    from msgspec.structs import replace

    from dpaudit.contract import SETTINGS
    from dpaudit.engine.arguments import UtilityArguments
    from dpaudit.engine.tasks import Task, offered_settings, utility_tasks
    from dpaudit.report.repeat import command_line

    cases = _cases(asked.distribution)
    if asked.setting not in (None, "all", *SETTINGS):
        raise InputError.among("setting", asked.setting, (*SETTINGS, "all"))
    entry, learner, parameters = find_learner(asked.id, asked.parameter, shown.learners)
    levels = {name: level for name in ("alpha", "beta") if (level := getattr(asked, name)) is not None}
    instance = dataclasses.replace(entry.instance, parameters=parameters, **levels)
    settings: tuple[str | None, ...] = (asked.setting,)  # None is the theorem's own
    if asked.setting == "all":
        settings = offered_settings(learner, instance)
    given = {name: getattr(asked, name) for name in ("n", "concept", "noise")}
    given |= {"trials": trials, "confidence": confidence}
    tasks = utility_tasks(learner, instance, cases=cases, settings=settings, **given)
    if not tasks:
        raise InputError(f"{entry.id} has no hard cases; choose --distribution uniform")
    growing = [(task, replace(task.arguments, most=asked.most)) for task in tasks
               if isinstance(task.arguments, UtilityArguments)]  # fmt: skip
    first = growing[0][1]
    note_taken(entry, {name: getattr(first, name) for name in ("alpha", "beta") if name not in levels})
    options = {name: getattr(first, name) for name in ("alpha", "beta", "n", "trials", "most")}
    options["n"] = asked.n if asked.setting == "all" else first.n  # each setting has an n of its own
    options["setting"] = asked.setting or first.setting
    options |= {name: getattr(asked, name) for name in ("concept", "distribution", "noise")}
    options |= {"confidence": confidence, "seed": seed}
    repeat = command_line("utility", entry.id, tasks[0].parameters, options, shown.learners)
    chosen = [Task(task.learner, task.parameters, arguments) for task, arguments in growing]
    return audit(chosen, shown, seed=seed, n_jobs=n_jobs, repeat=repeat)


def _cases(distribution: str) -> list[int | None] | None:
    """Return which hard cases to measure: None for all, [None] for the uniform distribution."""
    if distribution in ("all", "uniform"):
        return None if distribution == "all" else [None]
    try:
        return [int(distribution)]
    except ValueError:
        allowed = "uniform, all, or the number of a hard case"
        raise InputError.of("distribution", distribution, allowed) from None
