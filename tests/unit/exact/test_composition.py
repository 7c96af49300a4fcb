"""Composition: bad input, no signal, wrong direction, infinite losses, its limits, and its place in the finding."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dpaudit
from dpaudit.contract import InputError
from dpaudit.exact import convolution
from dpaudit.exact.composition import Composition, compose, pair_law
from dpaudit.exact.convolution import LARGEST_TIMES, LossSum
from dpaudit.exact.dominating import MAX_LOSS, LossLaw, dominating_law
from dpaudit.exact.profiles import LossProfiles


def profiles_of(left: Any, right: Any, error: float = 2e-16) -> LossProfiles:
    """Return the profiles of one pair of laws, both ways round."""
    with np.errstate(divide="ignore"):
        laws = np.maximum(np.log(np.array([left, right], dtype=np.float64)), -1e300)
    return LossProfiles(laws, np.full(2, error), np.array([0, 1]), np.array([1, 0]))


RESPONSE = profiles_of((0.75, 0.25), (0.25, 0.75))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"times": 0}, "times must be an integer from 1 to"),
        ({"times": True}, "times must be an integer"),
        ({"times": 2.0}, "times must be an integer"),
        ({"times": LARGEST_TIMES + 1}, "times must be an integer"),
        ({"times": 2, "delta": 1.0}, r"delta must be a number in \[0, 1\), got 1.0"),
        ({"times": 2, "delta": -1e-9}, "delta must be a number"),
        ({"times": 2, "delta": math.nan}, "delta must be a number"),
        ({"times": 2, "epsilon": math.inf}, "epsilon must be a finite number, got inf"),
        ({"times": 2, "epsilon": "1"}, "epsilon must be a finite number"),
    ],
)
def test_bad_input_is_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        compose(RESPONSE, **arguments)


@pytest.mark.parametrize("ask", ["epsilon_upper", "epsilon_lower"])
def test_questions_are_checked(ask: str) -> None:
    with pytest.raises(InputError, match="delta must be"):
        getattr(compose(RESPONSE, 2), ask)(1)


@pytest.mark.parametrize("ask", ["delta_upper", "delta_lower"])
def test_epsilons_are_checked(ask: str) -> None:
    with pytest.raises(InputError, match="epsilon must be"):
        getattr(compose(RESPONSE, 2), ask)(math.nan)


@pytest.fixture
def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a grid of fewer cells: the bounds hold on any, and are wider."""
    monkeypatch.setattr(convolution, "_CELLS", 2**14)


@pytest.mark.usefixtures("coarse")
def test_the_finding_composes_and_passes_its_grade_on() -> None:
    finding = dpaudit.pac.audit_law(dpaudit.pac.get_learner("point-exponential", domain_size=2, epsilon=1.0), n=1)
    made = finding.compose(4, epsilon=1.0, delta=1e-3)
    assert isinstance(made, Composition)
    assert (made.times, made.grade) == (4, "exact")
    assert made.epsilon_interval == (made.epsilon_lower(1e-3), made.epsilon_upper(1e-3))
    assert made.delta_interval == (made.delta_lower(1.0), made.delta_upper(1.0))
    assert compose(finding.profiles, 4).grade == "numeric"
    assert finding.compose(4).epsilon_interval is None


def test_delta_zero_is_basic_composition() -> None:
    made = compose(RESPONSE, 7)
    exact = 7 * math.log(3)
    assert exact - 1e-13 <= made.epsilon_lower(0.0) <= exact <= made.epsilon_upper(0.0) <= exact + 1e-13
    assert made.delta_upper(made.basic) == 0
    assert made.delta_upper(exact - 0.01) == pytest.approx(0.75**7 * -math.expm1(-0.01), rel=1e-3)
    # No delta, however small, costs more than that.
    assert made.epsilon_upper(1e-300) <= made.basic


def test_equal_laws_show_nothing() -> None:
    made = compose(profiles_of((0.3, 0.3, 0.4), (0.3, 0.3, 0.4)), 1000)
    assert made.delta_lower(0.0) == made.epsilon_lower(0.0) == made.epsilon_lower(1e-12) == 0
    # A run costs its safety margins only: losses are raised by 2^-48 and some 20 ulp, sums have as much error.
    assert made.delta_upper(0.0) <= 1000 * 2.0**-46
    assert made.epsilon_upper(0.0) <= 1000 * 2.0**-46


def test_the_wrong_direction_shows_less() -> None:
    # Only P against Q: Q against P has the greatest loss ln 4, P against Q only ln 1.6.
    laws = np.log(np.array([[0.2, 0.8], [0.5, 0.5]]))
    forward, backward = (LossProfiles(laws, np.zeros(2), np.array([i]), np.array([1 - i])) for i in (0, 1))
    ahead, back = compose(forward, 5), compose(backward, 5)
    assert ahead.epsilon_upper(0) == pytest.approx(5 * math.log(1.6))
    assert back.epsilon_upper(0) == pytest.approx(5 * math.log(2.5))
    assert back.epsilon_lower(1e-3) > ahead.epsilon_upper(1e-3)


