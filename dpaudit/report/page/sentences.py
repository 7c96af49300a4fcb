"""The sentences about one mechanism on the HTML pages: what was found of its privacy and its accuracy."""

from __future__ import annotations

from typing import NamedTuple

from dpaudit.contract import Verdict
from dpaudit.report.evidence import gap_words
from dpaudit.report.numbers import count, plural, value_text
from dpaudit.report.page.text import (
    claim_words,
    epsilon_exact,
    epsilon_found,
    epsilon_seen,
    raised,
    share,
)
from dpaudit.report.view import Mechanism, Row
from dpaudit.report.wording import failure_text

__all__ = ["Phrase", "accuracy_words", "privacy_words", "says"]


class Phrase(NamedTuple):
    """A piece of a sentence: plain, or with the anchor that it leads to, or strong."""

    text: str
    link: str = ""
    strong: bool = False


def says(mechanism: Mechanism) -> list[Phrase]:
    """Return the answer about one mechanism in a few sentences, the verdict in strong letters."""
    accuracy = accuracy_words(mechanism.accurate) if mechanism.accuracy.needs_look else []
    return [*privacy_words(mechanism), *accuracy]


def privacy_words(mechanism: Mechanism) -> list[Phrase]:
    """Return the answer on the privacy of one mechanism; of a control, whether its leak was detected."""
    row, state = mechanism.tested, mechanism.state
    head = _HEADS.get(state, f"{state.capitalize()}.")
    parts = [Phrase(head, strong=True), Phrase(" " + " ".join(filter(None, _privacy(row, state))))]
    if row.conflict:
        parts += [
            Phrase(" Contradiction.", strong=True),
            Phrase(" The runs show more than the exact laws allow: one of the two computations is wrong."),
        ]
    return parts


_HEADS = {
    Verdict.ACCEPTED: "Violation, accepted.",
    Verdict.NOT_CHECKED: "Privacy not audited.",
    Verdict.CAUGHT: "Caught, as it should be.",
}
"""How the answer begins, where that is not the word of the verdict."""


def _privacy(row: Row, state: Verdict) -> list[str]:
    """Return the sentences about privacy."""
    if state in (Verdict.MISSED, Verdict.CAUGHT):
        missed = "No audit found its leak, so that finding nothing elsewhere means little."
        return [f"Planted fault: {row.fault}.", missed if state == Verdict.MISSED else ""]
    if state in (Verdict.FAILED, Verdict.INCOMPLETE):
        what = {"plan": "Nothing could be audited"}
        failed = [f"{what.get(t.kind, f'The audit of {t.kind} failed')}: {t.error.rstrip('.?')}." for t in row.failures]
        return failed or ["Planned audits were not run to their end."]
    if state == Verdict.VIOLATION:
        return _violation(row)
    if state == Verdict.ACCEPTED:
        return [*_violation(row), f"The project accepts it {row.accepted}."]
    if state == Verdict.NO_EVIDENCE:
        gaps = [] if row.blackbox is None else [gap_words(gap) for gap in row.blackbox.gaps]
        told = "; ".join(gaps) or "no audit could have seen that the claim fails"
        return [f"{_sentence(told)}", "More runs or other inputs are needed."]
    if state == Verdict.CONSISTENT:
        return [_exactly(row), _by_runs(row)]
    if state == Verdict.NO_CLAIM:
        return ["It promises no privacy.", _exactly(row)]
    return []


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def _violation(row: Row) -> list[str]:
    """Return what a claim is refuted by: exact laws, runs or both."""
    told = ["" if row.claim is None else f"It claims {claim_words(row.claim)}."]
    if row.exact is not None and "exact" in row.convicted_by:
        told.append(f"The exact ε is {epsilon_exact(row, row.exact)}{_delta(row)} on {_inputs(row)}.")
    if row.blackbox is not None:
        shown = epsilon_found(row)
        alone = "The runs alone show" if len(told) > 1 else "The runs show"
        silent = f"The runs alone show ε ≥ {shown} and do not refute it."
        told.append(f"{alone} ε ≥ {shown}." if "black box" in row.convicted_by else silent)
    return told


def _delta(row: Row) -> str:
    """Return the delta at which an exact epsilon is told, where that is not 0."""
    delta = row.exact.claimed_delta if row.exact is not None and row.exact.epsilon_at_claim is not None else 0.0
    return f" at δ = {raised(value_text(delta))}" if delta else ""


def _inputs(row: Row) -> str:
    """Return what an exact audit covered."""
    if row.exact is None or row.exact.n is None:
        return "the inputs tried"
    examples = plural(row.exact.n, "example")
    return f"all inputs of {examples}" if row.scope == "all samples" else f"the inputs of {examples} that were tried"


def _exactly(row: Row) -> str:
    """Return the exact epsilon beside the claim."""
    if row.exact is None:
        return ""
    of = f" of the {raised(value_text(row.claim.epsilon))} claimed" if row.claim is not None else ""
    return f"Exact ε is {epsilon_exact(row, row.exact)}{of}{_delta(row)} on {_inputs(row)}."


def _by_runs(row: Row) -> str:
    """Return what the runs found and what they would have caught."""
    if row.blackbox is None:
        return ""
    seen = epsilon_seen(row)
    if row.blackbox.gaps:
        return f"The runs could have seen no leak: {'; '.join(map(gap_words, row.blackbox.gaps))}."
    caught = f"would have caught any ε ≥ {seen}" if seen != "never" else "would have caught none"
    return f"The runs found no violation and {caught}."


def accuracy_words(row: Row) -> list[Phrase]:
    """Return the sentence about accuracy, where it is broken, undecided or not audited to the end."""
    verdict, found = row.utility_verdict, row.utility
    if found is None or verdict in (Verdict.FAILED, Verdict.INCOMPLETE):
        errors = [trouble.error for trouble in row.failures if trouble.kind in ("utility", "plan")]
        return [Phrase(" Accuracy not finished.", strong=True), Phrase(f" {errors[0]}." if errors else "")]
    head = " Accuracy broken:" if verdict == Verdict.VIOLATION else " Accuracy undecided:"
    told = f" in {share(found.failure_rate)} % of {count(found.trials)} runs {failure_text(found)}"
    return [Phrase(head, strong=True), Phrase(f"{told}; {share(found.beta)} % are allowed.")]
