"""Running times that KMMS call efficient, as counts of elementary operations: they are the same on every machine."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Constants, Evidence, Sample, Tools, Verdict

from ..conjunctions.greedy_counts import GreedyCounts, Remaining
from ..conjunctions.set_cover import SetCoverConjunction
from ..geometry.arrangement import sweep
from .verdicts import judged, statements_in, states

SLACK = 0.25
"""A local exponent may exceed the printed degree, and the one before it, by so much: counts have lower-order terms."""


Grown = dict[str, tuple[list[int], Callable[[int], int], float]]
"""By the name of a quantity its values, what counts the operations at each, and the degree that is printed."""


def exponents(xs: Sequence[float], counts: Sequence[float]) -> list[float]:
    """Return the exponents of growth between neighbouring values; of exponential growth they rise without bound."""
    logs = [(math.log(x), math.log(count)) for x, count in zip(xs, counts, strict=True)]
    return [(high[1] - low[1]) / (high[0] - low[0]) for low, high in pairwise(logs)]


class CellCounter(GreedyCounts):
    """Counts of a sample that count how many (example, variable) cells were looked at to make them."""

    def __init__(self, sample: Sample, k: int) -> None:
        self.looked_at = 0
        super().__init__(sample, k, idle=False)

    def _sums(self, rows: NDArray[Any]) -> NDArray[Any]:
        self.looked_at += len(rows) * self._points.shape[1]
        return super()._sums(rows)

    def after(self, state: Remaining, literal: int) -> Remaining:
        """Return what remains; the rows of one column are looked at."""
        self.looked_at += len(state.rows)
        return super().after(state, literal)

    def contradicted(self, state: Remaining) -> Any:
        """Return the counts; each literal is looked at."""
        self.looked_at += 2 * self._points.shape[1]
        return super().contradicted(state)


def cells_of_a_run(n: int, dimension: int, k: int) -> int:
    """Return the cells that a run on n random examples of v_1 and .. and v_k looks at."""
    learner = SetCoverConjunction(dimension, k, 1.0, 1e-6, 0.1, 0.1)
    rng = np.random.default_rng(0)
    points = rng.integers(0, 2, (n, dimension))
    counter = CellCounter(learner.domain.sample(points, points[:, :k].all(axis=1)), k)
    learner._select_in_one_run(counter, rng)
    return counter.looked_at


@states(
    "KMMS-Thm3.5-time",
    "The Set Cover Learner for conjunctions runs in time polynomial in n, d and k: linear in n d.",
    "Theorem 1.2, with the learner of Theorem 3.5",
    formula="runtime polynomial in k, d, 1/alpha, ..",
    constants=Constants.OURS,
    short="Time of the Set Cover Learner, in cells of the sample",
    printed="polynomial",
    found="n^{in n:.2f} d^{in d:.2f} k^{in k:.2f}",
    best="n d cells and 2 d a round: each example is deleted once",
)
def _literals(tools: Tools) -> Evidence:
    grown: Grown = {
        "n": ([2**i for i in range(10, 16)], lambda n: cells_of_a_run(n, 32, 2), 1),
        "d": ([2**i for i in range(4, 10)], lambda d: cells_of_a_run(2048, d, 2), 1),
        "k": ([2**i for i in range(6)], lambda k: cells_of_a_run(2048, 32, k), 1),
    }
    return _measured(grown, "cells of the sample that one run looks at", {"seed": 0})


def triples_of_a_round(n: int, side: int) -> int:
    """Return how many triples of halfplanes a round weighs on n random points of the grid of that side."""
    rng = np.random.default_rng(0)
    points: set[tuple[int, int]] = set()
    while len(points) < n:
        x, y = rng.integers(0, side + 1, 2).tolist()
        points.add((x, y))
    # Each cell of the dual arrangement is a class of halfplanes above a line, and one of those below.
    return math.comb(2 * sweep(sorted(points), [(1, 0)] * n, side).cells + 2, 3)


@states(
    "KMMS-Thm5.1-time",
    "The learner of k-UNION-GON runs in time polynomial in n and log d: a round weighs O(n^6) triples of halfplanes.",
    "Theorem 5.1",
    formula="runtime polynomial in k, 1/alpha, .., log d",
    constants=Constants.OURS,
    short="Time for unions of polygons, in triples of halfplanes",
    printed="polynomial",
    found="n^{in n:.2f} (log d)^{in log d:.2f}: {triples at n=48:.2g} triples a round at n = 48",
    best="n^6; on weighted distinct points far fewer by adaptive refinement",
)
def _polygons(tools: Tools) -> Evidence:
    grown: Grown = {
        "n": ([3, 6, 12, 24, 48], lambda n: triples_of_a_round(n, 2**12), 6),
        "log d": ([8, 16, 32, 60], lambda bits: triples_of_a_round(12, 2**bits - 1), 0),
    }
    return _measured(grown, "triples of classes of halfplanes", {"triples at n=48": triples_of_a_round(48, 2**12)})


def _measured(grown: Grown, what: str, more: dict[str, float]) -> Evidence:
    """Return the evidence on counts: refuted where an exponent ends above its degree, or rises without bound."""
    numbers: dict[str, float] = dict(more)
    tables: dict[str, dict[int, int]] = {}
    failing = []
    for name, (xs, count, degree) in grown.items():
        tables[name] = {x: count(x) for x in xs}
        local = exponents(xs, list(tables[name].values()))
        numbers[f"in {name}"] = local[-1]
        rising = all(high > low + SLACK for low, high in pairwise(local))
        if local[-1] > degree + SLACK or rising:
            failing.append(f"{name}: exponents {', '.join(f'{e:.2f}' for e in local)}")
    shown = "; ".join(
        f"{name} = {min(t)} .. {max(t)}: {min(t.values()):,} to {max(t.values()):,}" for name, t in tables.items()
    )
    text = f"{what}, {shown}; exponents at the upper end " + ", ".join(
        f"{numbers[f'in {name}']:.2f} in {name}" for name in grown
    )
    data = {"kind": "counts", "tables": {name: list(table.items()) for name, table in tables.items()}}
    return judged(Verdict.HOLDS, text, numbers, "; ".join(failing), data)


STATEMENTS = statements_in(globals())
