"""The command that renders a stored run again, and what a run that has ended shows."""

from __future__ import annotations

from pathlib import Path

from dpaudit.cli.report_files import rendered, suffix_of
from dpaudit.cli.streams import output, say, tell, wants_color, width_of
from dpaudit.cli.verb import Given
from dpaudit.engine.files import write_atomically
from dpaudit.engine.outcome import Outcome, outcome
from dpaudit.engine.records import Run
from dpaudit.engine.store import load_run
from dpaudit.report import console

__all__ = ["command", "shown", "tell_faults"]


def command(args: Given) -> int:
    """Render stored results; the status is that of the results."""
    suffix = "json" if args.json else args.format
    if suffix is None and args.out is not None:
        suffix = suffix_of(args.out)
    run = load_run(args.path)
    found = outcome(run)
    text = shown(run, args) if suffix in (None, "console") else rendered(run, suffix)
    if args.out is None:
        say(text)
    else:
        write_atomically(Path(args.out), text.encode())
    if found.missing:
        tell("note", f"{len(found.missing)} of {len(run.header.plan)} audits have no result; `--resume` goes on")
    tell_faults(run, found)
    return found.allowed_status if args.allow_no_evidence else found.status


def shown(run: Run, args: Given) -> str:
    """Return a run as it is shown on the console: a summary, or all of it if that was asked for."""
    color = wants_color(args.color)
    return console.full(run, color) if args.verbose else console.render(run, color, width_of(output()))


def tell_faults(run: Run, found: Outcome) -> None:
    """Say on stderr of which tasks and learners nothing is known, and why."""
    failed = [(failure.task, failure.error) for failure in run.failures]
    for name, error in [*failed, *((fault.learner, fault.error) for fault in found.faults)]:
        tell("fault", f"{name}: {error}")
