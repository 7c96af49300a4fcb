"""Scaling laws: exponents with their limits, the figure, the commands, and the statements that rest on them."""

from __future__ import annotations

import dataclasses
import json
import math
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from cli_support import called

import dpaudit
from dpaudit.errors import InputError
from dpaudit.utility.scaling import law_of, slope
from dpaudit_learners.conjunctions.greedy import ConjunctionGreedy
from dpaudit_learners.conjunctions.greedy_counts import Rounds
from dpaudit_learners.interior_points.interior_point import InteriorPointTreeLog
from dpaudit_learners.mechanisms.rec_concave import RecConcave
from dpaudit_learners.mechanisms.steps import Steps, interior_scores
from dpaudit_learners.papers import bmns_rec_concave, scaling
from dpaudit_learners.regions.region_cover import ConvexPolygon

PARITY = ("parity-private", "dimension", [1, 3, 8, 16, 32, 63])


def test_a_straight_line_has_its_slope() -> None:
    x = np.arange(6.0)
    found = slope(x, 1 + 2 * x, 1 + 2 * x, 0.95)
    assert found.method == "least squares"
    assert (found.value, found.lower, found.upper) == pytest.approx((2, 2, 2), abs=1e-6)


def test_limits_of_least_squares_are_those_of_the_t_law() -> None:
    from scipy.stats import linregress, t

    x = np.array([0.0, 1, 2, 3, 4, 5])
    y = np.array([0.0, 1.2, 1.9, 3.3, 3.8, 5.1])
    found, other = slope(x, y, y, 0.9), linregress(x, y)
    half = other.stderr * t.ppf(0.95, 4)
    assert (found.value, found.lower, found.upper) == pytest.approx(
        (other.slope, other.slope - half, other.slope + half)
    )


def test_wide_and_unbounded_brackets_are_censored() -> None:
    x = np.arange(7.0)
    ends = 0.9 * x + np.array([0.2, 0.5, 0.3, 0.6, 0.2, 0.4, 0.5])
    upper = ends.copy()
    upper[-1] = np.inf
    found = slope(x, ends - 0.8, upper, 0.95)
    assert found.method == "interval-censored likelihood"
    assert found.lower < 0.9 < found.upper
    assert found.upper - found.lower < 1.5


def test_brackets_far_from_the_line_are_no_fault() -> None:
    # Half-way to a limit the likelihood of a bracket is less than any float; it was minus infinity there.
    x = np.log([3, 5, 8, 12, 20, 40])
    lower, upper = np.log([22, 35, 57, 82, 139, 278]), np.log([22, 37, 60, 86, 145, 290])
    found = slope(x, lower, upper, 0.95)
    assert found.lower < 0.98 < found.upper < found.lower + 0.1


def by_hand(x: np.ndarray, low: np.ndarray, high: np.ndarray, confidence: float) -> tuple[float, float, float]:
    """Return slope and limits of the censored likelihood, profiled over a and s by scipy alone."""
    from scipy.optimize import brentq, minimize, minimize_scalar
    from scipy.stats import f, norm

    def best(b: float) -> float:
        def loss(parameters: np.ndarray) -> float:
            middle, spread = parameters[0] + b * x, np.exp(parameters[1])
            mass = norm.cdf((high - middle) / spread) - norm.cdf((low - middle) / spread)
            return float(-np.log(np.maximum(mass, 1e-300)).sum())

        start = np.array([float(np.mean(low - b * x)), -1.0])
        return float(minimize(loss, start, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-12}).fun)

    found = minimize_scalar(best, bounds=(0.0, 2.0), method="bounded", options={"xatol": 1e-9})
    fall = f.ppf(confidence, 1, len(x) - 2) / 2
    lower, upper = (brentq(lambda b: best(b) - found.fun - fall, found.x, found.x + away) for away in (-3, 3))
    return float(found.x), float(lower), float(upper)


@pytest.mark.parametrize("unbounded", [False, True])
def test_the_censored_fit_agrees_with_one_made_by_hand(unbounded: bool) -> None:
    rng = np.random.default_rng(3)
    x = np.linspace(0, 4, 8)
    low = 1 + 0.9 * x + 0.3 * rng.standard_normal(8) - 0.2
    high = low + 0.4
    if unbounded:
        high[-1] = np.inf
    found = slope(x, low, high, 0.95)
    value, lower, upper = by_hand(x, low, high, 0.95)
    # A likelihood is flat at its greatest value, so that the slope has half the digits that the limits have.
    assert found.value == pytest.approx(value, abs=1e-4)
    assert (found.lower, found.upper) == pytest.approx((lower, upper), abs=1e-5)


