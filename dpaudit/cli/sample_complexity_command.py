"""The command that measures the sample complexity of a learner."""

from __future__ import annotations

from typing import Any

from dpaudit.cli.learners import note_taken
from dpaudit.cli.measured import show_measured
from dpaudit.cli.single_audit import find_learner
from dpaudit.cli.text_output import check_plain
from dpaudit.cli.verb import Given
from dpaudit.errors import blamed
from dpaudit.registry import Entry
from dpaudit.report.repeat import command_line
from dpaudit.utility.sample_complexity import sample_complexity

__all__ = ["command", "read_levels"]


def command(args: Given) -> int:
    """Measure one sample complexity and return the status."""
    check_plain(args.out, ".xml", ".svg")
    entry, learner, parameters = find_learner(args)
    levels = read_levels(args, entry)
    chosen: dict[str, Any] = {
        **levels, "setting": args.setting, "starts": args.starts, "moves": args.moves, "draws": args.draws,
        "confidence": args.confidence, "seed": args.seed,
    }  # fmt: skip
    with blamed(f"the learner {entry.id}"):
        finding = sample_complexity(learner, **chosen, n_jobs=args.n_jobs, progress=not args.quiet)
    repeat = command_line("sample-complexity", entry.id, parameters, chosen, args.learners)
    return show_measured(args, finding, entry.id, repeat)


def read_levels(args: Given, entry: Entry, but: str = "") -> dict[str, float]:
    """Return alpha and beta, but the one that is varied; what is not given is the example's, which a note says."""
    given = {name: getattr(args, name) for name in ("alpha", "beta") if name != but}
    taken = {name: getattr(entry.instance, name) for name, value in given.items() if value is None}
    note_taken(entry, taken)
    return {**given, **taken}
