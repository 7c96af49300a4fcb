import math
import typing
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_records import law_finding

from dpaudit.contract import PrivacyVerdict, TaskVerdict
from dpaudit.events.event import Bets, Cells, Event, Interval, Withheld
from dpaudit.report.numbers import count, percent, plural, significant, value_text
from dpaudit.report.words.claims import claim_cell, claim_words, label_parameters, verdict_words
from dpaudit.report.words.events import event_words
from dpaudit.report.words.laws import output_text


@pytest.mark.parametrize(
    ("value", "towards", "text"),
    [
        (0.5108256, "nearest", "0.5108"),
        (0.51089, "down", "0.5108"),
        (0.51081, "up", "0.5109"),
        (0, "up", "0"),
        (math.inf, "down", "inf"),
        (1.0, "nearest", "1.000"),
        (9.9999, "up", "10.000"),
        (1234567.0, "down", "1234000"),
        (3.14159e-7, "down", "3.141e-07".replace("e-07", "e-7")),
        (12345678.0, "up", "1.235e+7"),
    ],
)
def test_significant_digits_are_rounded_as_told(value, towards, text):
    assert significant(value, towards) == text


@pytest.mark.parametrize(
    ("value", "towards", "claim", "text"),
    [
        (1.00003, "down", 1.0, "1.00003"),
        (1.0000000001, "nearest", 1.0, "1.0000000001"),
        (0.99999, "up", 1.0, "0.99999"),
        (1.0, "nearest", 1.0, "1.000"),
        (0.7, "down", 1.0, "0.7000"),
        (1.00003, "down", 1.00001, "1.00003"),
    ],
)
def test_a_number_is_never_shown_on_the_other_side_of_the_claim(value, towards, claim, text):
    assert significant(value, towards, apart_from=claim) == text


def test_a_number_equal_to_the_claim_within_its_error_needs_no_digits():
    assert significant(1.0000000000000002, apart_from=1.0, error=1e-15) == "1.000"
    assert significant(1.0000000000000002, apart_from=1.0) != "1.000"
    assert significant(1.0986122886681096, apart_from=1.0986122886681098, error=1e-14) == "1.0986122886681098"


@given(st.floats(0, 1e6), st.floats(0, 1e6), st.sampled_from(["down", "up", "nearest"]))
def test_rounding_is_safe_and_keeps_the_side(value, claim, towards):
    text = significant(value, towards, apart_from=claim)
    shown, exact, reference = Decimal(text), Decimal(repr(value)), Decimal(repr(claim))
    assert towards != "down" or shown <= exact
    assert towards != "up" or shown >= exact
    assert abs(shown - exact) <= exact / 1000
    assert shown.compare(reference) == exact.compare(reference)


def test_small_words():
    assert percent(0.95) == "95 %"
    assert percent(1 - 0.05 / 8) == "99.375 %"
    assert count(1234567) == "1,234,567"
    assert [value_text(v) for v in (1.0, 0.5, 1e-6, True, 3, "x")] == ["1", "0.5", "1e-06", "True", "3", "x"]
    assert label_parameters({}) == "none"
    assert label_parameters({"epsilon": 1.0, "dimension": 2}) == "dimension = 2, epsilon = 1"
    assert claim_cell(1.0, 0.0) == "1"
    assert claim_cell(1.0, 1e-6) == "(1, 1e-06)"
    assert (claim_words(1.0, 0.0), claim_words(0.5, 1e-6)) == ("ε = 1", "ε = 0.5, δ = 1e-06")
    assert [plural(n, "pair") for n in (0, 1, 2_000)] == ["0 pairs", "1 pair", "2,000 pairs"]


