"""The command that begins a mechanism or a learner with its test and its entry in the settings."""

from __future__ import annotations

from dpaudit.cli.streams import output, say, width_of
from dpaudit.cli.verb import Given
from dpaudit.project.new import begin
from dpaudit.report.terminal import laid_out

__all__ = ["command"]


def command(args: Given) -> int:
    """Write the files and say what to do next."""
    *written, settings = (path.name for path in begin(args.kind, args.name))
    more = f"; the audit {args.name} is in {settings}"
    place = f"{args.name}.py:{args.name if args.kind == 'mechanism' else 'LEARNER'}"
    claim = " --epsilon 1" if args.kind == "mechanism" else ""
    lines = [
        ("wrote", " and ".join(written) + more),
        ("next", f"dpaudit privacy {place}{claim}"),
        ("expect", "a violation: it claims epsilon 1 and adds the noise for 2; the file says how to mend it"),
    ]
    say(laid_out(lines, width_of(output())))
    return 0
