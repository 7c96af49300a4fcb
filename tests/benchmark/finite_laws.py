"""Exact laws of the mechanisms with finitely many outputs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import product

import numpy as np

from benchmark.counts import HIDDEN, ReleasedCounts
from benchmark.laplace import TruncatedGeometric
from benchmark.noise import Array
from benchmark.noisy_max import NoisyArgmax
from benchmark.quadrature import (
    exponential_cdf,
    exponential_density,
    laplace_cdf,
    laplace_density,
    nodes,
)
from benchmark.rappor import Rappor
from benchmark.sparse_vector import SparseVector, patterns

__all__ = ["argmax_law", "bits_law", "counts_law", "crossing_probability", "geometric_law", "rappor_law"]

DENSITY = {"laplace": laplace_density, "exponential": exponential_density}
CDF = {"laplace": laplace_cdf, "exponential": exponential_cdf}


def geometric_law(mechanism: TruncatedGeometric, data: int) -> Array:
    """Return Pr[z] = (F(z) - F(z - 1)) / D for z = 0 .. maximum."""
    steps = np.diff([0, *mechanism.cumulative(data)])
    return steps / mechanism.denominator


def argmax_law(mechanism: NoisyArgmax, data: Sequence[float]) -> Array:
    """Return, for every i, the integral of f(x - a_i) times the product over j != i of F(x - a_j)."""
    x, weights = nodes(data, mechanism.scale)
    density, cdf = DENSITY[mechanism.noise], CDF[mechanism.noise]
    below = np.array([cdf(x - a, mechanism.scale) for a in data])
    probabilities = [
        weights * density(x - a, mechanism.scale) * np.delete(below, i, axis=0).prod(axis=0) for i, a in enumerate(data)
    ]
    return np.array([p.sum() for p in probabilities])


def crossing_probability(
    mechanism: SparseVector, answers: Sequence[float], bits: Sequence[int], ceiling: float = np.inf
) -> float:
    """Return the probability of the given answers, while the threshold's noise is at most `ceiling`.

    Given the noise r of the threshold the answers are independent: query i is below with probability
    F(threshold + r - a_i), F being the distribution function of the queries' noise.
    """
    levels = tuple(a - mechanism.threshold for a in answers)
    r, mass, sides = _conditions(levels, mechanism.threshold_scale, mechanism.query_scale)
    mass = mass * (r <= ceiling)
    for side, bit in zip(sides, bits, strict=True):
        mass = mass * side[bool(bit)]
    return float(mass.sum())


@lru_cache(maxsize=64)
def _conditions(
    levels: tuple[float, ...], threshold_scale: float, query_scale: float
) -> tuple[Array, Array, list[tuple[Array, Array]]]:
    """Return the noise of the threshold, its weights, and given it the probabilities of "below" and "above"."""
    r, weights = nodes([0.0, *levels], threshold_scale)
    # 1 - F(gap) = F(-gap) for symmetric noise (no node meets a tie), and tails keep their digits.
    sides = [(laplace_cdf(r - level, query_scale), laplace_cdf(level - r, query_scale)) for level in levels]
    return r, weights * laplace_density(r, threshold_scale), sides


def bits_law(mechanism: SparseVector, data: Sequence[float]) -> dict[tuple[int, ...], float]:
    """Return the probability of every output; with `fresh`, runs between answers above are independent."""
    return {bits: _probability(mechanism, data, bits) for bits in patterns(len(data), mechanism.cutoff)}


def _probability(mechanism: SparseVector, data: Sequence[float], bits: tuple[int, ...]) -> float:
    seen = bits.index(-1) if -1 in bits else len(bits)
    starts = [0, *(i + 1 for i in range(seen) if bits[i] == 1)] if mechanism.fresh else [0]
    total = 1.0
    for start, stop in zip(starts, [*starts[1:], seen], strict=True):
        if start < stop:
            total *= crossing_probability(mechanism, data[start:stop], bits[start:stop])
    return total


def rappor_law(mechanism: Rappor, data: int, neighbour: int) -> tuple[Array, Array]:
    """Return the probabilities under both inputs of the reports on the bits in which their filters differ."""
    zero, one = mechanism.report_probabilities()
    filters = [mechanism.filter(value) for value in (data, neighbour)]
    differ = filters[0] != filters[1]
    reports = np.array(list(product((0, 1), repeat=int(differ.sum()))), dtype=np.bool_)
    chances = [np.where(bits[differ], one, zero) for bits in filters]
    first, second = (np.where(reports, c, 1 - c).prod(axis=1) for c in chances)
    return first, second


def counts_law(mechanism: ReleasedCounts, count: int) -> dict[int, float]:
    """Return the probability of everything that the mechanism outputs for one key; 60 scales up ends the table."""
    if count == 0:
        return {HIDDEN: 1.0}
    ratio, reach = math.exp(-mechanism.epsilon), math.ceil(60 / mechanism.epsilon)
    first, last = mechanism.threshold, max(mechanism.threshold, count) + reach
    law = {value: (1 - ratio) / (1 + ratio) * ratio ** abs(value - count) for value in range(first, last)}
    law[last] = ratio ** (last - count) / (1 + ratio)
    return {**law, HIDDEN: 1 - math.fsum(law.values())}
