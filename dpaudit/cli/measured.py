"""Shows a measured sample complexity or a scaling law, writes it, and returns the status."""

from __future__ import annotations

from dpaudit.cli.text_output import show_plain, write_plain
from dpaudit.cli.verb import Given
from dpaudit.contract import exit_status
from dpaudit.engine.tasks import canonical
from dpaudit.report.ci import Promise
from dpaudit.report.complexity import complexity_lines, complexity_page
from dpaudit.report.plain import Plain, summed
from dpaudit.report.plots import as_svg
from dpaudit.report.terminal import aligned
from dpaudit.utility.complexity_finding import SampleComplexityFinding
from dpaudit.utility.scaling_finding import ScalingFinding

__all__ = ["show_measured"]


def show_measured(args: Given, finding: SampleComplexityFinding | ScalingFinding, name: str, repeat: str) -> int:
    """Print a finding, write it to the file that was asked for, and return the status."""
    told = f"{canonical({**finding.to_dict(), 'command': repeat})}\n"
    brief, page = complexity_lines(finding, name, repeat), complexity_page(finding, name, repeat)
    show_plain(args, told, brief, page)
    write_plain(
        args.out,
        lambda: Plain(
            f"dpaudit: the sample complexity of {name}",
            json=told,
            text=aligned(page),
            lines=[brief[0], *(line for line in page if line != brief[0])],
            case=Promise(name, "result", finding.verdict, summed(brief)),
            figure=lambda: as_svg(finding.plot()),
        ),
    )
    return exit_status([finding.verdict], allow_open=args.allow_no_evidence)
