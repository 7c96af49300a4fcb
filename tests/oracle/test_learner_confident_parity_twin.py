"""Repeated and restarted parity learners against sums over subsamples in rational arithmetic."""

from __future__ import annotations

import decimal
import itertools
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import dpaudit
from dpaudit.contract import HasLaw, InputError, Sample
from dpaudit.seeding import generator
from dpaudit_learners.parities.amplified import ParityAmplified
from dpaudit_learners.parities.concepts import MAX_EPSILON
from dpaudit_learners.parities.controls import ParityAmplifiedNoCoin, ParityRestartLateCoin
from dpaudit_learners.parities.private import ParityRestart, restart_rate

decimal.getcontext().prec = 50

Examples = list[tuple[tuple[int, ...], int]]


def answers_of_one_subsample(examples: Examples, dimension: int, keep: Fraction) -> dict[int, Fraction]:
    """Return the probability of each uniform answer, by listing subsamples and vectors; the rest is inconsistency."""
    law = dict.fromkeys(range(2**dimension), Fraction(0))
    for kept in itertools.product((False, True), repeat=len(examples)):
        weight = math.prod((keep if k else 1 - keep for k in kept), start=Fraction(1))
        chosen = list(itertools.compress(examples, kept))
        space = [r for r in law if all(sum((r >> i & 1) * v for i, v in enumerate(x)) % 2 == y for x, y in chosen)]
        for r in space:
            law[r] += weight / len(space)
    return law


def repeated(g: dict[int, Fraction], coin: Fraction, times: int) -> dict[int, Fraction]:
    """Return the law of the first success among `times` runs, run by run."""
    law = dict.fromkeys(range(-1, len(g)), Fraction(0))
    going = Fraction(1)
    for _ in range(times):
        for r, p in g.items():
            law[r] += going * (1 - coin) * p
        going *= 1 - (1 - coin) * sum(g.values())
    law[-1] = going
    return law


def restarted(g: dict[int, Fraction], beta: Fraction, late: bool) -> dict[int, Fraction]:
    """Return the law of restarting, as the solution of the equation for its restarts."""
    # What a subsample without a solution leaves: the run starts again.
    inconsistent = 1 - sum(g.values())
    after = {r: (1 - beta) * p for r, p in g.items()}
    # The geometric series over all restarts.
    stop = 1 / (1 - (1 - beta) * inconsistent)
    law = {r: p * stop for r, p in after.items()} | {-1: beta * stop}
    if late:
        return {r: g.get(r, Fraction(0)) + inconsistent * p for r, p in law.items()}
    return law


def close(learner: HasLaw, sample: Sample, exact: dict[int, Fraction], limit: float = 1e-10) -> None:
    law = learner.law(sample)
    assert law.error < limit
    assert sum(exact.values()) == 1
    for atom, log_prob in zip(law.atoms, law.log_prob, strict=True):
        value = exact[atom]
        if value == 0:
            assert log_prob == -np.inf
        else:
            true = (Decimal(value.numerator) / Decimal(value.denominator)).ln()
            assert abs(Decimal(float(log_prob)) - true) <= Decimal(law.error)


@pytest.mark.parametrize("dimension", [1, 2, 3])
@pytest.mark.parametrize("beta", [0.5, 0.1])
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_laws(dimension: int, beta: float, epsilon: float) -> None:
    rng = np.random.default_rng(dimension)
    amplified = ParityAmplified(dimension, epsilon, beta)
    no_coin = ParityAmplifiedNoCoin(dimension, epsilon, beta)
    restart = ParityRestart(dimension, epsilon, beta)
    late = ParityRestartLateCoin(dimension, epsilon, beta)
    times = {0.5: 1, 0.1: 4}[beta]
    assert amplified.repetitions == times
    for n in (0, 1, 3, 6):
        bits = rng.integers(0, 2, (n, dimension + 1))
        examples = [(tuple(int(v) for v in row[:-1]), int(row[-1])) for row in bits]
        domain = amplified.domain
        if n:
            sample = domain.sample(bits[:, :-1], bits[:, -1])
        else:
            sample = domain.empty_sample()
        g = answers_of_one_subsample(examples, dimension, Fraction(epsilon) / (4 * times))
        close(amplified, sample, repeated(g, Fraction(1, 2), times))
        if n < 6 and sum(g.values()) in (0, 1):
            close(no_coin, sample, repeated(g, Fraction(0), times))
        g = answers_of_one_subsample(examples, dimension, Fraction(restart._keep))
        close(restart, sample, restarted(g, Fraction(beta), late=False))
        close(late, sample, restarted(g, Fraction(beta), late=True), limit=1e-9)


@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 0.5, 1.0, 4.0, 20.0])
def test_the_sampling_rate_of_restarting_is_the_root_of_its_bound(epsilon: float) -> None:
    p = Decimal(restart_rate(epsilon))
    leak = ((1 + p) / (1 - p) ** 2).ln()
    assert leak <= Decimal(epsilon)
    higher = p * (1 + Decimal("4e-12"))
    # Near 1 the bound is steep in p: a rounded p stays below it, but no longer close to it.
    assert higher >= 1 or ((1 + higher) / (1 - higher) ** 2).ln() > Decimal(epsilon)


