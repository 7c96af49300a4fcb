"""The number of sign patterns of linear functionals on vectors, counted without a list of them.

The functionals that vanish at none of m vectors of R^D make up the cells of the arrangement of the hyperplanes through
0 with these normals. A set of vectors is called a broken circuit if some vector of less index completes it to a
minimally dependent set. By Whitney's theorem, the coefficients of the characteristic polynomial of the arrangement are,
up to their signs, the numbers w_k of sets of k vectors that include no broken circuit, and by Zaslavsky's the number of
cells is

    w_0 + w_1 + .. + w_D = 2 (w_(D - 1) + w_(D - 3) + ..),

as the polynomial is 0 at 1. A set includes no broken circuit exactly if, for each of its vectors v, the span of v and
of the vectors of greater index holds no vector of less index than v. So these sets are found by choosing indices from
the greatest to the least, and by looking at the vectors of less index modulo the span of those chosen.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Exact, Floats, Integers, as_exact

# Quotients of integers below this differ by more than 2^-52 of their size, unless they are equal: no two that differ
# are rounded to the same number.
EXACT_QUOTIENTS = 2**26

Chosen = list[tuple[int, Exact]]
"""An index s, and for sets whose least index it is the vectors 0 .. s - 1 modulo the span of each set (sets, s, d)."""


def count_sign_patterns(vectors: ArrayLike) -> int:
    """Return how many patterns of positive and negative values a linear functional takes on vectors (m, D), exactly.

    m >= 1 and D >= 1; 0 if one of the vectors, which are integers, is 0, since there every functional vanishes. As
    many as `regions.polynomials.sign_patterns` lists. The work grows as the number of subsets of at most D vectors.
    """
    given = np.asarray(vectors)
    if not given.any(axis=1).all():
        return 0
    width = given.shape[1]
    # The numbers w_0, w_1, .. of sets without a broken circuit.
    sets = [1]
    chosen: Chosen = [(len(given), given[None])]
    for _ in range(width - 2):
        chosen = _with_one_more(chosen)
        sets.append(sum(len(vectors) for _, vectors in chosen))
    if width > 1:
        # In the plane a vector of less index is in the span of another one if they have the same direction.
        sets.append(sum(_count_directions(vectors) for _, vectors in chosen))
    return 2 * sum(sets[width - 1 :: -2])


def _with_one_more(chosen: Chosen) -> Chosen:
    """Return the sets with one more vector, of less index than the others."""
    found = []
    for index in range(max((least for least, _ in chosen), default=0)):
        before = [vectors[:, : index + 1] for least, vectors in chosen if least > index]
        vectors: Exact = np.concatenate(before)  # type: ignore[assignment]  # all of one of the two types
        vectors = _without_direction(vectors)
        # A vector that vanishes modulo the span lies in it: it would complete a broken circuit.
        kept = (vectors != 0).any(axis=2).all(axis=1)
        if kept.any():
            found.append((index, vectors[kept]))
    return found


def _without_direction(vectors: Exact) -> Exact:
    """Return (sets, m, d - 1): all but the last of vectors (sets, m + 1, d) modulo it, without common divisors."""
    # The least entry that is not 0 keeps the integers short.
    size = np.abs(vectors[:, -1:])
    pivot = np.where(size == 0, size.max() + 1, size).argmin(axis=2)[:, :, None]
    most = int(np.abs(vectors).max())
    exact = as_exact(vectors, wide=2 * most * most >= 2**63)
    last = exact[:, -1:]
    rest = np.arange(vectors.shape[2] - 1)[None, None, :]
    # All coordinates but that of the pivot.
    rest = rest + (rest >= pivot)
    others = _taken(exact[:, :-1], rest)
    image = others * _taken(last, pivot) - _taken(exact[:, :-1], pivot) * _taken(last, rest)
    divisor = np.gcd.reduce(image, axis=2, keepdims=True, initial=0)
    short = image // np.where(divisor == 0, 1, divisor)
    if short.dtype == object and (not short.size or np.abs(short).max() < 2**62):
        return np.asarray(short.astype(np.int64))
    return np.asarray(short)


def _taken(vectors: Exact, coordinates: Integers) -> Exact:
    """Return these coordinates (sets, 1, c) of vectors (sets, m, d), (sets, m, c)."""
    return np.asarray(np.take_along_axis(np.asarray(vectors), coordinates, axis=2))


def _count_directions(vectors: Exact) -> int:
    """Return the number of different directions, up to sign, among vectors (sets, m, 2), added over the sets."""
    if not vectors.size:
        return 0
    if np.abs(vectors).max() >= EXACT_QUOTIENTS:
        return sum(len({_direction(*vector) for vector in row}) for row in vectors.tolist())
    up = vectors[:, :, 1].astype(np.float64)
    quotients: Floats = np.full(up.shape, np.inf)
    np.divide(vectors[:, :, 0], up, out=quotients, where=up != 0)
    quotients.sort(axis=1)
    return int(len(quotients) + (quotients[:, 1:] != quotients[:, :-1]).sum())


def _direction(x: int, y: int) -> Fraction | None:
    """Return x/y; None for the direction of the first axis."""
    if y == 0:
        return None
    return Fraction(x, y)
