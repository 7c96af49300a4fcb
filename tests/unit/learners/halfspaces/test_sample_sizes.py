"""Sample sizes of center points, halfspaces and mixtures: formulas, measured sizes, the lower bound at work."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.special import lambertw

import dpaudit
from dpaudit.contract import InputError
from dpaudit.seeding import generator
from dpaudit_learners.halfspaces.depth.extended_domain import ExtendedDomain
from dpaudit_learners.halfspaces.depth.tukey_depth import tukey_depth
from dpaudit_learners.halfspaces.hull_point import HullPointExponential, exponential_examples
from dpaudit_learners.halfspaces.hull_point_rec_concave import HullPointRecConcave
from dpaudit_learners.halfspaces.lower_bound import (
    common_point_examples,
    lambert,
    proved_bound,
    required_examples,
)
from dpaudit_learners.halfspaces.sizes import (
    crossover,
    hard_samples,
    log_star,
    measured_examples,
    printed_examples,
    shallow_probability,
)


class OneSided(ExtendedDomain):
    """The domain of a line, with counts of the points up to a candidate in the place of depths."""

    def regions(self, points: Any, weights: Any) -> Any:
        def values(prefix: Any, candidates: Any) -> Any:
            return (points[:, 0] <= np.array([int(x) for x in candidates])[:, None]) @ weights

        return SimpleNamespace(values=values)


@dataclass(frozen=True)
class HullPointOneSided(HullPointExponential):
    """Depth counted on one side alone, in dimension 1, #{y <= x} instead of the lesser of both counts.

    The count has sensitivity 1, so privacy is kept: no privacy audit can tell it. The greatest candidates win, whether
    or not they lie in the convex hull: the depth of what is released does.
    """

    @property
    def extended(self) -> ExtendedDomain:
        return OneSided(super().extended.domain)


@dataclass(frozen=True)
class HullPointPrinted(HullPointRecConcave):
    """The repaired shares of the budget, with the promises r of Figure 1 as printed.

    The calls are private whatever they are promised; what they keep of the printed promises is less than n/(2 (d + 1)).
    """

    def promise(self, axis: int, n: int) -> Fraction:
        """Return r = n/(d + 1) - (i - 1) n/(d (d + 1)) of coordinate `axis` = i - 1."""
        return Fraction(n, self.dimension + 1) * (1 - Fraction(axis, self.dimension))


def test_log_star() -> None:
    assert [log_star(v) for v in (1, 2, 3, 4, 5, 16, 17, 65536, 65537)] == [0, 1, 2, 2, 3, 3, 4, 4, 5]


def test_printed_sizes_by_hand() -> None:
    # d = 1, |X~| = 4: log* = 2, epsilon_0 = 1/(2 sqrt(2 ln 2e6)), alpha_0 = 1/2, delta_0 = 5e-7, beta_0 = 0.1.
    share = 1 / (2 * math.sqrt(2 * math.log(2e6)))
    right = 64 * 24 / (0.5 * share) * math.log(192 * 4 / (0.1 * 5e-7))
    assert printed_examples(1, 4, 1.0, 1e-6, 0.1) == pytest.approx(4 * right, rel=1e-12)
    with pytest.raises(InputError, match="candidates"):
        printed_examples(1, 1, 1.0, 1e-6, 0.1)


@pytest.mark.parametrize(("side", "dimension"), [(31, 1), (2, 2)])
def test_explicit_sizes_are_where_half_of_the_depth_is_kept(side: int, dimension: int) -> None:
    learner = HullPointExponential(side, dimension, 1.0)
    n = learner.explicit_examples(0.1)
    assert n == exponential_examples(dimension, learner.extended.sizes, 1.0, 0.1)
    for more in range(n, n + 12):
        assert learner.depth_guarantee(more, 0.1) >= more / (2 * (dimension + 1))
    low = n // (dimension + 1) * (dimension + 1) - (dimension + 1)
    assert learner.depth_guarantee(low, 0.1) < low / (2 * (dimension + 1))


def test_measured_sizes_are_the_least_on_the_hard_samples() -> None:
    for learner in (HullPointExponential(31, 1, 1.0), HullPointExponential(1, 2, 1.0)):
        n = measured_examples(learner, 0.1)
        assert n <= learner.explicit_examples(0.1) + 11
        worst = [max(shallow_probability(learner, s) for s in hard_samples(learner, k)) for k in (n - 12, n, n + 12)]
        assert worst[0] > 0.1 >= worst[1] >= worst[2]


def test_a_shallow_probability_by_hand() -> None:
    # All 24 examples at one end of {0 .. 31}: depth 24 there, 0 elsewhere, 6 needed; rate epsilon/2.
    learner = HullPointExponential(31, 1, 1.0)
    sample = learner.domain.sample([[0]], [0], [24])
    assert shallow_probability(learner, sample) == pytest.approx(31 / (31 + math.exp(12)), rel=1e-9)


def test_where_recconcave_begins_to_pay() -> None:
    for d in (1, 2):
        k = crossover(d, 1.0, 1e-6, 0.1)
        assert k is not None
        learner = HullPointRecConcave(1, d, 1.0, 1e-6, 0.1)
        sizes = [2, 5, 20, 33, 100, 1000, k - 1, k, k + 1, 2 * k]
        pays = [learner.required_examples(2**j) < exponential_examples(d, (2**j,) * d, 1.0, 0.1) for j in sizes]
        assert pays == [False] * 7 + [True] * 3
    assert crossover(1, 1.0, 1e-6, 0.1, most=100) is None


def test_learners_that_lose_the_promise_of_depth_are_private() -> None:
    one_sided, printed = HullPointOneSided(4, 1, 1.0), HullPointPrinted(1, 2, 1.0, 1e-6, 0.1)
    for learner, n in ((one_sided, 3), (printed, 4)):
        finding = dpaudit.pac.audit_law(learner, n=n)
        assert finding.verdict == "consistent"
        assert finding.epsilon > 0.1


def test_depth_without_one_side_is_convicted_by_the_depth_it_reaches() -> None:
    # All examples at 0: every x has them all on its one side, so all 32 candidates are alike.
    broken, sound = HullPointOneSided(31, 1, 1.0), HullPointExponential(31, 1, 1.0)
    for n in (sound.explicit_examples(0.1), 10**6):
        sample = sound.domain.sample([[0]], [0], [n])
        assert shallow_probability(broken, sample) == pytest.approx(31 / 32, abs=1e-9)
        assert shallow_probability(sound, sample) < 0.1
    points = broken.run(broken.domain.sample([[0]], [0], [100]), generator(0, "one side"), 50)
    assert len({p for (p,) in points}) > 5


def worst_depth(learner: Any, sample: Any) -> int:
    """Return the least depth of a point when every coordinate is the worst that RecConcave may return."""
    points, weights = sample.points.astype(np.int64), sample.counts
    regions = learner.extended.regions(points, weights)
    prefixes: list[tuple[Fraction, ...]] = [()]
    for axis in range(learner.dimension):
        kept = (1 - learner.accuracy) * learner.promise(axis, sample.n)
        following = []
        for prefix in prefixes:
            candidates = learner.extended.coordinates(prefix)
            values = regions.values(prefix, candidates)
            following += [(*prefix, x) for x, v in zip(candidates, values.tolist(), strict=True) if v >= kept]
        prefixes = following
    return min(tukey_depth(points, weights, point) for point in prefixes)


def test_the_printed_promises_are_convicted_by_a_recconcave_that_keeps_no_more_than_it_must() -> None:
    sound, printed = HullPointRecConcave(2, 2, 1.0, 1e-6, 0.1), HullPointPrinted(2, 2, 1.0, 1e-6, 0.1)
    rng = np.random.default_rng(0)
    lost = 0
    for _ in range(20):
        sample = sound.domain.sample(sound.domain.points(), [0] * 9, rng.multinomial(48, rng.dirichlet(np.ones(9))))
        assert worst_depth(sound, sample) >= 48 / 6
        lost += worst_depth(printed, sample) < 48 / 6
    assert lost >= 5


def test_a_common_point_takes_as_many_examples_as_its_mechanism_needs() -> None:
    m = common_point_examples(10, 9, 1.0)
    assert 5 * math.exp(m / 10) == pytest.approx(1e10 - 5, rel=1e-9)
    assert m > required_examples(10, 9, 1.0) > 0


def test_the_bound_in_the_span_keeps_its_promises() -> None:
    for x in (0.0, 1e-12, 0.3, math.e, 1e9, 1e300):
        w = lambert(x)
        assert w == pytest.approx(complex(lambertw(x)).real, rel=1e-9)
    for d, values, epsilon, f in itertools.product(
        (6, 10, 50, 1000), (2, 3, 10**6), (1e-3, 1.0, 9.0), (1.0, 1e-3, 1e-9)
    ):
        delta = f * min(1 / 8, (epsilon / (4 * d)) ** 2)
        named = proved_bound(d, 1e300, epsilon, delta)
        assert named >= min(d * math.log(1 / delta) / (7 * epsilon), proved_bound(d, 1e300, epsilon, 0.0))
        # It is what the last display of the proof is simplified to.
        assert proved_bound(d, values, epsilon, delta) <= required_examples(d, values - 1, epsilon, delta) * (1 + 1e-9)
    assert [proved_bound(d, t, 1.0, 0.0) > 0 for d, t in ((10, 3), (8, 3), (14, 2), (12, 2))] == [
        True,
        False,
        True,
        False,
    ]
    assert proved_bound(10, 1e6, 1e-9, 0.01) == pytest.approx(1 / 0.08)
