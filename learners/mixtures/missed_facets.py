"""A lower bound for the learner from mixtures in R^d, which misses the facets that matter.

The statement, its proof and the case are in docs/research/results.md. P is a simplicial polytope with m vertices and
M facets, as `cyclic` the hull of m points (t, t^2, .., t^d); F is a facet with the vertices b_1 .. b_d, v a point
beyond F alone, G_i the facet through v and F without b_i, and z_i a private point beyond G_i alone, of the mass (1 +
e) alpha/d. With k_i examples at z_i, w_i = exp(epsilon k_i/2) and S(t) = C(M - 1, 0) + .. + C(M - 1, t),

    Pr[failure | sample] >= 1/(1 + X),  X = sum over r = 1 .. d of e_r(w_1, .., w_d) S(d - r) / (S(d) - 1),

e_r the elementary symmetric polynomial, and Pr[failure] >= q^2/(q + E[X]), q the probability that all public points are
seen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from dpaudit.contract import InputError

from ..arrays import Floats
from ..halfspaces.lower_bound import coefficients
from ..parameters import check_integer

# 1 - q: sizes at which some public point is unseen with a probability up to this are looked at, no smaller ones.
UNSEEN = 1e-6
# e: the private points together have a little more than alpha, so that missing all of them is a failure.
EXCESS = 0.001
# Up to here EXCESS is at most 1/(d - 1).
MOST_DIMENSIONS = 1000
Point = tuple[Fraction, ...]


def cyclic_facets(vertices: int, dimension: int) -> int:
    """Return how many facets the cyclic polytope with m > d vertices has in R^d."""
    half = dimension // 2
    if dimension % 2:
        return 2 * math.comb(vertices - half - 1, half)
    return vertices * math.comb(vertices - half, half) // (vertices - half)


def log_odds(dimension: int, others: int, log_products: Floats) -> float:
    """Return ln X for M - 1 = `others`, from the logarithms of e_1 .. e_d or of their means."""
    steps = [math.log(others - j) - math.log(j + 1) for j in range(min(dimension, others))]
    # ln C(M - 1, t), 0 beyond M - 1.
    counts = np.cumsum([0.0, *steps, *[-math.inf] * (dimension - len(steps))])
    # ln S(t), the sums of the binomial coefficients up to t.
    at_most = np.logaddexp.accumulate(counts)
    return float(np.logaddexp.reduce(log_products + at_most[-2::-1]) - np.logaddexp.reduce(counts[1:]))


def expected_products(dimension: int, rate: float, mass: float, n: int) -> Floats:
    """Return ln E[e_r(w_1, .., w_d)] for r = 1 .. d, each z_i having that mass."""
    from scipy.special import gammaln

    r = np.arange(1, dimension + 1)
    choices = gammaln(dimension + 1) - gammaln(r + 1) - gammaln(dimension - r + 1)
    return np.asarray(choices + n * np.log1p(r * mass * math.expm1(rate)))


@dataclass(frozen=True)
class HardPolytope:
    """The case above over a simplicial polytope: d (2 to 1000), m and M, for an accuracy alpha.

    `InputError` if the m + 1 public points cannot have more than alpha of the mass each.
    """

    dimension: int
    vertices: int
    facets: int
    alpha: float

    def __post_init__(self) -> None:
        check_integer("dimension", self.dimension, 2, MOST_DIMENSIONS)
        if self.share <= self.alpha:
            most = 1 / (self.vertices + 2 + EXCESS)
            raise InputError.of("alpha", self.alpha, f"below 1/({self.vertices} + {2 + EXCESS:g}) = {most:.6g}")

    @classmethod
    def cyclic(cls, dimension: int, alpha: float) -> HardPolytope:
        """Return the cyclic polytope with as many vertices as alpha allows: in R^d, outside of any learner's grid."""
        vertices = math.ceil(1 / alpha - 1 - EXCESS) - 2
        if vertices <= dimension:
            raise InputError.of("alpha", alpha, f"below 1/{dimension + 3 + EXCESS:g}")
        return cls(dimension, vertices, cyclic_facets(vertices, dimension), alpha)

    @classmethod
    def cross(cls, dimension: int, alpha: float) -> HardPolytope:
        """Return the cross-polytope, 2 d vertices and 2^d facets, which fits the grid of side 4 d - 3.

        With s = 2 d - 2 its vertices are b_i = -s e_i and c_i = -2 s (1, .., 1) + s e_i, v = 0 and z_i = e_i, all moved
        by 2 s; F is the facet through all b_i, and the target sum x_i <= 0.
        """
        return cls(dimension, 2 * dimension, 2**dimension, alpha)

    @property
    def mass(self) -> float:
        """The mass of each private point."""
        return (1 + EXCESS) * self.alpha / self.dimension

    @property
    def share(self) -> float:
        """The mass of each public point."""
        return (1 - (1 + EXCESS) * self.alpha) / (self.vertices + 1)

    @property
    def least(self) -> int:
        """The n from which all public points are seen with probability 1 - UNSEEN."""
        return math.ceil(math.log(UNSEEN / (self.vertices + 1)) / math.log1p(-self.share))

    def failure(self, rate: float, n: int) -> float:
        """Return q^2/(q + E[X]), a lower bound for Pr[error > alpha] that does not increase with n.

        It is the bound at n examples or, where these are too few to see all public points, at the least number that is
        enough. `rate` is the inverse temperature, per error.
        """
        from scipy.special import expit

        products = expected_products(self.dimension, rate, self.mass, max(n, self.least))
        # q^2/(q + E[X]) = q/(1 + E[X]/q), from the logarithm of E[X]/q.
        seen = 1 - UNSEEN
        return seen * float(expit(math.log(seen) - log_odds(self.dimension, self.facets - 1, products)))

    def fails_up_to(self, rate: float, beta: float) -> float:
        """Return the greatest n of the statement, at which Pr[error > alpha] > beta; 0 if it is below `least`."""
        d = self.dimension
        q = 1 - UNSEEN
        if self.facets <= d or not 0 < beta < q:
            return 0.0
        logs = math.log(self.facets - d) - 2 * math.log(d) + math.log(math.log1p(q * (q - beta) / beta))
        n = logs / (self.mass * math.expm1(rate))
        return n if n >= self.least else 0.0

    def __str__(self) -> str:
        return (
            f"mass {self.mass:.6g} beyond each of {self.dimension} facets of {self.vertices + 1} public points, "
            "the rest on these"
        )


