"""Digits of floats, remainders by periods, orders of members and runs of characters.

Seeds are fixed. Leaks of 0.9 against 0.1 stand out by more than ten standard errors of the runs that look for them.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse

import dpaudit
from dpaudit import certificates
from dpaudit.events.event import Interval
from dpaudit.events.feature_screening import periods, sequences
from dpaudit.events.feature_screening.search import SECONDARY, screen_features
from dpaudit.naming import Name, cut, key
from dpaudit.outputs.plan import LeafPlan
from dpaudit.withheld import Coarse

FEATURE_RUNS = 1_500


def coin(x, rng, size):
    return rng.random(size) < (0.9 if x else 0.1)


def digit(x, rng, size):
    """Return normal numbers whose fourth decimal digit is mostly below 5 where x is 1."""
    low = coin(x, rng, size)
    return (np.floor(rng.normal(size=size) * 1000) + 0.5 * rng.random(size) + np.where(low, 0, 0.5)) / 1000


def positive_digit(x, rng, size):
    low = coin(x, rng, size)
    whole = np.floor(rng.exponential(size=size) * 1000)
    return (whole + 0.5 * rng.random(size) + np.where(low, 0, 0.5)) / 1000


def period(x, rng, size):
    """Return numbers in the first half of a turn, mostly, where x is 1."""
    turns = 2 * np.pi * rng.integers(1000, size=size)
    return rng.random(size) * np.pi + np.where(coin(x, rng, size), 0, np.pi) + turns


@pytest.mark.parametrize(
    ("read", "value", "digit"),
    [
        (lambda v: periods._decimal(1, v), 0.29, 2),
        (lambda v: periods._decimal(2, v), 0.29, 9),  # 0.29 * 100 is 28.999999999999996
        (lambda v: periods._decimal(3, v), 0.29, 0),
        (lambda v: periods._decimal(2, v), -1.234, 3),
        (lambda v: periods._decimal(0, v), 1234.5, 4),
        (lambda v: periods._decimal(-3, v), 1234.5, 1),
        (lambda v: periods._decimal(2, v), 1e300, 0),
        (lambda v: periods._significant(1, v), 1e-6, 1),
        (lambda v: periods._significant(2, v), 999.0, 9),
        (lambda v: periods._significant(2, v), 1000.0, 0),
        (lambda v: periods._significant(3, v), -0.0012345, 3),
        (lambda v: periods._significant(5, v), 1.2345e250, 5),
        (lambda v: periods._significant(2, v), 5e-324, 0),
        *((lambda v: periods._significant(2, v), special, 0) for special in (0.0, math.inf, -math.inf, math.nan)),
        *((lambda v: periods._decimal(2, v), special, 0) for special in (0.0, math.inf, -math.inf, math.nan)),
    ],
)
def test_a_digit_is_that_of_the_number_as_it_is_written(read, value, digit):
    assert read(np.array([value])).tolist() == [digit]


@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1.0, 1e6, 1e12])
def test_significant_digits_are_those_of_the_decimal_form(scale):
    values = np.random.default_rng(0).lognormal(0, 2, 300) * scale
    for place in (1, 2, 5, 9):
        wanted = [int(f"{value:.14e}".replace(".", "")[place - 1]) for value in values.tolist()]
        assert periods._significant(place, values).tolist() == wanted


def test_a_multiple_of_a_period_has_no_remainder_though_it_is_rounded():
    values = np.array([0.3, 0.7, -0.2, 6 * math.pi, 0.25, math.inf, math.nan])
    assert periods._remainder(0.1, 0.0, False, values[:3]).tolist() == [0.0, 0.0, 0.0]
    assert periods._remainder(2 * math.pi, 0.0, False, values)[3] == 0
    assert periods._remainder(0.1, 0.05, True, np.array([-0.25]))[0] == pytest.approx(0.0, abs=1e-15)
    assert np.isfinite(periods._remainder(0.1, 0.0, False, values)).all()


def test_ordinals():
    assert [periods.ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 102, 111)] == [
        "1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd", "111th",
    ]  # fmt: skip


def screened(mechanism, seed=3, runs=FEATURE_RUNS, epsilon=0.5):
    rng = np.random.default_rng(seed)
    sides = [mechanism(x, rng, runs) for x in (0, 1)]
    return screen_features(LeafPlan.of(np.concatenate(sides)), *sides, 16_000, epsilon=epsilon)


@pytest.mark.parametrize(
    ("mechanism", "words"),
    [
        (digit, "output modulo 0.001"),
        (positive_digit, "4th decimal digit of output"),
        (period, "output modulo 2 pi"),
        (lambda x, rng, size: 1e6 + 1e-3 * digit(x, rng, size), "output modulo 1e-06"),
        (lambda x, rng, size: np.stack([rng.normal(size=size), period(x, rng, size)], axis=1), "output modulo 2 pi"),
        (lambda x, rng, size: period(x, rng, size) + 1.0, "(output - 4.08) modulo 2 pi"),
    ],
)
def test_a_leak_is_told_by_its_digit_or_its_period(mechanism, words):
    best = screened(mechanism)[0]
    assert best.promise > 1
    assert best.feature.name.replace("element 1 of ", "") == words


def test_a_value_that_leaks_is_not_told_by_its_digits():
    # The fourteenth part of a range of Laplace noise, and its first digits, leak as the value does, and less.
    for mechanism in (
        lambda x, rng, size: x + rng.laplace(size=size),
        lambda x, rng, size: x + rng.exponential(size=size),
        lambda x, rng, size: 5 * x + 10 * rng.random(size),
    ):
        found = screened(mechanism, epsilon=5.0)
        assert not any(one.feature.kind in SECONDARY for one in found)


@pytest.mark.parametrize("mechanism", [digit, positive_digit, period])
def test_the_events_are_those_of_each_output_alone(mechanism):
    from dpaudit.events.feature_screening.featured import screened_discretizers

    rng = np.random.default_rng(3)
    sides = [mechanism(x, rng, FEATURE_RUNS) for x in (0, 1)]
    plan = LeafPlan.of(np.concatenate(sides))
    found = screened_discretizers(*sides, 16_000, epsilon=0.5, stored=False, plan=plan)[0]
    fresh = mechanism(1, rng, 50)
    cells = found(fresh).tolist()
    assert cells == [int(found(fresh[i : i + 1])[0]) for i in range(50)]
    assert found(list(map(float, fresh))).tolist() == cells


@pytest.mark.parametrize(
    ("mechanism", "words"),
    [
        (positive_digit, "4th decimal digit of output"),
        (period, "output modulo 2 pi"),
    ],
)
def test_an_audit_convicts_and_says_so_in_words(mechanism, words):
    given = {"epsilon": 0.5, "trials": 8_000, "confidence": 0.95, "batched": True}
    finding = dpaudit.audit_privacy(mechanism, [(0, 1)], **given)
    assert finding.verdict == "violation"
    assert finding.epsilon_lower > 1.5
    assert isinstance(finding.witness.event, Interval)
    assert f"{words} " in " ".join(str(finding).split())
    again = type(finding).from_dict(finding.to_dict())
    assert again.witness.event == finding.witness.event
    # What only the audit can compute, a certificate does not say: it has to be repeated.
    made = certificates.make(finding, [(0, 1)], batched=True)
    assert made.learned == finding.trials
    assert dpaudit.audit_privacy(mechanism, [(0, 1)], **given, n_jobs=2).epsilon_lower == finding.epsilon_lower


def test_names_and_numbers_of_periods_are_withheld_unless_they_are_no_data():
    coarse = Coarse()
    output = Name("output")
    digit = Name.of("{} significant digit of {}", periods.ordinal(4), output)
    shown = [Name.of("{} modulo {}", output, periods._shown(one)) for one in (2 * math.pi, 0.001, 1e-6, 12.0)]
    hidden = [Name.of("{} modulo {}", output, periods._shown(one)) for one in (37.25, 64.0)]
    hidden.append(Name.of("({} - {}) modulo {}", output, cut(41), periods._shown(100)))
    hidden.append(Name.of("order of the keys {} and {} in {}", key("Zeb"), key("Ann"), output))
    assert [coarse.name(name) for name in (digit, *shown)] == [True] * 5
    assert [coarse.name(name) for name in hidden] == [False] * 4


def test_sparse_matrices_that_cannot_be_iterated_have_no_order():
    outputs = [sparse.bsr_matrix(np.full((3, 3), i % 7)) for i in range(40)]
    neighbour = np.arange(40) % 2 == 0
    found = sequences.orders(LeafPlan.of(outputs), outputs, neighbour, np.ones(40, dtype=np.bool_))
    assert list(found) == []


def test_which_of_two_members_comes_first():
    rows = [["a", "b"], ["b", "a"], ["a"], ["a", "a", "b"], [], {"b": 1, "a": 2}]
    assert sequences._before("a", "b", rows).tolist() == [1, 0, 2, 1, 2, 0]


def test_runs_and_groups_of_characters():
    values = ["aabbb1", "", "é\U0001f600\U0001f600\U0001f600\U0001f600", "abcabc"]
    table = sequences._table(values, 6)
    assert sequences._longest_run(table).tolist() == [3, 0, 4, 1]
    assert sequences._equal_neighbours(table).tolist() == [3, 0, 3, 0]
    assert sequences._longest_of_class("0", "9", table).tolist() == [1, 0, 0, 0]
    assert sequences._longest_of(ord("b"), table).tolist() == [3, 0, 0, 1]
    assert sequences._count(ord("a"), table).tolist() == [2, 0, 0, 2]
    assert sequences._has((ord("c"), ord("a")), table).tolist() == [False, False, False, True]
    assert sequences._has((0x1F600, 0x1F600, 0x1F600), table).tolist() == [False, False, True, False]
    # Of bytes and of one value alone they are the same.
    assert sequences._table([b"aab"], 4).tolist() == sequences._table(["aab"], 4).tolist()
    assert [sequences._of_table(sequences._longest_run, [value])[0] for value in values] == [3, 0, 4, 1]
