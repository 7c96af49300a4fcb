"""Tuples of regions by how they label a few points, against a list of all tuples and the laws of listed simplices."""

from __future__ import annotations

from collections import Counter
from functools import reduce
from itertools import product
from operator import and_

import numpy as np
import pytest

from dpaudit.contract import InputError
from dpaudit.seeding import generator
from dpaudit_learners.regions.polytopes import (
    MAX_POINTS,
    SimplexSelect,
    SimplexUnion,
    TupleCounts,
    halfspace_family,
    simplex_family,
)


@pytest.mark.parametrize(("points", "components"), [(0, 2), (1, 3), (3, 3), (4, 2)])
def test_counts_and_ways_against_all_tuples(points: int, components: int) -> None:
    masks = generator(1, "masks", points).integers(0, 1 << points, 7)
    table = TupleCounts(masks, points, components)
    slow = Counter(reduce(and_, row) for row in product(masks.tolist(), repeat=components))
    assert table.counts.tolist() == [slow[s] for s in range(1 << points)]
    for target, more in product(range(1 << points), range(components)):
        for start, found in enumerate(table._ways(target, more).tolist()):
            listed = (reduce(and_, row, start) for row in product(masks.tolist(), repeat=more))
            assert found == sum(mask == target for mask in listed)


def test_tuples_are_drawn_uniformly() -> None:
    masks = np.array([7, 3, 6, 3, 2])
    table, size = TupleCounts(masks, 3, 2), 6000
    for target in (2, 3):
        all_of_them = [row for row in product(range(5), repeat=2) if masks[row[0]] & masks[row[1]] == target]
        drawn = Counter(map(tuple, table.draw(target, generator(2, "uniform", target), size).tolist()))
        assert set(drawn) == set(all_of_them)
        expected = size / len(all_of_them)
        # Chi squared over at most 15 tuples: above 45 with probability below 1e-4.
        assert sum((drawn[row] - expected) ** 2 / expected for row in all_of_them) < 45


def test_too_many_points_are_refused() -> None:
    with pytest.raises(InputError, match="distinct points"):
        TupleCounts(np.zeros(3, dtype=np.int64), MAX_POINTS + 1, 2)


def test_quadruples_over_the_cube_have_the_measures_of_the_listed_simplices() -> None:
    learner = SimplexSelect(1, 2.0)
    points = [[0, 0, 0], [1, 1, 0], [0, 1, 1], [1, 0, 1]]
    sample = learner.domain.sample(points, [1, 0, 1, 1], [2, 1, 1, 3])
    law = np.exp(learner.law(sample).log_prob)
    size = 4000
    drawn = learner._unlisted(sample, generator(3, "cube"), size)
    labels = simplex_family(1).labels
    place = {row.tobytes(): i for i, row in enumerate(labels)}
    halfspaces = halfspace_family(1).labels
    found = np.zeros(len(labels))
    for quadruple in drawn:
        assert list(quadruple) == sorted(quadruple)
        found[place[halfspaces[list(quadruple)].min(axis=0).astype(np.uint8).tobytes()]] += 1
    likely = law * size >= 8
    statistic = float(((found - law * size)[likely] ** 2 / (law * size)[likely]).sum())
    # A chi squared with that many degrees exceeds its mean by 6 deviations with probability below 1e-4.
    assert statistic <= likely.sum() + 6 * np.sqrt(2 * likely.sum())
    rest = size * float(law[~likely].sum())
    assert abs(found[~likely].sum() - rest) <= 5 * np.sqrt(rest) + 1


def test_a_grid_of_side_two_is_learned_without_a_list() -> None:
    learner = SimplexSelect(2, 6.0)
    target = ((learner.domain.points() >= 1).all(axis=1)).astype(int)
    rows = [0, 1, 4, 9, 13, 14, 17, 22, 25, 26]
    sample = learner.domain.sample(learner.domain.points()[rows], target[rows], [40] * len(rows))
    codes = learner.run(sample, generator(4, "two"), 20)
    errors = [sample.errors(learner.decode(code)) for code in codes]
    # Quadruples with an error have at most the share 5.4e13 e^(-120).
    assert errors == [0] * len(codes)
    assert len(set(codes)) > 1
    assert learner.utility(0.1, 0.1).sample_size > SimplexSelect(1, 6.0).utility(0.1, 0.1).sample_size


def test_unions_of_quadruples_follow_the_law_of_listed_simplices(monkeypatch: pytest.MonkeyPatch) -> None:
    # Over the cube both ways exist: what each quadruple labels 1 must have the law of the listed labelling.
    learner = SimplexUnion(1, 1, 4.0, 1e-6, 0.74, 0.2, "noiseless")
    points = [[0, 0, 0], [1, 1, 0], [0, 1, 1], [1, 0, 1]]
    sample = learner.domain.sample(points, [1, 0, 1, 1], [2, 1, 1, 3])
    law = learner.law(sample)
    size, labels = 600, halfspace_family(1).labels
    regions, place = simplex_family(1).labels, {}
    for i, row in enumerate(regions):
        place[row.tobytes()] = i
    rows, wanted, unwanted = np.array([0, 3, 5, 6]), np.array([2, 1, 3, 0]), np.array([0, 0, 0, 1])
    drawn = [learner._drawn_quadruples(rows, wanted, unwanted, generator(5, "union", i)) for i in range(size)]
    codes = Counter(
        sum(
            place[labels[list(part)].min(axis=0).astype(np.uint8).tobytes()] * len(regions) ** j
            for j, part in enumerate(output)
        )
        for output in drawn
    )
    probability = dict(zip(law.atoms, np.exp(law.log_prob).tolist(), strict=True))
    assert codes.keys() <= probability.keys()
    frequent = [code for code, p in probability.items() if p * size > 5]
    assert len(frequent) > 3
    # Chi squared over the frequent codes and the rest: beyond its mean by 6 deviations with probability below 1e-6.
    cells = [(codes[code], size * probability[code]) for code in frequent]
    rest = size - sum(expected for _, expected in cells)
    cells.append((size - sum(count for count, _ in cells), rest))
    statistic = sum((count - expected) ** 2 / expected for count, expected in cells)
    assert statistic < len(cells) + 6 * (2 * len(cells)) ** 0.5


def test_unions_over_the_larger_grid_cover_what_they_should() -> None:
    learner = SimplexUnion(2, 1, 1.0, 1e-6, 0.4, 0.1, "noiseless")
    points = learner.domain.points()[::3]
    labels = (points.sum(axis=1) <= 2).astype(int)
    sample = learner.domain.sample(points, labels, np.full(len(points), 10**4))
    (code,) = learner.run(sample, generator(6, "larger"), 1)
    assert len(code) == learner.rounds
    assert sample.errors(learner.decode(code)) <= learner.alpha * sample.n
    with pytest.raises(InputError, match="numbers of halfspaces below 2702"):
        learner.decode(((0, 1, 2, 2702),) * learner.rounds)
    whole = learner.domain.sample(learner.domain.points(), np.zeros(27, dtype=int))
    with pytest.raises(InputError, match="2\\^27 subsets"):
        learner.run(whole, generator(6, "larger"), 1)
    with pytest.raises(InputError, match="33,554,432 halfspaces to list"):
        SimplexUnion(3, 1, 1.0, 1e-6, 0.2, 0.1)