def facets_of(points: Sequence[Point]) -> dict[tuple[int, ...], Point]:
    """Return {indices of its points: (w, t)} of all facets {<w, x> <= t} of the hull of points in general position.

    Exactly: every d of the points span a hyperplane, which is a facet if all others are strictly on one side.
    `InputError` if some others are on it, or if it contains 0.
    """
    found = {}
    for chosen in combinations(range(len(points)), len(points[0])):
        normal = coefficients([1] * len(chosen), list(zip(*(points[i] for i in chosen), strict=True)))
        if normal is None:
            raise InputError("points must span hyperplanes that do not contain 0")
        heights = [dot(normal, p) - 1 for i, p in enumerate(points) if i not in chosen]
        if 0 in heights:
            raise InputError("points must be in general position")
        if len({height > 0 for height in heights}) == 1:
            sign = -1 if heights[0] > 0 else 1
            found[chosen] = (*(sign * w for w in normal), Fraction(sign))
    return found


def dot(normal: Sequence[Fraction], point: Sequence[Fraction]) -> Fraction:
    """Return the inner product, exactly."""
    return sum((a * b for a, b in zip(normal, point, strict=True)), Fraction(0))


def cyclic_case(vertices: int, dimension: int) -> tuple[list[Point], list[Point], Point]:
    """Return the m + 1 public points, v last, the d private ones, and the target {<w, x> > t} as (w, t), exactly.

    P is the hull of (t, t^2, .., t^d), t = 1 .. m, and F the facet through the first d of these points.
    """
    points = [tuple(Fraction(t) ** k for k in range(1, dimension + 1)) for t in range(1, vertices + 1)]
    facets = facets_of(points)
    first = tuple(range(dimension))
    *upward, _ = facets.pop(first)
    centre = [sum(axis, Fraction(0)) / dimension for axis in zip(*points[:dimension], strict=True)]
    # Beyond F by so little that it is beyond no other facet.
    v = _near(centre, upward, list(facets.values()))
    public = [*points, v]
    ours = {next(i for i in first if i not in on): row for on, row in facets_of(public).items() if vertices in on}
    normals = [ours[i][:-1] for i in first]
    parts = coefficients(upward, normals)
    assert parts is not None
    private = []
    for i in first:
        # Outside of G_i by so much, and inside of the others by 1, that it is above v.
        steps = [Fraction(-1)] * dimension
        steps[i] = 1 + sum(parts) / parts[i]
        direction = coefficients(steps, list(zip(*normals, strict=True)))
        assert direction is not None
        private.append(_near(v, direction, list(facets.values())))
    return public, private, (*upward, dot(upward, v))


def _near(start: Sequence[Fraction], direction: Sequence[Fraction], facets: Sequence[Point]) -> Point:
    """Return the start moved along a direction by a power of 1/2 for which it is inside of all these facets."""
    step = Fraction(1)
    while True:
        point = tuple(a + step * b for a, b in zip(start, direction, strict=True))
        if all(dot(row[:-1], point) < row[-1] for row in facets):
            return point
        step /= 2
