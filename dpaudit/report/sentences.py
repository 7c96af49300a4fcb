"""The sentences of every report in prose: on a whole run, on one mechanism, and what the words in them mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from dpaudit.contract import PrivacyClaim, Verdict
from dpaudit.report.evidence import gap_words
from dpaudit.report.ledger import counts as ledger_counts
from dpaudit.report.numbers import count, number, plural, raised, share, significant, spelled, value_text
from dpaudit.report.summary import Summary
from dpaudit.report.view import Mechanism, Row
from dpaudit.report.wording import failure_text

__all__ = [
    "FEW",
    "WORDS",
    "Count",
    "Phrase",
    "accuracy_words",
    "answer",
    "claim_words",
    "controls_words",
    "counts",
    "epsilon_exact",
    "epsilon_found",
    "epsilon_seen",
    "finding_words",
    "lede",
    "ledger_words",
    "missing_words",
    "privacy_words",
    "says",
]

WORDS = (
    ("ε (epsilon)", "the privacy loss: one person's data changes the chance of any answer by a factor of at most e^ε. "
     "Smaller is more private."),
    ("δ (delta)", "the chance by which that factor may be exceeded."),
    ("Neighbours", "two inputs that differ in one example (or as the claim says)."),
    ("Mechanism", "a randomised program that is audited: a learner, or any function of data and a random generator."),
    ("Claim", "the ε and δ that the author promises."),
    ("Exact", "computed from the output law, over every input of the size shown; no chance involved."),
    ("Found", "a lower bound on ε from runs. The true ε is not smaller, at the confidence shown."),
    ("Would catch", "the least true ε that these runs would have detected, 19 times in 20."),
    ("Blind zone", "from the claim to what would be caught: a leak there goes unseen."),
    ("Violation", "the claim is refuted: ε is larger than promised."),
    ("Consistent", "nothing found, although something could have been. Not a proof."),
    ("No evidence", "nothing found, and nothing could have been. Says nothing."),
    ("Control", "a mechanism broken on purpose. The audit must catch it."),
    ("Witness", "two neighbours and an answer whose chances differ too much: this alone refutes the claim."),
    ("Fails (β)", "a learner fails if its error is above α; β is how often it may."),
)  # fmt: skip
FEW = tuple(pair for pair in WORDS if pair[0] not in
            ("Mechanism", "Exact", "Blind zone", "Consistent", "No evidence", "Control", "Fails (β)"))  # fmt: skip
"""Those that the page of one finding needs."""

_UNFINISHED = (Verdict.FAILED, Verdict.INCOMPLETE)
_HEADS = {
    Verdict.FAILED: "Not finished.",
    Verdict.INCOMPLETE: "Not finished.",
    Verdict.ACCEPTED: "Violation, accepted.",
    Verdict.NOT_CHECKED: "Privacy not audited.",
    Verdict.CAUGHT: "Caught, as it should be.",
}
"""How the answer on a mechanism begins, where that is not the word of the verdict."""


class Phrase(NamedTuple):
    """A piece of a sentence: plain, or with the anchor that it leads to, or strong."""

    text: str
    link: str = ""
    strong: bool = False


class Count(NamedTuple):
    """A count at the top of a page."""

    n: int
    tone: str
    words: str


def claim_words(claim: PrivacyClaim) -> str:
    """Return a claim as "ε = 1", with its delta where that is not 0."""
    delta = f", δ = {raised(value_text(claim.delta))}" if claim.delta else ""
    return f"ε = {raised(value_text(claim.epsilon))}{delta}"


def epsilon_exact(row: Row) -> str:
    """Return the exact epsilon at the claimed delta, apart from the claim unless its error is too great for that."""
    if row.exact is None or row.exact_epsilon is None:
        return ""
    claimed = None if row.claim is None else row.claim.epsilon
    return raised(significant(row.exact_epsilon, digits=3, apart_from=claimed, error=row.exact.error, infinity="∞"))


def epsilon_found(row: Row) -> str:
    """Return the lower bound on epsilon, rounded down; an empty text without one."""
    return "" if row.blackbox is None else number(row.blackbox.epsilon_lower, "down", apart_from=row.blackbox.epsilon)


def epsilon_seen(row: Row) -> str:
    """Return the least epsilon that would have been caught, rounded up; "never" where there is none."""
    if row.blackbox is None:
        return ""
    shown = number(row.blackbox.detectable_epsilon, "up", apart_from=row.blackbox.epsilon)
    return "never" if shown == "∞" else shown


# On a whole run.


def answer(summary: Summary, learners: Sequence[Mechanism], controls: Sequence[Mechanism]) -> list[Phrase]:
    """Return the verdict on the whole run in one sentence: the gravest comes first.

    A control that was missed comes before everything, for then what was not found means little.
    """
    missed = [m for m in controls if m.state == Verdict.MISSED]
    broken = [m for m in learners if m.state == Verdict.VIOLATION]
    inaccurate = [m for m in learners if m.accuracy == Verdict.VIOLATION]
    claims = [m for m in learners if m.state not in (Verdict.NO_CLAIM, Verdict.NOT_CHECKED)]
    if missed:
        rest = f" and {spelled(len(missed) - 1)} more" if len(missed) > 1 else ""
        return [Phrase("The audit is blind: it missed "), _link(missed[0]), Phrase(f"{rest}.")]
    if len(broken) > 1:
        return [Phrase(f"{_spelled(len(broken), len(claims), 'privacy claim')} are broken.")]
    if broken:
        head = f"{_spelled(1, len(claims), 'privacy claim')} is broken: "
        return [Phrase(head), _link(broken[0]), Phrase(f" {_promise(broken[0].tested)}.")]
    if inaccurate:
        verb = "breaks" if len(inaccurate) == 1 else "break"
        head = f"{_spelled(len(inaccurate), len(learners), 'mechanism')} {verb} a promise of accuracy: "
        return [Phrase(head), _link(inaccurate[0]), Phrase(".")]
    if summary.whole:
        return _silent(learners, claims)
    return [Phrase(f"Incomplete: {_pending(summary) or 'some mechanisms could not be audited.'}")]


def _silent(learners: Sequence[Mechanism], claims: Sequence[Mechanism]) -> list[Phrase]:
    """Return that nothing was found, and what that leaves open."""
    unseen = [m for m in claims if m.state == Verdict.NO_EVIDENCE]
    undecided = [m for m in learners if m.accuracy == Verdict.UNDECIDED]
    accepted = sum(m.state == Verdict.ACCEPTED for m in claims)
    tested = f"{spelled(len(claims))} privacy claim{'s' * (len(claims) != 1)}"
    if accepted:
        violations = f"{spelled(accepted).capitalize()} violation{'s' * (accepted != 1)} accepted"
        parts = [Phrase(f"{violations}; no other violation found in {tested}")]
    elif claims:
        parts = [Phrase(f"No violation found in {tested}")]
    else:
        parts = [Phrase("No claim of privacy was tested" if learners else "No mechanism was audited")]
    left_open = (("; no evidence on ", unseen, "of them"), ("; accuracy undecided of ", undecided, "mechanisms"))
    for words, named, many in left_open:
        if len(named) == 1:
            parts += [Phrase(words), _link(named[0])]
        elif named:
            parts.append(Phrase(f"{words}{spelled(len(named))} {many}"))
    return [*parts, Phrase(".")]


def _spelled(n: int, total: int, noun: str) -> str:
    """Return "One of three mechanisms"."""
    return f"{spelled(n).capitalize()} of {spelled(total)} {noun}{'s' * (total != 1)}"


def _link(mechanism: Mechanism) -> Phrase:
    return Phrase(mechanism.name, mechanism.id)


def lede(learners: Sequence[Mechanism]) -> list[Phrase]:
    """Return how many promises of accuracy hold, and by name mechanisms with one that is broken or undecided."""
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
        for i, mechanism in enumerate(named):
            parts += [Phrase(", " if i else f", {len(named)} {words}: "), _link(mechanism)]
    return [*parts, Phrase(".")]


def counts(learners: Sequence[Mechanism], controls: Sequence[Mechanism]) -> list[Count]:
    """Return how many mechanisms have each verdict on their privacy; two of the counts only where they are not 0."""
    found = Counter(m.state for m in (*learners, *controls))
    violations, lost = found[Verdict.VIOLATION], sum(found[verdict] for verdict in _UNFINISHED)
    unclaimed = found[Verdict.NO_CLAIM] + found[Verdict.NOT_CHECKED]
    some = [
        Count(lost, "none", "not finished: an audit failed or was not run"),
        Count(found[Verdict.ACCEPTED], "none", "violations accepted by the settings of the project"),
    ]
    return [
        Count(violations, "bad", "violation" + "s" * (violations != 1)),
        Count(found[Verdict.NO_EVIDENCE], "none", "no evidence: a leak could not have been seen"),
        *(count for count in some if count.n),
        Count(found[Verdict.CONSISTENT], "ok", "consistent: a leak could have been seen, none was"),
        Count(unclaimed, "nc", "without a privacy claim, or not audited for it"),
        Count(found[Verdict.MISSED], "bad", f"controls missed, of {len(controls)} broken on purpose"),
    ]


def ledger_words(summary: Summary) -> str:
    """Return how many statements of the papers have each verdict; an empty text without statements."""
    if not summary.ledger:
        return ""
    found = ledger_counts(summary.ledger)
    order = (Verdict.REFUTED, Verdict.LOOSE, Verdict.HOLDS, Verdict.UNDECIDED)
    parts = [f"{found[v]} {'hold' if v == Verdict.HOLDS else v}" for v in order if found[v]]
    return f"Papers: of {plural(len(summary.ledger), 'statement')} checked, {', '.join(parts)}."


def missing_words(summary: Summary) -> str:
    """Return what the run lacks; an empty text if it is whole."""
    unplanned = ", ".join(fault.learner for fault in summary.faults)
    parts = [_pending(summary), f"No audit could be planned of {unplanned}." if unplanned else ""]
    return " ".join(filter(None, parts))


def _pending(summary: Summary) -> str:
    """Return how many of the planned audits have no result."""
    pending = len(summary.pending)
    return f"{count(pending)} of {count(pending + summary.done)} planned audits have no result." if pending else ""


def controls_words(summary: Summary, controls: Sequence[Mechanism]) -> str:
    """Return how many planted faults were caught, and what it means to miss one."""
    if not controls:
        return "No mechanism broken on purpose was part of this run, so that its silence was not put to the test."
    caught = sum(m.state == Verdict.CAUGHT for m in controls)
    blind = "would mean that the audit is blind to its kind of leak."
    meaning = "The audit is blind to the kind of leak that it missed." if summary.missed else f"A missed one {blind}"
    return f"{caught} of {len(controls)} planted faults were caught. {meaning}"


# On one mechanism.


def _promise(row: Row) -> str:
    """Return what a mechanism whose claim is refuted promises, and what it has."""
    if row.claim is None:
        return "breaks its promise"
    if "exact" in row.convicted_by:
        return f"promises {claim_words(row.claim)} and has ε = {epsilon_exact(row)}"
    return f"promises {claim_words(row.claim)}, and its runs show ε ≥ {epsilon_found(row)}"


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


def _privacy(row: Row, state: Verdict) -> list[str]:
    """Return the sentences about privacy after the verdict."""
    match state:
        case Verdict.MISSED:
            missed = "No audit found its leak, so that finding nothing elsewhere means little."
            return [f"Planted fault: {row.fault}.", missed]
        case Verdict.CAUGHT:
            return [f"Planted fault: {row.fault}."]
        case Verdict.FAILED | Verdict.INCOMPLETE:
            what = {"plan": "Nothing could be audited"}
            failed = [(what.get(t.kind, f"The audit of {t.kind} failed"), t.error.rstrip(".?")) for t in row.failures]
            return [f"{head}: {error}." for head, error in failed] or ["Planned audits were not run to their end."]
        case Verdict.VIOLATION:
            return _violation(row)
        case Verdict.ACCEPTED:
            return [*_violation(row), f"The project accepts it {row.accepted}."]
        case Verdict.NO_EVIDENCE:
            gaps = "" if row.blackbox is None else "; ".join(map(gap_words, row.blackbox.gaps))
            why = gaps or "no audit could have seen that the claim fails"
            return [f"{why[:1].upper()}{why[1:]}.", "More runs or other inputs are needed."]
        case Verdict.CONSISTENT:
            return [_exactly(row), _by_runs(row)]
        case Verdict.NO_CLAIM:
            return ["It promises no privacy.", _exactly(row)]
    return []


def _violation(row: Row) -> list[str]:
    """Return what a claim is refuted by: exact laws, runs or both."""
    parts = ["" if row.claim is None else f"It claims {claim_words(row.claim)}."]
    if "exact" in row.convicted_by:
        parts.append(f"The exact ε is {epsilon_exact(row)}{_delta(row)} on {_inputs(row)}.")
    if row.blackbox is not None:
        shown = f"show ε ≥ {epsilon_found(row)}"
        who = "The runs alone" if len(parts) > 1 or "black box" not in row.convicted_by else "The runs"
        parts.append(f"{who} {shown}{'' if 'black box' in row.convicted_by else ' and do not refute it'}.")
    return parts


def _delta(row: Row) -> str:
    """Return the delta at which an exact epsilon is stated, where that is not 0."""
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
    return f"Exact ε is {epsilon_exact(row)}{of}{_delta(row)} on {_inputs(row)}."


def _by_runs(row: Row) -> str:
    """Return what the runs found and what they would have caught."""
    if row.blackbox is None:
        return ""
    if row.blackbox.gaps:
        return f"The runs could have seen no leak: {'; '.join(map(gap_words, row.blackbox.gaps))}."
    seen = epsilon_seen(row)
    caught = f"would have caught any ε ≥ {seen}" if seen != "never" else "would have caught none"
    return f"The runs found no violation and {caught}."


def accuracy_words(row: Row) -> list[Phrase]:
    """Return the sentence about accuracy; the verdict is strong where it is broken, undecided or not finished."""
    verdict, found = row.utility_verdict, row.utility
    if verdict in _UNFINISHED:
        errors = [trouble.error for trouble in row.failures if trouble.kind in ("utility", "plan")]
        return [Phrase(" Accuracy not finished.", strong=True), Phrase(f" {errors[0]}." if errors else "")]
    if found is None:
        return [Phrase(" Accuracy was not audited.")]
    runs = f"{share(found.failure_rate)} % of {plural(found.trials, 'run')}"
    allowed = f"{share(found.beta)} % are allowed"
    if verdict.needs_look:
        head = " Accuracy broken:" if verdict == Verdict.VIOLATION else " Accuracy undecided:"
        return [Phrase(head, strong=True), Phrase(f" in {runs} {failure_text(found)}; {allowed}.")]
    vacuous = ", and promises next to nothing" if verdict == Verdict.VACUOUS else ""
    return [Phrase(f" It fails in {runs} at n = {count(found.n)}; {allowed}: it holds{vacuous}.")]


def finding_words(mechanism: Mechanism) -> list[Phrase]:
    """Return the answer of audits of one mechanism: what is claimed, what was found, and what that is worth."""
    row, state = mechanism.tested, mechanism.state
    parts = []
    if row.blackbox is not None or row.exact is not None:
        stated = row.claim is not None and state in (Verdict.CONSISTENT, Verdict.NO_EVIDENCE)
        claimed = f"It claims {claim_words(row.claim)}." if row.claim is not None and stated else ""
        parts.append(Phrase(" ".join(filter(None, (claimed, *_privacy(row, state), _worth(row))))))
    return parts + (accuracy_words(row) if row.utility is not None else [])


def _worth(row: Row) -> str:
    """Return how far a verdict by runs can be trusted."""
    if row.blackbox is None or row.blackbox.gaps:
        return ""
    if row.blackbox.verdict == Verdict.VIOLATION:
        wrong = share(1 - row.blackbox.confidence)
        return f"A private mechanism would be accused like this in at most {wrong} % of audits."
    return "Silence is not proof: a leak on other inputs, or in rarer answers, would have gone unseen."
