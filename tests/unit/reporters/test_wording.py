from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.reporters.wording import (
    claim_text,
    count,
    event_text,
    label_parameters,
    output_text,
    percent,
    rate,
    significant,
    value_text,
)


@pytest.mark.parametrize(
    ("value", "towards", "text"),
    [
        (0.5108256, "nearest", "0.5108"),
        (0.51089, "down", "0.5108"),
        (0.51081, "up", "0.5109"),
        (0, "up", "0"),
        ("inf", "down", "inf"),
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


@given(st.floats(0, 1), st.floats(1e-6, 0.999), st.sampled_from(["down", "up", "nearest"]))
def test_rates_keep_their_side_of_beta(value, beta, towards):
    shown, exact = Decimal(rate(value, towards, beta=beta)), Decimal(repr(value))
    assert towards != "down" or shown <= exact
    assert towards != "up" or shown >= exact
    # 17 decimals are the most that is shown: rates that differ by less are the same for every purpose.
    if abs(value - beta) > 1e-16:
        assert shown.compare(Decimal(repr(beta))) == exact.compare(Decimal(repr(beta)))


@pytest.mark.parametrize(
    ("value", "towards", "beta", "text"),
    [
        (0.0, "down", 0.1, "0.000"),
        (0.00437, "up", 0.1, "0.005"),
        (0.09999, "up", 0.1, "0.09999"),
        (0.1, "nearest", 0.1, "0.100"),
        (0.1002, "down", 0.1, "0.1002"),
        (3e-7, "nearest", 1e-6, "3.0E-7"),
    ],
)
def test_rates(value, towards, beta, text):
    assert Decimal(rate(value, towards, beta=beta)) == Decimal(text)


def test_small_words():
    assert percent(0.95) == "95 %"
    assert percent(1 - 0.05 / 8) == "99.375 %"
    assert count(1234567) == "1,234,567"
    assert [value_text(v) for v in (1.0, 0.5, 1e-6, True, 3, "x")] == ["1", "0.5", "1e-06", "True", "3", "x"]
    assert label_parameters({}) == "none"
    assert label_parameters({"epsilon": 1.0, "dimension": 2}) == "dimension = 2, epsilon = 1"
    assert claim_text(None) == "none"
    assert claim_text({"epsilon": 1.0, "delta": 0.0}) == "1"
    assert claim_text({"epsilon": 1.0, "delta": 1e-6}) == "(1, 1e-06)"


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ("output in {-1}", "output in {-1} (-1: failure)"),
        ("output in {-1..3, 7}", "output in {-1..3, 7} (-1: failure)"),
        ("output in {-12, 3}", "output in {-12, 3}"),
        ("output in {(-1, 2)}", "output in {(-1, 2)}"),
        ("ranked histogram in [-1, inf)", "ranked histogram in [-1, inf)"),
    ],
)
def test_only_the_code_of_failure_is_failure(event, words):
    assert event_text(event) == words
    assert [output_text(output) for output in ("-1", "-12", "(-1, 2)")] == ["-1 (failure)", "-12", "(-1, 2)"]


def test_codes_are_told_by_what_they_stand_for():
    known = {"3": "Threshold(j=4)", "5": "Threshold(j=6)", "7": "Threshold(j=8)"}
    words = "output in {-1, 3, 5} (-1: failure, 3: Threshold(j=4), 5: Threshold(j=6))"
    assert event_text("output in {-1, 3, 5}", known) == words
    assert event_text("output in {2, 4}", known) == "output in {2, 4}"
    assert output_text("3", known) == "3 (Threshold(j=4))"
    assert output_text("4", known) == "4"
