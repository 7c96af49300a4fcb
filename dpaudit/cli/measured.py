"""Shows a measured sample complexity or a scaling law, writes it, and returns the status."""

from __future__ import annotations

from pathlib import Path

from dpaudit.cli.streams import output, say, wants_color, width_of
from dpaudit.cli.verb import Given
from dpaudit.contract import UtilityVerdict
from dpaudit.engine.files import keep_foreign, write_atomically
from dpaudit.engine.outcome import OPEN
from dpaudit.engine.tasks import canonical
from dpaudit.errors import InputError
from dpaudit.reporters.aligned import laid_out
from dpaudit.reporters.complexity import complexity_lines, complexity_page
from dpaudit.reporters.plots.style import as_svg
from dpaudit.reporters.verdict_block import aligned
from dpaudit.utility.complexity_finding import SampleComplexityFinding
from dpaudit.utility.scaling_finding import ScalingFinding

__all__ = ["check_figure", "show_measured"]

_STATUS = {UtilityVerdict.VIOLATION: 1, UtilityVerdict.UNDECIDED: OPEN}


def check_figure(path: str | None) -> None:
    """Refuse a file of an unknown format, or in a folder that is not there, before anything runs."""
    if path is not None and Path(path).suffix.lower() not in (".json", ".svg"):
        raise InputError.of("out", path, "a file that ends in .json or .svg")
    if path is not None and not Path(path).parent.is_dir():
        raise InputError.of("out", path, "a file in a folder that exists")


def show_measured(args: Given, finding: SampleComplexityFinding | ScalingFinding, name: str, repeat: str) -> int:
    """Print a finding, write it to the file that was asked for, and return the status."""
    if args.json:
        say(f"{canonical({**finding.to_dict(), 'command': repeat})}\n")
    else:
        say(laid_out(complexity_lines(finding, name, repeat), width_of(output()), wants_color(args.color)))
        if args.verbose:
            say("\n" + aligned(complexity_page(finding, name, repeat)))
    if args.out is not None:
        path = Path(args.out)
        keep_foreign(path)
        if path.suffix.lower() == ".svg":
            write_atomically(path, as_svg(finding.plot()))
        else:
            write_atomically(path, f"{canonical(finding.to_dict())}\n".encode())
    status = _STATUS.get(finding.verdict, 0)
    return 0 if status == OPEN and args.allow_no_evidence else status
