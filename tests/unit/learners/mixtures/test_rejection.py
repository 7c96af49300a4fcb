"""Rejection in space: the numbers of collections, exact acceptance, the law, and triples beyond counting."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest

from dpaudit.contract import InputError
from dpaudit.seeding import generator
from dpaudit_learners.mechanisms import exponential
from dpaudit_learners.mixtures import halfspace, public_family, rejection
from dpaudit_learners.mixtures.halfspace import MixtureHalfspace
from dpaudit_learners.mixtures.public_family import PublicFamily, collections_of
from dpaudit_learners.mixtures.rejection import Rejected, _members


@pytest.mark.parametrize("most", [2, 3])
def test_every_collection_has_one_number_and_those_of_the_first_halfspaces_come_first(most: int) -> None:
    count = 9
    below = np.array([collections_of(k, most) - 1 for k in range(count + 1)])
    found = [tuple(sorted(set(row))) for row in _members(np.arange(below[-1]), below).tolist()]
    expected = {rows for size in range(1, most + 1) for rows in itertools.combinations(range(count), size)}
    assert len(found) == len(set(found)) == len(expected)
    assert set(found) == expected
    for k in range(count + 1):
        assert all(max(rows) < k for rows in found[: below[k]])


def test_numbers_of_many_halfspaces() -> None:
    count = 2**17
    below = np.array([collections_of(k, 3) - 1 for k in range(count + 1)])
    assert below[-1] == collections_of(count, 3) - 1
    for last, middle, first in ((count - 1, count - 2, count - 3), (count - 1, count - 2, 0), (90_000, 1, 0)):
        number = int(below[last]) + 1 + last + math.comb(middle, 2) + first
        assert _members(np.array([number]), below).tolist() == [[first, middle, last]]


def test_acceptance_is_exact_beside_the_boundary() -> None:
    rate, gaps = 0.3, np.arange(1, 100)
    with localcontext() as context:
        context.prec = 60
        exact = [(-Decimal(rate) * int(gap)).exp() * 2**53 for gap in gaps]
    floors = np.array([int(value) for value in exact])
    rng = generator(0, "acceptance")
    assert exponential.accepted(gaps, (floors - 1) * 2.0**-53, rate, rng).all()
    assert not exponential.accepted(gaps, (floors + 1) * 2.0**-53, rate, rng).any()
    # In the interval of the boundary itself, the share below it is accepted.
    share = sum(float(value - int(value)) for value in exact)
    counts = [exponential.accepted(gaps, floors * 2.0**-53, rate, rng).sum() for _ in range(20)]
    assert abs(np.mean(counts) - share) < 5 * math.sqrt(len(gaps) / 4 / 20)


def sample_of(learner: MixtureHalfspace, public: int, private: int, seed: int) -> Any:
    """Return random points, labelled by a halfspace through the middle, the public ones inside."""
    rng = np.random.default_rng(seed)
    points = rng.integers(0, learner.side + 1, (8 * (public + private), learner.dimension))
    outside = 2 * points.sum(axis=1) >= learner.side * learner.dimension
    rows = np.concatenate([np.flatnonzero(~outside)[:public], np.flatnonzero(outside)[:private]])
    return learner.domain.sample(points[rows], outside[rows].astype(int))


@pytest.mark.parametrize(("dimension", "tries"), [(2, 2**24), (2, 0), (3, 2**24), (3, 0)])
def test_runs_by_rejection_follow_the_law(dimension: int, tries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    learner = MixtureHalfspace(dimension, 1.0, side=2)
    # Labels of both kinds on either side: collections miss points, take points in, and cannot help some errors.
    points, labels = rng.integers(0, 3, (24, dimension)), rng.integers(0, 2, 24)
    sample = learner.domain.sample(points, labels, None, np.arange(24) < 4)
    law = learner.law(sample)
    halfspace._ranking.cache_clear()
    monkeypatch.setattr(halfspace, "MAX_ATOMS", 10)
    monkeypatch.setattr(rejection, "TRIES", tries)
    monkeypatch.setattr(rejection, "SHARE", 1e-9)
    monkeypatch.setattr(rejection, "PACKED", 2)
    size = 20_000
    assert isinstance(halfspace._ranking(learner, sample)[1], Rejected)
    counts = Counter(learner.run(sample, generator(3, "rejection"), size))
    halfspace._ranking.cache_clear()
    assert counts.keys() <= set(law.atoms)
    # Of some hundred statistics that are about normal, one beyond 5.5 has a probability of 4e-5.
    for atom, log_probability in zip(law.atoms, law.log_prob.tolist(), strict=True):
        expected = size * math.exp(log_probability)
        assert abs(counts[atom] - expected) < 5.5 * math.sqrt(expected) + 5.5


def test_weights_that_floats_do_not_tell_apart() -> None:
    # The halfspaces to the right of 1 and of 2 differ by one error among 1e17, which rounds to the same float.
    family = PublicFamily(((1, 1), (-1, -1), (1, 2), (-1, -2)), ())
    points = np.array([[0], [1], [2]])
    gains = np.array([10**17, 1, -(10**17)])
    found = Counter(Rejected.of(family, points, gains, 1, None).draw(1.0, generator(0, "heavy"), 10_000))
    assert found.keys() == {(0,), (2,)}
    assert abs(found[(2,)] - 10_000 / (1 + math.exp(-1))) < 5 * 50


def test_triples_that_are_too_many_to_be_counted_are_drawn_from() -> None:
    learner = MixtureHalfspace(3, 1.0, side=1000)
    sample = sample_of(learner, 30, 300, 0)
    assert learner.family(sample).collections(3) > 40 * public_family.MAX_COLLECTIONS
    codes = learner.run(sample, generator(0, "many"), 20)
    # Some hypothesis makes no error: E[errors] is at most about (2/epsilon) ln |G|.
    most = 2 * math.log(learner.family(sample).collections(3)) + 20
    assert all(sample.errors(learner.decode(code)) < most for code in codes)


def test_more_planes_than_can_be_held_are_refused_with_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(public_family, "MAX_PLANES", 20)
    points = np.random.default_rng(0).integers(0, 1000, (7, 3))
    with pytest.raises(InputError, match="give up to 35 hyperplanes and 57226 intersections"):
        public_family.public_family(points)
