"""The part of a page about one mechanism: sentences, figures, five numbers, the witness, the fold and the command."""

from __future__ import annotations

import shlex
from typing import NamedTuple

from dpaudit.contract import Verdict
from dpaudit.engine.records import Run
from dpaudit.report.numbers import count, percent, plural, value_text
from dpaudit.report.page.claim_figures import aside
from dpaudit.report.page.curve_figures import View, accuracy_figure, curve_figure
from dpaudit.report.page.method import Item, method, neighbours_words
from dpaudit.report.page.pictures import pictures
from dpaudit.report.page.sentences import Phrase, says
from dpaudit.report.page.text import epsilon_exact, epsilon_found, epsilon_seen, raised, share
from dpaudit.report.page.witness import WitnessView, witness
from dpaudit.report.view import Mechanism, Row

__all__ = ["Part", "audited_numbers", "five", "part", "repeat"]

_ACCURACY = {
    Verdict.VIOLATION: "the promise is broken",
    Verdict.UNDECIDED: "undecided, more runs are needed",
    Verdict.HOLDS: "the promise holds",
    Verdict.VACUOUS: "it holds, and promises next to nothing",
}


class Part(NamedTuple):
    """Everything that a page shows of one mechanism."""

    id: str
    name: str
    state: Verdict
    aside: str
    needs_look: bool
    says: list[Phrase]
    curve: View | None
    five: list[Item]
    witness: WitnessView | None
    accuracy: View | None
    accuracy_open: bool
    method: list[Item]
    pictures: list[View]
    command: str


def part(mechanism: Mechanism, command: str) -> Part:
    """Return the part of a mechanism; `command` repeats its audit."""
    row = mechanism.tested
    drawn = [drawing for instance in mechanism.rows for drawing in pictures(instance, f"{mechanism.id}-picture")]
    return Part(
        id=mechanism.id,
        name=mechanism.name,
        state=mechanism.state,
        aside=aside(mechanism),
        needs_look=mechanism.needs_look,
        says=says(mechanism),
        curve=curve_figure(mechanism),
        five=five(mechanism),
        witness=None if row.blackbox is None else witness(row, row.blackbox),
        accuracy=accuracy_figure(mechanism.accurate),
        accuracy_open=mechanism.accuracy.needs_look,
        method=method(mechanism),
        pictures=drawn,
        command=command,
    )


def five(mechanism: Mechanism) -> list[Item]:
    """Return the numbers of a mechanism, each with what it is: claimed, exact, found, would be caught, fails."""
    row = mechanism.tested
    accuracy = [] if row.fault is not None else [_fails(mechanism.accurate)]
    return [_claimed(row), _exact(row), *_found(row), *accuracy]


def audited_numbers(mechanism: Mechanism, privacy: bool) -> list[Item]:
    """Return those of the numbers that were audited; the claimed epsilon where privacy was."""
    row = mechanism.tested
    claimed = [_claimed(row)] if privacy else []
    exact = [] if row.exact is None else [_exact(row)]
    accuracy = [] if row.fault is not None or mechanism.accurate.utility is None else [_fails(mechanism.accurate)]
    return [*claimed, *exact, *_found(row), *accuracy]


def _claimed(row: Row) -> Item:
    if row.claim is None:
        return "none", "claimed: it promises no privacy"
    relation = row.claim.relation if row.blackbox is None else row.blackbox.relation
    told = f"claimed, with δ = {raised(value_text(row.claim.delta))}; neighbours: {neighbours_words(relation)}"
    return f"ε = {raised(value_text(row.claim.epsilon))}", told


def _exact(row: Row) -> Item:
    if row.exact is None:
        return "unknown", f"exact ε: {row.missing['exact']}"
    size = "" if row.exact.n is None else f" of inputs of {plural(row.exact.n, 'example')}"
    delta = raised(value_text(row.exact.claimed_delta))
    at = f" at δ = {delta}" if row.exact.claimed_delta and row.exact.epsilon_at_claim is not None else ""
    worst = f"exact{at}, the worst of {plural(row.exact.pairs, 'pair')}{size}"
    return f"ε = {epsilon_exact(row, row.exact)}", worst


def _found(row: Row) -> list[Item]:
    """Return what the runs found and what they would have caught; nothing without runs."""
    finding = row.blackbox
    if finding is None:
        return []
    fresh = finding.confirmation_trials
    runs = f" by {count(fresh)} fresh runs on each of two inputs" if finding.design == "fixed" else " by bets on runs"
    seen = epsilon_seen(row)
    caught = "would have been caught, 19 times in 20"
    if seen == "never" or finding.gaps:
        return [(f"ε ≥ {epsilon_found(row)}", f"found, {percent(finding.confidence)} sure,{runs}"),
                ("none", "would have been caught: no leak was within reach")]  # fmt: skip
    return [
        (f"ε ≥ {epsilon_found(row)}", f"found, {percent(finding.confidence)} sure,{runs}"),
        (f"ε ≥ {seen}", caught),
    ]


def _fails(row: Row) -> Item:
    found = row.utility
    if found is None:
        return "not run", f"accuracy: {row.missing.get('utility', 'not audited')}"
    verdict = _ACCURACY.get(row.utility_verdict, "not finished")
    interval = f"[{share(found.failure_lower, 'down')} to {share(found.failure_upper, 'up')} %]"
    return (
        f"{share(found.failure_rate)} %",
        f"of {plural(found.trials, 'run')} fail at n = {count(found.n)} {interval}; {share(found.beta)} % are allowed: "
        f"{verdict}",
    )


def repeat(run: Run, name: str) -> str:
    """Return the command that audits one mechanism of a run again, with the options of the run's own command.

    The text is empty where that command is none that a shell could read.
    """
    header = run.header
    try:
        words = shlex.split(header.command)
    except ValueError:
        return ""
    if name in run.listed:
        config = words[words.index("--config") :] if "--config" in words else []
        return shlex.join(["dpaudit", "check", run.listed[name].name, *config])
    planned = {planned.learner for planned in header.plan}
    told = [*words[:2], name]
    for before, word in zip(["", *words[2:]], words[2:], strict=False):
        if before == "--out":
            told.append(f"reports/{name}")
        elif word not in planned:
            told.append(word)
    return shlex.join(told)
