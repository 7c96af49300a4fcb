"""Statements on running times: the elementary steps that learners report with their runs, and how they grow."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from dpaudit.contract import Evidence, Learner, Sample, Tools, counting_steps

from ..boxes.exponential import BoxExponential
from ..conjunctions.concepts import ConjunctionExponential
from ..conjunctions.consistent import ConjunctionCover, ConjunctionElimination
from ..conjunctions.set_cover import SetCoverConjunction
from ..geometry.arrangement import sweep
from ..geometry.sign_counts import count_sign_patterns
from ..halfspaces.exponential import HalfspaceExponential
from ..parities.private import ParityPrivate
from ..points.exponential import PointExponential, ThresholdExponential
from ..regions.region_cover import ConvexPolygon, PolygonUnion
from .evidence import judged
from .states import derived

# A local exponent may exceed the printed degree, and the one before it, by so much: counts have lower-order terms.
SLACK = 0.25
Grown = dict[str, tuple[list[int], Callable[[int], int], float]]
"""By the name of a quantity its values, what counts the operations at each, and the degree that is printed."""


def exponents(xs: Sequence[float], counts: Sequence[float]) -> list[float]:
    """Return the exponents of growth between neighbouring values; of exponential growth they rise without bound."""
    logs = [(math.log(x), math.log(count)) for x, count in zip(xs, counts, strict=True)]
    return [(high[1] - low[1]) / (high[0] - low[0]) for low, high in pairwise(logs)]


def cells_of_a_run(n: int, dimension: int, k: int) -> int:
    """Return the cells that a run on n random examples of v_1 and .. and v_k looks at."""
    learner = SetCoverConjunction(dimension, k, 1.0, 1e-6, 0.1, 0.1)
    rng = np.random.default_rng(0)
    points = rng.integers(0, 2, (n, dimension))
    # Labelled by a conjunction of k literals, so that rounds delete examples as the theorem has it.
    sample = learner.domain.sample(points, points[:, :k].all(axis=1))
    return steps_of(learner, sample, 1)


@derived(
    "KMMS-Thm3.5-time",
    "The Set Cover Learner for conjunctions runs in time polynomial in n, d and k: linear in n d.",
    "Theorem 1.2, with the learner of Theorem 3.5",
    formula="runtime polynomial in k, d, 1/alpha, ..",
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


@derived(
    "KMMS-Thm5.1-time",
    "The learner of k-UNION-GON runs in time polynomial in n and log d: a round weighs O(n^6) triples of halfplanes.",
    "Theorem 5.1",
    formula="runtime polynomial in k, 1/alpha, .., log d",
    short="Time for unions of polygons, in triples of halfplanes",
    printed="polynomial",
    found="n^{in n:.2f} (log d)^{in log d:.2f}: {triples at n=48:.2g} triples a round at n = 48",
    best="n^6; on weighted distinct points far fewer by adaptive refinement",
)
def _polygons(tools: Tools) -> Evidence:
    grown: Grown = {
        "n": ([3, 6, 12, 24, 48], lambda n: triples_of_a_round(n, 2**12), 6),
        # Degree 0: the number of triples depends on the sample's own lines, not on the side.
        "log d": ([8, 16, 32, 60], lambda bits: triples_of_a_round(12, 2**bits - 1), 0),
    }
    return _measured(grown, "triples of classes of halfplanes", {"triples at n=48": triples_of_a_round(48, 2**12)})


def _measured(grown: Grown, what: str, more: dict[str, float], known: str = "") -> Evidence:
    """Return the evidence on counts: refuted where an exponent ends above its degree, or rises without bound.

    So it is where something is `known` to fail.
    """
    numbers: dict[str, float] = dict(more)
    tables: dict[str, list[tuple[int, int]]] = {}
    failing = [known] if known else []
    shown = []
    ends = []
    for name, (xs, count, degree) in grown.items():
        counts = [count(x) for x in xs]
        tables[name] = list(zip(xs, counts, strict=True))
        local = exponents(xs, counts)
        numbers[f"in {name}"] = local[-1]
        # Exponential growth shows as local exponents that rise at every step.
        rising = all(high > low + SLACK for low, high in pairwise(local))
        if local[-1] > degree + SLACK or rising:
            failing.append(f"{name}: exponents {', '.join(f'{e:.2f}' for e in local)}")
        shown.append(f"{name} = {xs[0]} .. {xs[-1]}: {min(counts):,} to {max(counts):,}")
        ends.append(f"{local[-1]:.2f} in {name}")
    text = f"{what}, {'; '.join(shown)}; exponents at the upper end {', '.join(ends)}"
    return judged(text, numbers, "; ".join(failing), {"kind": "counts", "tables": tables})


def steps_of(learner: Learner, sample: Sample, runs: int) -> int:
    """Return the steps that runs of a learner on a sample report, of all kinds together."""
    with counting_steps() as steps:
        learner.run(sample, np.random.default_rng(1), runs)
    return sum(steps.values())


# Runs whose steps are summed: those of one run vary by its own randomness.
RUNS = 20
COVER: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6, "alpha": 0.05, "beta": 0.05}


def steps_at_its_size(learner: Learner, alpha: float, beta: float, runs: int = RUNS) -> int:
    """Return the steps of runs at the n of a learner's theorem, on the hard target of its class."""
    # The two have these methods, which not every learner has.
    made: Any = learner
    ((target, law, _),) = made.concepts.hard_targets(alpha)
    n = made.utility(alpha, beta).sample_size
    return steps_of(learner, learner.domain.draw(target, law, n, np.random.default_rng(0)), runs)


