"""The law of a pair's likelihood ratio for any of the mechanisms, and the best bound possible on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmark.additive_laws import laplace_vector
from benchmark.finite_laws import argmax_law, bits_law, geometric_law, rappor_law
from benchmark.laplace import Laplace, LaplaceParallel, NoisyHistogram, PrefixSum, TruncatedGeometric
from benchmark.noisy_max import NoisyArgmax, NoisyMax
from benchmark.rappor import Rappor
from benchmark.ratio_law import RatioLaw, best_bound
from benchmark.sparse_vector import NumericalSVT, SparseVector, SparseVectorPair, SparseVectorValues
from benchmark.value_laws import noisy_max, numerical_svt, sampled_pair, values_svt

__all__ = ["best_bound", "ratio_law"]


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


LAWS: dict[type, Callable[[Any, Any, Any], RatioLaw]] = {
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
    Rappor: lambda m, a, b: RatioLaw(*rappor_law(m, a, b)),
}


def ratio_law(mechanism: Any, data: Any, neighbour: Any) -> RatioLaw | None:
    """Return the law of the likelihood ratio between two inputs, or None where no law is known.

    None is known for `NaiveLaplace`, whose law is that of the rounding of doubles.
    """
    law = LAWS.get(type(mechanism))
    return None if law is None else law(mechanism, data, neighbour)
