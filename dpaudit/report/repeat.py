"""The command that makes one result again, with nothing left to defaults."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import asdict, replace

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.audit.options import LOOKS, OPTIONS, Options
from dpaudit.evidence.records import Result
from dpaudit.evidence.tasks import UTILITY, ExactArguments, PrivacyArguments, UtilityArguments
from dpaudit.neighbours.sources import with_examples

# Arguments that the command line calls by another name.
_OPTION_NAMES = {"samples": "crafted", "enclosure": "enclose", "continued": "continue"}


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
            if not arguments.outside or arguments.timeout_is != Options.timeout_is.default:
                # The settings of a project alone have these options.
                return "dpaudit check"
            finding = result.finding
            if arguments.sequential is None and isinstance(finding, PrivacyFinding) and finding.design == "sequential":
                # Chosen by the time of a run, which differs elsewhere.
                arguments = replace(arguments, sequential=True)
            options = _privacy_options(arguments, seed, continued)
        case UtilityArguments():
            chosen = {name: getattr(arguments, name) for name in (*UTILITY, "concept", "noise")}
            case_index = arguments.case_index
            options = chosen | {"distribution": "uniform" if case_index is None else case_index, "seed": seed}
        case _:
            raise TypeError(f"no command makes one {result.kind} alone")
    return command_line(result.kind, result.learner, result.parameters, options, paths)


def _privacy_options(arguments: PrivacyArguments, seed: int, continued: str | None) -> dict[str, object]:
    """Return the options of ``dpaudit privacy`` that are given, by name: those that differ from their defaults.

    Trials and confidence are always given: their defaults may change.
    """
    found: dict[str, object] = {"trials": arguments.trials, "confidence": arguments.confidence}
    values = asdict(arguments)
    # The command has the number of examples in the name of the pairs.
    if arguments.n is not None:
        values["pairs"] = with_examples(arguments.pairs, arguments.n)
    for name, value in values.items():
        if name not in ("n", *found, *(one.name for one in LOOKS.values())) and value != OPTIONS[name].default:
            found[name] = value
    if looked := [word for word, option in LOOKS.items() if getattr(arguments, option.name)]:
        found["look"] = ",".join(looked)
    return {**found, "seed": seed, "continued": continued}


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
        # A flag that is off by default, and an option without a value, say nothing.
        elif value is not None and value is not False:
            words += [f"--{_OPTION_NAMES.get(name, name).replace('_', '-')}", *([] if value is True else [str(value)])]
    for path in paths:
        words += ["--learners", path]
    return shlex.join(words)
