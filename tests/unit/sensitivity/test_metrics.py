"""Distances of outputs: exact on integers and fractions, rounded down as floats, infinite where there is none."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.errors import InputError
from dpaudit.sensitivity.metrics import METRICS, ROUNDING, Distance, read_metric, read_sensitivity

NUMBERS = st.lists(st.fractions(max_denominator=50), min_size=3, max_size=3)


@given(NUMBERS, NUMBERS)
def test_vectors_are_compared_as_by_hand(first: list[Fraction], second: list[Fraction]) -> None:
    gaps = [abs(a - b) for a, b in zip(first, second, strict=True)]
    assert METRICS["l1"](first, second).power == sum(gaps)
    assert METRICS["l2"](first, second).power == sum(gap**2 for gap in gaps)
    assert METRICS["linf"](first, second).power == max(gaps)
    assert METRICS["hamming"](first, second).power == sum(gap > 0 for gap in gaps)


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
def test_a_distance_is_exact_and_its_float_never_larger(first: float, second: float) -> None:
    found = METRICS["absolute"](first, second)
    assert found.power == abs(Fraction(first) - Fraction(second))
    assert Fraction(found.lower) <= found.power


@pytest.mark.parametrize("power", [Fraction(2), Fraction(1, 3), Fraction(10**40 + 1), Fraction(1, 10**40)])
def test_a_root_is_rounded_down(power: Fraction) -> None:
    lower = Fraction(Distance(power, squared=True).lower)
    assert lower**2 <= power < (lower * (1 + Fraction(1, 2**50))) ** 2


def test_dictionaries_series_and_frames_are_compared_by_key() -> None:
    assert METRICS["l1"]({"a": 3, "b": 1}, {"a": 3, "c": 2}).power == 3
    assert METRICS["l1"](pd.Series([1, 2], index=["a", "b"]), pd.Series([1], index=["a"])).power == 2
    assert METRICS["linf"](pd.DataFrame({"x": [1.0, 2.0]}), pd.DataFrame({"x": [1.0, 5.0]})).power == 3
    assert METRICS["l1"]({"a": [1, 2]}, {"a": [1, 4]}).power == 2
    assert METRICS["symmetric"]({"a": 1}, {"a": 2}).power == 2


def test_multisets_are_compared_by_what_they_do_not_share() -> None:
    assert METRICS["symmetric"]([1, 1, 2], [1, 2, 3]).power == 2
    assert METRICS["symmetric"]([], [3]).power == 1
    assert math.isinf(METRICS["hamming"]([1, 2], [1]).lower)


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        (math.nan, 1.0, "a number is finite on one input and NaN on the other"),
        (math.inf, -math.inf, "a number is minus infinite on one input and infinite on the other"),
        ([1, 2], [1, 2, 3], "the outputs hold 2 and 3 numbers"),
    ],
)
def test_outputs_without_a_finite_distance_say_why_and_show_no_value(first: Any, second: Any, why: str) -> None:
    for metric in ("l1", "l2", "linf"):
        found = METRICS[metric](first, second)
        assert math.isinf(found.lower)
        assert found.why == why
        assert found.exceeds(Fraction(10) ** 300)


def test_equal_outputs_are_at_distance_0_whatever_they_are() -> None:
    for output in (math.nan, math.inf, [math.nan], {"a": math.inf}, [], np.zeros((2, 0)), ["label", 3]):
        assert METRICS["l1"](output, output).power == 0


def test_rounding_of_floats_is_no_excess_and_that_of_integers_is_none() -> None:
    above = METRICS["absolute"](1.0 + 1e-12, 0.0)
    assert above.power > 1
    assert not above.exceeds(Fraction(1))
    assert METRICS["absolute"](1.0 + 2 * float(ROUNDING), 0.0).exceeds(Fraction(1))
    assert METRICS["absolute"](10**12 + 1, 0).exceeds(Fraction(10**12))  # a trillionth, of integers
    assert METRICS["absolute"](np.float64(2**53 + 2), np.float64(2**53)).exceeds(Fraction(1))


def test_numbers_of_every_library_are_read_exactly() -> None:
    for value in (3, True + 2, np.int8(3), np.uint64(3), np.float32(3), Fraction(3), Decimal(3), np.array(3)):
        assert METRICS["absolute"](value, 0).power == 3
    assert METRICS["absolute"](np.float32(0.1), 0).power == Fraction(float(np.float32(0.1)))
    assert METRICS["absolute"](np.longdouble(0.5), 0).power == Fraction(1, 2)
    assert METRICS["absolute"](10**400, 0).lower == np.finfo(float).max


@pytest.mark.parametrize(
    ("metric", "first", "second", "message"),
    [
        ("absolute", [1], 2, "metric absolute is for an output that is one number"),
        ("l1", "a", "b", "metric l1 compares numbers, got 'a'"),
        ("l2", ["a", 1], [2, 1], "metric l2 compares numbers, got 'a'"),
        ("hamming", 3, 4, "metric hamming compares lists of elements, got 3"),
        ("absolute", 1j, 2j, "metric absolute compares numbers"),
    ],
)
def test_a_metric_that_does_not_fit_is_refused(metric: str, first: Any, second: Any, message: str) -> None:
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        METRICS[metric](first, second)


def test_claims_are_read_exactly() -> None:
    assert read_sensitivity("1/3") == Fraction(1, 3)
    assert read_sensitivity("0.1") == Fraction(1, 10)
    assert read_sensitivity(0.5) == Fraction(1, 2)
    for wrong in (-1, "x", "1/0", math.nan, math.inf, None, True, "inf"):
        with pytest.raises(InputError, match="claim must be a finite number >= 0"):
            read_sensitivity(wrong)
    with pytest.raises(InputError, match="metric must be one of absolute"):
        read_metric("l3")
