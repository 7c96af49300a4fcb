"""Learners of boxes, halfspaces and interior points against slow twins that list what they choose from in loops."""

from __future__ import annotations

import decimal
import itertools
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import TypeVar

import numpy as np
import pytest

from dpaudit.contract import Learner, Sample
from dpaudit_learners.boxes.concepts import BoxTightest
from dpaudit_learners.boxes.exponential import BoxExponential
from dpaudit_learners.halfspaces.exponential import HalfspaceExponential
from dpaudit_learners.interior_points.interior_point import InteriorPointExponential

decimal.getcontext().prec = 60

Point = tuple[int, ...]
Pattern = tuple[int, ...]
"""The labels of all points of the domain, in its order."""

C = TypeVar("C")


def random_samples(learner: Learner, count: int, seed: int) -> Iterator[Sample]:
    """Yield samples with weights, among them an empty one and one of a single label."""
    rng = np.random.default_rng(seed)
    points = learner.domain.points()
    yield learner.domain.empty_sample()
    for m in range(1, count):
        chosen = points[rng.integers(0, len(points), m)]
        labels = rng.integers(0, 2, m) if m > 1 else np.ones(1, dtype=np.int64)
        yield learner.domain.sample(chosen, labels, rng.integers(1, 5, m))


def examples(sample: Sample) -> list[tuple[Point, int]]:
    """Return the examples one by one, without weights."""
    rows = zip(sample.points.tolist(), sample.labels.tolist(), sample.counts.tolist(), strict=True)
    return [(tuple(x), y) for x, y, count in rows for _ in range(count)]


def box_patterns(points: list[Point]) -> set[Pattern]:
    """Return what the boxes between two corners of the grid say, and the empty box."""
    found = {tuple(0 for _ in points)}
    for low, high in itertools.product(points, repeat=2):
        found.add(tuple(int(all(a <= v <= b for a, v, b in zip(low, x, high, strict=True))) for x in points))
    return found


def halfspace_patterns(points: list[Point]) -> set[Pattern]:
    """Return what w x >= b says over all small integers w and all b between their values."""
    found = set()
    # Weights up to 4 are enough for these small grids: the counts below say that no cut is missing.
    for w in itertools.product(range(-4, 5), repeat=len(points[0])):
        values = [sum(a * v for a, v in zip(w, x, strict=True)) for x in points]
        # The least value takes all points, one beyond the greatest takes none.
        for cut in range(min(values), max(values) + 2):
            found.add(tuple(int(value >= cut) for value in values))
    return found


def exponential_law(scores: dict[C, int], epsilon: float) -> dict[C, Decimal]:
    """Return Pr[choice] in proportion to exp(epsilon score/2)."""
    weights = {choice: (Decimal(epsilon) / 2 * score).exp() for choice, score in scores.items()}
    total = sum(weights.values())
    return {choice: weight / total for choice, weight in weights.items()}


@pytest.mark.parametrize(
    ("learner", "patterns", "count"),
    [
        (BoxExponential(3, 1, 0.7), box_patterns, 11),  # 10 intervals and the empty one
        (BoxExponential(2, 2, 1.5), box_patterns, 37),
        (BoxExponential(1, 3, 1.0), box_patterns, 28),
        (HalfspaceExponential(3, 1, 0.7), halfspace_patterns, 8),
        (HalfspaceExponential(1, 2, 1.0), halfspace_patterns, 14),  # of 16 all but the two of XOR
        (HalfspaceExponential(2, 2, 1.5), halfspace_patterns, 58),
        (HalfspaceExponential(1, 3, 1.0), halfspace_patterns, 104),  # the threshold functions of three variables
    ],
    ids=lambda value: getattr(value, "__name__", repr(value)),
)
def test_exponential_learners_against_all_labellings(
    learner: BoxExponential | HalfspaceExponential, patterns: Callable[[list[Point]], set[Pattern]], count: int
) -> None:
    grid = learner.domain.points()
    points = [tuple(x) for x in grid.tolist()]
    listed = patterns(points)
    assert len(listed) == count
    for sample in random_samples(learner, 6, seed=1):
        data = examples(sample)
        correct = {p: sum(p[points.index(x)] == y for x, y in data) for p in listed}
        slow = exponential_law(correct, learner.epsilon)
        law = learner.law(sample)
        labels = [tuple(learner.decode(atom).predict(grid).tolist()) for atom in law.atoms]
        found = dict(zip(labels, law.log_prob, strict=True))
        assert len(found) == len(law.atoms)  # one code for each labelling
        assert found.keys() == slow.keys()
        for pattern, log in found.items():
            assert abs(Decimal(float(log)) - slow[pattern].ln()) <= Decimal(law.error)


@pytest.mark.parametrize("size", [2, 5, 9])
def test_interior_points_by_the_exponential_mechanism_against_counting(size: int) -> None:
    learner = InteriorPointExponential(size, 0.9)
    for sample in random_samples(learner, 6, seed=2):
        values = [x for (x,), _ in examples(sample)]
        scores = {z: min(sum(v <= z for v in values), sum(v >= z for v in values)) for z in range(size)}
        slow = exponential_law(scores, learner.epsilon)
        law = learner.law(sample)
        found = {int(a): float(log) for a, log in zip(law.atoms, law.log_prob, strict=True)}
        assert found.keys() == slow.keys()
        assert all(abs(Decimal(log) - slow[z].ln()) <= Decimal(law.error) for z, log in found.items())


@pytest.mark.parametrize(("side", "dimension"), [(4, 1), (2, 2), (1, 3)])
def test_the_tightest_box_against_all_boxes(side: int, dimension: int) -> None:
    learner = BoxTightest(side, dimension)
    grid = learner.domain.points()
    points = [tuple(x) for x in grid.tolist()]
    listed = box_patterns(points)
    for sample in random_samples(learner, 8, seed=3):
        positive = {x for x, y in examples(sample) if y}
        around = [p for p in listed if all(p[points.index(x)] for x in positive)]
        # The box with the fewest points that has all positive examples, which must be the only one.
        smallest = min(around, key=sum)
        assert [p for p in around if sum(p) == sum(smallest)] == [smallest]
        codes = learner.run(sample, np.random.default_rng(0), 3)
        assert len(set(map(int, codes))) == 1
        assert tuple(learner.decode(int(codes[0])).predict(grid).tolist()) == smallest
