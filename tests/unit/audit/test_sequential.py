"""The sequential audit: what it accepts and remembers, when it stops, that only its seed decides."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from sequential_sessions import RecordedSession, request_of, run_session

import dpaudit
from dpaudit.audit.eprocess import ESTIMATES, epsilon_grid, last_before_survivor, log_payoff, posterior
from dpaudit.audit.pair_bets import PARTS, REFITTED_RUNS, Bettors, PairBets, Partition, Tallied, partitions
from dpaudit.contract import Pair, PrivacyClaim
from dpaudit.running.adapters import Mechanism, as_mechanism

PAIR = [Pair(1, 0, "bit")]


def geometric(data: int, rng: np.random.Generator, size: int, epsilon: float = 1.5) -> np.ndarray:
    stop = 1 - math.exp(-epsilon)
    return data + rng.geometric(stop, size) - rng.geometric(stop, size)


GEOMETRIC = Mechanism(geometric, "geometric", True)


def several(data: tuple[int, int], rng: np.random.Generator, size: int) -> np.ndarray:
    """Randomised response, of epsilon 1.5 on pair 2 and 0.5 on the others."""
    pair, bit = data
    high = 1 / (1 + math.exp(-(1.5 if pair == 2 else 0.5)))
    return np.where(rng.random(size) < high, bit, 1 - bit)


SEVERAL = Mechanism(several, "several", True)
FOUR = [Pair((k, 1), (k, 0)) for k in range(4)]


def audit(
    mechanism: Mechanism,
    pairs: list[Pair],
    *,
    epsilon: float,
    delta: float = 0.0,
    runs: int,
    gamma: float = 0.05,
    **sampling: Any,
) -> RecordedSession:
    return run_session(mechanism, pairs, PrivacyClaim(epsilon, delta), runs=runs, gamma=gamma, **sampling)


# The grid and the bound.


@pytest.mark.parametrize("claim", [0.0, 0.005, 1.0, 3.7, 12.0, 40.0])
def test_grid_ascends_and_holds_the_claim(claim: float) -> None:
    grid = epsilon_grid(claim)
    assert (np.diff(grid) > 0).all()
    assert claim in grid
    assert grid[-1] >= max(12.0, 2 * claim)
    assert (grid[1:][grid[1:] > 0.011] / grid[:-1][grid[1:] > 0.011] <= 1.0101).all()


@pytest.mark.parametrize(
    ("rejected", "bound"),
    [
        ([0, 0, 0], 0.0),
        ([1, 0, 0], 0.1),
        ([1, 1, 0], 0.2),
        ([1, 1, 1], 0.3),
        ([1, 0, 1], 0.1),
        ([0, 1, 1], 0.0),
    ],
)
def test_bound_is_the_last_point_before_the_first_survivor(rejected: list[int], bound: float) -> None:
    assert last_before_survivor(np.array([0.1, 0.2, 0.3]), np.array(rejected, dtype=bool)) == bound


def test_posterior_is_one_half_without_evidence_and_antisymmetric() -> None:
    counts = np.array([0, 1, 5, 50, 1000])
    assert (posterior(counts, counts) == 0.5).all()
    assert posterior([7], [2])[0] == pytest.approx(1 - posterior([2], [7])[0], abs=1e-15)
    sure = posterior([10, 100, 10**6], [0, 0, 0])
    assert (np.diff(sure) > 0).all()
    assert (sure < 1).all()


# Bettors.


class _Plain:
    name, ordered, learned, screened, slow, columns = "plain", False, False, False, False, None

    def __call__(self, outputs: Any) -> Any:
        return outputs


class _Ordered(_Plain):
    name, ordered = "ordered", True


def test_cells_seen_once_and_new_ones_share_a_part() -> None:
    past = Tallied.of((Counter({"a": 4, "b": 1}), Counter({"a": 3, "c": 4})), ordered=False)
    (found,) = partitions(_Plain(), past, PARTS)
    assert len(found) == 3
    assert found.parts(past).tolist() == [[4, 0, 1], [3, 4, 0]]
    assert found.parts(Tallied.of((Counter({"new": 9, "a": 2}), Counter()), ordered=False)).sum(axis=0)[-1] == 9


def test_parts_cover_all_integers_and_are_about_equally_likely() -> None:
    rng = np.random.default_rng(0)
    past = Tallied.of(tuple(Counter(rng.integers(0, 2000, 3000).tolist()) for _ in range(2)), ordered=True)
    found = list(partitions(_Ordered(), past, PARTS))
    assert {one.slot[1] for one in found} == set(PARTS)
    for one in found:
        total = one.parts(past).sum(axis=0)
        assert total.sum() == 6000
        assert len(total) == len(one) == one.slot[1]
        assert total.min() >= 0.8 * 6000 / len(total)
        far = Tallied.of((Counter({-5: 1}), Counter({10**6: 1})), ordered=True)
        assert one.parts(far).sum(axis=0)[[0, -1]].tolist() == [1, 1]


def test_bettors_together_pay_and_expect_what_each_does_alone() -> None:
    rng = np.random.default_rng(1)
    past, batch = (
        Tallied.of(tuple(Counter(rng.integers(0, 50, n).tolist()) for _ in range(2)), ordered=True) for n in (300, 40)
    )
    several = [(one, past) for one in partitions(_Ordered(), past, (2, 3, 8))]
    together = Bettors(several, ESTIMATES)
    assert len(together.slots) == 6
    epsilons = np.array([0.1, 1.0])
    for delta in (0.0, 0.02):
        paid = together.log_payoff(epsilons, delta, {"ordered": batch})
        expected = together.expected_growth(tuple(range(6)), 0.1, delta)
        for i, (one, estimate) in enumerate((one, estimate) for estimate in ESTIMATES for one in several):
            alone = Bettors([one], [estimate])
            assert alone.slots == [together.slots[i]]
            assert paid[i] == pytest.approx(alone.log_payoff(epsilons, delta, {"ordered": batch})[0], abs=1e-12)
            assert expected[i] == pytest.approx(alone.expected_growth((0,), 0.1, delta)[0], abs=1e-12)


def test_nothing_is_bet_without_a_past() -> None:
    # A first batch that gives everything away must pay exactly nothing.
    bets = PairBets(request_of(GEOMETRIC, PAIR, PrivacyClaim(1.0)), 0, PAIR[0], np.array([0.1, 0.5, 1.0]))
    bets.restart([_Plain()])
    bets.outputs = None
    batch = [(Counter({"x": 100}), Counter({"y": 100}))]
    bets.settle(batch, np.arange(3))
    assert bets.log_wealth.tolist() == [0, 0, 0]
    bets.learn(batch, [[], []])
    bets.settle(batch, np.arange(3))
    assert (bets.log_wealth > 10).all()


def test_wealth_of_a_pair_is_the_mean_over_its_bettors_while_none_comes_or_goes() -> None:
    bets = PairBets(request_of(GEOMETRIC, PAIR, PrivacyClaim(1.0)), 0, PAIR[0], np.array([0.5, 1.0]))
    bets.restart([_Plain()])
    past = Tallied.of((Counter({"x": 8, "y": 1}), Counter({"x": 1, "y": 5})), ordered=False)
    estimates = ((0.5, 0.75), (0.5, 0.0))
    bets.bettors = [Bettors([(Partition(("plain", 0), None, {"x": 0}), past)], estimates)]
    alone = np.zeros((2, 2))
    for hits in (3, 1, 4):
        batch = [(Counter({"x": hits, "z": 1}), Counter({"x": 1, "z": 2}))]
        bets.settle(batch, np.arange(2))
        for mine, estimate in zip(alone, estimates, strict=True):
            rate = posterior([[8, 1]], [[1, 5]], *estimate)
            mine += log_payoff(rate, rate, bets.grid, 0.0, np.array([[hits, 1]]), np.array([[1, 2]]))[0]
    assert np.exp(bets.log_wealth) == pytest.approx(np.exp(alone).mean(axis=0))


# The audit.


def test_a_violation_is_refuted_early_and_the_audit_stops_there() -> None:
    outcome = audit(GEOMETRIC, PAIR, epsilon=1.0, runs=20_000)
    assert outcome.rejected
    assert outcome.runs_used < 3_000
    assert outcome.looks[-1].log_e >= math.log(20)
    assert outcome.looks[-1].runs == outcome.runs_used
    assert all(look.log_e < math.log(20) for look in outcome.looks[:-1])


def test_a_true_claim_spends_the_budget_exactly() -> None:
    outcome = audit(GEOMETRIC, PAIR, epsilon=2.0, runs=7_777)
    assert not outcome.rejected
    assert outcome.runs_used == 7_777 == sum(pair.runs for pair in outcome.bets)
    assert 1.0 < outcome.epsilon_lower < 1.5
    bounds = [look.epsilon_lower for look in outcome.looks]
    assert bounds == sorted(bounds)


def test_a_claim_whose_exponential_leaves_the_floats_is_bet_against() -> None:
    outcome = audit(GEOMETRIC, PAIR, epsilon=400.0, runs=500)
    assert not outcome.rejected
    assert 0 < outcome.epsilon_lower < 1.5


def test_identical_inputs_show_nothing() -> None:
    outcome = audit(GEOMETRIC, [Pair(0, 0)], epsilon=0.5, runs=5_000)
    assert (outcome.rejected, outcome.epsilon_lower) == (False, 0.0)
    assert outcome.looks[-1].log_e < 1


def test_swapping_the_sides_changes_nothing_but_luck() -> None:
    for pair in (Pair(1, 0), Pair(0, 1)):
        assert audit(GEOMETRIC, [pair], epsilon=1.0, runs=20_000).rejected


def test_every_pair_is_tried_and_the_leaking_one_gets_the_runs() -> None:
    outcome = audit(SEVERAL, FOUR, epsilon=2.0, runs=20_000)
    runs = [pair.runs for pair in outcome.bets]
    assert not outcome.rejected
    assert runs.index(max(runs)) == 2
    assert runs[2] > 10_000
    assert min(runs) >= 200
    assert 1.2 < outcome.epsilon_lower < 1.5
    assert audit(SEVERAL, FOUR, epsilon=1.0, runs=20_000).rejected


@pytest.mark.parametrize("epsilon", [1.0, 2.0])
def test_outcome_does_not_depend_on_workers(epsilon: float) -> None:
    one, two = (
        audit(SEVERAL, FOUR, epsilon=epsilon, runs=4_000, seed=3, n_jobs=jobs, backend=backend)
        for jobs, backend in ((1, None), (2, "threading"))
    )
    assert one.looks == two.looks
    assert one.looks != audit(SEVERAL, FOUR, epsilon=epsilon, runs=4_000, seed=4).looks


def test_coins_are_fair_and_have_their_own_stream() -> None:
    sizes: list[tuple[int, int]] = []

    def spy(data: int, rng: np.random.Generator, size: int) -> np.ndarray:
        sizes.append((data, size))
        return np.zeros(size, dtype=int)

    audit(Mechanism(spy, "spy", True), PAIR, epsilon=1.0, runs=40_000)
    heads = sum(size for data, size in sizes if data == 1)
    # Bin(39872, 1/2) + 64: 500 is 5 standard deviations; false-alarm rate 6e-7 over seeds.
    assert abs(heads - 20_000) < 500
    assert heads != 20_000
    assert sum(size for _, size in sizes) == 40_000


def test_each_run_has_a_coin_of_its_own_in_the_order_of_the_runs() -> None:
    sides: list[int] = []

    def spy(data: int, rng: np.random.Generator) -> int:
        sides.append(data)
        return 0

    audit(as_mechanism(spy), PAIR, epsilon=1.0, runs=60_000)
    made = np.array(sides)
    assert len(made) == 60_000
    # 5 standard deviations of a fair coin; orders of 32 runs with as many on either side would be 7.7 of them away.
    assert abs(made.sum() - 30_000) < 5 * math.sqrt(15_000)
    for lag in (1, 2, 16):
        assert abs((made[lag:] == made[:-lag]).sum() - (60_000 - lag) / 2) < 5 * math.sqrt(15_000)


def test_delta_pays_for_a_rare_catastrophe() -> None:
    def leak(data: int, rng: np.random.Generator, size: int) -> np.ndarray:
        return np.where(rng.random(size) < 0.05, 2 + data, rng.integers(0, 2, size))

    mechanism = Mechanism(leak, "leak", True)
    assert audit(mechanism, PAIR, epsilon=0.5, delta=0.0, runs=5_000).rejected
    assert audit(mechanism, PAIR, epsilon=0.5, delta=0.02, runs=5_000).rejected
    allowed = audit(mechanism, PAIR, epsilon=0.5, delta=0.05, runs=5_000)
    assert (allowed.rejected, allowed.epsilon_lower) == (False, 0.0)


def shifted(data: int, rng: np.random.Generator, size: int) -> np.ndarray:
    return data + rng.laplace(0, 1 / 3, size)


def rows(data: int, rng: np.random.Generator, size: int) -> np.ndarray:
    return np.column_stack([rng.normal(size=size), data + rng.laplace(0, 1 / 3, size)])


def words(data: int, rng: np.random.Generator) -> Any:
    if rng.random() < 0.3:
        raise ValueError("refused") if data else KeyError("lost")
    return "yes" if rng.random() < 0.5 else None


@pytest.mark.parametrize(
    "mechanism", [Mechanism(shifted, "shifted", True), Mechanism(rows, "rows", True), as_mechanism(words)]
)
def test_any_output_can_be_audited(mechanism: Mechanism) -> None:
    assert audit(mechanism, PAIR, epsilon=1.0, runs=8_000).rejected


@pytest.mark.parametrize("mechanism", [Mechanism(shifted, "shifted", True), GEOMETRIC])
@pytest.mark.parametrize("pairs", [PAIR, PAIR * 9])
def test_the_smallest_budgets_are_kept(mechanism: Mechanism, pairs: list[Pair]) -> None:
    for runs in (100, 101, 163, 500):
        outcome = audit(mechanism, pairs, epsilon=9.0, runs=runs)
        assert outcome.runs_used == runs
        assert not outcome.rejected


def test_a_search_among_pairs_keeps_few_outputs_however_many_runs_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[int] = []
    refit = PairBets._refit

    def watched(bets: PairBets, sides: list[Any]) -> None:
        kept.append(sum(map(len, sides)))
        refit(bets, sides)

    monkeypatch.setattr(PairBets, "_refit", watched)
    monkeypatch.setattr("dpaudit.audit.sequential_design.KEPT_RUNS", 1_000)
    found = dpaudit.audit_privacy(geometric, [(0, 0), (0, 1)], epsilon=2.0, trials=60_000, batched=True)
    assert found.verdict == "consistent"
    assert max(kept) <= 1_000 + 2 * REFITTED_RUNS < found.budget["search"]
