"""Checks of randomness and state on a few runs: what would make an audit meaningless is said before it is made.

Each check asks one question of the mechanism on the first pair. Its answer is exact where it compares outputs of equal
generators; where it compares samples its error is below one in a thousand.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from dpaudit import seeding
from dpaudit.adapters import Mechanism
from dpaudit.contract import Pair
from dpaudit.distinguish.canonical import canonical
from dpaudit.errors import InputError
from dpaudit.record import Frozen

__all__ = ["Check", "check_randomness"]

CLOCKS = ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns")
SHIFT = 86_400
"""Seconds by which clocks are moved: a day."""


class Check(Frozen, frozen=True):
    """The answer to one question about a mechanism's randomness or state.

    Attributes
    ----------
    name : str
        The question.
    passed : bool
        Whether the answer is as an audit needs it.
    told : str
        The answer in words.
    fatal : bool
        Whether a wrong answer makes the audit meaningless.
    """

    name: str
    passed: bool
    told: str
    fatal: bool = False


def check_randomness(mechanism: Mechanism, pair: Pair, seed: int, runs: int, own: bool) -> tuple[Check, ...]:
    """Return the answers on `runs` runs of each side.

    Parameters
    ----------
    mechanism : Mechanism
        What will be audited.
    pair : Pair
        On what.
    seed : int
        The root seed.
    runs : int
        Runs that one look makes, at least 1; at most six looks a side are made.
    own : bool
        Whether the mechanism is declared to have randomness of its own: then nothing is asked of its generator.
    """
    if own:
        return (
            Check("generator", True, "randomness of its own, as declared: the audit cannot be repeated bit by bit"),
        )
    found = [_generator(mechanism, data, seed, runs, side) for side, data in _sides(pair)]
    worst = next((check for check in found if not check.passed), found[0])
    checks = [worst]
    if worst.passed:
        checks += [_clock(mechanism, pair.data, seed, runs), _order(mechanism, pair, seed, runs)]
    return tuple(checks)


def _sides(pair: Pair) -> tuple[tuple[str, Any], tuple[str, Any]]:
    return ("data", pair.data), ("neighbour", pair.neighbour)


def _generator(mechanism: Mechanism, data: Any, seed: int, runs: int, side: str) -> Check:
    """Compare runs with equal generators, with equal global generators if those differ."""
    first, second = (_labels(mechanism, data, seeding.generator(seed, "probe", side), runs) for _ in range(2))
    if first == second:
        return Check("generator", True, "equal generators give equal outputs")
    with _global_generators_kept() as reset:
        reset()
        first = _labels(mechanism, data, seeding.generator(seed, "probe", side), runs)
        reset()
        second = _labels(mechanism, data, seeding.generator(seed, "probe", side), runs)
    if first == second:
        told = (
            "a global generator is used (numpy.random, random or torch) instead of the one that is passed: the audit "
            "cannot be repeated bit by bit, and workers may repeat each other's streams"
        )
        return Check("generator", False, told)
    told = "equal generators gave different outputs: the mechanism has randomness of its own, so its audit cannot be "
    return Check("generator", False, told + 'repeated bit by bit; randomness="own" says that this is meant')


def _clock(mechanism: Mechanism, data: Any, seed: int, runs: int) -> Check:
    """Compare runs with equal generators while the clocks of the module `time` stand a day apart."""
    before = _labels(mechanism, data, seeding.generator(seed, "probe", "data"), runs)
    with _clocks_moved():
        after = _labels(mechanism, data, seeding.generator(seed, "probe", "data"), runs)
    if before == after:
        return Check("clock", True, "outputs do not depend on the clock")
    return Check("clock", False, "outputs depend on the clock: the audit cannot be repeated", fatal=False)


def _order(mechanism: Mechanism, pair: Pair, seed: int, runs: int) -> Check:
    """Compare runs with equal generators before and after runs on the other input."""
    first = _labels(mechanism, pair.data, seeding.generator(seed, "probe", "data"), runs)
    mechanism(pair.neighbour, seeding.generator(seed, "probe", "between"), runs)
    second = _labels(mechanism, pair.data, seeding.generator(seed, "probe", "data"), runs)
    if first == second:
        return Check("state", True, "outputs do not depend on earlier calls")
    told = "outputs depend on earlier calls: a state is kept between runs, so that runs are not independent"
    return Check("state", False, told, fatal=True)


def _labels(mechanism: Mechanism, data: Any, rng: np.random.Generator, runs: int) -> list[Hashable]:
    """Return what tells the outputs apart; nothing for outputs that cannot be compared, which are refused later."""
    try:
        return [canonical(output) for output in mechanism(data, rng, runs)]
    except InputError:
        return []


@contextmanager
def _global_generators_kept() -> Iterator[Callable[[], None]]:
    """Give a function that puts the global generators into one fixed state, and restore them in the end."""
    torch: Any = sys.modules.get("torch")
    kept = random.getstate(), np.random.get_state(), torch.get_rng_state() if torch else None  # noqa: NPY002

    def reset() -> None:
        random.seed(0)
        np.random.seed(0)  # noqa: NPY002
        if torch:
            torch.manual_seed(0)

    try:
        yield reset
    finally:
        random.setstate(kept[0])
        np.random.set_state(kept[1])  # noqa: NPY002
        if torch:
            torch.set_rng_state(kept[2])


@contextmanager
def _clocks_moved() -> Iterator[None]:
    """Let the clocks of the module `time` show another day while the block runs."""
    kept = {name: getattr(time, name) for name in CLOCKS}
    try:
        for name, clock in kept.items():
            step = SHIFT * 10**9 if name.endswith("_ns") else SHIFT
            setattr(time, name, lambda clock=clock, step=step: clock() + step)
        yield
    finally:
        for name, clock in kept.items():
            setattr(time, name, clock)