@pytest.mark.parametrize("beta", [0.5, 0.01, 1e-6])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 5.0])
def test_restarting_is_private_at_any_failure_probability(beta: float, epsilon: float) -> None:
    for dimension, n in ((1, 1), (1, 6), (2, 3), (2, 4)):
        finding = dpaudit.pac.audit_law(ParityRestart(dimension, epsilon, beta), n=n)
        assert finding.verdict == "consistent"
        assert 0.5 * epsilon < finding.epsilon <= epsilon


def test_a_rate_for_one_run_would_be_too_large_for_restarting() -> None:
    # tanh(epsilon / 2) is the exact calibration of a single run; restarts add the change of the consistency.
    class TooMuch(ParityRestart):
        @property
        def _keep(self) -> float:
            return math.tanh(self.epsilon / 2)

    finding = dpaudit.pac.audit_law(TooMuch(1, 1.0, 0.01), n=3)
    assert finding.epsilon > 1.1
    assert finding.verdict == "violation"


@pytest.mark.parametrize("learner", [ParityAmplified(1, 1.0, 0.1), ParityAmplified(1, 12.0, 0.1)], ids=str)
def test_repetition_leaks_through_its_failure(learner: ParityAmplified) -> None:
    k = learner.repetitions
    q = learner.epsilon / 16
    finding = dpaudit.pac.audit_law(learner, n=3)
    assert finding.epsilon >= k * math.log1p(q) - 1e-9
    assert finding.epsilon <= k * 2 * math.atanh(q) + 1e-9
    assert finding.verdict == "consistent"


def test_failure_on_consistent_samples_is_what_the_learners_say() -> None:
    rng = np.random.default_rng(1)
    points = rng.integers(0, 2, (9, 4))
    for learner in (ParityAmplified(4, 1.0, 0.1), ParityRestart(4, 1.0, 0.1)):
        sample = learner.domain.sample(points, points[:, 2])
        assert math.exp(learner.law(sample).log_prob[0]) == pytest.approx(learner.failure, rel=1e-12)
    assert ParityAmplified(4, 1.0, 0.1).failure == 1 / 16
    assert ParityRestart(4, 1.0, 0.1).failure == 0.1


def test_bad_parameters_and_unreachable_claims() -> None:
    with pytest.raises(InputError, match="epsilon must be in"):
        ParityAmplified(3, 4 * MAX_EPSILON + 1e-6, 0.1)
    ParityAmplified(3, 4 * MAX_EPSILON - 1e-6, 0.1)
    for kind in (ParityAmplified, ParityRestart):
        for bad in (0, 1, -0.5, math.nan):
            with pytest.raises(InputError, match="beta"):
                kind(3, 1.0, bad)
        with pytest.raises(InputError, match="beta must be above"):
            kind(3, 1.0, 0.125).sample_size(0.1, 0.125)
        with pytest.raises(InputError, match="setting"):
            kind(3, 1.0, 0.1).utility(0.1, 0.2, "agnostic")
        with pytest.raises(InputError, match="dimension must be at most 6"):
            kind(7, 1.0, 0.1).law(kind(7, 1.0, 0.1).domain.empty_sample())
        with pytest.raises(InputError, match="dimension"):
            kind(0, 1.0, 0.1)


@pytest.mark.parametrize("kind", [ParityAmplified, ParityRestart])
def test_sample_sizes_are_the_least_integers_of_their_formula(kind: type[ParityAmplified | ParityRestart]) -> None:
    learner = kind(5, 1.0, 0.1)
    alpha = 0.2
    beta = 0.25
    n = learner.sample_size(alpha, beta)
    p = learner._keep
    f = learner.failure

    def bound(size: int) -> float:
        return f + (1 - f) * 2**5 * (1 - p * alpha) ** size

    assert bound(n) <= beta < bound(n - 1)
    assert learner.utility(alpha, beta, "empirical").sample_size == n


@pytest.mark.parametrize("kind", [ParityAmplified, ParityRestart])
def test_large_dimensions_find_the_target(kind: type[ParityAmplified | ParityRestart]) -> None:
    learner = kind(40, 1.0, 0.05)
    rng = generator(5, "large", learner.id)
    points = rng.integers(0, 2, (4000, 40))
    target = rng.integers(0, 2, 40)
    codes = learner.run(learner.domain.sample(points, points @ target % 2), rng, 100)
    # At least 200 random equations are expected to be kept: full rank is missed with probability below 2^-100.
    assert set(codes.tolist()) <= {-1, sum(int(b) << i for i, b in enumerate(target))}
    # Failures are rare: more than 30 of 100 at rate 0.05 has probability below 1e-15.
    assert (codes == -1).sum() <= 30
