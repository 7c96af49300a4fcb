"""The benchmark's exact epsilons, and the best bound that its pairs allow."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from benchmark import BENCHMARKS, Benchmark
from benchmark.additive_laws import clipped, convolve_power, laplace_vector
from benchmark.counts import ReleasedCounts, leak_of_one
from benchmark.finite_laws import argmax_law, bits_law, crossing_probability
from benchmark.gap_laws import adaptive_svt, gap_svt
from benchmark.gap_sparse_vector import AdaptiveSVT, GapSVT
from benchmark.laplace import LaplaceParallel, SmartSum, TruncatedGeometric
from benchmark.noisy_max import NoisyArgmax, NoisyMax
from benchmark.optimum import best_bound, best_bound_of_two_sets, ratio_law
from benchmark.ratio_law import RatioLaw
from benchmark.sparse_vector import NumericalSVT, SparseVector, SparseVectorPair, SparseVectorValues
from benchmark.value_laws import pair_log_ratio, sampled_pair, values_log_ratio, values_supremum
from scipy import integrate, optimize, stats

FULL = 2_500_000
ROWS = {row.name: row for row in BENCHMARKS}
KNOWN = [
    row
    for row in BENCHMARKS
    if row.name not in ("NaiveLaplace 0.1", "SVT34Parallel") and not row.requires and not row.float_bits
]
PUBLISHED = {
    "Laplace 0.1": 0.1, "Laplace 1": 1.0, "TruncatedGeometric": 0.117783, "NoisyHist1": 0.1,
    "NoisyHist2": 10.0,
    "NoisyMax1": 0.094615, "NoisyMax2": 0.1, "NoisyMax3": 0.25, "NoisyMax4": math.inf, "SVT1": 0.088526,
    "SVT2": 0.088230, "SVT4": 0.172471, "SVT5": math.inf, "SVT6": 0.420032, "RAPPOR": 0.300063,
    "OneTimeRAPPOR": 0.600501, "LaplaceParallel": 0.1, "PrefixSum": 1.0, "NaiveLaplace 0.1": math.inf,
}  # fmt: skip


@pytest.fixture(scope="module")
def laws() -> dict[str, RatioLaw]:
    found = {row.name: ratio_law(row.mechanism, *row.pair) for row in KNOWN}
    return {name: law for name, law in found.items() if law is not None}


@pytest.mark.parametrize("name", PUBLISHED)
def test_true_epsilons_are_the_published_ones(name: str) -> None:
    assert ROWS[name].true_epsilon == pytest.approx(PUBLISHED[name], abs=5.1e-7)


@pytest.mark.parametrize("row", KNOWN, ids=lambda row: row.name)
def test_true_epsilons_are_those_of_the_laws(row: Benchmark, laws: dict[str, RatioLaw]) -> None:
    # Answers that are released as compared come within 1e-7 of a limit that no output attains; gaps and Gaussian noise
    # have cells, of which the registry has six digits.
    near = {"SVT3": 1e-7, "GapSVT": 1e-6, "BadGapSVT": 1e-7, "AdaptiveSVT": 1e-6, "BadAdaptiveSVT": 1e-7}
    within = 1e-6 if row.delta else near.get(row.name, 2e-9)
    assert laws[row.name].epsilon_at(row.delta) == pytest.approx(row.true_epsilon, abs=within)
    for side in (laws[row.name].p, laws[row.name].q):
        assert side.sum() == pytest.approx(1, abs=1e-6)
        assert (side >= 0).all()


def test_claims_of_rappor_are_the_published_bounds() -> None:
    assert ROWS["RAPPOR"].claimed_epsilon == pytest.approx(0.40008, abs=5e-6)
    assert ROWS["OneTimeRAPPOR"].claimed_epsilon == pytest.approx(0.80067, abs=5e-6)
    assert ROWS["NumericalSVT"].true_epsilon <= ROWS["NumericalSVT"].claimed_epsilon


@pytest.mark.parametrize("row", KNOWN, ids=lambda row: row.name)
def test_floors_are_possible_and_optima_are_below_the_truth(row: Benchmark, laws: dict[str, RatioLaw]) -> None:
    law = laws[row.name]
    bounds = [best_bound(law, runs, delta=row.delta).bound for runs in (1, 1000, 100_000, FULL, 10**9)]
    assert bounds[0] == 0
    assert bounds == sorted(bounds)
    assert bounds[-1] < row.true_epsilon
    assert row.floor is None or row.floor < bounds[3]


def test_no_signal_and_the_wrong_sign() -> None:
    same = np.array([0.25, 0.5, 0.25])
    assert best_bound(RatioLaw(same, same), FULL).bound == 0
    assert best_bound_of_two_sets(RatioLaw(same, same), FULL) == 0
    law = RatioLaw(np.array([0.3, 0.7]), np.array([0.2, 0.8]))
    swapped = RatioLaw(law.q, law.p)
    assert best_bound(law, 1000) == best_bound(swapped, 1000)
    assert law.epsilon == swapped.epsilon == pytest.approx(math.log(1.5))
    assert best_bound(RatioLaw(np.array([0.0, 1.0]), np.array([0.0, 1.0])), 1000).bound == 0


def test_the_best_bound_by_hand() -> None:
    law = RatioLaw(np.array([0.3, 0.7]), np.array([0.2, 0.8]))
    expected = math.log(1.5) - 1.6448536269514722 * math.sqrt(0.7 / 300 + 0.8 / 200)
    assert best_bound(law, 1000).bound == pytest.approx(expected, rel=1e-12)
    impossible = RatioLaw(np.array([0.01, 0.99]), np.array([0.0, 1.0]))
    assert best_bound(impossible, 10_000).bound == pytest.approx(math.log(100 / math.log(20)), rel=1e-12)
    assert impossible.epsilon == math.inf


def bound_of_event(p: float, q: float, runs: int) -> float:
    return math.log(p / q) - float(stats.norm.isf(0.05)) * math.sqrt((1 - p) / (runs * p) + (1 - q) / (runs * q))


@pytest.mark.parametrize("name", ["TruncatedGeometric", "NoisyMax1", "SVT1"])
@pytest.mark.parametrize("runs", [1000, 100_000, FULL])
def test_no_event_at_all_beats_the_nested_ones(name: str, runs: int, laws: dict[str, RatioLaw]) -> None:
    p, q = laws[name].p, laws[name].q
    events = [list(c) for k in range(1, len(p)) for c in combinations(range(len(p)), k)]
    sides = [(p[e].sum(), q[e].sum()) for e in events]
    best = max(max(bound_of_event(a, b, runs), bound_of_event(b, a, runs)) for a, b in sides)
    # Fewer than 2^11 events: an unnested one can win by a sliver, as nested events have gaps in size.
    assert max(best, 0) == pytest.approx(best_bound(laws[name], runs).bound, abs=2e-4)
    assert best_bound(laws[name], runs).bound <= max(best, 0) + 1e-12


@pytest.mark.parametrize(("scale", "runs"), [(10.0, FULL), (1.0, FULL), (1.0, 10_000), (0.1, FULL)])
def test_laplace_optimum_against_thresholds(scale: float, runs: int) -> None:
    # Events y <= t for inputs 0 and 1, by the distribution functions alone.
    levels = np.linspace(-1, 2, 6001)
    p, q = stats.laplace.cdf(levels, 0, scale), stats.laplace.cdf(levels, 1, scale)
    best = max(bound_of_event(a, b, runs) for a, b in zip(p, q, strict=True))
    assert best_bound(laplace_vector([0], [1], scale), runs).bound == pytest.approx(best, rel=1e-5)


def test_clipped_ratios() -> None:
    p, q = clipped(1.0, 10.0, 400)
    assert p.sum() == pytest.approx(1, abs=1e-14)
    np.testing.assert_array_equal(p, q[::-1])
    levels = (np.arange(801) - 400) / 400 * 0.1
    seen = p > 0
    np.testing.assert_allclose(np.log(p[seen] / q[seen]), levels[seen], atol=1e-12)
    np.testing.assert_allclose(convolve_power(np.array([0.25, 0.75]), 3), [1 / 64, 9 / 64, 27 / 64, 27 / 64])
    with pytest.raises(ValueError, match="one and the same amount"):
        laplace_vector([0, 0], [1, 2], 1.0)


@pytest.mark.parametrize("name", ["LaplaceParallel", "PrefixSum", "NumericalSVT", "NoisyMax4"])
def test_the_laws_of_many_numbers_against_simulated_ratios(name: str, laws: dict[str, RatioLaw]) -> None:
    """The share of runs whose ratio exceeds a level, by the ratio computed from the outputs themselves."""
    row, runs = ROWS[name], 100_000
    log_ratio = direct_log_ratio(row, row.mechanism(row.pair[0], np.random.default_rng(2), runs))
    seen = laws[name].p > 0
    law = RatioLaw(laws[name].p[seen], laws[name].q[seen])
    with np.errstate(divide="ignore"):
        levels = np.log(law.p) - np.log(law.q)
    spread = row.true_epsilon if math.isfinite(row.true_epsilon) else 0.05
    # Between the levels at which ratios pile up. Two-sided tails, 20 tests: false alarms below 1e-7 each.
    for level in spread * np.array([-0.513, -0.207, 0.013, 0.213, 0.517]):
        chance = law.p[levels > level].sum()
        hits = int((log_ratio > level).sum())
        tail = min(stats.binom.cdf(hits, runs, chance), stats.binom.sf(hits - 1, runs, chance))
        assert tail > 5e-8


def direct_log_ratio(row: Benchmark, outputs: Any) -> Any:
    """Return ln of the ratio of the outputs' densities, straight from the definitions."""
    mechanism, (a, b) = row.mechanism, row.pair
    if isinstance(mechanism, LaplaceParallel):
        return (np.abs(outputs - b) - np.abs(outputs - a)).sum(axis=1) / mechanism.scale
    if isinstance(mechanism, NoisyMax):
        parts = [np.maximum(outputs - side[0], 0) / mechanism.scale for side in (a, b)]
        with np.errstate(divide="ignore"):
            return parts[1] - parts[0] + 4 * (np.log(-np.expm1(-parts[0])) - np.log(-np.expm1(-parts[1])))
    if isinstance(mechanism, NumericalSVT):
        bits = np.where(outputs == -1000, -1, outputs != 0)
        kind = SparseVector(mechanism.threshold, mechanism.threshold_scale, mechanism.query_scale, mechanism.cutoff)
        table = [bits_law(kind, side) for side in (a, b)]
        ratio = {key: math.log(p / table[1][key]) for key, p in table[0].items()}
        values = (np.abs(outputs - np.array(b)) - np.abs(outputs - np.array(a))) * (bits == 1) / mechanism.value_scale
        return values.sum(axis=1) + np.array([ratio[key] for key in map(tuple, bits.tolist())])
    steps = np.diff(outputs, axis=1, prepend=0.0)
    return (np.abs(steps - np.array(b)) - np.abs(steps - np.array(a))).sum(axis=1) / mechanism.scale


