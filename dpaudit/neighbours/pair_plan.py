"""The ordered pairs of samples that an exact audit compares, and those of the samples that the user gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.contract import Domain, Origin, Pair, Relation
from dpaudit.errors import InputError
from dpaudit.neighbours.check import are_neighbours
from dpaudit.neighbours.multisets import Ranks

__all__ = ["LAWS", "PairPlan", "given_pairs"]

LAWS = 200_000
"""The most output laws that one audit computes."""


@dataclass(frozen=True, eq=False)
class PairPlan:
    """The ordered pairs of an exact audit, before any law is computed.

    Parameters
    ----------
    left, right : array of int64, shape (p,)
        The two sides of each pair, as numbers of inputs.
    inputs : callable
        Makes input number i, 0 <= i < size.
    size : int
        The number of distinct inputs, and so of laws.
    pairs : int
        The number of ordered pairs that are covered, symmetric copies included.
    samples : int
        The number of samples that are covered, symmetric copies included.
    origin : callable
        Says how pair number i was made.
    """

    left: Ranks
    right: Ranks
    inputs: Callable[[int], Any]
    size: int
    pairs: int
    samples: int
    origin: Callable[[int], Origin]


def given_pairs(domain: Domain, samples: Iterable[Any], relation: Relation) -> PairPlan:
    """Return the ordered pairs, in both directions, of the given samples with all their neighbours.

    A `Pair` among the samples stands for itself: its two sides are compared in both directions, with nothing
    else.

    Raises
    ------
    InputError
        If there is none, an item is neither a sample nor a pair of neighbours, or a limit is exceeded.
    """
    if not isinstance(samples, Iterable) or not (items := list(samples)):
        raise InputError(f"samples must list at least one sample or Pair, got {samples!r:.100}", parameter="samples")
    estimate = 0
    for i, item in enumerate(items):
        _check_item(i, item, relation)
        estimate += 1 if isinstance(item, Pair) else (len(item.counts) + 1) * 2 * (item.domain or domain).size
    if estimate > LAWS:
        raise InputError(
            f"samples have about {estimate:,} neighbours, at most {LAWS:,} laws are computed; "
            "give fewer samples, or Pairs, or use the black-box audit",
            parameter="samples",
        )
    numbers: dict[Any, int] = {}
    origins: dict[tuple[int, int], Origin] = {}
    given: set[Any] = set()
    for i, item in enumerate(items):
        pair = isinstance(item, Pair)
        data = item.data if pair else item
        given |= {data, item.neighbour} if pair else {data}
        for other in [item.neighbour] if pair else item.neighbours(relation):
            ends = [numbers.setdefault(side, len(numbers)) for side in (data, other)]
            origin = item.origin if pair else Origin(text=f"sample {i} and a neighbour, {relation.value}")
            origins.setdefault((ends[0], ends[1]), origin)
            origins.setdefault((ends[1], ends[0]), origin)
    if not origins:
        raise InputError(
            f"samples have no neighbours under {relation.value}: nothing can be compared", parameter="samples"
        )
    sides = np.array(list(origins), dtype=np.int64)
    inputs, told = list(numbers), list(origins.values())
    return PairPlan(
        sides[:, 0], sides[:, 1], inputs.__getitem__, len(inputs), len(origins), len(given), told.__getitem__
    )


def _check_item(i: int, item: Any, relation: Relation) -> None:
    """Raise `InputError` unless an item is a sample or a pair of neighbours."""
    if isinstance(item, Pair):
        if not are_neighbours(item.data, item.neighbour, relation):
            raise InputError(
                f"samples[{i}] is a pair whose sides are not neighbours under {relation.value}: "
                f"{item.data!r} and {item.neighbour!r}"
            )
    elif not (hasattr(item, "neighbours") and hasattr(item, "counts")):
        raise InputError(f"samples[{i}] must be a sample or a Pair of samples, got {item!r:.100}", parameter="samples")
