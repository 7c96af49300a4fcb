"""The exact sampler of triangles against full enumeration, and the parts that it is made of."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.stats

from dpaudit.contract import InputError
from dpaudit.seeding import generator
from learners.geometry.arrangement import sweep
from learners.geometry.cells import Bits, area, polygon
from learners.geometry.families import halfplane_family, triangle_family
from learners.geometry.pieces import Pieces
from learners.geometry.refinement import Products
from learners.geometry.snapping import full_grid
from learners.geometry.triangles import TupleSampler, region_of

# Deterministic by seed; under a fresh seed each comparison would fail by chance with probability 1e-6.
LEVEL = 1e-6
RATES = (Fraction(1, 10), Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(2))
CASES = [(side, rate, kind) for side in (1, 2, 3, 4) for rate in RATES for kind in ("right", "cover")]


def right(covered: Any, spoiled: Any) -> Any:
    return covered - spoiled


def cover(covered: Any, spoiled: Any) -> Any:
    return np.minimum(2 * covered - 5, -2 * spoiled)


SCORES = {"right": right, "cover": cover}


def instance(side: int, rate: Fraction, kind: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Distinct points, some with both labels, weights from 1 to 6."""
    rng = generator(1, "triangle instance", side, str(rate), kind)
    grid = [(x, y) for x in range(side + 1) for y in range(side + 1)]
    count = min(len(grid), int(rng.integers(3, 8)))
    points = [grid[i] for i in rng.choice(len(grid), count, replace=False)]
    weights = [(int(a), int(b)) for a, b in rng.integers(0, 4, (count, 2)) * rng.integers(0, 3, (count, 2))]
    return points, weights


def exact_shares(side: int, points: Any, weights: Any, score: Any, rate: Fraction, family: Any) -> Any:
    """Probabilities of all labellings of the grid, from all of them."""
    rows = [x * (side + 1) + y for x, y in points]
    covered, spoiled = family.labels[:, rows].astype(np.int64) @ np.array(weights).T[0], None
    spoiled = family.labels[:, rows].astype(np.int64) @ np.array(weights).T[1]
    logs = family.log_shares + float(rate) * score(covered, spoiled)
    shares = np.exp(logs - logs.max())
    return shares / shares.sum()


def fit(counts: Any, shares: Any) -> float:
    """The p-value of the likelihood-ratio test of fit; cells expected fewer than 20 times are one."""
    expected = shares * counts.sum()
    large = expected >= 20
    seen = np.append(counts[large], counts[~large].sum())
    due = np.append(expected[large], expected[~large].sum())
    if due[-1] < 20:
        top = due[:-1].argmax()
        seen[top], due[top] = seen[top] + seen[-1], due[top] + due[-1]
        seen, due = seen[:-1], due[:-1]
    statistic = 2 * sum(o * math.log(o / e) for o, e in zip(seen, due, strict=True) if o)
    return float(scipy.stats.chi2.sf(statistic, len(due) - 1)) if len(due) > 1 else 1.0


def labelling(side: int, regions: Any) -> bytes:
    """The labels of the grid by the intersection of halfplanes, by their definition."""
    rows = [all(z * y >= z * (a * x + b) for z, a, b in regions) for x in range(side + 1) for y in range(side + 1)]
    return np.array(rows, dtype=np.uint8).tobytes()


def drawn(sampler: TupleSampler, side: int, family: Any, runs: int, seed: Any) -> Any:
    place = {row.tobytes(): i for i, row in enumerate(family.labels)}
    bits, resolve, known = Bits(generator(2, *seed)), region_of(side), {}
    counts = np.zeros(len(family), dtype=np.int64)
    for _ in range(runs):
        regions = sampler.draw(bits, resolve)
        assert list(regions) == sorted(regions)
        if regions not in known:
            known[regions] = place[labelling(side, regions)]
        counts[known[regions]] += 1
    return counts


@pytest.mark.parametrize(("side", "rate", "kind"), CASES)
def test_draws_follow_the_enumerated_law(side: int, rate: Fraction, kind: str) -> None:
    points, weights = instance(side, rate, kind)
    family = triangle_family(side)
    shares = exact_shares(side, points, weights, SCORES[kind], rate, family)
    sampler = TupleSampler(points, weights, side, SCORES[kind], rate)
    assert fit(drawn(sampler, side, family, 800, (side, str(rate), kind)), shares) > LEVEL
