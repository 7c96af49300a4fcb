"""The three lines of a finding: what they say, and how they are laid out."""

from __future__ import annotations

from math import inf

import pytest
from toy_records import law_finding, privacy_finding, result, utility_finding

from dpaudit.audit import checks_and_gaps as gaps
from dpaudit.audit.checks_and_gaps import CheckName
from dpaudit.audit.claim_tests import EventTest
from dpaudit.audit.clock import Stopped
from dpaudit.audit.finding import PowerAt, Witness
from dpaudit.contract import Direction, Origin, PrivacyVerdict, TaskVerdict, UtilityVerdict
from dpaudit.events.event import Bets, Cells, Interval
from dpaudit.report.glossary import OFTEN
from dpaudit.report.html import render_finding
from dpaudit.report.terminal import ShellCommand, laid_out
from dpaudit.report.words.finding import brief_lines, parts

OUTPUT_1 = Cells("output", ((1, 1),))


def witness(*counts: int, direction: Direction = Direction.FORWARD) -> Witness:
    return Witness(0, Origin(text="toy"), "S", "T", direction, OUTPUT_1, *counts)


def because(**changes: object) -> str:
    return dict(brief_lines(privacy_finding("violation", epsilon_lower=1.9, **changes)))["because"]


def test_a_violation_says_the_event_and_what_the_claim_allows() -> None:
    found = privacy_finding("violation", epsilon_lower=1.946, confidence=0.999)
    assert brief_lines(found, "rr.py:respond", repeat="dpaudit privacy rr.py:respond") == [
        (PrivacyVerdict.VIOLATION, "rr.py:respond claims ε = 1, shows ≥ 1.94 (99.9 % sure)"),
        ("because", "answer “1”: 90.0 % on S, 10.0 % on T; that is 9.0 times as often, the claim allows 2.7"),
        ("repeat", "dpaudit privacy rr.py:respond"),
    ]


def test_the_input_on_which_the_event_is_likelier_comes_first() -> None:
    assert "90.0 % on T, 10.0 % on S" in because(witness=witness(9, 10, 1, 10, direction=Direction.BACKWARD))


def test_an_event_that_never_occurs_on_the_other_input_has_no_ratio() -> None:
    told = because(witness=witness(9, 10, 0, 10))
    assert told == "answer “1”: 90.0 % on S, never on T; the claim allows 2.7 times as often"


def test_with_delta_the_claim_allows_a_share_and_not_a_ratio() -> None:
    found = privacy_finding("violation", epsilon_lower=1.9, delta=0.01)
    assert brief_lines(found)[0][1] == ("the mechanism claims ε = 1, δ = 0.01, shows ε ≥ 1.90 (95 % sure)")
    assert because(delta=0.01).endswith("90.0 % on S, 10.0 % on T; the claim allows 28.2 %")


def test_a_ratio_near_what_the_claim_allows_stands_on_its_own_side() -> None:
    told = because(witness=witness(2_719, 10_000, 1_000, 10_000))
    assert told.endswith("that is 2.72 times as often, the claim allows 2.7")


def test_a_long_input_is_cut_to_one_line() -> None:
    seen = Witness(0, Origin(text="toy"), "x" * 200, "a\n   b", Direction.FORWARD, OUTPUT_1, 9, 10, 1, 10)
    assert f"on {'x' * 87}...{'x' * 40}, 10.0 % on a b;" in because(witness=seen)


def test_bets_have_no_counts() -> None:
    bets = Witness(0, Origin(text="toy"), "S", "T", Direction.FORWARD, Bets(100, 7.5))
    found = privacy_finding(
        "violation", design="sequential", witness=bets, budget={"used": 100, "allowed": 200, "checks": 0}
    )
    assert dict(brief_lines(found))["because"] == (
        "no single event: bets on 100 runs of this pair raised the stake by exp(7.5); S against T"
    )


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({}, "an event as likely as the one tested"),
        ({"detectable_at": PowerAt.FRONTIER, "detectable_epsilon": 1.2}, "an event of probability 0.1"),
    ],
)
def test_what_would_have_been_caught_is_rounded_up_and_says_on_which_event(changes, where) -> None:
    verdict, power, seed = brief_lines(privacy_finding(**({"detectable_epsilon": 1.1411} | changes)))
    assert verdict == (PrivacyVerdict.CONSISTENT, "the mechanism claims ε = 1, shows ≥ 0.684")
    least = "1.20" if changes else "1.15"
    assert "visible in the features looked at" in OFTEN
    assert power == ("power", f"any ε ≥ {least} would be detected {OFTEN}, on {where}, on this pair")
    assert seed == ("seed", "0, 20 runs a side")


