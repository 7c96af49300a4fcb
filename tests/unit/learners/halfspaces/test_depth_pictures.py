"""Depth contours, the mixture learner's regions and the panels on sample sizes show what they say."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from dpaudit.contract import InputError, Picture
from dpaudit.seeding import generator
from dpaudit_learners.geometry.polygons import Corners, clip, square
from dpaudit_learners.halfspaces.depth.depth_regions import contours, region_of_depth
from dpaudit_learners.halfspaces.depth.extended_domain import ExtendedDomain
from dpaudit_learners.halfspaces.depth.tukey_depth import tukey_depth
from dpaudit_learners.halfspaces.hull_point import HullPointExponential, weighted_points
from dpaudit_learners.halfspaces.hull_point_rec_concave import HullPointRecConcave
from dpaudit_learners.halfspaces.lower_bound import required_examples
from dpaudit_learners.halfspaces.sizes import recursive_examples
from dpaudit_learners.mixtures.halfspace import MixtureHalfspace


def holds(corners: Corners, x: Fraction, y: Fraction) -> bool:
    """Say whether a convex polygon, a segment or a point holds a point: each is the hull of its corners."""
    return (
        bool(corners)
        and tukey_depth(
            np.array([[int(c * 5040) for c in corner] for corner in corners]), [1] * len(corners), (x * 5040, y * 5040)
        )
        > 0
    )


def test_clipping_by_hand() -> None:
    corners = square(0, 2)
    assert clip(corners, [x + y - 1 for x, y in corners]) == [(0, 1), (1, 0), (2, 0), (2, 2), (0, 2)]
    assert clip(corners, [-x for x, _ in corners]) == [(0, 0), (0, 2)]
    assert clip(corners, [-1 - x for x, _ in corners]) == []


def test_a_contour_holds_the_points_of_its_depth_and_no_others() -> None:
    rng = np.random.default_rng(3)
    extended = ExtendedDomain.grid(2, 2)
    points = np.array(list(itertools.product(range(3), repeat=2)))
    places = [Fraction(k, 4) for k in range(-1, 10)]
    for weights in (rng.integers(1, 9, 9), np.eye(9, dtype=int)[0] * 7 + np.eye(9, dtype=int)[5] * 4):
        kept = weights > 0
        regions = extended.regions(points[kept], weights[kept])
        found = contours(regions)
        deepest = max(tukey_depth(points, weights, (x, y)) for x in places for y in places)
        assert found[-1][0] >= deepest
        assert [level for level, _ in found] == sorted({level for level, _ in found})
        for level, corners in found:
            assert corners
            for x, y in itertools.product(places, repeat=2):
                assert holds(corners, x, y) == (tukey_depth(points, weights, (x, y)) >= level)
        assert region_of_depth(regions, found[-1][0] + 1) == [] or found[-1][0] == weights.sum()


@cache
def drawn(kind: Any) -> tuple[Any, Any, Any, Picture]:
    """Return a learner, its scene, some outputs, and the picture of them."""
    learner = kind(**kind.pictured.parameters)
    sample, target = learner.scene(generator(0, "scene"))
    codes = learner.run(sample, generator(0, "run"), 3)
    return learner, sample, codes, learner.picture(sample, codes, target)


@pytest.mark.parametrize("kind", [HullPointExponential, HullPointRecConcave])
def test_the_picture_shows_the_released_points(kind: Any) -> None:
    learner, sample, codes, picture = drawn(kind)
    assert sample.n == kind.pictured.n
    assert isinstance(picture, Picture)
    marks = next(s for s in picture.panels[0].shapes if s.label == "released")
    assert sorted(marks.points) == sorted((float(x), float(y)) for x, y in codes)
    deepest = contours(learner.extended.regions(*weighted_points(sample)))[-1][0]
    assert f"deepest {deepest}," in picture.panels[0].caption
    with pytest.raises(InputError, match="dimension"):
        kind(**{**kind.pictured.parameters, "dimension": 1}).picture(sample, codes)


def test_the_panels_on_sizes_draw_the_formulas_and_the_order_is_right() -> None:
    line, space = drawn(HullPointRecConcave)[-1].panels[1:]
    curves = {s.label: dict(s.points) for s in (*line.shapes, *space.shapes) if s.label != "RecConcave, explicit"}
    assert dict(line.shapes[1].points)[7.0] == math.log10(recursive_examples(1, 128, 1.0, 1e-6, 0.1))
    assert curves["lower bound"][4.0] == math.log10(required_examples(10, 15, 1.0, 1e-6))
    for x, lower in curves["lower bound"].items():
        assert lower < curves["a common point"][x] < curves["exponential, explicit"].get(x, math.inf)
    for name in ("exponential", "RecConcave"):
        explicit = dict(next(s for s in line.shapes if s.label == f"{name}, explicit").points)
        measured = dict(next(s for s in line.shapes if s.label == f"{name}, measured").points)
        # Measured sizes are multiples of 12.
        assert all(10**n <= 10 ** explicit[x] + 12 for x, n in measured.items())


def test_the_regions_of_a_mixture_hold_what_is_labelled_0() -> None:
    learner = MixtureHalfspace(**MixtureHalfspace.pictured.parameters)
    sample, target = learner.scene(generator(1, "scene"))
    assert (sample.public == (sample.labels == 0)).all()
    codes = learner.run(sample, generator(1, "run"), 3)
    shapes = learner.picture(sample, codes, target).panels[0].shapes
    grid = learner.domain.points()
    for code, shape in zip(codes, shapes[:3], strict=True):
        corners = [tuple(Fraction(v).limit_denominator(10**4) for v in corner) for corner in shape.points]
        labels = learner.decode(code).predict(grid)
        for (x, y), label in zip(grid.tolist(), labels.tolist(), strict=True):
            inside = bool(corners) and _reaches(corners, x, y)
            assert inside == (label == 0)
    assert {s.label.split(",")[0] for s in shapes[4:]} == {"public", "private"}
    nothing = learner.picture(sample, [()], None).panels[0].shapes[0]
    assert nothing.points == ()
    with pytest.raises(InputError, match="dimension"):
        MixtureHalfspace(1, 1.0).picture(sample, [])


def _reaches(corners: Any, x: int, y: int) -> bool:
    """Say whether a point is in a convex polygon, to a rounding of 1e-6 of its corners."""
    turns = [
        (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])
        for a, b in zip(corners, [*corners[1:], corners[0]], strict=True)
    ]
    return all(t >= Fraction(-1, 10**6) for t in turns)
