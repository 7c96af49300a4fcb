"""Parity learners against brute force over all r and over all subsamples, in rational arithmetic."""

from __future__ import annotations

import decimal
import itertools
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from dpaudit_learners.parities.concepts import ParityElimination
from dpaudit_learners.parities.controls import ParityFixedSolution, ParityNoCoin, ParityOversampled
from dpaudit_learners.parities.gf2 import Systems
from dpaudit_learners.parities.private import ParityPrivate

decimal.getcontext().prec = 50
Example = tuple[tuple[int, ...], int]


def solutions(examples: list[Example], dimension: int) -> list[int]:
    """Return all r, as integers, with <r, x> = y for every example."""
    return [
        r
        for r in range(2**dimension)
        if all(sum((r >> i & 1) * v for i, v in enumerate(x)) % 2 == y for x, y in examples)
    ]


def slow_law(
    learner: ParityPrivate, examples: list[Example], keep: Fraction, coin: Fraction, uniform: bool
) -> dict[int, Fraction]:
    """Return the law by summing over all subsamples of the sequence of examples."""
    law = dict.fromkeys(range(-1, 2**learner.dimension), Fraction(0))
    law[-1] = coin
    for kept in itertools.product((False, True), repeat=len(examples)):
        weight = 1 - coin
        for is_kept in kept:
            weight *= keep if is_kept else 1 - keep
        space = solutions(list(itertools.compress(examples, kept)), learner.dimension)
        # Where no solution is drawn, the least one is the answer.
        answers = space if uniform else space[:1]
        for r in answers or [-1]:
            law[r] += weight / max(1, len(answers))
    return law


CASES = [
    (ParityPrivate, 1.0, Fraction(1, 4), Fraction(1, 2), True),
    (ParityPrivate, 0.3, Fraction(0.3) / 4, Fraction(1, 2), True),
    (ParityNoCoin, 1.0, Fraction(1, 4), Fraction(0), True),
    (ParityOversampled, 0.5, Fraction(1, 2), Fraction(1, 2), True),
    (ParityOversampled, 2.0, Fraction(1), Fraction(1, 2), True),
    (ParityFixedSolution, 1.0, Fraction(1, 4), Fraction(1, 2), False),
]


@pytest.mark.parametrize(("learner_class", "epsilon", "keep", "coin", "uniform"), CASES)
@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_law_is_the_sum_over_subsamples(
    learner_class: type[ParityPrivate], epsilon: float, keep: Fraction, coin: Fraction, uniform: bool, dimension: int
) -> None:
    learner = learner_class(dimension, epsilon)
    rng = np.random.default_rng(dimension)
    for n in (0, 1, 2, 4, 6):
        bits = rng.integers(0, 2, (n, dimension + 1))
        examples = [(tuple(int(v) for v in row[:-1]), int(row[-1])) for row in bits]
        if n:
            sample = learner.domain.sample(bits[:, :-1], bits[:, -1])
        else:
            sample = learner.domain.empty_sample()
        law = learner.law(sample)
        assert law.error < 1e-10
        exact = slow_law(learner, examples, keep, coin, uniform)
        for atom, log_prob in zip(law.atoms, law.log_prob, strict=True):
            value = exact[atom]
            if value == 0:
                assert log_prob == -np.inf
            else:
                true = (Decimal(value.numerator) / Decimal(value.denominator)).ln()
                assert abs(Decimal(float(log_prob)) - true) <= Decimal(law.error)


def test_law_at_dimension_6_against_the_elimination_of_every_subsample() -> None:
    learner = ParityPrivate(6, 2.0)
    rng = np.random.default_rng(66)
    bits = rng.integers(0, 2, (5, 7))
    examples = [(tuple(int(v) for v in row[:-1]), int(row[-1])) for row in bits]
    exact = slow_law(learner, examples, Fraction(1, 2), Fraction(1, 2), True)
    law = learner.law(learner.domain.sample(bits[:, :-1], bits[:, -1]))
    assert np.abs(np.exp(law.log_prob) - [float(exact[a]) for a in law.atoms]).max() < 1e-14


@pytest.mark.parametrize("count", [1, 1000, 10**12])
def test_huge_counts_neither_underflow_nor_round_the_failure_away(count: int) -> None:
    # One example (x = 1, y = 1), d = 1: r = 0 survives only if no copy is kept, r = 1 always solves.
    learner = ParityPrivate(1, 1.0)
    law = learner.law(learner.domain.sample([[1]], [1], [count]))
    none = Decimal(count) * Decimal("0.75").ln()
    expected = {-1: Decimal("0.5").ln(), 0: Decimal("0.25").ln() + none, 1: (Decimal("0.5") - none.exp() / 4).ln()}
    for atom, log_prob in zip(law.atoms, law.log_prob, strict=True):
        assert abs(Decimal(float(log_prob)) - expected[atom]) <= Decimal(law.error)
    assert law.error < 1e-14 * max(10, count)


def test_elimination_returns_the_least_solution() -> None:
    rng = np.random.default_rng(5)
    for _ in range(400):
        d = int(rng.integers(1, 6))
        n = int(rng.integers(0, 7))
        learner = ParityElimination(d)
        bits = rng.integers(0, 2, (n, d + 1))
        if n:
            sample = learner.domain.sample(bits[:, :-1], bits[:, -1])
        else:
            sample = learner.domain.empty_sample()
        examples = [(tuple(int(v) for v in row[:-1]), int(row[-1])) for row in bits]
        expected = (solutions(examples, d) or [-1])[0]
        assert learner.run(sample, rng, 2).tolist() == [expected] * 2
        law = learner.law(sample)
        assert law.log_prob[expected + 1] == 0
        assert np.exp(law.log_prob).sum() == 1


def test_elimination_of_63_variables() -> None:
    learner = ParityElimination(63)
    rng = np.random.default_rng(63)
    points = rng.integers(0, 2, (300, 63))
    target = rng.integers(0, 2, 63)
    sample = learner.domain.sample(points, points @ target % 2)
    assert learner.run(sample, rng, 1)[0] == sum(int(b) << i for i, b in enumerate(target))
    labels = points @ target % 2
    labels[7] ^= 1
    assert learner.run(learner.domain.sample(points, labels), rng, 1)[0] == -1


def test_batched_systems_solve_every_run_as_brute_force_does() -> None:
    rng = np.random.default_rng(12)
    d = 4
    runs = 300
    m = 7
    bits = rng.integers(0, 2, (m, d + 1))
    # Most labels are those of one parity, so that some subsamples have solutions and others have none.
    bits[:, -1] = np.where(rng.random(m) < 0.7, bits[:, 0], bits[:, -1])
    words = np.array([sum(int(b) << i for i, b in enumerate(row)) for row in bits], dtype=np.uint64)
    kept = rng.random((runs, m)) < 0.5
    systems = Systems(d, runs)
    systems.add_kept(np.arange(runs), words, kept)
    examples = [(tuple(int(v) for v in row[:-1]), int(row[-1])) for row in bits]
    for run in range(runs):
        space = solutions(list(itertools.compress(examples, kept[run])), d)
        assert systems.consistent[run] == bool(space)
        if space:
            assert 2 ** (d - systems.rank[run]) == len(space)
            every = systems.solve(np.full(2**d, run), np.arange(2**d, dtype=np.uint64))
            # Each solution comes from equally many values of the free word: uniform in, uniform out.
            assert {int(r): int((every == r).sum()) for r in every} == dict.fromkeys(space, 2**d // len(space))
            assert int(systems.solve(np.array([run]), np.zeros(1, dtype=np.uint64))[0]) == space[0]
