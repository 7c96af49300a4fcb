"""The part of a page about one mechanism: its numbers, its witness, and how all was measured."""

from __future__ import annotations

import math
import re
from itertools import takewhile
from typing import Any, NamedTuple

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.contract import Direction, Relation, Verdict
from dpaudit.report.details import finding_lines
from dpaudit.report.figures import accuracy_figure, aside, curve_figure
from dpaudit.report.numbers import allowed_times, count, number, percent, plural, raised, share, times, value_text
from dpaudit.report.pictures import pictures
from dpaudit.report.sentences import epsilon_exact, epsilon_found, epsilon_seen, says
from dpaudit.report.terminal import Lines
from dpaudit.report.view import Mechanism, Row
from dpaudit.report.wording import BOUNDS, answer_words, event_words, label_parameters

__all__ = ["Side", "Witness", "compared", "method", "numbers", "part", "witness"]

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


def part(mechanism: Mechanism, command: str) -> dict[str, Any]:
    """Return everything that a page shows of one mechanism, by the names in the templates; `command` repeats it."""
    row = mechanism.tested
    return {
        "mechanism": mechanism,
        "aside": aside(mechanism),
        "says": says(mechanism),
        "curve": curve_figure(mechanism),
        "numbers": numbers(mechanism),
        "witness": None if row.blackbox is None else witness(row, row.blackbox),
        "accuracy": accuracy_figure(mechanism.accurate),
        "method": method(mechanism),
        "pictures": [view for instance in mechanism.rows for view in pictures(instance, f"{mechanism.id}-picture")],
        "command": command,
    }


def numbers(mechanism: Mechanism) -> Lines:
    """Return the numbers of a mechanism, each with what it is: claimed, exact, found, would be caught, fails."""
    row = mechanism.tested
    privacy = [_claimed(row), *_exact(row), *_found(row)] if row.claim is not None or row.exact is not None else []
    return privacy + ([] if row.fault is not None else _fails(mechanism.accurate))


def _claimed(row: Row) -> tuple[str, str]:
    if row.claim is None:
        return "none", "claimed: it promises no privacy"
    relation = row.claim.relation if row.blackbox is None else row.blackbox.relation
    claimed = f"claimed, with δ = {raised(value_text(row.claim.delta))}; neighbours: {_NEIGHBOURS[relation][0]}"
    return f"ε = {raised(value_text(row.claim.epsilon))}", claimed


def _exact(row: Row) -> Lines:
    if row.exact is None:
        return []
    size = "" if row.exact.n is None else f" of inputs of {plural(row.exact.n, 'example')}"
    delta = raised(value_text(row.exact.claimed_delta))
    at = f" at δ = {delta}" if row.exact.claimed_delta and row.exact.epsilon_at_claim is not None else ""
    lines = [(f"ε = {epsilon_exact(row)}", f"exact{at}, the worst of {plural(row.exact.pairs, 'pair')}{size}")]
    if row.exact.claimed_delta > 0:
        least = number(row.exact.delta_at_claim, "up", apart_from=row.exact.claimed_delta)
        lines.append((f"δ = {least}", "exact at the claimed ε"))
    return lines


def _found(row: Row) -> Lines:
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


def _fails(row: Row) -> Lines:
    found = row.utility
    if found is None:
        return []
    interval = f"[{share(found.failure_lower, 'down')} to {share(found.failure_upper, 'up')} %]"
    kept = _ACCURACY.get(row.utility_verdict, "not finished")
    runs = f"of {plural(found.trials, 'run')} fail at n = {count(found.n)} {interval}"
    return [(f"{share(found.failure_rate)} %", f"{runs}; {share(found.beta)} % are allowed: {kept}")]


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
    found, decoded = finding.witness, row.result_of(finding).decoded
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
    bounds = [((0, start), (start, last), (last, None)) for last in ends]
    cuts = [["".join(side[a:b]) for a, b in own] for side, own in zip(sides, bounds, strict=True)]
    return [
        (before if len(before) <= _SHOWN else f"…{before[1 - _SHOWN :]}", _first(changed), _first(after))
        for before, changed, after in cuts
    ]


def _first(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def method(mechanism: Mechanism) -> Lines:
    """Return how the privacy and the accuracy of a mechanism were measured: all lines of the audits that decided."""
    row = mechanism.tested
    lines = [("parameters", label_parameters(row.parameters))] if row.parameters else []
    if row.exact is not None:
        lines += [("Exact", row.scope or "inputs given"), *finding_lines(row.result_of(row.exact))]
    else:
        lines.append(("Exact", f"not computed: {row.missing['exact']}"))
    if row.blackbox is not None:
        lines.append(("Runs", f"bound: {BOUNDS.get(row.blackbox.bound, row.blackbox.bound)}"))
        lines += [*finding_lines(row.result_of(row.blackbox)), *_events(row, row.blackbox)]
    elif row.claim is not None:
        lines.append(("Runs", f"none: {row.missing['privacy']}"))
    for instance in mechanism.rows:
        for one in (instance.in_setting(setting) for setting in instance.settings):
            if one.utility is not None:
                named = f" ({label_parameters(one.parameters)})" if len(mechanism.rows) > 1 else ""
                worst = f"{one.utility.setting}, the worst of {plural(len(one.cases), 'hard case')}{named}"
                lines += [("Accuracy", worst), *finding_lines(one.result_of(one.utility))]
    if "utility" in mechanism.accurate.missing and row.fault is None:
        lines.append(("Accuracy", f"not computed: {mechanism.accurate.missing['utility']}"))
    return lines


def _events(row: Row, finding: PrivacyFinding) -> Lines:
    """Return all events that were tested, where these are several, and what was not looked at."""
    tested = finding.tests if len(finding.tests) > 1 else ()
    lines = [("event", answer_words(test.event, row.result_of(finding).decoded)) for test in tested]
    return lines + ([("not looked at", ", ".join(finding.not_looked_at))] if finding.not_looked_at else [])
