"""The sentences of the page about a single audit."""

from __future__ import annotations

import math

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.contract import Verdict
from dpaudit.exact.finding import LawFinding
from dpaudit.report.evidence import gap_words
from dpaudit.report.numbers import count, percent, plural
from dpaudit.report.page.text import (
    allowed_times,
    claim_words,
    epsilon_exact,
    epsilon_found,
    epsilon_seen,
    number,
    share,
    times,
)
from dpaudit.report.page.witness import odds
from dpaudit.report.view import Mechanism, Row
from dpaudit.report.wording import failure_text, named_event

__all__ = ["answer_one", "lede_one", "power_words"]

def answer_one(mechanism: Mechanism) -> tuple[str, str, str]:
    """Return the tone, the verdict and the sentence at the top."""
    row = mechanism.tested
    verdict = row.verdict if row.blackbox is not None or row.exact is not None else row.utility_verdict
    word = "Holds, but vacuous" if verdict == Verdict.VACUOUS else verdict.capitalize()
    return verdict.tone, word, _sentence(row, row.learner.rpartition(":")[2])


def _sentence(row: Row, name: str) -> str:
    """Return what was promised and what was found."""
    promised = "" if row.claim is None else f"{name} promises {claim_words(row.claim)}"
    if row.blackbox is not None:
        return _by_runs(row, row.blackbox, promised)
    if row.exact is not None:
        has = f"has ε = {epsilon_exact(row, row.exact)}"
        return f"{promised} and {has}." if promised else f"{name} promises no privacy and {has}."
    if row.utility is not None:
        found = row.utility
        return f"{name} fails in {share(found.failure_rate)} % of runs; {share(found.beta)} % are allowed."
    return f"nothing was audited of {name}."


def _by_runs(row: Row, finding: PrivacyFinding, promised: str) -> str:
    if finding.verdict == Verdict.VIOLATION:
        return f"{promised}, its runs show ε ≥ {epsilon_found(row)}."
    if finding.verdict == Verdict.NO_EVIDENCE:
        return f"{promised}, and these runs could not have seen it broken."
    return f"{promised}; its runs would have shown any ε ≥ {epsilon_seen(row)}, and did not."


def lede_one(mechanism: Mechanism) -> str:
    """Return the evidence in two or three sentences."""
    row = mechanism.tested
    if row.blackbox is not None:
        return _runs_lede(row, row.blackbox)
    if row.exact is not None:
        return _exact_lede(row, row.exact)
    if row.utility is not None:
        found = row.utility
        low, high = share(found.failure_lower, "down"), share(found.failure_upper, "up")
        return (
            f"Of {plural(found.trials, 'run')} on {count(found.n)} examples, {count(found.failures)} failed "
            f"({failure_text(found)}). The true share is between {low} and {high} %, {percent(found.confidence)} sure."
        )
    return ""


def _runs_lede(row: Row, finding: PrivacyFinding) -> str:
    if finding.verdict == Verdict.NO_EVIDENCE:
        told = "; ".join(map(gap_words, finding.gaps))
        return f"{told[:1].upper()}{told[1:]}. Such silence says nothing."
    if finding.verdict == Verdict.CONSISTENT:
        return (
            f"{plural(finding.events, 'event')} on {plural(finding.pairs, 'pair')} of neighbours were compared, "
            f"{percent(finding.confidence)} sure. Silence is not proof: a leak on other inputs, or in rarer answers, "
            "would have gone unseen."
        )
    wrong = f"A private mechanism would be accused like this in at most {share(1 - finding.confidence)} % of audits."
    ratio = odds(finding)
    if math.isnan(ratio):
        return f"Bets against the claim won more than chance explains. {wrong}"
    event = named_event(finding.witness.event, row.decoded(finding))
    often = "on one alone" if math.isinf(ratio) else f"{times(ratio)} times as often on one as on the other"
    return (
        f"On two inputs that differ as neighbours may, the {event} comes {often}. The claim allows "
        f"{allowed_times(finding.epsilon)} times{', and δ on top' * (finding.delta > 0)}. {wrong}"
    )


def _exact_lede(row: Row, exact: LawFinding) -> str:
    scope = "" if exact.n is None else f" of inputs of {plural(exact.n, 'example')}"
    return f"Computed from {plural(exact.laws, 'output law')}: the worst of {plural(exact.pairs, 'pair')}{scope}."


def power_words(finding: PrivacyFinding) -> list[str]:
    """Return how to read the figure of power."""
    told = ["Common answers show small leaks, rare ones only large leaks. More runs move all points down."]
    if math.isfinite(finding.detectable_delta):
        chance = number(finding.detectable_delta, "up")
        told.append(f"An answer that is impossible on one input is caught from a probability of {chance}.")
    return told