def test_argmax_by_memorylessness_and_by_another_quadrature() -> None:
    # With exponential noise the first of five must beat its lead of -2 and then an even race.
    first = argmax_law(NoisyArgmax("exponential", 20.0), (0, 2, 2, 2, 2))[0]
    assert first == pytest.approx(math.exp(-0.1) / 5, rel=1e-13)

    def integrand(x: float) -> float:
        return float(stats.laplace.pdf(x, 0, 20) * stats.laplace.cdf(x, 2, 20) ** 4)

    pieces = [integrate.quad(integrand, *ends, epsabs=1e-14)[0] for ends in ((-np.inf, 0), (0, 2), (2, np.inf))]
    assert argmax_law(NoisyArgmax("laplace", 20.0), (0, 2, 2, 2, 2))[0] == pytest.approx(sum(pieces), abs=1e-12)


def test_crossing_probabilities_in_closed_form() -> None:
    # One query: Pr[a + X >= T + R] for Laplace X and R of the same scale b: with u = (T - a) / b >= 0 it is
    # exp(-u) (2 + u) / 4.
    kind = SparseVector(1.0, 20.0, 20.0, 1)
    for answer in (1.0, 0.0, -30.0):
        u = (1.0 - answer) / 20.0
        assert crossing_probability(kind, [answer], [1]) == pytest.approx(math.exp(-u) * (2 + u) / 4, rel=1e-12)
    # No noise on the queries: the bits are those of the threshold alone.
    bare = SparseVector(1.0, 20.0, 0.0, None)
    assert crossing_probability(bare, [2, 0], [1, 0]) == pytest.approx(-math.expm1(-1 / 20), rel=1e-12)
    assert crossing_probability(bare, [2, 0], [0, 1]) == 0
    # A ceiling at the middle of the threshold's noise halves what certain answers weigh.
    assert crossing_probability(kind, [], [], ceiling=0.0) == pytest.approx(0.5, rel=1e-12)


