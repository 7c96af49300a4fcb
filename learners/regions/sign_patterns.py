"""The strict sign patterns of linear functionals on integer vectors, in any position, each with a functional.

Vectors are added one by one. A pattern of the vectors so far goes on with both signs of the next vector p exactly if
some functional with that pattern vanishes at p: the cells of an arrangement that a further hyperplane cuts are the
cells of the arrangement on that hyperplane. Those are a problem of one dimension less, with the vectors projected along
p. Every other pattern goes on with the sign that its functional has at p.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from learners.arrays import Integers

__all__ = ["MAX_VECTORS", "sign_patterns"]

MAX_VECTORS = 62
"""A pattern is a number with one bit for each vector."""

Ints = NDArray[Any]
"""Integers, of Python where those of 64 bits might overflow."""


def sign_patterns(vectors: Any) -> tuple[Integers, Ints]:
    """Return the patterns (c, m) of positive (1) and negative (0) values on vectors, and functionals (c, D) with them.

    Patterns are in lexicographic order; functionals are coprime integers and 0 on no vector.

    Parameters
    ----------
    vectors : array of integers, shape (m, D)
        1 to 62 vectors, none of which is 0, in at most 15 dimensions. 25 vectors in 6 dimensions take a few seconds:
        the work grows as the number of subsets of at most D vectors.
    """
    given = np.asarray(vectors)
    keys, functionals = _half(given)
    # The first vector is positive in these; their opposites have the complementary patterns.
    everything = np.concatenate([(1 << len(given)) - 1 - keys[::-1], keys])
    bits = everything[:, None] >> np.arange(len(given) - 1, -1, -1) & 1
    return bits.astype(np.int64), np.concatenate([-functionals[::-1], functionals])


def _half(vectors: Ints) -> tuple[Integers, Ints]:
    """Return the patterns in which the first vector is positive, as increasing numbers; none if a vector is 0."""
    if not (vectors != 0).any(axis=1).all():
        return np.zeros(0, dtype=np.int64), vectors[:0]
    keys, functionals = np.ones(1, dtype=np.int64), vectors[:1]
    if vectors.shape[1] == 1:
        signs = (vectors[:, 0] > 0) == (vectors[0, 0] > 0)
        return np.array([int("".join("01"[int(s)] for s in signs), 2)], dtype=np.int64), np.sign(functionals)
    for count in range(1, len(vectors)):
        keys, functionals = _with_next(vectors[:count], vectors[count], keys, functionals)
    return keys, functionals


def _with_next(vectors: Ints, p: Ints, keys: Integers, functionals: Ints) -> tuple[Integers, Ints]:
    """Return the patterns with the sign of p at their end."""
    pivot = int(np.flatnonzero(p)[np.argmin(np.abs(p[p != 0]))])
    cut, flat = _half(_projected(vectors, p, pivot))
    single = ~np.isin(keys, cut, assume_unique=True)
    kept = functionals[single]
    parts = [2 * keys[single] + (_product(kept, p[:, None])[:, 0] > 0)]
    found = [kept]
    if len(cut):
        inside = _lifted(flat, p, pivot)
        for bit, turned in ((0, -1), (1, 1)):
            parts.append(2 * cut + bit)
            found.append(_turned(inside, vectors, pivot, turned * int(np.sign(p[pivot]))))
    everything = np.concatenate(parts)
    order = np.argsort(everything)
    return everything[order], np.concatenate(found)[order]


def _projected(vectors: Ints, p: Ints, pivot: int) -> Ints:
    """Return what functionals that vanish at p see of the vectors, without the coordinate `pivot`, scaled."""
    p, vectors = _wide(p, vectors)
    image = p[pivot] * vectors - vectors[:, pivot : pivot + 1] * p
    return _short(np.delete(image, pivot, axis=1) * np.sign(p[pivot]))


def _lifted(flat: Ints, p: Ints, pivot: int) -> Ints:
    """Return the functionals that vanish at p and are these on the other coordinates."""
    rest = np.delete(p, pivot)
    at_pivot = -np.sign(p[pivot]) * _product(flat, rest[:, None])
    size, flat = _wide(np.abs(p[pivot : pivot + 1]), flat)
    return _short(np.insert(size * flat, [pivot], at_pivot, axis=1))


def _turned(functionals: Ints, vectors: Ints, pivot: int, sign: int) -> Ints:
    """Return functionals that are slightly turned: K times each, plus the coordinate `pivot` with a sign."""
    reach, values = np.abs(vectors[:, pivot]), np.abs(_product(functionals, vectors.T))
    factor = 1 + (reach // values).max(axis=1)
    factor, functionals = _wide(factor[:, None], functionals)
    turned = factor * functionals
    turned[:, pivot] += sign
    return _short(turned)


def _product(left: Ints, right: Ints) -> Ints:
    """Return the matrix product, exactly."""
    left, right = _wide(left, right)
    return np.asarray(left @ right)


def _wide(left: Ints, right: Ints) -> tuple[Ints, Ints]:
    """Return both as integers of Python if sums of up to fifteen products of them might not fit into 64 bits."""
    most = [float(np.abs(part).max()) if part.size else 0.0 for part in (left, right)]
    return (left, right) if most[0] * most[1] < 2**59 else (left.astype(object), right.astype(object))


def _short(rows: Ints) -> Ints:
    """Return rows without their common divisors, in 64 bits if they fit."""
    # From 0 on, or the divisor of a single integer of Python would be that integer, with its sign.
    divisor = np.gcd.reduce(rows, axis=1, initial=0)
    short = rows // np.where(divisor == 0, 1, divisor)[:, None]
    fits = not short.size or max(abs(int(short.max())), abs(int(short.min()))) < 2**62
    return short.astype(np.int64) if fits else short
