"""Regions p(x, y) >= 0 of a grid for polynomials p of low degree: halfspaces over the monomials (KMMS, Section 6)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from math import comb
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpaudit.contract import InputError, Instance

from ..arrays import Exact, Integers, Labels, as_exact
from ..citations import KMMS
from ..domains import Grid, moving_points
from ..geometry.sign_counts import count_sign_patterns
from ..parameters import Built, check_integer, check_positive
from ..words import linear
from .concepts import Listed
from .families import Family, Regions
from .pictures import plane_targets
from .region_selection import RegionSelection

MAX_DEGREE = 3
# The most labellings that the count of cells may allow: side 6 at degree 1, 4 at degree 2, 3 at degree 3.
MAX_POLYNOMIALS = 2**17


def monomials(degree: int) -> list[tuple[int, int]]:
    """Return the exponents (i, j) of x^i y^j, i + j <= degree: the greatest sums first, then the greatest i."""
    return [(i, total - i) for total in range(degree, -1, -1) for i in range(total, -1, -1)]


def powers(points: Exact, degree: int) -> Exact:
    """Return the monomials of points (m, 2) as columns, with the dtype of the points."""
    return np.stack([points[:, 0] ** i * points[:, 1] ** j for i, j in monomials(degree)], axis=1)


def check_polynomials(side: int, degree: int) -> None:
    """Raise `InputError` if the polynomials cannot be listed.

    m hyperplanes through 0 in R^D have at most 2 sum_(i < D) C(m - 1, i) cells (Schlaefli, Cover).
    """
    check_integer("degree", degree, 1, MAX_DEGREE)
    check_integer("side", side, 1)
    points = (side + 1) ** 2
    most = 2 * sum(comb(points - 1, i) for i in range(len(monomials(degree))))
    if points > MAX_VECTORS or most > MAX_POLYNOMIALS:
        raise InputError(
            f"side must be small enough to list the polynomials; {side} at degree {degree} allows up to {most}, more "
            f"than {MAX_POLYNOMIALS}, or more than {MAX_VECTORS} points"
        )


@lru_cache(maxsize=4)
def polynomial_family(side: int, degree: int) -> Family:
    """Return the labellings of {0 .. side}^2 by p(x, y) >= 0, p of at most that degree, with equal measures.

    In lexicographic order. The region of a labelling is (coefficients,), integers in the order of `monomials`; p is 0
    at no point of the grid. Side 4 at degree 2 takes 12 seconds, side 3 at degree 3 seven.
    """
    check_polynomials(side, degree)
    labels, functionals = sign_patterns(powers(Grid(side, 2).points(), degree))
    return Family.of_functionals(labels.astype(np.uint8), functionals)


@lru_cache(maxsize=16)
def polynomial_count(side: int, degree: int) -> int:
    """Return the size of `polynomial_family`, without a list."""
    check_polynomials(side, degree)
    return count_sign_patterns(powers(Grid(side, 2).points(), degree))


@dataclass(frozen=True)
class Polynomial:
    """f(x, y) = 1 iff p(x, y) >= 0, with the coefficients of p in the order of `monomials(degree)`."""

    coefficients: tuple[int, ...]
    degree: int

    def predict(self, points: Exact) -> Labels:
        """Return the labels of points (m, 2), exactly."""
        values = powers(np.asarray(points).astype(object), self.degree) @ np.array(self.coefficients, dtype=object)
        return np.asarray(values >= 0, dtype=np.uint8)

    def __str__(self) -> str:
        names = [" ".join(filter(None, (_power("x", i), _power("y", j)))) for i, j in monomials(self.degree)]
        return f"{linear(zip(self.coefficients, names, strict=True))} >= 0"


def _power(name: str, exponent: int) -> str:
    if exponent == 0:
        return ""
    if exponent == 1:
        return name
    return f"{name}^{exponent}"


def polynomials(side: int, degree: int) -> Regions:
    """Return the regions where a polynomial is not negative, with equal measure."""
    listing = partial(polynomial_family, side, degree)
    count = partial(polynomial_count, side, degree)
    return Regions(side, listing, lambda parts: Polynomial(parts[0], degree), count=count)


@dataclass(frozen=True)
class Polynomials(Listed):
    """The labellings of {0 .. side}^2 by polynomials of at most a degree, in lexicographic order.

    Degree 1 are the halfplanes, degree 2 all discs, ellipses, parabolas and hyperbolas with their complements.
    """

    side: int
    degree: int

    def __post_init__(self) -> None:
        check_polynomials(self.side, self.degree)

    @property
    def vc_dimension(self) -> int:
        """The number of monomials x^i y^j of that degree with i and j up to the side, which are independent there."""
        degrees = range(min(self.degree, self.side) + 1)
        return sum(i + j <= self.degree for i in degrees for j in degrees)

    _regions = Built(polynomials)


@dataclass(frozen=True)
class PolynomialSelect(RegionSelection):
    """Select a region p(x, y) >= 0, p of at most a degree t, with probability proportional to exp(epsilon q / 2).

    q is the number of examples that the region labels correctly. Lifted to its monomials x^i y^j, 1 <= i + j <= t, a
    point is labelled by a halfspace, and linearisation learns all of these: the exponential mechanism runs over the N
    labellings of the grid that some polynomial gives, with equal measures. They are listed, in integers; see
    `sign_patterns`. For degree 2 there are 422, 7,760 and 81,500 for side 2, 3 and 4. Pure
    epsilon-differential privacy.

    Utility. With probability 1 - b over the coins q >= max q - (2/epsilon) (ln N + ln(1/b)).

    Parameters
    ----------
    side : int
        d of the grid {0 .. d}^2: at most 6, 4 and 3 for degree 1, 2 and 3, where the list ends.
    epsilon : float
        > 0.
    degree : int
        t = 1, 2 or 3.
    """

    degree: int = 2

    id: ClassVar[str] = "polynomial-select"
    instance: ClassVar[Instance] = Instance({"side": 2, "epsilon": 1.0}, n=2)
    source: ClassVar[str] = f"{KMMS}, Proposition 2.5 and Section 6, linearisation"
    _statement: ClassVar[tuple[str, str]] = ("KMMS-Prop2.5", "Proposition 2.5 over the labellings by polynomials")
    _most_side: ClassVar[int | None] = None
    hard_targets = plane_targets
    concepts = Built(Polynomials)
    _regions = Built(polynomials)

    def __post_init__(self) -> None:
        check_polynomials(self.side, self.degree)
        check_positive("epsilon", self.epsilon)

    def symmetries(self) -> list[Integers]:
        """Return generators: a reflection and the exchange of the axes, and flipping all labels.

        A polynomial after an affine map of the plane, and its negative, are polynomials of that degree.
        """
        return [*self.domain.renamings([1, 0]), moving_points(np.arange(self.domain.size), 1)]


LEARNERS = (PolynomialSelect,)


# A pattern is a number with one bit for each vector.
MAX_VECTORS = 62


def sign_patterns(vectors: ArrayLike) -> tuple[Integers, Exact]:
    """Return the patterns (c, m) of positive (1) and negative (0) values on vectors, and functionals (c, D) with them.

    Patterns are in lexicographic order; functionals are coprime integers and 0 on no vector.

    There are 1 to 62 `vectors` (m, D) of integers, none of which is 0, in at most 15 dimensions. 25 vectors in 6
    dimensions take a few seconds: the work grows as the number of subsets of at most D vectors.
    """
    given = np.asarray(vectors)
    keys, functionals = _half(given)
    # The first vector is positive in these; their opposites have the complementary patterns.
    everything = np.concatenate([(1 << len(given)) - 1 - keys[::-1], keys])
    bits = everything[:, None] >> np.arange(len(given) - 1, -1, -1) & 1
    return bits.astype(np.int64), np.concatenate([-functionals[::-1], functionals])


def _half(vectors: Exact) -> tuple[Integers, Exact]:
    """Return the patterns in which the first vector is positive, as increasing numbers; none if a vector is 0."""
    if not (vectors != 0).any(axis=1).all():
        return np.zeros(0, dtype=np.int64), vectors[:0]
    keys = np.ones(1, dtype=np.int64)
    functionals = vectors[:1]
    if vectors.shape[1] == 1:
        signs = (vectors[:, 0] > 0) == (vectors[0, 0] > 0)
        return np.array([int("".join("01"[int(s)] for s in signs), 2)], dtype=np.int64), np.sign(functionals)
    for count in range(1, len(vectors)):
        keys, functionals = _with_next(vectors[:count], vectors[count], keys, functionals)
    return keys, functionals


def _with_next(vectors: Exact, p: Exact, keys: Integers, functionals: Exact) -> tuple[Integers, Exact]:
    """Return the patterns with the sign of p at their end."""
    # The smallest entry keeps the integers of the projection short.
    pivot = int(np.flatnonzero(p)[np.argmin(np.abs(p[p != 0]))])
    cut, flat = _half(_projected(vectors, p, pivot))
    # Cells that the hyperplane of p does not cut keep one sign on p.
    single = ~np.isin(keys, cut, assume_unique=True)
    kept = functionals[single]
    parts = [2 * keys[single] + (_product(kept, p[:, None])[:, 0] > 0)]
    found: list[ArrayLike] = [kept]
    if len(cut):
        inside = _lifted(flat, p, pivot)
        # A cell that is cut becomes two: its functional on the hyperplane, turned a little to either side.
        for bit, turned in ((0, -1), (1, 1)):
            parts.append(2 * cut + bit)
            found.append(_turned(inside, vectors, pivot, turned * int(np.sign(p[pivot]))))
    everything = np.concatenate(parts)
    order = np.argsort(everything)
    return everything[order], np.concatenate(found)[order]


def _projected(vectors: Exact, p: Exact, pivot: int) -> Exact:
    """Return what functionals that vanish at p see of the vectors, without the coordinate `pivot`, scaled."""
    p, vectors = _wide(p, vectors)
    image = p[pivot] * vectors - vectors[:, pivot : pivot + 1] * p
    return _short(np.delete(image, pivot, axis=1) * np.sign(p[pivot]))


def _lifted(flat: Exact, p: Exact, pivot: int) -> Exact:
    """Return the functionals that vanish at p and are these on the other coordinates."""
    rest = p[np.arange(len(p)) != pivot]
    at_pivot = -np.sign(p[pivot]) * _product(flat, rest[:, None])
    size, flat = _wide(np.abs(p[pivot : pivot + 1]), flat)
    return _short(np.insert(size * flat, [pivot], at_pivot, axis=1))


def _turned(functionals: Exact, vectors: Exact, pivot: int, sign: int) -> Exact:
    """Return functionals that are slightly turned: K times each, plus the coordinate `pivot` with a sign."""
    reach = np.abs(vectors[:, pivot])
    values = np.abs(_product(functionals, vectors.T))
    # So large that the turn changes no sign on the other vectors.
    factor = 1 + (reach // values).max(axis=1)
    factor, functionals = _wide(factor[:, None], functionals)
    turned = factor * functionals
    turned[:, pivot] += sign
    return _short(turned)


def _product(left: Exact, right: Exact) -> Exact:
    left, right = _wide(left, right)
    return np.asarray(left @ right)


def _wide(left: Exact, right: Exact) -> tuple[Exact, Exact]:
    """Return both as integers of Python if sums of up to fifteen products of them might not fit into 64 bits."""
    most = [float(np.abs(part).max()) if part.size else 0.0 for part in (left, right)]
    if most[0] * most[1] < 2**59:
        return (left, right)
    return (as_exact(left, wide=True), as_exact(right, wide=True))


def _short(rows: Exact) -> Exact:
    """Return rows without their common divisors, in 64 bits if they fit."""
    # From 0 on, or the divisor of a single integer of Python would be that integer, with its sign.
    divisor = np.gcd.reduce(rows, axis=1, initial=0)
    short = rows // np.where(divisor == 0, 1, divisor)[:, None]
    fits = not short.size or max(abs(int(short.max())), abs(int(short.min()))) < 2**62
    return short.astype(np.int64) if fits else short
