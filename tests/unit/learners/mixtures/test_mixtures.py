"""The private-public mixture learner: its family, its errors, its law, its claim, its broken variants."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import dpaudit
from dpaudit.contract import InputError, Relation
from dpaudit.neighbours.crafted import crafted_pairs
from dpaudit.seeding import generator
from dpaudit_learners.mixtures import halfspace
from dpaudit_learners.mixtures.controls import LEARNERS as BROKEN
from dpaudit_learners.mixtures.controls import MixtureAllPoints, MixtureDistinct, MixtureDoubled, MixtureShortcut
from dpaudit_learners.mixtures.halfspace import MixtureHalfspace
from dpaudit_learners.mixtures.intersections import Intersections, Outside
from dpaudit_learners.mixtures.public_family import (
    PublicFamily,
    collections_of,
    log_collections,
    public_family,
)
from dpaudit_learners.mixtures.rejection import Tallied

CORNERS = [[0, 0], [1, 0], [3, 0], [4, 0]]


def slow_hypotheses(family: PublicFamily, most: int) -> list[Outside]:
    """Return G in the order of the codes: by size, then lexicographically."""
    found = [Outside(())]
    for size in range(1, most + 1):
        found += [Outside(rows, family.flat) for rows in itertools.combinations(family.halfspaces, size)]
    return found


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_errors_and_codes_agree_with_every_hypothesis_evaluated(dimension: int) -> None:
    rng = np.random.default_rng(dimension)
    learner = MixtureHalfspace(dimension, 1.0, side=3)
    for m in (1, 2, 4, 5):
        points, labels = rng.integers(0, 4, (m + 3, dimension)), rng.integers(0, 2, m + 3)
        public = np.arange(m + 3) < m
        sample = learner.domain.sample(points, labels, rng.integers(1, 10**12, m + 3), public)
        family, errors = learner.family(sample), learner.errors(sample)
        slow = slow_hypotheses(family, dimension)
        assert len(errors) == len(slow) == family.collections(dimension) == len(learner.law(sample).atoms)
        codes = learner.codes(family, np.arange(len(slow)))
        for i in rng.choice(len(slow), min(len(slow), 300), replace=False):
            assert learner.decode(codes[i]) == slow[i]
            assert sample.errors(slow[i]) == errors[i]


@pytest.mark.parametrize("top", [3, 10**6, 10**12, 2**52])
def test_matrix_products_lose_nothing(top: int) -> None:
    rng = np.random.default_rng(top % 1000)
    inside = rng.random((7, 40)) < 0.6
    gains = rng.integers(-top, top, 40)
    found = Intersections(inside, gains, 5, 3).all_errors.tolist()
    expected = [5]
    for size in (1, 2, 3):
        for rows in itertools.combinations(range(7), size):
            expected.append(5 + sum(int(g) for g, ok in zip(gains, inside[list(rows)].all(axis=0), strict=True) if ok))
    assert found == expected


def test_more_halfspaces_than_a_block() -> None:
    rng = np.random.default_rng(0)
    inside, gains = rng.random((600, 30)) < 0.5, rng.integers(-9, 9, 30)
    found = Intersections(inside, gains, 0, 2).all_errors
    pairs = list(itertools.combinations(range(600), 2))
    for i in rng.choice(len(pairs), 200):
        a, b = pairs[i]
        assert found[601 + i] == gains[inside[a] & inside[b]].sum()


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_counting_in_blocks_draws_what_listing_does(dimension: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpaudit_learners.mixtures.intersections.BLOCK_CELLS", 50)
    rng = np.random.default_rng(dimension)
    inside, gains = rng.random((17, 30)) < 0.5, rng.integers(-3, 4, 30)
    collections = Intersections(inside, gains, 40, dimension)
    errors = collections.all_errors
    few = np.where(rng.random(len(errors)) < 0.5, errors, -1)
    for tallied, every in ((Tallied(collections), errors), (Tallied(collections, errors), errors),
                           (Tallied(collections, few), few)):  # fmt: skip
        values, sizes = np.unique(every[every >= 0], return_counts=True)
        assert tallied.errors.tolist() == values.tolist()
        assert tallied.sizes.tolist() == sizes.tolist()
        groups = np.repeat(np.arange(len(sizes)), sizes)
        within = np.concatenate([np.arange(size) for size in sizes])
        order = np.argsort(every, kind="stable")
        assert tallied.pick(groups, within).tolist() == order[every[order] >= 0].tolist()


def test_more_hypotheses_than_can_be_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(8)
    learner = MixtureHalfspace(3, 1.0, side=4)
    sample = learner.domain.sample(rng.integers(0, 5, (9, 3)), rng.integers(0, 2, 9), None, np.arange(9) < 5)
    listed = learner.run(sample, generator(3, "mixture"), 200)
    halfspace._ranking.cache_clear()
    monkeypatch.setattr("dpaudit_learners.mixtures.halfspace.MAX_LISTED", 50)
    assert learner.run(sample, generator(3, "mixture"), 200) == listed
    with pytest.raises(InputError, match="lists all hypotheses"):
        MixtureShortcut(3, 1.0, side=4).run(sample, generator(3, "mixture"), 1)
    halfspace._ranking.cache_clear()


def test_families_of_points_in_general_and_special_position() -> None:
    assert public_family(np.zeros((0, 2), dtype=int)) == PublicFamily((), ())
    line = public_family(np.array([[0], [3], [3], [7]]))
    assert line.halfspaces == ((1, 0), (-1, 0), (1, 3), (-1, -3), (1, 7), (-1, -7))
    assert line.collections(1) == 7
    # One point repeated: its own flat alone, cut out by one equation for each coordinate.
    point = public_family(np.array([[2, 5], [2, 5]]))
    assert point.halfspaces == ((0, 0, 0),)
    assert set(point.flat) == {(1, 0, 2), (0, 1, 5)}
    # Collinear points: duplicate halfspaces merge, boundaries cross the line in one point each.
    flat = public_family(np.array([[0, 0], [1, 1], [2, 2]]))
    assert len(flat.halfspaces) == 6
    assert len(flat.flat) == 1
    inside = flat.inside(np.array([[0, 0], [1, 1], [2, 2], [1, 0]]))
    assert sorted(map(tuple, inside.astype(int).tolist())) == sorted(
        [(1, 1, 1, 0), (1, 0, 0, 0), (0, 1, 1, 0), (1, 1, 0, 0), (0, 0, 1, 0), (1, 1, 1, 0)]
    )
    square = public_family(np.array([[0, 0], [0, 2], [2, 0], [2, 2]]))
    assert len(square.halfspaces) == 12
    # A square and its centre: both diagonals are spanned by three points, and count once.
    assert len(public_family(np.array([[0, 0], [0, 2], [2, 0], [2, 2], [1, 1]])).halfspaces) == 12
    plane = public_family(np.array([[0, 0, 1], [2, 0, 1], [0, 2, 1]]))
    assert plane.flat == ((0, 0, 1, 1),)
    assert len(plane.halfspaces) == 6


def test_sides_contain_their_own_points_and_are_opposite() -> None:
    rng = np.random.default_rng(6)
    for dimension in (1, 2, 3):
        points = rng.integers(0, 5, (6, dimension))
        rows = public_family(points).halfspaces
        for plus, minus in zip(rows[::2], rows[1::2], strict=True):
            assert minus == tuple(-v for v in plus)
            assert (points @ np.array(plus[:-1]) == plus[-1]).sum() >= 1


def test_the_literal_family_misses_the_best_halfspace_on_a_flat() -> None:
    printed, repaired = MixtureHalfspace(2, 1.0, literal=True), MixtureHalfspace(2, 1.0)
    sample = printed.domain.sample(CORNERS, [0, 0, 1, 1])
    assert printed.errors(sample).min() == 2
    assert repaired.errors(sample).min() == 0
    # Where the public points span the plane the printed family is rich enough.
    spanning = printed.domain.sample([[0, 0], [1, 0], [0, 1], [3, 0], [4, 0]], [0, 0, 0, 1, 1])
    assert printed.errors(spanning).min() == repaired.errors(spanning).min() == 0


def test_no_public_examples_leave_the_empty_hypothesis_and_all_public_ones_do_no_harm() -> None:
    learner = MixtureHalfspace(2, 1.0)
    private = learner.domain.sample(CORNERS, [0, 1, 1, 1], None, [False] * 4)
    assert learner.law(private).atoms == [()]
    assert set(learner.run(private, generator(0, "mixture"), 5)) == {()}
    assert learner.decode(()).predict(np.array(CORNERS)).tolist() == [1, 1, 1, 1]
    public = learner.domain.sample(CORNERS, [0, 1, 1, 1], None, [True] * 4)
    assert len(learner.run(public, generator(0, "mixture"), 5)) == 5
    assert list(public.neighbours(Relation.REPLACE_PRIVATE)) == []
    assert len(learner.law(learner.domain.empty_sample()).atoms) == 1


def test_samples_without_flags_are_label_determined() -> None:
    domain = MixtureHalfspace(1, 1.0).domain
    sample = domain.sample([0, 1, 1, 4], [0, 0, 1, 1])
    assert sample.public is not None
    assert sample.public.tolist() == [True, True, False, False]
    assert sample.neighbours(Relation.REPLACE_PRIVATE)
    for neighbour in sample.neighbours(Relation.REPLACE_PRIVATE):
        assert neighbour.public is not None
        assert (neighbour.counts * neighbour.public).sum() == 2


@pytest.mark.parametrize("dimension", [1, 2])
def test_turned_labels_give_turned_hypotheses(dimension: int) -> None:
    rng = np.random.default_rng(5)
    points, labels = rng.integers(0, 4, (7, dimension)), rng.integers(0, 2, 7)
    plain = MixtureHalfspace(dimension, 1.0, side=3)
    turned = MixtureHalfspace(dimension, 1.0, side=3, public_label=1)
    sample, other = plain.domain.sample(points, labels), turned.domain.sample(points, 1 - labels)
    assert sample.public is not None
    assert other.public is not None
    assert sorted(zip(sample.points.tolist(), sample.public, strict=True)) == sorted(
        zip(other.points.tolist(), other.public, strict=True)
    )
    assert plain.errors(sample).tolist() == turned.errors(other).tolist()
    assert plain.law(sample).log_prob.tolist() == turned.law(other).log_prob.tolist()
    grid = plain.domain.points()
    for code in plain.run(sample, generator(1, "mixture"), 20):
        hypothesis = turned.decode(code)
        assert (hypothesis.predict(grid) == 1 - plain.decode(code).predict(grid)).all()
        assert other.errors(hypothesis) == sample.errors(plain.decode(code))


@pytest.mark.parametrize("public_label", [0, 1])
@pytest.mark.parametrize(("dimension", "n"), [(1, 3), (2, 2)])
def test_the_claim_holds_on_every_sample_with_any_flags(dimension: int, n: int, public_label: int) -> None:
    learner = MixtureHalfspace(dimension, 1.0, side=1, public_label=public_label)
    finding = dpaudit.pac.audit_law(learner, n=n)
    assert finding.verdict == "consistent"
    assert 0.4 < finding.epsilon <= 1 + 1e-9


def worst(learner: Any, n: int, limit: int | None = None) -> float:
    pairs = crafted_pairs(learner.domain, n, Relation.REPLACE_PRIVATE, limit)
    return dpaudit.pac.audit_law(learner, samples=pairs).epsilon


@pytest.mark.parametrize(("dimension", "side"), [(1, 4), (2, 2), (3, 1)])
def test_the_claim_holds_and_is_nearly_reached(dimension: int, side: int) -> None:
    assert 0.8 < worst(MixtureHalfspace(dimension, 1.0, side), 6, 48) <= 1 + 1e-9


def test_every_private_neighbour_of_random_samples_keeps_the_claim() -> None:
    rng = np.random.default_rng(2)
    learner = MixtureHalfspace(2, 1.5, side=2)
    samples = [
        learner.domain.sample(rng.integers(0, 3, (6, 2)), rng.integers(0, 2, 6), None, np.arange(6) < 4)
        for _ in range(4)
    ]
    finding = dpaudit.pac.audit_law(learner, samples=samples)
    assert finding.verdict == "consistent"
    assert 0.5 < finding.epsilon <= 1.5


@pytest.mark.parametrize("broken", BROKEN, ids=lambda c: c.id)
def test_broken_variants_exceed_the_claim_by_far(broken: Any) -> None:
    learner = broken(**broken.instance.parameters)
    assert worst(learner, broken.instance.n) >= 1.5 * learner.privacy.epsilon


def test_what_the_broken_variants_show() -> None:
    assert worst(MixtureDoubled(2, 1.0, 2), 8, 48) == pytest.approx(2.0, abs=0.05)
    assert worst(MixtureDistinct(1, 1.0, 4), 3) == math.inf
    assert worst(MixtureAllPoints(1, 1.0, 4), 3) == math.inf


def test_the_sample_size_satisfies_its_conditions_and_the_one_below_does_not() -> None:
    for dimension in (1, 2):
        learner = MixtureHalfspace(dimension, 1.0)
        for setting in ("realizable", "agnostic"):
            n = learner.utility(0.1, 0.1, setting).sample_size
            assert learner._enough(n, 0.1, 0.1, setting)
            assert not learner._enough(n - 1, 0.1, 0.1, setting)
    with pytest.raises(InputError, match="setting"):
        MixtureHalfspace(1, 1.0).utility(0.1, 0.1, "empirical")


def test_the_realizable_theorem_on_a_line() -> None:
    # 200 draws of the theorem's own n; failing more than 60 times has probability below 1e-12 if beta = 0.1 holds.
    learner = MixtureHalfspace(1, 1.0, side=9)
    points = learner.domain.points()
    concept = learner.concepts.concept(5)
    distribution = dpaudit.pac.Distribution(points, np.full(10, 0.1), "uniform")
    rng = generator(3, "mixture-utility")
    fails = 0
    for _ in range(200):
        sample = learner.domain.draw(concept, distribution, learner.sample_size(0.15, 0.1), rng)
        (code,) = learner.run(sample, rng, 1)
        fails += float((learner.decode(code).predict(points) != concept.predict(points)).mean()) > 0.15
    assert fails <= 60


def test_bad_input_is_refused() -> None:
    for parameters, name in (
        ({"dimension": 513}, "dimension"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"side": 2**18 + 1}, "side"),
    ):
        with pytest.raises(InputError, match=name):
            MixtureHalfspace(**{"dimension": 2, "epsilon": 1.0, **parameters})
    rng = np.random.default_rng(0)
    learner = MixtureHalfspace(2, 1.0, side=1000)
    many = learner.domain.sample(rng.integers(0, 1000, (300, 2)), np.zeros(300, dtype=int))
    with pytest.raises(InputError, match="distinct public points"):
        learner.run(many, rng, 1)
    some = learner.domain.sample(rng.integers(0, 1000, (40, 2)), np.zeros(40, dtype=int))
    with pytest.raises(InputError, match="exact law"):
        learner.law(some)
    assert collections_of(4, 2) == 1 + 4 + 6


@pytest.mark.parametrize(("halfspaces", "most"), [(0, 3), (2, 3), (4, 2), (10**9, 3), (2 * math.comb(10**6, 7), 7)])
def test_logarithms_of_numbers_of_collections(halfspaces: int, most: int) -> None:
    assert log_collections(halfspaces, most) == pytest.approx(math.log(collections_of(halfspaces, most)), rel=1e-14)
