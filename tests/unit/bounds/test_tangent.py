"""Points that follow from claims that are curves: never beyond the claim, and tight where a mechanism is."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

import dpaudit
from dpaudit import InputError
from dpaudit.bounds.melded import Melded
from dpaudit.bounds.tangent import (
    ClaimPoints,
    delta_lower,
    gaussian_delta,
    largest_probability,
    mu_between,
    mu_of_delta,
)
from dpaudit.contract import CurveClaim, PrivacyClaim

CLAIMS = [
    PrivacyClaim.gaussian(1.0),
    PrivacyClaim.zero_concentrated(0.5),
    PrivacyClaim.renyi(1.5, 0.75),
    PrivacyClaim.renyi(8, 4.0),
    PrivacyClaim.renyi([(2.0, 1.0), (3.0, 1.5)]),
    PrivacyClaim.profile(lambda e: float(gaussian_delta(1.0, e))),
    PrivacyClaim.trade_off(lambda x: float(ndtr(ndtri(1 - x) - 1.0))),
]
"""All of them hold of Gaussian noise at a shift of one standard deviation."""


def gaussian_events(mu: float) -> tuple[np.ndarray, np.ndarray]:
    ends = np.linspace(-9, 9, 3001)
    return ndtr(mu - ends), ndtr(-ends)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_no_point_is_beyond_what_a_mechanism_that_keeps_the_claim_has(claim: CurveClaim) -> None:
    points = ClaimPoints.of(claim)
    p, q = gaussian_events(1.0)
    assert (p[:, None] - np.exp(points.epsilon) * q[:, None] - points.delta).max() <= 0
    assert ((points.epsilon >= 0) & (points.delta >= 0) & (points.delta < 1)).all()


@pytest.mark.parametrize("claim", CLAIMS[:3] + CLAIMS[-2:], ids=lambda claim: claim.name)
def test_some_point_refutes_noise_that_is_much_too_small(claim: CurveClaim) -> None:
    points = ClaimPoints.of(claim)
    p, q = gaussian_events(1.3)
    assert (p[:, None] - np.exp(points.epsilon) * q[:, None] - points.delta).max() > 0.001


@pytest.mark.parametrize(("alpha", "epsilon"), [(1.05, 0.5), (2.0, 1.0), (5.0, 0.3), (30.0, 2.0)])
def test_a_tangent_supports_the_region_of_an_order(alpha: float, epsilon: float) -> None:
    """The slow twin: all pairs of probabilities on a grid that the order allows, of Bern(p) against Bern(q)."""
    points = ClaimPoints.of(PrivacyClaim.renyi(alpha, epsilon))
    p, q = np.meshgrid(np.linspace(0.0005, 0.9995, 1000), np.linspace(0.0005, 0.9995, 1000))
    moment = p**alpha * q ** (1 - alpha) + (1 - p) ** alpha * (1 - q) ** (1 - alpha)
    allowed = moment <= math.exp((alpha - 1) * epsilon)
    p, q = p[allowed], q[allowed]
    for e, d in zip(points.epsilon[::7], points.delta[::7], strict=True):
        excess = (p - math.exp(e) * q - d).max()
        assert excess <= 1e-9
    # Some line touches the region: the points are no weaker than the claim.
    assert max((p - math.exp(e) * q - d).max() for e, d in zip(points.epsilon, points.delta, strict=True)) > -0.01


@pytest.mark.parametrize(("alpha", "epsilon"), [(1.2, 0.1), (2.0, 1.0), (8.0, 1.0)])
@pytest.mark.parametrize("q", [0.001, 0.1, 0.4])
def test_the_largest_probability_is_a_root_from_above(q: float, alpha: float, epsilon: float) -> None:
    def excess(p: float) -> float:
        moment = p**alpha * q ** (1 - alpha) + (1 - p) ** alpha * (1 - q) ** (1 - alpha)
        return math.log(moment) - (alpha - 1) * epsilon

    (found,) = largest_probability(np.array([q]), alpha, epsilon)
    root = brentq(excess, q, 1.0, xtol=1e-14) if excess(1.0) > 0 else 1.0
    assert root - 1e-12 <= found <= root + 1e-9


def test_gaussian_deltas_are_those_of_the_formula_rounded_up() -> None:
    for mu in (0.1, 1.0, 4.0):
        for e in (0.0, 0.3, 2.0):
            exact = ndtr(mu / 2 - e / mu) - math.exp(e) * ndtr(-mu / 2 - e / mu)
            assert exact <= gaussian_delta(mu, e) <= exact * (1 + 1e-8) + 1e-14
    assert mu_of_delta(0.5, float(gaussian_delta(1.3, 0.5))) == pytest.approx(1.3, abs=1e-6)
    assert mu_of_delta(0.5, 0.0) == 0.0
    assert mu_between(0.5, float(ndtr(-1.0))) == pytest.approx(1.0)


def test_trade_off_functions_of_points_give_these_points_again() -> None:
    """f of (1, 0.1)-privacy: max(0, 1 - d - e^1 x, e^-1 (1 - d - x)); also slopes below 1 are used."""

    def f(x: float) -> float:
        return max(0.0, 0.9 - math.e * x, math.exp(-1) * (0.9 - x))

    points = dict(PrivacyClaim.trade_off(f).points)
    assert 0.1 <= points[1.0] <= 0.1005
    assert points[0.5] == pytest.approx(1 - 0.9 * (1 + math.exp(0.5)) / (1 + math.e), abs=1e-3)

    def steep(x: float) -> float:  # only the branch of slope below 1
        return max(0.0, math.exp(-1) * (1 - x))

    assert dict(PrivacyClaim.trade_off(steep).points)[1.0] <= 1e-6


def test_bounds_on_delta_are_zero_without_a_signal_and_hold_at_the_boundary() -> None:
    assert delta_lower(500, 1000, 500, 1000, epsilon=0.0, gamma=0.05) == 0.0
    assert delta_lower(100, 1000, 900, 1000, epsilon=0.0, gamma=0.05) == 0.0
    found = delta_lower(700, 1000, 300, 1000, epsilon=0.0, gamma=0.05)
    assert 0.35 < found < 0.4
    assert Melded().p_value(700, 1000, 300, 1000, epsilon=0.0, delta=found) <= 0.05
    # At the boundary p = q + 0.3829: too high in at most 5 % of 4,000 audits, and three standard errors of chance.
    rng = np.random.default_rng(5)
    x, y = rng.binomial(2000, ndtr(0.5), 4000), rng.binomial(2000, ndtr(-0.5), 4000)
    p = Melded().p_value(x, 2000, y, 2000, epsilon=0.0, delta=float(gaussian_delta(1.0, 0.0)))
    assert np.mean(p <= 0.05) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 4000)


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: PrivacyClaim.gaussian(0), "mu must be a number in"),
        (lambda: PrivacyClaim.gaussian(math.nan), "mu must be a number in"),
        (lambda: PrivacyClaim.gaussian(True), "mu must be a number in"),
        (lambda: PrivacyClaim.zero_concentrated(-1), "rho must be a number in"),
        (lambda: PrivacyClaim.renyi(1.0, 1.0), "alpha must be an order above 1"),
        (lambda: PrivacyClaim.renyi(2.0), "epsilon must be given"),
        (lambda: PrivacyClaim.renyi(2.0, 0.0), "epsilon must be a number in"),
        (lambda: PrivacyClaim.renyi([(2, 1)], 1.0), "epsilon must be left out"),
        (lambda: PrivacyClaim.renyi([]), "orders must be at least one"),
        (lambda: PrivacyClaim.points([]), "points must be at least one"),
        (lambda: PrivacyClaim.points([(1,)]), "points must be pairs"),
        (lambda: PrivacyClaim.points([(1, 1.0)]), "delta must be in"),
        (lambda: PrivacyClaim.points([(-1, 0.1)]), "epsilon must be a finite number"),
        (lambda: PrivacyClaim.profile(3), "profile must be a function"),
        (lambda: PrivacyClaim.profile(lambda e: e / 100), "profile must not grow"),
        (lambda: PrivacyClaim.profile(lambda e: 1.5), "profile must be in"),
        (lambda: PrivacyClaim.profile(lambda e: 1 / 0), r"the claim's profile raised ZeroDivisionError.*line"),
        (lambda: PrivacyClaim.trade_off(lambda x: 1 / 0), r"the claim's trade_off raised ZeroDivisionError"),
        (lambda: PrivacyClaim.profile(lambda e: 1.0), "says nothing"),
        (lambda: PrivacyClaim.profile(lambda e: "x"), "profile must be a function that returns a finite number"),
        (lambda: PrivacyClaim.trade_off(lambda x: 1.0), "trade_off must be in"),
        (lambda: PrivacyClaim.trade_off(lambda x: 0.25 if x < 0.5 else 0.0), "trade_off must be convex"),
        (lambda: PrivacyClaim.trade_off(lambda x: 0.0), "says nothing"),
        (lambda: CurveClaim("gaussian", rho=1.0), "has mu and nothing else"),
        (lambda: CurveClaim("other", mu=1.0), "name must be"),
    ],
)
def test_bad_claims_are_named(make: object, named: str) -> None:
    with pytest.raises(Exception, match=named) as caught:
        make()  # type: ignore[operator]
    assert type(caught.value).__name__ == "InputError"


@pytest.mark.parametrize(
    "number",
    [np.float64(0.3), np.float32(0.25), np.array(0.3), np.int64(2), np.array(2), Fraction(1, 3), Decimal("0.3"), 2],
    ids=repr,
)
def test_what_is_a_number_makes_every_kind_of_claim(number) -> None:
    value = float(number)
    assert PrivacyClaim.gaussian(number) == PrivacyClaim.gaussian(value)
    assert PrivacyClaim.zero_concentrated(number).rho == value
    assert PrivacyClaim.renyi(np.float64(3), number).orders == ((3.0, value),)
    assert PrivacyClaim.renyi([(Fraction(5, 2), number)]).orders == ((2.5, value),)
    assert PrivacyClaim.points([(number, np.float64(0.1))]).points == ((value, 0.1),)
    assert PrivacyClaim(number, np.array(0.1)) == PrivacyClaim(value, 0.1)
    assert PrivacyClaim.profile(lambda epsilon: np.array(0.1)).points[0] == (0.0, 0.1)
    for claim in (PrivacyClaim.gaussian(number), PrivacyClaim.renyi(3, number), PrivacyClaim(number)):
        assert "np." not in claim.call
        assert "Fraction" not in claim.call
        assert eval(claim.call, {"dpaudit": dpaudit}) == claim


@pytest.mark.parametrize(
    "wrong",
    [True, np.bool_(True), "1", np.array([0.3]), np.array(True), np.array("1"), None, 1j, math.nan, 10**400, [0.3]],
    ids=lambda value: f"{value!r:.20}",
)
def test_what_is_no_number_is_refused_by_every_kind_of_claim(wrong) -> None:
    makers = (
        PrivacyClaim.gaussian,
        PrivacyClaim.zero_concentrated,
        lambda value: PrivacyClaim.renyi(value, 1.0),
        lambda value: PrivacyClaim.renyi(2.0, value),
        lambda value: PrivacyClaim.renyi([(2.0, value)]),
        lambda value: PrivacyClaim.points([(value, 0.1)]),
        lambda value: PrivacyClaim.points([(1.0, value)]),
        lambda value: PrivacyClaim.profile(lambda epsilon: value),
        PrivacyClaim,
        lambda value: PrivacyClaim(1.0, value),
    )
    for make in makers:
        with pytest.raises(InputError, match=r"must be|and nothing else"):
            make(wrong)


def test_orders_and_points_may_be_arrays() -> None:
    assert PrivacyClaim.points(np.array([[0.5, 0.1], [1.0, 0.01]])).points == ((0.5, 0.1), (1.0, 0.01))
    assert PrivacyClaim.renyi(np.array([[2.0, 1.0], [4.0, 2.0]])).orders == ((2.0, 1.0), (4.0, 2.0))
    with pytest.raises(InputError, match="at least one pair"):
        PrivacyClaim.points(np.empty((0, 2)))
    for wrong in ("2,1", 2j, {2: 1}, [3.0]):
        with pytest.raises(InputError, match="alpha must be a number, with epsilon beside it, or a list"):
            PrivacyClaim.renyi(wrong)


def test_what_rounding_explains_is_no_negative_probability() -> None:
    """Accountants that compose by Fourier transforms return such numbers; -1e-9 is more than they err."""

    def wavy(epsilon: float) -> float:
        return 0.5 * math.exp(-epsilon) if epsilon < 20 else -9e-14 + 1e-14 * math.sin(9 * epsilon)

    points = dict(PrivacyClaim.profile(wavy).points)
    assert {delta for epsilon, delta in points.items() if epsilon >= 20} == {0.0}
    assert PrivacyClaim.profile(lambda epsilon: 1 + 1e-12 if epsilon < 1 else 0.25).points[0] == (1.0, 0.25)
    assert PrivacyClaim.points([(1.0, -9e-14), (-1e-16, 0.5)]).points == ((1.0, 0.0), (0.0, 0.5))
    assert PrivacyClaim(1.0, -9e-14).delta == 0.0
    for make in (
        lambda: PrivacyClaim.profile(lambda epsilon: -1e-9),
        lambda: PrivacyClaim.profile(lambda epsilon: 1 + 1e-9),
        lambda: PrivacyClaim.profile(lambda epsilon: 0.5 + 1e-9 * epsilon),
        lambda: PrivacyClaim.points([(1.0, -1e-9)]),
        lambda: PrivacyClaim(1.0, -1e-9),
        lambda: PrivacyClaim.trade_off(lambda x: 1 - x + 1e-9),
        lambda: PrivacyClaim.trade_off(lambda x: max(0.0, 1 - 2 * x) - 1e-9),
    ):
        with pytest.raises(InputError, match="must"):
            make()


@pytest.mark.parametrize("error", [1e-15, 1e-13, 1e-11, 4e-11])
def test_a_trade_off_function_with_rounding_claims_no_more_than_the_exact_one(error: float) -> None:
    rng = np.random.default_rng(0)

    def exact(x: float) -> float:
        return float(ndtr(ndtri(1 - x) - 1.0))

    rounded = dict(PrivacyClaim.trade_off(lambda x: exact(x) + error * rng.uniform(-1, 1)).points)
    for epsilon, delta in PrivacyClaim.trade_off(exact).points:
        assert delta - 2e-9 <= rounded[epsilon]
        assert rounded[epsilon] <= delta + 3e-6  # 1 - exact at the first rate
    with pytest.raises(InputError, match="trade_off must be convex"):
        PrivacyClaim.trade_off(lambda x: min(max(exact(x) + 1e-7 * math.sin(1e5 * x), 0.0), 1 - x))