def test_a_catastrophe_adds_up_however_large_epsilon_is() -> None:
    made = compose(profiles_of((0.999, 0.001, 0.0), (0.999, 0.0, 0.001)), 500)
    exact = -math.expm1(500 * math.log1p(-0.001))
    for epsilon in (0.0, 1.0, 1e6):
        assert made.delta_lower(epsilon) <= exact * (1 + 1e-12)
        assert exact * (1 - 1e-12) <= made.delta_upper(epsilon) <= exact * (1 + 1e-9)
    assert made.epsilon_upper(0.3) == made.epsilon_lower(0.3) == math.inf
    assert made.epsilon_upper(0.5) <= 1e-9


def test_disjoint_laws_give_everything_away() -> None:
    made = compose(profiles_of((1.0, 0.0), (0.0, 1.0)), 3, epsilon=2.0, delta=0.9)
    assert made.delta_upper(2.0) == 1
    assert made.delta_lower(2.0) == pytest.approx(1)
    assert made.epsilon_interval == (math.inf, math.inf)


def test_huge_losses_count_as_infinite_above_and_as_huge_below() -> None:
    left, right = np.log([[1 - 1e-3, 1e-3]])[0], np.array([-1e-300, -700.0])
    profiles = LossProfiles(np.array([left, right]), np.zeros(2), np.array([0]), np.array([1]))
    assert profiles.epsilon > MAX_LOSS
    made = compose(profiles, 1)
    assert made.delta_lower(600.0) == 0
    assert made.delta_lower(400.0) == pytest.approx(1e-3)
    assert made.delta_upper(600.0) == pytest.approx(1e-3)


@pytest.mark.usefixtures("coarse")
def test_brackets_grow_with_times_and_fall_with_delta() -> None:
    finding = dpaudit.pac.audit_law(dpaudit.pac.get_learner("point-exponential", domain_size=3, epsilon=1.0), n=2)
    made = [finding.compose(times) for times in (1, 30)]
    most = []
    for delta in (1e-2, 1e-9):
        ends = [(c.epsilon_lower(delta), c.epsilon_upper(delta)) for c in made]
        assert all(0 < low <= high <= c.basic for (low, high), c in zip(ends, made, strict=True))
        assert ends[0][1] < ends[1][0]
        most.append(ends[1][1])
    assert most[1] > most[0]


def test_one_run_is_the_finding_itself() -> None:
    finding = dpaudit.pac.audit_law(dpaudit.pac.get_learner("threshold-exponential", domain_size=3, epsilon=1.0), n=3)
    made = finding.compose(1)
    for epsilon in (0.0, 0.3, 0.8):
        exact = finding.delta(epsilon)
        assert exact <= made.delta_upper(epsilon) <= exact + 1e-8
        assert made.delta_lower(epsilon) <= exact
    assert made.delta_lower(0.0) == pytest.approx(finding.delta(0.0), rel=1e-4)


def test_errors_of_the_laws_widen_the_bracket() -> None:
    sharp = compose(RESPONSE, 10, epsilon=3.0).delta_interval
    blurred = compose(profiles_of((0.75, 0.25), (0.25, 0.75), error=1e-3), 10, epsilon=3.0).delta_interval
    assert sharp is not None
    assert blurred is not None
    assert blurred[0] < sharp[0] < sharp[1] < blurred[1]
    # Laws moved by less than their error stay inside.
    moved = profiles_of((0.7502, 0.2498), (0.2499, 0.7501))
    exact = compose(moved, 10, epsilon=3.0).delta_interval
    assert exact is not None
    assert blurred[0] < exact[0] < exact[1] < blurred[1]


def test_a_tiny_delta_keeps_its_digits() -> None:
    law = LossLaw(np.array([-1.0, 1.0]), np.array([1, math.e]) / (1 + math.e), 0.0)
    chance = math.e / (1 + math.e)
    for upper in (True, False):
        # All 200 heads: 200 > 199 > 198, and nothing else.
        found = LossSum(law, 200, upper=upper).delta(199.0)
        assert found == pytest.approx(chance**200 * -math.expm1(-1.0), rel=0.02)


def test_a_pair_law_is_below_the_pair_and_the_dominating_law_above() -> None:
    for epsilon in np.linspace(-1.2, 1.2, 25).tolist():
        exact = max(0.0, 0.75 - math.exp(epsilon) * 0.25) + max(0.0, 0.25 - math.exp(epsilon) * 0.75)
        assert pair_law(RESPONSE, 0).delta(epsilon) <= exact + 1e-16
        assert exact - 1e-16 <= dominating_law(RESPONSE).delta(epsilon) <= exact + 1e-13
