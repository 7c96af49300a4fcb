"""Hull points, halfspaces by a deep point, and the lower bound's experiment."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpaudit
from dpaudit.contract import InputError
from dpaudit.seeding import generator
from dpaudit_learners.halfspaces.concepts import Halfspaces
from dpaudit_learners.halfspaces.controls import LEARNERS as BROKEN
from dpaudit_learners.halfspaces.depth.tukey_depth import tukey_depth
from dpaudit_learners.halfspaces.exponential import HalfspaceExponential
from dpaudit_learners.halfspaces.hull_point import HullPointExponential
from dpaudit_learners.halfspaces.hull_point_rec_concave import HullPointRecConcave
from dpaudit_learners.halfspaces.lower_bound import (
    coefficients,
    named_point,
    required_examples,
    theorem_51_slack,
)
from dpaudit_learners.halfspaces.sizes import figure_1_share
from dpaudit_learners.halfspaces.subsamples import consistent_law
from dpaudit_learners.halfspaces.tukey import HalfspaceTukey
from dpaudit_learners.mechanisms.rec_concave import RecConcave
from dpaudit_learners.mechanisms.steps import Steps


@pytest.mark.parametrize("broken", BROKEN, ids=lambda c: c.id)
def test_broken_variants_are_convicted_by_far(broken: Any) -> None:
    learner = broken(**broken.instance.parameters)
    finding = dpaudit.pac.audit_law(learner)
    assert finding.verdict == "violation"
    assert finding.epsilon >= 1.5 * learner.privacy.epsilon


@pytest.mark.parametrize(
    ("learner", "n"),
    [
        (HullPointExponential(1, 2, 1.0), 4),
        (HullPointExponential(3, 1, 2.0), 3),
        (HullPointRecConcave(1, 2, 1.0, 1e-6, 0.1), 4),
        (HalfspaceExponential(1, 2, 1.0), 4),
        (HalfspaceTukey(1, 1, 1.0, subsamples=2), 3),
        (HalfspaceTukey(1, 1, 2.0, subsamples=3, variant="exponential"), 3),
    ],
    ids=lambda v: getattr(v, "id", v),
)
def test_sound_learners_keep_their_claim(learner: Any, n: int) -> None:
    finding = dpaudit.pac.audit_law(learner, n=n)
    assert finding.verdict == "consistent"
    assert 0.1 < finding.epsilon <= learner.privacy.epsilon


def test_the_law_on_the_square_by_hand() -> None:
    # One example at (0, 0): Q = 1, 0, 0 on x_1 = 0, 1/2, 1, then depth 1 at (0, 0) alone. Rate epsilon/4. The six lines
    # through two corners meet x_1 = 0 and x_1 = 1 in the corners alone, x_1 = 1/2 in 0, 1/2 and 1.
    learner = HullPointExponential(1, 2, 2.0)
    law = learner.law(learner.domain.sample([[0, 0]], [1]))
    p = dict(zip(law.atoms, np.exp(law.log_prob), strict=True))
    e = math.exp(0.5)
    assert p[Fraction(0), Fraction(0)] == pytest.approx(e / (e + 2) * e / (e + 1), abs=1e-12)
    assert p[Fraction(0), Fraction(1)] == pytest.approx(e / (e + 2) / (e + 1), abs=1e-12)
    assert p[Fraction(1, 2), Fraction(1, 2)] == pytest.approx(1 / (e + 2) / 3, abs=1e-12)
    assert p[Fraction(1), Fraction(0)] == pytest.approx(1 / (e + 2) / 2, abs=1e-12)
    assert len(p) == 7


def test_a_released_point_is_as_deep_as_guaranteed() -> None:
    # The guarantee fails with probability at most beta = 1e-6 / 50 in each of 50 runs.
    learner = HullPointExponential(2, 2, 1.0)
    rng = generator(1, "deep")
    weights = rng.multinomial(5000, np.ones(9) / 9)
    sample = learner.domain.sample(learner.domain.points(), np.zeros(9, dtype=int), weights)
    least = learner.depth_guarantee(5000, 1e-6 / 50)
    assert least > 0
    for point in set(learner.run(sample, rng, 50)):
        assert tukey_depth(learner.domain.points(), weights, point) >= least


def test_recconcave_on_few_candidates_is_the_exponential_mechanism() -> None:
    exponential, recursive = HullPointExponential(1, 2, 1.0), HullPointRecConcave(1, 2, 1.0, 1e-6, 0.1)
    sample = exponential.domain.sample([[0, 0], [1, 1], [1, 0]], [0, 1, 1], [3, 1, 2])
    a, b = exponential.law(sample), recursive.law(sample)
    assert list(a.atoms) == list(b.atoms)
    assert np.abs(a.log_prob - b.log_prob).max() < 1e-12
    assert recursive.mechanism(3, 0, 3).calls[0].delta == 0


def test_promises_shares_and_costs() -> None:
    for d in (1, 2, 3):
        repaired = HullPointRecConcave(1, d, 1.0, 1e-6, 0.1)
        n = 60 * d * (d + 1)
        assert repaired.guaranteed_depth(n) >= Fraction(n, 2 * (d + 1))
        for axis in range(1, d):
            # What a coordinate keeps is what the next one is promised.
            kept = (1 - Fraction(1, 2 * d)) * repaired.promise(axis - 1, n)
            assert kept >= repaired.promise(axis, n)
        cost = repaired.cost([2**20] * d, n)
        assert float(cost.epsilon) <= 1 + 1e-12
        assert float(cost.delta) <= 1e-6 * (1 + 1e-12)
        literal = HullPointRecConcave(1, d, 1.0, 1e-6, 0.1, literal=True)
        assert float(literal.cost([2**20] * d, n).epsilon) <= 1 + 1e-12
    printed = HullPointRecConcave(1, 2, 1.0, 1e-6, 0.1, literal=True)
    assert printed.guaranteed_depth(24) == 3 < Fraction(24, 6)
    assert figure_1_share(1.0, 1e-6, 116) < 1 / 116
    assert figure_1_share(1.0, 1e-6, 117) > 1 / 117
    needed = HullPointRecConcave(1, 2, 1.0, 1e-6, 0.1).required_examples(3)
    mechanism = HullPointRecConcave(1, 2, 1.0, 1e-6, 0.1).mechanism(3, 1, needed)
    assert mechanism.promise >= mechanism.promise_needed(0.05) - 1e-6


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_degenerate_samples_are_learned_from(dimension: int) -> None:
    learner = HullPointExponential(1, dimension, 50.0)
    rng = generator(8, "degenerate")
    assert len(learner.run(learner.domain.empty_sample(), rng, 5)) == 5
    # 100 examples at one point, epsilon 50: another point wins with probability below e^-500.
    corner = [1] * dimension
    assert set(learner.run(learner.domain.sample([corner], [0], [100]), rng, 5)) == {tuple(map(Fraction, corner))}
    # Two points: what is released lies on the line between them, all coordinates alike.
    flat = learner.domain.sample([[0] * dimension, corner], [0, 1], [200, 200])
    assert all(len(set(point)) == 1 for point in learner.run(flat, rng, 5))


def test_the_claim_is_what_the_calls_cost() -> None:
    # Up to 33 candidates RecConcave is the exponential mechanism: side 2 has 17 first coordinates, side 3 has 99.
    few, many = (HullPointRecConcave(side, 2, 1.0, 1e-6, 0.1).privacy for side in (2, 3))
    assert (few.epsilon, few.delta) == (1.0, 0.0)
    assert (many.epsilon, many.delta) == (1.0, 1e-6)
    literal = HullPointRecConcave(1, 2, 1.0, 1e-6, 0.1, literal=True)
    # Two pure calls of epsilon_0 each: adding up beats advanced composition.
    assert literal.privacy.epsilon == pytest.approx(2 * figure_1_share(1.0, 1e-6, 2), rel=1e-12)
    finding = dpaudit.pac.audit_law(literal, n=4)
    assert finding.verdict == "consistent"
    assert finding.epsilon > literal.privacy.epsilon / 3
    assert HalfspaceTukey(1, 1, 1.0).privacy.delta == 0
    assert HalfspaceTukey(1, 2, 1.0).privacy.delta == 1e-6
    for broken in BROKEN:
        parameters = broken.instance.parameters
        assert broken(**parameters).privacy.epsilon == parameters["epsilon"]


def test_recconcave_really_recurses_on_a_long_axis() -> None:
    learner = HullPointRecConcave(99, 1, 1.0, 1e-3, 0.1)
    assert learner.mechanism(100, 0, 10).levels == 2
    sample = learner.domain.sample([3, 40, 90], [0, 0, 1], [5, 4, 6])
    law = learner.law(sample)
    assert np.exp(law.log_prob).sum() == pytest.approx(1, abs=1e-9)
    finding = dpaudit.pac.audit_law(
        learner, samples=[dpaudit.Pair(sample, learner.domain.sample([3, 40, 90], [0, 0, 1], [4, 5, 6]))]
    )
    assert finding.verdict == "consistent"
    assert finding.epsilon > 0


def test_labels_of_hull_point_samples_are_ignored() -> None:
    learner = HullPointExponential(2, 2, 1.0)
    a = learner.domain.sample([[0, 0], [0, 0], [2, 1]], [0, 1, 1], [2, 3, 4])
    b = learner.domain.sample([[0, 0], [2, 1]], [1, 0], [5, 4])
    assert (learner.law(a).log_prob == learner.law(b).log_prob).all()
    assert learner.decode((Fraction(1, 2), Fraction(0))).predict(np.array([[0, 5], [1, 0]])).tolist() == [0, 1]


def slow_mixture(learner: HalfspaceTukey, sample: Any) -> dict[tuple[int, ...], Fraction]:
    """Return the law of the counts of the h_i by assigning every single example to a subsample."""
    table = learner.concepts.evaluate(sample.points)
    examples = [i for i, count in enumerate(sample.counts) for _ in range(count)]
    law: dict[tuple[int, ...], Fraction] = {}
    for places in itertools.product(range(learner.subsamples), repeat=len(examples)):
        options = []
        for part in range(learner.subsamples):
            mine = [i for i, place in zip(examples, places, strict=True) if place == part]
            fits = [h for h in range(len(table)) if all(table[h, i] == sample.labels[i] for i in mine)]
            options.append(fits or [0])
        for chosen in itertools.product(*options):
            counts = tuple(chosen.count(h) for h in range(len(table)))
            weight = Fraction(1, learner.subsamples ** len(examples) * math.prod(map(len, options)))
            law[counts] = law.get(counts, Fraction(0)) + weight
    return law


def test_the_law_of_the_subsamples_is_that_of_every_assignment() -> None:
    learner = HalfspaceTukey(1, 1, 1.0, subsamples=2)
    for points, labels, counts in (([0, 1], [0, 1], [2, 2]), ([0, 0, 1], [0, 1, 1], [1, 2, 1]), ([1], [1], [3])):
        sample = learner.domain.sample(points, labels, counts)
        assert learner.scheme.mixture(sample) == slow_mixture(learner, sample)


def test_the_law_of_independent_subsamples_is_that_of_every_sequence() -> None:
    concepts, p = Halfspaces(2, 1), [0.5, 0.2, 0.3]
    table = concepts.evaluate(concepts.domain.points())
    for target in (0, 3):
        expected = np.zeros(concepts.size)
        for drawn in itertools.product(range(3), repeat=4):
            fits = (table[:, drawn] == table[target, drawn]).all(axis=1)
            expected += math.prod(p[i] for i in drawn) * fits / fits.sum()
        assert consistent_law(concepts, target, p, 4) == pytest.approx(expected, abs=1e-12)
    assert consistent_law(concepts, 3, p, 10**15)[3] == 1
    with pytest.raises(InputError, match="probabilities"):
        consistent_law(concepts, 3, [0.5, 0.5], 4)


def test_halfspace_tukey_learns_a_threshold() -> None:
    # 200 subsamples of about 200 examples each see every point; the deep point errs nowhere.
    learner = HalfspaceTukey(3, 1, 2.0, subsamples=200, variant="exponential")
    concept = learner.concepts.concept(5)
    points = learner.domain.points()
    sample = learner.domain.sample(points, concept.predict(points), [10**4] * 4)
    for code in learner.run(sample, generator(2, "tukey"), 5):
        assert (learner.decode(code).predict(points) == concept.predict(points)).all()


def test_coefficients_and_the_procedure() -> None:
    points = [(1, 2, 0), (2, 1, 0)]
    assert coefficients((4, 5, 0), points) == [2, 1]
    assert coefficients((0, 0, 1), points) is None
    assert coefficients((1, 2, 0), [(1, 2, 0), (2, 4, 0)]) is None
    assert named_point((-1, -2, 0), points) == 0
    assert named_point((-1, -2, 0), points, literal=True) == 1
    assert named_point((0, 0, 0), points) is None


def test_lower_bounds_solve_their_equation() -> None:
    m = required_examples(10, 99, 1.0, 1e-6)
    right = math.exp(2 * m / 10) * (100.0**-4 + 2e-6 * m / 10)
    assert right == pytest.approx(1 / 20, rel=1e-9)
    assert required_examples(10, 99, 1.0, literal=True) == pytest.approx(5 * math.log(100.0**5 / 20), rel=1e-9)
    assert required_examples(10, 99, 2.0) == pytest.approx(required_examples(10, 99, 1.0) / 2, rel=1e-9)
    assert required_examples(2, 1, 1.0) == 0
    assert theorem_51_slack(8, 1) == 0
    assert theorem_51_slack(6, 1) < 0


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: HullPointExponential(2, 4, 1.0), "dimension"),
        (lambda: HullPointExponential(1001, 2, 1.0), "side"),
        (lambda: HullPointRecConcave(17, 2, 1.0, 1e-6, 0.1), "side"),
        (lambda: HullPointRecConcave(1, 2, 1.0, 0.5, 0.1), "delta"),
        (lambda: HullPointRecConcave(1, 2, 2.0, 1e-6, 0.1, literal=True), "epsilon"),
        (lambda: HalfspaceTukey(1, 3, 1.0), "dimension"),
        (lambda: HalfspaceTukey(1001, 2, 1.0), "side"),
        (lambda: HalfspaceTukey(1, 4, 1.0, variant="positive"), "dimension"),
        (lambda: HalfspaceTukey(1, 1, 1.0, subsamples=0), "subsamples"),
        (lambda: HalfspaceTukey(1, 1, 1.0, variant="best"), "variant"),
        (lambda: HalfspaceExponential(2, 4, 1.0), "dimension"),
        (lambda: HalfspaceExponential(10, 3, 1.0), "more than"),
    ],
)
def test_bad_parameters_are_refused_by_name(make: Any, name: str) -> None:
    with pytest.raises(InputError, match=name):
        make()


def test_figure_1_selects_among_the_same_candidates_after_every_prefix() -> None:
    literal, ours = (HullPointRecConcave(2, 2, 1.0, 1e-6, 0.1, literal=literal) for literal in (True, False))
    first, second = (literal.extended.union(axis) for axis in (1, 2))
    assert (len(first), len(second)) == (17, 51)
    assert {len(literal.extended.coordinates((x,))) for x in first} == {51}
    assert max(len(ours.extended.coordinates((x,))) for x in first) == 15
    # Among 51 candidates RecConcave recurses, so that the second selection spends its delta.
    share = figure_1_share(1.0, 1e-6, 2)
    assert (literal.privacy.epsilon, literal.privacy.delta) == (pytest.approx(2 * share, rel=1e-12), 1e-6 / 4)
    assert ours.privacy.delta == 0
    points = literal.domain.points()
    counts = np.array([1, 4, 0, 2, 9, 3, 0, 5, 6])
    law = literal.law(literal.domain.sample(points, np.zeros(9, dtype=int), counts))
    assert list(law.atoms) == [(x, y) for x in first for y in second]
    # The figure once more: Q is the greatest depth over the second set, and each selection one call of RecConcave.
    depths = np.array([[int(tukey_depth(points, counts, (x, y))) for y in second] for x in first])
    budget = Fraction(share), Fraction(1e-6) / 4
    # r is n/3 and n/3 - n/6, n = 30.
    calls = [
        RecConcave.within(16, Fraction(10), Fraction(1, 4), *budget),
        RecConcave.within(50, Fraction(5), Fraction(1, 4), *budget),
    ]
    outer = calls[0].log_law(Steps.of_values(depths.max(axis=1).tolist()))[0]
    inner = [calls[1].log_law(Steps.of_values(row.tolist()))[0] for row in depths]
    assert np.abs(law.log_prob - np.concatenate([a + b for a, b in zip(outer, inner, strict=True)])).max() < 1e-9
    many = 10**4 * counts
    released = literal.run(literal.domain.sample(points, np.zeros(9, dtype=int), many), generator(3, "figure 1"), 50)
    assert all(6 * int(tukey_depth(points, many, point)) >= many.sum() for point in set(released))
    with pytest.raises(InputError, match="side"):
        HullPointRecConcave(5, 2, 1.0, 1e-6, 0.1, literal=True)
    with pytest.raises(InputError, match="69399 points"):
        HullPointRecConcave(3, 2, 1.0, 1e-6, 0.1, literal=True).law(literal.domain.sample([[0, 0]], [0]))
