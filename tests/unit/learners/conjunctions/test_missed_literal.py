"""The failure rate of greedy learners of conjunctions on the case of two points, against laws and runs."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import dpaudit
from dpaudit.contract import Distribution, InputError
from dpaudit.utility.sample_complexity import own_case
from dpaudit_learners.conjunctions import greedy_counts
from dpaudit_learners.conjunctions.greedy import ConjunctionGreedy
from dpaudit_learners.conjunctions.greedy_counts import missed_failure
from dpaudit_learners.conjunctions.set_cover import SetCoverConjunction

ALPHA = 0.3
OWN: dict[str, Any] = {"epsilon": 1.0, "delta": 0.01, "alpha": 0.49, "beta": 0.2}
GREEDY = [
    ConjunctionGreedy(2, 1, 1.0),
    ConjunctionGreedy(1, 1, 1.0),
    ConjunctionGreedy(2, 2, 3.0, literal=True),
    ConjunctionGreedy(3, 1, 8.0, rounds=3),
]
COVERS = [
    SetCoverConjunction(1, 1, **OWN),
    SetCoverConjunction(2, 1, **OWN),
    SetCoverConjunction(3, 1, **OWN, variant="composition"),
    SetCoverConjunction(3, 1, **OWN, variant="noiseless"),
    SetCoverConjunction(2, 2, **OWN),
]


def case(dimension: int, alpha: float) -> Distribution:
    """Return a little more than alpha of the mass on 0 1 .. 1, the rest on 1 .. 1."""
    points = np.ones((2, dimension), dtype=np.int64)
    points[0, 0] = 0
    mass = alpha + min(alpha, 0.5 - alpha) / 1000
    return Distribution(points, np.array([mass, 1 - mass]))


def rate_by_laws(learner: Any, n: int) -> float:
    """Return the mass of the answers that err by more than ALPHA, over all samples of n examples."""
    law = case(learner.dimension, ALPHA)
    rate = 0.0
    for negative in range(n + 1):
        output = learner.law(learner.domain.sample(law.points, [0, 1], [negative, n - negative]))
        wrong = np.array([learner.decode(code).predict(law.points).tolist() != [0, 1] for code in output.atoms])
        rate += float(binom.pmf(negative, n, law.probabilities[0]) * np.exp(output.log_prob)[wrong].sum())
    return rate


def rate_at(learner: Any, alpha: float, n: int) -> float:
    """Return the rate at n examples, without that at the next jump of J."""
    if isinstance(learner, ConjunctionGreedy):
        return missed_failure(learner._hard_rounds(n), alpha, n)[0]
    return float(learner.hard_failure(alpha, n)[0])


@pytest.mark.parametrize("learner", [*GREEDY, *COVERS[:-1]], ids=repr)
@pytest.mark.parametrize("n", [4, 30])
def test_it_is_the_sum_over_all_samples_of_their_laws(learner: Any, n: int) -> None:
    assert rate_at(learner, ALPHA, n) == pytest.approx(rate_by_laws(learner, n), rel=1e-9)


@pytest.mark.parametrize("learner", [GREEDY[0], ConjunctionGreedy(6, 3, 6.0), COVERS[1], COVERS[-1]], ids=repr)
def test_it_is_the_rate_of_runs(learner: Any) -> None:
    # The interval misses the rate with probability 0.001, and is narrower than 0.15: a rate as far off is seen.
    n, target = 60, Targets(learner).first
    finding = dpaudit.pac.audit_utility(
        learner, target, case(learner.dimension, ALPHA), alpha=ALPHA, beta=0.9, n=n, trials=500, confidence=0.999
    )
    rate = rate_at(learner, ALPHA, n)
    assert 0.02 < rate < 0.98
    assert finding.failure_lower <= rate <= finding.failure_upper < finding.failure_lower + 0.15


class Targets:
    """Finds the code of the conjunction v_1 in a learner's class."""

    def __init__(self, learner: Any) -> None:
        points = learner.domain.points()
        self.first = next(
            code for code, labels in enumerate(learner.concepts.evaluate(points)) if (labels == points[:, 0]).all()
        )


@pytest.mark.parametrize(
    "learner",
    [
        ConjunctionGreedy(2**16, 8, 1.0),
        pytest.param(SetCoverConjunction(2**16, 8, 1.0, 1e-6, 0.1, 0.05), marks=pytest.mark.full),
    ],
)
def test_interpolation_is_near_the_whole_sum(learner: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    lower = own_case(learner, 0.2, 0.2, learner.utility(0.2, 0.2))[0].lower
    few = learner.hard_failure(0.2, lower)[0]
    monkeypatch.setattr(greedy_counts, "EXACT", 10**6)
    assert few > 0.2
    assert learner.hard_failure(0.2, lower)[0] == pytest.approx(few, abs=1e-6)


def test_the_rate_never_increases_although_rounds_are_added() -> None:
    learner = ConjunctionGreedy(64, 2, 1.0)
    rates = [learner.hard_failure(0.2, n)[0] for n in range(3000, 3900, 25)]
    assert len({learner.rounds_at(n) for n in range(3000, 3900)}) > 1
    assert all(b <= a + 1e-9 for a, b in pairwise(rates))
    jumps = [rate_at(learner, 0.2, n) for n in range(3000, 3900, 25)]
    assert any(b > a for a, b in pairwise(jumps))


def test_there_is_no_such_case_for_alpha_of_a_half() -> None:
    with pytest.raises(InputError, match="alpha must be below 1/2"):
        GREEDY[0].hard_failure(0.5, 10)
    assert own_case(GREEDY[0], 0.6, 0.1, GREEDY[0].utility(0.6, 0.1)) is None
