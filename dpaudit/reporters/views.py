"""The texts that the page shows of each learner: numbers rounded the safe way, events and verdicts in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from dpaudit.blackbox.finding import PrivacyFinding, Witness
from dpaudit.contract import Direction
from dpaudit.exact.finding import LawFinding
from dpaudit.reporters import power
from dpaudit.reporters.evidence import check_words, checks_text, gap_words, representation_text
from dpaudit.reporters.figures import figures
from dpaudit.reporters.numbers import rate, significant, value_text
from dpaudit.reporters.row import Case, Row
from dpaudit.reporters.verdicts import RowVerdict, unseen
from dpaudit.reporters.wording import SETTINGS, event_words, failure_text, output_text, short_verdict, verdict_words
from dpaudit.utility.finding import UtilityFinding

__all__ = ["View", "unbroken", "view"]


class ExactView(NamedTuple):
    """The numbers of an exact audit, the output at which the worst case lies, and how its pair was made."""

    finite: bool
    epsilon: str
    error: str
    delta: str
    output: str
    origin: str


class BlackBoxView(NamedTuple):
    """The numbers of a black-box audit, its power and its witness."""

    lower: str
    detection: str
    gaps: list[str]
    warnings: list[str]
    checks: str
    representation: str
    power: PowerView
    witness: WitnessView


class PowerView(NamedTuple):
    """The leaks that a black-box audit would have detected, and what it looked at."""

    power: str
    told: str
    assumed: str
    frontier: list[tuple[str, str]]
    origins: str
    scores: str
    budget: str
    errors: str


class WitnessView(NamedTuple):
    """A witness: the input on which its event is likelier, and the other one."""

    stored: Witness
    event: str
    origin: str
    likely: str
    other: str
    share: str
    other_share: str


class UtilityView(NamedTuple):
    """A failure rate with its interval."""

    rate: str
    lower: str
    upper: str


class CaseView(NamedTuple):
    """A hard case in its table."""

    name: str
    finding: UtilityFinding
    utility: UtilityView


class SettingView(NamedTuple):
    """The table of the hard cases in one setting."""

    name: str
    claim: str
    claim_id: str
    meaning: str
    cases: list[CaseView]


class View(NamedTuple):
    """A learner, with its numbers as text."""

    id: str
    row: Row
    verdict: str
    tone: str
    conviction: str
    unseen: bool
    exact: ExactView | None
    blackbox: BlackBoxView | None
    utility: UtilityView | None
    settings: list[SettingView]
    figures: list[tuple[str, str]]


def view(name: str, row: Row) -> View:
    """Return everything that the page shows of a learner; ids in its figures start with `name`."""
    tone, conviction = (_tone(row), "") if row.fault is None else _control(row)
    return View(
        id=name,
        row=row,
        verdict=verdict_words(row.verdict, row.to_blame),
        tone=tone,
        conviction=conviction,
        unseen=row.blackbox is not None and unseen(row.blackbox),
        exact=None if row.exact is None else _exact(row, row.exact),
        blackbox=None if row.blackbox is None else _blackbox(row, row.blackbox),
        utility=None if row.utility is None else _utility(row.utility),
        settings=[_setting(row.in_setting(setting)) for setting in row.settings],
        figures=figures(row, name),
    )


def unbroken(text: str) -> str:
    """Return text that no line break tears apart."""
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def _tone(row: Row) -> str:
    """Return the word that colours a learner's verdict."""
    if row.verdict == RowVerdict.VIOLATION:
        return "violation"
    if row.verdict == RowVerdict.NO_EVIDENCE:
        return "no-evidence"
    if row.verdict == RowVerdict.NO_CLAIM:
        return "neutral"
    return "undecided" if row.unsettled else "clear"


def _control(row: Row) -> tuple[str, str]:
    """Return the word that colours a control, and how it was convicted, if it was."""
    if row.convicted_by:
        return "clear", " + ".join(row.convicted_by)
    return ("violation", "not convicted") if row.complete else ("undecided", short_verdict(row.verdict))


def _exact(row: Row, f: LawFinding) -> ExactView:
    return ExactView(
        finite=math.isfinite(f.epsilon),
        epsilon=significant(f.epsilon, apart_from=f.claimed_epsilon, error=f.error, infinity="∞"),
        error=significant(f.error, "up", digits=2),
        delta=significant(f.delta_at_claim, apart_from=f.claimed_delta, error=f.error),
        output=output_text(f.worst_atom, row.decoded(f)),
        origin=power.origin_text(f.pair_in_words.origin),
    )


def _blackbox(row: Row, f: PrivacyFinding) -> BlackBoxView:
    return BlackBoxView(
        lower=significant(f.epsilon_lower, "down", apart_from=f.epsilon, infinity="∞"),
        detection=power.detection_text(f),
        gaps=[gap_words(gap) for gap in f.gaps],
        warnings=[*f.warnings, *(check_words(check) for check in f.checks if not check.passed)],
        checks=checks_text(f),
        representation=representation_text(f),
        power=PowerView(
            power=unbroken(power.POWER),
            told=power.power_text(f),
            assumed=power.assumed_text(f),
            frontier=power.frontier_text(f, infinity="none in reach"),
            origins=power.origins_text(f),
            scores=power.scores_text(f),
            budget=power.budget_text(f),
            errors=power.errors_text(f),
        ),
        witness=_witness(f.witness, row.decoded(f)),
    )


def _witness(w: Witness, decoded: Mapping[str, str]) -> WitnessView:
    sides = (w.data, w.neighbour) if w.direction == Direction.FORWARD else (w.neighbour, w.data)
    event = event_words(w.event, decoded)
    return WitnessView(
        stored=w,
        event=event if w.hits is not None else event[:1].upper() + event[1:],
        origin=power.origin_text(w.origin),
        likely=sides[0],
        other=sides[1],
        share=_share(w.hits, w.trials),
        other_share=_share(w.neighbour_hits, w.neighbour_trials),
    )


def _share(hits: int | None, trials: int | None) -> str:
    """Return hits as a percentage of trials; a share that is not 0 or 1 never looks like it."""
    if hits is None or trials is None:
        return "no single event"
    return "no runs" if trials == 0 else unbroken(f"{significant(100 * hits / trials, apart_from=100.0)} %")


def _utility(f: UtilityFinding) -> UtilityView:
    return UtilityView(
        rate=rate(f.failure_rate, beta=f.beta),
        lower=rate(f.failure_lower, "down", beta=f.beta),
        upper=rate(f.failure_upper, "up", beta=f.beta),
    )


def _setting(row: Row) -> SettingView:
    """Return the table of one setting; `row` holds the cases of that one alone."""
    f = row.cases[0].finding
    return SettingView(
        name=f.setting,
        claim=f"Pr[{failure_text(f)}] should be at most {value_text(f.beta)}",
        claim_id=f.claim_id or "no id given",
        meaning=SETTINGS[f.setting],
        cases=[_case(case) for case in row.cases],
    )


def _case(case: Case) -> CaseView:
    f = case.finding
    return CaseView(case.name or f"{f.concept} under {f.distribution}", f, _utility(f))
