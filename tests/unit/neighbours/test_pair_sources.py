"""Sources of pairs beside the crafted ones: patterns, chance, strategies, local search."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from scipy.stats import chi2

import dpaudit
from dpaudit import certificates
from dpaudit.audit.request import Budget
from dpaudit.contract import Origin, OriginKind, Pair, Relation
from dpaudit.errors import InputError
from dpaudit.neighbours.check import are_neighbours
from dpaudit.neighbours.crafted import crafted_pairs
from dpaudit.neighbours.random_samples import random_pairs, sample_moves
from dpaudit.neighbours.sources import is_source, pairs_of_source, query_patterns
from dpaudit.neighbours.strategies import pairs_from_strategy
from dpaudit_learners.domains import Cube, Interval
from tests.support.grouped import grouped


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
    with pytest.raises(InputError, match="dimension must be an integer >= 1 and <= 1000000, got 0"):
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
def test_every_neighbour_is_drawn_equally_often(relation: Relation) -> None:
    # 2,000 draws of (sample, neighbour) of one example over 2 points. Given the sample each of its neighbours has equal
    # probability: a chi-square test at level 1e-6, by seed.
    pairs = [random_pairs(Interval(2), 1, relation, count=1, seed=seed)[0] for seed in range(2000)]
    counts = Counter((pair.data, pair.neighbour) for pair in pairs)
    datas = Counter(pair.data for pair in pairs)
    assert len(datas) == 4
    statistic, freedom = 0.0, 0
    for data, total in datas.items():
        near = list(data.neighbours(relation))
        assert {b for a, b in counts if a == data} == set(near)
        expected = total / len(near)
        statistic += sum((counts[data, other] - expected) ** 2 / expected for other in near)
        freedom += len(near) - 1
    assert chi2.sf(statistic, freedom) > 1e-6


def test_public_examples_stay_where_private_ones_change() -> None:
    pairs = random_pairs(Cube(2), 4, Relation.REPLACE_PRIVATE, count=30, seed=2)
    shares = [pair.data.public.mean() for pair in pairs if pair.data.public is not None]
    assert len(shares) == len(pairs)
    assert 0 < np.mean(shares) < 1
    assert all(not pair.data.public.all() for pair in pairs)


def test_a_removed_last_example_leaves_the_empty_sample() -> None:
    pairs = random_pairs(Interval(2), 1, Relation.ADD_REMOVE_ONE, count=60, seed=0)
    assert {pair.neighbour.n for pair in pairs} == {0, 2}


def test_random_pairs_over_a_large_domain_do_not_list_neighbours() -> None:
    # 2^17 points and 12 examples have 3 million neighbours each.
    pairs = random_pairs(Interval(2**17), 12, count=40)
    assert len(pairs) == 40
    with pytest.raises(InputError, match="can be listed"):
        random_pairs(Interval(10**12), 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 0}, "n must be an integer >= 1, got 0"),
        ({"n": True}, "n must be an integer >= 1, got True"),
        ({"n": 2.5}, "n must be an integer >= 1, got 2.5"),
        ({"n": 2, "count": 0}, "count must be an integer >= 1 and <= 100000, got 0"),
        ({"n": 2, "seed": -1}, "seed must be a non-negative integer, got -1"),
        ({"n": 2, "relation": "swap"}, "relation"),
    ],
)
def test_random_pairs_refuse_bad_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        random_pairs(Cube(1), **arguments)


def _broken(number: int) -> tuple[int, int]:
    raise ZeroDivisionError(number)


@pytest.mark.parametrize(
    ("strategy", "message"),
    [
        ([(0, 1)], "strategy must be a hypothesis strategy"),
        (st.integers(), r"strategy must make tuples \(data, neighbour\), got 0"),
        (st.nothing(), "strategy nothing"),
        (st.integers().map(_broken), "failed: ZeroDivisionError"),
    ],
)
def test_strategies_that_make_no_pairs_are_refused(strategy: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        pairs_from_strategy(strategy, count=3)


def test_sources_are_numbers_behind_a_word() -> None:
    sources = ("patterns:1", "random:20", "random:0", "random:5:3", "crafted", "crafted:3")
    assert all(map(is_source, sources))
    others = (
        "random",
        "random:",
        "random:x",
        "patterns:-1",
        "patterns:1:2",
        "crafted:3:4",
        "random:\u00b2",
        "mine:PAIRS",
    )
    assert not any(map(is_source, others))


def test_sources_make_the_same_pairs_as_their_functions() -> None:
    learner = dpaudit.pac.get_learner("threshold-exponential", domain_size=4, epsilon=1.0)
    example = learner.instance.n
    drawn = pairs_of_source("random:5", learner, seed=3)
    assert drawn == random_pairs(learner.domain, example, learner.privacy.relation, count=5, seed=3)
    more = pairs_of_source("random:5:2", learner, relation="add-remove-one", seed=3)
    assert more == random_pairs(learner.domain, 2, Relation.ADD_REMOVE_ONE, count=5, seed=3)
    assert pairs_of_source("crafted:2", learner) == crafted_pairs(learner.domain, 2, learner.privacy.relation)
    assert pairs_of_source("crafted", learner) == crafted_pairs(learner.domain, example, learner.privacy.relation)
    found = pairs_of_source("patterns:3", lambda data, rng: data)
    assert [pair.origin for pair in found] == [pair.origin for pair in query_patterns(3)]
    for text, mechanism, message in (
        ("random:5", lambda data, rng: data, "the mechanism given is no learner"),
        ("patterns:3", learner, "a learner takes samples"),
        ("random:0", learner, "count must be an integer >= 1"),
        ("patterns:0", print, "dimension must be an integer >= 1"),
        ("chance:3", learner, r"pairs must be .*patterns:DIMENSION, crafted:N or random:COUNT, got 'chance:3'"),
    ):
        with pytest.raises(InputError, match=message):
            pairs_of_source(text, mechanism)


def test_patterns_find_a_leak_that_one_answer_alone_does_not_show() -> None:
    def noisy(answers: Any, rng: np.random.Generator, size: int) -> Any:
        return answers + rng.laplace(scale=2.0, size=(size, len(answers)))

    # One answer moved costs 1/2, all four cost 2. False alarms have probability 1e-7; the bound on the eight patterns
    # is far above 1 (1.3 at this seed).
    options: dict[str, Any] = {"epsilon": 0.55, "trials": 4_000, "batched": True, "confidence": 1 - 1e-7}
    one = dpaudit.audit_privacy(noisy, dpaudit.query_patterns(4, every=False), **grouped(**options))
    every = dpaudit.audit_privacy(noisy, dpaudit.query_patterns(4), **grouped(**options))
    assert (one.verdict, every.verdict) == ("consistent", "violation")
    assert every.epsilon_lower > 1


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("domain", [Interval(5), Cube(3)])
def test_moves_keep_neighbours_neighbours(domain: Interval | Cube, relation: Relation) -> None:
    moves = partial(sample_moves, domain, 0)
    for index, pair in enumerate(crafted_pairs(domain, 4, relation)[::5]):
        found = moves(pair, index)
        assert found
        assert found == moves(pair, index)
        for near in found:
            assert near.data.n == pair.data.n
            assert near.neighbour.n == pair.neighbour.n
            assert (near.data, near.neighbour) != (pair.data, pair.neighbour)
            assert are_neighbours(near.data, near.neighbour, relation)
            # As the docstring says: examples go to landmarks, never to a point at random.
            known = {tuple(x) for s in (pair.data, pair.neighbour) for x in s.points.tolist()}
            known |= {tuple(x) for x in domain.landmarks().tolist()}
            assert all(tuple(x) in known for s in (near.data, near.neighbour) for x in s.points.tolist())


def test_the_budget_adds_up() -> None:
    for trials, pairs, local in ((10, 1, False), (1000, 1, True), (1000, 48, True), (777, 5, False)):
        budget = Budget.of(trials, pairs, local=local)
        assert budget.selection + budget.confirmation == trials
        assert min(budget.search, budget.local) >= 0
        assert min(budget.pilot, budget.training, budget.confirmation) >= 1


def test_crafted_pairs_are_varied() -> None:
    learner = dpaudit.pac.get_learner("threshold-exponential", domain_size=8, epsilon=1.0)
    finding = dpaudit.audit_privacy(learner, pairs="crafted:4", trials=200_000)
    assert finding.pairs > len(crafted_pairs(learner.domain, 4))
    assert finding.budget["local"] > 0
    assert finding.epsilon_lower > 0.7


def test_a_given_list_is_not_searched_further() -> None:
    learner = dpaudit.pac.get_learner("threshold-exponential", domain_size=4, epsilon=1.0)
    pairs = [Pair(p.data, p.neighbour, "mine") for p in crafted_pairs(learner.domain, 2)[:3]]
    finding = dpaudit.audit_privacy(learner, pairs, trials=2_000)
    assert finding.pairs == 3
    assert finding.budget["local"] == 0
    assert finding.origins == (Origin(text="mine"),) * 3


def test_a_strategy_stands_in_the_place_of_pairs() -> None:
    def counted(data: Any, rng: np.random.Generator) -> int:
        return len(data) + int(rng.geometric(0.9))

    strategy = st.lists(st.integers(0, 9), min_size=1, max_size=4).map(lambda data: (data, data[:-1]))
    finding = dpaudit.audit_privacy(counted, strategy, epsilon=0.5, trials=2_000, seed=3)
    listed = dpaudit.audit_privacy(counted, pairs_from_strategy(strategy, seed=3), epsilon=0.5, trials=2_000, seed=3)
    assert finding == listed
    assert {origin.kind for origin in finding.origins} == {OriginKind.STRATEGY}
    assert finding.verdict == "violation"
    made = certificates.make(finding, strategy, mechanism=counted)
    assert made.epsilon_lower > 0.5
    with pytest.raises(dpaudit.InputError, match="strategy must make tuples"):
        dpaudit.audit_privacy(counted, st.integers(), epsilon=0.5, trials=200)
