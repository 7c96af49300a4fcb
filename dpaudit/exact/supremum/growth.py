"""The loss of a pair as its samples grow: what an audit of fewer examples would have said."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from dpaudit.contract import Domain, Pair

__all__ = ["growth"]


def growth(pair: Pair, domain: Domain, loss: Callable[[Pair], float]) -> Iterator[tuple[int, float]]:
    """Yield size and loss of a pair with 0, 1, 2, 5, 10, ... copies of the example that both sides have most of.

    Parameters
    ----------
    pair : Pair
        Two neighbouring samples.
    domain : Domain
        Their domain.
    loss : callable
        The loss of a pair.
    """
    common, copies = _commonest(pair)
    steps = [step * 10**power for power in range(7) for step in (1, 2, 5)]
    for kept in sorted({0, *(step for step in steps if step < copies), copies}):
        smaller = Pair(*(_with_fewer(side, domain, common, copies - kept) for side in (pair.data, pair.neighbour)))
        if smaller.data.n and smaller.neighbour.n:
            yield smaller.data.n, loss(smaller)


def _commonest(pair: Pair) -> tuple[tuple[Any, ...], int]:
    """Return the example that both sides have most of, and how often the rarer side has it."""
    theirs = {_example(pair.neighbour, i): int(count) for i, count in enumerate(pair.neighbour.counts)}
    ours = [(_example(pair.data, i), int(count)) for i, count in enumerate(pair.data.counts)]
    shared = [(example, min(count, theirs.get(example, 0))) for example, count in ours]
    return max(shared, key=lambda one: one[1], default=((), 0))


def _with_fewer(sample: Any, domain: Domain, example: tuple[Any, ...], fewer: int) -> Any:
    """Return a sample with fewer copies of an example."""
    counts = [int(c) - fewer * (_example(sample, i) == example) for i, c in enumerate(sample.counts)]
    return domain.sample(sample.points, sample.labels, counts, sample.public) if any(counts) else domain.empty_sample()


def _example(sample: Any, row: int) -> tuple[Any, ...]:
    """Return point, label and flag of a row of a sample."""
    public = None if sample.public is None else bool(sample.public[row])
    return (*sample.points[row].tolist(), int(sample.labels[row]), public)