def test_supremum_of_sparse_vector_with_values() -> None:
    svt3 = ROWS["SVT3"].mechanism
    assert values_supremum(svt3, (1,) * 10, (2,) * 10) == pytest.approx(0.5, abs=1e-7)
    assert values_supremum(svt3, *ROWS["SVT3"].pair) == pytest.approx(0.3, abs=1e-7)
    assert values_supremum(svt3, (1, 1), (1, 1)) == 0
    # Two values with a single query to hide: at most three moves of 1/40 each.
    pair = SparseVectorValues(1, 20.0, 40.0, 2)
    assert values_supremum(pair, (1, 1, 1), (2, 2, 2)) == pytest.approx(3 / 40, abs=1e-7)


def test_the_supremum_of_the_pair_of_sparse_vectors() -> None:
    row = ROWS["SVT34Parallel"]
    law = sampled_pair(row.mechanism, *row.pair, runs=20_000)
    assert law.epsilon == pytest.approx(row.true_epsilon, abs=2e-7)
    sampled = np.abs(np.log(law.p / law.q)).max()
    assert 0.8 * law.epsilon < sampled < law.epsilon
    assert (law.p.sum(), law.q.sum()) == pytest.approx((1, 1), abs=0.01)


@pytest.mark.parametrize("cutoff", [1, 2, 3])
def test_ratios_of_values_change_the_measure(cutoff: int) -> None:
    """With L = ln dP/dQ, every event has P[T] = E_Q[exp(L); T], and E_Q[exp(L)] = 1."""
    mechanism = SparseVectorPair(SparseVectorValues(1, 5.0, 6.0, cutoff), SparseVector(1, 9.0, 4.0, 2))
    sides, runs = ((1, 3, 0, 2), (2, 2, 1, 1)), 100_000
    rng = np.random.default_rng(8)
    ratios = [pair_log_ratio(mechanism, mechanism(side, rng, runs), *sides) for side in sides]
    for level in (-np.inf, -0.3, -0.1, 0.0, 0.1, 0.3):
        left = (ratios[0] > level).astype(float)
        right = np.exp(ratios[1]) * (ratios[1] > level)
        spread = math.sqrt((left.var() + right.var()) / runs)
        # 7 standard deviations of bounded variables: below 1e-11.
        assert abs(left.mean() - right.mean()) < 7 * spread


