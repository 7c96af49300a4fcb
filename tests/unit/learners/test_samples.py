"""Samples are multisets: canonical, weighted, with neighbours."""

from __future__ import annotations

import dataclasses
from itertools import product

import numpy as np
import pytest

from dpaudit.contract import Distribution, InputError, Relation
from dpaudit.neighbours.check import are_neighbours
from dpaudit_learners.domains import Cube, Grid, Interval
from dpaudit_learners.samples import Sample


@dataclasses.dataclass(frozen=True)
class Below:
    j: int

    def predict(self, points: np.ndarray) -> np.ndarray:
        return (points[:, 0] < self.j).astype(np.uint8)


def test_equal_multisets_are_equal() -> None:
    first = Sample.of([[1], [0], [1]], [1, 0, 1])
    second = Sample.of([1, 0, 1], [1, 0, 1], [1, 1, 1])
    third = Sample.of([0, 1, 5], [0, 1, 1], [1, 2, 0])
    assert first == second == third
    assert len({first, second, third}) == 1
    assert first.n == 3
    assert first.counts.tolist() == [1, 2]
    assert first != Sample.of([0, 1], [0, 1])


def test_arrays_are_read_only() -> None:
    sample = Sample.of([0, 1], [0, 1])
    with pytest.raises(ValueError, match="read-only"):
        sample.counts[0] = 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], []), "at least one example"),
        (([0], [1], [0]), "at least one example"),
        (([0], [2]), "labels must be 0 or 1, got"),
        (([0], [-1]), "labels must be 0 or 1, got"),
        (([float("nan")], [0]), "points must be finite, got"),
        (([0], [float("inf")]), "labels must be finite, got"),
        (([0.5], [0]), "points must be integers, got"),
        ((["a"], [0]), "points must be integers"),
        (([0, 1], [0]), r"labels must have shape \(2,\)"),
        (([0], [0], [-1]), "counts must be >= 0, got"),
        (([0], [0], [1.5]), "counts must be integers"),
        (([[[0]]], [0]), r"points must have shape"),
        (([0], [0], None, [True, False]), "public must have shape"),
    ],
)
def test_bad_samples_are_refused(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Sample.of(*arguments)


def test_points_outside_the_domain_are_refused() -> None:
    with pytest.raises(InputError, match=r"must lie in the domain Interval\(domain_size=4\), got \(4,\)"):
        Interval(4).sample([0, 4], [0, 1])
    with pytest.raises(InputError, match="coordinate"):
        Cube(2).sample([[0, 1, 0]], [1])


@pytest.mark.parametrize("domain", [Interval(5), Cube(3), Grid(2, 2)])
def test_domains_list_what_they_contain(domain: Interval | Cube | Grid) -> None:
    points = domain.points()
    assert points.shape == (domain.size, domain.dimension)
    assert domain.contains(points).all()
    assert sorted(map(tuple, points.tolist())) == list(map(tuple, points.tolist()))
    assert len(set(map(tuple, points.tolist()))) == domain.size
    assert domain.contains(domain.landmarks()).all()
    assert not domain.contains(points - 1).all()


def test_a_huge_domain_holds_samples_but_is_not_listed() -> None:
    domain = Interval(2**64)
    sample = domain.sample([2**64 - 1, 0], [1, 0])
    assert sample.points[-1, 0] == 2**64 - 1
    assert domain.contains(domain.landmarks()).all()
    with pytest.raises(InputError, match="more than"):
        domain.points()


def test_drawing_costs_the_same_for_any_n_and_has_the_right_mean() -> None:
    points = np.arange(4)[:, None]
    distribution = Distribution(points, np.array([0.1, 0.2, 0.3, 0.4]))
    sample = Interval(4).draw(Below(2), distribution, 10**12, np.random.default_rng(0))
    assert sample.n == 10**12
    assert sample.labels.tolist() == [1, 1, 0, 0]
    # Each count is binomial with standard deviation below 5e5: 8 of them is a false alarm of less than 1e-14.
    assert np.abs(sample.counts - 1e12 * distribution.probabilities).max() < 4e6
    with pytest.raises(InputError, match="n must be an integer >= 1, got 0"):
        Interval(4).draw(Below(2), distribution, 0, np.random.default_rng(0))


@pytest.mark.parametrize("relation", list(Relation))
def test_neighbours_are_all_neighbours_once(relation: Relation) -> None:
    domain = Interval(3)
    sample = domain.sample([0, 0, 2], [1, 1, 0], public=[False, False, True])
    found = list(sample.neighbours(relation))
    assert len(found) == len(set(found))
    assert sample not in found
    assert all(are_neighbours(sample, other, relation) for other in found)
    # Two distinct rows (one of them public), six examples over the domain, of which each row is one.
    expected = {Relation.REPLACE_PRIVATE: 5, Relation.REPLACE_ONE: 10, Relation.ADD_REMOVE_ONE: 8}
    assert len(found) == expected[relation]


def test_replacing_is_symmetric() -> None:
    domain = Interval(2)
    examples = list(product(range(2), (0, 1)))
    samples = {domain.sample([a[0], b[0]], [a[1], b[1]]) for a in examples for b in examples}
    for sample in samples:
        for other in sample.neighbours(Relation.REPLACE_ONE):
            assert sample in set(other.neighbours(Relation.REPLACE_ONE))


def test_neighbours_without_a_domain_are_refused() -> None:
    with pytest.raises(InputError, match="need a domain"):
        list(Sample.of([0], [1]).neighbours(Relation.REPLACE_ONE))


def test_removing_the_last_example_gives_the_empty_sample() -> None:
    sample = Interval(2).sample([0], [1])
    sizes = sorted(other.n for other in sample.neighbours(Relation.ADD_REMOVE_ONE))
    assert sizes == [0, 2, 2, 2, 2]
