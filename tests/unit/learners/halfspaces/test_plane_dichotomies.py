"""Halfplanes on large grids, direction by direction, against the list of them all on small ones."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from dpaudit.contract import InputError
from dpaudit.seeding import generator
from dpaudit_learners.halfspaces.concepts import Halfspace, Halfspaces, grid_halfspaces
from dpaudit_learners.halfspaces.plane_dichotomies import (
    Functional,
    PlaneAgreement,
    PlaneDichotomies,
    plane_dichotomies,
)
from dpaudit_learners.halfspaces.releases import Agreement
from dpaudit_learners.halfspaces.tukey import HalfspaceTukey


def labelled(functional: Functional, side: int) -> tuple[int, ...]:
    """Return the labels that a halfplane gives the grid."""
    points = Halfspaces(side, 2).domain.points()
    return tuple(Halfspace(functional[:2], functional[2]).predict(points).tolist())


def every(concepts: PlaneDichotomies) -> list[Functional]:
    """Return all halfplanes."""
    return [concepts.functional(code) for code in range(concepts.size)]


@pytest.mark.parametrize("side", [1, 2, 3])
def test_each_labelling_is_found_once(side: int) -> None:
    concepts = plane_dichotomies(side)
    found = [labelled(f, side) for f in every(concepts)]
    assert len(found) == len(set(found)) == concepts.size
    assert set(found) == set(map(tuple, grid_halfspaces(side, 2)[0].tolist()))


@pytest.mark.parametrize("side", [1, 2])
def test_agreement_is_that_of_the_list(side: int) -> None:
    release, rng = Agreement(side, 2, 2.0), generator(2, "agreement")
    counts = rng.integers(0, 3, release.concepts.size)
    m = int(counts.sum())
    table = grid_halfspaces(side, 2)[0]
    agreement = PlaneAgreement(plane_dichotomies(side), counts @ table.astype(np.int64), m)
    scores = release.scores(counts)
    assert agreement.counts.sum(axis=0).tolist() == np.bincount(scores, minlength=m + 1).tolist()
    law = dict(zip(map(tuple, table.tolist()), np.exp(release.release_law(counts).log_prob), strict=True))
    size = 2000
    drawn = Counter(labelled(f, side) for f in agreement.draw(release.epsilon / 2, rng, size))
    assert drawn.keys() <= law.keys()
    assert all(abs(drawn[h] - size * p) <= 5 * np.sqrt(size * p) + 1 for h, p in law.items())


def test_what_would_take_too_long_is_refused() -> None:
    with pytest.raises(InputError, match="side must be at most 100 in dimension 2"):
        plane_dichotomies(101)
    with pytest.raises(InputError, match="side must be at most 1000 in dimension 2"):
        plane_dichotomies(1001, sorted_cuts=False)


def test_halfplanes_are_learned_on_a_grid_whose_class_is_not_listed() -> None:
    # m = 20 subsamples of 5,000 examples each: the class has 2 (1 + the pairs that see each other) halfplanes.
    learner = HalfspaceTukey(12, 2, 40.0, subsamples=20, variant="positive")
    assert learner.release.agreement(20, 0.05) >= 1
    points = learner.domain.points()
    target = Halfspace((2, 3), 31).predict(points)
    sample = learner.domain.sample(points, target, np.full(len(points), 600))
    (code,) = learner.run(sample, generator(5, "plane"), 1)
    assert (learner.decode(code).predict(points) == target).all()
    size = plane_dichotomies(12).size
    expected = 400 / (learner.release.agreement(20, 0.05) * 0.1) * np.log(2 * 20 * size / 0.1)
    assert learner.sample_size(0.1, 0.1) == int(np.ceil(expected))
    assert len(learner.run(learner.domain.empty_sample(), generator(6, "empty"), 1)) == 1
    with pytest.raises(InputError, match="side must be smaller for the exact law"):
        learner.law(sample)
    with pytest.raises(InputError, match="subsamples"):
        HalfspaceTukey(12, 2, 1.0, subsamples=2000, variant="positive")
    with pytest.raises(InputError, match="side must be at most 100"):
        HalfspaceTukey(101, 2, 1.0, variant="positive")
