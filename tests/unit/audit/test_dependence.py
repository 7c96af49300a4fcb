"""Tests of dependence: false alarms at the stated rates, whatever the law of outputs, and power where there is some."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from quick import by_turns
from scipy.stats import rankdata

from dpaudit.audit import dependence
from dpaudit.audit.dependence import (
    Series,
    SharedValues,
    _ranks,
    depends_on_calls,
    depends_on_order,
    numbers_of,
    split_chance,
)
from dpaudit.audit.preflight import labels
from dpaudit.running.fingerprints import fingerprints

Rng = np.random.Generator
LAWS: dict[str, Callable[[Rng], Any]] = {
    "float": lambda rng: float(rng.laplace()),
    "rounded": lambda rng: round(float(rng.laplace()), 1),
    "coin": lambda rng: int(rng.random() < 0.7),
    "rare": lambda rng: bool(rng.random() < 0.03),
    "vector": lambda rng: rng.normal(size=4),
    "text": lambda rng: "abc"[int(rng.integers(3))],
    "mixed": lambda rng: {"a": float(rng.normal()), "b": "xy"[int(rng.integers(2))]},
    "huge": lambda rng: 10 ** int(rng.integers(300, 400)),
}


def ordered(outputs: Sequence[Any], *others: Sequence[Any], seed: int = 0) -> bool:
    """Return whether the order of outputs on each of some inputs is found to matter."""
    series = []
    for runs in (outputs, *others):
        one = Series()
        known = labels(runs)
        assert known is not None
        one.add(runs, known)
        series.append(one)
    return depends_on_order(series, np.random.default_rng(seed))


def kept(draw: Callable[[], Any], again: Callable[[], bool], runs: int) -> list[Any]:
    """Return runs of which some have the noise of the last one again."""
    found = [draw()]
    while len(found) < runs:
        found.append(found[-1] if again() else draw())
    return found


@pytest.mark.parametrize("name", LAWS)
def test_independent_runs_are_said_to_depend_as_often_as_stated(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # At a twentieth instead of 1e-4: 13 or more of 100 have a probability of 0.0015.
    monkeypatch.setattr(dependence, "STAGES", (19,))
    monkeypatch.setattr(dependence, "SCALING", 50)
    rng = np.random.default_rng(0)
    found = 0
    for seed in range(100):
        sides = [[LAWS[name](rng) for _ in range(24)] for _ in range(2)]
        found += ordered(*sides, seed=seed)
    assert found < 13


@pytest.mark.parametrize(
    ("share", "name"), by_turns(itertools.product([0.7, 0.9], ["float", "vector", "mixed", "text", "coin"]))
)
def test_noise_that_is_kept_is_found(name: str, share: float) -> None:
    rng = np.random.default_rng(1)
    sides = [kept(lambda: LAWS[name](rng), lambda: rng.random() < share, 96) for _ in range(2)]
    assert ordered(*sides)


@pytest.mark.parametrize("rho", [0.6, 0.9, 0.99, -0.6])
def test_noise_that_decays_is_found(rho: float) -> None:
    rng = np.random.default_rng(2)
    sides = []
    for _ in range(2):
        noise = [rng.laplace()]
        while len(noise) < 96:
            noise.append(rho * noise[-1] + rng.laplace())
        sides.append(noise)
    assert ordered(*sides)


def test_other_dependence_is_found() -> None:
    rng = np.random.default_rng(3)
    numbers = list(map(float, range(96)))
    assert ordered(numbers)
    assert ordered([float(number % 3) for number in range(96)])
    scale = np.repeat([0.01, 10.0] * 8, 6)
    assert ordered((rng.laplace(size=96) * scale).tolist())  # of which only the size is alike
    # Part of an output is as good as all of it.
    times = itertools.count()
    assert ordered([{"noise": float(rng.normal()), "call": next(times)} for _ in range(96)])


def test_what_cannot_be_put_into_another_order_shows_nothing() -> None:
    assert not ordered([1.0] * 50, [2.0] * 50)
    assert not ordered([1.0, 2.0, 3.0])
    assert not depends_on_order([Series()], np.random.default_rng(0))
    assert not ordered([float("nan")] * 30)


def test_numbers_of_outputs() -> None:
    assert numbers_of(np.arange(1000), None) == [float(i) for i in range(0, 1000, 16)]
    assert numbers_of(2.5, 2.5) == [2.5]
    assert numbers_of("text", ("text", 3, (True, 2.0))) == [3.0, 1.0, 2.0]
    assert numbers_of(10**400, 10**400) == [float("inf")]
    assert numbers_of(np.zeros((0, 3)), None) == []


def test_the_chance_of_split_pairs_is_exact() -> None:
    # All choices of three of seven runs, two pairs of which have equal values.
    values = [0, 0, 1, 1, 2, 3, 4]
    found = []
    for first in itertools.combinations(range(7), 3):
        ours = [values[i] for i in first]
        found.append(sum(ours.count(pair) == 1 for pair in (0, 1)))
    for split in range(3):
        share = np.mean([one >= split for one in found])
        assert split_chance([(3, 4, 2, split)]) == pytest.approx(share, rel=1e-6)
    both = np.mean([one + other >= 3 for one in found for other in found])
    assert split_chance([(3, 4, 2, 1), (3, 4, 2, 2)]) == pytest.approx(both, rel=1e-6)
    assert split_chance([]) == 1.0
    assert 0 < split_chance([(1000, 1000, 500, 500)]) < 1e-140


def workers(law: Callable[[Rng], Any], repeated: float, seed: int, runs: int = 600, late: int = 0) -> SharedValues:
    """Return values of two workers, of whose noise a share is the same, in other places by so many runs."""
    rng = np.random.default_rng(seed)
    common = int(repeated * runs)
    noise = [law(rng) for _ in range(2 * runs - common)]
    values = SharedValues()
    for worker, own in (("a", noise[:runs]), ("b", np.roll(np.arange(runs), late))):
        mine = own if worker == "a" else [noise[runs - common + int(i)] for i in own]
        sides = rng.integers(2, size=runs)
        for side in (0, 1):
            outputs = [one for one, which in zip(mine, sides, strict=True) if which == side]
            values.add((worker, ((str(side), fingerprints(outputs, 1.0)),)))
    return values


@pytest.mark.parametrize("name", LAWS)
def test_independent_workers_are_left_alone(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # At a hundredth instead of 1e-5: 6 or more of 100 have a probability of 5e-4.
    monkeypatch.setattr(dependence, "SHARED_ERROR", 0.01)
    assert sum(workers(LAWS[name], 0.0, seed, runs=150).repeated() for seed in range(100)) < 6


@pytest.mark.parametrize("late", [0, 100])
@pytest.mark.parametrize("digits", [3, 15])
def test_workers_that_repeat_half_of_their_noise_are_found(late: int, digits: int) -> None:
    found = [
        workers(lambda rng: round(float(rng.laplace()), digits), 0.5, seed, late=late).repeated() for seed in range(20)
    ]
    assert sum(found) >= 19


def test_a_worker_that_repeats_itself_repeats_no_other() -> None:
    values = SharedValues()
    for worker in ("a", "b"):
        noise = np.random.default_rng(ord(worker)).normal(size=100)
        values.add((worker, (("x", fingerprints(np.concatenate([noise, noise]), 1.0)),)))
    assert values.workers == 2
    assert not values.repeated()


def test_one_of_many_workers_that_repeats_another_is_found() -> None:
    values = SharedValues()
    for number in range(6):
        noise = np.random.default_rng(min(number, 4)).normal(size=100)
        values.add((str(number), (("x", fingerprints(noise, 1.0)),)))
    assert values.repeated()


def test_fingerprints_are_those_of_the_values() -> None:
    for outputs in (
        [1.0, 2.0, 1.0],
        ["a", "b", "a"],
        [np.arange(3), np.ones(3), np.arange(3)],
        [{"a": 1}, {}, {"a": 1}],
    ):
        one, other, again = fingerprints(outputs, 1.0).tolist()
        assert one == again != other
    assert fingerprints([1.0, 2.0], 1.0).tolist() == fingerprints(np.array([1.0, 2.0]), 1.0).tolist()
    many = np.random.default_rng(0).normal(size=10_000)
    some = fingerprints(many, 0.1).tolist()
    assert 850 < len(some) < 1150  # five standard deviations
    assert set(some) <= set(fingerprints(many, 1.0).tolist())
    assert set(fingerprints(many[::2], 0.1).tolist()) <= set(some)


@pytest.mark.parametrize("period", [6, 20, 60])
def test_noise_that_is_used_again_in_turn_is_found(period: int) -> None:
    rng = np.random.default_rng(1)
    pool = rng.laplace(size=period)
    outputs = [float(pool[i % period]) for i in range(128)]
    assert ordered(outputs, [one + 1 for one in outputs])
    drawn = [float(pool[i]) for i in rng.integers(period, size=128)]
    assert not ordered(drawn, drawn[::-1])


def calls_of(draw: Callable[[Rng], list[Any]], rng: Rng) -> Series:
    series = Series()
    for _ in range(2):
        outputs = draw(rng)
        known = labels(outputs)
        assert known is not None
        series.add(outputs, known)
    return series


@pytest.mark.parametrize("name", LAWS)
def test_runs_of_calls_are_said_to_be_alike_as_often_as_stated(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # At a twentieth instead of 1e-4: 13 or more of 100 have a probability of 0.0015.
    monkeypatch.setattr(dependence, "STAGES", (19,))
    monkeypatch.setattr(dependence, "SCALING", 50)
    rng = np.random.default_rng(0)
    found = sum(
        depends_on_calls(calls_of(lambda rng: [LAWS[name](rng) for _ in range(16)], rng), 16, rng) for _ in range(100)
    )
    assert found < 13


def test_runs_of_a_call_that_share_numbers_are_found_and_opposite_ones_are_not() -> None:
    rng = np.random.default_rng(2)

    def vectors(rng: Rng) -> list[Any]:
        shared = rng.laplace()
        return [np.array([shared, rng.laplace()]) for _ in range(16)]

    assert depends_on_calls(calls_of(lambda rng: [float(rng.laplace())] * 16, rng), 16, rng)
    assert depends_on_calls(calls_of(lambda rng: list(np.tile(rng.laplace(size=3), 6)[:16]), rng), 16, rng)
    assert depends_on_calls(calls_of(vectors, rng), 16, rng)
    assert not depends_on_calls(calls_of(lambda rng: list(np.sort(rng.laplace(size=16))), rng), 16, rng)
    assert not depends_on_calls(calls_of(lambda rng: [7] * 16, rng), 16, rng)


@pytest.mark.parametrize("seed", range(5))
def test_ranks_are_those_of_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = np.concatenate([rng.integers(-3, 3, 40) / 2, [np.inf, -np.inf, np.inf, -0.0, 0.0]])
    np.testing.assert_array_equal(_ranks(values), rankdata(values))
    assert _ranks(np.array([])).shape == (0,)
