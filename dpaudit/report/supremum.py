"""The words of a supremum over samples of every size."""

from __future__ import annotations

import math

from dpaudit.contract import Support, Verdict
from dpaudit.exact.supremum.finding import SupremumFinding
from dpaudit.report.numbers import count, plural, significant, value_text
from dpaudit.report.terminal import Lines

__all__ = ["supremum_brief", "supremum_lines"]

_LONGEST = 120
_SUPPORTS = {
    Support.PROVED: "epsilon {}, proved for samples of every size",
    Support.LIMIT: "epsilon >= {}, the limit along a ray of samples",
    Support.LOWER_BOUND: "epsilon >= {}, the loss of one pair",
}


def supremum_brief(finding: SupremumFinding, name: str, *, repeat: str | None = None) -> Lines:
    """Return the verdict with the supremum, its witness, and how the search went, as a label and a text each.

    Parameters
    ----------
    finding : SupremumFinding
        The finding.
    name : str
        The learner.
    repeat : str, optional
        The command, or the call, that makes the finding again; its seed by default.
    """
    refuted = [("warning", _refutation(finding))] if finding.proof_refuted else []
    last = ("seed", str(finding.seed)) if repeat is None else ("repeat", repeat)
    return [
        (_label(finding), f"{name} {_claim(finding)}, has {_value(finding)}"),
        ("witness", _cut(_witness(finding))),
        ("search", _search(finding)),
        *refuted,
        last,
    ]


def supremum_lines(finding: SupremumFinding) -> Lines:
    """Return all that a finding says, a line each."""
    lines = [
        ("claim", _claim(finding)),
        ("supremum", _value(finding)),
        ("error", f"at most {significant(finding.error, 'up', digits=2)} ({finding.grade})"),
        ("verdict", finding.verdict.value),
        ("witness", f"{_witness(finding)} [{finding.relation.value}]"),
        ("growth", ", ".join(f"{_number(loss)} at n = {count(n)}" for n, loss in finding.growth)),
    ]
    if finding.ray:
        lines.append(("ray", f"ever more copies of {finding.ray}"))
    if finding.proof:
        lines.append(("refuted" if finding.proof_refuted else "proof", finding.proof))
    if finding.proof_refuted:
        lines.append(("warning", _refutation(finding)))
    return [*lines, ("search", f"{_search(finding)}; seed {finding.seed}")]


def _label(finding: SupremumFinding) -> str:
    return "NO CLAIM" if finding.claimed_epsilon is None else finding.verdict.upper()


def _claim(finding: SupremumFinding) -> str:
    if finding.claimed_epsilon is None:
        return "promises no privacy"
    delta = f" and delta {value_text(finding.claimed_delta)}" if finding.claimed_delta else ""
    return f"claims epsilon {value_text(finding.claimed_epsilon)}{delta}"


def _value(finding: SupremumFinding) -> str:
    shown = significant(finding.value, digits=6, apart_from=finding.claimed_epsilon, error=finding.error)
    told = _SUPPORTS[finding.support].format(shown)
    exceeds = finding.claimed_delta and finding.verdict is not Verdict.VIOLATION
    return f"{told} (the pure loss, delta = 0)" if exceeds else told


def _witness(finding: SupremumFinding) -> str:
    pair = finding.pair_in_words
    told = f"{_number(finding.attained)} at n = {count(finding.n)}"
    return f"{told}: output {finding.worst_atom} on {pair.data} against {pair.neighbour}"


def _search(finding: SupremumFinding) -> str:
    agree = "agrees" if finding.agreement == 1 else "agree"
    starts = f"{finding.agreement} of {plural(finding.starts, 'start')} {agree} within 0.1 %"
    return f"{starts}, {plural(finding.laws, 'law')}"


def _refutation(finding: SupremumFinding) -> str:
    assert finding.proved_value is not None
    return f"the learner's closed form, {_number(finding.proved_value)}, is refuted by the witness"


def _number(value: float) -> str:
    return "inf" if math.isinf(value) else significant(value, digits=6)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
