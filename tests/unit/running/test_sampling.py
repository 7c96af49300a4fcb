"""Runs in chunks: every run once, the same outputs for any workers, batches as one."""

from __future__ import annotations

from collections import Counter, deque
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

import dpaudit
from dpaudit import seeding
from dpaudit.contract import Pair
from dpaudit.outputs.shared import join
from dpaudit.running import sampling
from dpaudit.running.adapters import SIZES, SURPLUS, Mechanism, as_mechanism, call_sizes
from dpaudit.running.sampling import Pace, Sampler
from tests.support.grouped import grouped


def noise(data: float, rng: np.random.Generator, size: int) -> np.ndarray:
    return data + rng.normal(size=size)


@pytest.mark.parametrize("batched", [True, False])
@pytest.mark.parametrize("runs", [0, 1, 31, 33, 5_000, 70_001])
def test_the_jobs_make_every_run_once_at_addresses_of_their_own(batched: bool, runs: int) -> None:
    jobs = Sampler(Mechanism(noise, "noise", batched), 0).jobs(1.0, ("phase", 3), runs)
    assert sum(job.size for job in jobs) == runs
    assert [job.address for job in jobs] == [("phase", 3, i) for i in range(len(jobs))]


def test_outputs_do_not_depend_on_workers_and_each_side_has_its_stream() -> None:
    one, two = (Sampler(Mechanism(noise, "noise", True), 5, n_jobs, "threading") for n_jobs in (1, 2))
    first, second = one.sides(Pair(0.0, 0.0), ("phase",), 10_000)
    for left, right in zip((first, second), two.sides(Pair(0.0, 0.0), ("phase",), 10_000), strict=True):
        np.testing.assert_array_equal(left, right)
    assert not (first == second).any()


@pytest.mark.parametrize("batched", [True, False])
def test_the_stream_of_a_side_is_that_of_its_address_whatever_the_order(batched: bool) -> None:
    def once(data: float, rng: np.random.Generator) -> float:
        return data + rng.normal()

    sampler = Sampler(as_mechanism(noise if batched else once, batched=batched), 5)
    sides = sampler.sides(Pair(0.0, 100.0), ("phase",), 300)
    for side, outputs in enumerate(sides):
        expected = []
        for job in sampler.jobs(None, ("phase", side), 300):
            rng = seeding.generator(5, "privacy", sampler.mechanism.stream, *job.address)
            expected += [100.0 * side + rng.normal() for _ in range(job.size)]
        assert list(outputs) == expected


def test_runs_on_both_sides_are_made_in_one_random_order() -> None:
    order: list[int] = []

    def noted(data: int, rng: np.random.Generator) -> int:
        order.append(data)
        return data

    Sampler(as_mechanism(noted), 5).sides(Pair(0, 1), ("phase",), 1_000)
    assert (order.count(0), order.count(1)) == (1_000, 1_000)
    changes = sum(a != b for a, b in pairwise(order))
    # About 1,000, with a standard deviation of 22: a random order is further off with probability 1e-5.
    assert abs(changes - 1_000) < 100


def test_sides_of_different_sizes_and_sides_without_runs() -> None:
    sampler = Sampler(Mechanism(noise, "noise", True), 5)
    for sizes in ((0, 7), (7, 0), (5_000, 70_001)):
        couples = sampler.couples(Pair(0.0, 1.0), [("phase", side) for side in (0, 1)], *sizes)
        counted = list(sampler.reduced(couples, len))
        assert tuple(sum(one[side] or 0 for one in counted) for side in (0, 1)) == sizes


ADDRESS = ("confirm", 0)


@pytest.mark.parametrize("batched", [True, False])
@pytest.mark.parametrize("runs", [10, 5_000])
def test_coins_divide_the_runs_between_the_sides(batched: bool, runs: int) -> None:
    sampler = Sampler(Mechanism(noise, "noise", batched), 7)
    couples = sampler.tossed(Pair(0.0, 1.0), ADDRESS, runs)
    assert sum(job.size for couple in couples for job in couple) == runs
    assert list(couples) == list(sampler.tossed(Pair(0.0, 1.0), ADDRESS, runs))
    assert all((one.data, two.data) == (0.0, 1.0) for one, two in couples)


