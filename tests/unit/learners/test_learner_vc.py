"""VC dimensions by search, Sauer's bound, sample bounds, and what every concept class offers."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from dpaudit.contract import InputError
from dpaudit_learners.conjunctions.concepts import Conjunctions, Disjunction, ShortConjunctions, ShortDisjunctions
from dpaudit_learners.domains import Cube, Grid, Interval
from dpaudit_learners.finite.consistent import (
    lower_sample_size,
    sauer_power_bound,
    upper_sample_size,
    vc_dimension,
)
from dpaudit_learners.parities.concepts import Parities
from dpaudit_learners.points.concepts import Intervals, Points, Thresholds
from dpaudit_learners.regions.concepts import Halfplanes
from dpaudit_learners.regions.discs import Discs
from dpaudit_learners.regions.polynomials import Polynomials

CLASSES: list[tuple[Any, Any]] = [
    (Points(6), Interval(6)),
    (Thresholds(6), Interval(6)),
    (Intervals(6), Interval(6)),
    *[(Parities(d), Cube(d)) for d in (1, 2, 3, 4, 5)],
    *[(Conjunctions(d), Cube(d)) for d in (1, 2, 3, 4)],
    *[(kind(side), Grid(side, 2)) for kind in (Halfplanes, Discs) for side in (1, 2)],
    *[(Polynomials(side, degree), Grid(side, 2)) for side, degree in ((1, 1), (1, 2), (1, 3), (2, 2))],
    *[(ShortConjunctions(d, k), Cube(d)) for d, k in ((1, 1), (3, 1), (3, 2), (4, 1), (4, 2))],
]


class Table:
    """A class given by its labels on points 0 .. m - 1."""

    def __init__(self, rows: Any) -> None:
        self._rows = np.array(rows)
        self.size = len(rows)

    def evaluate(self, points: Any) -> Any:
        return self._rows[:, points[:, 0]]

    def concept(self, code: int) -> Any:
        raise NotImplementedError


def brute(labels: Any) -> int:
    best = 0
    for size in range(1, labels.shape[1] + 1):
        for chosen in itertools.combinations(range(labels.shape[1]), size):
            if len(np.unique(labels[:, list(chosen)], axis=0)) == 2**size:
                best = size
    return best


@pytest.mark.parametrize(("concepts", "domain"), CLASSES, ids=str)
def test_every_class_evaluates_enumerates_and_knows_its_vc_dimension(concepts: Any, domain: Any) -> None:
    points = domain.points()
    if not isinstance(concepts, ShortConjunctions):
        assert concepts.vc_dimension == vc_dimension(points, concepts)
    predicted = [concept.predict(points) for concept in concepts.enumerate()]
    assert (concepts.evaluate(points) == predicted).all()
    assert len(predicted) == concepts.size


def test_search_agrees_with_all_subsets_on_random_classes() -> None:
    rng = np.random.default_rng(5)
    points = np.arange(6)[:, None]
    for _ in range(150):
        rows = rng.integers(0, 2, (int(rng.integers(1, 30)), 6))
        rows[:, 5] = rows[:, 4]
        assert vc_dimension(points, Table(rows)) == brute(rows)
    everything = list(itertools.product((0, 1), repeat=6))
    assert vc_dimension(points, Table(everything)) == 6
    assert vc_dimension(points, Table(everything[:1])) == 0


def test_search_refuses_what_is_too_large_or_empty() -> None:
    with pytest.raises(InputError, match="at least one point"):
        vc_dimension(np.zeros((0, 1), dtype=int), Points(4))
    with pytest.raises(InputError, match="give fewer points for a lower bound"):
        vc_dimension(Interval(3000).points(), Thresholds(3000))


def sauer_bound(n: int, d: int) -> int:
    """Return sum_{i <= d} C(n, i), the most dichotomies of n points by a class of VC dimension d (Sauer's lemma)."""
    return sum(math.comb(n, i) for i in range(min(n, d) + 1))


@pytest.mark.parametrize(("concepts", "domain"), CLASSES, ids=str)
def test_sauer(concepts: Any, domain: Any) -> None:
    labels, d = concepts.evaluate(domain.points()), vc_dimension(domain.points(), concepts)
    for n in range(1, min(7, domain.size) + 1):
        subsets = itertools.islice(itertools.combinations(range(domain.size), n), 300)
        most = max(len(np.unique(labels[:, list(s)], axis=0)) for s in subsets)
        assert most <= sauer_bound(n, d)
        if n >= d:
            assert sauer_bound(n, d) <= sauer_power_bound(n, d)


def test_thresholds_and_intervals_attain_sauer() -> None:
    # The bound is met with equality: n + 1 and 1 + n + C(n, 2) dichotomies.
    for n in (1, 2, 5):
        assert len(np.unique(Thresholds(n + 1).evaluate(np.arange(n)[:, None]), axis=0)) == sauer_bound(n, 1)
        assert len(np.unique(Intervals(n + 1).evaluate(np.arange(n)[:, None]), axis=0)) == sauer_bound(n, 2)


def test_sample_bounds() -> None:
    assert upper_sample_size(1, 0.1, 0.1) == math.ceil(80 * math.log2(130))
    assert upper_sample_size(1, 0.5, 1e-9) == math.ceil(8 * math.log2(2e9))
    assert lower_sample_size(1, 0.1, 0.01) == math.ceil(9 * math.log(50))
    assert lower_sample_size(1000, 0.1, 0.01) == math.ceil(999 / 3.2)
    assert lower_sample_size(1000, 0.2, 0.01) == math.ceil(4 * math.log(50))
    for d, alpha, beta in itertools.product((1, 3, 50), (0.01, 0.1, 0.4), (0.001, 0.1)):
        assert lower_sample_size(d, alpha, beta) <= upper_sample_size(d, alpha, beta)
    for bound in (upper_sample_size, lower_sample_size):
        for bad in ((0, 0.1, 0.1), (1, 0.0, 0.1), (1, 0.1, 1.0)):
            with pytest.raises(InputError):
                bound(*bad)


def test_fewer_examples_than_the_lower_bound_are_too_few_for_a_coin_as_well() -> None:
    # Two concepts, one point of difference of mass alpha: the best learner guesses when it has not seen it.
    alpha, beta = 0.1, 0.01
    n = lower_sample_size(1, alpha, beta) - 1
    assert (1 - alpha) ** n / 2 > beta


def test_disjunctions_are_what_they_say() -> None:
    points = Cube(2).points()
    assert str(Disjunction(3, 0b10_00_01)) == "v1 or not v3"
    assert str(Disjunction(2, 0)) == "false"
    assert Disjunction(2, 0).predict(points).tolist() == [0, 0, 0, 0]
    assert Disjunction(2, 15).predict(points).tolist() == [1, 1, 1, 1]
    assert Disjunction(2, 0b10_01).predict(points).tolist() == [1, 0, 1, 1]
    assert len({row.tobytes() for row in ShortDisjunctions(3, 3).evaluate(Cube(3).points())}) == 28