RARE = "any output rare or unseen in training"
EVENTS = [
    (Cells("output", ((-1, -1), (3, 5))), "output in {-1, 3..5}"),
    (Cells("output", ((-1, -1), (3, 4), (7, 9))), "output in {-1, 3, 4, 7..9}"),
    (Cells("output", ((3, 3),), ("'a'", "(1, 2)")), "output in {3, 'a', (1, 2)}"),
    (Cells("output", ((1, 1),), rare=True), f"output in {{1}} or {RARE}"),
    (Cells("output", (), rare=True), RARE),
    (
        Cells("output", tuple((2 * i, 2 * i) for i in range(12))),
        f"output in {{{', '.join(map(str, range(0, 24, 2)))}}}",
    ),
    (
        Cells("output", tuple((4 * i, 4 * i + 2) for i in range(13))),
        f"output in {{{', '.join(f'{4 * i}..{4 * i + 2}' for i in range(12))}, ... (39 outputs)}}",
    ),
    (Cells("naive Bayes", ((2, 2),)), "cell of the naive Bayes in {2}"),
    (Cells("output", ((1, 1),), path=(0, "x")), "output[0]['x'] in {1}"),
    (Cells("depth", ((1, 1),), path=(0,)), "cell of the depth of output[0] in {1}"),
    (Cells("bit 3 of output", (), ("0",)), "bit 3 of output = 0"),
    (Cells.of_values("exponent of output", (-4, -2, -3)), "exponent of output in {-4..-2}"),
    (Cells("keys of output", (), ("{'a'}",), rare=True), f"keys of output = {{'a'}} or {RARE}"),
    (
        Cells.of_values("exponent of output", (-1, -2, -3, 5, 52, "absent", 6)),
        "exponent of output in {-3..-1, 5, 6, 52, absent}",
    ),
    (Interval("ranked histogram", -math.inf, 0.123456789), "ranked histogram in [-inf, 0.123457)"),
    (Interval("value", 1e-7, math.inf), "value in [1e-07, inf)"),
    (Interval("value", 0.5, 2.0, (3,)), "value of output[3] in [0.5, 2)"),
    (Bets(3000, 1.25), "no single event: bets on 3000 runs of this pair raised the stake by exp(1.25)"),
    (Bets(7, math.inf), "no single event: bets on 7 runs of this pair raised the stake by exp(inf)"),
    (Cells.of_outputs([2, 1], complement=True, path=(0,)), "output[0] not in {1, 2}"),
    (Cells.of_outputs(["a", 0.5, (1, 2), 3]), "output in {3, 'a', 0.5, (1, 2)}"),
    (Withheld(), "answers that are not shown, as they may reveal records (include_data shows them)"),
    (
        Withheld("sum of output"),
        "answers that are not shown, as they may reveal records (told by sum of output; include_data shows them)",
    ),
]


@pytest.mark.parametrize(("event", "words"), EVENTS)
def test_events_in_words(event, words):
    assert event_words(event) == words


def test_every_kind_of_event_has_words():
    assert {type(event) for event, _ in EVENTS} == set(typing.get_args(Event))


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (Cells("output", ((-1, -1),)), "output in {-1} (-1: failure)"),
        (Cells("output", ((-1, 3), (7, 7))), "output in {-1..3, 7} (-1: failure)"),
        (Cells("output", ((-12, -12), (3, 3))), "output in {-12, 3}"),
        (Cells("output", (), ("(-1, 2)",)), "output in {(-1, 2)}"),
        (Cells("output", ((-1, -1),), path=(0,)), "output[0] in {-1}"),
        (Cells("score", ((-1, -1),)), "cell of the score in {-1}"),
        (Interval("ranked histogram", -1, math.inf), "ranked histogram in [-1, inf)"),
    ],
)
def test_only_the_code_of_failure_is_failure(event, words):
    assert event_words(event, {}) == words


def test_codes_are_told_by_what_they_stand_for():
    known = {"3": "Threshold(j=4)", "5": "Threshold(j=6)", "7": "Threshold(j=8)"}
    words = "output in {-1, 3, 5} (-1: failure, 3: Threshold(j=4), 5: Threshold(j=6))"
    three = Cells("output", ((-1, -1), (3, 3), (5, 5)))
    assert event_words(three, known) == words
    assert event_words(three) == "output in {-1, 3, 5}"  # of a mechanism, whose integers are no codes
    assert event_words(Cells("output", ((2, 2), (4, 4))), known) == "output in {2, 4}"
    words = [output_text(law_finding(worst_atom=output), known) for output in ("3", "4", "-1")]
    assert words == ["3 (Threshold(j=4))", "4", "-1 (failure)"]
    assert [output_text(law_finding(worst_atom=output), {}) for output in ("-12", "(-1, 2)")] == ["-12", "(-1, 2)"]
    assert output_text(law_finding(worst_atom="-1")) == "-1"
    half = law_finding(worst_atom="(1, Fraction(1, 2))", worst_output="(1, 1/2)")
    assert output_text(half) == "(1, 1/2)"


def test_an_event_of_a_file_without_its_shown_values_has_them_as_they_are_stored():
    assert event_words(Cells("exponent of output", (), ("-4", "-2", "-3"))) == "exponent of output in {-4, -2, -3}"
    assert Cells.of_values("bit 3", (1, 0)) == Cells("bit 3", (), ("0", "1"))


def test_verdicts_in_words():
    assert verdict_words(PrivacyVerdict.VIOLATION, ("privacy", "utility")) == "violation: privacy and utility"
    assert verdict_words(PrivacyVerdict.NO_EVIDENCE, ("privacy",)) == "no evidence: privacy"
    assert [verdict_words(v) for v in (TaskVerdict.NO_CLAIM, TaskVerdict.NOT_CHECKED, PrivacyVerdict.CONSISTENT)] == [
        "no claim",
        "not checked",
        "consistent",
    ]
    assert [verdict_words(v) for v in (TaskVerdict.FAILED, PrivacyVerdict.NO_EVIDENCE)] == ["failed", "no evidence"]
