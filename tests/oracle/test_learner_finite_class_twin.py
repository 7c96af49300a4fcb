"""Exponential mechanism and consistent learners against decimal arithmetic and plain loops."""

from __future__ import annotations

import decimal
from decimal import Decimal

import numpy as np
import pytest

from dpaudit.contract import Domain, Sample
from dpaudit_learners.finite.counting import ClassLearner, scores
from dpaudit_learners.finite.exponential import ExponentialLearner
from dpaudit_learners.mechanisms import exponential
from dpaudit_learners.points.concepts import OccamConsistent, PointConsistent, ThresholdConsistent
from dpaudit_learners.points.exponential import PointExponential, ThresholdExponential

decimal.getcontext().prec = 60


def random_sample(domain: Domain, rng: np.random.Generator, m: int, top: int = 4) -> Sample:
    points = domain.points()
    counts = rng.integers(1, top, m) if m else None
    chosen = points[rng.integers(0, len(points), m)]
    if m:
        return domain.sample(chosen, rng.integers(0, 2, m), counts)
    return domain.empty_sample()


def slow_scores(learner: ClassLearner, sample: Sample) -> list[int]:
    result = []
    for code in range(learner.concepts.size):
        concept = learner.concepts.concept(code)
        rows = zip(sample.points, sample.labels, sample.counts, strict=True)
        result.append(sum(int(c) for x, y, c in rows if concept.predict(x[None, :])[0] == y))
    return result


def slow_log_softmax(values: list[int], rate: float) -> list[Decimal]:
    logs = [Decimal(rate) * (v - max(values)) for v in values]
    total = sum(x.exp() for x in logs).ln()
    return [x - total for x in logs]


@pytest.mark.parametrize("learner", [PointExponential(6, 0.3), ThresholdExponential(6, 1.7)], ids=lambda v: v.id)
@pytest.mark.parametrize("top", [4, 10**12])
def test_exponential_law_is_within_its_error_of_the_decimal_one(learner: ExponentialLearner, top: int) -> None:
    rng = np.random.default_rng(6)
    for m in (0, 1, 2, 5, 9):
        sample = random_sample(learner.domain, rng, m, top)
        values = slow_scores(learner, sample)
        assert scores(learner.concepts, sample).tolist() == values
        law = learner.law(sample)
        exact = slow_log_softmax(values, learner.epsilon / 2)
        assert max(abs(Decimal(float(a)) - b) for a, b in zip(law.log_prob, exact, strict=True)) <= Decimal(law.error)
        assert law.error < 1e-13 * max(1.0, -law.log_prob.min())


def test_huge_scores_lose_nothing() -> None:
    base = 10**18
    law, error = exponential.log_law(np.array([base, base - 1, base - 3]), 0.5)
    exact = slow_log_softmax([3, 2, 0], 0.5)
    assert max(abs(Decimal(float(a)) - b) for a, b in zip(law, exact, strict=True)) <= Decimal(error)
    assert error < 1e-14


def test_inversion_draws_no_ineligible_output_at_either_end() -> None:
    class Edge:
        """A generator that returns the ends of [0, 1)."""

        def random(self, size: int) -> np.ndarray:
            return np.array([0.0, 1 - 2.0**-53] * (size // 2))

    eligible = np.array([False, True, True, False])
    drawn = exponential.draw(np.array([5, 3, 3, 9]), 1.0, Edge(), 4, eligible)  # type: ignore[arg-type]  # a generator of edges
    assert drawn.tolist() == [1, 2, 1, 2]
    # An output whose weight underflows is never drawn either.
    drawn = exponential.draw(np.array([0, 10**12, 0]), 1.0, Edge(), 4)  # type: ignore[arg-type]  # a generator of edges
    assert set(drawn.tolist()) == {1}


@pytest.mark.parametrize("learner", [PointExponential(6, 1.0), ThresholdExponential(6, 1.0), OccamConsistent(6)])
def test_counting_agrees_with_evaluating(learner: ClassLearner) -> None:
    class Plain:
        """The same class without its own way of counting."""

        size = learner.concepts.size
        evaluate = staticmethod(learner.concepts.evaluate)

    rng = np.random.default_rng(9)
    for m in (0, 1, 7, 30):
        sample = random_sample(learner.domain, rng, m, 10**12)
        plain = scores(Plain(), sample)  # type: ignore[arg-type]  # only labels are asked for
        assert plain.tolist() == scores(learner.concepts, sample).tolist()


def test_a_third_party_class_needs_its_domain_and_concepts_only() -> None:
    class Own(ExponentialLearner):
        epsilon = 1.0
        domain = ThresholdExponential(4, 1.0).domain
        concepts = ThresholdExponential(4, 1.0).concepts

    sample = Own.domain.sample([0, 3], [1, 0])
    assert (Own().law(sample).log_prob == ThresholdExponential(4, 1.0).law(sample).log_prob).all()


def test_consistent_learners_against_plain_search() -> None:
    rng = np.random.default_rng(2)
    for _ in range(300):
        point = PointConsistent(5)
        threshold = ThresholdConsistent(5)
        occam = OccamConsistent(5)
        sample = random_sample(point.domain, rng, int(rng.integers(0, 5)))
        positives = [int(x) for (x,), y in zip(sample.points, sample.labels, strict=True) if y == 1]
        right = [v == sample.n for v in slow_scores(occam, sample)]
        # The rules of the learners in their own words: where no concept fits, Occam alone fails.
        expected = {
            point: min(positives, default=5),
            threshold: max(positives, default=-1) + 1,
            ThresholdConsistent(5, literal=True): max(positives, default=0),
            occam: right.index(True) if any(right) else -1,
        }
        for learner, code in expected.items():
            assert learner.run(sample, rng, 3).tolist() == [code] * 3
            law = learner.law(sample)
            assert law.log_prob[list(law.atoms).index(code)] == 0
            assert np.exp(law.log_prob).sum() == 1


def test_consistent_learners_are_consistent_where_they_can_be() -> None:
    for learner in (ThresholdConsistent(5), PointConsistent(5), OccamConsistent(5)):
        points = learner.domain.points()
        for row in learner.concepts.evaluate(points):
            sample = learner.domain.sample(points[[1, 2, 4]], row[[1, 2, 4]])
            code = int(learner.run(sample, np.random.default_rng(0), 1)[0])
            assert sample.errors(learner.decode(code)) == 0


def test_the_literal_threshold_errs_on_its_own_example() -> None:
    learner = ThresholdConsistent(5, literal=True)
    sample = learner.domain.sample([2, 4], [1, 0])
    code = int(learner.run(sample, np.random.default_rng(0), 1)[0])
    assert sample.errors(learner.decode(code)) == 1
    assert ThresholdConsistent(5).run(sample, np.random.default_rng(0), 1).tolist() == [3]
