"""Runs in chunks: every run once, the same outputs for any workers, batches as one."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from dpaudit import seeding
from dpaudit.contract import Pair
from dpaudit.outputs.shared import join
from dpaudit.running import sampling
from dpaudit.running.adapters import Mechanism, as_mechanism
from dpaudit.running.sampling import Sampler


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
    assert len(couples) == 8
    assert [sum(runs) for runs, _ in sums] == [15_000, 15_000, 10_000]
    for i, (runs, sides) in enumerate(sums):
        group = each[3 * i : 3 * i + 3]
        for side, found in enumerate(sides):
            total: Counter[int] = Counter()
            for couple in group:
                total.update(couple[side])
            assert (dict(found), sum(found.values())) == (dict(total), runs[side])
