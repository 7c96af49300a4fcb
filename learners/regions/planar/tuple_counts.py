"""Ordered tuples of listed regions, counted by how their intersection labels a few points, and drawn uniformly.

Masks of m points are subsets of {0 .. m - 1}. With F(T) the number of regions that contain T, F(T)^t tuples of t have
an intersection that contains T; inclusion and exclusion over the supersets of S leaves those whose intersection is S.
Both are sums over subcubes, point by point: m 2^m additions of integers, however many tuples there are.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from dpaudit.contract import InputError
from learners.arrays import Integers

__all__ = ["MAX_POINTS", "TupleCounts"]

MAX_POINTS = 18
"""The most points whose 2^m subsets are held."""


class TupleCounts:
    """The ordered t-tuples of regions by the set of points that all of the tuple contain.

    Parameters
    ----------
    masks : array of int64, shape (N,)
        For each region the points that it contains, as bits.
    points : int
        m, at most `MAX_POINTS`.
    components : int
        t; N^t and N^(t - 1) 2^m must be below 2^62.
    """

    def __init__(self, masks: Integers, points: int, components: int) -> None:
        most = len(masks) ** (components - 1) * max(len(masks), 1 << points)
        if points > MAX_POINTS or most >= 2**62:
            raise InputError(
                f"the sample must have at most {MAX_POINTS} distinct points where regions are not listed, got {points}"
            )
        self._masks, self._points, self._components = masks, points, components

    @cached_property
    def _containing(self) -> Integers:
        """F (2^m,)."""
        table = np.bincount(self._masks, minlength=1 << self._points).astype(np.int64)
        for bit in range(self._points):
            view = table.reshape(-1, 2, 1 << bit)
            view[:, 0] += view[:, 1]
        return table

    @cached_property
    def counts(self) -> Integers:
        """The number of tuples that intersect in each set of points (2^m,).

        After the first bits these are tuples whose intersection is right there and contains the rest: never above N^t.
        """
        table = self._containing**self._components
        for bit in range(self._points):
            view = table.reshape(-1, 2, 1 << bit)
            view[:, 0] -= view[:, 1]
        return table

    def _ways(self, target: int, more: int) -> Integers:
        """Return for each set A (2^m,) how many tuples of `more` regions intersect, together with A, in the target.

        The sum over target <= T <= A of (-1)^|T - target| F(T)^more; 0 where A does not contain the target.
        """
        subsets = np.arange(1 << self._points)
        odd = np.zeros(len(subsets), dtype=np.int64)
        for bit in range(self._points):
            odd ^= (subsets & ~target) >> bit & 1
        table = np.where(subsets & target == target, (1 - 2 * odd) * self._containing**more, 0)
        for bit in range(self._points):
            view = table.reshape(-1, 2, 1 << bit)
            view[:, 1] += view[:, 0]
        return table

    def draw(self, target: int, rng: np.random.Generator, size: int) -> Integers:
        """Return `size` independent uniform tuples (size, t) among those that intersect in the target."""
        chosen = np.zeros((size, self._components), dtype=np.int64)
        now = np.full(size, (1 << self._points) - 1)
        for place in range(self._components):
            ways = self._ways(target, self._components - 1 - place)
            for state in np.unique(now).tolist():
                ends = np.cumsum(np.where(self._masks & target == target, ways[state & self._masks], 0))
                rows = np.flatnonzero(now == state)
                uniform = rng.integers(0, ends[-1], size=len(rows))
                chosen[rows, place] = np.searchsorted(ends, uniform, side="right")
            now &= self._masks[chosen[:, place]]
        return chosen
