"""Labellings of the plane's grid by polynomials, against linear programs, halfspaces and discs; their learner."""

from __future__ import annotations

import itertools
import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from dpaudit.contract import InputError
from dpaudit.seeding import generator
from dpaudit_learners.domains import Grid
from dpaudit_learners.halfspaces.concepts import halfspace_dichotomies
from dpaudit_learners.regions.discs import disc_family
from dpaudit_learners.regions.polynomials import (
    Polynomial,
    Polynomials,
    PolynomialSelect,
    monomials,
    polynomial_family,
    powers,
    sign_patterns,
)


def separable(vectors: Any, labels: Any) -> bool:
    """Say whether some functional is positive on the vectors labelled 1 and negative on the others."""
    signs = np.where(np.asarray(labels) == 1, 1.0, -1.0)
    rows = -signs[:, None] * vectors
    found = linprog(np.zeros(vectors.shape[1]), A_ub=rows, b_ub=-np.ones(len(rows)), bounds=(None, None))
    return bool(found.status == 0)


@cache
def labellings(side: int, degree: int) -> list[tuple[int, ...]]:
    """Return all labellings of the grid that a linear program separates by monomials written out here."""
    grid = [(x, y) for x in range(side + 1) for y in range(side + 1)]
    exponents = [(i, j) for i in range(degree + 1) for j in range(degree + 1 - i)]
    lift = np.array([[float(x**i * y**j) for i, j in exponents] for x, y in grid])
    begun = itertools.product((0,), *[(0, 1)] * (len(grid) - 1))
    half = [labels for labels in begun if separable(lift, labels)]
    # Minus a functional that separates a labelling separates its complement.
    return half + [tuple(1 - label for label in labels) for labels in reversed(half)]


@pytest.mark.parametrize(("side", "degree"), [(1, 1), (1, 2), (2, 1), (2, 2)])
def test_they_are_the_labellings_that_linear_programs_separate(side: int, degree: int) -> None:
    assert [tuple(row) for row in polynomial_family(side, degree).labels.tolist()] == labellings(side, degree)


@pytest.mark.parametrize("side", [1, 2, 3, 4])
def test_degree_one_are_the_halfplanes(side: int) -> None:
    found = [tuple(row) for row in polynomial_family(side, 1).labels.tolist()]
    assert found == list(halfspace_dichotomies(Grid(side, 2).points()))


def test_no_labelling_is_missing_at_side_three() -> None:
    # Neighbours of known labellings, about half of them known; random conics; and all discs.
    labels, lift = polynomial_family(3, 2).labels, powers(Grid(3, 2).points(), 2).astype(float)
    known = {row.tobytes() for row in labels}
    rng = generator(0, "polynomials")
    outcomes = set()
    for row in labels[rng.choice(len(labels), 150)]:
        flipped = row.copy()
        flipped[rng.integers(len(row))] ^= 1
        outcomes.add(found := separable(lift, flipped))
        assert found == (flipped.tobytes() in known)
    assert outcomes == {True, False}
    conics = rng.normal(size=(5000, 6)) * [1, 1, 1, 3, 3, 9]
    assert all(row.tobytes() in known for row in (conics @ lift.T >= 0).astype(np.uint8))
    assert {row.tobytes() for row in disc_family(3).labels} < known


@pytest.mark.parametrize(("side", "degree"), [(2, 2), (2, 3), (3, 2)])
def test_each_polynomial_makes_its_labelling_and_is_zero_nowhere(side: int, degree: int) -> None:
    family, concepts = polynomial_family(side, degree), Polynomials(side, degree)
    grid = Grid(side, 2).points()
    values = powers(grid.astype(object), degree) @ np.array([row for (row,) in family.regions], dtype=object).T
    assert ((values.T > 0) == family.labels).all()
    assert (values != 0).all()
    assert len({row.tobytes() for row in family.labels}) == concepts.size
    assert (np.lexsort(family.labels.T[::-1]) == np.arange(len(family))).all()
    for code in range(0, concepts.size, 37):
        assert (concepts.concept(code).predict(grid) == concepts.evaluate(grid)[code]).all()
    # For every cubic the second differences in x of those in y vanish, and that is all: their signs are impossible.
    assert (side, degree) != (2, 3) or concepts.size == 2**9 - 2


@pytest.mark.parametrize("top", [3, 2**20, 2**31])
def test_sign_patterns_of_vectors_in_any_position(top: int) -> None:
    # Repeated, opposite and dependent vectors; large ones leave 64 bits behind.
    rng = np.random.default_rng(top)
    for dimension in (1, 2, 3):
        vectors = rng.integers(-top, top, (6, dimension))
        vectors[3], vectors[4] = 2 * vectors[0], -vectors[1]
        vectors[(vectors == 0).all(axis=1)] = 1
        patterns, functionals = sign_patterns(vectors)
        expected = [p for p in itertools.product((0, 1), repeat=6) if separable(vectors / top, p)]
        assert [tuple(p) for p in patterns.tolist()] == expected
        values = functionals.astype(object) @ vectors.astype(object).T
        assert ((values > 0) == patterns).all()
        assert (values != 0).all()
    assert len(sign_patterns(np.array([[1, 0], [0, 0]]))[0]) == 0


def test_the_law_is_the_softmax_over_what_linear_programs_separate() -> None:
    learner = PolynomialSelect(2, 0.7)
    rng = generator(1, "polynomial law")
    rows, labels, counts = rng.choice(9, 5), rng.integers(0, 2, 5), rng.integers(1, 4, 5)
    sample = learner.domain.sample(learner.domain.points()[rows], labels, counts)
    weights = []
    for candidate in labellings(2, 2):
        right = sum(int(c) for row, y, c in zip(rows, labels, counts, strict=True) if candidate[row] == y)
        weights.append(math.exp(0.35 * right))
    assert np.exp(learner.law(sample).log_prob) == pytest.approx(np.array(weights) / sum(weights), rel=1e-12)


def test_the_sample_size_is_that_of_its_class() -> None:
    learner = PolynomialSelect(2, 0.5)
    union, coins = 80 * math.log(422 * 20), 80 * math.log(422 * 20)
    assert learner.sample_size(0.1, 0.1) == math.ceil(max(union, coins)) == 724
    assert PolynomialSelect(2, 0.25).sample_size(0.1, 0.1) == math.ceil(2 * coins)


def test_polynomials_say_themselves() -> None:
    assert monomials(2) == [(2, 0), (1, 1), (0, 2), (1, 0), (0, 1), (0, 0)]
    assert str(Polynomial((1, -2, 0, 0, 3, -4), 2)) == "x^2 - 2 x y + 3 y - 4 >= 0"
    assert str(Polynomial((-1, 0, 5), 1)) == "-x + 5 >= 0"


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({"side": 0}, "side"),
        ({"side": 5}, "side"),
        ({"side": 4, "degree": 3}, "side"),
        ({"side": 7, "degree": 1}, "side"),
        ({"degree": 0}, "degree"),
        ({"degree": 4}, "degree"),
        ({"epsilon": 0.0}, "epsilon"),
    ],
)
def test_what_cannot_be_listed_is_refused(parameters: dict[str, Any], name: str) -> None:
    with pytest.raises(InputError, match=name):
        PolynomialSelect(**{"side": 2, "epsilon": 1.0, **parameters})
