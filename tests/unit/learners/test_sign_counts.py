"""The number of sign patterns, counted without a list, beside the lists of families and of patterns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpaudit.contract import InputError
from dpaudit.registry import get_learner
from dpaudit_learners.domains import Grid
from dpaudit_learners.geometry.sign_counts import count_sign_patterns
from dpaudit_learners.halfspaces.concepts import grid_halfspaces, halfspace_count
from dpaudit_learners.regions import polytopes
from dpaudit_learners.regions.concepts import ConvexPolygons, PolygonUnions
from dpaudit_learners.regions.discs import disc_count, disc_family
from dpaudit_learners.regions.families import halfplane_count, halfplane_family, halfplane_masks, masks_of
from dpaudit_learners.regions.polynomials import polynomial_count, polynomial_family, powers, sign_patterns
from dpaudit_learners.regions.polytopes import Polytopes, SimplexUnions, simplex_count, simplex_family


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("count", [1, 3, 6, 9])
@pytest.mark.parametrize("most", [1, 3, 40])
def test_as_many_as_are_listed(width: int, count: int, most: int) -> None:
    rng = np.random.default_rng([width, count, most])
    vectors = rng.integers(-most, most + 1, (count, width))
    vectors[~vectors.any(axis=1), 0] = 1
    assert count_sign_patterns(vectors) == len(sign_patterns(vectors)[0])


def test_vectors_that_repeat_point_backwards_or_do_not_span() -> None:
    vectors = np.array([[1, 2, 3, 0], [-2, -4, -6, 0], [0, 1, 1, 0], [1, 3, 4, 0], [1, 2, 3, 0], [5, 0, 1, 0]])
    assert count_sign_patterns(vectors) == len(sign_patterns(vectors)[0]) == 12


def test_a_vector_that_is_zero_leaves_no_pattern() -> None:
    assert count_sign_patterns([[1, 2], [0, 0]]) == len(sign_patterns([[1, 2], [0, 0]])[0]) == 0


def test_integers_whose_products_pass_64_bits() -> None:
    vectors = np.random.default_rng(0).integers(-(2**40), 2**40, (8, 4))
    # In general position: 2 sum_(i < 4) C(7, i).
    assert count_sign_patterns(vectors) == 2 * (1 + 7 + 21 + 35)
    # The last two directions differ by less than floating-point numbers show.
    near = [[2**60, 2**60 + 1], [2**60 + 1, 2**60 + 2], [1, 0]]
    assert count_sign_patterns(near) == 6


def test_scaling_a_vector_changes_nothing() -> None:
    vectors = powers(Grid(2, 2).points(), 2)
    scaled = vectors * np.arange(1, len(vectors) + 1)[:, None] * 10**8
    assert count_sign_patterns(scaled) == count_sign_patterns(vectors) == 422


@pytest.mark.parametrize(("degree", "sides"), [(1, 5), (2, 3), (3, 2)])
def test_polynomials(degree: int, sides: int) -> None:
    for side in range(1, sides + 1):
        assert polynomial_count(side, degree) == len(polynomial_family(side, degree))


def test_discs() -> None:
    for side in range(1, 6):
        assert disc_count(side) == len(disc_family(side))


@pytest.mark.parametrize(("dimension", "sides"), [(1, 12), (2, 5), (3, 1)])
def test_halfspaces(dimension: int, sides: int) -> None:
    for side in range(1, sides + 1):
        assert halfspace_count(side, dimension) == len(grid_halfspaces(side, dimension)[0])


@pytest.mark.parametrize("concepts", [
    *(ConvexPolygons(side, k) for side in (1, 2, 3) for k in (1, 2, 3, 4)), ConvexPolygons(8, 1),
    *(Polytopes(1, k) for k in (1, 2, 3, 4, 5)), PolygonUnions(1, 2), PolygonUnions(2, 2), SimplexUnions(1, 2),
], ids=str)  # fmt: skip
def test_intersections_and_unions_of_members(concepts: Any) -> None:
    assert concepts.size == len(concepts._regions.family)


def test_joins_that_are_too_many_are_refused_before_members_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polytopes, "grid_halfspaces", None)
    for _ in range(2):
        with pytest.raises(InputError, match="joining 2702 with 2702 labellings"):
            _ = Polytopes(2, 2).size
        with pytest.raises(InputError, match="joining 2702 with 2702 labellings"):
            Polytopes(2, 2).evaluate(np.zeros((1, 3), dtype=int))


@pytest.mark.parametrize("side", [1, 2, 3, 4, 5])
def test_halfplanes(side: int) -> None:
    masks = halfplane_masks(side).tolist()
    assert masks == masks_of(halfplane_family(side).labels)
    assert halfplane_count(side) == len(masks)


def test_simplices() -> None:
    assert simplex_count(1) == len(simplex_family(1)) == 256


def test_the_greatest_families() -> None:
    # The sizes of their lists, which take from two to twenty seconds each.
    assert [polynomial_count(6, 1), polynomial_count(4, 2), polynomial_count(3, 3)] == [1498, 81_500, 53_376]
    assert [disc_count(6), disc_count(10)] == [28_468, 462_000]
    assert halfspace_count(2, 3) == 2702


@pytest.mark.parametrize(
    ("id", "parameters", "n"),
    [
        ("convex-polytope", {"side": 2, "k": 2, "epsilon": 1.0, "delta": 1e-6, "alpha": 0.1, "beta": 0.05}, 69_885),
        ("disc-union", {"side": 10, "k": 2, "epsilon": 1.0, "delta": 1e-6, "alpha": 0.1, "beta": 0.05}, 99_136),
        ("polynomial-select", {"side": 4, "epsilon": 1.0}, 436),
        ("simplex-select", {"side": 1, "epsilon": 1.0}, 335),
    ],
)
def test_claims_list_no_family(id: str, parameters: dict[str, float], n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def listed(*_: int) -> None:
        raise AssertionError("the family was listed")

    for name in ("discs.disc_family", "polynomials.polynomial_family", "polytopes.simplex_family"):
        monkeypatch.setattr(f"dpaudit_learners.regions.{name}", listed)
    learner = get_learner(id, **parameters)
    setting = ("empirical",) if "k" in parameters else ()
    # The numbers of the lists.
    assert learner.utility(0.25, 0.2, *setting).sample_size == n
