"""The exponential mechanism over the halfplanes of large grids, direction by direction, against lists on small ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from quick import by_turns

import dpaudit
from dpaudit.contract import InputError, Pair, Relation, Sample
from dpaudit.seeding import generator
from dpaudit_learners.finite.counting import scores
from dpaudit_learners.halfspaces import exponential
from dpaudit_learners.halfspaces.exponential import HalfspaceExponential, PlaneCorrect, added
from dpaudit_learners.halfspaces.plane_dichotomies import PlaneDichotomies, plane_dichotomies


class ByDirections(HalfspaceExponential):
    """Lists no labelling, however small the grid is."""

    plane = property(lambda self: plane_dichotomies(self.side))


def listed(side: int, sample: Sample) -> np.ndarray:
    """Return how many examples each labelling gets right."""
    right = plane_dichotomies(side).evaluate(sample.points) == sample.labels
    return right.astype(np.int64) @ sample.counts


def pair(side: int, seed: int, n: int = 9) -> tuple[Sample, Sample]:
    """Return a sample with repeated points and both labels of some, and a neighbour with another point and label."""
    rng = generator(seed, "pair")
    domain, points, labels = PlaneDichotomies(side).domain, rng.integers(0, side + 1, (n, 2)), rng.integers(0, 2, n)
    moved, turned = points.copy(), labels.copy()
    moved[0], turned[0] = [side, 0], 1 - labels[0]
    return domain.sample(points, labels), domain.sample(moved, turned)


@pytest.mark.parametrize("side", [1, 2, 3])
def test_blocks_count_what_the_list_counts(side: int, monkeypatch: pytest.MonkeyPatch) -> None:
    concepts, (sample, other) = plane_dichotomies(side), pair(side, 1)
    here, there = (listed(side, one) for one in (sample, other))
    assert sorted(here) == sorted(scores(HalfspaceExponential(side, 2, 1.0).concepts, sample))
    correct = PlaneCorrect.of(concepts, sample)
    for merged in (exponential.MERGED, 1):
        monkeypatch.setattr(exponential, "MERGED", merged)
        for found, expected in ((correct, here), (correct.beside(PlaneCorrect.of(concepts, other)), 5 * here - there)):
            values, counts = added(found.blocks())
            assert dict(zip(values, counts, strict=True)) == dict(
                zip(*np.unique(expected, return_counts=True), strict=True)
            )
    for index, (values, counts) in enumerate(correct.blocks()):
        for score, count in zip(values.tolist(), counts.tolist(), strict=True):
            numbers = [correct._numbered(index, score, rank) for rank in range(count)]
            assert len(set(numbers)) == count
            assert (here[numbers] == score).all()


@pytest.mark.parametrize("epsilon", by_turns([0.5, 4.0]))
def test_runs_by_directions_follow_the_softmax_of_the_list(epsilon: float) -> None:
    learner, (sample, _) = ByDirections(2, 2, epsilon), pair(2, 2)
    correct = listed(2, sample)
    law = np.exp(epsilon / 2 * (correct - correct.max()))
    size = 20_000
    expected = size * law / law.sum()
    found = np.bincount(learner.run(sample, generator(3, "runs"), size), minlength=len(law))
    # Six standard deviations of 58 counts each: false-alarm rate below 1e-6.
    assert (np.abs(found - expected) <= 6 * np.sqrt(expected) + 1).all()
    assert set(learner.decode(57).predict(learner.domain.points()).tolist()) == {0}


@pytest.mark.parametrize("relation", [Relation.REPLACE_ONE, Relation.ADD_REMOVE_ONE])
def test_laws_in_cells_have_the_losses_of_the_listed_laws(relation: Relation) -> None:
    for seed in range(4):
        sample, other = pair(2, seed)
        if relation is Relation.ADD_REMOVE_ONE:
            other = next(iter(sample.neighbours(relation)))
        found, expected = (
            dpaudit.pac.audit_law(kind(2, 2, 1.3), samples=[Pair(sample, other)], relation=relation)
            for kind in (ByDirections, HalfspaceExponential)
        )
        assert (found.pairs, found.laws) == (2, 2)
        assert found.epsilon == pytest.approx(expected.epsilon, abs=1e-12)
        for epsilon in (0.0, 0.2, 0.5):
            assert found.delta(epsilon) == pytest.approx(expected.delta(epsilon), abs=1e-12)
    assert ByDirections(2, 2, 1.0).pair_laws(sample, other) is not None
    assert HalfspaceExponential(2, 2, 1.0).pair_laws(sample, other) is None


def test_several_pairs_in_cells_keep_their_own_laws() -> None:
    pairs = [Pair(*pair(2, seed)) for seed in range(3)]
    found = dpaudit.pac.audit_law(ByDirections(2, 2, 1.0), samples=[Pair(pairs[2].neighbour, pairs[2].data), *pairs])
    expected = dpaudit.pac.audit_law(HalfspaceExponential(2, 2, 1.0), samples=pairs)
    assert found.pairs == expected.pairs == 6
    assert found.epsilon == pytest.approx(expected.epsilon, abs=1e-12)
    assert found.profiles.peaks.max() == found.epsilon
    with pytest.raises(InputError, match="enclosure needs laws that list the outputs"):
        dpaudit.pac.audit_law(ByDirections(2, 2, 1.0), samples=pairs, enclosure=True)


def test_counts_are_exact_however_large() -> None:
    domain = PlaneDichotomies(12).domain
    left = domain.sample([[0, 0], [12, 12], [3, 4]], [0, 1, 1], [10**12, 10**12, 1])
    right = domain.sample([[0, 0], [12, 12], [3, 4]], [0, 1, 0], [10**12, 10**12, 1])
    finding = dpaudit.pac.audit_law(HalfspaceExponential(12, 2, 1.0), samples=[Pair(left, right)])
    assert 0 < finding.epsilon <= 1
    # All that matters are the labellings that get both heavy points right: a and b of them have 1 and 0 at (3, 4).
    labels = [PlaneCorrect.of(plane_dichotomies(12), one) for one in (left, right)]
    a, b = (int(dict(zip(*added(one.blocks()), strict=True))[2 * 10**12 + 1]) for one in labels)
    assert finding.epsilon == pytest.approx(
        0.5 + abs(math.log((a + b * math.exp(0.5)) / (a * math.exp(0.5) + b))), abs=finding.error
    )


def test_a_large_grid_has_runs_but_no_list() -> None:
    learner = HalfspaceExponential(12, 2, 4.0)
    points = learner.domain.points()
    labels = (points @ [2, 3] >= 31).astype(int)
    sample = learner.domain.sample(points, labels)
    for code in learner.run(sample, generator(4, "large"), 3):
        concept: Any = learner.decode(int(code))
        # At most (2/4) ln(|C|/1e-6) examples of the 169 are lost with probability 1 - 1e-6 each.
        assert (concept.predict(points) != labels).sum() <= math.log(learner.concepts.size / 1e-6) / 2
    assert learner.sample_size(0.1, 0.1) > 0
    for ask in (learner.law, lambda one: learner.exact_law(one, None)):
        with pytest.raises(InputError, match="side must be smaller for the exact law"):
            ask(sample)
    with pytest.raises(InputError, match="side must be at most 100 in dimension 2"):
        HalfspaceExponential(101, 2, 1.0)
