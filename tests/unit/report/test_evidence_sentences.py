"""Power, gaps, checks and spending in words; and that no report ever says that something passed."""

import math
import re
import typing

import msgspec
import pytest
from msgspec import UNSET
from msgspec.structs import replace
from reporter_runs import first, load_small, only, put, retold

from dpaudit.audit import checks_and_gaps as gaps
from dpaudit.audit.checks_and_gaps import Answer, Check, CheckName
from dpaudit.audit.finding import PowerAt
from dpaudit.audit.power import LEARNING, LEARNING_OF_BETS
from dpaudit.contract import Origin, OriginKind
from dpaudit.family_wise import FamilyWise
from dpaudit.record import decode
from dpaudit.report import console, html
from dpaudit.report import json as json_report
from dpaudit.report.view import view_of
from dpaudit.report.words.finding import brief_lines, finding_lines
from dpaudit.report.words.inputs import origin_text
from dpaudit.report.words.privacy import (
    ASSUMED,
    budget_text,
    check_words,
    errors_text,
    frontier_text,
    frontier_words,
    gap_words,
    origins_text,
)

CRAFTED, ENUMERATED, PATTERN, STRATEGY = (OriginKind(name) for name in ("crafted", "enumerated", "pattern", "strategy"))


def finding(learner="parity-private", **changes):
    return replace(first(only(load_small(), learner), "privacy").finding, **changes)


BETS = finding("threshold-exponential")


def test_pairs_are_counted_by_how_they_were_made():
    assert origins_text(finding()) == "8 crafted, 2 random, 2 given, 18 local search"
    made = [Origin(), Origin(text="pattern: mine"), Origin(PATTERN, "half"), Origin(STRATEGY, "number 0", moves=2)]
    assert origins_text(finding(origins=made, pairs=4)) == "2 given, 1 pattern, 1 strategy"
    assert origins_text(finding(origins=[Origin()] * 1500, pairs=1500)) == "1,500 given"


@pytest.mark.parametrize(
    ("origin", "text"),
    [
        (Origin(), "given"),
        (Origin(text="by hand: x"), "by hand: x"),
        (Origin(ENUMERATED), "enumerated"),
        (Origin(ENUMERATED, "every sample"), "every sample"),
        (Origin(CRAFTED, "x"), "crafted: x"),
        (Origin(CRAFTED, "x", moves=1), "local search from crafted: x"),
        (Origin(CRAFTED, "x", moves=3), "local search, 3 moves from crafted: x"),
    ],
)
def test_the_moves_of_a_local_search_are_counted(origin, text):
    assert origin_text(origin) == text


def test_the_frontier_is_rounded_up_and_stays_above_the_claim():
    shown = frontier_text(finding(frontier=((0.1, 1.0000001), (0.01, 1.0), (0.001, math.inf))), infinity="none")
    assert shown == [("0.1", "1.001"), ("0.01", "1.000"), ("0.001", "none")]


OFTEN = "would be detected with probability 95 % if visible in the features looked at, on an event"
MAIN = "as likely as the main one tested"
PAIRS = "on the 7 of 30 pairs that were compared long enough for that"


def power_of(**changes):
    return dict(brief_lines(finding(**changes)))["power"]


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, f"any ε ≥ 1.02 {OFTEN} {MAIN}, {PAIRS}"),
        ({"detectable_epsilon": math.inf}, f"no leak, however large, {OFTEN} {MAIN}, {PAIRS}"),
        (
            {"detectable_at": PowerAt.LIKELIER},
            f"any ε ≥ 1.02 {OFTEN} {MAIN} on the likelier side, {PAIRS}",
        ),
        (
            {"detectable_at": PowerAt.FRONTIER, "detectable_epsilon": 1.07},
            f"any ε ≥ 1.07 {OFTEN} of probability 0.01, {PAIRS}",
        ),
        (
            {"compared": 1},
            f"any ε ≥ 1.02 {OFTEN} {MAIN}, on the one of 30 pairs that was compared long enough for that",
        ),
        (
            {"compared": UNSET},  # in files written before pairs were counted
            f"any ε ≥ 1.02 {OFTEN} {MAIN}, on the pairs that were compared long enough for that",
        ),
        ({"pairs": 1}, f"any ε ≥ 1.02 {OFTEN} {MAIN}, on this pair"),
        (
            {"learner": "threshold-exponential"},
            f"any ε ≥ 0.930 {OFTEN} of probability 0.1, on the pairs that were compared long enough for that",
        ),
    ],
)
def test_power_in_words(changes, text):
    assert power_of(**changes) == text


