"""All halfspace labellings, against linear programs over all labellings."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from dpaudit.contract import InputError
from dpaudit_learners.domains import Grid
from dpaudit_learners.halfspaces.concepts import Halfspace, Halfspaces, grid_halfspaces, halfspace_dichotomies


def by_linear_programs(points: np.ndarray) -> set[tuple[int, ...]]:
    found = set()
    for labels in itertools.product((0, 1), repeat=len(points)):
        signs = 2 * np.array(labels) - 1
        rows = -signs[:, None] * np.column_stack([points, -np.ones(len(points))])
        program = linprog(np.zeros(rows.shape[1]), A_ub=rows, b_ub=-np.ones(len(rows)), bounds=(None, None))
        if program.status == 0:
            found.add(labels)
    return found


def test_exactly_the_separable_labellings_are_found() -> None:
    rng = np.random.default_rng(1)
    cases = [Grid(1, 3).points()[:6], Grid(2, 2).points()[:7]]
    for dimension in (1, 2, 3):
        for _ in range(3):
            cases.append(np.unique(rng.integers(0, 4, (6, dimension)), axis=0))
    cases += [
        np.array([[0, 0], [1, 1], [2, 2], [5, 5]]),
        np.array([[1, 2, 3]]),
        np.array([[0, 0, 1], [2, 0, 1], [1, 1, 1]]),
    ]
    for points in cases:
        found = halfspace_dichotomies(points)
        assert set(found) == by_linear_programs(points)
        for labels, (*w, t) in found.items():
            heights = points @ np.array(w) - t
            assert (heights != 0).all()
            assert ((heights > 0) == np.array(labels)).all()


@pytest.mark.parametrize(
    ("side", "dimension", "size"), [(1, 1, 4), (3, 1, 8), (1, 2, 14), (2, 2, 58), (3, 2, 174), (1, 3, 104)]
)
def test_sizes_are_known(side: int, dimension: int, size: int) -> None:
    assert Halfspaces(side, dimension).size == size <= 2 * (side + 1) ** (dimension * (dimension + 1))


def test_concepts_predict_what_the_class_evaluates() -> None:
    concepts = Halfspaces(2, 2)
    points = concepts.domain.points()[::-1]
    table = concepts.evaluate(points)
    for code in range(concepts.size):
        assert (concepts.concept(code).predict(points) == table[code]).all()
    assert str(Halfspace((1, -2), 3)) == "x1 - 2 x2 >= 3"
    huge = np.array([[2**70, 1]], dtype=object)
    assert Halfspace((1, 0), 2**70).predict(huge).tolist() == [1]


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match="points"):
        halfspace_dichotomies([])
    with pytest.raises(InputError, match="dimension must be"):
        grid_halfspaces(1, 4)
    with pytest.raises(InputError, match="more than"):
        grid_halfspaces(60, 2)
