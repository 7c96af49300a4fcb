"""Mechanisms of OpenDP with their claims, as its own privacy maps state them.

A measurement is invoked through Python in half a millisecond, of which the exact sampler takes a sixth; a composition
of a thousand copies of it makes the same runs in a third of the time, which is what ``batched=True`` does.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import opendp.prelude as dp

from examples.cases import Case

__all__ = ["CASES"]

dp.enable_features("contrib", "honest-but-curious", "idealized-numerics")

REAL = dp.atom_domain(T=float, nan=False)
WHOLE = dp.atom_domain(T=int)
PURE = dp.max_divergence()
MANY = [0.1] * 999
"""A sum of them differs from 99.9 in its last digits, by the order of the additions."""


def rows(domain: Any, size: int | None = None) -> Any:
    """Return the space of datasets of rows, by the symmetric distance."""
    return dp.vector_domain(domain, size=size), dp.symmetric_distance()


def real_sum(low: float, high: float, size: int | None = None) -> Any:
    """Return a clamped sum with Laplace noise of the scale of its range."""
    clamped = rows(REAL, size) >> dp.t.then_clamp((low, high)) >> dp.t.then_sum()
    return clamped >> dp.m.then_laplace(scale=high - low)


def whole_sum(kind: str, high: int) -> Any:
    """Return a clamped sum of integers of a narrow type, with noise of the scale of its range."""
    domain = dp.atom_domain(T=kind)
    return rows(domain) >> dp.t.then_clamp((0, high)) >> dp.t.then_sum() >> dp.m.then_laplace(scale=float(high))


def gaussian(delta: float) -> Any:
    """Return Gaussian noise whose loss is converted from zero-concentrated privacy."""
    noise = dp.m.make_gaussian(REAL, dp.absolute_distance(T=float), scale=4.0)
    return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(noise), delta=delta)


def quantile() -> Any:
    """Return the median of a few candidates, by the exponential mechanism."""
    scores = rows(REAL) >> dp.t.then_quantile_score_candidates([0.0, 0.25, 0.5, 0.75, 1.0], alpha=0.5)
    return scores >> dp.m.then_noisy_max(PURE, scale=1.0, negate=True)


def by_key() -> Any:
    """Return counts by key with a threshold, so that a key with one row stays hidden but for delta."""
    return rows(WHOLE) >> dp.t.then_count_by(TV=int) >> dp.m.then_laplace_threshold(scale=1.0, threshold=6)


def imputed_mean() -> Any:
    """Return a mean of rows that may be NaN, resized to five."""
    space = rows(dp.atom_domain(T=float, nan=True)) >> dp.t.then_impute_constant(0.5) >> dp.t.then_clamp((0.0, 1.0))
    return space >> dp.t.then_resize(size=5, constant=0.5) >> dp.t.then_mean() >> dp.m.then_laplace(scale=0.4)


def case(name: str, mechanism: Any, pairs: Any, distance: Any = 1, **told: Any) -> Case:
    """Return a case whose claim is the measurement's own privacy map at a distance of its inputs."""
    loss = mechanism.map(distance)
    epsilon, delta = loss if isinstance(loss, tuple) else (loss, 0.0)
    return Case(name, mechanism, pairs, float(epsilon), float(delta), batched=told.pop("batched", True), **told)


def keys_of(table: dict[int, int]) -> dict[str, int]:
    """Return a table of counts with texts as keys."""
    return {str(key): value for key, value in sorted(table.items())}


def counted_by_key(data: Any, rng: np.random.Generator) -> dict[str, int]:
    """Return one table of counts; a composition of copies cannot return tables."""
    return keys_of(BY_KEY.invoke(data))


def refusing_sum(data: Any, rng: np.random.Generator) -> float:
    """Return a sum of rows that must not be NaN: OpenDP raises where one is."""
    return float(SUM.invoke(data))


