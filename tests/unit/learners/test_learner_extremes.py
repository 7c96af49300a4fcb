"""Input at the ends of what numbers can say: refused in words before anything is computed, never an overflow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dpaudit.contract import InputError
from dpaudit_learners.boxes.concepts import BoxTightest
from dpaudit_learners.conjunctions.greedy import ConjunctionGreedy
from dpaudit_learners.domains import Interval
from dpaudit_learners.interior_points.interior_point import InteriorPointRecConcave, InteriorPointTreeLog
from dpaudit_learners.interior_points.thresholds import ThresholdInteriorPoint
from dpaudit_learners.parities.private import ParityRestart
from dpaudit_learners.points.concepts import PointConsistent, ThresholdConsistent
from dpaudit_learners.points.exponential import PointExponential, ThresholdExponential


def law(learner: Any, point: Any) -> Callable[[], Any]:
    return lambda: learner.law(learner.domain.sample([point], [1]))


def run(learner: Any, point: Any) -> Callable[[], Any]:
    return lambda: learner.run(learner.domain.sample([point], [1]), None, 2)


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (law(PointExponential(10**9, 1.0), 0), "at most 4194304 concepts for the exact law, got 1000000000; run the"),
        (lambda: PointExponential(10**9, 1.0).concepts.evaluate(Interval(4).points()), "that can be listed"),
        (law(PointConsistent(10**12), 0), "at most 4194304 concepts for the exact law"),
        (law(ThresholdConsistent(10**12), 0), "at most 4194304 concepts for the exact law"),
        (law(ThresholdExponential(2**64, 1.0), 0), "at most 4194304 concepts for the exact law"),
        (law(BoxTightest(200, 4), [0] * 4), "at most 4194304 concepts for the exact law"),
        (law(ConjunctionGreedy(2, 1, 1.0, rounds=10_001), [0, 0]), "rounds must be at most 10000 for the exact law"),
        (law(InteriorPointTreeLog(5000, 1.0, 0.1, 0.1), 0), "at most 4096 points .* run has no such limit"),
        (lambda: Interval(4).sample([1], [1], [2**63]), r"counts must sum to at most 4611686018427387904, got 92"),
        (lambda: Interval(4).sample([1, 2], [1, 1], [2**62, 2**62]), "counts must sum to at most"),
        (lambda: PointExponential(4, 1e-320), r"epsilon must be in \[1e-100, 1e\+100\], .* got 1e-320"),
        (lambda: PointExponential(4, 1e308), r"epsilon must be in \[1e-100, 1e\+100\], .* got 1e\+308"),
        (lambda: InteriorPointRecConcave(64, 1.0, 1e-320), "delta must be at least 1e-100, .* got 1e-320"),
        (lambda: ParityRestart(3, 1.0, 1e-320), "beta must be at least 1e-100"),
        (lambda: PointExponential(4, 1.0).utility(1e-300, 0.1), "alpha must be at least 1e-100"),
        (lambda: ThresholdInteriorPoint(4, 1001.0, 0.1, 0.1), "epsilon must be at most 1000 with a delta"),
    ],
)
def test_extremes_are_refused_with_the_limit(attempt: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        attempt()


def test_what_is_within_the_limits_is_computed() -> None:
    assert Interval(4).sample([1], [1], [2**62]).n == 2**62
    assert PointExponential(4, 1e-100).sample_size(1e-100, 1e-100) > 10**200
    assert ThresholdInteriorPoint(4, 5000.0, 0.1).privacy.epsilon == 5000
    assert ThresholdInteriorPoint(4, 1000.0, 0.1, 0.1, "rec-concave").privacy.delta <= 0.1