def test_ratios_of_values_agree_with_the_cells(laws: dict[str, RatioLaw]) -> None:
    row = ROWS["SVT3"]
    law = laws["SVT3"]
    levels = np.log(law.p) - np.log(law.q)
    outputs = row.mechanism(row.pair[0], np.random.default_rng(4), 100_000)
    log_ratio = values_log_ratio(row.mechanism, outputs, *row.pair)
    for level in (-0.031, 0.027, 0.111, 0.163):
        chance = law.p[levels > level].sum()
        # Exact binomial tails, false alarms below 1e-7 each.
        hits = int((log_ratio > level).sum())
        assert min(stats.binom.cdf(hits, 100_000, chance), stats.binom.sf(hits - 1, 100_000, chance)) > 5e-8


def test_no_law_is_known_for_doubles_and_for_two_values() -> None:
    row = ROWS["NaiveLaplace 0.1"]
    assert ratio_law(row.mechanism, *row.pair) is None
    with pytest.raises(ValueError, match="cutoff must be 1"):
        ratio_law(SparseVectorValues(1, 20.0, 20.0, 2), (1, 1), (2, 2))
    with pytest.raises(ValueError, match="one and the same amount"):
        ratio_law(NumericalSVT(1, 30.0, 120.0, 60.0, 2), (1, 1), (1, 2))


