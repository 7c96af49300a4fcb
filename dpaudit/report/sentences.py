"""The sentences of every report in prose: on a whole run, and on one mechanism."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from dpaudit.contract import EVERY_VERDICT, PrivacyVerdict, TaskVerdict, UtilityVerdict, Verdict
from dpaudit.report.ledger import counts_text
from dpaudit.report.numbers import counted, plural, raised, share
from dpaudit.report.summary import Summary
from dpaudit.report.terminal import Lines
from dpaudit.report.view import AuditedMechanism, OneAudit, Row
from dpaudit.report.words.finding import reasons, statement

CAVEAT = "Silence is not proof: every number is about the inputs and answers that were tried."
# Names in the headline, at most.
_MOST_NAMES = 3


class Phrase(NamedTuple):
    """A piece of a sentence, plain or strong."""

    text: str
    strong: bool = False


def plain(phrases: Sequence[Phrase]) -> str:
    """Return phrases as one text."""
    return "".join(phrase.text for phrase in phrases).strip()


def headline(summary: Summary) -> str:
    """Return the answer in a sentence."""
    claims = sum(row.claim is not None and not row.further for row in summary.learners)
    broken = [row for row in summary.learners if row.privacy_verdict == PrivacyVerdict.VIOLATION]
    failing = [row for row in summary.learners if row.utility_verdict == UtilityVerdict.VIOLATION]
    # A missed fault comes first: it makes every other sentence doubtful.
    if summary.missed:
        return f"The audit is blind: it missed the planted fault of {_names(summary.missed)}."
    # Privacy comes before accuracy, and both before what is missing: the first that holds is the answer.
    if broken:
        are = "is" if len(broken) == 1 else "are"
        of = "The privacy claim is"
        if claims > 1:
            of = f"{len(broken)} of {claims} privacy claims {are}"
        return f"{of} violated: {_names(broken)}."
    if failing:
        return f"No privacy claim is violated, but {plural(len(failing), 'promise')} of accuracy: {_names(failing)}."
    if not summary.whole:
        return f"No violation so far, but {plural(len(summary.pending) + len(summary.faults), 'result')} missing."
    if not claims:
        return "No claim of privacy was tested."
    accepted = sum(row.privacy_verdict == TaskVerdict.ACCEPTED for row in summary.learners)
    found = "No violation found in"
    if accepted:
        found = f"{plural(accepted, 'violation')} accepted; no other found in"
    found += f" {plural(claims, 'privacy claim')}"
    if summary.without_evidence:
        found += f"; {len(summary.without_evidence)} without evidence"
    return f"{found}."


def _names(rows: Sequence[Row]) -> str:
    labels = list(dict.fromkeys(row.label for row in rows))
    named = ", ".join(labels[:_MOST_NAMES])
    if len(labels) > _MOST_NAMES:
        named += f" and {len(labels) - _MOST_NAMES} more"
    return named


def tallies(summary: Summary) -> Lines:
    """Return how many claims, promises, controls and statements ended how."""
    lines = [("privacy", tally([row.privacy_verdict for row in summary.learners if not row.further]))]
    accuracy = [row.utility_verdict for row in summary.learners if row.cases]
    if accuracy:
        lines.append(("accuracy", tally(accuracy)))
    if summary.controls:
        caught = f"{len(summary.convicted)} of {plural(len(summary.controls), 'planted fault')} caught"
        if summary.missed:
            caught += f"; missed: {_names(summary.missed)}"
        lines.append(("controls", caught))
    if summary.ledger:
        lines.append(("ledger", counts_text(summary.ledger)))
    if summary.promise:
        lines.append(("false alarms", summary.promise))
    missing = plural(len(summary.pending), "result")
    if summary.errors:
        missing += f", of which {len(summary.errors)} failed"
    if summary.faults:
        missing += f"; not planned: {plural(len(summary.faults), 'learner')}"
    lines.append(("missing", missing))
    return lines


def tally(verdicts: Sequence[Verdict]) -> str:
    """Return how many verdicts there are of each kind, the gravest first."""
    found = Counter(verdicts)
    parts = [counted(verdict, found[verdict]) for verdict in EVERY_VERDICT if found[verdict]]
    return ", ".join(parts) or "nothing audited"


def says(mechanism: AuditedMechanism) -> list[Phrase]:
    """Return the answer about one mechanism in a few sentences, the verdict in strong letters."""
    # Accuracy that is kept, or was not audited, is no part of the answer.
    accuracy = []
    if mechanism.accuracy.needs_look:
        accuracy = accuracy_words(mechanism.accurate)
    return [*privacy_words(mechanism), *accuracy]


def privacy_words(mechanism: AuditedMechanism) -> list[Phrase]:
    """Return the answer on the privacy of one mechanism; of a control, whether its leak was detected."""
    row = mechanism.tested
    state = mechanism.state
    head = Phrase(f"{state.capitalize()}.", strong=True)
    parts = [head, Phrase(" " + " ".join(_privacy(row, state)))]
    if row.conflict:
        why = " The runs show more than the exact laws allow: one of the two computations is wrong."
        parts += [Phrase(" Contradiction.", strong=True), Phrase(why)]
    return parts


def _privacy(row: Row, state: Verdict) -> list[str]:
    match state:
        case TaskVerdict.MISSED:
            missed = "No audit found its leak, so that finding nothing elsewhere means little."
            return [f"Planted fault: {row.fault}.", missed]
        case TaskVerdict.CAUGHT:
            return [f"Planted fault: {row.fault}.", *_of_privacy(row)]
        case TaskVerdict.FAILED | TaskVerdict.INCOMPLETE:
            failed = []
            for kind, error in row.failures:
                head = f"The audit of {kind} failed"
                if kind == "plan":
                    head = "Nothing could be audited"
                failed.append(f"{head}: {error.rstrip('.?')}.")
            return failed or ["Planned audits were not run to their end."]
        case TaskVerdict.ACCEPTED:
            return [*_of_privacy(row), f"The project accepts this violation {row.accepted}."]
        case TaskVerdict.NOT_CHECKED:
            return []
    return _of_privacy(row)


def _of_privacy(row: Row) -> list[str]:
    """Return the sentences of the findings on privacy that decide; with reasons those that refute, else all."""
    found = [one for one in (row.exact, row.blackbox) if one is not None]
    if row.exact is not None and row.exact.claimed_epsilon is None:
        # A claim was given, which the learner does not make.
        found.reverse()
    refuting = [one for one in found if one.verdict == PrivacyVerdict.VIOLATION]
    return _sentences(row, found, refuting or found)


def _sentences(row: Row, found: Sequence[OneAudit], reasoned: Sequence[OneAudit]) -> list[str]:
    if not found:
        return []
    lines = [line for one in reasoned for line in reasons(one, row.view_of(one).decoded)]
    return [f"{raised(statement(found, 'It'))}.", *(f"{label.capitalize()}: {text}." for label, text in lines)]


def accuracy_words(row: Row) -> list[Phrase]:
    """Return the sentences about accuracy; the verdict is strong where it is broken, undecided or not finished."""
    verdict = row.utility_verdict
    found = row.utility
    head = Phrase(f" Accuracy: {verdict}.", strong=verdict.needs_look)
    if verdict in (TaskVerdict.FAILED, TaskVerdict.INCOMPLETE):
        errors = [error for kind, error in row.failures if kind in ("utility", "plan")]
        return [head, *(Phrase(f" {error}.") for error in errors[:1])]
    if found is None:
        return [head]
    return [head, Phrase(f" {' '.join(_sentences(row, [found], [found]))}")]


def finding_words(mechanism: AuditedMechanism) -> list[Phrase]:
    """Return the answer of audits of one mechanism: what is claimed, what was found, and what that is worth."""
    row = mechanism.tested
    runs = mechanism.tested.blackbox
    phrases = []
    if runs is not None or row.exact is not None:
        phrases = privacy_words(mechanism)[1:]
    if runs is not None and not runs.gaps:
        worth = "Silence is not proof: a leak on other inputs, or in rarer answers, may have gone unseen."
        if runs.verdict == PrivacyVerdict.VIOLATION:
            most = share(1 - runs.confidence)
            worth = f"A private mechanism would be accused like this in at most {most} % of audits."
        phrases.append(Phrase(f" {worth}"))
    if row.utility is not None:
        phrases += accuracy_words(row)
    return phrases
