"""Wedges between lines through public points: their errors and numbers against every pair of halfplanes evaluated."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpaudit.contract import InputError
from dpaudit.seeding import generator
from dpaudit_learners.arrays import summed
from dpaudit_learners.mixtures import halfspace, rejection, wedges
from dpaudit_learners.mixtures.halfspace import MixtureHalfspace
from dpaudit_learners.mixtures.intersections import Intersections
from dpaudit_learners.mixtures.public_family import PublicFamily, public_family
from dpaudit_learners.mixtures.rejection import Tallied
from dpaudit_learners.mixtures.wedges import Wedges


def both(side: int, public: int, others: int, top: int, seed: int) -> tuple[PublicFamily, Wedges, Intersections]:
    """Return the wedges and the listed collections of random points, public ones and others, with random gains."""
    rng = np.random.default_rng(seed)
    span = rng.integers(0, side + 1, (public, 2))
    points, gains = summed(
        np.concatenate([span, rng.integers(0, side + 1, (others, 2))]), rng.integers(-top, top, public + others)
    )
    family = public_family(span)
    assert not family.flat
    fast = Wedges(family.halfspaces, points, gains, 7, side)
    return family, fast, Intersections(family.inside(points), gains, 7, 2)


# Small sides have vertical, parallel and concurrent lines, and points on crossings.
CASES = [
    (2, 6, 9, 5),
    (4, 7, 30, 10**3),
    (9, 8, 60, 10**6),
    (1000, 8, 40, 10**12),
    (2**18, 7, 40, 9),
    (2**16, 7, 40, 9),
]


@pytest.mark.parametrize(("side", "public", "others", "top"), CASES)
@pytest.mark.parametrize("strip", [8, 200, 2**22])
def test_all_errors_are_those_of_the_listed_pairs(
    side: int, public: int, others: int, top: int, strip: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wedges, "STRIP", strip)
    monkeypatch.setattr(wedges, "TILE", strip)
    family, fast, slow = both(side, public, others, top, side)
    errors = np.concatenate([fast.errors(block) for block in fast.blocks])
    members = fast.members(np.arange(len(errors)))
    assert len(set(members)) == len(members) == family.collections(2)
    expected = dict(zip(slow.members(np.arange(len(errors))), slow.all_errors.tolist(), strict=True))
    assert dict(zip(members, errors.tolist(), strict=True)) == expected


def test_groups_are_those_of_the_listed_pairs() -> None:
    _, fast, slow = both(50, 12, 200, 3, 1)
    ranking, oracle = Tallied(fast), Tallied(slow)
    assert ranking.errors.tolist() == oracle.errors.tolist()
    assert ranking.sizes.tolist() == oracle.sizes.tolist()
    groups = np.repeat(np.arange(len(ranking.sizes)), 2)
    picked = ranking.pick(groups, np.stack([np.zeros_like(ranking.sizes), ranking.sizes - 1], axis=1).ravel())
    errors = dict(zip(slow.members(np.arange(len(slow.all_errors))), slow.all_errors.tolist(), strict=True))
    assert [errors[members] for members in fast.members(picked)] == ranking.errors[groups].tolist()


def test_runs_over_wedges_follow_the_law(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    learner = MixtureHalfspace(2, 1.0, side=4)
    sample = learner.domain.sample(rng.integers(0, 5, (9, 2)), rng.integers(0, 2, 9), None, np.arange(9) < 4)
    law = learner.law(sample)
    halfspace._ranking.cache_clear()
    monkeypatch.setattr(halfspace, "MAX_ATOMS", 50)
    monkeypatch.setattr(rejection, "TRIES", 0)
    size = 20_000
    runs = learner.run(sample, generator(3, "wedges"), size)
    halfspace._ranking.cache_clear()
    counts = dict.fromkeys(law.atoms, 0)
    for code in runs:
        counts[code] += 1
    # Of 5,000 statistics that are about normal, one beyond 5.5 has a probability of 2e-4.
    for atom, log_probability in zip(law.atoms, law.log_prob.tolist(), strict=True):
        expected = size * math.exp(log_probability)
        assert abs(counts[atom] - expected) < 5.5 * math.sqrt(expected) + 5.5


def test_sums_beyond_memory_are_refused_with_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wedges, "TABLE_CELLS", 100)
    family = public_family(np.array([[0, 0], [1, 3], [4, 1]]))
    points = np.stack([np.arange(20), np.arange(20)], axis=1)
    with pytest.raises(InputError, match="3 lines through public points take 126 sums"):
        Wedges.of(family.halfspaces, points, np.ones(20, dtype=int), 0, 20)
    assert Wedges.of(family.halfspaces, points, np.arange(20) % 2, 0, 20).points[:, 0].tolist() == [0, *range(1, 20, 2)]
    idle = Wedges.of(family.halfspaces, points, np.zeros(20, dtype=int), 3, 20)
    assert {error for block in idle.blocks for error in idle.errors(block).tolist()} == {3}
