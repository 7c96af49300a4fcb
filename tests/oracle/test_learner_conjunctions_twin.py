"""Conjunction learners against scalar loops in decimal arithmetic."""

from __future__ import annotations

import decimal
import itertools
import math
from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pytest

from dpaudit.contract import Sample
from dpaudit_learners.conjunctions.consistent import ConjunctionElimination
from dpaudit_learners.conjunctions.controls import (
    ConjunctionBareNegations,
    ConjunctionHalfSensitivity,
    ConjunctionSharedNoise,
    ConjunctionUndivided,
)
from dpaudit_learners.conjunctions.laplace import ConjunctionLaplace, contradictions
from dpaudit_learners.domains import Cube
from dpaudit_learners.mechanisms.log_laws import log_above, log_below, log_between

decimal.getcontext().prec = 50


def slow_counts(sample: Sample, dimension: int) -> list[int]:
    """Return the contradicting positive examples of v1, not v1, v2, ..."""
    counts = []
    for i in range(dimension):
        for refuted in (0, 1):
            rows = zip(sample.points, sample.labels, sample.counts, strict=True)
            counts.append(sum(int(c) for x, y, c in rows if y == 1 and x[i] == refuted))
    return counts


def above(z: Decimal) -> Decimal:
    """Return Pr[Lap(1) > z]."""
    return (-z).exp() / 2 if z >= 0 else 1 - z.exp() / 2


def random_sample(domain: Cube, rng: np.random.Generator, m: int, top: int) -> Sample:
    if m == 0:
        return domain.empty_sample()
    points = rng.integers(0, 2, (m, domain.dimension))
    return domain.sample(points, rng.integers(0, 2, m), rng.integers(1, top, m))


SCALES = [
    (ConjunctionLaplace, lambda d, e: 2 * d / e),
    (ConjunctionHalfSensitivity, lambda d, e: d / e),
    (ConjunctionUndivided, lambda d, e: 1 / e),
]


@pytest.mark.parametrize(("learner_class", "scale"), SCALES, ids=["sound", "half", "undivided"])
@pytest.mark.parametrize("top", [4, 40, 10**12])
def test_law_is_the_product_over_the_literals(
    learner_class: type[ConjunctionLaplace], scale: Callable[[int, float], float], top: int
) -> None:
    rng = np.random.default_rng(31)
    for d, epsilon, beta in ((1, 1.0, 0.1), (2, 0.3, 0.9), (3, 5.0, 0.5)):
        learner = learner_class(d, epsilon, beta)
        for m in (0, 1, 3, 6):
            sample = random_sample(learner.domain, rng, m, top)
            counts = slow_counts(sample, d)
            assert contradictions(sample).tolist() == counts
            law = learner.law(sample)
            noise = Decimal(scale(d, 1)) / Decimal(epsilon)
            threshold = 2 * d / Decimal(epsilon) * (2 * d / Decimal(beta)).ln()
            for mask, log_prob in zip(law.atoms, law.log_prob, strict=True):
                true = Decimal(0)
                for literal, count in enumerate(counts):
                    z = (threshold - count) / noise
                    # ln Pr of a far tail is taken in closed form: decimals underflow too.
                    kept = far_log(-z)
                    deleted = far_log(z)
                    true += kept if mask >> literal & 1 else deleted
                assert abs(Decimal(float(log_prob)) - true) <= Decimal(law.error)
            assert law.error < 1e-12 * max(10, sample.n)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_noise_with_a_delta(d: int) -> None:
    # The largest e for which 2 d calls that are randomised response are (epsilon, delta)-private, summed over answers.
    epsilon = 1.5
    beta = 0.3
    delta = 0.02
    learner = ConjunctionLaplace(d, epsilon, beta, delta)

    def needed(e: float) -> float:
        truth = 1 / (1 + math.exp(-e))
        total = 0.0
        for lies in itertools.product((False, True), repeat=2 * d):
            p = math.prod(1 - truth if lie else truth for lie in lies)
            q = math.prod(truth if lie else 1 - truth for lie in lies)
            total += max(0.0, p - math.exp(epsilon) * q)
        return total

    e = 1 / learner.noise_scale
    assert needed(e) <= delta < needed(e * (1 + 1e-6))
    rng = np.random.default_rng(7)
    sample = random_sample(learner.domain, rng, 5, 9)
    law = learner.law(sample)
    threshold = math.log(2 * d / beta) / e
    for mask, log_prob in zip(law.atoms, law.log_prob, strict=True):
        tails = [
            far_log(Decimal((c - threshold) * e)) if mask >> i & 1 else far_log(Decimal((threshold - c) * e))
            for i, c in enumerate(slow_counts(sample, d))
        ]
        assert float(sum(tails)) == pytest.approx(log_prob, abs=1e-11)
    drawn = np.bincount(np.asarray(learner.run(sample, rng, 20_000)), minlength=4**d) / 20_000
    assert np.abs(drawn - np.exp(law.log_prob)).max() < 5 * math.sqrt(0.25 / 20_000)