@pytest.mark.parametrize(
    ("gap", "step"),
    [
        (gaps.FewRuns(16, 20, 26), "add trials=100000 (a side) to catch any ε ≥ 1."),
        (gaps.FewRuns(16, 20, 26_000), "add trials=260000 (a side) to catch any ε ≥ 1."),
        (gaps.Powerless(), "add trials=100000 (a side) to catch any ε ≥ 1."),
        (gaps.Constant(72, 80), "add trials=100000 (a side) to catch any ε ≥ 1."),
        (gaps.Constant(9, 9), "give pairs of different inputs, on which the output varies"),
        (gaps.Identical(1), "give pairs of different inputs, on which the output varies"),
        (gaps.AllRaised(9, 9, "ValueError", "ValueError"), "give pairs that the mechanism accepts"),
        (gaps.AllRaised(9, 9, "timed out: after 1 s", "timed out"), "give a longer timeout"),
        (gaps.NotLookedAt(("dtype",)), "return these parts as numbers or text, or register their type with "),
        *((gaps.Meaningless(name), "") for name in CheckName),
    ],
)
def test_without_evidence_there_is_a_next_step(gap, step) -> None:
    lines = dict(brief_lines(privacy_finding("no evidence", gaps=(gap,))))
    assert lines["power"].startswith("none: ")
    assert lines["next"].startswith(step)
    assert lines["next"]


def test_a_next_step_is_written_as_the_reader_types_it() -> None:
    found = privacy_finding("no evidence", gaps=(gaps.Powerless(),))
    lines = dict(parts(found, "it", shown=lambda name, value: f"--{name} {value}"))
    assert lines["next"].startswith("add --trials 100000")


def test_a_leak_of_bits_is_told_beside_the_verdict() -> None:
    bits = EventTest(OUTPUT_1, 0.01, 9, 1, 3.0)
    assert (
        "floating-point rounding reveals the input (Mironov 2012), ε ≥ "
        in dict(brief_lines(privacy_finding(representation=bits)))["warning"]
    )
    assert "warning" not in dict(brief_lines(privacy_finding(representation=EventTest(OUTPUT_1, 0.01, 9, 1, 0.5))))
    assert "warning" not in dict(brief_lines(privacy_finding("violation", representation=bits)))


def test_an_interval_is_told_without_its_infinite_end() -> None:
    found = Witness(0, Origin(text="toy"), "S", "T", Direction.FORWARD, Interval("value", 0.117, inf), 9, 10, 1, 10)
    assert because(witness=found).startswith("output ≥ 0.117: 90.0 % on S")


def test_an_exact_audit_says_what_it_covers_or_where_the_worst_case_lies() -> None:
    assert brief_lines(law_finding(epsilon=0.5), "it") == [
        (PrivacyVerdict.CONSISTENT, "it claims ε = 1, has 0.500 (exact)"),
        ("covers", "2 ordered pairs of neighbours, samples of 1 example"),
    ]
    assert dict(brief_lines(law_finding("violation", epsilon=1.97)))["because"] == (
        "output 1 on S against T: 7.2 times as often, the claim allows 2.7"
    )
    assert dict(brief_lines(law_finding("violation", epsilon=float("inf"))))["because"].endswith(
        "possible on the first, impossible on the second"
    )
    assert brief_lines(law_finding(claimed_epsilon=None), "it")[0] == (
        TaskVerdict.NO_CLAIM,
        "it promises no privacy, has ε = 1.00 (exact)",
    )
    told = brief_lines(law_finding("violation", claimed_delta=0.01, delta_at_claim=0.02), "it")
    assert told[0][1] == "it claims ε = 1, δ = 0.01, has δ = 0.0200 there (exact)"
    assert told[1][1].endswith("the pair at which ε is the largest, 1.00")
    told = brief_lines(law_finding("violation", claimed_delta=0.01, epsilon_at_claim=1.2), "it")
    assert told[0][1] == "it claims ε = 1, δ = 0.01, has ε = 1.20 at that δ (exact)"


