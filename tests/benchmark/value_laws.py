"""Likelihood ratios of the mechanisms that mix flags and values, or return a noisy maximum."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from benchmark.additive_laws import clipped, convolve_power
from benchmark.finite_laws import bits_law
from benchmark.noise import Array
from benchmark.noisy_max import NoisyMax
from benchmark.quadrature import exponential_log_cdf, laplace_cdf, laplace_density, laplace_log_cdf
from benchmark.ratio_law import RatioLaw
from benchmark.sparse_vector import (
    BELOW,
    ENDED,
    NumericalSVT,
    SparseVector,
    SparseVectorPair,
    SparseVectorValues,
    patterns,
)

__all__ = [
    "noisy_max",
    "numerical_svt",
    "pair_log_ratio",
    "sampled_pair",
    "values_log_ratio",
    "values_supremum",
    "values_svt",
]

STEP = 0.05
"""The widest cells; there are at least 400 of them to a scale of the threshold's noise."""
LOG_CDF = {"laplace": laplace_log_cdf, "exponential": exponential_log_cdf}


def noisy_max(mechanism: NoisyMax, data: Sequence[float], neighbour: Sequence[float]) -> RatioLaw:
    """Return cells of the maximum, whose distribution function is the product of F(t - a_i).

    Cells are even between the least and the greatest a_i, and grow outside with the distance from them, so
    that events of tiny probability next to an end of the support are resolved.
    """
    low, high = min(*data, *neighbour), max(*data, *neighbour)
    away = np.geomspace(1e-4, 40.0, 4000) * mechanism.scale
    edges = np.concatenate([low - away[::-1], np.linspace(low, high, 4001), high + away])
    log_cdf = LOG_CDF[mechanism.noise]

    def masses(answers: Sequence[float]) -> Array:
        log_below = np.sum([log_cdf(edges - a, mechanism.scale) for a in answers], axis=0)
        below, above = np.exp(log_below), -np.expm1(log_below)
        # Each tail from its own side: differences of numbers next to 1 have no digits left.
        from_below = np.diff(below, prepend=0.0, append=1.0)
        from_above = -np.diff(above, prepend=1.0, append=0.0)
        cells: Array = np.where(np.append(below, 1.0) < 0.5, from_below, from_above)
        return cells

    return RatioLaw(masses(data), masses(neighbour), "numeric")


def values_svt(mechanism: SparseVectorValues, data: Sequence[float], neighbour: Sequence[float]) -> RatioLaw:
    """Return cells (position of the value, interval of the value) of one-answer sparse vector with values.

    The density of the first value v, at position k, is f(v - a_k) times the integral over r <= v - threshold
    of the density of r times the product over i < k of F(threshold + r - a_i).
    """
    if mechanism.cutoff != 1:
        raise ValueError(f"cutoff must be 1, got {mechanism.cutoff!r}: more values make more dimensions")
    grid = _grid(mechanism)

    def masses(answers: Sequence[float]) -> Array:
        cells = [
            laplace_density(mechanism.threshold + grid - answer, mechanism.query_scale)
            * _step(mechanism)
            * _cumulative(mechanism, answers[:k], grid)
            for k, answer in enumerate(answers)
        ]
        none = _cumulative(mechanism, answers, grid)[-1:]
        return np.concatenate([*cells, none])

    return RatioLaw(masses(data), masses(neighbour), "numeric")


def numerical_svt(mechanism: NumericalSVT, data: Sequence[float], neighbour: Sequence[float]) -> RatioLaw:
    """Return cells (bits, level of the values' ratio): given the bits, every value adds a clipped ratio."""
    shifts = {abs(a - b) for a, b in zip(data, neighbour, strict=True)}
    if len(shifts) != 1:
        raise ValueError(f"all queries must differ by one and the same amount, got {sorted(shifts)}")
    values = clipped(shifts.pop(), mechanism.value_scale, 500)
    bits = SparseVector(mechanism.threshold, mechanism.threshold_scale, mechanism.query_scale, mechanism.cutoff)

    def masses(answers: Sequence[float], value: Array) -> Array:
        law = bits_law(bits, answers)
        return np.concatenate([chance * convolve_power(value, row.count(1)) for row, chance in law.items()])

    return RatioLaw(masses(data, values[0]), masses(neighbour, values[1]), "numeric")


def sampled_pair(
    mechanism: SparseVectorPair,
    data: Sequence[float],
    neighbour: Sequence[float],
    runs: int = 200_000,
    seed: int = 0,
) -> RatioLaw:
    """Return a seeded sample of the ratio's law, `runs` outputs of each input, with the ratio's supremum.

    The 2 `runs` outputs are a sample of the mixture of both laws, so with log-ratio L an output stands for
    the mass 1 / (1 + exp(-L)) / runs of the first law and 1 / (1 + exp(L)) / runs of the second. On the
    benchmark's pair the best bound at 2.5e6 runs then has a standard deviation of 0.002 from seed to seed,
    about a mean of 0.3217.
    """
    rng = np.random.default_rng(seed)
    log_ratio = np.concatenate(
        [pair_log_ratio(mechanism, mechanism(side, rng, runs), data, neighbour) for side in (data, neighbour)]
    )
    ways = ((data, neighbour), (neighbour, data))
    supremum = max(values_supremum(mechanism.values, *way) + _bits_supremum(mechanism.bits, *way) for way in ways)
    p, q = 1 / (1 + np.exp(-log_ratio)) / runs, 1 / (1 + np.exp(log_ratio)) / runs
    return RatioLaw(p, q, "statistical", supremum)


