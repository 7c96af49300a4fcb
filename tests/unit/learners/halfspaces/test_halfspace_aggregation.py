"""LearnHalfSpace in more dimensions: the releases, their guarantees, the theorem's sizes, and huge m and n."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from learner_cases import remember_laws

import dpaudit
from dpaudit.conformance import check_learner
from dpaudit.contract import InputError
from dpaudit.seeding import generator
from dpaudit_learners.halfspaces.concepts import Halfspace, Halfspaces
from dpaudit_learners.halfspaces.depth.tukey_depth import tukey_depth
from dpaudit_learners.halfspaces.releases import Agreement, AnyHullPoint, DeepExponential, DeepRecConcave
from dpaudit_learners.halfspaces.subsamples import consistent_law, independent_counts
from dpaudit_learners.halfspaces.tukey import HalfspaceTukey


def slow_agreement(concepts: Halfspaces, counts: list[int], hypothesis: Any) -> int:
    """Return the least number of the counted halfspaces that agree with a hypothesis at a point."""
    points = concepts.domain.points()
    mine = hypothesis.predict(points)
    found = []
    for i in range(len(points)):
        same = (concepts.concept(h).predict(points)[i] == mine[i] for h in range(concepts.size))
        found.append(sum(c for c, ok in zip(counts, same, strict=True) if ok))
    return min(found)


@pytest.mark.parametrize(("side", "dimension"), [(2, 1), (1, 2), (1, 3)])
def test_agreement_counts_what_agrees_and_has_a_centre(side: int, dimension: int) -> None:
    concepts, release = Halfspaces(side, dimension), Agreement(side, dimension, 1.0)
    rng = np.random.default_rng(dimension)
    for n in (1, 3, 8, 20):
        counts = rng.multinomial(n, rng.dirichlet(np.ones(concepts.size) * 0.3))
        scores = release.scores(counts)
        for h in rng.choice(concepts.size, 4):
            assert scores[h] == slow_agreement(concepts, counts.tolist(), concepts.concept(int(h)))
        # The label of a point deep in R^(d + 1) is a halfspace that m/(d + 2) agree with everywhere.
        assert scores.max() >= n / (dimension + 2)
        moved = counts.copy()
        moved[rng.choice(np.flatnonzero(counts))] -= 1
        moved[rng.integers(concepts.size)] += 1
        assert np.abs(release.scores(moved) - scores).max() <= 1


def test_every_positive_combination_agrees_with_one_of_its_parts_everywhere() -> None:
    concepts, release = Halfspaces(1, 2), Agreement(1, 2, 1.0)
    table, rows = concepts.evaluate(concepts.domain.points()), concepts.representations
    rng = np.random.default_rng(4)
    for _ in range(200):
        counts = np.zeros(14, dtype=np.int64)
        counts[rng.choice(14, 3, replace=False)] = rng.integers(1, 5, 3)
        mixed = (rng.integers(1, 9, 14) * counts) @ rows
        labels = Halfspace(tuple(mixed[:-1].tolist()), int(mixed[-1])).predict(concepts.domain.points())
        (h,) = np.flatnonzero((table == labels).all(axis=1))
        assert release.scores(counts)[h] >= 1
    # The converse fails: 00 agrees with 01 or 10 everywhere.
    assert Agreement(1, 1, 1.0).scores([0, 1, 1, 0]).tolist() == [1, 1, 1, 1]


def test_the_release_by_agreement_by_hand() -> None:
    # On {0, 1} the labellings 00, 01, 10, 11 are all halfspaces; h_i: three times 01, once 00. At the point 0 all four
    # say 0, at 1 three say 1: q = 1, 3, 0, 0.
    release = Agreement(1, 1, 2.0)
    assert Halfspaces(1, 1).evaluate(np.array([[0], [1]])).tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert release.scores([1, 3, 0, 0]).tolist() == [1, 3, 0, 0]
    weights = np.exp([1.0, 3.0, 0.0, 0.0])
    assert np.exp(release.release_law([1, 3, 0, 0]).log_prob) == pytest.approx(weights / weights.sum(), abs=1e-12)


def test_deep_points_in_space_agree_with_as_many_as_they_are_deep() -> None:
    # The guarantee fails with probability at most 1e-6 in each run.
    concepts = Halfspaces(1, 2)
    release = DeepExponential(1, 3, 1.0)
    rng = generator(0, "space")
    counts = np.zeros(14, dtype=np.int64)
    counts[[1, 4, 5]] = [900, 500, 400]
    kept = counts > 0
    least = release.agreement(1800, 1e-6)
    assert least > 0
    for point in set(release.release(counts, rng, 4)):
        depth = tukey_depth(concepts.representations[kept], counts[kept], point)
        agreement = slow_agreement(concepts, counts.tolist(), Halfspace(point[:-1], point[-1]))
        assert agreement >= depth >= least


@pytest.mark.parametrize("dimension", [2, 3])
def test_any_point_of_the_hull_needs_fewer_subsamples_than_a_deep_one(dimension: int) -> None:
    deep = DeepRecConcave(1, dimension, 1.0, 1e-6, 0.1)
    hull = AnyHullPoint(1, dimension, 1.0, 1e-6, 0.1)
    n = 10**6
    for axis in range(1, dimension):
        assert hull.promise(axis, n) == (1 - hull.accuracy) * hull.promise(axis - 1, n)
    assert hull.guaranteed_depth(n) > 0
    most = max(deep.extended.most)
    # Both are rounded up.
    assert abs(hull.required_examples(most) - 3 / 4 * deep.required_examples(most)) <= 1
    assert hull.agreement(hull.required_examples(most), 0.1) == 1
    assert hull.agreement(hull.required_examples(most) - 1, 0.1) == 0


def test_bounds_on_candidates_are_bounds() -> None:
    extended = DeepRecConcave(1, 3, 1.0, 1e-6, 0.1).extended
    first = extended.coordinates()
    assert extended.most[0] == len(first)
    for x in first[::300]:
        second = extended.coordinates((x,))
        assert len(second) <= extended.most[1]
        assert len(extended.coordinates((x, second[len(second) // 2]))) <= extended.most[2]


@pytest.mark.usefixtures("_fewer_runs")
@pytest.mark.parametrize(
    "learner",
    [
        HalfspaceTukey(1, 2, 1.0, subsamples=2, variant="positive"),
        HalfspaceTukey(2, 1, 1.0, subsamples=3, variant="positive"),
        HalfspaceTukey(1, 1, 1.0, subsamples=3, variant="hull"),
    ],
    ids=lambda v: f"{v.variant}-{v.dimension}",
)
def test_the_variants_keep_the_contract_and_the_claim(learner: HalfspaceTukey, monkeypatch: pytest.MonkeyPatch) -> None:
    remember_laws(HalfspaceTukey, monkeypatch)
    check_learner(learner)
    finding = dpaudit.pac.audit_law(learner, n=2)
    assert finding.verdict == "consistent"
    assert 0.1 < finding.epsilon <= 1


def test_a_release_without_budget_for_it_is_convicted() -> None:
    class Spending(HalfspaceTukey):
        """Spends eight times its epsilon. Source: none."""

        _spending = 8.0

    for dimension, variant in ((2, "positive"), (1, "hull")):
        finding = dpaudit.pac.audit_law(Spending(1, dimension, 1.0, subsamples=1, variant=variant), n=2)
        assert finding.verdict == "violation"
        assert finding.epsilon > 1.5


def test_the_law_in_the_plane_is_that_of_every_assignment() -> None:
    learner = HalfspaceTukey(1, 2, 1.0, subsamples=2, variant="positive")
    table = learner.concepts.evaluate(learner.domain.points())
    for points, labels in (([[0, 0], [1, 1]], [0, 1]), ([[1, 0], [1, 0]], [0, 1])):
        sample = learner.domain.sample(points, labels)
        rows = [2 * x + y for x, y in sample.points.tolist()]
        total = np.zeros(14)
        for places in itertools.product(range(2), repeat=2):
            fits = []
            for part in range(2):
                mine = [i for i, place in enumerate(places) if place == part]
                fits.append([h for h in range(14) if all(table[h, rows[i]] == sample.labels[i] for i in mine)] or [0])
            for pair in itertools.product(*fits):
                counts = [pair.count(h) for h in range(14)]
                law = np.exp(learner.release.release_law(counts).log_prob)
                total += law / 4 / math.prod(map(len, fits))
        assert np.exp(learner.law(sample).log_prob[1:]) == pytest.approx(total, abs=1e-12)


def test_independent_subsamples_follow_their_law_at_any_size() -> None:
    concepts, p = Halfspaces(1, 2), [0.1, 0.2, 0.3, 0.4]
    rng = generator(3, "counts")
    (counts,) = independent_counts(concepts, 5, p, 10**15, 5 * 10**10, rng, 1)
    assert counts[5] == sum(counts) == 5 * 10**10
    law = consistent_law(concepts, 5, p, 3)
    (counts,) = independent_counts(concepts, 5, p, 3 * 10**12, 10**12, rng, 1)
    # 14 counts within 6 standard deviations each: fails with probability below 3e-8.
    assert (np.abs(np.array(counts) - 1e12 * law) <= 6 * np.sqrt(1e12 * law)).all()
    # What is rarely seen matters at huge sizes: the default 1 - (sum of the others) would be off by 1e-3 here.
    tiny = consistent_law(Halfspaces(1, 1), 1, [1 - 1e-13, 1e-13], 10**13)
    assert tiny[1] == pytest.approx(1 - math.exp(-1) / 2, rel=1e-9)


def test_theorem_42_at_its_own_constants() -> None:
    # m and s as large as the theorem with the printed constants asks for d = 2: nothing is listed.
    learner = HalfspaceTukey(1, 2, 1.0, subsamples=5 * 10**10)
    target = learner.concepts.concept(5)
    points = learner.domain.points()
    for code in learner.simulate(5, [0.1, 0.3, 0.3, 0.3], 96 * 10**13, generator(4, "huge"), 3):
        hypothesis = learner.decode(code)
        assert hypothesis is not None
        assert (hypothesis.predict(points) == target.predict(points)).all()
    with pytest.raises(InputError, match="subsamples"):
        learner.run(learner.domain.sample(points, [0, 0, 0, 1]), generator(0, "x"), 1)


def test_the_sample_size_is_what_the_union_bound_needs() -> None:
    learner = HalfspaceTukey(1, 2, 1.0, subsamples=90, variant="positive")
    r, n = learner.release.agreement(90, 0.05), learner.utility(0.1, 0.1).sample_size
    assert r == 12

    def bound(n: int) -> float:
        return 90 * 14 * math.exp(-r * 0.1 / 90 * n / 90)

    assert bound(n) <= 0.05 < bound(n - 1)
    assert learner.sample_size(0.1, 0.1) == n
    finding = dpaudit.pac.audit_utility(learner, 5, "uniform", alpha=0.1, beta=0.1, trials=100)
    assert finding.verdict == "holds"
    assert finding.claim_id == "BMNS-Thm4.2"
    with pytest.raises(InputError, match="beta"):
        learner.utility(0.1, 1e-9)


def test_too_few_subsamples_promise_nothing() -> None:
    few = HalfspaceTukey(1, 1, 1.0)
    assert few.utility(0.1, 0.1) is None
    with pytest.raises(InputError, match="beta must be larger for 3 subsamples"):
        few.sample_size(0.1, 0.1)
    for variant in ("rec-concave", "exponential", "hull", "positive"):
        enough = replace(few, subsamples=10**5, variant=variant)
        assert enough.utility(0.1, 0.1).sample_size > 10**5


def test_limits_are_told() -> None:
    learner = HalfspaceTukey(1, 2, 1.0, subsamples=1)
    sample = learner.domain.sample([[0, 0]], [1])
    with pytest.raises(InputError, match="dimension must be 1 for the exact law"):
        learner.law(sample)
    many = HalfspaceTukey(1, 2, 1.0, subsamples=8, variant="positive")
    with pytest.raises(InputError, match="subsamples must be fewer"):
        many.law(sample)
    for bad in ({"target": 14}, {"n": 5}, {"probabilities": [1.0]}):
        arguments: Any = {"target": 0, "probabilities": [0.25] * 4, "n": 100, **bad}
        with pytest.raises(InputError, match=next(iter(bad))):
            replace(learner, subsamples=10).simulate(**arguments, rng=generator(0, "x"), size=1)


def test_coordinates_of_a_release_in_space_are_those_of_its_extended_domain() -> None:
    learner = HalfspaceTukey(1, 2, 1.0, subsamples=4, variant="exponential")
    sample = learner.domain.sample([[0, 0], [1, 1]], [0, 1], [30, 30])
    extended = learner.release.extended
    for code in learner.run(sample, generator(5, "space"), 2):
        assert not isinstance(code, int)
        for axis in range(3):
            assert code[axis] in extended.coordinates(code[:axis])
            assert isinstance(code[axis], Fraction)
