"""Invariants of the learners under random samples."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.contract import Relation
from dpaudit_learners.conjunctions.concepts import ConjunctionExponential
from dpaudit_learners.conjunctions.consistent import ConjunctionElimination
from dpaudit_learners.conjunctions.greedy import ConjunctionGreedy
from dpaudit_learners.conjunctions.laplace import ConjunctionLaplace
from dpaudit_learners.parities.amplified import ParityAmplified
from dpaudit_learners.parities.concepts import ParityElimination
from dpaudit_learners.parities.private import ParityPrivate, ParityRestart
from dpaudit_learners.points.concepts import ThresholdConsistent
from dpaudit_learners.points.exponential import PointExponential, ThresholdExponential

PRIVATE = [
    PointExponential(3, 0.8),
    ThresholdExponential(3, 0.8),
    ParityPrivate(2, 1.0),
    ParityPrivate(2, 3.8),
    ConjunctionLaplace(2, 3.0, 0.8),
    ParityAmplified(2, 2.0, 0.1),
    ParityRestart(2, 2.0, 0.05),
    ConjunctionExponential(2, 2, 1.0),
    ConjunctionGreedy(2, 2, 2.0, rounds=4),
]

rows = st.lists(st.tuples(st.integers(0, 255), st.integers(0, 1), st.integers(1, 30)), min_size=1, max_size=5)


def build(learner: Any, chosen: list[tuple[int, int, int]]) -> Any:
    points = learner.domain.points()
    index = [i % len(points) for i, _, _ in chosen]
    return learner.domain.sample(points[index], [y for _, y, _ in chosen], [c for _, _, c in chosen])


@settings(max_examples=40)
@given(st.sampled_from(PRIVATE), rows)
def test_laws_are_laws_and_neighbours_stay_within_the_claim(learner: Any, chosen: Any) -> None:
    sample = build(learner, chosen)
    law = learner.law(sample)
    assert math.isclose(math.fsum(np.exp(law.log_prob)), 1, abs_tol=1e-11)
    for neighbour in sample.neighbours(Relation.REPLACE_ONE):
        other = learner.law(neighbour)
        assert np.abs(law.log_prob - other.log_prob).max() <= learner.epsilon + law.error + other.error


@settings(max_examples=60)
@given(st.sampled_from([1, 2, 3]), rows)
def test_repeating_an_example_is_one_example_with_a_count(dimension: int, chosen: Any) -> None:
    learner = ParityPrivate(dimension, 1.0)
    sample = build(learner, chosen)
    labels = np.repeat(sample.labels, sample.counts)
    spread = learner.domain.sample(np.repeat(sample.points, sample.counts, axis=0), labels)
    assert spread == sample
    assert (learner.law(spread).log_prob == learner.law(sample).log_prob).all()


@settings(max_examples=60)
@given(st.integers(0, 10**6), rows)
def test_consistent_learners_make_no_error_on_labelled_samples(code: int, chosen: Any) -> None:
    for learner in (ThresholdConsistent(6), ParityElimination(4), ConjunctionElimination(3)):
        target = learner.concepts.concept(code % learner.concepts.size)
        sample = build(learner, chosen)
        labelled = learner.domain.sample(sample.points, target.predict(sample.points), sample.counts)
        answer = learner.decode(int(learner.run(labelled, np.random.default_rng(0), 1)[0]))
        assert answer is not None
        assert labelled.errors(answer) == 0


@settings(max_examples=30)
@given(st.integers(0, 15), rows)
def test_parity_private_only_answers_what_some_subsample_allows(code: int, chosen: Any) -> None:
    learner = ParityPrivate(4, 3.0)
    sample = build(learner, chosen)
    target = learner.concepts.concept(code)
    labelled = learner.domain.sample(sample.points, target.predict(sample.points), sample.counts)
    law = learner.law(labelled)
    # Realizable: only the coin fails, and the target is the likeliest answer.
    assert law.log_prob[0] == math.log(0.5)
    assert law.log_prob[1 + code] >= law.log_prob[1:].max() - 2 * law.error