@pytest.mark.full
def test_censored_limits_cover_as_often_as_stated() -> None:
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(40):
        x = np.linspace(0, 4, 7)
        y = 1 + 0.9 * x + 0.1 * rng.standard_normal(7)
        low = y - 0.2 * rng.random(7)
        found = slope(x, low, low + 0.2, 0.95)
        covered += found.lower <= 0.9 <= found.upper
    assert covered >= 34  # Bin(40, 0.95) is below with probability 0.003


def test_the_law_of_parities_is_linear_in_the_dimension() -> None:
    law = dpaudit.pac.scaling_law(*PARITY, alpha=0.1, beta=0.6, epsilon=1.0)
    assert [point.upper for point in law.points] == [37, 99, 216, 393, 737, 1392]
    assert (law.verdict, law.grade, law.abscissa) == ("not refuted", "numeric", "dimension")
    assert abs(law.ratio_slope.value) < 0.02
    assert dpaudit.pac.ScalingFinding.from_dict(law.to_dict()) == law
    assert "epsilon=1.0)" in law.call
    assert law.plot().axes
    assert "was not seen to outgrow" in str(law)


def test_generic_sizes_are_four_times_below_the_theorem() -> None:
    sizes = [2**k for k in (2, 4, 8, 16, 32, 64, 128, 256)]
    law = dpaudit.pac.scaling_law("point-exponential", "domain_size", sizes, alpha=0.1, beta=0.1, epsilon=1.0)
    assert law.exponent.value == pytest.approx(0.826, abs=1e-3)
    assert law.upper_exponent.value == pytest.approx(0.933, abs=1e-3)
    assert all(3.6 < point.theorem / point.upper < 5.2 for point in law.points)


def test_boxes_grow_with_the_square_of_the_dimension() -> None:
    def law(values: list[int]) -> Any:
        given = {"side": 2, "epsilon": 1.0, "parameters": {"beta": 0.05}}
        return dpaudit.pac.scaling_law("box-interior-point", "dimension", values, alpha=0.1, beta=0.1, **given)

    found = law([1, 2, 3, 4, 6, 8])
    assert [point.upper for point in found.points][::5] == [705, 32064]
    assert found.verdict == "not refuted"
    assert 1.7 < found.exponent.value < found.upper_exponent.value < 2.1
    assert "parameters={'beta': 0.05}" in found.call
    assert found.fixed == {"side": 2, "epsilon": 1.0, "beta": 0.05}


@pytest.mark.parametrize(
    ("values", "told"),
    [([1, 2, 3], "at least 6"), ([1, 2, 3, 3, 4, 5], "increasing"), ([6, 5, 4, 3, 2, 1], "increasing"),
     ([0, 1, 2, 3, 4, 5], "positive")],
)  # fmt: skip
def test_values_must_increase(values: list[int], told: str) -> None:
    with pytest.raises(InputError, match=told):
        dpaudit.pac.scaling_law("parity-private", "dimension", values, alpha=0.1, beta=0.6, epsilon=1.0)


def test_levels_are_needed_unless_varied() -> None:
    with pytest.raises(InputError, match="beta must be given"):
        dpaudit.pac.scaling_law(*PARITY, alpha=0.1, epsilon=1.0)
    values = [0.05, 0.06, 0.07, 0.08, 0.09, 0.1]
    with pytest.raises(InputError, match="left out"):
        dpaudit.pac.scaling_law("parity-private", "alpha", values, alpha=0.1, beta=0.6, epsilon=1.0, dimension=2)


def exponents(id: str, run: int = 0, values: Any = None) -> Any:
    """Return the law of a run of a statement, or of some of its values."""
    learner, parameter, along, rest = scaling.RUNS[id][run]
    return dpaudit.pac.scaling_law(learner, parameter, along if values is None else values, **rest)


@pytest.mark.parametrize("id", ["KMMS-Thm4.7-law-k", "KMMS-Thm4.7-law-d", "KMMS-Thm4.7-law-alpha-epsilon"])
def test_polygons_grow_as_their_theorem_says(id: str) -> None:
    for run in range(len(scaling.RUNS[id])):
        law = exponents(id, run)
        assert law.verdict == "not refuted"
        assert law.upper_exponent.value == pytest.approx(1, abs=0.01)
        assert law.upper_exponent.upper - law.upper_exponent.lower < 0.01


def test_covers_grow_with_the_number_of_sets_and_of_literals() -> None:
    few = (1, 2, 3, 4, 6, 8)
    assert exponents("KMMS-Thm3.2-law-k", values=few).upper_exponent.value == pytest.approx(0.97, abs=0.02)
    assert exponents("STE-Conj2-law-k", values=few).upper_exponent.value == pytest.approx(2.24, abs=0.03)
    rounds = exponents("STE-Conj2-law-rounds", values=(12, 18, 24, 36, 48, 64))
    assert rounds.exponent.value == pytest.approx(1.98, abs=0.02)
    assert all(5 < point.theorem / point.upper < 7 for point in rounds.points)


