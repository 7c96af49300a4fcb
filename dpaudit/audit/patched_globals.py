"""Change what surrounds a call for a moment: global generators, clocks, the id of the process.

Other threads of the process see no difference: clocks and the id are changed for the calling thread alone.
"""

from __future__ import annotations

import itertools
import os
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

__all__ = ["equal_global_generators", "moved_clocks", "other_process", "ticking_clocks"]

CLOCKS = ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns")
SHIFT = 86_461
"""Seconds by which clocks are moved: a day, a minute and a second, so that date and time of day change."""


@contextmanager
def equal_global_generators() -> Iterator[None]:
    """Let the global generators of numpy, `random` and torch (if loaded) begin at one fixed state; restore theirs."""
    torch: Any = sys.modules.get("torch")
    # Generators that mechanisms share are global state: no Generator could stand in for them.
    kept = random.getstate(), np.random.get_state(), torch.get_rng_state() if torch else None  # noqa: NPY002
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002
    if torch:
        torch.manual_seed(0)
    try:
        yield
    finally:
        random.setstate(kept[0])
        np.random.set_state(kept[1])  # noqa: NPY002
        if torch:
            torch.set_rng_state(kept[2])


def moved_clocks() -> Any:
    """Let the clocks of the module `time` show another day."""
    return _changed(time, {name: _later(name) for name in CLOCKS})


def ticking_clocks() -> Any:
    """Let the clocks of the module `time` begin at one hour and go on by a millisecond each time they are read.

    If they stood still, whoever waits for one would wait for ever.
    """
    return _changed(time, {name: _ticking(10**6 if name.endswith("_ns") else 1e-3) for name in CLOCKS})


def other_process() -> Any:
    """Let the process have another id."""
    return _changed(os, {"getpid": _still(os.getpid() + 1)})


def _later(name: str) -> Callable[[], float]:
    clock, step = getattr(time, name), SHIFT * (10**9 if name.endswith("_ns") else 1)
    return lambda: clock() + step


def _ticking(step: float) -> Callable[[], float]:
    ticks = itertools.count(10**12)
    return lambda: next(ticks) * step


def _still(value: float) -> Callable[[], float]:
    return lambda: value


@contextmanager
def _changed(module: Any, functions: dict[str, Callable[[], Any]]) -> Iterator[None]:
    """Let functions of a module be others in this thread while the block runs."""
    mine, kept = threading.get_ident(), {name: getattr(module, name) for name in functions}

    def ours(name: str) -> Callable[[], Any]:
        return lambda: (functions if threading.get_ident() == mine else kept)[name]()

    try:
        for name in functions:
            setattr(module, name, ours(name))
        yield
    finally:
        for name, function in kept.items():
            setattr(module, name, function)