LAPLACE = dp.m.make_laplace(REAL, dp.absolute_distance(T=float), scale=1.0)
LAPLACE_WHOLE = dp.m.make_laplace(WHOLE, dp.absolute_distance(T=int), scale=1.0)
BOUNDED = dp.m.make_geometric(WHOLE, dp.absolute_distance(T=int), scale=1.0, bounds=(0, 10))
TOP = dp.m.make_noisy_max(dp.vector_domain(WHOLE), dp.linf_distance(T=int), PURE, scale=1.0)
BY_KEY = by_key()
CATEGORIES = rows(WHOLE) >> dp.t.then_count_by_categories(categories=[1, 2, 3]) >> dp.m.then_laplace(scale=1.0)
MEAN = rows(REAL, 10) >> dp.t.then_clamp((0.0, 1.0)) >> dp.t.then_mean() >> dp.m.then_laplace(scale=0.1)
VARIANCE = rows(REAL, 10) >> dp.t.then_clamp((0.0, 1.0)) >> dp.t.then_variance() >> dp.m.then_laplace(scale=0.1)
COUNT = rows(WHOLE) >> dp.t.then_count() >> dp.m.then_laplace(scale=1.0)
SUM = real_sum(0.0, 1.0)
NAN = "NaN among the rows"
MOST = 2**31 - 1
TENS = [([0.0] * 10, [0.0] * 9 + [1.0]), ([0.5] * 10, [0.5] * 9 + [1.0])]
LARGE = [([2.0**53, *[1.0] * 20], [1.0] * 20), ([*[1.0] * 20, 2.0**53], [1.0] * 20)]

CASES = (
    case("laplace, float", LAPLACE, [(0.0, 1.0), (0.1, 1.1)], 1.0, looks_for="the bits of floats"),
    case("laplace, its bits", LAPLACE, [(0.0, 1.0), (0.1, 1.1)], 1.0, looks_for="the bits of floats", float_bits=True),
    case("laplace, NaN", LAPLACE, [(math.nan, 1.0), (math.nan, -1.0)], 1.0, looks_for="NaN", inside=False),
    case("laplace, int", LAPLACE_WHOLE, [(0, 1), (MOST - 1, MOST)], looks_for="integer overflow"),
    case("gaussian with delta", gaussian(1e-3), [(0.0, 1.0)], 1.0),
    case("geometric, bounded", BOUNDED, [(0, 1), (10, 9)], looks_for="the atoms at the bounds"),
    case("sum of floats", SUM, [(MANY, [*MANY, 1.0]), ([], [1.0])], looks_for="rounding, empty data"),
    case("sum of large floats", real_sum(0.0, 2.0**53), LARGE, looks_for="additions that lose ones"),
    case(
        "sum of int32",
        whole_sum("i32", 2**30),
        [([2**30] * 2, [2**30]), ([2**30] * 3, [2**30] * 2)],
        looks_for="integer overflow",
    ),
    case("count", COUNT, [([1] * 5, [1] * 4), ([], [1])], looks_for="empty data"),
    case("mean of ten", MEAN, TENS, 2),
    case("variance of ten", VARIANCE, TENS, 2),
    case("counts by category", CATEGORIES, [([1, 1, 2], [1, 2]), ([3], [])], looks_for="empty groups"),
    Case(
        "counts by key, threshold",
        counted_by_key,
        [([1] * 20 + [2], [1] * 20), ([1] * 6 + [2] * 6, [1] * 6 + [2] * 5)],
        epsilon=float(BY_KEY.map(1)[0]),
        delta=float(BY_KEY.map(1)[1]),
        looks_for="keys that become empty",
    ),
    case("randomized response", dp.m.make_randomized_response_bool(prob=0.75), [(False, True)]),
    case("randomized response, four", dp.m.make_randomized_response([1, 2, 3, 4], prob=0.6), [(1, 2), (4, 1)]),
    case("noisy max", TOP, [([1, 1, 1], [2, 0, 0]), ([0, 0, 0], [1, 0, 0])], looks_for="ties"),
    case(
        "median of candidates", quantile(), [([0.0, 1.0], [0.0, 1.0, 1.0]), ([], [0.5])], looks_for="ties, empty data"
    ),
    case(
        "mean, NaN imputed", imputed_mean(), [([math.nan] + [0.0] * 4, [0.0] * 4), ([1.0], [math.nan])], looks_for=NAN
    ),
    Case(
        "sum, NaN refused",
        refusing_sum,
        [([math.nan, 0.5], [0.5])],
        float(SUM.map(1)),
        looks_for=NAN,
        trials=200,  # a refusal takes a sixth of a second
        inside=False,
    ),
)
