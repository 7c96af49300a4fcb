"""The lower bound for the learner from mixtures in d dimensions, against facets, laws and runs."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.stats import binomtest, multinomial

import dpaudit
from dpaudit.contract import Distribution, InputError
from dpaudit.seeding import generator
from dpaudit.utility.sample_complexity import own_case
from dpaudit_learners.halfspaces.concepts import Halfspace
from dpaudit_learners.mixtures.halfspace import LARGEST, MixtureHalfspace
from dpaudit_learners.mixtures.missed_facets import (
    HardPolytope,
    cyclic_case,
    cyclic_facets,
    dot,
    expected_products,
    facets_of,
    log_odds,
)


def cross_case(dimension: int, alpha: float) -> Distribution:
    """Return the public points v, b_i, c_i, then the private z_i, moved into the grid, with their probabilities."""
    s, one = 2 * dimension - 2, np.eye(dimension, dtype=np.int64)
    points = np.concatenate([0 * one[:1], -s * one, s * one - 2 * s, one]) + 2 * s
    public, mass = 2 * dimension + 1, 1.001 * alpha
    return Distribution(points, np.repeat([(1 - mass) / public, mass / dimension], [public, dimension]))


def target(dimension: int, public_label: int = 0) -> Halfspace:
    """Return the halfspace with the private points alone, or the other side."""
    threshold = dimension * (4 * dimension - 4) + 1
    sign = 1 - 2 * public_label
    return Halfspace((sign,) * dimension, threshold if sign > 0 else 1 - threshold)


def failing(learner: MixtureHalfspace, codes: Any, law: Distribution, alpha: float) -> np.ndarray:
    """Return which outputs err by more than alpha."""
    truth = target(learner.dimension, learner.public_label).predict(law.points)
    wrong = np.array([learner.decode(code).predict(law.points) != truth for code in codes])
    return np.asarray(wrong @ law.probabilities > alpha)


@pytest.mark.parametrize("dimension", [2, 3, 4, 5, 7])
def test_the_hull_has_the_facets_that_are_counted(dimension: int) -> None:
    points, public = cross_case(dimension, 0.01).points, 2 * dimension + 1
    hull = ConvexHull(points[:public])
    assert len(hull.equations) == 2**dimension - 1 + dimension
    outside = hull.equations[:, :-1] @ points[public:].T + hull.equations[:, -1:] > 1e-9
    assert outside.sum(axis=0).tolist() == [1] * dimension
    assert outside.sum(axis=1).max() == 1
    # Each is spanned by so many points, and by no more.
    on = np.abs(hull.equations[:, :-1] @ points[:public].T + hull.equations[:, -1:]) < 1e-9
    assert set(on.sum(axis=1).tolist()) == {dimension}


def even(chosen: tuple[int, ...], vertices: int) -> bool:
    """Return Gale's condition: between any two others there is an even number of the chosen."""
    others = [i for i in range(vertices) if i not in chosen]
    return all(sum(i < c < j for c in chosen) % 2 == 0 for i, j in itertools.combinations(others, 2))


@pytest.mark.parametrize(("dimension", "vertices"), [(2, 3), (2, 7), (3, 7), (4, 7), (5, 7)])
def test_the_cyclic_case_has_the_facets_that_the_proof_counts(dimension: int, vertices: int) -> None:
    public, private, (*upward, height) = cyclic_case(vertices, dimension)
    subsets = itertools.combinations(range(vertices), dimension)
    ours = {chosen for chosen in subsets if even(chosen, vertices)}
    assert set(facets_of(public[:-1])) == ours
    assert len(ours) == cyclic_facets(vertices, dimension)
    hull, first = facets_of(public), tuple(range(dimension))
    assert {chosen for chosen in hull if vertices not in chosen} == ours - {first}
    through = {chosen for chosen in hull if vertices in chosen}
    assert through == {(*rest, vertices) for rest in itertools.combinations(first, dimension - 1)}
    beyond = [[chosen for chosen, row in hull.items() if dot(row[:-1], z) > row[-1]] for z in private]
    assert {chosen for (chosen,) in beyond} == through
    assert max(dot(upward, x) for x in public) == height < min(dot(upward, z) for z in private)