def test_the_coin_of_each_run_is_fair_and_independent_of_the_others() -> None:
    heads, orders = [], []
    for seed in range(60):
        sampler = Sampler(Mechanism(noise, "noise", False), seed)
        for couple in sampler.tossed(Pair(0.0, 1.0), ADDRESS, 640):
            orders.append(sampler.turns(couple))
            heads.append(couple[0].size)
    turns = np.array(orders)
    size = turns.shape[1]
    assert (size, len(set(heads)) > 1) == (40, True)
    assert (turns == 0).sum(axis=1).tolist() == heads
    # Numbers of heads have the binomial variance, and each place and each two neighbours are as a fair coin has them;
    # a right sampler fails with probability 1e-5 or so in all.
    spread = (2 * np.array(heads) - size) ** 2 / size
    assert chi2.cdf(spread.sum(), len(heads)) == pytest.approx(0.5, abs=0.5 - 1e-6)
    places = turns.mean(axis=0), (turns[:, 1:] == turns[:, :-1]).mean(axis=0)
    for shares in places:
        assert np.abs(shares - 0.5).max() < 5.5 * 0.5 / np.sqrt(len(turns))


def test_turns_are_the_order_in_which_runs_are_made() -> None:
    calls: list[int] = []

    def noted(data: int, rng: np.random.Generator) -> int:
        calls.append(data)
        return len(calls)

    sampler = Sampler(as_mechanism(noted), 5)
    couples = sampler.tossed(Pair(0, 1), ADDRESS, 1_000)
    start = 0
    for couple, outputs in zip(couples, sampler.reduced(couples, list), strict=True):
        turns = sampler.turns(couple)
        for side, made in enumerate(outputs):
            assert made == [start + i + 1 for i in np.flatnonzero(turns == side)]
        assert calls[start:] == turns.tolist()
        start = len(calls)
    assert start == 1_000


def test_outputs_do_not_show_the_coins_of_a_mechanism_that_ignores_its_input() -> None:
    sampler = Sampler(Mechanism(lambda data, rng, size: rng.random(size) < 0.3, "ignores", True), 11)
    couples = sampler.tossed(Pair(0, 1), ADDRESS, 200_000)
    counts = [sum(int(outputs[side].sum()) for outputs in sampler.reduced(couples, np.copy)) for side in (0, 1)]
    assert abs(counts[0] - counts[1]) < 5 * np.sqrt(sum(counts))


@pytest.mark.parametrize(
    ("batches", "joined"),
    [
        ([np.array([1, 2]), np.array([3])], np.array([1, 2, 3])),
        ([np.zeros((2, 3)), np.ones((1, 3))], np.array([[0.0] * 3, [0.0] * 3, [1.0] * 3])),
        ([["a"], [None, 2]], ["a", None, 2]),
        ([], []),
    ],
)
def test_batches_become_one(batches: list[Any], joined: Any) -> None:
    assert type(join(batches)) is type(joined)
    np.testing.assert_array_equal(join(batches), joined)


def test_rows_of_different_lengths_are_a_list() -> None:
    assert [len(row) for row in join([np.zeros((2, 3)), np.zeros((1, 2))])] == [3, 3, 2]


def counted(outputs: Any) -> Counter[int]:
    return Counter(outputs.tolist())


