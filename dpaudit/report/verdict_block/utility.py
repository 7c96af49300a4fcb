"""The lines of an audit of utility on one hard case."""

from __future__ import annotations

from dpaudit.contract import Verdict
from dpaudit.engine.arguments import UtilityArguments
from dpaudit.engine.outcome import is_ladder
from dpaudit.engine.records import Result
from dpaudit.report.numbers import count, percent, rate, significant, value_text
from dpaudit.report.terminal import Lines
from dpaudit.report.wording import failure_text
from dpaudit.utility.finding import UtilityFinding

__all__ = ["theorem_text", "utility_lines"]

_PROMISED = {
    Verdict.VIOLATION: "VIOLATION: it fails more often than beta",
    Verdict.UNDECIDED: "undecided: the interval holds beta; more trials would tell",
    Verdict.HOLDS: "holds: it fails at most as often as beta, on this case",
    Verdict.VACUOUS: "vacuous: the claim promises next to nothing, so that it is no merit to keep it",
}
_TESTED = {
    Verdict.VIOLATION: "fails more often than beta here",
    Verdict.UNDECIDED: _PROMISED[Verdict.UNDECIDED],
    Verdict.HOLDS: "fails at most as often as beta, on this case",
    Verdict.VACUOUS: "fails at most as often as beta, on this case, which says next to nothing",
}


def utility_lines(result: Result, finding: UtilityFinding) -> Lines:
    """Return the lines of an audit of utility."""
    arguments = result.arguments
    assert isinstance(arguments, UtilityArguments)
    name, verdict = "claim", _PROMISED[finding.verdict]
    if is_ladder(result):
        name, verdict = "tested", f"{_TESTED[finding.verdict]}; {theorem_text(arguments)}"
    examples = f"{count(finding.n)} examples ({finding.setting})"
    return [
        (name, f"Pr[{failure_text(finding)}] <= {value_text(finding.beta)} on {examples}"),
        ("case", f"{arguments.case} ({finding.concept}{_best(finding)})"),
        ("failures", f"{_failures(finding)} with confidence {percent(finding.confidence)} (statistical)"),
        ("verdict", verdict),
    ]


def _best(finding: UtilityFinding) -> str:
    """Return the error of the best concept, over which the excess is counted."""
    best = finding.best_error
    return "" if best is None else f"; the best concept's error is {significant(best)}"


def _failures(finding: UtilityFinding) -> str:
    """Return the failures, their rate and its interval, each on its side of beta."""
    beta = finding.beta
    shown = rate(finding.failure_rate, beta=beta)
    low, high = rate(finding.failure_lower, "down", beta=beta), rate(finding.failure_upper, "up", beta=beta)
    return f"{count(finding.failures)} of {count(finding.trials)}: {shown} [{low}, {high}]"


def theorem_text(arguments: UtilityArguments) -> str:
    """Say why failures refute nothing here."""
    n = arguments.theorem_n
    return f"the theorem asks for n = {count(n)}" if isinstance(n, int) else "no theorem of the learner promises this"