def test_the_geometric_ratio_in_closed_form() -> None:
    for bits in (1, 3, 5):
        law = ratio_law(TruncatedGeometric(5, bits), 2, 1)
        assert law is not None
        assert law.epsilon == pytest.approx(math.log1p(2.0**-bits), rel=1e-12)


def test_gaussian_epsilons_are_roots_of_the_profile() -> None:
    for row in (row for row in BENCHMARKS if row.name.startswith("Gauss") and not row.float_bits):
        mu = 1 / row.mechanism.scale

        def excess(epsilon: float, mu: float = mu, delta: float = row.delta) -> float:
            ends = stats.norm.cdf(mu / 2 - epsilon / mu), stats.norm.cdf(-mu / 2 - epsilon / mu)
            return float(ends[0] - math.exp(epsilon) * ends[1] - delta)

        assert optimize.brentq(excess, 0, 2) == pytest.approx(row.true_epsilon, abs=1e-6)
        assert row.true_epsilon < row.claimed_epsilon


def test_epsilon_at_a_delta_by_all_events() -> None:
    rng = np.random.default_rng(9)
    for delta in (0.0, 0.01, 0.1):
        p, q = rng.dirichlet(np.ones(8), 2)
        events = [list(c) for k in range(1, 9) for c in combinations(range(8), k)]
        sides = [(p[e].sum(), q[e].sum()) for e in events] + [(q[e].sum(), p[e].sum()) for e in events]
        greatest = max(math.log((a - delta) / b) for a, b in sides if a > delta)
        assert RatioLaw(p, q).epsilon_at(delta) == pytest.approx(greatest, rel=1e-12)
    # At the leak's own probability nothing remains of it, and the other direction has nothing.
    hidden = RatioLaw(np.array([0.1, 0.9]), np.array([0.0, 1.0]))
    assert hidden.epsilon_at(0.1 + 1e-12) == pytest.approx(0, abs=1e-9)
    assert hidden.epsilon_at(0.09) == math.inf


def test_the_best_bound_at_a_delta_by_hand() -> None:
    law = RatioLaw(np.array([0.3, 0.7]), np.array([0.2, 0.8]))
    error = math.sqrt(0.3 * 0.7 / 1000 / 0.28**2 + 0.8 / 200)
    found = best_bound(law, 1000, delta=0.02)
    assert found.standard_error == pytest.approx(error, rel=1e-12)
    assert found.bound == pytest.approx(math.log(1.4) - float(stats.norm.isf(0.05)) * error, rel=1e-12)
    assert best_bound(law, 1000, delta=0.2).bound == 0


def test_the_bound_of_two_sets_by_hand() -> None:
    p, q = 0.75, 0.25
    runs = 5000
    share = math.log(3) - float(stats.norm.isf(0.05)) / math.sqrt(2 * runs * p * q)
    assert best_bound_of_two_sets(RatioLaw(np.array([p, q]), np.array([q, p])), runs) == pytest.approx(share, rel=1e-12)
    # Impossible on the other side: the limit of N hits that are all aligned.
    only = RatioLaw(np.array([0.5, 0.5]), np.array([0.0, 1.0]))
    limit = 0.05 ** (1 / 50)
    assert best_bound_of_two_sets(only, 100) == pytest.approx(math.log(limit / (1 - limit)), rel=1e-9)
    few = RatioLaw(np.array([0.02, 0.98]), np.array([0.01, 0.99]))
    assert best_bound_of_two_sets(few, 1000) == pytest.approx(
        max(math.log(b / (1 - b)) for b in (float(stats.beta.ppf(0.05, 20, 11)),)), rel=1e-9
    )


