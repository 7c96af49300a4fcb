"""The results of one audit as a few lines of plain text."""

from __future__ import annotations

from collections.abc import Sequence

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.engine.records import Result
from dpaudit.exact.finding import LawFinding
from dpaudit.registry.import_spec import is_place
from dpaudit.report.terminal import Lines, aligned
from dpaudit.report.verdict_block.exact import exact_lines
from dpaudit.report.verdict_block.privacy import privacy_lines
from dpaudit.report.verdict_block.utility import utility_lines
from dpaudit.report.wording import label_parameters
from dpaudit.utility.finding import UtilityFinding

__all__ = ["finding_lines", "verdict_block"]


def verdict_block(results: Sequence[Result], repeat: str) -> str:
    """Return the results of one command as aligned lines: learner, claim, numbers, verdict, witness, command.

    Parameters
    ----------
    results : sequence of Result
        All of one learner and one kind.
    repeat : str
        The command that makes them again.
    """
    first = results[0]
    lines: Lines = [_subject(first)]
    if first.fault is not None:
        lines.append(("leaks", f"on purpose: {first.fault}"))
    for result in results:
        # What several cases share, their claim, is said once: before the first of them.
        said = [line for line in lines if line[0] in ("claim", "tested")][-1:]
        lines += [line for line in finding_lines(result) if line not in said]
    lines.append(("repeat", repeat))
    return aligned(lines)


def _subject(result: Result) -> tuple[str, str]:
    """Return what was audited."""
    if is_place(result.learner):
        return "mechanism", result.learner
    return "learner", f"{result.learner} ({label_parameters(result.parameters)})"


def finding_lines(result: Result) -> Lines:
    """Return the lines of one result."""
    finding = result.finding
    if isinstance(finding, PrivacyFinding):
        return privacy_lines(result, finding)
    if isinstance(finding, LawFinding):
        return exact_lines(result, finding)
    if isinstance(finding, UtilityFinding):
        return utility_lines(result, finding)
    raise TypeError(f"no command makes one {result.kind} alone")
