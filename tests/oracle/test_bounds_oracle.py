"""The bounds against slow twins: exact rational integrals, ball arithmetic, and brute force over every outcome."""

import math
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from scipy.special import betainc, betaincc
from scipy.stats import binom, hypergeom

from dpaudit.bounds.limits import lower_limit, upper_limit
from dpaudit.bounds.melded import DROP, RELATIVE_ERROR, Melded, log_density, mode, window
from oracle.clopper_pearson import ClopperPearson
from oracle.conditional import Conditional

# --- melded: exact rational arithmetic -------------------------------------------------------------------------------


def _times(f, g):
    out = [Fraction(0)] * (len(f) + len(g) - 1)
    for i, a in enumerate(f):
        for j, b in enumerate(g):
            out[i + j] += a * b
    return out


def _power(f, k):
    out = [Fraction(1)]
    for _ in range(k):
        out = _times(out, f)
    return out


def _tail_polynomial(x, n, line):
    """Pr[Bin(n, u) >= x] as a polynomial in v, u = line(v): the distribution function of Beta(x, n - x + 1)."""
    flipped = [1 - line[0], *(-c for c in line[1:])]
    total = [Fraction(0)] * (n + 1)
    for k in range(x, n + 1):
        term = _times(_power(line, k), _power(flipped, n - k))
        total = [t + math.comb(n, k) * c for t, c in zip(total, term, strict=True)]
    return total


def _exact_melded(x, n1, y, n2, ratio, delta):
    cut = min((1 - delta) / ratio, Fraction(1))
    first = _tail_polynomial(x, n1, [delta, ratio])
    density = [
        c * n2 * math.comb(n2 - 1, y)
        for c in _times([Fraction(0)] * y + [Fraction(1)], _power([Fraction(1), Fraction(-1)], n2 - 1 - y))
    ]
    integral = sum((c * cut ** (i + 1) / (i + 1) for i, c in enumerate(_times(first, density))), Fraction(0))
    beyond = 1 - sum(c * cut**i for i, c in enumerate(_tail_polynomial(y + 1, n2, [Fraction(0), Fraction(1)])))
    return integral + beyond


