"""The words for a sensitivity: how far outputs, or the values that noise is added to, move between neighbours."""

from __future__ import annotations

import math

from dpaudit.contract import PrivacyVerdict
from dpaudit.report.numbers import count, plural, significant
from dpaudit.report.terminal import Lines, said
from dpaudit.report.words.claims import claim_words
from dpaudit.sensitivity.finding import Moved, NoiseMove, RecordedFinding, SensitivityFinding
from dpaudit.sensitivity.metrics import ROUNDING

_DIGITS = 4
# What follows a distance in each metric.
_METRICS = {
    "absolute": "",
    "l1": " in L1",
    "l2": " in L2",
    "linf": " in L∞",
    "hamming": " places",
    "symmetric": " elements",
}
_LIMITS = {PrivacyVerdict.NOT_REFUTED: "that no other pair moves farther: no number of pairs proves a sensitivity"}
# Values with noise that are listed in brief, and drawn in the figure.
_VALUES_LISTED = 3
_VALUES_DRAWN = 8


def _far(distance: float, metric: str, apart_from: float | None = None) -> str:
    if math.isinf(distance):
        return "infinitely far"
    return f"{significant(distance, 'down', digits=_DIGITS, apart_from=apart_from)}{_METRICS[metric]}"


def function_lines(finding: SensitivityFinding, name: str) -> tuple[Lines, Lines]:
    """Return what a finding on a function says in brief, and all of it."""
    claimed = f"claims sensitivity {significant(finding.sensitivity, digits=_DIGITS)}{_METRICS[finding.metric]}"
    moved = _far(finding.distance, finding.metric, finding.sensitivity)
    shows = "gives equal outputs on all pairs"
    if finding.moved:
        shows = f"moves {moved} on a pair of neighbours"
    verdict = (finding.verdict, f"{name} {claimed}, {shows} (computed without noise)")
    rounding = ""
    # A distance above the claim without a violation asks for a reason.
    if finding.rounded and finding.verdict != PrivacyVerdict.VIOLATION and finding.distance > finding.sensitivity:
        rounding = f"the excess is below {float(ROUNDING):g} of the claim, which is rounding of floats"
    brief = said(
        verdict,
        ("witness", _witness(finding.witness)),
        ("infinite", finding.infinite and f"on a pair of neighbours {finding.infinite}"),
        ("rounding", rounding),
        ("pairs", _tried(finding, "outputs differ")),
    )
    neighbours = finding.relation.value if finding.relation else "the pairs given"
    page = said(
        ("claim", f"{claimed} ({neighbours})"),
        *brief,
        ("calls", f"{count(finding.calls)} of {name}"),
        ("grade", finding.grade),
        ("not shown", _LIMITS.get(finding.verdict, "")),
    )
    return brief, page


def _tried(finding: SensitivityFinding | RecordedFinding, what: str) -> str:
    text = f"{plural(finding.pairs, 'pair')} tried; {what} on {count(finding.moved)}"
    if finding.refused:
        text += f"; {count(finding.refused)} raise an exception ({finding.raised})"
    return text


def _witness(moved: Moved | None) -> str:
    if moved is None:
        return ""
    # Outputs of people's data are not shown.
    if moved.outputs is None:
        return moved.origin.text or f"{moved.data} against {moved.neighbour}"
    first, second = moved.outputs
    return f"{moved.data} gives {first}, {moved.neighbour} gives {second}"


def recorded_lines(finding: RecordedFinding, name: str) -> tuple[Lines, Lines]:
    """Return the same of what a mechanism adds noise to."""
    refuting = [one for one in finding.moves if _refutes(one, finding)]
    # In brief those that refute, or the ones that move farthest, as the finding has them in that order.
    listed = (refuting or finding.moves)[:_VALUES_LISTED]
    tried = _tried(finding, "recorded values differ")
    if finding.diverged:
        tried += f"; {count(finding.diverged)} cannot be compared ({finding.why_diverged})"
    beside = ""
    if finding.beside:
        beside = "the output of a pair differs though all noisy values are equal: the data are read elsewhere too"
    claim = ""
    if finding.epsilon is not None:
        claim = claim_words(finding.epsilon, finding.delta)
    reused = "; ".join(finding.reused)
    brief = said(
        (finding.verdict, f"{name} {_answer(finding, refuting)} (computed without noise)"),
        *(("value", _value(one)) for one in listed),
        ("witness", _witness(finding.witness)),
        ("not covered", "; ".join(finding.not_covered)),
        ("reused", reused and f"noise is added to more than one value: {reused}"),
        ("beside", beside),
        ("pairs", tried),
    )
    page = said(
        ("claim", claim),
        *brief,
        *(("value", _value(one)) for one in finding.moves if one not in listed),
        ("runs", f"{count(finding.runs)} of {name}"),
        ("grade", finding.grade),
        ("not shown", _LIMITS.get(finding.verdict, "")),
    )
    return brief, page


def _refutes(move: NoiseMove, finding: RecordedFinding) -> bool:
    by_loss = finding.epsilon is not None and move.loss is not None and move.loss > finding.epsilon
    return (finding.wrong_sensitivity and move.declared is not None and move.distance > move.declared) or (
        finding.wrong_epsilon and by_loss
    )


def _answer(finding: RecordedFinding, refuting: list[NoiseMove]) -> str:
    if finding.wrong_epsilon and finding.epsilon is not None:
        loss = max(move.loss or 0.0 for move in refuting)
        shown = "∞"
        if not math.isinf(loss):
            shown = significant(loss, "down", digits=_DIGITS, apart_from=finding.epsilon)
        return f"claims {claim_words(finding.epsilon, finding.delta)}, loses ε ≥ {shown} by one noisy value"
    if finding.wrong_sensitivity:
        return "adds noise for a sensitivity that is wrong"
    if not finding.moves:
        return "adds noise to no value that could be recorded"
    if finding.verdict == PrivacyVerdict.NOT_REFUTED:
        return "adds noise to values that move by no more than what is claimed, on the pairs tried"
    return "declares no sensitivity to compare with: give a claim, or epsilon"


def _value(move: NoiseMove) -> str:
    declared = ""
    if move.declared is not None:
        declared = f", {significant(move.declared, digits=_DIGITS)} is declared"
    scale = ""
    if move.scale is not None:
        scale = f", scale {significant(move.scale, digits=_DIGITS)}"
    far = _far(move.distance, move.metric, move.declared)
    return f"{move.place}: moves {far}{declared} ({move.primitive}{scale})"


def bars_of(finding: SensitivityFinding | RecordedFinding) -> list[tuple[str, float, float]]:
    """Return of each value drawn its name, how far it moved, and the sensitivity declared, else the noise's scale."""
    if isinstance(finding, SensitivityFinding):
        return [(finding.metric, finding.distance, finding.sensitivity)]
    found = [(one.place, one.distance, one.declared or one.scale or 0.0) for one in finding.moves[:_VALUES_DRAWN]]
    return found or [("no value", 0.0, 0.0)]
