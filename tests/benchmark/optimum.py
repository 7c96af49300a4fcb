"""The law of a pair's likelihood ratio for any of the mechanisms, and the best bound possible on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmark.additive_laws import gaussian, laplace_vector
from benchmark.counts import ReleasedCounts
from benchmark.finite_laws import argmax_law, bits_law, counts_law, geometric_law, rappor_law
from benchmark.gap_laws import adaptive_svt, gap_svt
from benchmark.gap_sparse_vector import AdaptiveSVT, GapSVT
from benchmark.gaussian import Gaussian
from benchmark.laplace import Laplace, LaplaceParallel, NoisyHistogram, PrefixSum, SmartSum, TruncatedGeometric
from benchmark.libraries import OpenDPGaussian
from benchmark.noisy_max import NoisyArgmax, NoisyMax
from benchmark.rappor import Rappor
from benchmark.ratio_law import Optimum, RatioLaw, best_bound, best_bound_of_two_sets
from benchmark.sparse_vector import NumericalSVT, SparseVector, SparseVectorPair, SparseVectorValues
from benchmark.value_laws import noisy_max, numerical_svt, sampled_pair, values_svt

__all__ = ["Optimum", "best_bound", "best_bound_of_two_sets", "ratio_law"]


def _scalar(mechanism: Laplace, a: float, b: float) -> RatioLaw:
    return laplace_vector([a], [b], mechanism.scale)


def _parallel(mechanism: LaplaceParallel, a: float, b: float) -> RatioLaw:
    return laplace_vector([a] * mechanism.copies, [b] * mechanism.copies, mechanism.scale)


def _vector(mechanism: NoisyHistogram | PrefixSum, a: Any, b: Any) -> RatioLaw:
    # Running sums are a bijection of the noisy numbers, and keep the ratio.
    return laplace_vector(a, b, mechanism.scale)


def _bits(mechanism: SparseVector, a: Any, b: Any) -> RatioLaw:
    first, second = (np.array(list(bits_law(mechanism, side).values())) for side in (a, b))
    return RatioLaw(first, second)


def _smart_sum(mechanism: SmartSum, a: Any, b: Any) -> RatioLaw:
    first, second = mechanism.terms(a), mechanism.terms(b)
    bare = [i for i in range(len(a)) if mechanism.end_scale == 0 and (i + 1) % mechanism.block == 0]
    if any(first[i] != second[i] for i in bare):
        return RatioLaw(np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    if mechanism.end_scale not in (0, mechanism.scale):
        raise ValueError(f"end_scale must be 0 or the scale, got {mechanism.end_scale!r}")
    return laplace_vector(first, second, mechanism.scale)


def _counts(mechanism: ReleasedCounts, a: Any, b: Any) -> RatioLaw:
    keys = [i for i in range(len(a)) if a[i] != b[i]]
    if len(keys) != 1:
        raise ValueError(f"one count must differ, got {len(keys)}")
    first, second = (counts_law(mechanism, side[keys[0]]) for side in (a, b))
    values = sorted(first.keys() | second.keys())
    p, q = (np.array([law.get(value, 0.0) for value in values]) for law in (first, second))
    return RatioLaw(p, q)


def _gaussian(mechanism: Gaussian, a: float, b: float) -> RatioLaw | None:
    return None if mechanism.raw else gaussian(a, b, mechanism.scale)


LAWS: dict[type, Callable[[Any, Any, Any], RatioLaw | None]] = {
    Laplace: _scalar,
    LaplaceParallel: _parallel,
    NoisyHistogram: _vector,
    PrefixSum: _vector,
    TruncatedGeometric: lambda m, a, b: RatioLaw(geometric_law(m, a), geometric_law(m, b)),
    NoisyArgmax: lambda m, a, b: RatioLaw(argmax_law(m, a), argmax_law(m, b)),
    NoisyMax: noisy_max,
    SparseVector: _bits,
    SparseVectorValues: values_svt,
    SparseVectorPair: sampled_pair,
    NumericalSVT: numerical_svt,
    Gaussian: _gaussian,
    OpenDPGaussian: lambda m, a, b: gaussian(a, b, m.scale),
    SmartSum: _smart_sum,
    GapSVT: gap_svt,
    AdaptiveSVT: adaptive_svt,
    ReleasedCounts: _counts,
    Rappor: lambda m, a, b: RatioLaw(*rappor_law(m, a, b)),
}


def ratio_law(mechanism: Any, data: Any, neighbour: Any) -> RatioLaw | None:
    """Return the law of the likelihood ratio between two inputs, or None where no law is known.

    None is known for noise in doubles as they come, whose law is that of their rounding.
    """
    law = LAWS.get(type(mechanism))
    return None if law is None else law(mechanism, data, neighbour)
