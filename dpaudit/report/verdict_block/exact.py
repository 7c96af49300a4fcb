"""The lines of an exact audit."""

from __future__ import annotations

from collections.abc import Sequence

from dpaudit.contract import Verdict
from dpaudit.engine.arguments import ExactArguments
from dpaudit.engine.records import Result
from dpaudit.exact.finding import LawFinding
from dpaudit.report.evidence import origin_text
from dpaudit.report.numbers import count, plural, significant
from dpaudit.report.terminal import Lines
from dpaudit.report.verdict_block.claim import tested_claim
from dpaudit.report.wording import output_text

__all__ = ["asked_lines", "exact_lines"]

# Exact laws have a finite error and pairs that differ, so that there is always evidence.
_VERDICTS = {
    Verdict.VIOLATION: "VIOLATION: the claim is refuted",
    Verdict.CONSISTENT: "consistent: no violation on these pairs",
}


def exact_lines(result: Result, finding: LawFinding) -> Lines:
    """Return the lines of an exact audit."""
    claimed, worst = finding.claimed_epsilon, finding.pair_in_words
    lines = [("epsilon", _epsilon(result, finding))]
    if claimed is None:
        claim, verdict = "none", "the learner claims no privacy"
    else:
        claim = tested_claim(result, claimed, finding.claimed_delta, finding.relation)
        verdict = _VERDICTS[finding.verdict]
        at_claim = significant(finding.delta_at_claim, apart_from=finding.claimed_delta)
        lines.append(("delta", f"{at_claim} at worst, at the claimed epsilon"))
    output = output_text(finding.worst_atom, result.decoded)
    witness = f"{worst.data} against {worst.neighbour}, output {output} [{origin_text(worst.origin)}]"
    return [("claim", claim), *lines, *asked_lines(finding), ("verdict", verdict), ("witness", witness)]


def _epsilon(result: Result, finding: LawFinding) -> str:
    """Return the worst epsilon, its error, and the pairs that it is over."""
    covered = f"{count(finding.pairs)} ordered pairs: {_covered(result, finding)}"
    shown = significant(finding.epsilon, apart_from=finding.claimed_epsilon, error=finding.error)
    error = f"error at most {significant(finding.error, 'up', digits=2)}"
    return f"{shown} at worst ({finding.grade}, {error}) over {covered}"


def _covered(result: Result, finding: LawFinding) -> str:
    """Return which samples were compared."""
    assert isinstance(result.arguments, ExactArguments)
    if result.arguments.samples == "crafted":
        return f"crafted pairs from samples of {result.arguments.n} examples"
    return "the samples given" if finding.n is None else f"all neighbours of samples of {finding.n} examples"


def asked_lines(finding: LawFinding) -> Lines:
    """Return what was asked for beside the worst case: its enclosure, and what many runs cost."""
    lines: Lines = []
    if finding.enclosure is not None:
        lines.append(("enclosed", "epsilon in [{}, {}], by ball arithmetic".format(*finding.enclosure)))
    if (made := finding.composition) is not None:
        runs = f"{plural(made.times, 'run')} on one sample ({made.grade}, these pairs)"
        lines.append(("composed", f"epsilon of {runs}: {_brackets(made.epsilons, 'delta')}"))
        lines.append(("composed", f"delta of {runs}: {_brackets(made.deltas, 'epsilon')}"))
    return lines


def _brackets(rows: Sequence[tuple[float, float, float]], at: str) -> str:
    """Return rows (where, lower end, upper end) on one line, lower ends rounded down and upper ends up."""
    return ", ".join(
        f"[{significant(low, 'down')}, {significant(high, 'up')}] at {at} {significant(x)}" for x, low, high in rows
    )
