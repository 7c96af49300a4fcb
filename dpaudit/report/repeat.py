"""The command that makes one result again, with nothing left to defaults."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from dpaudit.audit.options import OPTIONS
from dpaudit.engine.records import Result
from dpaudit.engine.tasks import UTILITY, ExactArguments, PrivacyArguments, UtilityArguments

_OPTION_NAMES = {"samples": "crafted", "enclosure": "enclose", "continued": "continue"}
_ALWAYS_GIVEN = ("n", "trials", "confidence")


def repeat_command(result: Result, seed: int, paths: Iterable[str] = (), continued: str | None = None) -> str:
    """Return the command that makes the finding of a result again, from its `seed` and the file that it `continued`."""
    arguments = result.arguments
    match arguments:
        case ExactArguments():
            options = {
                "n": arguments.n,
                "relation": arguments.relation,
                "samples": arguments.samples == "crafted",
                "pairs": arguments.pairs,
                "enclosure": arguments.enclosure,
                "compose": arguments.compose,
            }
        case PrivacyArguments():
            given = {name: getattr(arguments, name) for name in (*_ALWAYS_GIVEN, *OPTIONS)}
            usual = [name for name in OPTIONS if name not in _ALWAYS_GIVEN and given[name] == OPTIONS[name].default]
            unusual = {name: value for name, value in given.items() if name not in usual}
            if arguments.sequential is None and getattr(result.finding, "design", "") == "sequential":
                unusual["sequential"] = True  # chosen by the time of a run, which differs elsewhere
            options = unusual | {"seed": seed, "continued": continued}
        case UtilityArguments():
            chosen = {name: getattr(arguments, name) for name in (*UTILITY, "concept", "noise")}
            case_index = arguments.case_index
            options = chosen | {"distribution": "uniform" if case_index is None else case_index, "seed": seed}
        case _:
            raise TypeError(f"no command makes one {result.kind} alone")
    return command_line(result.kind, result.learner, result.parameters, options, paths)


def command_line(
    verb: str,
    learner: str,
    parameters: Mapping[str, Any],
    options: Mapping[str, Any],
    paths: Iterable[str] = (),
    arguments: Iterable[str] = (),
) -> str:
    """Return a command line; options that are None or False by default are left out, and flags have no value."""
    words = ["dpaudit", verb, learner, *arguments]
    for name, value in parameters.items():
        words += ["-p", f"{name}={getattr(value, 'value', value)}"]
    for name, value in options.items():
        if value is False and name in OPTIONS and OPTIONS[name].default is not False:
            words.append(f"--no-{name}")
        elif value is not None and value is not False:
            words += [f"--{_OPTION_NAMES.get(name, name).replace('_', '-')}", *([] if value is True else [str(value)])]
    for path in paths:
        words += ["--learners", path]
    return shlex.join(words)
