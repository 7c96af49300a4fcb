"""Exact privacy of the learners by a plain loop: sound ones keep their claim, broken ones exceed it by far."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from learner_cases import BROKEN, PRIVATE, every_sample, example_of, worst_epsilon

import dpaudit
from dpaudit.contract import Relation
from dpaudit_learners.conjunctions.controls import ConjunctionHalfSensitivity, ConjunctionUndivided
from dpaudit_learners.conjunctions.laplace import ConjunctionLaplace
from dpaudit_learners.parities.concepts import MAX_EPSILON
from dpaudit_learners.parities.controls import ParityOversampled
from dpaudit_learners.parities.private import ParityPrivate
from dpaudit_learners.points.controls import PointDoubled, ThresholdDoubled
from dpaudit_learners.points.exponential import PointExponential, ThresholdExponential

LEAK = math.log(1.25 / 0.75)


@pytest.mark.parametrize("dimension", [1, 2])
@pytest.mark.parametrize("n", [1, 2])
def test_parity_private_leaks_half_of_its_claim_exactly(dimension: int, n: int) -> None:
    assert worst_epsilon(ParityPrivate(dimension, 1.0), n) == pytest.approx(LEAK, abs=1e-9)


@pytest.mark.parametrize("epsilon", [0.25, 2.0, MAX_EPSILON - 1e-9])
def test_parity_private_leaks_twice_the_inverse_hyperbolic_tangent(epsilon: float) -> None:
    worst = worst_epsilon(ParityPrivate(2, epsilon), 2)
    assert worst == pytest.approx(2 * math.atanh(epsilon / 4), abs=1e-9)
    assert worst <= epsilon


def test_failure_of_parity_moves_by_epsilon_over_eight() -> None:
    learner = ParityPrivate(1, 1.0)
    fails = [math.exp(learner.law(s).log_prob[0]) for s in every_sample(learner.domain, 1)]
    assert min(fails) == 0.5
    assert max(fails) == pytest.approx(0.5 + 1 / 8, abs=1e-12)


@pytest.mark.parametrize("learner_class", PRIVATE, ids=lambda c: c.id)
def test_sound_learners_keep_their_claim(learner_class: Any) -> None:
    learner = example_of(learner_class)
    n = min(3, learner_class.instance.n)
    assert 0.1 < worst_epsilon(learner, n) <= learner.privacy.epsilon + 1e-9
    # At huge counts too, where probabilities underflow: differences of logarithms carry the answer.
    points = learner.domain.points()
    huge = [
        learner.domain.sample(points[[0, -1]], [1, 1], [10**12, 5]),
        learner.domain.sample(points[[0, 0]], [0, 1], [2000, 2000]),
    ]
    for sample in huge:
        bound = learner.privacy.epsilon + 2 * learner.law(sample).error
        assert 0 < worst_epsilon(learner, 0, [sample]) <= bound + 1e-9


def test_noisy_conjunctions_are_tight_under_replacement_and_half_as_leaky_under_addition() -> None:
    learner = ConjunctionLaplace(2, 2.0, 0.9)
    flip = learner.domain.sample([[0, 0], [1, 1]], [1, 1], [7, 1])
    assert worst_epsilon(learner, 0, [flip]) == pytest.approx(2.0, abs=1e-9)
    assert worst_epsilon(learner, 0, [flip], Relation.ADD_REMOVE_ONE) == pytest.approx(1.0, abs=1e-9)


def test_noisy_conjunctions_with_a_delta_keep_it() -> None:
    learner = ConjunctionLaplace(1, 1.0, 0.9, 0.05)
    finding = dpaudit.pac.audit_law(learner, n=7)
    assert 0.3 < finding.delta_at_claim / 0.05 <= 1
    assert finding.epsilon > 1


def test_the_exponential_mechanism_approaches_its_claim() -> None:
    # Of many equal concepts one gains and the others lose: the normaliser hardly moves.
    learner = PointExponential(200, 1.0)
    sample = learner.domain.sample([0], [0], [3])
    worst = worst_epsilon(learner, 0, [sample])
    assert 0.98 < worst <= 1


@pytest.mark.parametrize("learner_class", BROKEN, ids=lambda c: c.id)
def test_broken_learners_exceed_their_claim_by_far(learner_class: Any) -> None:
    learner = example_of(learner_class)
    assert learner.fault
    assert "\n" not in learner.fault
    sound = [c for c in PRIVATE if issubclass(learner_class, c)]
    assert len(sound) == 1
    assert learner.privacy == sound[0](**learner_class.instance.parameters).privacy
    far = 1.5 * learner.privacy.epsilon
    assert worst_epsilon(learner, learner_class.instance.n, enough=far) >= far


@pytest.mark.parametrize("learner_class", BROKEN, ids=lambda c: c.id)
def test_leaks_are_large_enough_to_be_seen(learner_class: Any) -> None:
    # Some pair and event: 20,000 runs a side show more than e^epsilon times the frequency by over 7 deviations.
    learner = example_of(learner_class)
    claim, runs = learner.privacy.epsilon, 20_000
    best = 0.0
    laws: dict[Any, Any] = {}
    for sample in every_sample(learner.domain, learner_class.instance.n):
        for neighbour in sample.neighbours(Relation.REPLACE_ONE):
            p, q = (laws.setdefault(s, np.exp(learner.law(s).log_prob)) for s in (sample, neighbour))
            event = p > math.exp(1.2 * claim) * q
            left, right = p[event].sum(), math.exp(claim) * q[event].sum()
            deviation = math.sqrt(max(left + math.exp(claim) * right, 1 / runs) / runs)
            best = max(best, (left - right) / deviation)
        if best > 7:
            return
    pytest.fail(f"the leak shows by {best:.1f} deviations only")


@pytest.mark.parametrize(
    ("learner", "n", "epsilon"),
    [
        (ParityOversampled(2, 0.5), 2, 2 * math.atanh(0.5)),
        (ParityOversampled(1, 1.5), 1, math.inf),
        (ConjunctionUndivided(2, 2.0, 0.9), 4, 8.0),
    ],
    ids=["oversampled", "all kept", "undivided"],
)
def test_known_leaks_have_their_known_size(learner: Any, n: int, epsilon: float) -> None:
    assert worst_epsilon(learner, n) == pytest.approx(epsilon, abs=1e-9)


def test_half_the_noise_leaks_twice_the_claim() -> None:
    learner = ConjunctionHalfSensitivity(2, 2.0, 0.9)
    flip = learner.domain.sample([[0, 0], [1, 1]], [1, 1], [7, 1])
    assert worst_epsilon(learner, 0, [flip]) == pytest.approx(4.0, abs=1e-9)


@pytest.mark.parametrize("pair", [(PointDoubled, PointExponential), (ThresholdDoubled, ThresholdExponential)])
def test_doubled_rate_is_the_sound_learner_at_twice_epsilon(pair: Any) -> None:
    broken, sound = pair[0](5, 0.7), pair[1](5, 1.4)
    for sample in every_sample(broken.domain, 2):
        assert (broken.law(sample).log_prob == sound.law(sample).log_prob).all()
