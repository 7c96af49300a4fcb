"""The sentences at the top of a page: the answer on the whole run, accuracy, and the ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from dpaudit.contract import Verdict
from dpaudit.report.ledger import counts as ledger_counts
from dpaudit.report.numbers import count, plural
from dpaudit.report.page.sentences import Phrase
from dpaudit.report.page.text import claim_words, epsilon_exact, epsilon_found, spelled
from dpaudit.report.summary import Summary
from dpaudit.report.view import Mechanism, Row

__all__ = ["Count", "answer", "controls_words", "counts", "lede", "ledger_words", "missing_words"]


def answer(summary: Summary, learners: Sequence[Mechanism], controls: Sequence[Mechanism]) -> list[Phrase]:
    """Return the verdict on the whole run in one sentence: what is gravest is said first.

    A control that was missed comes before everything, for then nothing that was not found means much.
    """
    missed = [m for m in controls if m.state == Verdict.MISSED]
    broken = [m for m in learners if m.state == Verdict.VIOLATION]
    inaccurate = [m for m in learners if m.accuracy == Verdict.VIOLATION]
    claims = [m for m in learners if m.state not in (Verdict.NO_CLAIM, Verdict.NOT_CHECKED)]
    if missed:
        rest = f" and {spelled(len(missed) - 1)} more" if len(missed) > 1 else ""
        return [Phrase("The audit is blind: it missed "), _link(missed[0]), Phrase(f"{rest}.")]
    if broken:
        return _broken(broken, len(claims))
    if inaccurate:
        told = f"{spelled(len(inaccurate)).capitalize()} of {plural_word(len(learners), 'mechanism')}"
        verb = "breaks" if len(inaccurate) == 1 else "break"
        return [Phrase(f"{told} {verb} a promise of accuracy: "), _link(inaccurate[0]), Phrase(".")]
    return [Phrase(_incomplete(summary))] if not summary.whole else _silent(learners, claims)


def _broken(broken: Sequence[Mechanism], claims: int) -> list[Phrase]:
    """Return how many claims are broken; of a single one, what it promises and what it has."""
    verb = "is" if len(broken) == 1 else "are"
    told = f"{spelled(len(broken)).capitalize()} of {plural_word(claims, 'privacy claim')} {verb} broken"
    if len(broken) > 1:
        return [Phrase(f"{told}.")]
    return [Phrase(f"{told}: "), _link(broken[0]), Phrase(f" {_promise(broken[0].tested)}.")]


def _incomplete(summary: Summary) -> str:
    """Return how much of the run is missing."""
    if not summary.pending:
        return "Incomplete: some mechanisms could not be audited."
    planned = len(summary.pending) + summary.done
    return f"Incomplete: {count(len(summary.pending))} of {count(planned)} planned audits have no result."


def _silent(learners: Sequence[Mechanism], claims: Sequence[Mechanism]) -> list[Phrase]:
    """Return that nothing was found, and what that leaves open."""
    unseen = [m for m in claims if m.state == Verdict.NO_EVIDENCE]
    undecided = [m for m in learners if m.accuracy == Verdict.UNDECIDED]
    accepted = [m for m in claims if m.state == Verdict.ACCEPTED]
    other = "other " * bool(accepted)
    found = f"No {other}violation found in {plural_word(len(claims), 'privacy claim')}" if claims else (
        "No claim of privacy was tested" if learners else "No mechanism was audited"
    )  # fmt: skip
    parts = [Phrase(found)]
    if accepted:
        parts = [Phrase(f"{plural_word(len(accepted), 'violation').capitalize()} accepted; n{found[1:]}")]
    for words, named in (("; no evidence on ", unseen), ("; accuracy undecided of ", undecided)):
        if len(named) == 1:
            parts += [Phrase(words), _link(named[0])]
        elif named:
            parts.append(Phrase(f"{words}{spelled(len(named))}{' of them' if named is unseen else ' mechanisms'}"))
    return [*parts, Phrase(".")]


def plural_word(n: int, noun: str) -> str:
    """Return a spelled number with its noun."""
    return f"{spelled(n)} {noun}{'s' * (n != 1)}"


def _link(mechanism: Mechanism) -> Phrase:
    return Phrase(mechanism.name, mechanism.id)


def _promise(row: Row) -> str:
    """Return what a mechanism promises and what it has."""
    if row.claim is None:
        return "breaks its promise"
    promised = f"promises {claim_words(row.claim)}"
    if row.exact is not None and "exact" in row.convicted_by:
        return f"{promised} and has ε = {epsilon_exact(row, row.exact)}"
    return f"{promised}, and its runs show ε ≥ {epsilon_found(row)}"


def lede(learners: Sequence[Mechanism]) -> list[Phrase]:
    """Return how many promises of accuracy hold, and mechanisms with one that is broken or undecided, by name."""
    audited = [m for m in learners if m.accuracy != Verdict.NOT_CHECKED]
    if not audited:
        return []
    found = Counter(row.utility_verdict for m in audited for row in m.rows if row.cases)
    empty = found[Verdict.VACUOUS]
    vacuous = f", {empty} {'says' if empty == 1 else 'say'} next to nothing" if empty else ""
    parts = [Phrase(f"Accuracy: {plural(found[Verdict.HOLDS], 'promise')} kept{vacuous}")]
    for verdict, words in (
        (Verdict.VIOLATION, "broken"),
        (Verdict.UNDECIDED, "undecided"),
        (Verdict.FAILED, "failed"),
        (Verdict.INCOMPLETE, "not finished"),
    ):
        named = [m for m in audited if m.accuracy == verdict]
        if named:
            parts.append(Phrase(f", {len(named)} {words}: "))
            parts += [phrase for i, m in enumerate(named) for phrase in ([Phrase(", ")] * (i > 0) + [_link(m)])]
    return [*parts, Phrase(".")]


def ledger_words(summary: Summary) -> str:
    """Return how many statements of the papers have each verdict; an empty text without statements."""
    if not summary.ledger:
        return ""
    found = ledger_counts(summary.ledger)
    order = (Verdict.REFUTED, Verdict.LOOSE, Verdict.HOLDS, Verdict.UNDECIDED)
    told = [f"{found[v]} {'hold' if v == Verdict.HOLDS else v}" for v in order if found[v]]
    return f"Papers: of {plural(len(summary.ledger), 'statement')} checked, {', '.join(told)}."


class Count(NamedTuple):
    """A count at the top of the page."""

    n: int
    tone: str
    words: str


def counts(learners: Sequence[Mechanism], controls: Sequence[Mechanism]) -> list[Count]:
    """Return how many mechanisms are in each state."""
    found = {state: sum(m.state == state for m in (*learners, *controls)) for state in Verdict}
    unclaimed = found[Verdict.NO_CLAIM] + found[Verdict.NOT_CHECKED]
    shown = [
        Count(found[Verdict.VIOLATION], "bad", "violation" + "s" * (found[Verdict.VIOLATION] != 1)),
        Count(found[Verdict.NO_EVIDENCE], "none", "no evidence: a leak could not have been seen"),
        Count(found[Verdict.CONSISTENT], "ok", "consistent: a leak could have been seen, none was"),
        Count(unclaimed, "nc", "without a privacy claim, or not audited for it"),
        Count(found[Verdict.MISSED], "bad", f"controls missed, of {len(controls)} broken on purpose"),
    ]
    lost = found[Verdict.FAILED] + found[Verdict.INCOMPLETE]
    unfinished = Count(lost, "none", "not finished: an audit failed or was not run")
    accepted = Count(found[Verdict.ACCEPTED], "none", "violations accepted by the settings of the project")
    return [*shown[:2], *(count for count in (unfinished, accepted) if count.n), *shown[2:]]


def missing_words(summary: Summary) -> str:
    """Return what the run lacks; an empty text if it is whole."""
    parts = []
    if summary.pending:
        planned = len(summary.pending) + summary.done
        parts.append(f"{count(len(summary.pending))} of {count(planned)} planned audits have no result.")
    if summary.faults:
        parts.append(f"No audit could be planned of {', '.join(fault.learner for fault in summary.faults)}.")
    return " ".join(parts)


def controls_words(summary: Summary, controls: Sequence[Mechanism]) -> str:
    """Return how many planted faults were caught, and what it would mean to miss one."""
    if not controls:
        return "No mechanism broken on purpose was part of this run, so that its silence was not put to the test."
    caught = sum(m.state == Verdict.CAUGHT for m in controls)
    told = f"{caught} of {len(controls)} planted faults were caught."
    if summary.missed:
        return f"{told} The audit is blind to the kind of leak that it missed."
    return f"{told} A missed one would mean that the audit is blind to its kind of leak."
