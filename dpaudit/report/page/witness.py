"""The witness of a black-box audit as the pages show it: two inputs, one answer, and how often it comes on each."""

from __future__ import annotations

import math
from typing import NamedTuple

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.contract import Direction, Relation, Verdict
from dpaudit.report.numbers import count
from dpaudit.report.page.input_diff import Chip, chips
from dpaudit.report.page.text import allowed_times, share, times
from dpaudit.report.view import Row
from dpaudit.report.wording import answer_words, event_words

__all__ = ["SideView", "WitnessView", "odds", "witness"]

_CHANGES = {
    Relation.REPLACE_ONE: "one example changes",
    Relation.ADD_REMOVE_ONE: "one example more or less",
    Relation.REPLACE_PRIVATE: "one private example changes",
    None: "two neighbouring inputs",
}


class SideView(NamedTuple):
    """One input, and the share of its runs in the event: `width` in per cent, `share` and `runs` as text."""

    name: str
    chips: list[Chip]
    width: str
    share: str
    runs: str


class WitnessView(NamedTuple):
    """A witness: what it shows, that with what changes, the answer in words, the input where it is likelier first."""

    heading: str
    title: str
    answer: str
    sides: list[SideView]


def witness(row: Row, finding: PrivacyFinding) -> WitnessView:
    """Return the witness of an audit of a row."""
    found = finding.witness
    swapped = found.direction == Direction.BACKWARD
    inputs = (found.neighbour, found.data) if swapped else (found.data, found.neighbour)
    decoded = row.decoded(finding)
    names = ("D′", "D") if swapped else ("D", "D′")
    counts = (found.hits, found.trials), (found.neighbour_hits, found.neighbour_trials)
    cut = chips(*inputs)
    sides = [_side(*side) for side in zip(names, cut, counts, strict=True)]
    if swapped:
        sides = sides[::-1]
    heading = _heading(row, finding)
    title = f"{heading}: {_CHANGES[finding.relation]}"
    if found.hits is None:
        return WitnessView(heading, title, event_words(found.event, decoded), sides)
    often = f"{title}, and one answer comes {_times(finding)}"
    return WitnessView(heading, often, answer_words(found.event, decoded), sides)


def _heading(row: Row, finding: PrivacyFinding) -> str:
    """Return the word for what is shown: it refutes the claim, or comes nearest to that."""
    if finding.verdict == Verdict.VIOLATION or row.fault is not None:
        return "The witness"
    return "The closest call"


def odds(finding: PrivacyFinding) -> float:
    """Return how many times as often the event came on the one input as on the other; nan where nothing was counted."""
    found = finding.witness
    if not found.trials or not found.neighbour_trials:
        return math.nan
    likely, other = (found.hits or 0) / found.trials, (found.neighbour_hits or 0) / found.neighbour_trials
    return math.inf if other == 0 < likely else likely / other if other else math.nan


def _times(finding: PrivacyFinding) -> str:
    """Return the odds beside those that the claim allows."""
    ratio, allowed = odds(finding), f"the claim allows {allowed_times(finding.epsilon)}"
    if math.isnan(ratio):
        return "in no run"
    if math.isinf(ratio):
        return "on one alone"
    return f"{times(ratio)} times as often; {allowed}{' times, and δ' * (finding.delta > 0)}"


def _side(name: str, cut: list[Chip], counts: tuple[int | None, int | None]) -> SideView:
    """Return one side with its counts; with empty texts where nothing was counted."""
    hits, trials = counts
    if hits is None or not trials:
        return SideView(name, cut, "", "", "")
    return SideView(name, cut, f"{100 * hits / trials:.2f}", share(hits / trials), f"{count(hits)} of {count(trials)}")
