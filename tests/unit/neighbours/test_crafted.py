"""Crafted pairs: neighbours all, distinct, and there for every domain and relation."""

from __future__ import annotations

import pytest

from dpaudit.contract import InputError, Pair, Relation
from dpaudit.neighbours.check import are_neighbours, check_pairs
from dpaudit.neighbours.crafted import crafted_pairs
from dpaudit_learners.domains import Cube, Grid, Interval


@pytest.mark.parametrize("domain", [Interval(2), Interval(2**64), Cube(1), Cube(6), Grid(3, 2)])
@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("n", [1, 2, 5, 10**12])
def test_every_crafted_pair_is_a_pair_of_neighbours(domain: Interval, relation: Relation, n: int) -> None:
    pairs = crafted_pairs(domain, n, relation, limit=None)
    assert pairs
    assert len({frozenset((p.data, p.neighbour)) for p in pairs}) == len(pairs)
    for pair in pairs:
        assert are_neighbours(pair.data, pair.neighbour, relation)
        assert are_neighbours(pair.neighbour, pair.data, relation)
        assert pair.data.n == n
        assert pair.origin.kind == "crafted"


def test_the_limit_spreads_over_all_pairs() -> None:
    everything = crafted_pairs(Cube(3), 6, Relation.REPLACE_ONE, limit=None)
    some = crafted_pairs(Cube(3), 6, Relation.REPLACE_ONE, limit=10)
    assert len(some) == 10
    assert some[0] == everything[0]
    assert everything.index(some[-1]) > 0.8 * len(everything)


def test_a_far_pair_is_refused() -> None:
    domain = Interval(3)
    near, far = domain.sample([0, 1], [0, 1]), domain.sample([2, 2], [0, 0])
    with pytest.raises(InputError, match="pair 0 is not a pair of neighbours under replace-one"):
        check_pairs([(near, far)], Relation.REPLACE_ONE)
    public, other = (
        domain.sample([0, 1], [0, 1], public=[True, False]),
        domain.sample([2, 1], [0, 1], public=[True, False]),
    )
    assert not are_neighbours(public, other, Relation.REPLACE_PRIVATE)
    assert are_neighbours(public, other, Relation.REPLACE_ONE)


def test_opaque_inputs_are_taken_as_they_are() -> None:
    assert check_pairs([("a", "b"), Pair(1, 2)], Relation.REPLACE_ONE) == [Pair("a", "b"), Pair(1, 2)]
    for bad, message in (
        ([], "at least one"),
        ([1], "pair 0 must be a tuple"),
        ([(1, 2, 3)], "pair 0 must be a tuple"),
    ):
        with pytest.raises(InputError, match=message):
            check_pairs(bad, None)


@pytest.mark.parametrize("n", [0, -1, 1.5, True])
def test_n_must_be_a_positive_integer(n: int) -> None:
    with pytest.raises(InputError, match="n must be an integer >= 1"):
        crafted_pairs(Interval(2), n)


def test_private_examples_come_in_all_numbers() -> None:
    # A learner may leak only where two or more examples are private.
    pairs = crafted_pairs(Interval(3), 5, Relation.REPLACE_PRIVATE)
    private = {int(pair.data.counts[~pair.data.public].sum()) for pair in pairs}
    assert private >= {1, 3, 5}
    assert all(are_neighbours(pair.data, pair.neighbour, Relation.REPLACE_PRIVATE) for pair in pairs)
