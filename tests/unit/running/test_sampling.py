"""Runs in chunks: every run once, the same outputs for any workers, batches as one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpaudit.contract import Pair
from dpaudit.outputs.shared import join
from dpaudit.running.adapters import Mechanism
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
    np.testing.assert_array_equal(second, one.outputs(0.0, ("phase", 1), 10_000))
    assert not (first == second).any()


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
