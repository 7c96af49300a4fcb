"""The part of a page about one mechanism: its numbers, its witness, how all was measured, and the command."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Sequence
from itertools import takewhile
from typing import Any, NamedTuple

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.contract import Direction, Relation, Verdict
from dpaudit.engine.records import Run
from dpaudit.exact.finding import LawFinding
from dpaudit.report.evidence import (
    check_words,
    checks_text,
    errors_text,
    frontier_text,
    gap_words,
    origins_text,
    representation_text,
    scores_text,
    spent_text,
)
from dpaudit.report.numbers import (
    allowed_times,
    count,
    number,
    percent,
    plural,
    raised,
    share,
    significant,
    times,
    value_text,
)
from dpaudit.report.page.claim_figures import aside
from dpaudit.report.page.curve_figures import accuracy_figure, curve_figure
from dpaudit.report.page.pictures import pictures
from dpaudit.report.repeat import repeat_command
from dpaudit.report.sentences import epsilon_exact, epsilon_found, epsilon_seen, says
from dpaudit.report.view import Mechanism, Row
from dpaudit.report.wording import BOUNDS, answer_words, event_words, failure_text, label_parameters, output_text

__all__ = ["Item", "Side", "Witness", "audited_numbers", "compared", "five", "method", "part", "witness"]

Item = tuple[str, str]
"""A name and a text, or a number and what it is."""

_SHOWN = 100
"""The most characters shown of what differs between two inputs, and of what stands before and behind it."""
_NEIGHBOURS = {
    Relation.REPLACE_ONE: ("one example is replaced", "one example changes"),
    Relation.ADD_REMOVE_ONE: ("one example is added or removed", "one example more or less"),
    Relation.REPLACE_PRIVATE: ("one private example is replaced", "one private example changes"),
    None: ("as you gave them", "two neighbouring inputs"),
}
"""Relations of neighbours in words, and what then differs between two of them."""
_ACCURACY = {
    Verdict.VIOLATION: "the promise is broken",
    Verdict.UNDECIDED: "undecided, more runs are needed",
    Verdict.HOLDS: "the promise holds",
    Verdict.VACUOUS: "it holds, and promises next to nothing",
}


def part(mechanism: Mechanism, run: Run) -> dict[str, Any]:
    """Return everything that a page shows of one mechanism of a run, by the names in the templates."""
    row = mechanism.tested
    return {
        "mechanism": mechanism,
        "aside": aside(mechanism),
        "says": says(mechanism),
        "curve": curve_figure(mechanism),
        "five": five(mechanism),
        "witness": None if row.blackbox is None else witness(row, row.blackbox),
        "accuracy": accuracy_figure(mechanism.accurate),
        "method": method(mechanism),
        "pictures": [view for instance in mechanism.rows for view in pictures(instance, f"{mechanism.id}-picture")],
        "command": _command(row, run),
    }


def _command(row: Row, run: Run) -> str:
    """Return the command that audits a mechanism again: the check of a project, or the audit that decided."""
    if row.learner in run.listed:
        return shlex.join(["dpaudit", "check", run.listed[row.learner].name])
    deciding = (row.blackbox, row.exact, row.utility)
    found = [result for finding in deciding for result in row.results if result.finding is finding]
    return repeat_command(found[0], run.header.seed) if found else ""


def five(mechanism: Mechanism) -> list[Item]:
    """Return the numbers of a mechanism, each with what it is: claimed, exact, found, would be caught, fails."""
    row = mechanism.tested
    accuracy = [] if row.fault is not None else [_fails(mechanism.accurate)]
    return [_claimed(row), _exact(row), *_found(row), *accuracy]


def audited_numbers(mechanism: Mechanism) -> list[Item]:
    """Return those of the numbers that were audited; the claimed epsilon where privacy was."""
    row = mechanism.tested
    claimed = [] if row.claim is None and row.exact is None else [_claimed(row)]
    exact = [] if row.exact is None else [_exact(row)]
    accuracy = [] if row.fault is not None or mechanism.accurate.utility is None else [_fails(mechanism.accurate)]
    return [*claimed, *exact, *_found(row), *accuracy]


def _relation(row: Row) -> Relation | None:
    """Return the relation of neighbours that was audited, or is claimed."""
    return row.blackbox.relation if row.blackbox is not None else row.claim.relation if row.claim is not None else None


def _claimed(row: Row) -> Item:
    if row.claim is None:
        return "none", "claimed: it promises no privacy"
    claimed = f"claimed, with δ = {raised(value_text(row.claim.delta))}; neighbours: {_NEIGHBOURS[_relation(row)][0]}"
    return f"ε = {raised(value_text(row.claim.epsilon))}", claimed


def _exact(row: Row) -> Item:
    if row.exact is None:
        return "unknown", f"exact ε: {row.missing['exact']}"
    size = "" if row.exact.n is None else f" of inputs of {plural(row.exact.n, 'example')}"
    delta = raised(value_text(row.exact.claimed_delta))
    at = f" at δ = {delta}" if row.exact.claimed_delta and row.exact.epsilon_at_claim is not None else ""
    return f"ε = {epsilon_exact(row)}", f"exact{at}, the worst of {plural(row.exact.pairs, 'pair')}{size}"


def _found(row: Row) -> list[Item]:
    """Return what the runs found and what they would have caught; nothing without runs."""
    finding = row.blackbox
    if finding is None:
        return []
    fresh = f"{count(finding.confirmation_trials)} fresh runs on each of two inputs"
    by = fresh if finding.design == "fixed" else "bets on runs"
    seen = f"ε ≥ {epsilon_seen(row)}", "would have been caught, 19 times in 20"
    if finding.gaps or math.isinf(finding.detectable_epsilon):
        seen = "none", "would have been caught: no leak was within reach"
    return [(f"ε ≥ {epsilon_found(row)}", f"found, {percent(finding.confidence)} sure, by {by}"), seen]


def _fails(row: Row) -> Item:
    found = row.utility
    if found is None:
        return "not run", f"accuracy: {row.missing.get('utility', 'not audited')}"
    return (
        f"{share(found.failure_rate)} %",
        f"of {plural(found.trials, 'run')} fail at n = {count(found.n)} [{share(found.failure_lower, 'down')} to "
        f"{share(found.failure_upper, 'up')} %]; {share(found.beta)} % are allowed: "
        f"{_ACCURACY.get(row.utility_verdict, 'not finished')}",
    )


class Side(NamedTuple):
    """One input, with the share of its runs in the event: exactly, as text, and as counts; empty without counts.

    The input is cut at what differs from the other: `before`, `changed` and `after`.
    """

    name: str
    before: str
    changed: str
    after: str
    width: str = ""
    share: str = ""
    runs: str = ""


class Witness(NamedTuple):
    """A witness: what it shows, that with what changes, the answer in words, and both inputs."""

    heading: str
    title: str
    answer: str
    sides: list[Side]


def witness(row: Row, finding: PrivacyFinding) -> Witness:
    """Return the witness of an audit of a row: it refutes the claim, or comes nearest to that."""
    found, decoded = finding.witness, row.decoded(finding)
    refutes = finding.verdict == Verdict.VIOLATION or row.fault is not None
    heading = "The witness" if refutes else "The closest call"
    title = f"{heading}: {_NEIGHBOURS[finding.relation][1]}"
    sides = [Side(name, *cut) for name, cut in zip(("D", "D′"), compared(found.data, found.neighbour), strict=True)]
    if found.hits is None:
        return Witness(heading, title, event_words(found.event, decoded), sides)
    counted = [(found.hits, found.trials or 0), (found.neighbour_hits or 0, found.neighbour_trials or 0)]
    if found.direction == Direction.BACKWARD:
        counted = counted[::-1]
    sides = [_counted(side, *counts) for side, counts in zip(sides, counted, strict=True)]
    title += f", and one answer comes {_often(finding)}"
    return Witness(heading, title, answer_words(found.event, decoded), sides)


def _counted(side: Side, hits: int, trials: int) -> Side:
    if not trials:
        return side
    rate = hits / trials
    return side._replace(width=f"{100 * rate:.2f}", share=share(rate), runs=f"{count(hits)} of {count(trials)}")


def _often(finding: PrivacyFinding) -> str:
    """Return how many times as often the event came on one input, beside what the claim allows."""
    ratio = finding.witness.ratio
    if math.isnan(ratio):
        return "in no run"
    if math.isinf(ratio):
        return "on one alone"
    allowed = f"the claim allows {allowed_times(finding.epsilon)}{' times, and δ' * (finding.delta > 0)}"
    return f"{times(ratio)} times as often; {allowed}"


def compared(data: str, neighbour: str) -> list[tuple[str, str, str]]:
    """Return two printed inputs, each cut before the first and behind the last word or sign in which they differ.

    >>> compared("[1, 2, 2]", "[1, 5, 2]")
    [('[1, ', '2', ', 2]'), ('[1, ', '5', ', 2]')]
    """
    sides = [re.findall(r"[\w.+-]+|\s+|.", text, re.DOTALL) for text in (data, neighbour)]
    start = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(*sides, strict=False))))
    rests = [side[start:][::-1] for side in sides]
    end = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(*rests, strict=False))))
    ends = [len(side) - end for side in sides]
    cuts = [(side[:start], side[start:last], side[last:]) for side, last in zip(sides, ends, strict=True)]
    return [(_last(before), _first(changed), _first(after)) for before, changed, after in cuts]


def _first(parts: Sequence[str]) -> str:
    text = "".join(parts)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _last(parts: Sequence[str]) -> str:
    text = "".join(parts)
    return text if len(text) <= _SHOWN else f"…{text[1 - _SHOWN :]}"


def method(mechanism: Mechanism) -> list[Item]:
    """Return how the privacy and the accuracy of a mechanism were measured."""
    row = mechanism.tested
    items = [("Parameters", label_parameters(row.parameters))] if row.parameters else []
    if row.claim is not None:
        source = ": ".join(filter(None, (row.claim.claim_id, row.claim.source)))
        items += [("Source of the claim", source), ("Neighbours", _NEIGHBOURS[_relation(row)][0])]
    items += [("Exact", f"not computed: {row.missing['exact']}")] if row.exact is None else _exact_items(row, row.exact)
    if row.blackbox is not None:
        items += _runs_items(row, row.blackbox)
    elif row.claim is not None:
        items.append(("Runs", f"none: {row.missing['privacy']}"))
    for instance in mechanism.rows:
        items += _accuracy_items(instance, named=len(mechanism.rows) > 1)
    if "utility" in mechanism.accurate.missing and row.fault is None:
        items.append(("Accuracy", f"not computed: {mechanism.accurate.missing['utility']}"))
    return [(name, text) for name, text in items if text]


def _exact_items(row: Row, exact: LawFinding) -> list[Item]:
    """Return what the exact audit covered and where its worst case lies."""
    pair = exact.pair_in_words
    proved = "error below" if exact.grade == "exact" else "estimated error"
    error = f"{proved} {raised(significant(exact.error, 'up', digits=2))}"
    covered = f"{plural(exact.laws, 'output law')} of {plural(exact.samples, 'input')}; {plural(exact.pairs, 'pair')}"
    output = output_text(exact.worst_atom, row.decoded(exact))
    at = number(exact.delta_at_claim, "up", apart_from=exact.claimed_delta) if exact.claimed_delta > 0 else ""
    return [
        ("Exact", f"{covered}; {row.scope or 'inputs given'}; {error}"),
        ("Worst pair", f"{pair.data} against {pair.neighbour}, answer {output}"),
        ("Exact δ at the claimed ε", at),
    ]


def _runs_items(row: Row, finding: PrivacyFinding) -> list[Item]:
    """Return how the runs were spent and what they looked at."""
    events = finding.tests if len(finding.tests) > 1 else ()
    return [
        ("Runs a side", spent_text(finding)),
        ("Tried", f"{plural(finding.pairs, 'pair')} ({origins_text(finding)}), {plural(finding.events, 'event')}"),
        ("Compared by", scores_text(finding)),
        ("Bound", f"{BOUNDS.get(finding.bound, finding.bound)}; error {errors_text(finding)}"),
        ("Would be caught", _frontier(finding)),
        ("Checks", checks_text(finding)),
        ("Stored floats", representation_text(finding)),
        ("Not looked at", ", ".join(finding.not_looked_at)),
        *(("Gap", gap_words(gap)) for gap in finding.gaps),
        *(("Warning", text) for text in finding.warnings),
        *(("Warning", check_words(check)) for check in finding.checks if not check.passed),
        *(("Event tested", answer_words(test.event, row.decoded(finding))) for test in events),
    ]


def _frontier(finding: PrivacyFinding) -> str:
    """Return the least epsilon caught by the probability of the event, and the least delta."""
    frontier = frontier_text(finding, infinity="")
    steps = [f"ε ≥ {epsilon} on an answer of probability {mass}" for mass, epsilon in frontier if epsilon]
    if math.isfinite(finding.detectable_delta):
        steps.append(f"an answer impossible on one side from {number(finding.detectable_delta, 'up')}")
    return "; ".join(steps) or "nothing: no ε within reach"


def _accuracy_items(row: Row, named: bool) -> list[Item]:
    """Return the deciding hard case of each setting of accuracy."""
    items = []
    for setting in row.settings:
        one = row.in_setting(setting)
        found = one.utility
        if found is None:
            continue
        instance = f" ({label_parameters(row.parameters)})" if named else ""
        text = (
            f"worst of {plural(len(one.cases), 'hard case')} at n = {count(found.n)}{instance}: "
            f"{share(found.failure_rate)} % of {plural(found.trials, 'run')} fail ({failure_text(found)}), "
            f"{percent(found.confidence)} interval {share(found.failure_lower, 'down')} to "
            f"{share(found.failure_upper, 'up')} %; {share(found.beta)} % are allowed: {found.verdict}"
        )
        items.append((f"Accuracy, {setting}", text))
    return items
