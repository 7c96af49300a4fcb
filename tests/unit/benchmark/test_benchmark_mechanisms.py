"""The benchmark's mechanisms follow their definitions: exact laws, shapes, determinism."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from benchmark import BENCHMARKS, Benchmark
from benchmark.counts import HIDDEN, ReleasedCounts, leak_of_one
from benchmark.finite_laws import argmax_law, bits_law, counts_law, geometric_law
from benchmark.gap_sparse_vector import AdaptiveSVT, GapSVT
from benchmark.gaussian import BASE, SAMPLERS, Gaussian, classic_scale
from benchmark.laplace import Laplace, LaplaceParallel, NoisyHistogram, PrefixSum, SmartSum, TruncatedGeometric
from benchmark.noisy_max import NoisyArgmax, NoisyMax
from benchmark.quadrature import exponential_cdf, laplace_cdf
from benchmark.rappor import Rappor, bloom_bits, murmur3_32
from benchmark.sparse_vector import (
    ABORTED,
    BELOW,
    ENDED,
    NumericalSVT,
    SparseVector,
    SparseVectorPair,
    SparseVectorValues,
    patterns,
)
from scipy import stats

RUNS = 200_000
ALARM = 1e-7
"""False-alarm rate of one test of one batch of runs; the file makes fewer than 200 of them."""

ROWS = {row.name: row for row in BENCHMARKS}
WIDTH = {
    "Laplace 0.1": None, "Laplace 1": None, "TruncatedGeometric": None, "NoisyHist1": 5, "NoisyHist2": 5,
    "NoisyMax1": None, "NoisyMax2": None, "NoisyMax3": None, "NoisyMax4": None, "SVT1": 10, "SVT2": 10,
    "SVT3": 10, "SVT4": 10, "SVT5": 10, "SVT6": 10, "RAPPOR": 20, "OneTimeRAPPOR": 20, "LaplaceParallel": 20,
    "SVT34Parallel": 20, "PrefixSum": 10, "NumericalSVT": 10, "NaiveLaplace 0.1": None,
    "SmartSum": 5, "BadSmartSum": 5, "GapSVT": 10, "BadGapSVT": 10, "AdaptiveSVT": 20, "BadAdaptiveSVT": 20,
    "Gauss box-muller 1e-6": None, "Gauss polar 1e-3": None, "Gauss ziggurat 1e-1": None,
    "Gauss box-muller 1e-6, doubles": None, "Gauss polar 1e-3, doubles": None, "Gauss ziggurat 1e-1, doubles": None,
    "diffprivlib Gaussian": None, "diffprivlib GaussianAnalytic": None, "diffprivlib GaussianDiscrete": None,
    "OpenDP Gauss": None, "Opacus Gauss": None, "Opacus Gauss, secure": None, "Counts": 3, "Counts, low threshold": 3,
}  # fmt: skip


def draw(mechanism: Any, data: Any, runs: int = RUNS, seed: int = 1) -> Any:
    return mechanism(data, np.random.default_rng(seed), runs)


def assert_frequencies(seen: Mapping[Any, int], law: Mapping[Any, float], runs: int = RUNS) -> None:
    """Each count is binomial: alarm if a two-sided exact tail is below ALARM over the number of outcomes."""
    assert set(seen) <= set(law)
    counts = np.array([seen.get(outcome, 0) for outcome in law])
    chances = np.array(list(law.values()))
    assert chances.sum() == pytest.approx(1, abs=1e-12)
    tails = np.minimum(stats.binom.sf(counts - 1, runs, chances), stats.binom.cdf(counts, runs, chances))
    worst = int(np.argmin(tails))
    assert tails[worst] > ALARM / 2 / len(law), (list(law)[worst], counts[worst], runs * chances[worst])


def assert_distribution(values: Any, cdf: Callable[[Any], Any]) -> None:
    """Kolmogorov-Smirnov; the grid of 2^-20 moves the statistic by less than 1e-6."""
    assert stats.kstest(values, cdf).pvalue > ALARM


def test_the_rows_are_those_of_the_literature() -> None:
    assert list(ROWS) == list(WIDTH)


@pytest.mark.parametrize("row", [r for r in BENCHMARKS if not r.requires], ids=lambda row: row.name)
def test_shapes_determinism_and_pickles(row: Benchmark) -> None:
    mechanism = pickle.loads(pickle.dumps(row.mechanism))
    assert mechanism == row.mechanism
    width = WIDTH[row.name]
    for data in row.pair:
        first, again, other = (
            draw(m, data, 500, seed) for m, seed in ((row.mechanism, 3), (mechanism, 3), (mechanism, 4))
        )
        assert first.shape == ((500,) if width is None else (500, width))
        assert first.dtype.kind in "if"
        np.testing.assert_array_equal(first, again)
        assert (first != other).any()
        assert draw(row.mechanism, data, 1).shape[0] == 1


@pytest.mark.parametrize(
    "row", [r for r in BENCHMARKS if not r.float_bits and not r.requires], ids=lambda row: row.name
)
def test_values_lie_on_a_grid_without_negative_zero(row: Benchmark) -> None:
    for data in row.pair:
        values = draw(row.mechanism, data, 2000).astype(float) * 2**20
        assert (values == np.round(values)).all()
        assert not np.signbit(values[values == 0]).any()


def test_naive_doubles_leak_in_their_low_bits() -> None:
    # 1 + x is a multiple of 2^-53 for every double x: exactly so for x in [-2, -1/2], by rounding elsewhere.
    naive = ROWS["NaiveLaplace 0.1"].mechanism
    at_zero, at_one = (draw(naive, data) * 2.0**53 for data in (0.0, 1.0))
    assert (at_one == np.round(at_one)).all()
    assert (at_zero != np.round(at_zero)).mean() > 0.01


@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0])
def test_laplace(scale: float) -> None:
    assert_distribution(draw(Laplace(scale), 2.0), lambda y: laplace_cdf(y - 2.0, scale))


def assert_independent_columns(columns: Any) -> None:
    """Correlations of n independent pairs have variance 1/n: 7 standard deviations, below 3e-12 a pair."""
    width = columns.shape[1]
    off = np.corrcoef(columns, rowvar=False)[np.triu_indices(width, 1)]
    assert (np.abs(off) < 7 / np.sqrt(len(columns))).all()


@pytest.mark.parametrize(
    ("mechanism", "data", "centres", "scale"),
    [
        (LaplaceParallel(200.0, 3), 1.0, (1.0, 1.0, 1.0), 200.0),
        (NoisyHistogram(0.1), (0, 1, 4), (0, 1, 4), 0.1),
        (PrefixSum(10.0), (1, 0, 3), (1, 0, 3), 10.0),
    ],
)
def test_vectors_of_laplace_noise(mechanism: Any, data: Any, centres: Sequence[float], scale: float) -> None:
    outputs = draw(mechanism, data, 50_000)
    if isinstance(mechanism, PrefixSum):
        outputs = np.diff(outputs, axis=1, prepend=0.0)
    assert_independent_columns(np.abs(outputs - np.array(centres)))
    assert_independent_columns(outputs)
    for column, centre in zip(outputs.T, centres, strict=True):
        assert_distribution(column - centre, lambda y: laplace_cdf(y, scale))


def test_the_truncated_geometric_mechanism() -> None:
    mechanism = TruncatedGeometric(5, 3)
    assert mechanism.denominator == 111_537
    for count in range(6):
        steps = mechanism.cumulative(count)
        assert steps == sorted(steps)
        assert len(steps) == 6
        assert steps[0] > 0
        law = dict(enumerate(geometric_law(mechanism, count)))
        # Inside the range it is a two-sided geometric law of ratio 8/9; the ends hold the tails.
        inner = [law[z + 1] / law[z] for z in range(1, 4)]
        assert inner == pytest.approx([9 / 8 if z < count else 8 / 9 for z in range(1, 4)], rel=1e-12)
        assert_frequencies(Counter(draw(mechanism, count).tolist()), law)
    # The mechanism is the same from both ends of its range.
    np.testing.assert_allclose(geometric_law(mechanism, 1), geometric_law(mechanism, 4)[::-1], rtol=1e-15)


@pytest.mark.parametrize("noise", ["laplace", "exponential"])
@pytest.mark.parametrize("data", [(1,) * 5, (0, 2, 2, 2, 2), (30, 0, 12)])
def test_noisy_argmax(noise: str, data: Sequence[float]) -> None:
    mechanism = NoisyArgmax(noise, 20.0)
    assert_frequencies(Counter(draw(mechanism, data).tolist()), dict(enumerate(argmax_law(mechanism, data))))


@pytest.mark.parametrize(("noise", "cdf"), [("laplace", laplace_cdf), ("exponential", exponential_cdf)])
def test_noisy_max(noise: str, cdf: Callable[..., Any]) -> None:
    data = (0, 2, 7)
    outputs = draw(NoisyMax(noise, 20.0), data)
    assert_distribution(outputs, lambda t: np.prod([cdf(t - a, 20.0) for a in data], axis=0))


BIT_ROWS = ["SVT1", "SVT2", "SVT4", "SVT5", "SVT6"]


@pytest.mark.parametrize("name", BIT_ROWS)
def test_sparse_vector_bits(name: str) -> None:
    for data in ROWS[name].pair:
        mechanism = ROWS[name].mechanism
        seen = Counter(map(tuple, draw(mechanism, data).tolist()))
        assert_frequencies(seen, bits_law(mechanism, data))


@pytest.mark.parametrize("fresh", [False, True])
def test_sparse_vector_bits_with_two_answers(fresh: bool) -> None:
    mechanism, data = SparseVector(1, 20.0, 5.0, 2, fresh=fresh), (1, 30, 0, 25, 2)
    seen = Counter(map(tuple, draw(mechanism, data).tolist()))
    assert_frequencies(seen, bits_law(mechanism, data))
    # Drawing the threshold again changes the law: one law must not pass for the other.
    other = bits_law(SparseVector(1, 20.0, 5.0, 2, fresh=not fresh), data)
    with pytest.raises(AssertionError):
        assert_frequencies(seen, other)


def test_patterns() -> None:
    assert list(patterns(2, 1)) == [(0, 0), (0, 1), (1, ABORTED)]
    assert len(list(patterns(10, None))) == 1024
    assert len(list(patterns(10, 2))) == 1 + 10 + 45


def one_run(mechanism: Any, data: Sequence[float], rng: np.random.Generator) -> list[float]:
    """The definitions, one run and one query at a time: the slow twin of the mechanisms with values."""
    level = mechanism.threshold + rng.laplace(0, mechanism.threshold_scale)
    numerical = isinstance(mechanism, NumericalSVT)
    outputs: list[float] = []
    count = 0
    for answer in data:
        noisy = answer + rng.laplace(0, mechanism.query_scale)
        if count == mechanism.cutoff:
            outputs.append(-1000.0 if numerical else -2000.0)
        elif noisy >= level:
            outputs.append(answer + rng.laplace(0, mechanism.value_scale) if numerical else noisy)
            count += 1
        else:
            outputs.append(0.0 if numerical else -1000.0)
    return outputs


@pytest.mark.parametrize(
    "mechanism",
    [
        SparseVectorValues(1, 20.0, 20.0, 1),
        SparseVectorValues(1, 20.0, 8.0, 2),
        NumericalSVT(1, 30.0, 12.0, 60.0, 2),
    ],
)
def test_sparse_vector_values(mechanism: Any) -> None:
    data, runs = (1, 12, -4, 9), 8_000
    rng = np.random.default_rng(5)
    slow = np.array([one_run(mechanism, data, rng) for _ in range(runs)])
    fast = draw(mechanism, data, runs)
    flags = [0.0] if isinstance(mechanism, NumericalSVT) else [BELOW]
    ended = BELOW if isinstance(mechanism, NumericalSVT) else ENDED

    def bits(outputs: Any) -> Any:
        return np.where(outputs == ended, ABORTED, ~np.isin(outputs, flags)).tolist()

    law = bits_law(SparseVector(1, mechanism.threshold_scale, mechanism.query_scale, mechanism.cutoff), data)
    for outputs in (slow, fast):
        assert_frequencies(Counter(map(tuple, bits(outputs))), law, runs)
    # Values by position, and the sum of all values in a run, which feels their dependence: two-sample tests.
    shown = [~np.isin(outputs, [*flags, ended]) for outputs in (slow, fast)]
    for i in range(len(data)):
        assert stats.ks_2samp(slow[shown[0][:, i], i], fast[shown[1][:, i], i]).pvalue > ALARM
    sums = [np.where(where, outputs, 0.0).sum(axis=1) for where, outputs in zip(shown, (slow, fast), strict=True)]
    assert stats.ks_2samp(*sums).pvalue > ALARM


def test_the_pair_of_sparse_vectors_is_both_side_by_side() -> None:
    values, bits = SparseVectorValues(1, 20.0, 40.0, 2), SparseVector(1, 40.0, 13.0, 2)
    data = (1, 30, 0, 25, 2)
    outputs = draw(SparseVectorPair(values, bits), data)
    assert_frequencies(Counter(map(tuple, outputs[:, 5:].astype(int).tolist())), bits_law(bits, data))
    shown = np.where(outputs[:, :5] == ENDED, ABORTED, outputs[:, :5] != BELOW)
    assert_frequencies(Counter(map(tuple, shown.tolist())), bits_law(SparseVector(1, 20.0, 40.0, 2), data))
    # Independent halves: the correlation of two counts, 7 standard deviations.
    ones = (shown == 1).sum(axis=1), (outputs[:, 5:] == 1).sum(axis=1)
    assert abs(np.corrcoef(*ones)[0, 1]) < 7 / np.sqrt(RUNS)


@pytest.mark.parametrize(
    ("key", "seed", "expected"),
    [
        (b"", 0, 0),
        (b"", 1, 0x514E28B7),
        (b"", 0xFFFFFFFF, 0x81F16F39),
        (b"\xff\xff\xff\xff", 0, 0x76293B50),
        (b"\x21\x43\x65\x87", 0, 0xF55B516B),
        (b"\x21\x43\x65\x87", 0x5082EDEE, 0x2362F9DE),
        (b"\x21\x43\x65", 0, 0x7E4A8634),
        (b"\x21\x43", 0, 0xA0F7B07A),
        (b"\x21", 0, 0x72661CF4),
        (b"\x00\x00\x00\x00", 0, 0x2362F9DE),
        (b"The quick brown fox jumps over the lazy dog", 0x9747B28C, 0x2FA826CD),
    ],
)
def test_murmur3_on_its_published_vectors(key: bytes, seed: int, expected: int) -> None:
    assert murmur3_32(key, seed) == expected


def test_bloom_filters_of_the_benchmarks_pair() -> None:
    assert bloom_bits(1, 20, 4) == [3, 10, 13]
    assert bloom_bits(0, 20, 4) == [0, 11, 18]
    assert all(1 <= len(bloom_bits(v, 20, 4)) <= 4 for v in range(-10, 11))


@pytest.mark.parametrize(
    ("mechanism", "chances"), [(Rappor(0.75, 0.45, 0.55), (0.4875, 0.5125)), (Rappor(0.95), (0.475, 0.525))]
)
def test_rappor(mechanism: Rappor, chances: tuple[float, float]) -> None:
    assert mechanism.report_probabilities() == pytest.approx(chances, abs=1e-15)
    reports = draw(mechanism, 1, 100_000)
    assert set(np.unique(reports)) == {0, 1}
    for i, column in enumerate(reports.T):
        one = chances[i in (3, 10, 13)]
        assert_frequencies(dict(enumerate(np.bincount(column))), {0: 1 - one, 1: one}, 100_000)
    assert_independent_columns(reports)


@pytest.mark.parametrize("name", SAMPLERS)
def test_samplers_of_gaussian_noise(name: str) -> None:
    noise = SAMPLERS[name](np.random.default_rng(6), 10 * RUNS)
    assert len(noise) == 10 * RUNS
    assert_distribution(noise, stats.norm.cdf)
    # The ziggurat's tail is drawn apart: its weight, and its law beyond.
    tail = np.abs(noise[np.abs(noise) > BASE])
    weight = 2 * stats.norm.sf(BASE)
    assert_frequencies({1: len(tail), 0: len(noise) - len(tail)}, {1: weight, 0: 1 - weight}, len(noise))
    assert_distribution(tail, lambda x: 1 - 2 * stats.norm.sf(x) / weight)
    assert_distribution(draw(Gaussian(3.0, name), 2.0), lambda y: stats.norm.cdf(y, 2.0, 3.0))


def test_scales_of_gaussian_noise() -> None:
    assert classic_scale(1.0, 1e-3) == pytest.approx(3.776479532659047, rel=1e-12)
    assert classic_scale(0.5, 0.1) == pytest.approx(2 * classic_scale(1.0, 0.1), rel=1e-12)


@pytest.mark.parametrize("name", SAMPLERS)
def test_gaussian_doubles_leak_more_than_delta_in_their_low_bits(name: str) -> None:
    row = next(r for r in BENCHMARKS if r.float_bits and not r.requires and f" {name} " in r.name)
    at_zero, at_one = (draw(row.mechanism, data) * 2.0**53 for data in row.pair)
    assert (at_one == np.round(at_one)).all()
    # A standard deviation of the share is below 0.0008, and it exceeds delta by 0.014 at the least.
    assert (at_zero != np.round(at_zero)).mean() > row.delta + 0.005


@pytest.mark.parametrize("end_scale", [0.5, 0.0])
def test_smart_sums(end_scale: float) -> None:
    mechanism, data = SmartSum(0.5, 3, end_scale), (4, 1, 2, 8, 3)
    assert mechanism.terms(data) == [4, 1, 7, 8, 3]
    outputs = draw(mechanism, data, 50_000)
    steps = [outputs[:, 0], outputs[:, 1] - outputs[:, 0], outputs[:, 2], outputs[:, 3] - outputs[:, 2]]
    steps.append(outputs[:, 4] - outputs[:, 3])
    for i, (step, centre) in enumerate(zip(steps, mechanism.terms(data), strict=True)):
        if i == 2 and end_scale == 0:
            assert (step == centre).all()
        else:
            assert_distribution(step - centre, lambda y: laplace_cdf(y, 0.5))


def test_released_counts() -> None:
    mechanism = ReleasedCounts(0.5, 4)
    outputs = draw(mechanism, (6, 0, 1))
    for column, count in zip(outputs.T, (6, 0, 1), strict=True):
        law = counts_law(mechanism, count)
        likely = {value: chance for value, chance in law.items() if chance > 1e-9}
        rest = 1 - sum(likely.values())
        assert_frequencies(Counter(column.tolist()), likely | {None: rest} if rest > 1e-13 else likely)
    assert 1 - counts_law(mechanism, 1)[HIDDEN] == pytest.approx(leak_of_one(0.5, 4), rel=1e-9)


def one_gap_run(mechanism: Any, data: Sequence[float], rng: np.random.Generator) -> list[float]:
    """The definitions of sparse vector with gaps, one query at a time."""
    level = mechanism.threshold + rng.laplace(0, mechanism.threshold_scale)
    adaptive = isinstance(mechanism, AdaptiveSVT)
    coarse: list[float] = []
    fine: list[float] = []
    price = 0
    limit = 2 * mechanism.answers - 2 if adaptive else mechanism.cutoff - 1
    for answer in data:
        high = answer + rng.laplace(0, mechanism.coarse_scale) if adaptive else -np.inf
        low = answer + rng.laplace(0, mechanism.fine_scale if adaptive else mechanism.query_scale)
        found = high - level >= mechanism.margin if adaptive else False
        if price > limit:
            coarse.append(ENDED)
            fine.append(ENDED)
            continue
        coarse.append((high if mechanism.leaks else high - level) if found else BELOW)
        fine.append(low - level if not found and low >= level else BELOW)
        price += 1 if found else (2 if adaptive else 1) * (low >= level)
    return coarse + fine if adaptive else fine


@pytest.mark.parametrize(
    "mechanism",
    [
        GapSVT(1, 2.0, 4.0, 2),
        AdaptiveSVT(1, 2.0, 8.0, 4.0, 6.0, 2),
        AdaptiveSVT(1, 2.0, 8.0, 4.0, 6.0, 1, leaks=True),
    ],
)
def test_sparse_vectors_with_gaps(mechanism: Any) -> None:
    data, runs = (1, 5, -4, 3), 6_000
    rng = np.random.default_rng(7)
    slow = np.array([one_gap_run(mechanism, data, rng) for _ in range(runs)])
    fast = draw(mechanism, data, runs)
    assert slow.shape == fast.shape
    for i in range(slow.shape[1]):
        # Flags are numbers far below: one two-sample test sees their shares and the values.
        assert stats.ks_2samp(slow[:, i], fast[:, i]).pvalue > ALARM
    sums = [np.where(outputs > BELOW, outputs, 0.0).sum(axis=1) for outputs in (slow, fast)]
    assert stats.ks_2samp(*sums).pvalue > ALARM


def test_rows_of_libraries_name_the_package_that_they_need() -> None:
    needed = {row.requires for row in BENCHMARKS}
    assert needed == {"", "diffprivlib", "opendp", "opacus"}
    assert not any(row.missing for row in BENCHMARKS if not row.requires)
    assert Benchmark("a", None, (0, 1), 1.0, 1.0, None, requires="no_such_package").missing
