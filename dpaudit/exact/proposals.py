"""Propose samples whose stars lose much: by climbing over weights and along rays; and the loss as a sample grows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from dpaudit.contract import Domain, Pair
from dpaudit.exact.universe import CAP, Peak, Star, Weights, plus

__all__ = ["climb", "growth", "ray_bases"]

_FACTORS = (2, 10, 1000)
_PATIENCE = 60
"""Steps without a gain after which a climb ends."""
_GAIN = 1e-5
"""The least relative gain that counts as one."""
_TRIES = 50
"""Random starts after which a law that refuses them all is given up."""


def climb(star: Star, items: Sequence[int], *, evaluations: int, most: int, rng: np.random.Generator) -> Peak | None:
    """Return the greatest loss that a climb over weighted samples meets; None if the law refuses every start.

    A step changes one count (times or divided by 2, 10 or 1000; by 1), drops, adds or exchanges an example, or
    multiplies all counts; it is taken unless the certain loss falls.

    Parameters
    ----------
    star : Star
        The objective.
    items : sequence of int
        The examples to choose from.
    evaluations : int
        Steps that are tried.
    most : int
        Distinct examples in a sample.
    rng : Generator
        The source of the steps.
    """
    walk = _Walk(items, most, rng)
    best = next((peak for peak in (star(walk.start()) for _ in range(_TRIES)) if peak is not None), None)
    if best is None:
        return None
    worth, last = best.safe, 0
    for step in range(evaluations):
        peak = star(walk.step(best.weights))
        if peak is not None and peak.safe >= best.safe:
            best = peak
        if best.safe > worth * (1 + _GAIN):
            worth, last = best.safe, step
        if np.isinf(best.loss) or step - last >= _PATIENCE:
            break
    return best


class _Walk:
    """Random weighted samples and random steps between them."""

    def __init__(self, items: Sequence[int], most: int, rng: np.random.Generator) -> None:
        self._items, self._most, self._rng = list(items), most, rng
        self._moves: tuple[Callable[[Weights], Weights], ...] = (
            self._scale, self._scale, self._shift, self._drop, self._add, self._exchange, self._multiply,
        )  # fmt: skip

    def start(self) -> Weights:
        """Return a sample of one to three examples, counts log-uniform."""
        return plus((), [(self._item(), self._count()) for _ in range(int(self._rng.integers(1, 4)))])

    def step(self, weights: Weights) -> Weights:
        """Return a neighbour of a sample in the search; a count that grows too large stays at `CAP`."""
        moved = self._moves[int(self._rng.integers(len(self._moves)))](weights)
        return tuple((item, min(count, CAP)) for item, count in moved)

    def _item(self) -> int:
        return self._items[int(self._rng.integers(len(self._items)))]

    def _count(self) -> int:
        return int(10 ** self._rng.uniform(0, 3))

    def _one(self, weights: Weights) -> tuple[int, int]:
        """Return one of the examples with its count; any example with 0 in an empty sample."""
        return weights[int(self._rng.integers(len(weights)))] if weights else (self._item(), 0)

    def _scale(self, weights: Weights) -> Weights:
        item, count = self._one(weights)
        factor = _FACTORS[int(self._rng.integers(len(_FACTORS)))]
        changed = count * factor if self._rng.random() < 0.5 else max(1, count // factor)
        return plus(weights, [(item, changed - count)])

    def _shift(self, weights: Weights) -> Weights:
        item, _ = self._one(weights)
        return plus(weights, [(item, 1 if self._rng.random() < 0.5 else -1)])

    def _drop(self, weights: Weights) -> Weights:
        item, count = self._one(weights)
        return plus(weights, [(item, -count)])

    def _add(self, weights: Weights) -> Weights:
        if len(weights) >= self._most:
            return self._exchange(weights)
        return plus(weights, [(self._item(), self._count())])

    def _exchange(self, weights: Weights) -> Weights:
        item, count = self._one(weights)
        return plus(weights, [(item, -count), (self._item(), count)])

    def _multiply(self, weights: Weights) -> Weights:
        factor = 2 if self._rng.random() < 0.5 else 10
        return tuple((item, count * factor) for item, count in weights)


def ray_bases(items: Sequence[int], most: int, limit: int) -> Iterator[tuple[int, Weights]]:
    """Yield (direction, base): every example as a direction with every base of fewer than `most` examples.

    The smallest bases come first; sizes whose bases would exceed `limit` rays in all are left out.
    """
    made = 0
    for size in range(most):
        bases = list(combinations_with_replacement(items, size)) if len(items) ** size <= 64 * limit else []
        made += len(bases) * len(items)
        if not bases or made > limit:
            return
        for base in bases:
            for direction in items:
                yield direction, plus((), [(item, 1) for item in base])


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