def test_mixtures_grow_with_the_square_of_the_dimension() -> None:
    law = exponents("BMN-Thm4.9-law-d")
    assert law.verdict == "not refuted"
    assert 2.05 < law.upper_exponent.value < 2.2
    assert "a lower bound" in law.points[-1].case


def test_logarithms_to_the_base_2_reach_towers() -> None:
    law = exponents("OURS-Thr-law-domain")
    assert law.abscissa == "log2 domain_size"
    assert [point.x for point in law.points] == [point.value for point in law.points]
    assert law.points[-1].x == 2**14 - 1
    assert law.upper_exponent.value == pytest.approx(1, abs=0.02)
    tower = exponents("BMNS-Prop2.11-law-domain", values=(8, 12, 16, 24, 32, 64, 1024, 2048))
    assert [point.upper for point in tower.points] == [251] * 5 + [455] * 3
    assert tower.points[-1].theorem > 20_000


def test_tree_log_is_linear_in_the_logarithm_of_delta() -> None:
    law = exponents("STE-Box2-law-delta")
    assert law.abscissa == "ln 1/delta"
    # A term without delta bends the line: beyond it the points are on one, whose steps are equal.
    sizes = {round(point.x / np.log(10)): point.upper for point in law.points}
    assert sizes[18] - sizes[12] == pytest.approx(sizes[24] - sizes[18], abs=3)
    assert law.exponent.upper < 1


def test_own_parameters_may_be_shares_of_the_levels() -> None:
    given = {"beta": 0.2, "epsilon": 1.0, "delta": 1e-6, "k": 1, "side": 2**20, "parameters": {"beta": 0.05}}
    values = [0.02, 0.05, 0.1, 0.15, 0.2, 0.3]
    law = dpaudit.pac.scaling_law("convex-polygon", "alpha", values, **given, shares={"alpha": 0.5})
    assert law.fixed["alpha"] == "0.5 of that asked for"
    assert "shares={'alpha': 0.5}" in law.call
    for value, point in zip(reversed(values), law.points, strict=True):
        learner = dpaudit.pac.get_learner(
            "convex-polygon", k=1, side=2**20, epsilon=1.0, delta=1e-6, alpha=value / 2, beta=0.05
        )
        assert point.theorem == learner.utility(value, 0.2).sample_size
        assert learner.hard_failure(value, point.upper)[0] <= 0.2 < learner.hard_failure(value, point.lower)[0]
    with pytest.raises(InputError, match="one of alpha, beta"):
        dpaudit.pac.scaling_law("convex-polygon", "alpha", values, **given, shares={"gamma": 0.5})
    with pytest.raises(InputError, match="values must be an integer"):
        dpaudit.pac.scaling_law("parity-private", "log2 dimension", [0.5, 1, 2, 3, 4, 5], alpha=0.1, beta=0.6)


class SlowRounds(ConvexPolygon):
    """A planted factor: the rounds select as if epsilon were k times smaller, and the theorem does not say so."""

    @property
    def _rate(self) -> float:
        return super()._rate / self.k


class MoreNoise(ConjunctionGreedy):
    """A planted factor: with J rounds each gets a J-th of what the theorem gives it."""

    def _hard_rounds(self, n: int) -> Rounds:
        sound = super()._hard_rounds(n)
        return dataclasses.replace(sound, rate=sound.rate / sound.rounds)


class LogarithmLost(InteriorPointTreeLog):
    """A planted factor: tests with the square of ln(1/delta), where the theorem has the logarithm."""

    def hard_failure(self, alpha: float, n: int) -> tuple[float, str]:
        return super().hard_failure(alpha, round(n / -math.log10(self.delta)))


@pytest.mark.parametrize(
    ("build", "id", "values"),
    [
        (SlowRounds, "KMMS-Thm4.7-law-k", (1, 2, 3, 4, 6, 8)),
        (MoreNoise, "STE-Conj2-law-rounds", (12, 18, 24, 36, 48, 64)),
        (LogarithmLost, "STE-Box2-law-delta", scaling.DELTAS),
    ],
)
def test_a_planted_factor_breaks_the_law(build: Any, id: str, values: Any) -> None:
    _, parameter, _, given = scaling.RUNS[id][0]
    rest = dict(given)
    fixed = rest.pop("parameters", {})
    levels = {name: rest.pop(name) for name in ("alpha", "beta")}
    shares = rest.pop("shares", None)
    law = law_of("planted", build, parameter, values, {**rest, **fixed}, **levels, shares=shares)
    assert law.verdict == "violation"
    assert law.ratio_slope.lower > 0.3


def test_points_on_a_level_line_have_the_slope_0() -> None:
    found = slope([1.0, 2.0, 3.0], [5.0] * 3, [5.0] * 3, 0.95)
    assert (found.value, found.lower, found.upper) == (0, 0, 0)