@pytest.mark.parametrize("name", ["NoisyMax1", "SVT1", "TruncatedGeometric"])
def test_two_sets_by_all_pairs_of_tails(name: str, laws: dict[str, RatioLaw]) -> None:
    law = laws[name]
    order = np.argsort(law.q / law.p)
    p, q = law.p[order], law.q[order]
    best = 0.0
    for i in range(len(p) + 1):
        for j in range(i, len(p) + 1):
            aligned, opposed = p[:i].sum() + q[j:].sum(), q[:i].sum() + p[j:].sum()
            if aligned > opposed:
                error = math.sqrt(1 / (FULL * aligned) + 1 / (FULL * opposed))
                best = max(best, math.log(aligned / opposed) - float(stats.norm.isf(0.05)) * error)
    assert best_bound_of_two_sets(law, FULL) == pytest.approx(best, abs=1e-9)


def test_the_issues_figures_of_the_optima(laws: dict[str, RatioLaw]) -> None:
    errors = {"LaplaceParallel": 0.0062, "SVT6": 0.0430, "NumericalSVT": 0.0053, "SVT3": 0.0233}
    for name, error in errors.items():
        assert best_bound(laws[name], FULL).standard_error == pytest.approx(error, abs=5.1e-5)


@pytest.mark.parametrize("name", ["GapSVT", "AdaptiveSVT", "BadAdaptiveSVT"])
def test_laws_with_gaps_against_simulated_outputs(name: str) -> None:
    """Shares of positions and of values above levels: two-sided tails, some 100 tests, false alarms 1e-7 each."""
    row, runs = ROWS[name], 200_000
    for which, data in enumerate(row.pair):
        law = ratio_law(row.mechanism, *row.pair)
        assert law is not None
        cells = (law.p, law.q)[which]
        outputs = row.mechanism(data, np.random.default_rng(3), runs)
        none = cells[-1]
        hits = int((outputs == -1000).all(axis=1).sum())
        assert min(stats.binom.cdf(hits, runs, none), stats.binom.sf(hits - 1, runs, none)) > 5e-8
        kinds = 1 if name == "GapSVT" else 2
        blocks = np.split(cells[:-1], len(data)) if kinds == 1 else [cells[:-1]]
        if kinds == 1:
            for i, block in enumerate(blocks):
                hits = int((outputs[:, i] >= 0).sum())
                assert min(stats.binom.cdf(hits, runs, block.sum()), stats.binom.sf(hits - 1, runs, block.sum())) > 5e-8
                gap = np.concatenate([[0.0], np.geomspace(1e-3, 40.0, 1500)])[700] * row.mechanism.query_scale
                chance = block[700:].sum()
                hits = int((outputs[:, i] > gap).sum())
                assert min(stats.binom.cdf(hits, runs, chance), stats.binom.sf(hits - 1, runs, chance)) > 5e-8
        else:
            fine = len(cells[:-1]) // len(data)
            for i in range(len(data)):
                block = cells[i * fine : (i + 1) * fine]
                parts = block[:-1501].sum(), block[-1501:].sum()
                for column, chance in zip((i, len(data) + i), parts, strict=True):
                    hits = int((outputs[:, column] > -1000).sum())
                    assert min(stats.binom.cdf(hits, runs, chance), stats.binom.sf(hits - 1, runs, chance)) > 5e-8


def test_laws_of_one_answer_alone() -> None:
    with pytest.raises(ValueError, match="cutoff must be 1"):
        gap_svt(GapSVT(1, 2.0, 4.0, 2), (1,), (2,))
    with pytest.raises(ValueError, match="answers must be 1"):
        adaptive_svt(AdaptiveSVT(1, 2.0, 8.0, 4.0, 16.0, 2), (1,), (2,))
    with pytest.raises(ValueError, match="one count must differ"):
        ratio_law(ReleasedCounts(1.0, 7), (1, 2), (1, 2))
    with pytest.raises(ValueError, match="end_scale must be"):
        ratio_law(SmartSum(1.0, 2, 3.0), (1, 2), (2, 2))


def test_counts_at_the_threshold_too_low_leak_more_than_delta() -> None:
    row = ROWS["Counts, low threshold"]
    assert leak_of_one(1.0, 6) == pytest.approx(math.e * row.delta, rel=1e-12)
    law = ratio_law(ReleasedCounts(1.0, 7), *row.pair)
    assert law is not None
    assert law.epsilon_at(row.delta * (1 + 1e-9)) == pytest.approx(0, abs=1e-9)
