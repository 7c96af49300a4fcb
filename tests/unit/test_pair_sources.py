"""Where pairs come from beside the crafted ones: patterns, chance, strategies, local search."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st

import dpaudit
from dpaudit.contract import Pair, Relation
from dpaudit.errors import InputError
from dpaudit.neighbours.check import are_neighbours
from dpaudit.neighbours.crafted import crafted_pairs
from dpaudit.neighbours.local import SampleMoves
from dpaudit.neighbours.patterns import query_patterns
from dpaudit.neighbours.sampled import pairs_from_strategy, random_pairs
from dpaudit.privacy.selection import Budget
from learners.domains import Cube, Interval


@pytest.mark.parametrize("dimension", [1, 2, 5, 10])
def test_patterns_move_every_answer_by_at_most_one(dimension: int) -> None:
    for every, number in ((True, 8), (False, 2)):
        pairs = query_patterns(dimension, every=every, level=3.0)
        assert len(pairs) <= number
        assert dimension == 1 or len(pairs) == number
        for pair in pairs:
            moved = np.abs(pair.data - pair.neighbour)
            assert 0 < moved.max() <= 1
            assert every or (moved > 0).sum() == 1
    with pytest.raises(InputError, match="dimension must be an integer >= 1, got 0"):
        query_patterns(0)


@pytest.mark.parametrize("relation", list(Relation))
def test_random_pairs_are_neighbours_and_repeatable(relation: Relation) -> None:
    pairs = random_pairs(Cube(2), 3, relation, count=20, seed=1)
    assert all(are_neighbours(pair.data, pair.neighbour, relation) for pair in pairs)
    assert pairs == random_pairs(Cube(2), 3, relation, count=20, seed=1)
    assert len(pairs) > 10


def test_strategies_make_repeatable_pairs() -> None:
    strategy = st.integers(0, 5).map(lambda i: (i, i + 1))
    pairs = pairs_from_strategy(strategy, count=5, seed=3)
    assert pairs
    assert pairs == pairs_from_strategy(strategy, count=5, seed=3)
    assert all(pair.neighbour == pair.data + 1 for pair in pairs)


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("domain", [Interval(5), Cube(3)])
def test_moves_keep_neighbours_neighbours(domain: Interval | Cube, relation: Relation) -> None:
    moves = SampleMoves(domain, 0)
    for index, pair in enumerate(crafted_pairs(domain, 4, relation)[::5]):
        found = moves(pair, index)
        assert found
        assert found == moves(pair, index)
        for near in found:
            assert near.data.n == pair.data.n
            assert near.neighbour.n == pair.neighbour.n
            assert (near.data, near.neighbour) != (pair.data, pair.neighbour)
            assert are_neighbours(near.data, near.neighbour, relation)


def test_the_budget_adds_up() -> None:
    for trials, pairs, local in ((10, 1, False), (1000, 1, True), (1000, 48, True), (777, 5, False)):
        budget = Budget.of(trials, pairs, local)
        assert budget.selection + budget.confirmation == trials * pairs
        assert min(budget.halving, budget.local) >= 0
        assert min(budget.training, budget.confirmation) >= 1


def test_crafted_pairs_are_varied() -> None:
    learner = dpaudit.get_learner("threshold-exponential", domain_size=8, epsilon=1.0)
    finding = dpaudit.audit_privacy(learner, n=4, trials=20_000)
    assert finding.pairs > len(crafted_pairs(learner.domain, 4))
    assert finding.budget["local"] > 0
    assert finding.epsilon_lower > 0.7


def test_a_given_list_is_not_searched_further() -> None:
    learner = dpaudit.get_learner("threshold-exponential", domain_size=4, epsilon=1.0)
    pairs = [Pair(p.data, p.neighbour, "mine") for p in crafted_pairs(learner.domain, 2)[:3]]
    finding = dpaudit.audit_privacy(learner, pairs, trials=2_000)
    assert finding.pairs == 3
    assert finding.budget["local"] == 0
    assert finding.origins == ("mine",) * 3
