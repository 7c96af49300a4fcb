"""The case on which greedy rounds spoil a few positive examples each: its formula against paths, laws and runs."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from dpaudit.utility.sample_complexity import exact_size
from dpaudit_learners.conjunctions.greedy import ConjunctionGreedy
from dpaudit_learners.conjunctions.scattered import UNLIKELY, Scattered
from dpaudit_learners.conjunctions.set_cover import SetCoverConjunction

# 300 variables, so that K is known, and a large epsilon, so that n is small.
GREEDY = ConjunctionGreedy(300, 1, 6.0, rounds=8)
COVER = SetCoverConjunction(300, 1, 6.0, 1e-6, 0.1, 0.05, "noiseless")
ALPHA = 0.2


def scattered(learner: ConjunctionGreedy | SetCoverConjunction) -> Scattered:
    """Return the case of a learner."""
    if isinstance(learner, ConjunctionGreedy):
        return Scattered(8, 300, learner.share(8) / 2, 1, ALPHA)
    return Scattered(learner.rounds, 300, learner._rate, 0, ALPHA)


@pytest.mark.parametrize("n", [60, 90, 120])
def test_the_chain_is_the_sum_over_all_paths(n: int) -> None:
    case = Scattered(6, 300, 0.2, 1, 0.3)
    h = case.needed
    fresh = [(case.likely - c) * math.exp(-case.rate * math.ceil(n * case.share)) for c in range(h)]
    advance = [x / (x + 2 + c) for c, x in enumerate(fresh)]
    total = 0.0
    for path in itertools.product((0, 1), repeat=6):
        chance = 1.0
        chosen = 0
        for step in path:
            # From h on the path has failed, whatever comes.
            if chosen < h:
                chance *= advance[chosen] if step else 1 - advance[chosen]
                chosen += step
            else:
                chance *= 0.5
        total += chance * (chosen == h)
    assert case.failure(n) == pytest.approx((1 - UNLIKELY) * total, rel=1e-12)


def test_the_literals_needed_err_by_just_more_than_alpha() -> None:
    case = scattered(GREEDY)
    assert 1 - (1 - case.share) ** case.needed == pytest.approx(ALPHA, rel=1e-5)
    assert 1 - (1 - case.share) ** case.needed > ALPHA > 1 - (1 - case.share) ** (case.needed - 1)


def failures(learner: ConjunctionGreedy | SetCoverConjunction, n: int, trials: int) -> int:
    """Return how often the learner itself errs by more than alpha on the case."""
    case = scattered(learner)
    rng = np.random.default_rng(7)
    wrong = 0
    for _ in range(trials):
        points = (rng.random((n, 300)) >= case.share).astype(np.int64)
        points[:, 0] = 1
        (code,) = learner.run(learner.domain.sample(points, np.ones(n, dtype=np.int64)), rng, 1)
        mask = learner.decode(code).mask
        positive = sum(mask >> 2 * i & 1 for i in range(1, 300))
        negated = any(mask >> 2 * i + 1 & 1 for i in range(300))
        wrong += negated or 1 - (1 - case.share) ** positive > ALPHA
    return wrong


@pytest.mark.parametrize("learner", [GREEDY, COVER])
def test_runs_fail_as_often_as_the_formula_says_at_least(learner: ConjunctionGreedy | SetCoverConjunction) -> None:
    case = scattered(learner)
    trials = 100
    n = exact_size(case.failure, 0.5, 100)
    assert failures(learner, n, trials) / trials > 0.5 - 4 * 0.5 / math.sqrt(trials)
    # K is three times as large as the number that it is known to be at least, and rates are means over samples.
    assert failures(learner, 3 * n, trials) / trials < 0.1


def test_the_rate_falls_and_is_the_one_of_the_learner() -> None:
    learner = ConjunctionGreedy(2**64, 2, 1.0)
    rates = [learner.hard_failure(0.2, n)[0] for n in range(900_000, 1_100_000, 20_000)]
    assert rates == sorted(rates, reverse=True)
    assert rates[0] > 0.9
    assert rates[-1] < 0.1
    assert "positive" not in learner.hard_failure(0.2, 10**6)[1]
    assert "x_1 = 1" in learner.hard_failure(0.2, 10**6)[1]
    fixed = replace(learner, rounds=56)
    case = Scattered(56, 2**64, fixed.share(56) / 2, 1, 0.2)
    assert fixed.hard_failure(0.2, 10**6) == (case.failure(10**6), str(case))


def test_few_variables_and_rounds_are_no_such_case() -> None:
    assert Scattered(10, 2, 0.1, 1, 0.2).failure(5) == 0
    assert Scattered(10, 30, 0.1, 1, 0.2).failure(5) == 0
    assert Scattered(1, 2**30, 1e-9, 0, 0.2).failure(5) > 0.9


def test_the_theorem_is_not_far_above() -> None:
    # The case of two points alone left the theorem's n hundreds of times above n*.
    learner = ConjunctionGreedy(2**256, 4, 1.0)
    asked = learner.utility(0.2, 0.2).sample_size
    assert learner.hard_failure(0.2, asked // 8)[0] > 0.2
