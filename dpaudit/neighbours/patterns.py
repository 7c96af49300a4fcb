"""Pairs of query-answer vectors: the eight patterns in which one record can move the answers of counting queries."""

from __future__ import annotations

import numpy as np

from dpaudit.arguments import read_integer
from dpaudit.contract import Origin, OriginKind, Pair

__all__ = ["query_patterns"]

MOST_QUERIES = 1_000_000
"""Sixteen vectors of so many numbers take 128 MB."""


def query_patterns(dimension: int, *, every: bool = True, level: float = 1.0) -> list[Pair]:
    """Return pairs of vectors of query answers that differ by at most 1 in each coordinate.

    Parameters
    ----------
    dimension : int
        The number of queries, at most 1,000,000.
    every : bool
        Whether one record may change every answer (eight patterns), or one answer only (two patterns).
    level : float
        The common answer on the first vector; answers go up and down by 1 from there.

    Returns
    -------
    list of Pair
        One above, one below; and, if `every`, also one above and the rest below, one below and the rest above, half up
        and half down, all above, all below, and crossed halves. Both directions of a pair are audited in any case.
    """
    dimension = read_integer("dimension", dimension, most=MOST_QUERIES)
    base, half = np.full(dimension, float(level)), dimension // 2
    one, rest, front = np.zeros(dimension), np.ones(dimension), np.zeros(dimension)
    one[0], rest[0], front[:half] = 1, 0, 1
    back = 1 - front
    shifts = {"one above": one, "one below": -one}
    if every:
        shifts |= {
            "one above, rest below": one - rest,
            "one below, rest above": rest - one,
            "half above, half below": front - back,
            "all above": np.ones(dimension),
            "all below": -np.ones(dimension),
        }
    pairs = [Pair(base.copy(), base + shift, Origin(OriginKind.PATTERN, name)) for name, shift in shifts.items()]
    if every:
        pairs.append(Pair(base - back, base - front, Origin(OriginKind.PATTERN, "crossed halves")))
    return [pair for pair in pairs if (pair.data != pair.neighbour).any()]