def test_a_hull_is_of_points_in_general_position() -> None:
    square = [(x, y) for x in (Fraction(1), Fraction(2)) for y in (Fraction(1), Fraction(3))]
    with pytest.raises(InputError, match="general position"):
        facets_of([*square, (Fraction(1), Fraction(2))])
    with pytest.raises(InputError, match="do not contain 0"):
        facets_of([(Fraction(0), Fraction(0)), *square])


def agrees(learner: MixtureHalfspace, law: Distribution, truth: Any, public: int, others: int) -> None:
    """Compare the law on a sample with X, and see that all that has some public point outside fails."""
    d = learner.dimension
    counts = np.concatenate([np.arange(3, 3 + public), np.arange(d) ** 2])
    seen = counts > 0
    output = learner.law(learner.domain.sample(law.points[seen], truth[seen], counts[seen]))
    mass = np.exp(output.log_prob)
    wrong = np.array([learner.decode(code).predict(law.points) != truth for code in output.atoms])
    fits, fails = ~wrong[:, :public].any(axis=1), wrong @ law.probabilities > 0.02
    assert fails[~fits].all()
    weights = np.exp(0.35 * counts[public:])
    products = [
        sum(math.prod(chosen) for chosen in itertools.combinations(weights.tolist(), r)) for r in range(1, d + 1)
    ]
    rate = 1 / (1 + math.exp(log_odds(d, others, np.log(products))))
    assert mass[fits & fails].sum() / mass[fits].sum() == pytest.approx(rate, rel=1e-9)
    assert mass[fails].sum() >= rate


@pytest.mark.parametrize("public_label", [0, 1])
@pytest.mark.parametrize("dimension", [2, 3])
def test_given_a_sample_it_is_the_law_of_those_that_fit_the_public_points(dimension: int, public_label: int) -> None:
    learner = MixtureHalfspace(dimension, 0.7, side=4 * dimension - 3, public_label=public_label)
    law = cross_case(dimension, 0.02)
    agrees(learner, law, target(dimension, public_label).predict(law.points), 2 * dimension + 1, 2**dimension - 1)


def test_in_the_plane_the_cyclic_case_fits_a_grid() -> None:
    public, private, _ = cyclic_case(6, 2)
    scale = math.lcm(*(c.denominator for p in (*public, *private) for c in p))
    points = np.array([[int(c * scale) for c in p] for p in (*public, *private)])
    hard = HardPolytope(2, 6, cyclic_facets(6, 2), 0.02)
    law = Distribution(points - points.min(axis=0), np.repeat([hard.share, hard.mass], [7, 2]))
    agrees(MixtureHalfspace(2, 0.7, side=int(law.points.max())), law, np.repeat([0, 1], [7, 2]), 7, 5)


def test_products_have_the_means_of_multinomial_counts() -> None:
    rate, mass, n = 0.4, 0.15, 6
    shares = np.array([mass] * 3 + [1 - 3 * mass])
    means = np.zeros(3)
    for counts in itertools.product(range(n + 1), repeat=3):
        if sum(counts) <= n:
            a, b, c = np.exp(rate * np.array(counts))
            means += multinomial.pmf([*counts, n - sum(counts)], n, shares) * np.array(
                [a + b + c, a * b + a * c + b * c, a * b * c]
            )
    assert expected_products(3, rate, mass, n) == pytest.approx(np.log(means))


def test_it_is_near_the_mean_over_samples_of_their_laws() -> None:
    # 400 laws, of which the mean is within four standard errors with probability 0.9999.
    learner, alpha, n, rng = MixtureHalfspace(2, 0.1, side=5), 0.02, 2500, generator(0, "facets")
    law = cross_case(2, alpha)
    truth = target(2).predict(law.points)
    rates = []
    for _ in range(400):
        counts = rng.multinomial(n, law.probabilities)
        output = learner.law(learner.domain.sample(law.points, truth, counts))
        rates.append(float(np.exp(output.log_prob)[failing(learner, output.atoms, law, alpha)].sum()))
    bound = HardPolytope.cross(2, alpha).failure(0.05, n)
    error = 4 * np.std(rates) / math.sqrt(len(rates))
    assert bound <= np.mean(rates) + error
    assert bound >= 0.9 * np.mean(rates)


