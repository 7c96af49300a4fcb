"""Promises that are not about errors: interior points and hull points, against enumeration and plain geometry."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpaudit
from dpaudit.contract import InputError
from dpaudit.utility.hard_cases import HardCase, hard_cases
from dpaudit.utility.problem import Problem
from dpaudit_learners.halfspaces.hull_point import HullPointExponential
from dpaudit_learners.halfspaces.hull_point_rec_concave import HullPointRecConcave
from dpaudit_learners.interior_points.interior_point import (
    InteriorPointExponential,
    InteriorPointRecConcave,
    InteriorPointTreeLog,
)

IPP: tuple[Any, ...] = (
    InteriorPointExponential(5, 1.0),
    InteriorPointRecConcave(64, 2.0, 0.01),
    InteriorPointTreeLog(32, 2.0, 0.01, 0.1),
)
HULL: tuple[Any, ...] = (HullPointExponential(1, 2, 1.0), HullPointRecConcave(1, 2, 1.0, 1e-6, 0.1))


def failure(learner: Any, sample: Any) -> float:
    """Return the exact probability that the output solves nothing."""
    law = learner.law(sample)
    return math.fsum(
        math.exp(log)
        for atom, log in zip(law.atoms, law.log_prob.tolist(), strict=True)
        if not learner.solves(atom, sample)
    )


def shares(learner: Any, case: HardCase, n: int) -> Any:
    """Return the n examples of a case, divided as its distribution says."""
    concept = learner.concepts.concept(case.concept)
    return Problem(learner, concept, case.distribution, None, 0.1, "solution").sample(n)


def test_no_sample_of_the_theorems_size_fails_the_exponential_mechanism_more_often_than_beta() -> None:
    learner, beta = IPP[0], 0.2
    n = learner.utility(0.1, beta).sample_size
    assert n == learner.points_needed(beta) == math.ceil(4 * math.log(25))
    worst, where = max(
        (failure(learner, learner.domain.sample(range(5), [0] * 5, counts)), counts)
        for counts in itertools.product(range(n + 1), repeat=5)
        if sum(counts) == n
    )
    assert worst <= beta
    # Even shares of two neighbours are the worst data, and those of the first hard case.
    assert sorted(where)[-3:] == [0, n // 2, n - n // 2]
    case = hard_cases(learner, 0.1, "solution")[0]
    assert failure(learner, shares(learner, case, n)) == pytest.approx(worst, rel=1e-12)


@pytest.mark.parametrize("learner", [*IPP, *HULL], ids=lambda learner: learner.id)
def test_the_hard_cases_keep_the_promise_exactly(learner: Any) -> None:
    claim = learner.utility(0.1, 0.1)
    assert (claim.setting, claim.sample_size) == ("solution", learner.sample_size(0.1, 0.1))
    for case in hard_cases(learner, 0.1, "solution"):
        exact = failure(learner, shares(learner, case, claim.sample_size))
        assert exact <= 0.1
        finding = dpaudit.pac.audit_utility(
            learner, case.concept, case.distribution, alpha=0.1, beta=0.1, trials=2000, confidence=1 - 1e-7
        )
        # The interval misses the exact rate with probability below 1e-7.
        assert finding.failure_lower <= exact <= finding.failure_upper
        assert (finding.setting, finding.failure, finding.claim_id) == ("solution", claim.failure, claim.claim_id)


def test_far_too_few_points_fail() -> None:
    for learner in (IPP[0], HULL[0]):
        case = hard_cases(learner, 0.1, "solution")[0]
        finding = dpaudit.pac.audit_utility(
            learner, case.concept, case.distribution, alpha=0.1, beta=0.1, n=3, trials=500
        )
        assert (finding.verdict, finding.claim_id) == ("violation", "")


def in_some_triangle(points: list[Any], x: Any) -> bool:
    """Say by Caratheodory's theorem whether x is in the hull: in a triangle, a segment or a point of the data."""

    def turn(a: Any, b: Any, c: Any) -> Fraction:
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    for a, b, c in itertools.product(points, repeat=3):
        turns = {(t > 0) - (t < 0) for t in (turn(a, b, x), turn(b, c, x), turn(c, a, x))}
        flat = turn(a, b, c) == 0
        inside = all(min(p[i] for p in (a, b, c)) <= x[i] <= max(p[i] for p in (a, b, c)) for i in (0, 1))
        if (not flat and not {1, -1} <= turns) or (flat and turns == {0} and inside):
            return True
    return False


def test_a_point_solves_iff_it_is_in_the_hull() -> None:
    learner, rng, seen = HullPointExponential(2, 2, 1.0), np.random.default_rng(5), set()
    released = learner.extended.points
    for size in (1, 2, 2, 3, 3, 4, 5):
        points = rng.integers(0, 3, (size, 2))
        sample = learner.domain.sample(points, rng.integers(0, 2, size))
        data = [tuple(map(Fraction, p)) for p in points.tolist()]
        for i in rng.permutation(len(released))[:60]:
            expected = in_some_triangle(data, released[i])
            assert learner.solves(released[i], sample) == expected, (data, released[i])
            seen.add(expected)
    assert seen == {True, False}


def test_the_hull_learners_ask_for_the_least_n_that_their_theorem_gives() -> None:
    for side, dimension, epsilon, beta in ((1, 2, 1.0, 0.1), (3, 2, 0.3, 0.01), (7, 1, 2.0, 0.5), (1, 3, 1.0, 0.1)):
        learner = HullPointExponential(side, dimension, epsilon)
        n = learner.sample_size(0.1, beta)
        assert learner.depth_guarantee(n, beta) > 0 >= learner.depth_guarantee(n - 1, beta)
    deep = HULL[1]
    assert deep.sample_size(0.1, 0.1) == deep.required_examples(max(deep.extended.most))
    assert deep.guaranteed_depth(deep.sample_size(0.1, 0.1)) > 0


@pytest.mark.parametrize("learner", [*IPP, *HULL], ids=lambda learner: learner.id)
def test_what_these_theorems_do_not_say_is_refused(learner: Any) -> None:
    for setting in ("realizable", "empirical", "agnostic"):
        with pytest.raises(InputError, match=f"setting must be solution, got '{setting}'"):
            learner.utility(0.1, 0.1, setting)
    with pytest.raises(InputError, match=r"alpha must be in \(0, 1\), got 2"):
        learner.utility(2, 0.1)
    with pytest.raises(InputError, match=r"beta must be"):
        learner.utility(0.1, 0.0)


def test_a_learner_built_for_a_beta_promises_no_smaller_one() -> None:
    for learner in (IPP[2], HULL[1]):
        with pytest.raises(InputError, match=r"beta must be at least 0\.1, for which this learner is built; got 0\.05"):
            learner.utility(0.1, 0.05)
