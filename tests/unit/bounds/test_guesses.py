"""A schedule of numbers of guesses: critical counts, crossings, levels, the bound on a grid, and what is detectable."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from dpaudit.bounds.coin import epsilon_lower, p_value
from dpaudit.bounds.guess_schedules import GRID, Schedule, detectable_epsilon, largest_rejected, lower_bound
from dpaudit.bounds.tangent import ClaimPoints

PURE, SMALL = ClaimPoints.one(1.0, 0.0), ClaimPoints.one(1.0, 1e-4)


def test_schedules_double_up_to_all_coins_or_to_half_where_one_side_is_guessed():
    assert Schedule.doubling(100).guesses == (8, 16, 32, 64, 100)
    assert Schedule.doubling(100, one_sided=True).guesses == (8, 16, 32, 50)
    assert Schedule.doubling(64).guesses == (8, 16, 32, 64)
    assert Schedule.doubling(3).guesses == (3,)
    assert Schedule.doubling(20).guesses == (8, 16, 20)


def test_numbers_that_could_not_refute_the_claim_are_left_out_and_all_stay_where_none_could():
    assert Schedule.doubling(100).useful(PURE, 0.05).guesses == (16, 32, 64, 100)
    assert Schedule.doubling(100).useful(PURE, 1e-6).guesses == (64, 100)
    assert Schedule.doubling(100).useful(ClaimPoints.one(9.0, 0.0), 0.05).guesses == (8, 16, 32, 64, 100)


def test_delta_counts_half_where_one_side_is_guessed():
    assert Schedule((8,), 1000).delta_runs(np.array([1e-3])) == pytest.approx(1.0)
    assert Schedule((8,), 1000, True).delta_runs(np.array([1e-3])) == pytest.approx(0.5)


@pytest.mark.parametrize("points", [PURE, SMALL, ClaimPoints(np.array([0.5, 1.0, 2.0]), np.array([0.1, 1e-3, 0.0]))])
@pytest.mark.parametrize("t", [0.2, 0.01, 1e-6])
def test_critical_counts_are_the_least_that_are_rejected(points, t):
    schedule = Schedule.doubling(200)
    found = schedule.critical(t, points)
    for k, c in zip(schedule.guesses, found, strict=True):
        own = Schedule((k,), 200)
        rejected = [own.p_values([v], points)[0][0] <= t for v in range(k + 1)]
        assert c == (rejected.index(True) if any(rejected) else k + 1)


def test_a_crossing_of_one_number_is_a_binomial_tail():
    for epsilon in (0.0, 1.0, 5.0):
        for c in (0, 30, 50, 51):
            found = Schedule((50,), 50).crossing(np.array([c]), epsilon)
            assert found == pytest.approx(binom.sf(c - 1, 50, 1 / (1 + math.exp(-epsilon))), rel=1e-7, abs=1e-18)


def test_a_crossing_of_several_numbers_agrees_with_simulated_coins():
    schedule, critical = Schedule.doubling(100), np.array([8, 15, 28, 53, 81])
    rng = np.random.default_rng(0)
    paths = (rng.random((40_000, 100)) < 1 / (1 + math.exp(-1))).cumsum(axis=1)[:, np.array(schedule.guesses) - 1]
    rate = (paths >= critical).any(axis=1).mean()
    assert schedule.crossing(critical, 1.0) == pytest.approx(rate, abs=4 * math.sqrt(rate / 40_000))


def test_many_guesses_lose_no_mass():
    schedule = Schedule.doubling(10**5)
    never = np.array(schedule.guesses) + 1
    assert schedule.crossing(never, 1.0) < 1e-9
    assert schedule.crossing(np.zeros_like(never), 1.0) == pytest.approx(1.0)


def test_the_test_of_one_number_is_that_of_the_coin():
    for v in (0, 30, 45, 50):
        found = Schedule((50,), 60).test([v], SMALL)
        assert found.p_value == float(p_value(v, 50, 1.0, delta_runs=60 * 1e-4))


@pytest.mark.parametrize("points", [PURE, SMALL])
def test_the_walk_is_never_worse_than_the_union_bound_and_never_better_than_one_number(points):
    schedule = Schedule.doubling(300)
    rng = np.random.default_rng(3)
    for p in (0.4, 0.75, 0.85):
        right = (rng.random(300) < p).cumsum()[np.array(schedule.guesses) - 1]
        found, each = schedule.test(right, points), schedule.p_values(right, points)[0]
        assert each.min() <= found.p_value <= min(1.0, len(each) * each.min())
        assert found.at == each.argmin()


def test_a_test_rejects_exactly_the_counts_that_are_critical_at_its_level():
    schedule, gamma = Schedule.doubling(60), 0.05
    level = schedule.level(PURE, gamma)
    assert gamma / 4 < level < gamma
    critical = schedule.critical(level, PURE)
    assert (
        schedule.crossing(critical, 1.0) <= gamma < schedule.crossing(schedule.critical(1.1 * level, PURE), 1.0) * 1.5
    )
    rng = np.random.default_rng(1)
    for _ in range(50):
        right = (rng.random(60) < 0.85).cumsum()[np.array(schedule.guesses) - 1]
        rejected = schedule.test(right, PURE).p_value <= gamma
        assert rejected or not (right >= critical).any()


def test_the_grid_ends_below_the_first_point_that_is_not_rejected():
    for truth in (0.2, 0.999, 1.0, 1.5, 3.0):
        for union in (0.0, 0.5 * truth, 0.99 * truth):
            found = lower_bound(lambda e, truth=truth: e < truth, union, 1.0)
            assert min(truth / GRID**1.01, truth - 0.00501) <= found < truth
    assert lower_bound(lambda e: False, 0.0, 1.0) == 0.0
    assert lower_bound(lambda e: e < 1.0 or 1.2 < e < 2, 0.0, 1.0) < 1.0  # a rejected island is no bound
    assert 0.19 < lower_bound(lambda e: e < 0.2, 0.0, 0.0) < 0.2


def test_the_grid_does_not_depend_on_the_outcome():
    points = {lower_bound(lambda e, t=t: e < t, u, 1.0) for t in (1.7, 1.701) for u in (0.0, 0.3, 1.2, 1.69)}
    assert len(points) == 1


def test_the_largest_rejected_parameter():
    assert largest_rejected(lambda x: x < 2.5, 10.0) == pytest.approx(2.5, rel=1e-6)
    assert largest_rejected(lambda x: x < 2.5, 10.0) <= 2.5
    assert largest_rejected(lambda x: False, 10.0) == 0.0


def test_the_detectable_epsilon_is_detected_with_the_power():
    found = detectable_epsilon([50, 100], [51, 90], 0.95)
    assert binom.sf(89, 100, 1 / (1 + math.exp(-found))) == pytest.approx(0.95)
    assert math.isinf(detectable_epsilon([50], [51], 0.95))
    assert detectable_epsilon([50, 100], [45, 90], 0.95) <= found


def test_without_signal_nothing_is_rejected():
    schedule = Schedule.doubling(1000)
    right = np.array(schedule.guesses) // 2
    assert schedule.test(right, ClaimPoints.one(0.0, 0.0)).p_value > 0.3
    assert schedule.test(0 * right, PURE).p_value == 1.0
    assert float(epsilon_lower(0 * right, schedule.guesses, 0.05).max()) == 0.0