def test_the_command_shows_a_law_and_writes_its_figure(capsys: Any, tmp_path: Path) -> None:
    along = "sample-complexity parity-private --along dimension=1,3,8,16,32,63"
    words = f"{along} -p epsilon=1 --alpha 0.1 --beta 0.6".split()
    files = [tmp_path / "a.svg", tmp_path / "b.svg"]
    for file in files:
        status, text, _ = called(capsys, *words, "--json", "--out", str(file), joined=False)
        assert status == 0
    assert files[0].read_bytes() == files[1].read_bytes()
    record = json.loads(text)
    again = "dpaudit sample-complexity parity-private -p epsilon=1 --along dimension=1,3,8,16,32,63"
    assert record["command"].startswith(again)
    del record["command"]
    assert dpaudit.pac.ScalingFinding.from_dict(record).verdict == "not refuted"


def test_the_command_shows_a_sample_complexity(capsys: Any) -> None:
    words = "sample-complexity interior-point-exponential -p domain_size=256 -p epsilon=1 --alpha 0.1 --beta 0.1"
    status, text, _ = called(capsys, *words.split(), joined=False)
    assert status == 0
    assert f"n* = {bmns_rec_concave.exponential_needs(8)}, exactly" in text
    assert "dpaudit sample-complexity interior-point-exponential" in text.replace("\\\n", "")


def test_bad_input_to_the_commands_is_told(capsys: Any) -> None:
    for words, told in (
        ("sample-complexity parity-private --along dimension=1,2,x,4,5,6", "numbers with commas"),
        ("sample-complexity parity-private --along dimension=1,2,3,4,5,6 -p dimension=2", "varied"),
        ("sample-complexity parity-private --along dimension=1,2,3,4,5,6 --out a.gif", ".svg"),
        ("sample-complexity parity-private --along dimension", "a parameter and its values"),
        ("sample-complexity parity-private --along dimension=1,2 --starts 3", "--starts must be left out with --along"),
        ("sample-complexity parity-privat", "parity-private"),
    ):
        status, _, err = called(capsys, *words.split(), joined=False)
        assert status == 2
        assert told in err


@pytest.mark.parametrize("n", [50, 233, 260])
def test_the_mass_outside_is_that_of_the_law(n: int) -> None:
    mechanism = RecConcave.within(63, Fraction(n, 2), Fraction(1, 2), Fraction(1), 1e-6)
    scores = interior_scores([32, 33], [n - n // 2, n // 2], 64)
    law = np.exp(mechanism.log_law(scores)[0])
    assert mechanism.outside(scores, 32, 33) == pytest.approx(law.sum() - law[32:34].sum(), rel=1e-9)
    assert mechanism.outside(scores, 32, 33, 1e-4) >= mechanism.outside(scores, 32, 33) - 1e-12


def test_steps_are_merged_and_weighed_by_their_lengths() -> None:
    steps = Steps.of_values([0, 0, 3, 3, 3, 0])
    assert steps.merged() == Steps.of([0, 2, 5], [0, 3, 0], 6)
    law = np.exp(steps.log_exponential(0.7, 6)[0])
    assert steps.outside(0.7, 2, 4) == pytest.approx(law[[0, 1, 5]].sum())
    assert Steps.of([0], [0], 2**70000).outside(1.0, 0, 0) == pytest.approx(1.0)


def test_log_star_sizes() -> None:
    assert bmns_rec_concave.exponential_needs(12) == 40
    assert bmns_rec_concave.exponential_needs(64) == 184
    assert bmns_rec_concave.rec_concave_needs(32) == (233, 2)
    assert bmns_rec_concave.rec_concave_needs(64, 423) == (423, 3)
    assert bmns_rec_concave.tree_log_fallback_needs(12) == (158, True, 1191)


@pytest.mark.parametrize(
    "statement",
    [pytest.param(one, marks=pytest.mark.full) if one.slow else one for one in scaling.STATEMENTS],
    ids=lambda statement: statement.id,
)
def test_the_statements_are_not_refuted_and_can_be(statement: Any) -> None:
    # Hard cases bound n* from below.
    assert statement.check(dpaudit.pac).verdict == "undecided"

    def outgrown(*given: Any, **parameters: Any) -> Any:
        """Return a law whose theorem asks for the square root of what it should."""
        law = dpaudit.pac.scaling_law(*given, **parameters)
        points = [replaced(point, theorem=round(point.theorem**0.5)) for point in law.points]
        return replaced(law, points=points)

    found = statement.check(SimpleNamespace(scaling_law=outgrown))
    assert found.verdict == "refuted"
    assert found.witness


def replaced(record: Any, **changes: Any) -> Any:
    """Return a record with other fields."""
    from msgspec.structs import replace

    return replace(record, **changes)
