"""The linear programs over all private algorithms for an interior point, beside what can be computed by hand."""

from __future__ import annotations

import math

import pytest

from dpaudit_learners.papers.bmns_interior import least_failure, packing_failure


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("delta", [0.0, 0.01, 0.3])
def test_one_example_of_two_points_is_randomised_response(epsilon: float, delta: float) -> None:
    # The answer is the example itself, but for a lie: (1 - delta)/(1 + e^epsilon).
    assert least_failure(2, 1, epsilon, delta) == pytest.approx((1 - delta) / (1 + math.exp(epsilon)), abs=1e-7)


@pytest.mark.parametrize("points", [2, 3, 5])
def test_one_example_is_as_hard_as_packing_says(points: int) -> None:
    # All samples of one example are neighbours: the bound is attained.
    assert least_failure(points, 1, 1.0, 0.0) == pytest.approx(packing_failure(points, 1, 1.0), abs=1e-7)


def test_more_examples_or_more_delta_help_and_more_points_do_not() -> None:
    assert least_failure(3, 3, 1.0, 0.0) < least_failure(3, 2, 1.0, 0.0) < least_failure(4, 2, 1.0, 0.0)
    assert least_failure(3, 2, 1.0, 0.1) < least_failure(3, 2, 1.0, 0.0)


def test_the_exponential_mechanism_does_no_better() -> None:
    # With weights e^(epsilon q/2), q = min(#{<= x}, #{>= x}), on n copies of one of T points.
    points = 4
    n = 3
    failure = (points - 1) / (points - 1 + math.exp(n / 2))
    assert least_failure(points, n, 1.0, 0.0) <= failure
