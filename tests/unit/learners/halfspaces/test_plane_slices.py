"""Slices of the plane's extended domain in integers, against rational arithmetic point by point."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpaudit.seeding import generator
from dpaudit_learners.halfspaces.concepts import Halfspaces
from dpaudit_learners.halfspaces.depth.extended_domain import (
    ExtendedDomain,
    PlaneSlices,
    _coordinates,
    _first_coordinates,
    _hyperplanes,
    crossings,
    step_values,
)
from dpaudit_learners.halfspaces.depth.tukey_depth import tukey_depths
from dpaudit_learners.halfspaces.hull_point import HullPointExponential
from dpaudit_learners.halfspaces.hull_point_rec_concave import HullPointRecConcave
from dpaudit_learners.halfspaces.tukey import HalfspaceTukey
from dpaudit_learners.mechanisms.steps import Steps


def _representations(side: int) -> ExtendedDomain:
    return ExtendedDomain(tuple(map(tuple, Halfspaces(side, 1).representations.tolist())))


DOMAINS = [ExtendedDomain.grid(1, 2), ExtendedDomain.grid(3, 2), _representations(2), _representations(4)]


def _slices(extended: ExtendedDomain) -> PlaneSlices:
    slices = extended.slices
    assert slices is not None
    return slices


@pytest.mark.parametrize("extended", DOMAINS, ids=lambda e: len(e.domain))
def test_candidates_are_those_of_cramers_rule(extended: ExtendedDomain) -> None:
    normals, offsets = _hyperplanes(extended.domain)
    slices = _slices(extended)
    assert set(slices.firsts) == _first_coordinates(normals, offsets)
    assert list(slices.firsts) == sorted(slices.firsts)
    for index, x in enumerate(slices.firsts):
        slow = _coordinates(extended.domain, (x,), 1)
        assert slices.coordinates(index) == slow
        assert slices.sizes[index] == len(slow)


@pytest.mark.parametrize("extended", DOMAINS, ids=lambda e: len(e.domain))
def test_depths_in_slices_are_tukey_depths(extended: ExtendedDomain) -> None:
    rng = generator(11, "slices", len(extended.domain))
    domain, slices = np.array(extended.domain), _slices(extended)
    for kept in (1, 4, len(domain)):
        points = domain[np.sort(rng.permutation(len(domain))[:kept])]
        weights = rng.integers(1, 9, len(points))
        regions = extended.regions(points, weights)
        firsts = slices.first_values(regions)
        assert (firsts == [regions.function()(x) for x in slices.firsts]).all()
        found = list(slices.depths(regions, range(len(slices.firsts))))
        for x, index in zip(slices.firsts, range(len(found)), strict=True):
            slow = tukey_depths(points, weights, [(x, y) for y in slices.coordinates(index)])
            assert (found[index] == slow).all()
            # The greatest depth on the slice is attained at a candidate.
            assert slow.max() == firsts[index]
        chosen = [len(found) - 1, 0]
        for index, values in zip(chosen, slices.depths(regions, chosen), strict=True):
            assert (values == found[index]).all()


def test_nothing_is_deep_without_examples() -> None:
    extended = ExtendedDomain.grid(2, 2)
    slices, regions = _slices(extended), extended.regions(np.zeros((0, 2), dtype=np.int64), np.zeros(0, dtype=np.int64))
    assert not slices.first_values(regions).any()
    assert all(not values.any() for values in slices.depths(regions, [0, 3]))


def test_points_are_made_when_asked_for() -> None:
    extended = ExtendedDomain.grid(2, 2)
    points = _slices(extended)
    assert list(points) == list(extended.points)
    assert [points[i] for i in range(len(points))] == list(extended.points)
    assert points[-1] == extended.points[-1]
    assert points[1:3] == list(extended.points[1:3])
    assert points == extended.slices
    assert points != list(points)
    with pytest.raises(IndexError):
        _ = points[len(points)]
    assert ExtendedDomain.grid(3, 1).slices is None


def test_large_entries_are_left_to_rational_arithmetic() -> None:
    far = 2**13
    extended = ExtendedDomain(((0, 0), (far, 1), (1, far), (far, far)))
    assert crossings(*_hyperplanes(extended.domain)) is None
    huge = 10**6
    assert ExtendedDomain(((0, 0), (huge, 1), (1, huge), (huge, huge - 1))).slices is None


def test_a_step_function_at_many_quotients() -> None:
    step = ExtendedDomain.grid(2, 2).regions(np.array([[0, 0], [1, 2], [2, 1]]), np.array([2, 1, 3])).function()
    p, q = np.meshgrid(np.arange(-3, 9), np.arange(1, 5))
    slow = [step(Fraction(int(a), int(b))) for a, b in zip(p.ravel(), q.ravel(), strict=True)]
    assert (step_values(step, p.ravel(), q.ravel()) == slow).all()
    assert len(set(slow)) > 2


def test_laws_of_pieces_are_those_of_single_scores() -> None:
    learner = HullPointRecConcave(3, 2, 1.0, 1e-3, 0.1)
    rng = generator(12, "pieces")
    for size in (2, 5, 33, 80):
        up = np.sort(rng.integers(0, 9, size))
        scores = np.minimum(up, up[::-1])
        logs, error = learner._log_law(scores, 1, 40)
        whole, bound = learner.mechanism(size, 1, 40).log_law(Steps.of_values(scores.tolist()))
        assert (logs == whole).all()
        assert error == bound


def test_a_law_of_many_points_is_a_law_and_runs_follow_it() -> None:
    learner = HullPointExponential(5, 2, 4.0)
    sample = learner.domain.sample([[0, 1], [5, 2], [2, 5]], [0, 0, 0], [3, 4, 5])
    law = learner.law(sample)
    assert len(law.atoms) > 2**16
    p = np.exp(law.log_prob)
    assert abs(p.sum() - 1) < 1e-9
    # Chance and law of the first coordinate, by sixths of the grid: 4000 runs are within 5 deviations.
    size = 4000
    firsts = np.repeat([float(x) for x in _slices(learner.extended).firsts], _slices(learner.extended).sizes)
    expected, _ = np.histogram(firsts, bins=[-np.inf, 1, 2, 3, 4, np.inf], weights=p)
    drawn, _ = np.histogram(
        [float(point[0]) for point in learner.run(sample, generator(13, "many"), size)],
        bins=[-np.inf, 1, 2, 3, 4, np.inf],
    )
    assert (np.abs(drawn / size - expected) <= 5 * np.sqrt(expected * (1 - expected) / size)).all()


def test_sides_that_took_minutes() -> None:
    learner = HullPointRecConcave(6, 2, 1.0, 1e-6, 0.1)
    sample = learner.domain.sample([[1, 1], [5, 2], [3, 6]], [0, 0, 0], [400, 400, 400])
    points = learner.run(sample, generator(14, "side"), 5)
    assert len(points) == 5
    deep = HalfspaceTukey(5, 1, 1.0, subsamples=3, variant="exponential")
    law = deep.law(deep.domain.sample([[0], [3], [5]], [0, 1, 1], [2, 2, 2]))
    assert abs(np.exp(law.log_prob).sum() - 1) < 1e-9
