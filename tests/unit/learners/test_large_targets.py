"""Targets of classes that are too large to be listed, and audits of utility at the sizes of theorems."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpaudit
from dpaudit.app.application import main
from dpaudit.contract import Distribution, HasHardTargets, InputError, Membership
from dpaudit.utility.audit import audit_utility
from dpaudit.utility.hard_cases import hard_cases
from dpaudit.utility.interval import size_of
from dpaudit_learners.boxes.concepts import Box, Boxes
from dpaudit_learners.conjunctions.concepts import (
    Conjunction,
    Conjunctions,
    Disjunction,
    ShortConjunctions,
    ShortDisjunctions,
)
from dpaudit_learners.conjunctions.laplace import ConjunctionLaplace
from dpaudit_learners.conjunctions.set_cover import SetCoverConjunction
from dpaudit_learners.halfspaces.concepts import Halfspace, Halfspaces
from dpaudit_learners.halfspaces.hull_point_rec_concave import HullPointRecConcave
from dpaudit_learners.interior_points.interior_point import InteriorPointRecConcave
from dpaudit_learners.mixtures.halfspace import MixtureHalfspace
from dpaudit_learners.parities.amplified import ParityAmplified
from dpaudit_learners.parities.concepts import Parities
from dpaudit_learners.regions.concepts import ConvexPolygons, Halfplanes, PolygonUnions, Triangles
from dpaudit_learners.regions.discs import DiscUnion, DiscUnions
from dpaudit_learners.regions.halfplane_select import HalfplaneSelect
from dpaudit_learners.regions.region_cover import ConvexPolygon
from dpaudit_learners.regions.shapes import Halfplane, Intersection

LARGE = [
    Halfplanes(2**64),
    Triangles(10**6),
    ConvexPolygons(2**64, 4),
    PolygonUnions(1000, 1),
    PolygonUnions(1000, 5),
    DiscUnions(100, 2),
    DiscUnions(11, 1),
    Halfspaces(10**4, 2),
    Halfspaces(100, 3),
    Conjunctions(60),
    ShortConjunctions(30, 5),
    ShortDisjunctions(30, 5),
    Parities(63),
    Boxes(2**20, 3),
]


@pytest.mark.parametrize("concepts", LARGE, ids=str)
def test_targets_are_of_their_class_and_halve_the_mass(concepts: Any) -> None:
    assert isinstance(concepts, HasHardTargets)
    # The same in every process.
    again = concepts.hard_targets(0.1)
    for (target, law, name), (target_again, law_again, _) in zip(concepts.hard_targets(0.1), again, strict=True):
        assert law.name == name
        if isinstance(concepts, Membership):
            assert concepts.has(target)
        assert concepts.domain.contains(law.points).all()
        assert len({tuple(point) for point in law.points.tolist()}) == len(law.points)
        labels = target.predict(law.points)
        assert law.probabilities[labels == 1].sum() == pytest.approx(0.5, abs=1e-12)
        assert target_again == target
        assert np.array_equal(law_again.points, law.points)


@pytest.mark.parametrize(
    "concepts",
    [
        *(ConvexPolygons(side, k) for side in (7, 8, 17, 40) for k in (1, 2, 3, 7)),
        *(PolygonUnions(side, k) for side in (4, 5, 16) for k in (1, 2)),
        *(Halfplanes(side) for side in (7, 17)),
        *(Halfspaces(side, dimension) for side, dimension in ((3, 3), (4, 3), (12, 2), (5000, 1))),
        Boxes(8, 5),
    ],
    ids=str,
)
def test_targets_exist_from_the_smallest_sizes_on_that_ask_for_them(concepts: Any) -> None:
    for target, law, _ in concepts.hard_targets(0.1):
        assert concepts.has(target)
        assert concepts.domain.contains(law.points).all()


def test_a_box_that_reaches_the_ends_of_the_grid_is_no_target() -> None:
    assert Boxes(1, 13).hard_targets(0.1) == []
    assert Boxes(3, 7).hard_targets(0.1) == []


def test_points_of_a_polygon_lie_on_both_sides_of_each_edge() -> None:
    ((target, law, _),) = ConvexPolygons(2**64, 4).hard_targets(0.1)
    assert isinstance(target, Intersection)
    labels = {tuple(point): label for point, label in zip(law.points.tolist(), target.predict(law.points), strict=True)}
    for edge in target.halfplanes:
        # Exactly, as the grid has more points than a float has numbers.
        pairs = [(x, y) for x, y in labels if edge.a * x + edge.b - 1 < y <= edge.a * x + edge.b]
        assert len(pairs) >= 6
        assert all((x, y + 1) in labels and labels[x, y] != labels[x, y + 1] for x, y in pairs)


@pytest.mark.parametrize("kind", [ShortConjunctions, ShortDisjunctions])
def test_each_literal_decides_some_points_alone(kind: Any) -> None:
    concepts = kind(30, 5)
    target, law, _ = concepts.hard_targets(0.1)[0]
    truth = target.predict(law.points)
    for i in target._chosen:
        rest = type(target)(30, target.mask & ~(1 << i))
        assert (rest.predict(law.points) != truth).any()


@pytest.mark.parametrize(
    ("concepts", "foreign"),
    [
        (Halfplanes(4), Halfplane(1, Fraction(33), Fraction(0))),
        (Halfplanes(4), Intersection(())),
        (ConvexPolygons(4, 1), Intersection((Halfplane(1, Fraction(1), Fraction(0)),) * 2)),
        (PolygonUnions(4, 1), Intersection(())),
        (ShortConjunctions(6, 1), Conjunction(6, 0b101)),
        (ShortConjunctions(6, 2), Conjunction(6, 0b11)),
        (ShortConjunctions(6, 2), Disjunction(6, 0b1)),
        (ShortConjunctions(6, 2), Conjunction(5, 0b1)),
        (Boxes(9, 2), Box((0,), (1,))),
    ],
    ids=str,
)
def test_a_foreign_hypothesis_is_not_of_the_class(concepts: Any, foreign: Any) -> None:
    assert not concepts.has(foreign)


def test_cases_of_a_class_that_cannot_be_counted_are_its_own() -> None:
    learner = HalfplaneSelect(2**64, 1.0)
    assert size_of(learner.concepts) is None
    (case,) = hard_cases(learner, 0.1)
    finding = audit_utility(learner, case.concept, case.distribution, alpha=0.1, beta=0.1, trials=40, confidence=0.95)
    # Each run fails with probability 0.1 at most, by the theorem; the audit says so if none of 40 fails, which at a
    # failure rate of 0.01, far above what is measured, has probability 0.67.
    assert (finding.verdict, finding.claim_id, finding.n) == ("holds", "KMMS-Lem4.6", 14_436)
    noisy = HalfplaneSelect(2**64, 0.01)
    missed = audit_utility(noisy, case.concept, case.distribution, alpha=0.1, beta=0.1, n=finding.n, trials=10)
    assert missed.verdict == "violation"
    # With noise the best concept is the target itself.
    flipped = hard_cases(MixtureHalfspace(2, 1.0, 10**4), 0.1, "agnostic")
    assert [round(float(one.noise.max()), 2) for one in flipped] == [0.1, 0.3] * 2


def test_the_command_audits_what_cannot_be_listed(capsys: Any) -> None:
    arguments = ["utility", "halfplane-select", "-p", f"side={2**64}", "-p", "epsilon=1", "--alpha", "0.1"]
    assert main([*arguments, "--beta", "0.1", "--trials", "40", "--confidence", "0.95", "--quiet"]) == 0
    assert "14,436 examples" in capsys.readouterr().out


def test_conjunctions_of_many_variables_have_long_codes() -> None:
    learner = ConjunctionLaplace(60, 1.0, 0.05)
    point = [[0, 1] * 30]
    sample = learner.domain.sample(point, [1], [10**9])
    # Noise of scale 120 leaves all literals that the point makes true, and none of the others.
    codes = learner.run(sample, np.random.default_rng(0), 3)
    assert codes == [int("0110" * 30, 2)] * 3
    assert learner.decode(codes[0]).predict(np.array(point)).tolist() == [1]


def test_solutions_are_held_to_what_the_theorems_promise() -> None:
    deep = HullPointRecConcave(1, 2, 1.0, 1e-6, 0.1)
    sample = deep.domain.sample([[0, 0], [1, 0], [0, 1]], [0, 0, 0], [10, 10, 10])
    # n/(2 (d + 1)) = 5: a corner has depth 10.
    assert deep.solves((Fraction(0), Fraction(0)), sample)
    shallow = deep.domain.sample([[0, 0], [1, 0], [0, 1]], [0, 0, 0], [4, 13, 13])
    assert not deep.solves((Fraction(0), Fraction(0)), shallow)
    inner = InteriorPointRecConcave(8, 1.0, 1e-6)
    # (1 - alpha) n/2 = 5 of 20 on each side.
    spread = inner.domain.sample([[1], [2], [5]], [0, 0, 0], [4, 8, 8])
    assert [inner.solves(code, spread) for code in range(8)] == [False, False, True, True, True, True, False, False]


def _uniform(points: Any) -> Distribution:
    return Distribution(np.array(points), np.full(len(points), 1 / len(points)), "few")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"concept": 3}, "concept must be left out, or a hypothesis in Python: the concepts of 'halfplane"),
        ({"distribution": "uniform"}, "more than the 4194304 that can be listed"),
        ({"distribution": _uniform([[0, 1, 2]])}, "2 coordinate"),
        ({"distribution": _uniform([[0, 2**65]])}, "distribution must live on the domain"),
        ({"alpha": 0.0}, "alpha must be"),
        ({"beta": 1.0}, "beta must be"),
        ({"n": 0}, "n must be"),
    ],
)
def test_bad_input_at_real_size(given: dict[str, Any], said: str) -> None:
    learner = HalfplaneSelect(2**64, 1.0)
    (case,) = hard_cases(learner, 0.1)
    asked = {"concept": case.concept, "distribution": case.distribution, "alpha": 0.1, "beta": 0.1, "trials": 1}
    asked |= given
    with pytest.raises(InputError, match=re.escape(said)):
        audit_utility(learner, asked.pop("concept"), asked.pop("distribution"), **asked)


def test_a_target_outside_of_the_class_is_refused_with_its_distance() -> None:
    learner = ConvexPolygon(2, 1, 1.0, 1e-6, 0.05, 0.05)
    middle = [[x, y] for x in range(3) for y in range(3)]
    # No halfplane has the middle of the grid alone.
    target = Intersection(tuple(Halfplane(z, Fraction(s), 1 - Fraction(s)) for z in (1, -1) for s in (1, -1)))
    with pytest.raises(InputError, match=r"concept must be of the class of 'convex-polygon': the nearest concept errs"):
        audit_utility(learner, target, _uniform(middle), alpha=0.1, beta=0.1, trials=1)
    finding = dpaudit.pac.audit_utility(
        learner, target, _uniform(middle), alpha=0.1, beta=0.1, n=10, trials=1, setting="agnostic", noise=0.0
    )
    assert finding.best_error == pytest.approx(1 / 9)
    # A target that a class cannot judge is taken, and the theorem is not named.
    unknown = audit_utility(
        HalfplaneSelect(2**64, 1.0), target, _uniform([[0, 0], [1, 1]]), alpha=0.1, beta=0.1, n=20_000, trials=1
    )
    assert unknown.claim_id == ""


def test_a_sample_of_a_million_million_examples_costs_no_more() -> None:
    learner = HalfplaneSelect(2**64, 1.0)
    (case,) = hard_cases(learner, 0.1)
    finding = audit_utility(
        learner, case.concept, case.distribution, alpha=0.1, beta=0.1, n=10**12, trials=2, confidence=0.9
    )
    assert finding.failures == 0


@pytest.mark.parametrize("learner", [
    HalfplaneSelect(2**64, 1.0), SetCoverConjunction(30, 5, 1.0, 1e-6, 0.05, 0.05),
    DiscUnion(100, 1, 1.0, 1e-6, 0.05, 0.05), ParityAmplified(63, 1.0, 0.05),
], ids=lambda one: one.id)  # fmt: skip
def test_bad_input_is_told_with_the_number_that_stands_in_the_way(learner: Any) -> None:
    target, law, _ = learner.concepts.hard_targets(0.1)[-1]
    case = {"concept": target, "distribution": law, "alpha": 0.1, "beta": 0.1, "trials": 2}
    # As large a sample as counts can hold is run like any other.
    assert audit_utility(learner, **case, n=10**12).n == 10**12
    for name, value, words in (
        ("n", 0, "n must be an integer >= 1 and <= 4611686018427387904, got 0"),
        ("n", 10**19, "n must be an integer >= 1 and <= 4611686018427387904, got 10000000000000000000"),
        ("alpha", 0, r"alpha must be in \(0, 1\), got 0"),
        ("alpha", 1, r"alpha must be in \(0, 1\), got 1"),
        ("beta", 0, r"beta must be in \(0, 1\), got 0"),
        ("beta", 1, r"beta must be in \(0, 1\), got 1"),
        ("concept", 3.5, "concept must be a code of the learner's concepts or a hypothesis"),
        ("distribution", Distribution(np.full((1, law.points.shape[1]), -1), np.ones(1)), "live on the domain"),
        ("distribution", Distribution(np.zeros((1, 1), dtype=int), np.ones(1)), "coordinate"),
    ):
        with pytest.raises(InputError, match=words):
            audit_utility(learner, **{**case, name: value})
    for name in ("alpha", "beta"):
        assert audit_utility(learner, **{**case, name: 0.5}).verdict in ("undecided", "vacuous")


def test_a_target_outside_the_class_is_told() -> None:
    learner = SetCoverConjunction(30, 5, 1.0, 1e-6, 0.05, 0.05)
    _, law, _ = learner.concepts.hard_targets(0.1)[0]
    long = Conjunction(30, sum(1 << 2 * i for i in range(9)))
    finding = audit_utility(learner, long, law, alpha=0.1, beta=0.1, n=10**6, trials=2)
    assert finding.claim_id == ""
    assert finding.concept.endswith("not known to be of the class")
    few = Distribution(np.array([[0, 1], [1, 0], [1, 1]]), np.ones(3) / 3)
    with pytest.raises(InputError, match=r"the nearest concept errs with probability 0\.333"):
        audit_utility(SetCoverConjunction(2, 1, 1.0, 1e-6, 0.05, 0.05), Conjunction(2, 5), few, alpha=0.1, beta=0.1)
    with pytest.raises(InputError, match="predict of a Halfspace raised"):
        audit_utility(learner, Halfspace((1,), 0), law, alpha=0.1, beta=0.1, n=10, trials=2)