@pytest.mark.parametrize(("n1", "n2"), [(1, 1), (5, 5), (9, 4), (3, 11)])
def test_melded_equals_the_rational_integral(n1, n2):
    for x, y in product({1, (n1 + 1) // 2, n1}, {0, n2 // 2, n2 - 1}):
        for ratio, delta in product(map(Fraction, (1, "5/2", 50)), map(Fraction, (0, "1/8", "1/2"))):
            exact = float(_exact_melded(x, n1, y, n2, ratio, delta))
            ours = float(Melded().p_value(x, n1, y, n2, epsilon=math.log(ratio), delta=float(delta)))
            assert exact <= ours, (x, y, ratio, delta)
            assert ours <= min(exact * (1 + 1.01 * RELATIVE_ERROR) + 1.1e-17, 1), (x, y, ratio, delta)


def test_melded_at_ratio_one_is_fishers_exact_test():
    for x, n1, y, n2 in [(3, 9, 0, 7), (9, 9, 1, 30), (40, 100, 20, 100), (1, 5, 4, 5)]:
        fisher = hypergeom.sf(x - 1, n1 + n2, x + y, n1)
        assert float(Melded().p_value(x, n1, y, n2, epsilon=0)) == pytest.approx(fisher, rel=2e-7)


# --- melded: ball arithmetic at large counts and small p-values -------------------------------------------------------


class _Balls:
    """Beta(a, b) in ball arithmetic at 128 bits."""

    def __init__(self, flint, a, b):
        self.arb = flint.arb
        self.a = flint.arb(a)
        self.b = flint.arb(b)
        self.log_beta = self.a.lgamma() + self.b.lgamma() - (self.a + self.b).lgamma()

    def cdf(self, v):
        if not v > 0:
            return self.arb(0)
        return v.beta_lower(self.a, self.b, 1) if v < 1 else self.arb(1)

    def density(self, v):
        return ((self.a - 1) * v.log() + (self.b - 1) * (1 - v).log() - self.log_beta).exp()

    def landmarks(self):
        """Mean and points far enough out on both sides that nothing beyond 1e-28 is missed, normal or exponential."""
        n = self.a + self.b
        mean = self.a / n
        sd = (self.a * self.b / (n * n * (n + 1))).sqrt()
        return [mean + k * sd for k in (-80, -30, -12, -5, 0, 5, 12, 30, 80)]


def _ball_melded(flint, x, n1, y, n2, ratio, delta, negligible):
    """The integral over B2 by 24-point Gauss-Legendre on panels cut where either factor changes its character.

    What weighs less than `negligible` is left out, at each of at most 456 nodes.
    """
    arb = flint.arb
    first = _Balls(flint, x, n1 - x + 1)
    second = _Balls(flint, y + 1, n2 - y)
    ratio = arb(ratio)
    delta = arb(delta)
    cut = arb(min((1 - delta) / ratio, arb(1), key=float).mid())  # a point, so that it compares equal to itself
    edges = [arb(0), cut, *second.landmarks(), *((v - delta) / ratio for v in first.landmarks())]
    edges = sorted((e for e in edges if 0 <= e <= cut), key=float)
    total = 1 - second.cdf(cut)
    roots = [arb.legendre_p_root(24, k, weight=True) for k in range(24)]
    for a, b in pairwise(edges):
        half = (b - a) / 2
        centre = (a + b) / 2
        for root, weight in roots if b > a else ():
            v = centre + half * root
            height = weight * half * second.density(v)
            if height > negligible:
                total += height * first.cdf(delta + ratio * v)
    return float(total)


# Counts of the same kind as others that are compared in every profile.
LIKE_OTHERS = [
    (10**8, 10**8, 0, 10**8, 0.0, 1e-9),
    (6 * 10**11, 10**12, 3 * 10**11, 10**12, 0.0, 1e-3),
    (23, 23, 0, 23, 0.0, 1e-6),
    (9010, 702466, 0, 139498, 0.01, 1e-9),
    (3_000_000_000, 10**12, 1_000_000_000, 10**12, 1e-6, 1e-9),
]


@pytest.mark.parametrize(
    ("x", "n1", "y", "n2", "delta", "gamma"),
    [
        *(pytest.param(*counts, marks=pytest.mark.full) for counts in LIKE_OTHERS),
        (404, 24156, 0, 24156, 0.0, 1e-9),  # no hits on one side
        (99_999_998, 10**8, 10**8 - 9 * 10**7, 10**8, 0.0, 1e-9),  # p near 1: the nodes must lie on B1
        (50_000_000, 10**8, 18_393_972, 10**8, 0.0, 0.05),
        (10**8, 10**8, 0, 10**8, 0.01, 1e-6),
        (30, 10**8, 2, 10**8, 1e-8, 1e-3),
        (10**12, 10**12, 10**12 - 9 * 10**8, 10**12, 0.0, 1e-9),
        (41, 50, 49_000, 10**5, 0.2, 0.05),
        (95_000, 10**5, 3, 40, 0.3, 0.05),
    ],
)
def test_melded_equals_ball_arithmetic_to_1e_8_at_its_own_bound(x, n1, y, n2, delta, gamma):
    flint = pytest.importorskip("flint")
    before = flint.ctx.prec
    flint.ctx.prec = 128
    try:
        bound = float(Melded().epsilon_lower(x, n1, y, n2, delta=delta, gamma=gamma))
        ours = float(Melded().p_value(x, n1, y, n2, epsilon=bound, delta=delta))
        exact = _ball_melded(flint, x, n1, y, n2, float(np.exp(np.float64(bound))), delta, 1e-14 * gamma)
    finally:
        flint.ctx.prec = before
    assert exact <= ours <= exact * (1 + RELATIVE_ERROR + 3e-8) + 1.1e-17
    assert exact <= gamma or bound == 0
    assert bound == 0 or exact >= gamma * (1 - 1.1e-5)


def test_quadrature_does_not_depend_on_the_number_of_nodes(monkeypatch):
    rng = np.random.default_rng(3)
    n1 = np.floor(10 ** rng.uniform(0.3, 8, 500))
    n2 = np.where(rng.random(500) < 0.5, n1, np.floor(10 ** rng.uniform(0.3, 8, 500)))
    q = 10 ** rng.uniform(-8, 0, 500)
    epsilon = rng.uniform(0, 8, 500)
    delta = rng.choice([0, 1e-7, 1e-4, 0.01, 0.3], 500)
    x = rng.binomial(n1.astype(int), np.minimum(np.exp(epsilon) * q + delta, 1))
    y = rng.binomial(n2.astype(int), q)
    x = np.where(rng.random(500) < 0.2, n1, x)
    y = np.where(rng.random(500) < 0.2, np.minimum(n2, 2), y)
    for gamma in (0.05, 1e-9):
        at = Melded().epsilon_lower(x, n1, y, n2, delta=delta, gamma=gamma)
        p = Melded().p_value(x, n1, y, n2, epsilon=at, delta=delta)
        with monkeypatch.context() as patch:
            nodes, weights = np.polynomial.legendre.leggauss(200)
            patch.setattr("dpaudit.bounds.melded._NODES", nodes)
            patch.setattr("dpaudit.bounds.melded._WEIGHTS", weights)
            finer = Melded().p_value(x, n1, y, n2, epsilon=at, delta=delta)
        big = p > 1e-10
        assert np.abs(p / finer - 1)[big].max() < 5e-9


# --- the pieces: densities, limits, tails -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b"),
    [(0, 0), (0, 7), (9, 0), (3, 4), (40, 10**6), (10**8 - 1, 0), (3 * 10**7, 7 * 10**7), (4 * 10**11, 6 * 10**11)],
)
def test_density_and_window_equal_ball_arithmetic(a, b):
    flint = pytest.importorskip("flint")
    before = flint.ctx.prec
    flint.ctx.prec = 128
    try:
        ball = _Balls(flint, a + 1, b + 1)
        low, high = (float(v[0]) for v in window(np.array([float(a)]), np.array([float(b)])))
        centre = flint.arb(a) / flint.arb(a + b) if a + b else flint.arb(0.5)
        for dev in np.linspace(low, high, 9)[1:-1]:
            v = centre + flint.arb(float(dev))
            ours = float(log_density(np.array([float(a)]), np.array([float(b)]), np.array([dev]))[0])
            assert ours == pytest.approx(float(ball.density(v).log()), abs=2e-9)
        outside = float(ball.cdf(centre + flint.arb(low)) + 1 - ball.cdf(centre + flint.arb(high)))
        assert outside <= 2.001 * math.exp(-DROP)
        assert float(mode(np.array([float(a)]), np.array([float(b)]))[0]) == pytest.approx(float(centre))
    finally:
        flint.ctx.prec = before


@pytest.mark.parametrize("n", [1, 40, 251, 10**4, 10**8, 10**10, 10**12])
@pytest.mark.parametrize("gamma", [0.05, 1e-6, 1e-9])
def test_clopper_pearson_limits_lie_outside_the_exact_ones(n, gamma):
    flint = pytest.importorskip("flint")
    before = flint.ctx.prec
    flint.ctx.prec = 128
    try:
        for k in {0, 1, min(n, 1000), n // 7, n // 2, n - 1, n}:
            lower = float(lower_limit(k, n, gamma))
            upper = float(upper_limit(k, n, gamma))
            if k > 0:
                ball = _Balls(flint, k, n - k + 1)
                assert float(ball.cdf(flint.arb(lower))) <= gamma
                assert float(ball.cdf(flint.arb(lower * (1 + 1e-14)))) >= gamma * (1 - 2e-6)
            if k < n:
                ball = _Balls(flint, k + 1, n - k)
                assert float(1 - ball.cdf(flint.arb(upper))) <= gamma
                assert float(1 - ball.cdf(flint.arb(upper * (1 - 1e-14)))) >= gamma * (1 - 2e-6)
    finally:
        flint.ctx.prec = before


@pytest.mark.parametrize("n", [10, 10**5, 10**8, 10**10, 10**12])
def test_tail_probabilities_err_by_less_than_the_margin(n):
    flint = pytest.importorskip("flint")
    before = flint.ctx.prec
    flint.ctx.prec = 128
    rng = np.random.default_rng(n)
    try:
        for _ in range(30):
            x = min(n, max(1, int(10 ** rng.uniform(0, math.log10(n)))))
            centre = x / (n + 1)
            u = centre + rng.uniform(-7, 7) * math.sqrt(centre * (1 - centre) / n)
            if not 0 < u < 1:
                continue
            exact = _Balls(flint, x, n - x + 1).cdf(flint.arb(u))
            for ours, true in ((betainc(x, n - x + 1, u), float(exact)), (betaincc(x, n - x + 1, u), float(1 - exact))):
                if true > 1e-14:
                    assert abs(ours / true - 1) < 0.1 * RELATIVE_ERROR
    finally:
        flint.ctx.prec = before


# --- Clopper-Pearson and conditional: direct formulas -----------------------------------------------------------------


def test_clopper_pearson_p_value_is_where_the_bound_crosses():
    bound = ClopperPearson()
    for x, n1, y, n2, delta in [(30, 40, 5, 50, 0.0), (12, 12, 0, 90, 0.1), (500, 1000, 100, 700, 0.01)]:
        epsilon = 0.3
        p = float(bound.p_value(x, n1, y, n2, epsilon=epsilon, delta=delta))
        assert float(bound.epsilon_lower(x, n1, y, n2, delta=delta, gamma=p * 1.00001)) > epsilon
        assert float(bound.epsilon_lower(x, n1, y, n2, delta=delta, gamma=p * 0.99999)) < epsilon


def test_conditional_p_value_by_its_definition():
    rng = np.random.default_rng(0)
    for _ in range(200):
        n1, n2 = rng.integers(1, 60, 2)
        x = rng.integers(0, n1 + 1)
        y = rng.integers(0, n2 + 1)
        epsilon = rng.uniform(0, 2)
        delta = rng.choice([0.0, 0.01, 0.2])
        odds = math.exp(epsilon) * 0.4 / 0.6
        k = np.arange(x + 1)
        regular = binom.sf(x - k - 1, x + y - k, odds / (1 + odds))
        excess = binom.sf(k, n1, delta)
        if delta == 0:
            p = regular[0]
        else:
            p = np.maximum(excess / 0.1, regular / 0.9).min()
        ours = float(Conditional(share=0.4).p_value(x, n1, y, n2, epsilon=epsilon, delta=delta))
        assert ours == pytest.approx(min(p, 1), rel=2e-7)