def counted_together(one: Counter[int], other: Counter[int]) -> Counter[int]:
    one.update(other)
    return one


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_sums_of_groups_are_those_of_their_couples(n_jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "GROUPS", 1)
    monkeypatch.setattr(sampling, "MOST_SUMMED", 3)
    mechanism = as_mechanism(lambda data, rng, size: rng.integers(data, size=size), batched=True)
    sampler = Sampler(mechanism, 1, n_jobs)
    couples = sampler.tossed(Pair(3, 5), ("sums",), 40_000)
    each = list(sampler.reduced(couples, counted))
    sums = list(sampler.summed(couples, counted, counted_together))
    assert len(couples) == 10
    assert [sum(runs) for runs, _ in sums][:3] == [3 * 4_096] * 3
    assert sum(sum(runs) for runs, _ in sums) == 40_000
    for i, (runs, sides) in enumerate(sums):
        group = each[3 * i : 3 * i + 3]
        for side, found in enumerate(sides):
            total: Counter[int] = Counter()
            for couple in group:
                total.update(couple[side])
            assert (dict(found), sum(found.values())) == (dict(total), runs[side])


def sized(data: int, rng: Any, size: int) -> Any:
    CALLED.append(size)
    return rng.integers(data, size=size)


CALLED: list[int] = []


@pytest.mark.parametrize("runs", [1, 31, 32, 33, 100, 255, 300, 2_000, 5_000, 40_000, 100_001])
def test_calls_of_a_batched_function_have_four_sizes_and_few_surplus_runs(runs: int) -> None:
    sizes = call_sizes(runs)
    assert set(sizes) <= set(SIZES)
    assert runs <= sum(sizes) <= max(runs + SIZES[0], (1 + SURPLUS) * runs)
    CALLED.clear()
    outputs = as_mechanism(sized, batched=True)(1_000, seeding.generator(0, "sizes"), runs)
    assert (sizes, len(outputs)) == (CALLED, runs)
    again = seeding.generator(0, "sizes")  # one generator serves all calls
    assert outputs.tolist() == np.concatenate([again.integers(1_000, size=size) for size in sizes])[:runs].tolist()


@pytest.mark.parametrize("kind", [list, tuple, np.asarray, deque])
def test_surplus_outputs_are_dropped_from_batches_of_any_type(kind: Any) -> None:
    mechanism = as_mechanism(lambda data, rng, size: kind([float(i) for i in range(size)]), batched=True)
    for runs in (5, 70):
        outputs = mechanism(0, seeding.generator(0, "kinds"), runs)
        assert list(outputs) == [float(i % 32) for i in range(runs)]


def test_one_list_that_is_filled_again_by_each_call_is_refused_or_copied() -> None:
    kept: list[float] = []

    def refills(data: int, rng: Any, size: int) -> list[float]:
        kept[:] = rng.random(size).tolist()
        return kept

    outputs = as_mechanism(refills, batched=True)(0, seeding.generator(0, "kept"), 70)
    assert len(set(outputs)) == 70


@pytest.mark.parametrize("ends", [None, (2, 4, 8)])
def test_even_couples_have_calls_of_one_size_and_the_law_of_coins(ends: tuple[int, ...] | None) -> None:
    """Of 400 draws of 500 heads each the mean is off by less than 4 deviations, and the variance by less than 30 %."""
    heads, groups = [], []
    for i in range(400):
        couples = Sampler(as_mechanism(sized, batched=True), 0).tossed(Pair(1, 2), ("law", i), 1_000, compared=True)
        couples = couples if ends is None else couples.grouped(ends)
        sizes = [[job.size for job in couple] for couple in couples]
        assert (couples.size, len(couples)) == (64, 16)
        last = {end - 1 for end in (*(ends or ()), 16)}
        inner = [one for j, one in enumerate(sizes) if not {j, j + 1} & last]
        assert all(size <= 32 for one in inner for size in one)
        assert sum(map(sum, sizes)) == 1_000
        heads.append(sum(first for first, _ in sizes))
        groups.append(sum(first for first, _ in sizes[:2]))
        if ends:
            assert sum(map(sum, sizes[:2])) == 128
    assert abs(np.mean(heads) - 500) < 4 * np.sqrt(250 / 400)
    assert 0.7 < np.var(heads) / 250 < 1.3
    if ends:
        assert 0.7 < np.var(groups) / 32 < 1.3
        assert abs(np.corrcoef(groups, np.array(heads) - groups)[0, 1]) < 0.2  # 4 deviations


