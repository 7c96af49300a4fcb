"""The command that audits the mechanisms of a project and shows them in one table."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from dpaudit.cli.streams import complain, say, tell, wants_color
from dpaudit.cli.verb import Given
from dpaudit.cli.written import check_suffix, run_of, write_report
from dpaudit.engine.tasks import canonical
from dpaudit.harmless import harmless
from dpaudit.progress import Line, duration
from dpaudit.project.check import check, estimate, status
from dpaudit.project.history import keep
from dpaudit.project.settings import find_settings, read_project
from dpaudit.project.table import check_text
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
            line(done, total, f"{name} {share:.0%}")

    try:
        checked = check(settings, args.names, n_jobs=args.n_jobs, listener=show)
    finally:
        line.end()
    rows = [one.row for one in checked]
    told = "".join(f"{canonical(encodable(row))}\n" for row in rows)
    say(told if args.json else check_text(rows, wants_color(args.color)))
    if args.out is not None:
        results, command = [result for one in checked for result in one.results], ["dpaudit", "check", *args.names]
        write_report(run_of(results, read_project(settings).seed, shlex.join(command)), args.out)
    if not args.names:  # a part of the audits is no check to compare others with
        tell("note", f"kept in {keep(rows, settings.resolve().parent)}; dpaudit diff compares it with the last one")
    return status(rows, allow_no_evidence=args.allow_no_evidence)


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