def _bits_supremum(mechanism: SparseVector, data: Sequence[float], neighbour: Sequence[float]) -> float:
    first, second = bits_law(mechanism, data), bits_law(mechanism, neighbour)
    return max(float(np.log(first[row] / second[row])) for row in first)


def values_supremum(mechanism: SparseVectorValues, data: Sequence[float], neighbour: Sequence[float]) -> float:
    """Return the supremum of ln p/q over the outputs of `SparseVectorValues`.

    Given the positions and the least value m, one value equals m and the others are free at or above m. The
    term ln f(v - a) / f(v - a') ascends with v where a > a' (its best is a large v), and descends where
    a < a' (its best is m).
    """
    grid = _grid(mechanism)
    best = -np.inf
    for row in patterns(len(data), mechanism.cutoff):
        hidden = [i for i, bit in enumerate(row) if bit == 0]
        first, second = (_cumulative(mechanism, [side[i] for i in hidden], grid) for side in (data, neighbour))
        log_ratio = np.log(first) - np.log(second)
        shown = [i for i, bit in enumerate(row) if bit == 1]
        if not shown:
            best = max(best, float(log_ratio[-1]))
            continue
        least = mechanism.threshold + grid
        gains = [_gains(least, data[i], neighbour[i], mechanism.query_scale) for i in shown]
        freely = sum(free for _, free in gains)
        best = max(best, *(float((log_ratio + freely - free + fixed).max()) for fixed, free in gains))
    return best


def _gains(value: Array, a: float, b: float, scale: float) -> tuple[Array, Array]:
    """Return what ln f(v - a) / f(v - b) is at every `value`, and its greatest value at or above it."""
    fixed = (np.abs(value - b) - np.abs(value - a)) / scale
    return fixed, np.full_like(value, (a - b) / scale) if a > b else fixed


def pair_log_ratio(
    mechanism: SparseVectorPair, outputs: Array, data: Sequence[float], neighbour: Sequence[float]
) -> Array:
    """Return ln of the likelihood ratio of every output: the two halves are independent."""
    half = outputs.shape[1] // 2
    laws = [bits_law(mechanism.bits, answers) for answers in (data, neighbour)]
    ratio = {row: np.log(p / laws[1][row]) for row, p in laws[0].items()}
    rows, which = _distinct(outputs[:, half:].astype(int))
    bits = np.array([ratio[tuple(row)] for row in rows.tolist()])[which]
    total: Array = bits + values_log_ratio(mechanism.values, outputs[:, :half], data, neighbour)
    return total


def values_log_ratio(
    mechanism: SparseVectorValues, outputs: Array, data: Sequence[float], neighbour: Sequence[float]
) -> Array:
    """Return ln of the likelihood ratio of every output of `SparseVectorValues`, whatever its cutoff.

    The density of values v_k at the positions above is the product of f(v_k - a_k) times the integral over
    r <= min v_k - threshold as in `values_svt`, the product running over the positions below.
    """
    below, above = outputs == BELOW, (outputs != BELOW) & (outputs != ENDED)
    distance = [np.where(above, np.abs(outputs - np.array(a)), 0.0).sum(axis=1) for a in (data, neighbour)]
    total: Array = (distance[1] - distance[0]) / mechanism.query_scale
    ceiling = np.where(above, outputs, np.inf).min(axis=1) - mechanism.threshold
    grid = _grid(mechanism)
    rows, which = _distinct(below.astype(int))
    for i, row in enumerate(rows):
        here = np.flatnonzero(which == i)
        logs = [
            np.log(_cumulative(mechanism, [a for a, b in zip(side, row, strict=True) if b], grid))
            for side in (data, neighbour)
        ]
        total[here] += np.interp(ceiling[here], grid, logs[0] - logs[1])
    return total


def _distinct(rows: Array) -> tuple[Array, Array]:
    """Return the distinct rows of integers in {-1, 0, 1}, and which of them each row is."""
    packed = (rows + 1) @ 3 ** np.arange(rows.shape[1])
    _, first, which = np.unique(packed, return_index=True, return_inverse=True)
    return rows[first], which


def _step(mechanism: SparseVectorValues) -> float:
    """Return the width of cells, a whole number of which fits into 1."""
    return 1 / math.ceil(max(1 / STEP, 400 / mechanism.threshold_scale))


def _grid(mechanism: SparseVectorValues) -> Array:
    """Return the midpoints of cells that end at every integer, over the threshold's noise."""
    reach = np.ceil(30 * mechanism.threshold_scale)
    step = _step(mechanism)
    middles: Array = (np.arange(round(2 * reach / step)) + 0.5) * step - reach
    return middles


def _cumulative(mechanism: SparseVectorValues, below: Sequence[float], grid: Array) -> Array:
    """Return, at the middle of every cell, the integral up to there over the threshold's noise."""
    density = laplace_density(grid, mechanism.threshold_scale)
    for answer in below:
        density = density * laplace_cdf(mechanism.threshold + grid - answer, mechanism.query_scale)
    masses = density * _step(mechanism)
    return np.cumsum(masses) - masses / 2
