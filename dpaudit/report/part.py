"""The part of a page about one mechanism: its numbers, its witness, and how all was measured."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.contract import Direction, Relation, Verdict
from dpaudit.report.evidence import finding_lines
from dpaudit.report.figures import accuracy_figure, aside, curve_figure
from dpaudit.report.numbers import allowed_times, count, number, percent, plural, raised, share, times, value_text
from dpaudit.report.pictures import pictures
from dpaudit.report.sentences import delta_words, epsilon_exact, epsilon_found, epsilon_seen, says
from dpaudit.report.terminal import Lines
from dpaudit.report.view import Mechanism, Row
from dpaudit.report.wording import BOUNDS, answer_words, event_words, label_parameters

__all__ = ["compared", "part"]

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
        "numbers": _numbers(mechanism),
        "witness": None if row.blackbox is None else _witness(row, row.blackbox),
        "accuracy": accuracy_figure(mechanism.accurate),
        "method": _method(mechanism),
        "pictures": [view for instance in mechanism.rows for view in pictures(instance, f"{mechanism.id}-picture")],
        "command": command,
    }


def _numbers(mechanism: Mechanism) -> Lines:
    """Return the numbers of a mechanism, each with what it is: claimed, exact, found, would be caught, fails."""
    row, claim, lines = mechanism.tested, mechanism.tested.claim, list[tuple[str, str]]()
    if claim is not None:
        relation = claim.relation if row.blackbox is None else row.blackbox.relation
        claimed = f"claimed, with δ = {raised(value_text(claim.delta))}; neighbours: {_NEIGHBOURS[relation][0]}"
        lines.append((f"ε = {raised(value_text(claim.epsilon))}", claimed))
    elif row.exact is not None:
        lines.append(("none", "claimed: it promises no privacy"))
    if (exact := row.exact) is not None:
        size = "" if exact.n is None else f" of inputs of {plural(exact.n, 'example')}"
        worst = f"the worst of {plural(exact.pairs, 'pair')}{size}"
        lines.append((f"ε = {epsilon_exact(row)}", f"exact{delta_words(row)}, {worst}"))
        if exact.claimed_delta > 0:
            least = number(exact.delta_at_claim, "up", apart_from=exact.claimed_delta)
            lines.append((f"δ = {least}", "exact at the claimed ε"))
    if (found := row.blackbox) is not None:
        fresh = f"{count(found.confirmation_trials)} fresh runs on each of two inputs"
        by = fresh if found.design == "fixed" else "bets on runs"
        lines.append((f"ε ≥ {epsilon_found(row)}", f"found, {percent(found.confidence)} sure, by {by}"))
        if found.gaps or math.isinf(found.detectable_epsilon):
            lines.append(("none", "would have been caught: no leak was within reach"))
        else:
            lines.append((f"ε ≥ {epsilon_seen(row)}", "would have been caught, 19 times in 20"))
    if row.fault is None and (utility := mechanism.accurate.utility) is not None:
        interval = f"[{share(utility.failure_lower, 'down')} to {share(utility.failure_upper, 'up')} %]"
        runs = f"of {plural(utility.trials, 'run')} fail at n = {count(utility.n)} {interval}"
        kept = _ACCURACY.get(mechanism.accuracy, "not finished")
        lines.append((f"{share(utility.failure_rate)} %", f"{runs}; {share(utility.beta)} % are allowed: {kept}"))
    return lines


def _witness(row: Row, finding: PrivacyFinding) -> dict[str, Any]:
    """Return the witness of an audit, which refutes the claim or comes nearest to that: title, answer, both inputs."""
    found, decoded = finding.witness, row.result_of(finding).decoded
    refutes = finding.verdict == Verdict.VIOLATION or row.fault is not None
    title = f"{'The witness' if refutes else 'The closest call'}: {_NEIGHBOURS[finding.relation][1]}"
    if found.hits is None:
        answer, counts = event_words(found.event, decoded), [(0, 0), (0, 0)]
    else:
        title += f", and one answer comes {_often(finding)}"
        answer = answer_words(found.event, decoded)
        counts = [(found.hits, found.trials or 0), (found.neighbour_hits or 0, found.neighbour_trials or 0)]
    if found.direction == Direction.BACKWARD:
        counts.reverse()
    inputs = zip(("D", "D′"), compared(found.data, found.neighbour), counts, strict=True)
    return {"title": title, "answer": answer, "sides": [_side(name, *cut, *own) for name, cut, own in inputs]}


def _side(name: str, before: str, changed: str, after: str, hits: int, trials: int) -> dict[str, str]:
    """Return one input, cut at what differs from the other, with the share of its runs in the event."""
    side = {"name": name, "before": before, "changed": changed, "after": after}
    if not trials:
        return side | {"share": ""}
    runs = f"{count(hits)} of {count(trials)}"
    return side | {"width": f"{100 * hits / trials:.2f}", "share": share(hits / trials), "runs": runs}


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
    start = _alike(*sides)
    end = _alike(*(side[start:][::-1] for side in sides))
    found = []
    for side in sides:
        last = len(side) - end
        before, *rest = ("".join(words) for words in (side[:start], side[start:last], side[last:]))
        changed, after = (text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…" for text in rest)
        found.append((before if len(before) <= _SHOWN else f"…{before[1 - _SHOWN :]}", changed, after))
    return found


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many words two lists begin with together."""
    return len(list(takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))))


def _method(mechanism: Mechanism) -> Lines:
    """Return how the privacy and the accuracy of a mechanism were measured: all lines of the audits that decided."""
    row, exact, runs = mechanism.tested, mechanism.tested.exact, mechanism.tested.blackbox
    lines = [("parameters", label_parameters(row.parameters))] if row.parameters else []
    if exact is not None:
        lines += [("Exact", row.scope or "inputs given"), *finding_lines(row.result_of(exact))]
    else:
        lines.append(("Exact", f"not computed: {row.missing['exact']}"))
    if runs is not None:
        result = row.result_of(runs)
        lines += [("Runs", f"bound: {BOUNDS.get(runs.bound, runs.bound)}"), *finding_lines(result)]
        if len(runs.tests) > 1:
            lines += [("event", answer_words(test.event, result.decoded)) for test in runs.tests]
        if runs.not_looked_at:
            lines.append(("not looked at", ", ".join(runs.not_looked_at)))
    elif row.claim is not None:
        lines.append(("Runs", f"none: {row.missing['privacy']}"))
    for instance in mechanism.rows:
        for one in map(instance.in_setting, instance.settings):
            if one.utility is not None:
                named = f" ({label_parameters(one.parameters)})" if len(mechanism.rows) > 1 else ""
                worst = f"{one.utility.setting}, the worst of {plural(len(one.cases), 'hard case')}{named}"
                lines += [("Accuracy", worst), *finding_lines(one.result_of(one.utility))]
    if row.fault is None and (why := mechanism.accurate.missing.get("utility")):
        lines.append(("Accuracy", f"not computed: {why}"))
    return lines
