"""Words for findings of exact laws, on samples of one size and on all."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import UNSET

from dpaudit.contract import PrivacyVerdict, Support, TaskVerdict, Verdict
from dpaudit.exact.finding import AGREES, LawFinding, SupremumFinding
from dpaudit.report.numbers import count, percent, plural, significant
from dpaudit.report.terminal import Lines, said
from dpaudit.report.view import Decoded, FindingView
from dpaudit.report.words.claims import BRIEF_DIGITS, claim_words, factor, tested_claim, times_words
from dpaudit.report.words.events import known_codes
from dpaudit.report.words.inputs import cut, origin_text

# Characters of a witness in brief.
_LONGEST_WITNESS = 120
# What stands behind a supremum, in words.
_SUPPORTS = {
    Support.PROVED: "ε = {}, proved for samples of every size",
    Support.LIMIT: "ε ≥ {}, the limit along a ray of samples",
    Support.LOWER_BOUND: "ε ≥ {}, the loss of one pair",
}


def claimed(finding: LawFinding) -> str:
    """Return what the learner claims."""
    if finding.claimed_epsilon is None:
        return "promises no privacy"
    return f"claims {claim_words(finding.claimed_epsilon, finding.claimed_delta)}"


def shows(finding: LawFinding) -> str:
    """Return what the laws show."""
    return f"has {_loss(finding)} ({finding.grade})"


def reasons(finding: LawFinding, decoded: Decoded = None) -> Lines:
    """Return what shows the verdict."""
    if finding.verdict == PrivacyVerdict.VIOLATION:
        return [("because", because(finding, decoded))]
    return [("covers", covers_text(finding))]


def because(finding: LawFinding, decoded: Decoded = None) -> str:
    """Return the output and the pair of the worst case, and how much likelier the output is on one of the two."""
    pair = finding.pair_in_words
    words = f"output {cut(output_text(finding, decoded))} on {cut(pair.data)} against {cut(pair.neighbour)}"
    # With a delta the pair of the largest epsilon need not be the one that refutes the claim.
    if finding.claimed_delta:
        most = significant(finding.epsilon, digits=BRIEF_DIGITS)
        return f"{words}: the pair at which ε is the largest, {most}"
    if math.isinf(finding.epsilon):
        return f"{words}: possible on the first, impossible on the second"
    return f"{words}: {times_words(factor(finding.epsilon), finding.claimed_epsilon or 0.0)}"


def asked(finding: LawFinding) -> Lines:
    """Return the lines on the enclosure and on the composition, if they were asked for."""

    def between(rows: Sequence[tuple[float, float, float]], at: str) -> str:
        return ", ".join(
            f"[{significant(low, 'down')}, {significant(high, 'up')}] at {at} {significant(x)}" for x, low, high in rows
        )

    lines: Lines = []
    if finding.enclosure is not None:
        lines.append(("enclosed", "ε in [{}, {}], by ball arithmetic".format(*finding.enclosure)))
    made = finding.composition
    if made is not None:
        runs = f"{plural(made.times, 'run')} on one sample ({made.grade}, these pairs)"
        lines.append(("composed", f"ε of {runs}: {between(made.epsilons, 'δ =')}"))
        lines.append(("composed", f"δ of {runs}: {between(made.deltas, 'ε =')}"))
    return lines


def _loss(finding: LawFinding) -> str:
    """Return the exact epsilon; with a claim of delta that at this delta, or the delta at the claimed epsilon."""
    claimed = finding.claimed_epsilon
    delta = finding.claimed_delta
    least = finding.epsilon_at_claim
    if claimed is not None and delta and least is None:
        return f"δ = {significant(finding.delta_at_claim, digits=BRIEF_DIGITS, apart_from=delta)} there"
    # With a delta the pure loss is no answer to the claim: epsilon at that delta is.
    at_delta = claimed is not None and delta > 0
    epsilon = finding.epsilon
    if at_delta and least is not None:
        epsilon = least
    text = significant(epsilon, digits=BRIEF_DIGITS, apart_from=claimed, error=finding.error)
    if at_delta:
        return f"ε = {text} at that δ"
    if claimed is None:
        return f"ε = {text}"
    return text


def covers_text(finding: LawFinding) -> str:
    """Return how many pairs exact laws were compared on."""
    samples = "the samples given"
    if finding.n is not None:
        samples = f"samples of {plural(finding.n, 'example')}"
    return f"{plural(finding.pairs, 'ordered pair')} of neighbours, {samples}"


def output_text(finding: LawFinding, decoded: Decoded = None) -> str:
    """Return the output of the worst case with what it stands for, if that is known, as for `event_words`."""
    if finding.worst_output is UNSET:
        output = finding.worst_atom
    else:
        output = finding.worst_output
    word = known_codes(decoded).get(finding.worst_atom)
    if word is None:
        return output
    return f"{output} ({word})"


def evidence_lines(view: FindingView, finding: LawFinding) -> Lines:
    """Return all that a finding rests on."""
    claimed = finding.claimed_epsilon
    worst = finding.pair_in_words
    lines = list[tuple[str, str]]()
    if claimed is not None:
        at_claim = significant(finding.delta_at_claim, apart_from=finding.claimed_delta)
        lines += [
            ("claim", tested_claim(view, claimed, finding.claimed_delta, finding.relation)),
            ("delta", f"{at_claim} at worst, at the claimed ε"),
        ]
    if finding.verdict == PrivacyVerdict.VIOLATION:
        lines.append(("covers", covers_text(finding)))
    covered = {"all": "", "crafted": " on crafted pairs", "given": " on the pairs given"}[view.samples]
    epsilon = significant(finding.epsilon, apart_from=claimed, error=finding.error)
    output = output_text(finding, view.decoded)
    return [
        *lines,
        ("epsilon", f"{epsilon} at worst{covered}, error at most {significant(finding.error, 'up', digits=2)}"),
        ("witness", f"{worst.data} against {worst.neighbour}, output {output} [{origin_text(worst.origin)}]"),
    ]


def supremum_lines(finding: SupremumFinding, name: str) -> tuple[Lines, Lines]:
    """Return what a supremum says in brief, and all of it."""
    claimed = finding.claimed_epsilon
    proved = finding.proved_value
    claim = "promises no privacy"
    if claimed is not None:
        claim = f"claims {claim_words(claimed, finding.claimed_delta)}"
    # A pure loss above the claimed epsilon looks like a violation, and with a delta it is none.
    exceeds = finding.claimed_delta and finding.verdict is not PrivacyVerdict.VIOLATION
    loss = significant(finding.value, digits=6, apart_from=claimed, error=finding.error)
    value = _SUPPORTS[finding.support].format(loss)
    if exceeds:
        value += " (the pure loss, δ = 0)"
    pair = finding.pair_in_words
    attained = f"{significant(finding.attained, digits=6)} at n = {count(finding.n)}"
    witness = f"{attained}: output {finding.worst_atom} on {pair.data} against {pair.neighbour}"
    agree = "agree"
    if finding.agreement == 1:
        agree = "agrees"
    starts = f"{finding.agreement} of {plural(finding.starts, 'start')} {agree} within {percent(AGREES)}"
    search = f"{starts}, {plural(finding.laws, 'law')}"
    exceeded = ""
    if finding.proof_refuted and proved is not None:
        exceeded = f"the learner's closed form, {significant(proved, digits=6)}, is refuted by the witness"
    verdict: Verdict = finding.verdict
    if claimed is None:
        verdict = TaskVerdict.NO_CLAIM
    short = witness
    if len(witness) > _LONGEST_WITNESS:
        short = f"{witness[: _LONGEST_WITNESS - 3]}..."
    brief = said(
        (verdict, f"{name} {claim}, has {value}"),
        ("witness", short),
        ("search", search),
        ("warning", exceeded),
    )
    page = said(
        ("claim", claim),
        ("supremum", value),
        ("error", f"at most {significant(finding.error, 'up', digits=2)} ({finding.grade})"),
        ("verdict", finding.verdict.word),
        ("witness", f"{witness} [{finding.relation.value}]"),
        ("growth", ", ".join(f"{significant(loss, digits=6)} at n = {count(n)}" for n, loss in finding.growth)),
        ("ray", finding.ray and f"ever more copies of {finding.ray}"),
        ("refuted" if finding.proof_refuted else "proof", finding.proof),
        ("warning", exceeded),
        ("search", f"{search}; seed {finding.seed}"),
    )
    return brief, page
