"""The benchmark's rows: mechanism, pair, claim, truth, the best peer's bound and what is asked of dpaudit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from benchmark.counts import ReleasedCounts, leak_of_one
from benchmark.gap_sparse_vector import AdaptiveSVT, GapSVT
from benchmark.gaussian import Gaussian, classic_scale
from benchmark.laplace import (
    Laplace,
    LaplaceParallel,
    NaiveLaplace,
    NoisyHistogram,
    PrefixSum,
    SmartSum,
    TruncatedGeometric,
)
from benchmark.libraries import DiffprivlibGaussian, OpacusGaussian, OpenDPGaussian
from benchmark.noisy_max import NoisyArgmax, NoisyMax
from benchmark.rappor import Rappor
from benchmark.sparse_vector import NumericalSVT, SparseVector, SparseVectorPair, SparseVectorValues

__all__ = ["BENCHMARKS", "Benchmark"]


@dataclass(frozen=True)
class Benchmark:
    """One row.

    Parameters
    ----------
    name : str
        The literature's name.
    mechanism : callable
        ``(data, rng, size) -> outputs``.
    pair : tuple
        The best known neighbouring inputs.
    claimed_epsilon : float
        What its authors claim, at `delta`.
    true_epsilon : float
        The least epsilon with Pr[M(data) in T] <= exp(epsilon) Pr[M(neighbour) in T] + delta for all T and with the
        sides of this pair exchanged; inf where an event of probability above delta is impossible on the other side.
    best_peer : float or None
        The greatest lower bound that another auditor was measured to reach without exceeding the truth; None where
        none is known.
    floor : float or None
        What dpaudit must reach with 2.5e6 runs a side at confidence 0.95; None where nothing is asked.
    float_bits : bool
        Whether the row is about the bits of the outputs, and the audit is to look at them.
    delta : float
        The claim's delta, at which the epsilons are meant.
    requires : str
        The package whose mechanism it is, without which the row is left out; empty if none.
    randomness : {"argument", "own"}
        As for `audit_privacy`.
    """

    name: str
    mechanism: Any
    pair: tuple[Any, Any]
    claimed_epsilon: float
    true_epsilon: float
    best_peer: float | None
    floor: float | None = None
    float_bits: bool = False
    delta: float = 0.0
    requires: str = ""
    randomness: str = "argument"

    @property
    def missing(self) -> bool:
        """Whether the package that it requires is not installed."""
        return bool(self.requires) and find_spec(self.requires) is None


EPSILON = 0.1
HALF = EPSILON / 2
HISTOGRAMS = ((0, 1, 1, 1, 1), (1, 1, 1, 1, 1))
ONE_BELOW_REST_ABOVE = ((1,) * 5, (0, 2, 2, 2, 2))
HALVES = ((1,) * 10, (2,) * 5 + (0,) * 5)

_VALUES_PAIR = SparseVectorPair(
    SparseVectorValues(threshold=1, threshold_scale=1 / HALF, query_scale=2 / HALF, cutoff=2),
    SparseVector(threshold=1, threshold_scale=4 / EPSILON, query_scale=4 / (3 * EPSILON), cutoff=2),
)


def _rappor_claim(mechanism: Rappor, differing: int) -> float:
    """Return the log-ratio of filters that differ in as many bits: ln (q (1 - p)) / (p (1 - q)) for two."""
    p, q = mechanism.report_probabilities()
    return differing / 2 * math.log(q * (1 - p) / (p * (1 - q)))


ONE_UP = ((0,) * 5, (1,) + (0,) * 4)
ALL_BUT_ONE = ((0,) * 10, (1,) * 9 + (-1,))
NUMBERS = (0.0, 1.0)
GAUSSIAN = (
    ("box-muller", 1e-6, 0.783672),
    ("polar", 1e-3, 0.633906),
    ("ziggurat", 0.1, 0.212774),
)
"""Samplers and deltas of Delta-Siege (Lokna et al., CCS 2023) at epsilon 1, and the exact epsilon there."""


def _gauss(sampler: str, delta: float, raw: bool = False) -> Gaussian:
    return Gaussian(classic_scale(1.0, delta), sampler, raw)


def _power(delta: float) -> str:
    return f"1e{round(math.log10(delta))}"


_RAPPOR, _ONE_TIME = Rappor(f=0.75, zero=0.45, one=0.55), Rappor(f=0.95)

BENCHMARKS: tuple[Benchmark, ...] = (
    Benchmark("Laplace 0.1", Laplace(1 / EPSILON), (1.0, 2.0), EPSILON, 0.1, 0.0984, 0.0965),
    Benchmark("Laplace 1", Laplace(1.0), (1.0, 2.0), 1.0, 1.0, 0.9978, 0.993),
    Benchmark("TruncatedGeometric", TruncatedGeometric(5, 3), (2, 1), EPSILON, math.log1p(2**-3), 0.115),
    Benchmark("NoisyHist1", NoisyHistogram(1 / EPSILON), HISTOGRAMS, EPSILON, 0.1, 0.0988),
    Benchmark("NoisyHist2", NoisyHistogram(EPSILON), HISTOGRAMS, EPSILON, 10.0, 9.43, 9.4),
    Benchmark(
        "NoisyMax1",
        NoisyArgmax("laplace", 2 / EPSILON),
        ONE_BELOW_REST_ABOVE,
        EPSILON,
        0.0946149045,
        0.0882,
        0.086,
    ),
    Benchmark("NoisyMax2", NoisyArgmax("exponential", 2 / EPSILON), ONE_BELOW_REST_ABOVE, EPSILON, 0.1, 0.0937),
    Benchmark("NoisyMax3", NoisyMax("laplace", 2 / EPSILON), ((0,) * 5, (1,) * 5), EPSILON, 0.25, 0.2364, 0.228),
    Benchmark("NoisyMax4", NoisyMax("exponential", 2 / EPSILON), ((1,) * 5, (2,) * 5), EPSILON, math.inf, 0.562, 1.0),
    Benchmark("SVT1", SparseVector(0.5, 1 / HALF, 2 / HALF, 1), HALVES, EPSILON, 0.0885257682, 0.0774, 0.070),
    Benchmark(
        "SVT2",
        SparseVector(1, 1 / HALF, 2 / HALF, 1, fresh=True),
        HALVES,
        EPSILON,
        0.0882304217,
        0.0710,
        0.070,
    ),
    # The supremum is a limit, for values far below; inputs (1 ... 1) and (2 ... 2) have 0.5.
    Benchmark("SVT3", SparseVectorValues(1, 1 / HALF, 1 / HALF, 1), HALVES, EPSILON, 0.3, 0.1319, 0.19),
    Benchmark(
        "SVT4",
        SparseVector(1, 4 / EPSILON, 4 / (3 * EPSILON), 1),
        HALVES,
        EPSILON,
        0.1724706993,
        0.1615,
        0.150,
    ),
    Benchmark("SVT5", SparseVector(1, 1 / HALF, 0.0, None), HALVES[::-1], EPSILON, math.inf, 8.99, 10.0),
    Benchmark("SVT6", SparseVector(1, 1 / HALF, 1 / HALF, None), HALVES, EPSILON, 0.4200315452, 0.2684, 0.29),
    Benchmark("RAPPOR", _RAPPOR, (1, 0), _rappor_claim(_RAPPOR, 8), _rappor_claim(_RAPPOR, 6), 0.2942, 0.272),
    Benchmark(
        "OneTimeRAPPOR",
        _ONE_TIME,
        (1, 0),
        _rappor_claim(_ONE_TIME, 8),
        _rappor_claim(_ONE_TIME, 6),
        0.5824,
        0.572,
    ),
    Benchmark("LaplaceParallel", LaplaceParallel(1 / 0.005, 20), (1.0, 0.0), EPSILON, 0.1, 0.0146, 0.03),
    # Each half claims 0.1. The supremum grows without end in the number of queries; this is its value at ten.
    Benchmark("SVT34Parallel", _VALUES_PAIR, HALVES, 2 * EPSILON, 0.4874464, 0.197),
    # The claim is for inputs that differ in one number; here all ten do.
    Benchmark("PrefixSum", PrefixSum(1 / EPSILON), ((1,) * 10, (0,) * 10), EPSILON, 1.0, 0.5397, 0.75),
    Benchmark(
        "NumericalSVT",
        NumericalSVT(1, 3 / EPSILON, 12 / EPSILON, 6 / EPSILON, 2),
        ((2,) * 10, (1,) * 10),
        EPSILON,
        0.0588199971,
        0.0205,
    ),
    Benchmark("NaiveLaplace 0.1", NaiveLaplace(1 / EPSILON), (0.0, 1.0), EPSILON, math.inf, 7.40, float_bits=True),
    # CheckDP (Wang et al., CCS 2020), its algorithms and its form of pair: all answers but the last move up, that down.
    Benchmark("SmartSum", SmartSum(1.0, 3, 1.0), ONE_UP, 2.0, 2.0, None),
    Benchmark("BadSmartSum", SmartSum(1.0, 3, 0.0), ONE_UP, 2.0, math.inf, None),
    Benchmark("GapSVT", GapSVT(1, 2.0, 4.0, 1), ALL_BUT_ONE, 1.0, 0.9650641, None),
    Benchmark("BadGapSVT", SparseVectorValues(1, 2.0, 4.0, 1), ALL_BUT_ONE, 1.0, 2.5, None),
    Benchmark("AdaptiveSVT", AdaptiveSVT(1, 2.0, 8.0, 4.0, 16.0, 1), ALL_BUT_ONE, 1.0, 0.9625825, None),
    Benchmark("BadAdaptiveSVT", AdaptiveSVT(1, 2.0, 8.0, 4.0, 16.0, 1, True), ALL_BUT_ONE, 1.0, 3.5, None),
    *(
        Benchmark(f"Gauss {name} {_power(delta)}", _gauss(name, delta), NUMBERS, 1.0, true, None, delta=delta)
        for name, delta, true in GAUSSIAN
    ),
    *(
        Benchmark(
            f"Gauss {name} {_power(delta)}, doubles",
            _gauss(name, delta, True),
            NUMBERS,
            1.0,
            math.inf,
            None,
            float_bits=True,
            delta=delta,
        )
        for name, delta, _ in GAUSSIAN
    ),
    *(
        Benchmark(
            f"diffprivlib {kind}",
            DiffprivlibGaussian(kind, 0.99, 1e-3),
            (0.0, 1.0),
            0.99,
            true,
            None,
            float_bits=bits,
            delta=1e-3,
            requires="diffprivlib",
        )
        for kind, true, bits in (
            ("Gaussian", math.inf, True),
            ("GaussianAnalytic", math.inf, True),
            ("GaussianDiscrete", 0.99, False),
        )
    ),
    Benchmark(
        "OpenDP Gauss",
        OpenDPGaussian(classic_scale(1.0, 1e-3)),
        NUMBERS,
        1.0,
        GAUSSIAN[1][2],
        None,
        float_bits=True,
        delta=1e-3,
        requires="opendp",
        randomness="own",
    ),
    *(
        Benchmark(
            f"Opacus Gauss{words}",
            OpacusGaussian(classic_scale(1.0, 1e-3), secure),
            NUMBERS,
            1.0,
            math.inf,
            None,
            float_bits=True,
            delta=1e-3,
            requires="opacus",
        )
        for words, secure in (("", False), (", secure", True))
    ),
    # A key of one record is released with probability delta; with a threshold lower by one, e times as often.
    Benchmark(
        "Counts", ReleasedCounts(1.0, 7), ((6, 0, 3), (5, 0, 3)), 1.0, 0.99323925, None, delta=leak_of_one(1.0, 7)
    ),
    Benchmark(
        "Counts, low threshold",
        ReleasedCounts(1.0, 6),
        ((6, 1, 3), (6, 0, 3)),
        1.0,
        math.inf,
        None,
        delta=leak_of_one(1.0, 7),
    ),
)
"""All rows, in the order of the literature's tables; the last have delta > 0."""