@derived(
    "KMMS-Thm4.7-time",
    "The learner of convex k-gons runs in time at most logarithmic in d, at its own n, which is: Remark 4.2.",
    "Remark 4.2 and Theorem 4.7",
    formula="runtime and n at most logarithmic in d",
    short="Time for convex polygons, in products of pieces that a run weighs",
    printed="(log d)^1",
    found="(log d)^{in log d:.2f}",
    best="on 64 distinct points the refinement hardly depends on d",
)
def _convex_polygons(tools: Tools) -> Evidence:
    def weighed(bits: int) -> int:
        return steps_at_its_size(ConvexPolygon(2**bits, 4, **COVER), 0.1, 0.1, RUNS // 4)

    grown: Grown = {"log d": ([8, 16, 32, 64, 128, 255], weighed, 1)}
    return _measured(grown, f"products that {RUNS // 4} runs weigh at the theorem's n", {"seed": 0})


def polygon_steps(distinct: int, bits: int) -> int:
    """Return the products that runs of the learner of unions weigh on so many random points, labelled by a triangle."""
    learner = PolygonUnion(2**bits, 1, **COVER)
    ((target, _, _),) = learner.concepts.hard_targets(0.1)
    rng = np.random.default_rng(distinct)
    points = np.unique((rng.random((distinct, 2)) * 2**bits).astype(np.int64), axis=0)
    counts = np.full(len(points), 10**6 // len(points))
    return steps_of(learner, learner.domain.sample(points, target.predict(points), counts), RUNS // 4)


@derived(
    "KMMS-Thm5.1-run",
    "The learner of k-UNION-GON runs in time polynomial in the points and in log d, counted in its own runs.",
    "Theorem 5.1",
    formula="runtime polynomial in k, 1/alpha, .., log d",
    short="Time for unions of polygons, in products that its own runs weigh",
    printed="polynomial",
    found="m^{in m:.2f} (log d)^{in log d:.2f}",
    best="on samples that a union labels well; with noise in the labels the search is hard",
)
def _own_runs(tools: Tools) -> Evidence:
    grown: Grown = {
        "m": ([16, 32, 64, 128], lambda m: polygon_steps(m, 30), 6),
        "log d": ([8, 15, 30, 60], lambda bits: polygon_steps(32, bits), 1),
    }
    return _measured(grown, f"products that {RUNS // 4} runs weigh", {"seed": 0})


@derived(
    "NIS-Parity-time",
    "The private learner of parities runs in polynomial time: it reduces as many equations as its subsample has.",
    "Section 4, private parity learner",
    formula="efficient",
    short="Time of the parity learner, in equations reduced",
    printed="polynomial",
    found="d^{in d:.2f} equations, each of d + 1 bits",
)
def _parities(tools: Tools) -> Evidence:
    def reduced(d: int) -> int:
        return steps_at_its_size(ParityPrivate(d, 1.0), 0.1, 0.6, 10 * RUNS)

    grown: Grown = {"d": ([14, 20, 28, 40, 56], reduced, 1)}
    return _measured(grown, f"equations that {10 * RUNS} runs reduce at the theorem's n", {"seed": 0})


def _candidates(learner: Learner, distinct: int = 1) -> int:
    """Return the candidates that a run of the exponential mechanism weighs on so many points of a diagonal."""
    points = np.repeat(np.arange(distinct)[:, None], learner.domain.dimension, axis=1)
    return steps_of(learner, learner.domain.sample(points, np.ones(distinct, dtype=np.int64)), 1)


@derived(
    "STE-Conj-time",
    "The exponential mechanism over conjunctions of k literals takes time d^k.",
    "the exponential mechanism for conjunctions",
    formula="time about d^k",
    short="Time of the exponential mechanism over short conjunctions, in candidates",
    printed="d^k",
    found="d^{in d, k = 1:.2f}, d^{in d, k = 2:.2f}, d^{in d, k = 3:.2f} for k = 1, 2, 3",
)
def _short_conjunctions(tools: Tools) -> Evidence:
    def weighed(k: int) -> Callable[[int], int]:
        return lambda d: _candidates(ConjunctionExponential(d, k, 1.0))

    grown: Grown = {f"d, k = {k}": ([8, 16, 32, 64], weighed(k), k) for k in (1, 2, 3)}
    return _measured(grown, "conjunctions weighed", {})


@derived(
    "STE-Boxd-time",
    "The exponential mechanism over boxes takes time exponential in the dimension, on m points at most m^(2 d).",
    "the exponential mechanism for boxes",
    formula="exponential in d",
    short="Time of the exponential mechanism over boxes, in candidates",
    printed="|D|^(2d)",
    found="m^{in m, d = 1:.2f}, m^{in m, d = 2:.2f} for d = 1, 2",
    best="boxes that hold the same points are weighed together, so that |D| plays no part",
)
def _boxes(tools: Tools) -> Evidence:
    def weighed(d: int) -> Callable[[int], int]:
        return lambda points: _candidates(BoxExponential(2**10, d, 1.0), points)

    grown: Grown = {f"m, d = {d}": ([4, 8, 16, 32], weighed(d), 2 * d) for d in (1, 2)}
    return _measured(grown, "sets of boxes weighed", {})


def _line(learner: Learner, distinct: int) -> int:
    """Return the candidates that a run on so many points of a line, spread over it, weighs; the first is positive."""
    places = np.arange(distinct, dtype=object)[:, None] * (learner.domain.size // distinct)
    return steps_of(learner, learner.domain.sample(places, np.arange(distinct) == 0), 1)


@derived(
    "NIS-Generic-time",
    "The generic learner of points and thresholds runs in polynomial time: it weighs m + 1 cells of a sample of m "
    "distinct points, whatever |X| = 2^d is.",
    "Some PPAC learners, points and thresholds",
    formula="generic PPAC construction: polynomial time",
    short="Time of the generic learner on points and thresholds, in cells weighed",
    printed="polynomial",
    found="points m^{in m, points:.2f} d^{in d, points:.2f}; thresholds m^{in m, thresholds:.2f} "
    "d^{in d, thresholds:.2f}",
    best="m + 1 cells; as printed, a list of the class, 2^d candidates",
)
def _lines(tools: Tools) -> Evidence:
    grown: Grown = {}
    kinds: dict[str, Callable[[int], Learner]] = {
        "points": lambda size: PointExponential(size, 1.0),
        "thresholds": lambda size: ThresholdExponential(size, 1.0),
    }

    def by_bits(name: str) -> Callable[[int], int]:
        return lambda bits: _line(kinds[name](2**bits), 16)

    for name, kind in kinds.items():
        grown[f"m, {name}"] = ([8, 16, 32, 64], partial(_line, kind(2**40)), 1)
        grown[f"d, {name}"] = ([24, 32, 48, 64], by_bits(name), 0)
    return _measured(grown, "cells weighed in a run", {})


def _random_cube(learner: Learner, n: int, literals: int) -> Sample:
    """Return n random examples labelled by the conjunction of the first variables."""
    points = np.random.default_rng(0).integers(0, 2, (n, learner.domain.dimension))
    return learner.domain.sample(points, points[:, :literals].all(axis=1))


@derived(
    "STE-NonPriv-time",
    "Elimination looks at each variable of each positive example once.",
    "non-private algorithm",
    formula="delete all literals that a positive example contradicts",
    short="Time of elimination, in cells of the sample",
    printed="n d",
    found="n^{in n:.2f} d^{in d:.2f}",
)
def _elimination(tools: Tools) -> Evidence:
    def looked(n: int, d: int) -> int:
        learner = ConjunctionElimination(d)
        return steps_of(learner, _random_cube(learner, n, 1), 1)

    grown: Grown = {
        "n": ([2**i for i in range(8, 13)], lambda n: looked(n, 28), 1),
        "d": ([20, 22, 24, 28, 31], lambda d: looked(1024, d), 1),
    }
    return _measured(grown, "cells of positive examples that a run looks at", {"seed": 0})


@derived(
    "KMMS-Greedy-time",
    "The greedy cover without privacy runs in polynomial time: a pass over the sample for each of at most k ln m "
    "literals, and one.",
    "Section 1.1",
    formula="the classical greedy algorithm for set cover",
    short="Time of the greedy cover without privacy, in cells of the sample",
    printed="polynomial",
    found="n^{in n:.2f} d^{in d:.2f} k^{in k:.2f}",
)
def _greedy_cover(tools: Tools) -> Evidence:
    def looked(n: int, d: int, k: int) -> int:
        learner = ConjunctionCover(d, k)
        return steps_of(learner, _random_cube(learner, n, k), 1)

    grown: Grown = {
        "n": ([2**i for i in range(8, 13)], lambda n: looked(n, 28, 3), 1),
        "d": ([20, 22, 24, 28, 31], lambda d: looked(1024, d, 3), 1),
        "k": ([1, 2, 4, 8], lambda k: looked(1024, 28, k), 1),
    }
    return _measured(grown, "cells of the sample that a run looks at", {"seed": 0})


def cells_of_space(points: int, dimension: int) -> int:
    """Return the classes of halfspaces of so many random points, the cells of their dual hyperplanes in both copies."""
    rng = np.random.default_rng(dimension)
    rows = rng.integers(-(2**10), 2**10, (points, dimension))
    return count_sign_patterns(np.insert(rows, dimension, 1, axis=1))


@derived(
    "KMMS-Sec6-time",
    "In R^D, hyperplanes in the place of lines, m points have about m^D classes of halfspaces: exponential in the "
    "dimension, polynomial in m for each.",
    "Section 6",
    formula="the running time depends exponentially on the dimension",
    short="Time in higher dimensions, in classes of halfspaces of a sample",
    printed="exponential in D",
    found="m^{in m, D = 1:.2f}, m^{in m, D = 2:.2f}, m^{in m, D = 3:.2f} classes for D = 1, 2, 3",
    argument="The classes of 64 random points are counted. The runs are of the exponential mechanism over halfspaces, "
    "which lists as many classes as the points of the grid have.",
)
def _dimensions(tools: Tools) -> Evidence:
    sizes = [8, 16, 32, 64]
    grown: Grown = {f"m, D = {d}": (sizes, partial(cells_of_space, dimension=d), d) for d in (1, 2, 3)}
    runs = {f"runs, D = {d}": _candidates(HalfspaceExponential(1, d, 1.0)) for d in (1, 2, 3)}
    # Exponential in the dimension: each one more multiplies the classes by a factor that does not fall to 1.
    counts = [cells_of_space(64, d) for d in (1, 2, 3)]
    factors = [b / a for row in (list(runs.values()), counts) for a, b in pairwise(row)]
    slow = f"factors {factors} from one dimension to the next" if min(factors) < 2 else ""
    return _measured(grown, "classes of halfspaces", {**runs, "seed": 0}, slow)
