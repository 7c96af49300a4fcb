"""Concept classes: labels, numbers, sizes and VC dimension by brute force; symmetries as permutations."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.stats
from learner_cases import BROKEN, SOUND, example_of

from dpaudit.contract import InputError
from dpaudit.seeding import generator
from dpaudit_learners.conjunctions.concepts import Conjunction, Conjunctions
from dpaudit_learners.conjunctions.consistent import ConjunctionElimination
from dpaudit_learners.domains import Cube, Interval, grid_rows, moving_points
from dpaudit_learners.parities.concepts import Parities
from dpaudit_learners.parities.gf2 import echelon, pack, parity
from dpaudit_learners.points import exponential as points_exponential
from dpaudit_learners.points.concepts import Constant, Intervals, Points, Thresholds
from dpaudit_learners.points.exponential import PointExponential

CLASSES = [
    (Points(5), Interval(5)),
    (Points(2), Interval(2)),
    (Thresholds(5), Interval(5)),
    (Intervals(4), Interval(4)),
    (Parities(1), Cube(1)),
    (Parities(3), Cube(3)),
    *[(Conjunctions(d), Cube(d)) for d in (1, 2, 3)],
]


@pytest.mark.parametrize(("concepts", "domain"), CLASSES, ids=str)
def test_evaluate_is_predict_of_every_concept_and_concepts_differ(concepts: Any, domain: Any) -> None:
    points = domain.points()
    labels = concepts.evaluate(points)
    assert labels.dtype == np.uint8
    assert (labels == [concepts.concept(code).predict(points) for code in range(concepts.size)]).all()
    assert len({row.tobytes() for row in labels}) == concepts.size
    for code in (-1, concepts.size, 1.0):
        with pytest.raises(InputError, match="code must be an integer"):
            concepts.concept(code)


@pytest.mark.parametrize(("concepts", "domain"), CLASSES, ids=str)
def test_vc_dimension(concepts: Any, domain: Any) -> None:
    labels = concepts.evaluate(domain.points())

    def shatters(size: int) -> bool:
        chosen = itertools.combinations(range(domain.size), size)
        return any(len({row.tobytes() for row in labels[:, list(c)]}) == 2**size for c in chosen)

    assert shatters(concepts.vc_dimension)
    assert not shatters(concepts.vc_dimension + 1)


def test_first_and_last_concepts_are_what_they_say() -> None:
    x = Interval(4).points()
    assert Thresholds(4).concept(0).predict(x).tolist() == [0, 0, 0, 0]
    assert Thresholds(4).concept(3).predict(x).tolist() == [1, 1, 1, 0]
    assert Intervals(4).concept(0).predict(x).tolist() == [0, 0, 0, 0]
    assert Intervals(4).concept(3).predict(x).tolist() == [1, 1, 1, 0]
    assert Points(4).concept(2).predict(x).tolist() == [0, 0, 1, 0]
    assert Constant(1).predict(x).tolist() == [1, 1, 1, 1]
    assert Parities(3).concept(0b011).predict(np.array([[1, 0, 0], [0, 1, 1], [1, 1, 0]])).tolist() == [1, 1, 0]
    assert Conjunctions(2).concept(9).mask == 15
    assert str(Conjunction(6, 0b01_10_01_00_00_00)) == "v4 and not v5 and v6"
    assert str(Conjunction(2, 0)) == "true"


def test_classes_too_large_to_list_say_so() -> None:
    for concepts, d in ((Parities(40), 40), (Conjunctions(31), 31)):
        with pytest.raises(InputError, match="can be listed"):
            concepts.evaluate(np.zeros((1, d), dtype=np.int64))
    assert Parities(63).concept(2**63 - 1).predict(np.ones((1, 63), dtype=np.int64)).tolist() == [1]


def test_the_lecture_example_gives_its_conjunction() -> None:
    rows = ["0101011", "0101100", "1111011", "1111110", "0000000", "1011011", "1111011", "0001011"]
    bits = np.array([[int(c) for c in row] for row in rows])
    learner = ConjunctionElimination(6)
    sample = learner.domain.sample(bits[:, :6], bits[:, 6])
    code = int(learner.run(sample, np.random.default_rng(0), 1)[0])
    assert str(learner.decode(code)) == "v4 and not v5 and v6"
    assert sample.errors(learner.decode(code)) == 0


def test_packed_words_are_the_bits() -> None:
    rng = np.random.default_rng(4)
    bits = rng.integers(0, 2, (50, 63))
    words = pack(bits)
    assert [int(w) for w in words] == [sum(int(b) << i for i, b in enumerate(row)) for row in bits]
    assert parity(words).tolist() == (bits.sum(axis=1) % 2).tolist()
    assert parity(words, 63).tolist() == (bits.sum(axis=1) % 2).tolist()
    assert len(echelon(pack(np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1], [0, 0, 0]])))) == 2


def test_permutations_move_examples() -> None:
    moved = moving_points(np.array([1, 0, 2]), np.array([0, 0, 1]))
    assert moved.tolist() == [2, 3, 0, 1, 5, 4]
    assert grid_rows(Cube(3).points(), 1).tolist() == list(range(8))


@pytest.mark.parametrize("learner_class", SOUND + BROKEN, ids=lambda c: c.id)
def test_symmetries_permute_the_atoms(learner_class: Any) -> None:
    # One permutation of the atoms must serve all samples: the columns of the two tables of laws are equal as multisets.
    learner = example_of(learner_class)
    points = learner.domain.points()
    rng = np.random.default_rng(17)
    samples = [rng.integers(0, 2 * len(points), rng.integers(1, 7)) for _ in range(25)]

    def columns(universe: Any) -> Any:
        chosen = [universe[s] for s in samples]
        laws = [learner.law(learner.domain.sample(points[c // 2], c % 2)).log_prob for c in chosen]
        table = np.nan_to_num(np.array(laws), neginf=-99).round(8) + 0.0
        return table[:, np.lexsort(table)]

    identity = np.arange(2 * len(points))
    for g in learner.symmetries():
        assert sorted(g) == list(identity)
        assert np.array_equal(columns(identity), columns(g))


def test_points_of_a_huge_domain_are_drawn_from_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    # The law of a small class, drawn once from its list and once as beyond 2^22 points.
    learner = PointExponential(9, 1.5)
    sample = learner.domain.sample([[1], [4], [4], [7]], [1, 1, 0, 0], [3, 2, 1, 4])
    monkeypatch.setattr(points_exponential, "ENUMERABLE", 4)
    runs = 20_000
    counts = np.bincount(learner.run(sample, generator(0, "cells of points"), runs), minlength=9)
    assert scipy.stats.chisquare(counts, runs * np.exp(learner.law(sample).log_prob)).pvalue > 1e-6
    huge = PointExponential(2**64, 1.0)
    seen = [[0], [2**63], [2**64 - 1]]
    found = huge.run(huge.domain.sample(np.array(seen, dtype=object), [0, 1, 0], [1, 400, 1]), generator(1, "huge"), 20)
    assert set(map(int, found)) == {2**63}
    # Without an example for any point all are as likely, and those of the sample are passed over.
    spread = huge.run(huge.domain.sample(np.array(seen, dtype=object), [0, 0, 0], [400] * 3), generator(2, "huge"), 200)
    assert len(set(map(int, spread))) == 200
    assert min(map(int, spread)) < 2**62 < 3 * 2**62 < max(map(int, spread)) < 2**64 - 1
