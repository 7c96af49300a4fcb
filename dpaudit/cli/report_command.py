"""The command that renders a stored run again, and what a run that has ended shows."""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path

from dpaudit.cli.streams import say, tell, wants_color
from dpaudit.engine.files import write_atomically
from dpaudit.engine.outcome import Outcome, outcome
from dpaudit.engine.records import Run
from dpaudit.engine.store import load_run

__all__ = ["command", "rendered", "tell_faults"]


def command(args: argparse.Namespace) -> int:
    """Render stored results; the status is that of the results."""
    run = load_run(args.path)
    found = outcome(run)
    text = rendered(run, args.format, color=args.out is None and wants_color())
    if args.out is None:
        say(text)
    else:
        write_atomically(Path(args.out), text.encode())
    if found.missing:
        tell("note", f"{len(found.missing)} of {len(run.header.plan)} audits have no result; `--resume` goes on")
    tell_faults(run, found)
    return found.allowed_status if args.allow_no_evidence else found.status


def rendered(run: Run, form: str, color: bool = False) -> str:
    """Return a run as "console" (text, in colour if asked for), "json" or "html"."""
    render = import_module(f"dpaudit.reporters.{form}").render
    text: str = render(run, color) if form == "console" else render(run)
    return text


def tell_faults(run: Run, found: Outcome) -> None:
    """Say on stderr of which tasks and learners nothing is known, and why."""
    failed = [(failure.task, failure.error) for failure in run.failures]
    for name, error in [*failed, *((fault.learner, fault.error) for fault in found.faults)]:
        tell("fault", f"{name}: {error}")
