"""The command that audits the mechanisms of a project and shows them in one table."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from dpaudit.cli.report_files import check_suffix, run_of, write_report
from dpaudit.cli.streams import complain, output, say, tell, wants_color, width_of
from dpaudit.cli.verb import Given
from dpaudit.contract import Verdict
from dpaudit.engine.records import Fault, Listed, Result, Run
from dpaudit.engine.tasks import canonical
from dpaudit.escaping import harmless
from dpaudit.progress import Line, duration
from dpaudit.project.check import Checked, check, estimate, status
from dpaudit.project.history import Standing, keep
from dpaudit.project.settings import find_settings, read_project
from dpaudit.project.table import accepted_words, check_text
from dpaudit.record import encodable

__all__ = ["command"]


def command(args: Given) -> int:
    """Audit the mechanisms, show the table, keep it, and return the status."""
    check_suffix(args.out)
    settings = find_settings() if args.config is None else Path(args.config)
    if args.dry_run:
        return _estimated(settings, args)
    line = Line(sys.stderr, "audits")

    def show(done: int, total: int, name: str, share: float) -> None:
        if not args.quiet:
            line(done, total, f"{name} {share:.0%}" if done < total else "", share if done < total else 0.0)

    checked: list[Checked] = []
    try:
        limits = {"timeout": args.timeout, "time_limit": args.time_limit}
        check(settings, args.names, n_jobs=args.n_jobs, listener=show, keep=checked.append, alone=True, **limits)
    except KeyboardInterrupt as stop:
        line.end()
        _tell_rest(args, settings, checked, stop)
        raise
    finally:
        line.end()
    return _shown(args, settings, checked)


def _tell_rest(args: Given, settings: Path, checked: Sequence[Checked], stop: KeyboardInterrupt) -> None:
    """Show what an interrupted check has found, and say how to make the rest; it is kept for no comparison."""
    if checked:
        say(_told(args, [one.row for one in checked]))
    chosen = [audit.name for audit in read_project(settings).chosen(args.names)]
    stop.add_note(f"after {len(checked)} of {len(chosen)} audits, which the table shows")
    config = [] if args.config is None else ["--config", args.config]
    stop.add_note(shlex.join(["dpaudit", "check", *chosen[len(checked) :], *config]))


def _told(args: Given, rows: Sequence[Standing]) -> str:
    """Return rows as the table, or as JSON."""
    if args.json:
        return "".join(f"{canonical(encodable(row))}\n" for row in rows)
    return check_text(rows, wants_color(args.color), width_of(output()))


def _shown(args: Given, settings: Path, checked: Sequence[Checked]) -> int:
    """Show the rows of a whole check, keep them, and return the status."""
    rows = [one.row for one in checked]
    say(_told(args, rows))
    if args.out is not None:
        write_report(_run(args, settings, checked), args.out)
    if not args.names:  # a part of the audits is no check to compare others with
        tell("note", f"kept in {keep(rows, settings.resolve().parent)}; dpaudit diff compares it with the last one")
    return status(rows, allow_no_evidence=args.allow_no_evidence)


def _run(args: Given, settings: Path, checked: Sequence[Checked]) -> Run:
    """Return a check as a run; audits of one mechanism are told apart by their names."""
    project = read_project(settings)
    often = Counter(audit.mechanism for audit in project.audit)
    labels = {a.name: a.mechanism if often[a.mechanism] == 1 else f"{a.mechanism} ({a.name})" for a in project.audit}
    config = [] if args.config is None else ["--config", args.config]
    results: list[Result] = []
    faults: list[Fault] = []
    listed: dict[str, Listed] = {}
    for row, found in checked:
        label = labels[row.name]
        accepted = accepted_words(row) if row.verdict == Verdict.ACCEPTED else ""
        listed[label] = Listed(row.name, accepted)
        results += [replace(one, learner=label, task=f"{label}/{one.task}", index=len(results)) for one in found]
        faults += [Fault(label, row.why)] if row.verdict == Verdict.FAILED else []
    return run_of(results, project.seed, shlex.join(["dpaudit", "check", *args.names, *config]), faults, listed)


def _estimated(settings: Path, args: Given) -> int:
    """Show about how long each audit will take, and return 2 if one cannot be made."""
    found = estimate(settings, args.names)
    times = {name: seconds for name, seconds in found.items() if not isinstance(seconds, str)}
    width = max(map(len, found))
    say("".join(f"{harmless(name).ljust(width)}  about {duration(seconds)}\n" for name, seconds in times.items()))
    say(f"{'all'.ljust(width)}  about {duration(sum(times.values()))} for the runs, one after the other\n")
    for name, error in found.items():
        if isinstance(error, str):
            complain("FAILED", f"{name}: {error}")
    return 0 if len(times) == len(found) else 2