def test_the_frontier_ends_with_events_that_are_impossible_on_the_other_side():
    steps = "least ε detected, by probability of the event: 0.1: 1.070, 0.01: none in reach; "
    shown = frontier_words(finding(frontier=((0.1, 1.07), (0.01, math.inf))))
    assert shown == f"{steps}a probability of 0.0001200 or more of an event impossible on the other side"
    shown = frontier_words(finding(frontier=((0.1, 1.07), (0.01, math.inf)), detectable_delta=math.inf))
    assert shown == f"{steps}no probability, however large, of an event impossible on the other side"


def test_the_budget_leaves_out_what_was_not_spent():
    spent = {"search": 0, "local": 0, "pilot": 512, "training": 3_488, "confirmation": 16_000, "checks": 24}
    words = (
        "runs on each side, all pairs together: 512 to see what outputs look like, 3,488 to choose the event, "
        "16,000 to confirm it, 24 to check randomness and state"
    )
    assert budget_text(finding(budget=spent)) == words
    bets = replace(BETS, budget={"used": 812, "allowed": 200_000, "checks": 0})
    assert budget_text(bets) == "812 runs used of 200,000 allowed, on both sides of all pairs"


def test_the_cost_of_learning_an_event_is_the_one_that_audits_are_planned_with():
    assert (LEARNING, LEARNING_OF_BETS) == (3, 2)
    assert ASSUMED.startswith("these are what a third of the runs detect on an event that is given")
    assert "(of bets, about what half of the runs" in ASSUMED
    assert ASSUMED in " ".join(console.full(load_small()).split())


def test_the_error_split_hides_binary_fractions_and_begins_with_the_verdict():
    split = {"curve": 0.2 * (1 - 0.95), "verdict": 0.8 * (1 - 0.95)}
    assert errors_text(finding(errors=split, tests=())) == "0.05 in all: 0.04 for the verdict, 0.01 for the curve"
    assert errors_text(BETS) == "0.05 in all: 0.05 for the verdict"
    stored = {"verdict": 0.025, "epsilon_lower": 0.025}  # of sequential audits made before
    words = "0.05 in all: 0.025 for the verdict, 0.025 for the bound on ε"
    assert errors_text(replace(BETS, errors=stored)) == words


@pytest.mark.parametrize(("bounds", "witness"), [((0.5, 0.4), "the main one"), ((0.4, 0.5), "number 2")])
def test_the_error_split_tells_how_two_events_share_that_of_the_verdict(bounds, witness):
    tests = tuple(
        replace(test, error=share * (1 - 0.95), epsilon_lower=bound)
        for test, share, bound in zip(finding().tests, (0.7, 0.3), bounds, strict=True)
    )
    assert errors_text(finding(errors={"verdict": 1 - 0.95}, tests=tests)) == (
        "0.05 in all: 0.05 for the verdict; 2 events share the verdict's, 0.035 for the main one, 0.015 for "
        f"number 2; the witness is {witness}"
    )
    assert "on an event as likely as the main one tested" in power_of(tests=tests)
    assert "on an event as likely as the one tested" in power_of(tests=tests[:1])