def test_parts_of_even_couples_are_those_of_all() -> None:
    couples = Sampler(as_mechanism(sized, batched=True), 0).tossed(Pair(1, 2), ("parts",), 1_000, compared=True)
    couples = couples.grouped([4, 8, 16])
    parts = [job for some in (couples[:3], couples[3:9], couples[9:]) for job in some]
    assert parts == list(couples)
    assert couples[5] == parts[5]


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"sequential": True},
        {"time_limit": 7_200.0},  # which no busy machine makes an audit shorter by
        {"curve": True},
        {"claim": dpaudit.PrivacyClaim.gaussian(1.0)},
        {"trials": 300},
    ],
)
def test_an_audit_calls_a_batched_function_for_four_sizes(given: dict[str, Any]) -> None:
    """In small audits, and in those that see how long runs take, more runs than usual come on top."""
    CALLED.clear()
    claim = {} if "claim" in given else {"epsilon": 1.0}
    pairs = [(9 + i, 10 + i) for i in range(3)]
    found = dpaudit.audit_privacy(sized, pairs, **grouped(batched=True, **{"trials": 12_000} | claim | given))
    assert set(CALLED) <= set(SIZES)
    most = 1.1 if given.keys() <= {"curve", "claim"} else 2.0 if "trials" in given else 1.5
    spent = 2 * found.trials if found.design == "fixed" else found.budget["used"]
    assert sum(CALLED) <= most * spent + 12 * SIZES[0]


def test_an_audit_of_ones_own_data_calls_a_batched_function_for_four_sizes() -> None:
    CALLED.clear()

    def mean(data: Any, rng: Any, size: int) -> Any:
        CALLED.append(size)
        return np.sum(data) + rng.laplace(size=size)

    dpaudit.audit_privacy(mean, data=np.arange(8.0), epsilon=1.0, batched=True, trials=4_000)
    assert set(CALLED) <= set(SIZES)


@pytest.mark.parametrize("given", [{"n_jobs": 2}, {"timeout": 60.0}])
def test_calls_in_other_processes_have_four_sizes(given: dict[str, Any]) -> None:
    """The mechanism raises for any other size, which is an error of the audit."""

    def strict(data: int, rng: Any, size: int) -> Any:
        if size not in (32, 256, 2_048, 16_384):
            raise ValueError(f"not compiled for {size}")
        return data + rng.laplace(size=size)

    assert (
        dpaudit.audit_privacy(strict, [(0, 1)], **grouped(epsilon=1.0, batched=True, trials=6_000, **given)).trials
        == 6_000
    )


def test_calls_of_learners_are_as_large_as_they_are_asked_for() -> None:
    sizes: list[int] = []
    mechanism = Mechanism(lambda data, rng, size: sizes.append(size) or [0] * size, "promised", True, promised=True)
    mechanism(0, seeding.generator(0, "learner"), 37)
    assert sizes == [37]


def test_the_pace_is_not_that_of_the_quickest_batch() -> None:
    """The first batch, and the slowest of the others, may load something; runs that time out are in several."""
    pace = Pace()
    assert pace.seconds_a_run is None
    pace.add(10, 5.0, one_by_one=True)
    assert pace.seconds_a_run == 0.5
    for _ in range(3):
        pace.add(10, 0.01, one_by_one=True)
        pace.add(10, 0.59, one_by_one=True)
    pace.add(10, 7.0, one_by_one=True)
    assert pace.seconds_a_run == pytest.approx(0.03)
    elsewhere = Pace()
    elsewhere.add(10, 1.0, one_by_one=False)
    elsewhere.add(30, 0.0, one_by_one=False)
    assert elsewhere.seconds_a_run == pytest.approx(0.025)
