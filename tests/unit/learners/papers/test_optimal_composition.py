"""Exact composition against all outputs of the worst calls, and against the theorems that bound it."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest

from dpaudit_learners.mechanisms.composition import Cost, advanced
from dpaudit_learners.papers.mechanisms import advanced_epsilon, composed_delta, greatest_share, many_composed_delta


def listed(calls: int, share: float, each: float, epsilon: float) -> float:
    """Return sum (P - e^epsilon Q)_+ over the outputs of calls that show the input or are randomised response."""
    true = (1 - each) / (1 + math.exp(-share))
    outputs = [(each, 0.0), (true, 1 - each - true), (1 - each - true, true), (0.0, each)]
    found = 0.0
    for chosen in product(outputs, repeat=calls):
        p, q = (math.prod(masses) for masses in zip(*chosen, strict=True))
        found += max(0.0, p - math.exp(epsilon) * q)
    return found


@pytest.mark.parametrize("calls", [1, 2, 3, 5])
@pytest.mark.parametrize(("share", "each"), [(0.1, 1e-3), (0.5, 0.0), (1.3, 0.05)])
@pytest.mark.parametrize("epsilon", [0.0, 0.4, 1.0, 3.0])
def test_the_formula_is_what_the_outputs_sum_to(calls: int, share: float, each: float, epsilon: float) -> None:
    assert composed_delta(calls, share, each, epsilon) == pytest.approx(listed(calls, share, each, epsilon), abs=1e-13)


@pytest.mark.parametrize("calls", [1, 7, 200])
def test_it_lies_below_what_basic_and_advanced_composition_allow(calls: int) -> None:
    each, slack = 1e-8, 1e-6
    assert composed_delta(calls, 1 / calls, each, 1.0) <= calls * each
    cost = advanced([Cost(Fraction(1, 50), Fraction(each))] * calls, slack)
    assert composed_delta(calls, 1 / 50, each, float(cost.epsilon)) <= cost.delta


@pytest.mark.parametrize("calls", [1, 3, 50])
def test_the_greatest_share_is_just_private(calls: int) -> None:
    share = greatest_share(calls, 1e-8, 1.0, 1e-6)
    assert composed_delta(calls, share, 1e-8, 1.0) <= 1e-6 < composed_delta(calls, share * (1 + 1e-9), 1e-8, 1.0)
    assert share >= 1 / calls


def test_no_share_is_private_where_too_much_is_shown() -> None:
    assert greatest_share(2, 0.1, 1.0, 1e-3) == 0


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_many_calls_compose_as_few_do(epsilon: float) -> None:
    assert many_composed_delta(60, 0.1, epsilon) == pytest.approx(composed_delta(60, 0.1, 0.0, epsilon), rel=1e-9)


def test_advanced_composition_is_nearly_needed() -> None:
    printed = advanced_epsilon(10_000, 1e-3, 1e-12)
    assert many_composed_delta(10_000, 1e-3, 0.84 * printed) > 1e-12 > many_composed_delta(10_000, 1e-3, 0.86 * printed)