def test_any_number_of_events_may_share_the_error_of_the_verdict():
    tests = tuple(replace(finding().tests[0], error=0.005, epsilon_lower=i / 10) for i in range(8))
    assert errors_text(finding(errors={"verdict": 0.05}, tests=tests)).endswith(
        "8 events share the verdict's, 0.005 for the main one, "
        f"{', '.join(f'0.005 for number {i}' for i in range(2, 9))}; the witness is number 8"
    )


def test_runs_from_before_there_were_second_events_are_told():
    assert "share" not in errors_text(finding(tests=()))
    assert "as likely as the one tested" in power_of(tests=())


def test_scores():
    for learner, scores in (("parity-private", "histogram, logistic"), ("threshold-exponential", "betting")):
        lines = dict(finding_lines(view_of(first(only(load_small(), learner), "privacy"))))
        assert lines["compared"].endswith(f"; scores: {scores}")


def variants():
    """Return runs with all verdicts: as stored, all violations, all undecided or consistent, controls missed."""
    run = load_small()
    yield run
    audits = [result for result in run.results if result.kind != "ledger"]
    for privacy, utility in (("violation", "violation"), ("consistent", "undecided")):
        yield put(run, *(retold(r, verdict=utility if r.kind == "utility" else privacy) for r in audits))


@pytest.mark.parametrize("render", [console.full, json_report.render, html.render])
def test_no_report_says_that_something_passed(render):
    for run in variants():
        assert not re.search(r"\bpass(es|ed|ing)?\b", render(run), re.IGNORECASE)


GAPS = [
    (
        gaps.AllRaised(9, 9, "ValueError: no", "ValueError"),
        "every run ended in an exception, most often ValueError: no",
    ),
    (
        gaps.AllRaised(1_999, 2_000, "ValueError", "ValueError"),
        "1,999 of 2,000 runs ended in an exception, most often ValueError",
    ),
    (
        gaps.AllRaised(9, 10, "timed out: after 0.1 s", "timed out"),
        "9 of 10 runs timed out or ended in an exception, most often timed out after 0.1 s: ordinary outputs were too",
    ),
    (gaps.Constant(2_000, 2_000), "every run had one outcome, on both sides"),
    (gaps.Constant(1_990, 2_000), "1,990 of 2,000 runs had one outcome, on both sides"),
    (gaps.Constant(72, 80), "72 of 80 runs had one outcome, on both sides: others were too few to refute the claim"),
    (gaps.Identical(1), "both inputs are the same in all of 1 pair"),
    (
        gaps.FewRuns(16, 20, 26),
        "16 runs a side decided, and 20 is the least number that can refute the claim",
    ),
    (gaps.Powerless(), "these runs would have detected no leak, however large"),
    (gaps.NotLookedAt(("output[2]", "dtype")), "not looked at: output[2], dtype"),
    (gaps.Meaningless(CheckName.WORKERS), "workers repeat each other's streams"),
    (
        FamilyWise(p_value=0.0004, adjusted=0.002, error=0.001, claims=5),
        "alone the claim is refuted (p = ",
    ),
]


@pytest.mark.parametrize(("gap", "words"), GAPS)
def test_every_gap_has_words(gap, words):
    assert gap_words(gap).startswith(words)


def test_no_kind_of_gap_is_forgotten():
    assert {type(gap) for gap, _ in GAPS} == set(typing.get_args(gaps.Gap))


@pytest.mark.parametrize("name", CheckName)
@pytest.mark.parametrize("answer", Answer)
def test_every_check_has_words(name, answer):
    check = Check(name, answer, 8)
    assert check_words(check)
    assert check.meaningless == (answer == Answer.DEPENDS)
    if check.meaningless:
        assert gap_words(gaps.Meaningless(name)) == check_words(check)


def test_a_gap_of_runs_that_timed_out_is_stored_and_read() -> None:
    """It has no place in a file."""
    gap = gaps.AllRaised(9, 10, "timed out: after 0.1 s", "timed out", "")
    assert decode(msgspec.json.encode(gap), gaps.AllRaised) == gap
