"""Best-first refinement of the tuples of halfplanes: an envelope of exp(rate q), as tight as rejection needs it.

A tuple of t halfplanes (t = 3 for a triangle) covers a point if all of them contain it. Its score q = f(covered,
spoiled) grows with the weight to be covered and falls with the weight to be spared, so over a product of pieces it lies
between f(surely covered, possibly spoiled) and f(possibly covered, surely spoiled). The products that contribute most
to the gap between the two envelopes are cut, until the upper one has at most a few times the mass of the lower one.

Refinement stops as well where the memory that it may take is used up (`MAX_PRODUCTS`, `MAX_MASKS`): where labels are
noise, a tight envelope can need as many products as there are tuples of cells. The state reached then is used as it is.
It is an envelope like any other, so that the law of the draws stays exact; they only take more tries, which may be more
than is practical. An error instead would be an output that depends on the sample, outside the privacy guarantee.

Tuples are unordered: products stand once for all orders of their pieces, with a multiplicity, and equal pieces are cut
together. Everything here steers and is in floating point; what is drawn from the products is exact at any state.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from learners.arrays import Bools, Floats, Integers
from learners.regions.planar.pieces import Pieces

__all__ = ["Products", "Score"]

Score = Callable[[Integers, Integers], Integers]
"""From weights covered and spoiled to integer scores; grows in the first, falls in the second."""

TIGHT = 2.0
TRADE = 2000
"""The mass of the upper envelope may be TIGHT + products / TRADE times that of the lower one."""
BATCH = 512
"""At most so many products, or an eighth of all, are cut before the gaps are looked at again."""
MAX_PRODUCTS = 2**20
"""From so many products on none is cut: about 300 MB. The last cut goes beyond by half at most."""
MAX_MASKS = 2**28
"""From so many bytes on, over all pieces and points, no piece is cut."""
BLOCK = 1024
"""The number of products that are compared with all points together."""


class Products:
    """Products of pieces that partition the t-tuples of halfplanes.

    Parameters
    ----------
    pieces : Pieces
        The dual box and its parts; shared and grown.
    weights : array of float64, shape (m, 2)
        Weight of each point to be covered and to be spared: integers, below 2^53 in all.
    score : callable
        f of the module's docstring.
    rate : float
        The density is proportional to exp(rate q).
    components : int
        t.
    """

    def __init__(self, pieces: Pieces, weights: Floats, score: Score, rate: float, components: int) -> None:
        self.pieces, self.weights, self.score, self.rate = pieces, weights, score, rate
        t = components
        self.codes = np.array([[0] * (t - j) + [1] * j for j in range(t + 1)], dtype=np.int64)
        self.orders = np.array([math.comb(t, j) for j in range(t + 1)], dtype=np.int64)
        self.upper, self.lower, self._log_volumes = self._bounds(self.codes, self.orders)
        while self._room() and not self._tight():
            self._cut(self._worst())

    def __len__(self) -> int:
        return len(self.orders)

    @property
    def log_weights(self) -> Floats:
        """Logarithms of volume times exp(rate (upper bound - the greatest upper bound)), in floating point."""
        return np.asarray(self._log_volumes + self.rate * (self.upper - self.upper.max()))

    def masks(self, codes: Integers) -> tuple[Bools, Bools]:
        """Return which points (products, m) every tuple covers, and which at least one may."""
        inside, outside = self.pieces.inside(codes[:, 0]), self.pieces.outside(codes[:, 0])
        for column in codes.T[1:]:
            inside &= self.pieces.inside(column)
            outside |= self.pieces.outside(column)
        return inside, ~outside

    def _bounds(self, codes: Integers, orders: Integers) -> tuple[Integers, Integers, Floats]:
        """Return the greatest and least scores of products, and the logarithms of their volumes."""
        least = np.empty((len(codes), 2), dtype=np.int64)
        most = np.empty((len(codes), 2), dtype=np.int64)
        for start in range(0, len(codes), BLOCK):
            part = slice(start, start + BLOCK)
            surely, possibly = self.masks(codes[part])
            least[part], most[part] = self._weighed(surely), self._weighed(possibly)
        logs = np.log(orders) + self.pieces.log_areas(codes).sum(axis=1)
        return self.score(most[:, 0], least[:, 1]), self.score(least[:, 0], most[:, 1]), logs

    def _weighed(self, held: Bools) -> Floats:
        """Return the weights (products, 2) of the points held; exact, as all sums stay below 2^53."""
        # Not a matrix product: the threads of a busy BLAS cost far more than they save.
        table = held.astype(np.float64)
        return np.stack([np.einsum("pm,m->p", table, column) for column in self.weights.T], axis=1)

    def _room(self) -> bool:
        """Say whether there is memory for more products and pieces."""
        return len(self) < MAX_PRODUCTS and 2 * len(self.pieces) * len(self.weights) < MAX_MASKS

    def _masses(self) -> tuple[Floats, Floats]:
        logs = self.log_weights
        top = logs.max()
        return np.exp(logs - top), np.exp(logs - top - self.rate * (self.upper - self.lower))

    def _tight(self) -> bool:
        high, low = self._masses()
        return bool(high.sum() <= (TIGHT + len(self) / TRADE) * low.sum() or (self.upper == self.lower).all())

    def _worst(self) -> Integers:
        """Return the products that hold half of the gap between the envelopes, the widest first."""
        high, low = self._masses()
        gaps = np.where(self.upper > self.lower, high - low, 0.0)
        order = np.argsort(-gaps, kind="stable")
        held = np.cumsum(gaps[order])
        # Beyond the range of floating point all gaps may vanish but one: that one is taken.
        count = int(np.searchsorted(held, held[-1] / 2)) + 1
        return np.asarray(order[: min(count, max(BATCH, len(self) // 8))], dtype=np.int64)

    def _cut(self, chosen: Integers) -> None:
        """Replace the chosen products by their parts."""
        parts: list[list[int]] = []
        orders: list[int] = []
        for start in range(0, len(chosen), BLOCK):
            self._add_parts(chosen[start : start + BLOCK], parts, orders)
        self._replace(chosen, np.array(parts, dtype=np.int64), np.array(orders, dtype=np.int64))

    def _add_parts(self, chosen: Integers, parts: list[list[int]], orders: list[int]) -> None:
        """Cut each chosen product in the component that is crossed by most of its undecided weight."""
        codes = self.codes[chosen]
        surely, possibly = self.masks(codes)
        undecided = (possibly & ~surely) * self.weights.sum(axis=1)
        crossed = [~(self.pieces.inside(column) | self.pieces.outside(column)) for column in codes.T]
        picked = np.stack([np.einsum("pm,pm->p", undecided, hit) for hit in crossed], axis=1).argmax(axis=1)
        rows = zip(codes.tolist(), self.orders[chosen].tolist(), picked.tolist(), undecided, strict=True)
        for row, multiplicity, place, wanted in rows:
            piece, copy = divmod(row[place], 2)
            low, high = (2 * part + copy for part in self.pieces.halves(piece, wanted))
            rest = [code for code in row if code != row[place]]
            equal = len(row) - len(rest)
            parts += [sorted([*rest, *[low] * j, *[high] * (equal - j)]) for j in range(equal + 1)]
            orders += [multiplicity * math.comb(equal, j) for j in range(equal + 1)]

    def _replace(self, chosen: Integers, codes: Integers, orders: Integers) -> None:
        kept = np.ones(len(self), dtype=np.bool_)
        kept[chosen] = False
        upper, lower, logs = self._bounds(codes, orders)
        self.codes = np.concatenate([self.codes[kept], codes])
        self.orders = np.concatenate([self.orders[kept], orders])
        self.upper = np.concatenate([self.upper[kept], upper])
        self.lower = np.concatenate([self.lower[kept], lower])
        self._log_volumes = np.concatenate([self._log_volumes[kept], logs])
