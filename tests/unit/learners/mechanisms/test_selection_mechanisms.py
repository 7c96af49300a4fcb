"""Composition, stable selection and choosing: closed forms, exact privacy, and their limits."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpaudit.contract import InputError
from dpaudit_learners.interior_points.controls import AlwaysStable, BareStable, WrongStable
from dpaudit_learners.mechanisms.composition import Cost, advanced, basic, best, largest_share
from dpaudit_learners.mechanisms.stable_select import StableSelect, Standing, standing_of_intervals, standing_of_values
from dpaudit_learners.mechanisms.steps import Steps
from dpaudit_learners.mechanisms.tree_log import Choosing

F = Fraction


def hockey_stick(p: dict[Any, float], q: dict[Any, float], epsilon: float) -> float:
    return math.fsum(max(0.0, p[o] - math.exp(epsilon) * q.get(o, 0.0)) for o in p)


def test_basic_composition_adds_exactly() -> None:
    share = F(0.3) / 7
    assert basic([Cost(share, F(0.01) / 7)] * 7) == Cost(F(0.3), F(0.01))
    assert float(basic([Cost(share)] * 7).epsilon) == 0.3
    assert basic([]) == Cost(F(0), F(0))


@pytest.mark.parametrize(("k", "epsilon", "slack"), [(1, 0.5, 0.1), (10, 0.1, 1e-3), (50, 0.05, 1e-6), (20, 1.0, 0.01)])
def test_advanced_composition_holds_for_randomised_response(k: int, epsilon: float, slack: float) -> None:
    # k randomised responses are the worst pure calls; their hockey-stick divergence is a sum of binomial terms.
    cost = advanced([Cost(F(epsilon))] * k, slack)
    p = 1 / (1 + math.exp(-epsilon))
    left = {i: math.comb(k, i) * p**i * (1 - p) ** (k - i) for i in range(k + 1)}
    right = {i: math.comb(k, i) * p ** (k - i) * (1 - p) ** i for i in range(k + 1)}
    assert hockey_stick(left, right, float(cost.epsilon)) <= slack
    assert cost.delta == F(slack)
    # A tenth of it would be too little for many calls: the bound is no triviality.
    if k >= 10:
        assert hockey_stick(left, right, float(cost.epsilon) / 10) > slack


def test_the_better_composition_is_taken_and_the_budget_is_filled() -> None:
    def calls(e: Fraction) -> list[Cost]:
        return [Cost(e)] * 200

    few, many = [Cost(F(1))] * 2, calls(F(1, 100))
    assert best(few, 1e-6) == basic(few)
    assert best(many) == basic(many)
    assert best(many, 1e-6) == advanced(many, 1e-6) != basic(many)
    share = largest_share(F(1), 1e-6, calls)
    assert share > F(1, 200)
    assert F(99, 100) < best(calls(share), 1e-6).epsilon <= 1
    assert largest_share(F(1), 0, calls) == F(1, 200)
    with pytest.raises(InputError, match="slack"):
        advanced(many, 0.0)


def test_group_privacy_is_a_chain_of_neighbours() -> None:
    cost = Cost(F(1, 2), F(1, 100)).for_group(3)
    assert cost.epsilon == F(3, 2)
    assert float(cost.delta) == pytest.approx(0.01 * (1 + math.exp(0.5) + math.exp(1)), rel=1e-12)
    assert Cost(F(1, 2)).for_group(2) == Cost(F(1), F(0))


def stable_law(select: StableSelect, best_one: str, gap: float) -> dict[str, float]:
    named, none, error = select.log_law(Standing(0, gap))  # type: ignore[arg-type]  # gaps are whole, but the law is of any
    assert 0 <= error < 1e-12
    return {best_one: math.exp(named), "none": math.exp(none)}


def stable_violation(select: StableSelect) -> float:
    """Return by how much delta at epsilon exceeds the claim, over all that neighbours can do to the gap."""
    epsilon, worst = float(select.epsilon), -1.0
    gaps = np.linspace(0, 2 * select.gap_needed(1e-3), 400)
    for gap in gaps:
        for other in (gap - 2, gap - 1, gap + 1, gap + 2):
            if other >= 0:
                p, q = stable_law(select, "h", gap), stable_law(select, "h", other)
                worst = max(worst, hockey_stick(p, q, epsilon))
    for gap, other in itertools.product((0.0, 1.0, 2.0), repeat=2):
        worst = max(worst, hockey_stick(stable_law(select, "h", gap), stable_law(select, "g", other), epsilon))
    return worst - float(select.delta)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("delta", [1e-6, 0.01, 0.5])
def test_stable_selection_keeps_its_claim_and_is_tight(epsilon: float, delta: float) -> None:
    select = StableSelect(F(epsilon), F(delta))
    assert stable_violation(select) == pytest.approx(0, abs=1e-9 * delta + 1e-15)
    # Named with probability exactly delta at the greatest gap at which another one may be best next door.
    assert stable_law(select, "h", 2.0)["h"] == pytest.approx(delta, rel=1e-12)
    assert math.exp(select.log_law(Standing(0, select.gap_needed(0.05)))[1]) == pytest.approx(0.05, rel=1e-9)  # type: ignore[arg-type]  # gaps are whole, but the law is of any


@pytest.mark.parametrize("broken", [WrongStable, BareStable, AlwaysStable])
def test_wrong_calibrations_break_the_claim(broken: type[StableSelect]) -> None:
    assert stable_violation(broken(F(1), F(1, 100))) > 0.1


def test_the_wrong_calibration_leaks_twice_epsilon_and_the_stated_delta() -> None:
    # Neighbours far below the threshold: named with probabilities e^(2 epsilon) apart; at gap 2 with delta e^(2 eps)/2.
    wrong = WrongStable(F(1), F(1, 1000))
    low, high = stable_law(wrong, "h", 1.0)["h"], stable_law(wrong, "h", 3.0)["h"]
    assert math.log(high / low) == pytest.approx(2, abs=1e-9)
    assert stable_law(wrong, "h", 2.0)["h"] == pytest.approx(1e-3 * math.exp(2) / 2, rel=1e-9)


def test_a_single_solution_is_always_named() -> None:
    select = StableSelect(F(1), F(1, 100))
    rng = np.random.default_rng(0)
    assert select.draw(Standing(0, None), rng, 5).all()
    assert select.log_law(Standing(0, None)) == (0.0, -math.inf, 0.0)


def test_standing_has_a_fixed_tie_break_and_counts_unlisted_solutions() -> None:
    assert standing_of_values([3, 5, 5]) == Standing(1, 0)
    assert standing_of_values([7, 5, 6]) == Standing(0, 1)
    assert standing_of_values([7]) == Standing(0, None)
    assert standing_of_values([7], others=True) == Standing(0, 7)


def test_standing_of_intervals_against_listing_them() -> None:
    rng = np.random.default_rng(3)
    for _ in range(300):
        size = int(rng.integers(1, 30))
        values = rng.integers(-3, 4, size).tolist()
        score = Steps.of_values(values)
        length, shift = int(rng.integers(1, 12)), int(rng.integers(0, 12))
        cells: dict[int, int] = {}
        for x, v in enumerate(values):
            i = (x + shift) // length
            cells[i] = max(cells.get(i, v), v)
        order = sorted(cells, key=lambda i: (-cells[i], i))
        gap = cells[order[0]] - cells[order[1]] if len(order) > 1 else None
        assert standing_of_intervals(score, length, shift) == Standing(order[0], gap)


def choosing_law(choosing: Choosing, scores: dict[str, int]) -> dict[Any, float]:
    logs, nothing, error = choosing.log_law(scores)
    assert error < 1e-10
    law: dict[Any, float] = dict(zip(scores, np.exp(logs), strict=True))
    law[None] = math.exp(nothing)
    assert math.fsum(law.values()) == pytest.approx(1, abs=1e-12)
    return law


@pytest.mark.parametrize(("epsilon", "delta", "growth"), [(1.0, 0.01, 2), (4.0, 0.2, 1), (8.0, 0.4, 3)])
def test_choosing_keeps_its_claim_on_scores_around_its_threshold(epsilon: float, delta: float, growth: int) -> None:
    choosing = Choosing(F(epsilon), F(delta), growth)
    t = round(choosing.threshold)
    joining = [f"n{i}" for i in range(growth)]
    leaving = [f"l{i}" for i in range(growth)]
    worst = 0.0
    for top in {1, 2, t - 2, t - 1, t, t + 1, t + 2, 2 * t}:
        if top < 1:
            continue
        left = {"a": top, "b": max(1, top - 1), **dict.fromkeys(leaving, 1)}
        for da, db in itertools.product((-1, 0, 1), repeat=2):
            moved = {"a": left["a"] + da, "b": left["b"] + db}
            right = {**{f: v for f, v in moved.items() if v >= 1}, **dict.fromkeys(joining, 1)}
            p, q = choosing_law(choosing, left), choosing_law(choosing, right)
            for one, two in ((p, q), (q, p)):
                worst = max(worst, hockey_stick(one, two, epsilon))
    assert worst <= delta
    # With many more solutions joining than the stated growth the claim fails, so the bound is not idle.
    crowd = {"a": t + 2, **{f"c{i}": 1 for i in range(10**5)}}
    p = choosing_law(choosing, crowd)
    assert hockey_stick(p, choosing_law(choosing, {"a": t + 2}), epsilon) > delta


def test_choosing_draws_what_its_law_says() -> None:
    choosing = Choosing(F(4), F(1, 5), 1)
    scores: dict[Any, int] = {"a": 5, "b": 4, "c": 1}
    law = choosing_law(choosing, scores)
    drawn = choosing.draw(scores, np.random.default_rng(5), 20_000)
    for outcome, probability in law.items():
        # Seven standard deviations: false-alarm rate below 1e-11.
        assert abs(drawn.count(outcome) - 20_000 * probability) <= 7 * math.sqrt(20_000 * probability) + 1
    assert choosing.draw({}, np.random.default_rng(0), 3) == [None] * 3


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: StableSelect(F(1), F(0)), "delta"),
        (lambda: StableSelect(F(1), F(3, 4)), "delta"),
        (lambda: StableSelect(F(0), F(1, 4)), "epsilon"),
        (lambda: Choosing(F(1), F(1, 4), 0), "growth"),
        (lambda: Choosing(F(-1), F(1, 4), 1), "epsilon"),
    ],
)
def test_bad_parameters_are_refused_by_name(make: Any, name: str) -> None:
    with pytest.raises(InputError, match=name):
        make()
