"""The failure rate of boxes by interior points on the case of the faces, against laws and runs on every sample."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import multinomial

import dpaudit
from dpaudit.contract import Distribution, InputError
from dpaudit.utility.sample_complexity import exact_size, own_case
from dpaudit_learners.boxes.interior_point import BoxInteriorPoint, call_probabilities


def case(learner: BoxInteriorPoint, alpha: float) -> Distribution:
    """Return 1.001 alpha/(2 d) of the mass on each face, the rest in the middle, last."""
    middle = np.full(learner.dimension, learner.side // 2)
    points = []
    for axis, end in itertools.product(range(learner.dimension), (0, learner.side)):
        points.append(middle.copy())
        points[-1][axis] = end
    mass = 1.001 * alpha / len(points)
    return Distribution(np.array([*points, middle]), np.array([mass] * len(points) + [1 - len(points) * mass]))


@pytest.mark.parametrize(("side", "dimension", "n"), [(2, 1, 12), (3, 1, 14), (5, 1, 14), (2, 2, 7)])
def test_it_is_the_sum_over_all_samples_of_their_laws(side: int, dimension: int, n: int) -> None:
    learner = BoxInteriorPoint(side, dimension, 40.0, 0.9)
    law, alpha = case(learner, 0.1), 0.1
    truth = np.ones(len(law.points), dtype=np.uint8)
    rate = 0.0
    for cuts in itertools.combinations(range(n + len(truth) - 1), len(truth) - 1):
        counts = np.diff([-1, *cuts, n + len(truth) - 1]) - 1
        if counts[-1] < learner.m:
            continue  # the rate takes the middle for large enough
        output = learner.law(learner.domain.sample(law.points, truth, counts))
        missed = [learner.decode(code).predict(law.points) == 0 for code in range(len(output.atoms))]
        wrong = np.array([law.probabilities[rows].sum() > alpha for rows in missed])
        rate += float(multinomial.pmf(counts, n, law.probabilities) * np.exp(output.log_prob)[wrong].sum())
    assert learner.m <= 3
    assert 0.001 < rate < 0.9
    assert learner.hard_failure(alpha, n)[0] == pytest.approx(rate, abs=2e-6)


def test_it_is_the_rate_of_runs_in_three_dimensions() -> None:
    learner = BoxInteriorPoint(2, 3, 4.0, 0.2)
    n = exact_size(lambda n: learner.hard_failure(0.2, n)[0], 0.5, 1)
    finding = dpaudit.pac.audit_utility(
        learner, learner.concepts.number([0] * 3, [2] * 3), case(learner, 0.2), alpha=0.2, beta=0.5, n=n, trials=500
    )
    assert finding.failure_lower <= learner.hard_failure(0.2, n)[0] <= finding.failure_upper
    assert finding.failure_lower > 0.3


def test_a_call_weighs_its_face_the_middle_and_the_rest() -> None:
    inside, missed = call_probabilities(4, 0.5, 2, 3, 6)
    for k in range(7):
        face, middle = min(k, 4), 4 - min(k, 4)
        others = math.exp(0.5 * middle) + 2 * math.exp(0.5 * min(face, middle))
        total = others + math.exp(0.5 * face) + 3
        assert inside[k] == pytest.approx(1 - 3 / total)
        assert missed[k] == pytest.approx(others / total)


def test_the_rate_falls_and_the_theorem_suffices() -> None:
    learner = BoxInteriorPoint(2, 4, 1.0, 0.05)
    rates = [learner.hard_failure(0.1, n)[0] for n in (1, 100, 3000, 8000, 9000, 10_000, 20_000)]
    assert rates == sorted(rates, reverse=True)
    assert rates[0] == pytest.approx(1)
    assert learner.hard_failure(0.1, learner.sample_size(0.1, 0.1))[0] <= 0.1
    for wrong in (BoxInteriorPoint(2, 4, 1.0, 0.05, 1e-6, "rec-concave"), BoxInteriorPoint(1, 4, 1.0, 0.05)):
        with pytest.raises(InputError):
            wrong.hard_failure(0.1, 100)
        assert own_case(wrong, 0.1, 0.1, wrong.utility(0.1, 0.1)) is None
    bracket, words = own_case(learner, 0.1, 0.1, learner.utility(0.1, 0.1)) or (None, "")
    assert bracket is not None
    assert bracket.upper is not None
    assert learner.hard_failure(0.1, bracket.lower)[0] > 0.1 >= learner.hard_failure(0.1, bracket.upper)[0]
    assert words == "mass 0.0125125 on each of 8 faces, the rest in the middle"
