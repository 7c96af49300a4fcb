"""Hard samples of interior points and thresholds: formulas against listed laws, the other formulas, and runs."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import binom

from dpaudit.errors import InputError
from dpaudit.utility.sample_complexity import own_case
from dpaudit_learners.halfspaces.hull_point_rec_concave import HullPointRecConcave
from dpaudit_learners.interior_points.interior_point import (
    InteriorPoint,
    InteriorPointExponential,
    InteriorPointRecConcave,
    InteriorPointTreeLog,
    _neighbours,
    _tree_samples,
)
from dpaudit_learners.interior_points.thresholds import ThresholdInteriorPoint
from dpaudit_learners.mechanisms.steps import Multiset, of_counter
from dpaudit_learners.mechanisms.tree_log import TreeLog


def unsolved(learner: InteriorPoint, data: Multiset) -> float:
    """Return the probability that an output of the listed law solves nothing."""
    points, counts = data
    sample = learner.domain.sample(points, [0] * len(points), counts)
    law = np.exp(learner.law(sample).log_prob)
    return float(sum(p for x, p in enumerate(law) if not learner.solves(x, sample)))


@pytest.mark.parametrize(("size", "n"), [(20, 1), (20, 9), (64, 30), (64, 250), (100, 400)])
def test_rec_concave_on_two_neighbours(size: int, n: int) -> None:
    learner = InteriorPointRecConcave(size, 1.0, 1e-6)
    rate, words = learner.hard_failure(0.5, n)
    assert rate == pytest.approx(unsolved(learner, _neighbours(size, n)), rel=1e-6, abs=2e-6)
    assert "neighbouring" in words


@pytest.mark.parametrize("base", [4, 16])
@pytest.mark.parametrize("seed", range(4))
def test_the_mass_outside_is_that_of_the_law_of_tree_log(base: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = sorted(rng.choice(256, size=int(rng.integers(1, 6)), replace=False).tolist())
    tree = TreeLog.within(256, 0, Fraction(4), 0.01, 0.3, base)
    for n in (40, *(start + int(rng.integers(1, 30)) for start in tree.starts)):
        counts = rng.multinomial(n, np.full(len(points), 1 / len(points)))
        data = of_counter(dict(zip(points, counts.tolist(), strict=True)))
        made = replace(tree, n=n)
        law = np.exp(made.log_law(*data)[0])
        low, high = data[0][0], data[0][-1]
        outside = law[:low].sum() + law[high + 1 :].sum()
        assert made.outside(data, low, high) == pytest.approx(outside, rel=1e-9, abs=1e-11)


def test_starts_are_where_levels_of_recursion_begin() -> None:
    tree = TreeLog.within(2**64, 0, Fraction(1), 1e-6, 0.1)
    assert len(tree.starts) == tree.levels - 1 == 2
    for i, start in enumerate(tree.starts):
        for n, made in ((start, i), (start + 1, i + 1)):
            inner = replace(tree, n=n)
            depth = 0
            while inner.inner is not None:
                inner = inner.inner
                depth += 1
            assert depth == made
    assert TreeLog.within(16, 0, Fraction(1), 1e-6, 0.1).starts == []


def test_tree_log_fails_again_where_its_recursion_has_no_data() -> None:
    learner = InteriorPointTreeLog(256, 1.0, 1e-6, 0.1)
    (start,) = learner._tree(0).starts
    # The exponential mechanism is good enough long before; the recursion is not, with a few examples more.
    pile = [_tree_samples(256, n)[1][0] for n in (start, start + 1, start + 60)]
    rates = [unsolved(learner, data) for data in pile]
    assert rates[0] < 1e-6
    assert rates[1] > 0.6
    assert rates[2] < 0.01
    assert learner.hard_failure(0.5, 300)[0] == pytest.approx(rates[1])
    assert learner.hard_failure(0.5, start + 60)[0] == pytest.approx(rates[2])
    n = learner.points_needed(0.1)
    assert learner.hard_failure(0.5, n)[0] <= 0.1
    assert learner.hard_failure(0.5, n - 70)[0] > 0.1


@pytest.mark.parametrize("kind", [InteriorPointRecConcave, InteriorPointTreeLog])
def test_rates_fall_with_n(kind: type[InteriorPointRecConcave | InteriorPointTreeLog]) -> None:
    given = (0.5,) if kind is InteriorPointRecConcave else (0.1,)
    learner = kind(2**64, 1.0, 1e-6, *given)
    rates = [learner.hard_failure(0.5, n)[0] for n in range(200, 5000, 150)]
    assert all(later <= before + 1e-9 for before, later in pairwise(rates))
    assert rates[0] > 0.5
    assert rates[-1] < 0.01


def test_runs_on_towers_agree() -> None:
    size = 2 ** (2**12)
    learner = InteriorPointRecConcave(size, 1.0, 1e-6)
    points, counts = _neighbours(size, 440)
    sample = learner.domain.sample(np.array(points, dtype=object)[:, None], [0, 0], counts)
    runs = learner.run(sample, np.random.default_rng(1), 400)
    wrong = sum(not learner.solves(x, sample) for x in runs)
    rate = learner.hard_failure(0.5, 440)[0]
    assert binom.cdf(wrong, 400, rate) > 1e-4
    assert binom.sf(wrong - 1, 400, rate) > 1e-4
    tree = InteriorPointTreeLog(size, 1.0, 1e-6, 0.1)
    start = tree._tree(0).starts[0] + 10
    ((data, _), (pile, _)) = _tree_samples(size, start)
    for some in (data, pile):
        sample = tree.domain.sample(np.array(some[0], dtype=object)[:, None], [0] * len(some[0]), some[1])
        wrong = sum(not tree.solves(x, sample) for x in tree.run(sample, np.random.default_rng(2), 300))
        rate = tree._failure_on(some)
        assert binom.cdf(wrong, 300, rate) > 1e-4
        assert binom.sf(wrong - 1, 300, rate) > 1e-4


def test_find_tukey_on_a_line_is_rec_concave() -> None:
    for side in (40, 1000):
        line = HullPointRecConcave(side, 1, 1.0, 1e-6, 0.1)
        concave = InteriorPointRecConcave(side + 1, 1.0, 1e-6)
        assert line.mechanism(side + 1, 0, 500) == concave._concave(500)


def test_the_sample_counts_as_a_case_of_its_own() -> None:
    learner = InteriorPointTreeLog(256, 1.0, 1e-6, 0.1)
    bracket, words = own_case(learner, 0.5, 0.1, learner.utility(0.5, 0.1)) or (None, "")
    assert bracket is not None
    assert learner.hard_failure(0.5, bracket.lower)[0] > 0.1 >= learner.hard_failure(0.5, bracket.upper or 0)[0]
    assert words == "a sample of the point 6 alone"
    plain = InteriorPointExponential(256, 1.0)
    assert own_case(plain, 0.5, 0.1, plain.utility(0.5, 0.1)) is None


def exact_failure(learner: ThresholdInteriorPoint, alpha: float, n: int) -> float:
    """Return the failure rate on the two points, by the listed law for every number of negative examples."""
    middle = learner.domain_size // 2
    mass = 1.001 * alpha
    total = 0.0
    for negative in range(n + 1):
        sample = learner.domain.sample([middle - 1, middle], [1, 0], [n - negative, negative])
        right = np.exp(learner.law(sample).log_prob[middle])
        total += float(binom.pmf(negative, n, mass)) * (1 - right)
    return total


@pytest.mark.parametrize("n", [10, 40, 90, 130])
@pytest.mark.parametrize(("variant", "delta"), [("exponential", None), ("rec-concave", 0.01)])
def test_thresholds_on_two_neighbours(variant: str, delta: float | None, n: int) -> None:
    learner = ThresholdInteriorPoint(48, 1.0, 0.2, delta, variant)
    if variant == "rec-concave":
        n *= 12
    found = learner.hard_failure(0.2, n)[0]
    exact = exact_failure(learner, 0.2, n)
    assert found <= exact + 1e-9
    assert found > exact - 0.04


def test_thresholds_have_no_case_for_large_alpha_or_tree_log() -> None:
    with pytest.raises(InputError, match="alpha must be below 1/2"):
        ThresholdInteriorPoint(48, 1.0, 0.2).hard_failure(0.5, 10)
    with pytest.raises(InputError, match="variant"):
        ThresholdInteriorPoint(48, 1.0, 0.2, 0.01, "tree-log").hard_failure(0.1, 10)


def test_thresholds_of_towers_are_found() -> None:
    size = 2**2000
    learner = ThresholdInteriorPoint(size, 1.0, 0.1)
    n = learner.utility(0.1, 0.2).sample_size
    sample = learner.domain.sample(
        np.array([[size // 2 - 1], [size // 2]], dtype=object), [1, 0], [n - n // 10, n // 10]
    )
    assert set(learner.run(sample, np.random.default_rng(0), 20)) == {size // 2}


def test_draws_on_towers_have_their_law() -> None:
    # The weights of single points, 1 in 2^1500, are underflows of floats.
    size = 2**1500
    needed = InteriorPointExponential(size, 4.0).points_needed(0.5)
    learner = InteriorPointExponential(size, 4.0)
    for n in (needed // 3, needed // 2 - 1, needed):
        points, counts = _neighbours(size, n)
        sample = learner.domain.sample(np.array(points, dtype=object)[:, None], [0, 0], counts)
        wrong = sum(not learner.solves(x, sample) for x in learner.run(sample, np.random.default_rng(n), 40))
        rate = learner.worst_failure(0.5, n).lower
        assert binom.cdf(wrong, 40, rate) > 1e-4
        assert binom.sf(wrong - 1, 40, rate) > 1e-4