@pytest.mark.parametrize(("dimension", "n", "trials"), [(2, 2500, 600), (3, 2500, 150)])
def test_runs_fail_about_as_often(dimension: int, n: int, trials: int) -> None:
    # The interval misses the rate with probability 0.001.
    learner, alpha, rng = MixtureHalfspace(dimension, 0.1, side=4 * dimension - 3), 0.02, generator(1, "facets")
    law = cross_case(dimension, alpha)
    codes = [learner.run(learner.domain.draw(target(dimension), law, n, rng), rng, 1)[0] for _ in range(trials)]
    limits = binomtest(int(failing(learner, codes, law, alpha).sum()), trials).proportion_ci(0.999)
    bound = HardPolytope.cross(dimension, alpha).failure(0.05, n)
    assert 0.1 < bound <= limits.high
    assert limits.low <= 1.1 * bound


@pytest.mark.parametrize("dimension", [2, 16, 512])
def test_it_never_increases(dimension: int) -> None:
    rates = [HardPolytope.cross(dimension, 2e-4).failure(0.05, 2**i) for i in range(62)]
    assert rates == sorted(rates, reverse=True)
    assert rates[0] > 0.3
    assert rates[-1] == 0


@pytest.mark.parametrize("dimension", [2, 3, 16, 255])
def test_the_closed_form_fails_and_little_more_does_not_show_it(dimension: int) -> None:
    hard = HardPolytope.cyclic(dimension, 1e-4)
    n = hard.fails_up_to(0.05, 0.1)
    assert hard.failure(0.05, math.floor(n)) > 0.1 > hard.failure(0.05, math.ceil(1.1 * n))
    half, m = dimension // 2, hard.vertices
    log_facets = sum(math.log(m - half - (dimension % 2) - i) - math.log(i + 1) for i in range(half))
    log_facets += math.log(2) if dimension % 2 else math.log(m / (m - half))
    proved = dimension / (1.001e-4 * math.expm1(0.05)) * (log_facets - 2 * math.log(dimension) + math.log(math.log(10)))
    assert n == pytest.approx(proved, rel=1e-3)
    assert m + 1 < 1e4 - 1.001 <= m + 2


def test_where_too_few_examples_see_the_public_points_the_closed_form_says_nothing() -> None:
    assert HardPolytope.cyclic(4, 0.01).fails_up_to(20.0, 0.1) == 0
    assert HardPolytope(4, 5, 4, 0.01).fails_up_to(0.05, 0.1) == 0


@pytest.mark.parametrize("make", [HardPolytope.cyclic, HardPolytope.cross])
def test_public_points_must_weigh_more_than_alpha(make: Any) -> None:
    with pytest.raises(InputError, match="alpha must be below 1/"):
        make(4, 0.15)
    with pytest.raises(InputError, match=r"dimension must be an integer in \[2, 1000\]"):
        make(1001, 1e-6)


def test_the_theorem_suffices_in_many_dimensions() -> None:
    learner = MixtureHalfspace(32, 0.1, side=125)
    found = own_case(learner, 0.001, 0.1, learner.utility(0.001, 0.1))
    assert found is not None
    bracket, words = found
    assert learner.hard_failure(0.001, bracket.lower)[0] > 0.1 >= learner.hard_failure(0.001, bracket.lower + 1)[0]
    assert 20 * bracket.lower < learner.sample_size(0.001, 0.1)
    assert "a lower bound" in words


@pytest.mark.parametrize(
    ("learner", "alpha", "told"),
    [
        (MixtureHalfspace(3, 0.1, side=9), 0.001, "dimension"),
        (MixtureHalfspace(4, 0.1, side=12), 0.001, "side"),
        (MixtureHalfspace(4, 0.1, side=13), 0.1, "alpha"),
        (MixtureHalfspace(4, 0.1, side=13, literal=True), 0.001, "literal"),
    ],
)
def test_where_there_is_no_such_case_none_is_taken(learner: MixtureHalfspace, alpha: float, told: str) -> None:
    with pytest.raises(InputError, match=told):
        learner.hard_failure(alpha, 100)
    assert own_case(learner, alpha, 0.1, learner.utility(alpha, 0.1)) is None


def test_beyond_three_dimensions_nothing_runs() -> None:
    learner = MixtureHalfspace(LARGEST, 0.1, side=13)
    for ask in (
        lambda: learner.domain,
        lambda: learner.concepts,
        lambda: dpaudit.pac.audit_law(learner, n=2),
        lambda: dpaudit.pac.sample_complexity(MixtureHalfspace(4, 0.1, side=12), alpha=0.001, beta=0.1),
    ):
        with pytest.raises(InputError, match=r"dimension must be an integer in \[1, 3\]"):
            ask()
