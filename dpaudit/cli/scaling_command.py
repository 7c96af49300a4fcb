"""The command that measures how a sample complexity grows with a parameter."""

from __future__ import annotations

from typing import Any

from dpaudit.cli.learners import find_learners, note_taken
from dpaudit.cli.measured import show_measured
from dpaudit.cli.sample_complexity_command import read_levels
from dpaudit.cli.single_audit import read_parameters
from dpaudit.cli.text_output import check_plain
from dpaudit.cli.verb import Given
from dpaudit.errors import InputError, blamed
from dpaudit.report.repeat import command_line
from dpaudit.utility.scaling import law_of

__all__ = ["command"]


def command(args: Given) -> int:
    """Measure one scaling law and return the status."""
    check_plain(args.out, ".xml", ".svg")
    entry = find_learners(args).get(args.id)
    given, values = read_parameters(args), _values(args.values)
    if args.varied in given:
        raise InputError(f"-p must not give {args.varied}, which is varied")
    example = {name: value for name, value in entry.instance.parameters.items() if name != args.varied}
    note_taken(entry, {name: value for name, value in example.items() if name not in given})
    fixed = {**example, **given}
    levels = read_levels(args, entry, args.varied)
    chosen: dict[str, Any] = {**levels, "setting": args.setting, "confidence": args.confidence, "seed": args.seed}
    with blamed(f"the learner {entry.id}"):
        finding = law_of(
            entry.id, entry.build, args.varied, values, fixed,
            **{"alpha": args.alpha, "beta": args.beta, **chosen}, progress=not args.quiet,
        )  # fmt: skip
    repeat = command_line("scaling", entry.id, fixed, chosen, args.learners, (args.varied, args.values))
    return show_measured(args, finding, entry.id, repeat)


def _values(text: str) -> list[float]:
    """Return the numbers of a list with commas; integers stay integers, of any size."""
    return [_value(word.strip()) for word in text.split(",")]


def _value(word: str) -> float:
    base, caret, exponent = word.partition("^")
    try:
        if caret:
            power: int = int(base) ** int(exponent)
            return power
        return int(word) if word.lstrip("+-").isdigit() else float(word)
    except ValueError:
        raise InputError.of("values", word, "numbers with commas between them, such as 1,2,4 or 2^8,2^16") from None