def test_an_audit_of_utility_says_the_rate_its_interval_and_the_case() -> None:
    assert brief_lines(utility_finding(), "it") == [
        (UtilityVerdict.HOLDS, "it fails in 4.00 % of runs, 10.0 % allowed"),
        (
            "because",
            "4 of 100 runs had error > 0.1 (1.10 to 9.93 %, 95 % sure): concept 1, uniform, 8 examples (realizable)",
        ),
        ("seed", "0, 100 runs"),
    ]
    undecided = dict(brief_lines(utility_finding("undecided", failure_upper=0.2)))
    assert undecided["next"].startswith("add trials=1000")


def test_lines_are_broken_below_themselves() -> None:
    text = laid_out([(PrivacyVerdict.VIOLATION, "a " * 60), (PrivacyVerdict.NO_EVIDENCE, "b\x1b[2J")], width=80)
    assert all(len(line) <= 80 for line in text.splitlines())
    assert text.splitlines()[1].startswith(" " * 13 + "a")
    assert text.splitlines()[-1] == "NO EVIDENCE  b\\x1b[2J"


def test_a_command_is_one_line_that_can_be_pasted() -> None:
    command = "dpaudit privacy 'my folder/it is.py:f' --pairs patterns:5 --epsilon 1 --delta 0 --trials 100000 --seed 0"
    assert laid_out([("repeat", ShellCommand(command))], width=60) == f"repeat       {command}\n"


def test_only_the_verdict_is_coloured() -> None:
    lines = [(PrivacyVerdict.VIOLATION, "x"), ("because", "y")]
    assert laid_out(lines, color=True) == "\x1b[1;31mVIOLATION\x1b[0m    x\nbecause      y\n"
    assert laid_out(lines) == "VIOLATION    x\nbecause      y\n"


def test_a_command_that_no_shell_reads_is_shown_as_text():
    assert (
        laid_out([("repeat", ShellCommand("dpaudit run 'a\x1b[2J"))], width=60)
        == "repeat       dpaudit run 'a\\x1b[2J\n"
    )


def test_what_a_clock_decided_is_said_beside_what_repeats_it() -> None:
    limited = privacy_finding(trials=1_000, stopped=Stopped(1_000, 2))
    said = "within this time limit another machine may make fewer or more runs"
    assert brief_lines(limited, repeat="dpaudit privacy a.py:f")[-1][1].startswith(said)
    in_time = privacy_finding(trials=1_000, stopped=Stopped(1_000))
    assert brief_lines(in_time, repeat="dpaudit privacy a.py:f")[-1][0] == "repeat"
    for finding, same in ((limited, False), (in_time, True), (privacy_finding(), True)):
        page = render_finding(result("privacy", finding=finding, learner="a.py:f", task="a.py:f"))
        assert (said in page, "The same command gives the same numbers;" in page) == (not same, same)


def test_what_more_time_would_show_is_said_where_a_limit_left_too_little() -> None:
    limited = privacy_finding(trials=1_000, stopped=Stopped(1_000, None, 16_000))
    assert dict(brief_lines(limited))["more time"].endswith("all 16,000 trials: more runs see smaller leaks")
    said = dict(brief_lines(privacy_finding(trials=1_000, detectable_epsilon=3.0, stopped=limited.stopped)))
    assert said["more time"].startswith("give about 16 times the time_limit, for all 16,000 trials to catch any ε ≥ 1")
    assert "more time" not in dict(brief_lines(privacy_finding(trials=1_000, stopped=Stopped(1_000))))
    assert "more time" not in dict(
        brief_lines(privacy_finding("violation", epsilon_lower=2.0, stopped=limited.stopped))
    )
