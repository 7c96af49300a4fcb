"""Composition against the binomial law, against enumeration in fractions, and against another implementation."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from quick import by_turns

import dpaudit
from dpaudit.exact import convolution
from dpaudit.exact.composition import compose, pair_law
from dpaudit.exact.convolution import LossSum
from dpaudit.exact.dominating import LossLaw, dominating_law
from dpaudit.exact.finding import LawFinding
from dpaudit.exact.profiles import LossProfiles

REFERENCE = json.loads(Path(__file__).with_name("composition_reference.json").read_text())
CELLS = convolution._CELLS


@pytest.fixture(autouse=True)
def _coarse_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a 16th of the cells: the bounds hold on any grid, and are wider. Long sums are made on all as well."""
    monkeypatch.setattr(convolution, "_CELLS", CELLS // 16)


def profiles_of(*pairs: tuple[npt.ArrayLike, npt.ArrayLike], error: float = 2e-16) -> LossProfiles:
    """Return the profiles of pairs of laws given as probabilities, in the given order only."""
    with np.errstate(divide="ignore"):
        laws = np.log(np.array([side for pair in pairs for side in pair], dtype=np.float64))
    numbers = np.arange(len(pairs))
    return LossProfiles(np.maximum(laws, -1e300), np.full(len(laws), error), 2 * numbers, 2 * numbers + 1)


def binomial_delta(epsilon: float, loss: Fraction, chance: Fraction, times: int) -> float:
    """Return delta of randomised response: `loss` with probability `chance`, else -`loss`; exact but for exponentials.

    Terms are summed in fractions, so that a delta of 1e-100 keeps its digits.
    """
    total = Fraction(0)
    for heads, mass in enumerate(binomial_masses(chance, times)):
        gap = float((2 * heads - times) * loss) - epsilon
        if gap > 0:
            total += mass * Fraction(-math.expm1(-gap))
    return float(total)


@cache
def binomial_masses(chance: Fraction, times: int) -> list[Fraction]:
    """Return the probabilities of 0 to `times` heads."""
    return [math.comb(times, heads) * chance**heads * (1 - chance) ** (times - heads) for heads in range(times + 1)]


@pytest.mark.parametrize(
    ("loss", "times"), by_turns(itertools.product([Fraction(1, 10), Fraction(1), Fraction(4)], [1, 10, 300]))
)
def test_randomised_response_is_the_binomial_law(loss: Fraction, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if times == 300:
        monkeypatch.setattr(convolution, "_CELLS", CELLS if loss < 1 else CELLS // 4)
    chance = Fraction(1 / (1 + math.exp(-loss)))
    law = LossLaw(np.array([-float(loss), float(loss)]), np.array([float(1 - chance), float(chance)]), 0.0)
    upper, lower = (LossSum(law, times, upper=side) for side in (True, False))
    for share in (0.0, 0.3, 0.77, 0.999):
        epsilon = share * times * float(loss)
        exact = binomial_delta(epsilon, loss, chance, times)
        # Above by the noise of the grid (sqrt(T) cells), below by T cells; most where epsilon is a possible loss.
        assert exact * (1 - 1e-11) <= upper.delta(epsilon) <= exact * (1 + 1e-3) + 1e-300
        assert exact * 0.9 <= lower.delta(epsilon) <= exact * (1 + 1e-11)


@pytest.mark.parametrize(("loss", "times"), [(Fraction(1, 10), 1), (Fraction(1, 10), 300), (Fraction(4), 10)])
@pytest.mark.parametrize("delta", [0.2, 1e-3, 1e-9, 1e-30])
def test_the_epsilon_of_randomised_response_is_that_of_the_binomial_law(
    loss: Fraction, times: int, delta: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    if times == 300:
        monkeypatch.setattr(convolution, "_CELLS", CELLS // 2)
    chance = Fraction(1 / (1 + math.exp(-loss)))
    law = LossLaw(np.array([-float(loss), float(loss)]), np.array([float(1 - chance), float(chance)]), 0.0)
    most, least = (LossSum(law, times, upper=side).epsilon(delta) for side in (True, False))
    # What is certified: delta falls short at the one end and is exceeded at the other.
    assert binomial_delta(most, loss, chance, times) <= delta * (1 + 1e-9)
    assert least == 0 or binomial_delta(least, loss, chance, times) >= delta * (1 - 1e-9)
    assert 0 <= most - least <= 1e-3 * times * float(loss)


def enumerated(left: list[Fraction], right: list[Fraction], times: int) -> list[tuple[Fraction, Fraction]]:
    """Return the probabilities of all tuples of outputs under the two T-fold products."""
    tuples = itertools.product(zip(left, right, strict=True), repeat=times)
    return [(math.prod(p for p, _ in outputs), math.prod(q for _, q in outputs)) for outputs in tuples]


SMALL = [
    ("5/8 1/4 1/8", "1/4 1/4 1/2"),
    ("1/2 1/4 1/4 0", "1/4 1/4 1/4 1/4"),
    ("1/2 7/16 1/16", "3/4 1/4 0"),
    ("1/3 1/3 1/3", "1/3 1/3 1/3"),
    ("1/1000 999/1000", "1/1000000 999999/1000000"),
    ("1 0", "0 1"),
]


@pytest.mark.parametrize(("data", "neighbour"), SMALL)
@pytest.mark.parametrize("times", [1, 2, 5])
def test_a_pair_is_the_product_of_its_laws(
    data: str, neighbour: str, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if times == 5:  # losses far from each other need all cells
        monkeypatch.setattr(convolution, "_CELLS", CELLS if data.startswith("1/1000") else CELLS // 4)
    p, q = ([Fraction(x) for x in side.split()] for side in (data, neighbour))
    made = compose(profiles_of(([float(x) for x in p], [float(x) for x in q])), times)
    products = enumerated(p, q, times)
    for epsilon in (-1.0, 0.0, 0.2, 0.7, 1.5, 3.0):
        # exp of the float as it is: its error, 1e-16, is within the tolerance of the comparisons.
        factor = Fraction(math.exp(epsilon))
        exact = float(sum(max(Fraction(0), left - factor * right) for left, right in products))
        assert made.delta_lower(epsilon) <= exact * (1 + 1e-12)
        assert exact * (1 - 1e-12) <= made.delta_upper(epsilon)
        assert made.delta_upper(epsilon) - made.delta_lower(epsilon) <= 1e-4


@pytest.mark.parametrize(
    "title", [*(pytest.param(f"{n} atoms", marks=pytest.mark.full) for n in ("three", "four")), "impossible"]
)
def test_single_pairs_lie_in_the_bracket_of_dp_accounting(title: str) -> None:
    left, right = REFERENCE["pairs"][title]["laws"]
    profiles = profiles_of((left, right))
    made = {times: compose(profiles, times) for times in (1, 10, 100)}
    for times, delta, low, high in REFERENCE["pairs"][title]["rows"]:
        least = made[times].epsilon_lower(delta)
        most = made[times].epsilon_upper(delta)
        assert least <= float(high) + 1e-9
        assert float(low) - 1e-9 <= most
        if float(low) < math.inf:
            # Their losses are rounded by at most 1e-4 a run, ours (in the lower end) by at most 2e-4.
            assert float(low) - 2e-4 * times <= least <= most <= float(high) + 1e-9


@pytest.mark.parametrize(
    "title",
    # The thresholds on eight points have a test of their own, with other numbers computed independently.
    [
        pytest.param(title, marks=[pytest.mark.full] * title.startswith(("thresholds", "points")))
        for title in REFERENCE["learners"]
    ],
)
def test_dominating_pairs_agree_with_dp_accounting(title: str) -> None:
    name, parameters, n = REFERENCE["learners"][title]["learner"]
    grid = REFERENCE["grid"]
    profiles = dpaudit.pac.audit_law(dpaudit.pac.get_learner(name, **parameters), n=n).profiles
    made = {times: compose(profiles, times) for times in (1, 10, 100)}
    for times, delta, high in REFERENCE["learners"][title]["rows"]:
        # Their grid is coarse, ours covers the errors of laws and transforms, which counts at delta = 1e-9.
        ours = made[times].epsilon_upper(delta)
        assert high - 2 * grid <= ours <= high + 1e-6 + (1e-3 if delta < 1e-8 else 0)


@cache
def thresholds_on_eight_points() -> LawFinding:
    return dpaudit.pac.audit_law(dpaudit.pac.get_learner("threshold-exponential", domain_size=8, epsilon=1.0), n=4)


def test_the_bracket_of_the_thresholds_on_eight_points(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(convolution, "_CELLS", CELLS // 4)
    # Computed independently, on a coarse grid: the pair with the greatest epsilon, the best pair, the dominating pair.
    finding = thresholds_on_eight_points()
    expected = {10: (4.71, 5.42, 8.12), 100: (13.5, 34.1, 41.5)}
    for times, (worst, lower, upper) in expected.items():
        made = finding.compose(times)
        assert made.witnesses[0].epsilon(1e-6) == pytest.approx(worst, rel=5e-3)
        assert made.epsilon_lower(1e-6) == pytest.approx(lower, rel=5e-3)
        assert made.epsilon_upper(1e-6) == pytest.approx(upper, rel=5e-3)


def test_the_pair_with_the_greatest_epsilon_is_no_upper_bound() -> None:
    finding = thresholds_on_eight_points()
    alone = LossSum(pair_law(finding.profiles, finding.profiles.worst()[0]), 10, upper=True).epsilon(1e-6)
    made = finding.compose(10, delta=1e-6)
    assert made.epsilon_interval == (made.epsilon_lower(1e-6), made.epsilon_upper(1e-6))
    assert alone < made.epsilon_interval[0] - 0.5 < made.epsilon_interval[1]


def random_profiles(seed: int, pairs: int, atoms: int, sharpness: float) -> LossProfiles:
    rng = np.random.default_rng(seed)
    weights = np.exp(sharpness * rng.standard_normal((2 * pairs, atoms)))
    laws = weights / weights.sum(axis=1, keepdims=True)
    return profiles_of(*zip(laws[::2], laws[1::2], strict=True))


@pytest.mark.parametrize(("pairs", "atoms", "sharpness"), [(1, 2, 1), (3, 3, 1), (40, 5, 0.3), (200, 9, 3), (5, 40, 9)])
@pytest.mark.parametrize("seed", range(3))
def test_the_dominating_pair_is_the_supremum_of_all_pairs(pairs: int, atoms: int, sharpness: float, seed: int) -> None:
    profiles = random_profiles(seed, pairs, atoms, sharpness)
    law = dominating_law(profiles)
    # Beyond the greatest loss the divergence is zero; at the losses of the law its curve has its corners.
    top = min(profiles.epsilon, 30.0)
    for epsilon in np.concatenate([np.linspace(-1.5 * top, 1.2 * top, 301), law.losses[::7]]).tolist():
        supremum = profiles.delta(epsilon)
        assert supremum <= law.delta(epsilon) <= supremum + 1e-9
    # H(0) = 1: all mass is there.
    assert 1 <= law.mass.sum() + law.infinite <= 1 + 1e-12


def test_an_adaptive_mixture_of_pairs_is_covered_and_beats_every_single_pair() -> None:
    # Forwards on one pair, then on the other: a composition of two runs that no single pair's square covers.
    first = ([0.9, 0.1], [0.5, 0.5])
    second = ([0.5, 0.5], [0.1, 0.9])
    made = compose(profiles_of(first, second), 2)
    product = [np.outer(first[i], second[i]).ravel() for i in range(2)]
    for epsilon in np.linspace(0, 2.5, 26).tolist():
        mixed = float(np.maximum(product[0] - math.exp(epsilon) * product[1], 0).sum())
        assert mixed <= made.delta_upper(epsilon) + 1e-15
