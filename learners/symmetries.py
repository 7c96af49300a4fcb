"""Permutations of the example universe: example (x, y) is number 2 i + y, with i the row of x in the domain."""

from __future__ import annotations

import numpy as np

from learners.arrays import Integers

__all__ = ["moving_negatives", "moving_points"]


def moving_points(images: Integers, flips: Integers | int = 0) -> Integers:
    """Return the permutation (x, y) -> (g(x), y + f(x) mod 2).

    Parameters
    ----------
    images : array of int64, shape (size of the domain,)
        `images[i]` is the row of g(x) for the point x in row i; a permutation.
    flips : array of int64, shape (size of the domain,), or int
        f(x) in {0, 1}: whether the label of x is flipped.
    """
    labels = np.arange(2)[None, :] ^ np.broadcast_to(np.asarray(flips, dtype=np.int64), images.shape)[:, None]
    return np.asarray(2 * images[:, None] + labels, dtype=np.int64).ravel()


def moving_negatives(size: int) -> list[Integers]:
    """Return generators of all permutations of the negative examples, positive ones fixed.

    They are symmetries of every learner that ignores the negative examples. A transposition and a cycle generate the
    symmetric group on the `size` points.
    """
    generators = []
    for images in (np.array([1, 0, *range(2, size)]), np.roll(np.arange(size), 1)):
        moved = np.arange(2 * size, dtype=np.int64)
        moved[::2] = 2 * images
        generators.append(moved)
    return generators
