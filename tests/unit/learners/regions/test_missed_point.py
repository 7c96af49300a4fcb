"""The point that hardly any halfplane covers alone: measures against listed families, rates against laws and runs."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from dpaudit.errors import InputError
from dpaudit.utility.sample_complexity import exact_size, own_case
from dpaudit_learners.covers.rounds import RoundedNoise
from dpaudit_learners.regions.missed_point import MissedPoint
from dpaudit_learners.regions.region_cover import ConvexPolygon


def polygon(side: int, variant: str = "noiseless", **given: Any) -> ConvexPolygon:
    """Return a learner of polygons; J = 2 by default."""
    parameters = {"k": 1, "epsilon": 1.0, "delta": 1e-6, "alpha": 0.74, "beta": 0.05, "variant": variant, **given}
    return ConvexPolygon(side=side, **parameters)


def case_of(learner: ConvexPolygon, alpha: float) -> MissedPoint:
    """Return the hard case of a learner."""
    noise = RoundedNoise(*learner._noise_scale)
    return MissedPoint(learner.side, learner.rounds, learner.k, learner._rate, noise, alpha)


@pytest.mark.parametrize("side", [3, 4, 5, 6])
def test_the_measures_are_those_of_the_listed_halfplanes(side: int) -> None:
    learner = polygon(side)
    case = case_of(learner, 0.1)
    family = learner._regions.family
    covered = learner._cover(np.array(case.points)).T.tolist()
    total = sum(family.volumes)

    def share(pattern: list[int]) -> Fraction:
        # The columns are the points p, r and q.
        kept = [volume for volume, row in zip(family.volumes, covered, strict=True) if row == pattern]
        return Fraction(sum(kept), total) * 32 * side**4

    assert len(covered) == len(family)
    assert case.measures == (share([0, 0, 1]), share([0, 0, 0]))


def test_the_triangle_shrinks_with_the_seventh_power() -> None:
    for side in (2**10 + 1, 2**64 + 1):
        case = case_of(polygon(side), 0.1)
        alone, none = case.measures
        # Two triangles over the base 1/d, as wide as the differences of slopes: 2/d^3 but for lower powers.
        assert float(alone * side**3) == pytest.approx(2, rel=0.01)
        assert 0.2 < float(none / (32 * side**4)) < 0.3


@pytest.mark.parametrize(
    ("learner", "counts"),
    [
        (polygon(3, epsilon=2.0), (20, 60, 50)),
        (polygon(3, epsilon=4.0), (9, 30, 30)),
        (polygon(3, "paper", alpha=0.74, beta=0.2, delta=0.3), (30, 150, 150)),
        (polygon(3, "paper", alpha=0.74, beta=0.2, delta=0.3), (90, 300, 300)),
    ],
)
def test_the_chance_to_miss_is_that_of_the_law(learner: ConvexPolygon, counts: tuple[int, int, int]) -> None:
    case = case_of(learner, 0.2)
    q, p, r = counts
    law = learner.law(learner.domain.sample(case.points, [1, 1, 0], [p, r, q]))
    right = 0.0
    for code, log in zip(law.atoms, law.log_prob.tolist(), strict=True):
        if log > -60 and learner.decode(code).predict(np.array(case.points)).tolist() == [1, 1, 0]:
            right += math.exp(log)
    missed = float(case.missed(np.array([float(q)]))[0])
    # Rounds that cover p or r, which are left out, are rare here; noise in blocks is no more than itself.
    assert missed <= 1 - right + 1e-12
    assert missed == pytest.approx(1 - right, abs=5e-3)


@pytest.mark.parametrize("k", [1, 2])
def test_runs_on_a_large_grid_miss_as_often(k: int) -> None:
    # With two edges too the target is a halfplane.
    learner = polygon(2**40, k=k, epsilon=8.0)
    case = case_of(learner, 0.2)
    n = exact_size(case.failure, 0.5, 1000)
    rng = np.random.default_rng(3)
    shares = [(1 - case.mass) / 2, (1 - case.mass) / 2, case.mass]
    points = np.array(case.points, dtype=object)
    wrong = 0
    for _ in range(100):
        sample = learner.domain.sample(points, [1, 1, 0], rng.multinomial(n, shares))
        (code,) = learner.run(sample, rng, 1)
        wrong += learner.decode(code).predict(points).tolist() != [1, 1, 0]
    assert abs(wrong - 50) < 4 * 5
    assert learner.hard_failure(0.2, n) == (case.failure(n), str(case))


def test_the_rate_falls_with_n() -> None:
    learner = polygon(2**64, "paper", k=4, alpha=0.1)
    sizes = [*range(1, 100, 9), *range(360_000, 375_000, 500), 10**6, 10**8]
    rates = [learner.hard_failure(0.2, n)[0] for n in sizes]
    assert all(later <= before + 1e-12 for before, later in pairwise(rates))
    assert rates[0] > 0.99
    assert rates[-1] < 1e-9


def test_a_case_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="side must be"):
        polygon(2).hard_failure(0.1, 10)
    with pytest.raises(InputError, match="alpha must be below"):
        polygon(3).hard_failure(0.34, 10)
    small = ConvexPolygon(2, 1, 1.0, 1e-6, 0.1, 0.05)
    assert own_case(small, 0.3, 0.1, small.utility(0.3, 0.1)) is None
