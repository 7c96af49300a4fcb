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
from learners.regions.polytopes import MAX_POINTS, SimplexSelect, TupleCounts, halfspace_family, simplex_family


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
    drawn = learner._quadruples(sample, generator(3, "cube"), size)
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
