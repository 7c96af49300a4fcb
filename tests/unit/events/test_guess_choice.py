"""Guesses of coins: chosen against a simulation, planned numbers of hits, disjoint sets, and codes of batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import logit

import dpaudit
from dpaudit.bounds.coin import epsilon_lower
from dpaudit.bounds.limits import lower_limit
from dpaudit.contract import Direction
from dpaudit.events.coin_guesses import DATA, MOST, NEIGHBOUR, Guess, GuessCodes, choose_guesses
from dpaudit.events.discretizers import Identity
from dpaudit.events.event import CellSet
from dpaudit.events.expected_bound import PlannedTest
from dpaudit.events.prefixes import Prefixes, prefixes_by_counts
from dpaudit.events.selected import OrderedCells, SelectedEvent

GAMMA, CONFIRM = 0.05, 20_000
Ends = tuple[int, int]
TRAINED = {
    "strong": ([500, 300, 150, 50, 0], [100, 200, 400, 300, 0]),
    "weak": ([260, 250, 245, 245, 0], [240, 250, 255, 255, 0]),
    "one side": ([30, 320, 330, 320, 0], [0, 325, 340, 335, 0]),
    "few runs": ([9, 5, 4, 2, 0], [2, 5, 6, 7, 0]),
}


def all_ends(first: Prefixes, second: Prefixes) -> list[Ends]:
    """Return the lengths of both ends of all guesses whose sets are disjoint, but for the whole of the outputs."""
    lengths = range(len(first.order))
    pairs = ((i, j) for i in lengths for j in lengths if i + j)
    return [(i, j) for i, j in pairs if not set(first.order[:i]) & set(second.order[:j])]


def simulated(
    chosen: Sequence[Ends], orders: Sequence[Prefixes], sides: Sequence[NDArray[np.int64]], draws: int = 1_000
) -> NDArray[np.float64]:
    """Return draws of the bounds by guesses with each of 1 to `MOST` equal shares; shape (MOST, guesses, draws)."""
    rng = np.random.default_rng(1)
    data, neighbour = sides
    odds = logit(rng.beta(data + 0.5, neighbour + 0.5, (draws, len(data))))
    share = 1 / (1 + np.exp(-(odds - np.log((data.sum() + 0.5) / (neighbour.sum() + 0.5)))))
    hits = rng.multinomial(2 * CONFIRM, (data + neighbour) / (data.sum() + neighbour.sum()), draws)
    heads = rng.binomial(hits, share)
    found = []
    for i, j in chosen:
        ours, other = orders[0].order[:i], orders[1].order[:j]
        guesses = hits[:, ours].sum(axis=1) + hits[:, other].sum(axis=1)
        right = heads[:, ours].sum(axis=1) + (hits - heads)[:, other].sum(axis=1)
        levels = [np.maximum(lower_limit(right, np.maximum(guesses, 1), GAMMA / k), 0.5) for k in range(1, MOST + 1)]
        found.append(logit(levels))
    return np.array(found).transpose(1, 0, 2)


@pytest.mark.parametrize("name", TRAINED)
def test_the_guesses_are_nearly_the_best_of_all_by_simulation(name: str) -> None:
    sides = [np.array(side) for side in TRAINED[name]]
    orders = prefixes_by_counts(*sides, False)
    found = choose_guesses(*orders, *sides, PlannedTest(CONFIRM, 0, GAMMA))
    possible = all_ends(*orders)
    bounds = simulated(possible, orders, sides)
    k = round(1 / found[0][2])
    ours = [possible.index((i, j)) for i, j, *_ in found]
    value = bounds[k - 1, ours].max(axis=0).mean()
    best = max(
        float(bounds[number - 1, list(some)].max(axis=0).mean())
        for number in (1, 2)
        for some in combinations(range(len(possible)), number)
    )
    alone = bounds[0].mean(axis=1)
    assert value >= 0.97 * best
    assert alone.min() < 0.9 * best  # which a choice at random would not reach


def test_the_mass_and_the_share_that_is_right_are_those_of_training() -> None:
    x, y = (np.array(side) for side in TRAINED["strong"])
    first, second = prefixes_by_counts(x, y, False)
    for i, j, share, mass, right in choose_guesses(first, second, x, y, PlannedTest(CONFIRM, 0, GAMMA)):
        ours, other = first.order[:i], second.order[:j]
        met = x[ours].sum() + y[ours].sum() + x[other].sum() + y[other].sum()
        assert mass == pytest.approx(met / 2_000)
        assert right == pytest.approx((x[ours].sum() + y[other].sum()) / met, abs=0.01)
        assert 1 / share == round(1 / share) <= MOST


counts = st.lists(st.tuples(st.integers(0, 300), st.integers(0, 300)), min_size=1, max_size=40)


def guessed(cells: list[tuple[int, int]], careful: bool) -> SelectedEvent:
    """Return the guesses that are chosen from training counts by cell, cell 0 having some on both sides."""
    training = tuple(Counter({cell: one[side] for cell, one in enumerate([(5, 4), *cells])}) for side in (0, 1))
    families = OrderedCells.of(Identity(), training, careful=careful)
    test = PlannedTest(1_000, 0, GAMMA)
    return families.guessed(families.best(test), test, MOST)


@given(counts, st.booleans())
@settings(max_examples=60, deadline=None)
def test_no_output_speaks_for_both_sides(cells: list[tuple[int, int]], careful: bool) -> None:
    selected = guessed(cells, careful)
    assert 1 <= len(selected.guesses) <= MOST
    assert sum(one.share for one in selected.guesses) <= 1 + 1e-12
    for guess in selected.guesses:
        assert 0 < guess.mass <= 1 + 1e-12
        for cell in range(-1, len(cells) + 3):  # some of which training never saw
            both = guess.event.has(cell) + (guess.opposite is not None and guess.opposite.has(cell))
            assert both <= 1
            assert (guess.code(cell) != 0) == (both == 1)


@given(counts, st.lists(st.integers(-3, 50), min_size=1, max_size=200), st.booleans())
@settings(max_examples=40, deadline=None)
def test_codes_of_a_batch_are_those_of_its_cells(cells: list[tuple[int, int]], batch: list[int], wide: bool) -> None:
    guesses = guessed(cells, False).guesses
    made = [10**12 if wide and cell == 50 else cell for cell in batch]
    expected = [sum(guess.code(cell) << 2 * i for i, guess in enumerate(guesses)) for cell in made]
    for outputs in (np.array(made), made):
        tally, codes = GuessCodes(guesses)(outputs)
        assert tally == Counter(made)
        assert codes.tolist() == expected


def test_the_code_of_a_cell_is_the_side_that_it_speaks_for() -> None:
    one, two = CellSet(frozenset({1}), frozenset({2, 3}), False), CellSet(frozenset({2}), frozenset({1, 3}), False)
    forward = Guess(one, two, Direction.FORWARD, 1.0, 0.5, 0.5)
    assert [forward.code(cell) for cell in (1, 2, 3, 4)] == [DATA, NEIGHBOUR, 0, 0]
    backward = Guess(one, None, Direction.BACKWARD, 1.0, 0.5, 0.5)
    assert [backward.code(cell) for cell in (1, 2, 3, 4)] == [NEIGHBOUR, 0, 0, 0]


# --- N0: how many hits are counted ------------------------------------------------------------------------------------


def refuting(guess: Guess, runs: int, trained: int, epsilon: float, number: int, draws: int = 20_000) -> float:
    """Return how often the first `number` hits refute a claim, by a simulation of training and of fresh runs."""
    rng = np.random.default_rng(2)
    met = trained * guess.mass
    mass = rng.beta(met, trained - met + 1e-9, draws)
    right = rng.beta(met * guess.right + 0.5, met * (1 - guess.right) + 0.5, draws)
    counted = np.minimum(rng.binomial(runs, mass), number)
    found = rng.binomial(counted, right) + rng.binomial(number - counted, 0.5)
    least = int(np.argmax(epsilon_lower(np.arange(number + 1), number, GAMMA) > epsilon)) or number + 1
    return float((found >= least).mean())


@pytest.mark.parametrize(
    ("mass", "right", "runs", "trained", "epsilon"),
    [
        (0.4, 0.75, 2_000, 2_000, 1.0),
        (0.05, 0.8, 2_000, 1_000, 1.0),
        (0.01, 0.9, 4_000, 1_000, 1.0),
        (0.002, 0.99, 20_000, 5_000, 2.0),
        (1.0, 0.6, 300, 100, 0.1),
    ],
)
def test_the_planned_number_refutes_about_as_often_as_the_best_one(
    mass: float, right: float, runs: int, trained: int, epsilon: float
) -> None:
    guess = Guess(CellSet(frozenset({1}), frozenset(), False), None, Direction.FORWARD, 1.0, mass, right)
    found = guess.planned(runs, trained, GAMMA, epsilon)
    tried = sorted({int(n) for n in np.linspace(0.3, 1.6, 27) * runs * mass} & set(range(1, runs + 1)))
    powers = [refuting(guess, runs, trained, epsilon, n) for n in tried]
    assert 0.05 < max(powers)
    assert refuting(guess, runs, trained, epsilon, found) >= max(powers) - 0.05


def test_of_a_guess_that_always_speaks_all_runs_are_counted() -> None:
    guess = Guess(CellSet(frozenset({1}), frozenset(), True), None, Direction.FORWARD, 1.0, 1.0, 0.7)
    assert guess.planned(500, 10_000, GAMMA, 0.5) == 500


# --- audits -----------------------------------------------------------------------------------------------------------


def laplace(data: float, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
    return data + rng.laplace(size=size)


def test_the_tests_share_the_error_and_the_best_is_the_witness() -> None:
    findings = [
        dpaudit.audit_privacy(laplace, [(0.0, 1.0)], epsilon=1.0, trials=20_000, batched=True, seed=seed)
        for seed in range(6)
    ]
    assert any(len(finding.tests) > 1 for finding in findings)
    for finding in findings:
        assert finding.bound == "coin"
        assert sum(test.error for test in finding.tests) <= finding.errors["verdict"] * (1 + 1e-12)
        best = max(finding.tests, key=lambda test: test.epsilon_lower)
        assert finding.epsilon_lower == best.epsilon_lower
        for name in ("event", "hits", "neighbour_hits", "opposite", "count"):
            assert getattr(finding.witness, name) == getattr(best, name)
        found = finding.witness
        assert found.trials is not None
        assert found.neighbour_trials is not None
        assert found.trials + found.neighbour_trials == 2 * finding.confirmation_trials
        for test in finding.tests:
            assert test.count
            share = lower_limit(test.count.right, test.count.guesses, test.error)
            assert test.epsilon_lower == pytest.approx(max(0.0, float(logit(share))), rel=1e-6)


def coin(x: int, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
    return (rng.random(size) < (0.5, 0.6)[x]).astype(np.int64)


def test_a_second_opinion_that_is_the_best_event_takes_no_error() -> None:
    # ln(0.6 / 0.5) is 0.18, which is not expected to refute 0.2, but might.
    finding = dpaudit.audit_privacy(coin, [(0, 1)], epsilon=0.2, trials=20_000, batched=True)
    assert sum(test.error for test in finding.tests) == pytest.approx(0.001)