def far_log(z: Decimal) -> Decimal:
    """Return ln Pr[Lap(1) > z]."""
    if z >= 0:
        return -z - Decimal(2).ln()
    # Below -200 ln(1 - exp(z) / 2) is -exp(z) / 2 to fifty digits.
    return above(z).ln() if z > -200 else -z.exp() / 2


def test_elimination_against_a_scalar_loop() -> None:
    rng = np.random.default_rng(8)
    for _ in range(300):
        learner = ConjunctionElimination(int(rng.integers(1, 5)))
        sample = random_sample(learner.domain, rng, int(rng.integers(0, 5)), 3)
        expected = sum(1 << i for i, c in enumerate(slow_counts(sample, learner.dimension)) if c == 0)
        assert learner.run(sample, rng, 2).tolist() == [expected] * 2
        assert learner.law(sample).log_prob[expected] == 0


def test_elimination_of_31_variables() -> None:
    learner = ConjunctionElimination(31)
    sample = learner.domain.sample([[1] * 31], [1])
    code = int(learner.run(sample, np.random.default_rng(0), 1)[0])
    assert learner.decode(code).predict(sample.points).tolist() == [1]
    assert code.bit_count() == 31
    noisy = ConjunctionLaplace(31, 1.0, 0.1).run(sample, np.random.default_rng(0), 50)
    assert (noisy >= 0).all()
    assert (noisy < 2**62).all()


@pytest.mark.parametrize("top", [4, 30])
def test_shared_noise_law_is_the_chain_of_gaps(top: int) -> None:
    learner = ConjunctionSharedNoise(2, 2.0, 0.5)
    rng = np.random.default_rng(1)
    threshold = Decimal(2) * Decimal(8).ln()
    for m in (0, 1, 3, 5):
        sample = random_sample(learner.domain, rng, m, top)
        counts = slow_counts(sample, 2)
        law = learner.law(sample)
        for mask, log_prob in zip(law.atoms, law.log_prob, strict=True):
            # Deleted literals need noise > threshold - count, kept ones the opposite.
            low = [(threshold - c) / 2 for i, c in enumerate(counts) if not mask >> i & 1]
            high = [(threshold - c) / 2 for i, c in enumerate(counts) if mask >> i & 1]
            # One noise for all literals: above every bound of a deleted one, below every bound of a kept one.
            mass = (above(max(low)) if low else 1) - (above(min(high)) if high else 0)
            if mass <= 0:
                assert log_prob == -np.inf
            else:
                assert abs(Decimal(float(log_prob)) - Decimal(mass).ln()) <= Decimal(law.error)


def test_bare_negations_cross_their_threshold_with_certainty() -> None:
    learner = ConjunctionBareNegations(1, 0.5, 0.9)
    limit = int(learner._threshold)
    for count, deleted in ((limit, False), (limit + 1, True)):
        law = learner.law(learner.domain.sample([[1]], [1], [count]))
        for mask, log_prob in zip(law.atoms, law.log_prob, strict=True):
            assert (log_prob > -np.inf) == (bool(mask & 2) != deleted)


@pytest.mark.parametrize("z", [-700.0, -3.25, -1e-9, 0.0, 1e-9, 0.5, 40.0, 1e12])
def test_laplace_tails(z: float) -> None:
    exact = far_log(Decimal(z))
    assert abs(Decimal(float(log_above(np.array(z)))) - exact) <= Decimal(2.0**-52 * (abs(z) + 8))
    assert float(log_below(np.array(-z))) == float(log_above(np.array(z)))


@pytest.mark.parametrize("z", [-30.0, -1.0, -0.25, 0.0, 0.1, 20.0])
@pytest.mark.parametrize("width", [1e-6, 0.25, 3.0, 60.0])
def test_laplace_gaps(z: float, width: float) -> None:
    exact = (above(Decimal(z)) - above(Decimal(z) + Decimal(width))).ln()
    rounding = 2.0**-52 * (8 + abs(z) + width) * (1 + 2 / -math.expm1(-width))
    assert abs(Decimal(log_between(z, width)) - exact) <= Decimal(rounding)
