"""The verdict of a single audit in a few lines: that of the gravest result, where there are several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.engine.arguments import UtilityArguments
from dpaudit.engine.outcome import is_ladder, leaves_open, refutes
from dpaudit.engine.records import Result
from dpaudit.exact.finding import LawFinding
from dpaudit.report.brief import brief_lines
from dpaudit.report.numbers import plural, value_text
from dpaudit.report.terminal import Lines
from dpaudit.report.verdict_block.exact import asked_lines
from dpaudit.report.verdict_block.privacy import curve_lines
from dpaudit.report.verdict_block.utility import theorem_text
from dpaudit.utility.finding import UtilityFinding

__all__ = ["brief_block"]


def brief_block(shown: Callable[[str, str | None], str], results: Sequence[Result], repeat: str) -> Lines:
    """Return the lines on the gravest of some results of one learner.

    Parameters
    ----------
    shown : callable
        Names a parameter as it is given; see `InputError.told`.
    results : sequence of Result
        All of one learner and one kind.
    repeat : str
        The command that makes them again.
    """
    result = max(results, key=lambda one: (refutes(one), leaves_open(one)))
    finding = result.finding
    assert isinstance(finding, PrivacyFinding | LawFinding | UtilityFinding)
    (label, told), *rest, last = brief_lines(
        finding, result.learner, repeat=repeat, decoded=result.decoded or None, shown=shown
    )
    if is_ladder(result):
        assert isinstance(result.arguments, UtilityArguments)
        label, told = "TESTED", f"{told}; this refutes nothing, {theorem_text(result.arguments)}"
    return [(label, told), *rest, *_asked(finding), *_own_claim(result), *_control(result), *_others(results), last]


def _asked(finding: PrivacyFinding | LawFinding | UtilityFinding) -> Lines:
    """Return what options asked for beside the verdict: it is no detail for who asked."""
    if isinstance(finding, LawFinding):
        return asked_lines(finding)
    return curve_lines(finding) if isinstance(finding, PrivacyFinding) else []


def _own_claim(result: Result) -> Lines:
    """Return the learner's own claim where another one was tested."""
    claim, finding = result.claim, result.finding
    if claim is None or not isinstance(finding, PrivacyFinding):
        return []
    if (claim.epsilon, claim.delta) == (finding.epsilon, finding.delta):
        return []
    own = f"epsilon {value_text(claim.epsilon)}, delta {value_text(claim.delta)}"
    return [("note", f"this claim was given; the learner's own is {own}")]


def _control(result: Result) -> Lines:
    return [] if result.fault is None else [("note", f"it leaks on purpose: {result.fault}")]


def _others(results: Sequence[Result]) -> Lines:
    """Return how many cases have which verdict, where there are several."""
    if len(results) == 1:
        return []
    counts = Counter(getattr(result.finding, "verdict", "").lower() for result in results)
    told = ", ".join(f"{n} {verdict}" for verdict, n in counts.items())
    return [("cases", f"{plural(len(results), 'case')}: {told}; the gravest is shown, -v shows each")]
