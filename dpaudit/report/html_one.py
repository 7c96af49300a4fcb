"""The report of a single audit as one HTML page of two printed pages: the answer, the witness, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.contract import Verdict
from dpaudit.engine.records import Result
from dpaudit.report.evidence import gap_words
from dpaudit.report.html import filled
from dpaudit.report.numbers import allowed_times, count, number, percent, plural, share, times
from dpaudit.report.page.claim_figures import claim_bar, power_figure
from dpaudit.report.page.curve_figures import accuracy_figure, curve_figure
from dpaudit.report.page.part import audited_numbers, method, witness
from dpaudit.report.sentences import FEW, claim_words, epsilon_exact, epsilon_found, epsilon_seen
from dpaudit.report.view import Mechanism, Row, row_of
from dpaudit.report.wording import failure_text, named_event

__all__ = ["render_finding"]


def render_finding(result: Result | Sequence[Result], command: str = "") -> str:
    """Return the report of the audits of one mechanism as a self-contained page; equal results give equal bytes.

    Parameters
    ----------
    result : Result or sequence of Result
        The result of an audit, or several of one mechanism, as of its accuracy in several settings.
    command : str
        The command that repeats it; left out if empty.
    """
    results = [result] if isinstance(result, Result) else list(result)
    row = row_of(results)
    mechanism = Mechanism("mechanism", [row])
    privacy = row.claim is not None or row.exact is not None
    verdict = row.verdict if row.blackbox is not None or row.exact is not None else row.utility_verdict
    page: dict[str, Any] = {
        "name": row.learner,
        "tone": verdict.tone,
        "verdict": "Holds, but vacuous" if verdict == Verdict.VACUOUS else verdict.capitalize(),
        "answer": _answer(row, row.learner.rpartition(":")[2]),
        "lede": _lede(row),
        "bar": claim_bar(mechanism) if privacy else "",
        "curve": curve_figure(mechanism) if privacy else None,
        "five": [*audited_numbers(mechanism), *_spent(row)],
        "accuracy": accuracy_figure(row),
        "method": [*method(mechanism), ("Seed and versions", _versions(results))],
        "command": command,
        "words": FEW,
        **_witness(row),
        "power": "" if row.blackbox is None else power_figure(row.blackbox),
        "power_words": [] if row.blackbox is None else _power_words(row.blackbox),
    }
    return filled("one.html.j2", page)


def _answer(row: Row, name: str) -> str:
    """Return what was promised and what was found, in a sentence."""
    promised = f"{name} promises no privacy" if row.claim is None else f"{name} promises {claim_words(row.claim)}"
    if row.blackbox is not None:
        match row.blackbox.verdict:
            case Verdict.VIOLATION:
                return f"{promised}, its runs show ε ≥ {epsilon_found(row)}."
            case Verdict.NO_EVIDENCE:
                return f"{promised}, and these runs could not have seen it broken."
        return f"{promised}; its runs would have shown any ε ≥ {epsilon_seen(row)}, and did not."
    if row.exact is not None:
        return f"{promised} and has ε = {epsilon_exact(row)}."
    if row.utility is not None:
        found = row.utility
        return f"{name} fails in {share(found.failure_rate)} % of runs; {share(found.beta)} % are allowed."
    return f"nothing was audited of {name}."


def _lede(row: Row) -> str:
    """Return the evidence in two or three sentences."""
    if row.blackbox is not None:
        return _runs_lede(row, row.blackbox)
    if (exact := row.exact) is not None:
        scope = "" if exact.n is None else f" of inputs of {plural(exact.n, 'example')}"
        return f"Computed from {plural(exact.laws, 'output law')}: the worst of {plural(exact.pairs, 'pair')}{scope}."
    if (found := row.utility) is not None:
        low, high = share(found.failure_lower, "down"), share(found.failure_upper, "up")
        return (
            f"Of {plural(found.trials, 'run')} on {count(found.n)} examples, {count(found.failures)} failed "
            f"({failure_text(found)}). The true share is between {low} and {high} %, {percent(found.confidence)} sure."
        )
    return ""


def _runs_lede(row: Row, finding: PrivacyFinding) -> str:
    if finding.verdict == Verdict.NO_EVIDENCE:
        gaps = "; ".join(map(gap_words, finding.gaps))
        return f"{gaps[:1].upper()}{gaps[1:]}. Such silence says nothing."
    if finding.verdict == Verdict.CONSISTENT:
        return (
            f"{plural(finding.events, 'event')} on {plural(finding.pairs, 'pair')} of neighbours were compared, "
            f"{percent(finding.confidence)} sure. Silence is not proof: a leak on other inputs, or in rarer answers, "
            "would have gone unseen."
        )
    wrong = f"A private mechanism would be accused like this in at most {share(1 - finding.confidence)} % of audits."
    ratio = finding.witness.ratio
    if math.isnan(ratio):
        return f"Bets against the claim won more than chance explains. {wrong}"
    event = named_event(finding.witness.event, row.decoded(finding))
    often = "on one alone" if math.isinf(ratio) else f"{times(ratio)} times as often on one as on the other"
    return (
        f"On two inputs that differ as neighbours may, the {event} comes {often}. The claim allows "
        f"{allowed_times(finding.epsilon)} times{', and δ on top' * (finding.delta > 0)}. {wrong}"
    )


def _power_words(finding: PrivacyFinding) -> list[str]:
    """Return how to read the figure of power."""
    parts = ["Common answers show small leaks, rare ones only large leaks. More runs move all points down."]
    if math.isfinite(finding.detectable_delta):
        chance = number(finding.detectable_delta, "up")
        parts.append(f"An answer that is impossible on one input is caught from a probability of {chance}.")
    return parts


def _spent(row: Row) -> list[tuple[str, str]]:
    """Return the runs that were spent on a black-box audit."""
    if row.blackbox is None:
        return []
    runs = f"runs a side of each of {plural(row.blackbox.pairs, 'pair')}, on average"
    return [(count(row.blackbox.trials), f"{runs}; {plural(row.blackbox.events, 'event')} compared")]


def _witness(row: Row) -> dict[str, Any]:
    """Return the heading, the two inputs and the note on the witness; no sides without one."""
    if row.blackbox is None:
        return {"sides": [], "witness_title": "", "witness_note": ""}
    shown = witness(row, row.blackbox)
    named = named_event(row.blackbox.witness.event, row.decoded(row.blackbox))
    counted = row.blackbox.witness.hits is not None
    fresh = "Both bars run from 0 to 100 % of runs. These runs are fresh: none of them chose the inputs or the answer."
    return {
        "sides": shown.sides,
        "witness_title": f"{shown.heading}: the {named}" if counted else shown.heading,
        "witness_note": fresh if counted else f"{shown.answer[:1].upper()}{shown.answer[1:]}.",
    }


def _versions(results: Sequence[Result]) -> str:
    """Return the seeds and the versions that the numbers depend on."""
    seeds = sorted({str(seed) for r in results if (seed := getattr(r.finding, "seed", None)) is not None})
    used = ", ".join(f"{name} {version}" for name, version in sorted(results[0].finding.versions.items()))
    return "; ".join(filter(None, (", ".join(seeds), used)))
