"""Neighbouring samples drawn at random over a domain, and random variations of a pair of samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dpaudit import seeding
from dpaudit.arguments import read_integer
from dpaudit.contract import Domain, Origin, OriginKind, Pair, Relation, Sample
from dpaudit.neighbours.check import Example, as_multiset, sample_of

# All pairs are held in memory, and each is run.
MOST_PAIRS = 100_000
# The most variations of a pair in one step of a local search.
PROPOSALS = 6


def random_pairs(
    domain: Domain, n: int, relation: Relation | str = Relation.REPLACE_ONE, *, count: int = 16, seed: int = 0
) -> list[Pair]:
    """Return pairs of neighbouring samples: n uniform examples over the domain, then a uniform neighbour.

    Parameters
    ----------
    domain : Domain
        The domain of the points; it is listed.
    n : int
        Examples in the first sample.
    relation : Relation
        The relation of neighbours. Under REPLACE_PRIVATE each example but the first is public with probability 1/2.
    count : int
        The number of pairs drawn, at most 100,000; repeated ones, whichever way round, are dropped.
    seed : int
        The root seed.

    Returns
    -------
    list of Pair
        At least one; at most `count`, in a fixed order.

    Raises
    ------
    InputError
        If `n` or `count` is no integer >= 1, `count` is too large, or the domain is too large to list.
    """
    relation = Relation.parse(relation)
    seeding.check_seed(seed)
    n = read_integer("n", n)
    count = read_integer("count", count, most=MOST_PAIRS)
    points = domain.points()
    found: dict[frozenset[Sample], Pair] = {}
    for i in range(count):
        rng = seeding.generator(seed, "random pairs", i)
        rows = rng.integers(len(points), size=n)
        labels = rng.integers(2, size=n)
        public = None
        if relation is Relation.REPLACE_PRIVATE:
            # One example must be private: only such may change.
            public = [False, *(rng.random(n - 1) < 0.5).tolist()]
        data = domain.sample(points[rows], labels, public=public)
        neighbour = _neighbour(domain, points, data, relation, rng)
        made = Pair(data, neighbour, Origin(OriginKind.RANDOM, f"number {i}"))
        found.setdefault(frozenset((data, neighbour)), made)
    return list(found.values())


def _neighbour(
    domain: Domain, points: NDArray[np.integer], data: Sample, relation: Relation, rng: np.random.Generator
) -> Sample:
    """Return one of the neighbours, all equally likely, without listing them."""

    # Two labels for each point.
    def example(index: int) -> Example:
        return tuple(points[index // 2].tolist()), index % 2, False

    rows = as_multiset(data)
    private = relation is Relation.REPLACE_PRIVATE
    removable = sorted(row for row in rows if not (row[2] and private))
    universe = 2 * len(points)
    if relation is Relation.ADD_REMOVE_ONE:
        drawn = int(rng.integers(universe + len(removable)))
        if drawn < universe:
            rows[example(drawn)] += 1
        else:
            rows[removable[drawn - universe]] -= 1
    else:
        out = removable[int(rng.integers(len(removable)))]
        into = out
        # Drawn until it differs, which keeps all other examples equally likely.
        while into == out:
            into = example(int(rng.integers(universe)))
        rows.update({out: -1, into: 1})
    return sample_of(rows, domain, private)


def sample_moves(domain: Domain, seed: int, pair: Pair, step: int) -> list[Pair]:
    """Return up to `PROPOSALS` distinct pairs near a pair of samples: neighbours still, of as many examples.

    A move changes the same examples on both sides: it takes one, half or all copies of one shared example to a
    landmark, or flips their labels; or it does so with one of the examples in which the two sides differ. The proposals
    are a function of the root seed, the step and the pair.
    """
    rng = seeding.generator(seed, "local search", step)
    origin = replace(pair.origin, moves=pair.origin.moves + 1)
    found: dict[tuple[Sample, Sample], Pair] = {}
    for data, neighbour in _moved_samples(domain, pair, rng):
        if data != neighbour and (data, neighbour) != (pair.data, pair.neighbour):
            found.setdefault((data, neighbour), Pair(data, neighbour, origin))
    return list(found.values())[:PROPOSALS]


def _moved_samples(domain: Domain, pair: Pair, rng: np.random.Generator) -> Iterator[tuple[Sample, Sample]]:
    first = as_multiset(pair.data)
    second = as_multiset(pair.neighbour)
    flagged = pair.data.public is not None
    # Some moves change nothing or repeat another, so that more are drawn than are returned.
    for _ in range(4 * PROPOSALS):
        shared = first & second
        sides = [first - shared, second - shared]
        if shared and rng.random() < 0.7:
            _move(shared, domain, rng, several=True)
        else:
            _move(sides[int(rng.integers(2))], domain, rng, several=False)
        data, neighbour = (sample_of(shared + side, domain, flagged) for side in sides)
        yield data, neighbour


def _move(rows: Counter[Example], domain: Domain, rng: np.random.Generator, *, several: bool) -> None:
    """Replace one copy of one example, or half or all of them if `several` may go."""
    if not rows:
        return
    example = sorted(rows)[int(rng.integers(len(rows)))]
    count = rows[example]
    moved = 1
    if several:
        moved = int(rng.choice([1, max(1, count // 2), count]))
    point, label, public = example
    marks = domain.landmarks()
    target = point
    if rng.random() < 0.6:
        target = tuple(marks[int(rng.integers(len(marks)))].tolist())
    if target == point or rng.random() < 0.3:
        label = 1 - label
    rows[example] -= moved
    rows[(target, label, public)] += moved
