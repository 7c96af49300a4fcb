"""The price of the boundary: the time of audits in this process, in others as in commands, and with time limits.

Usage: python scripts/bench.py boundary [--rounds 5]

Each round makes, for each mechanism, the same audit in all three ways, in turn; the medians over the rounds are shown.
The times are those of the processors, of this process and its children, and by the clock. To compare versions of
dpaudit, run the script with each of them in PYTHONPATH, in turn.
"""

from __future__ import annotations

import argparse
import gc
import resource
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import dpaudit
from dpaudit.running.processes import APART, keep_apart

PAIR = ([0.0], [1.0])


def scalars(data: Any, rng: np.random.Generator, size: int) -> Any:
    """Laplace noise, a batch as an array."""
    return data[0] + rng.laplace(size=size)


def rows(data: Any, rng: np.random.Generator, size: int) -> Any:
    """Ten numbers a run, a batch as an array."""
    return data[0] + rng.laplace(size=(size, 10))


def listed(data: Any, rng: np.random.Generator, size: int) -> Any:
    """Tuples of a float, an integer and a text, a batch as a list."""
    values = (data[0] + rng.laplace(size=size)).tolist()
    return [(value, int(value), "a" if value > 0 else "b") for value in values]


def one(data: Any, rng: np.random.Generator) -> Any:
    """Return a number with Laplace noise, one run a call."""
    return data[0] + rng.laplace()


def tuples(data: Any, rng: np.random.Generator) -> Any:
    """Return a tuple, one run a call."""
    value = data[0] + rng.laplace()
    return (value, int(value), "a" if value > 0 else "b")


def arrays(data: Any, rng: np.random.Generator) -> Any:
    """Return an array of a hundred numbers, one run a call."""
    return data[0] + rng.laplace(size=100)


MECHANISMS: tuple[tuple[Callable[..., Any], bool, int], ...] = (
    (scalars, True, 2_000_000),
    (scalars, True, 20_000_000),
    (rows, True, 200_000),
    (listed, True, 200_000),
    (one, False, 50_000),
    (tuples, False, 50_000),
    (arrays, False, 10_000),
)


def spent() -> float:
    """Return the seconds of processor time of this process and of its children that have ended."""
    return sum(
        used.ru_utime + used.ru_stime
        for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def seconds(mechanism: Callable[..., Any], batched: bool, trials: int, way: str) -> tuple[float, float]:
    """Return the processor time of an audit, and the time by the clock."""
    before = spent()
    began = time.perf_counter()
    limit = {"timeout": 60.0} if way == "timeout" else {}
    if way == "command":
        keep_apart()
    dpaudit.audit_privacy(mechanism, [PAIR], epsilon=1.0, trials=trials, batched=batched, seed=1, **limit)
    clock = time.perf_counter() - began
    APART.clear()
    gc.collect()  # ends processes of the mechanism, whose times are known then
    return spent() - before, clock


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    print(dpaudit.__file__)
    print("microseconds a run")
    print(f"{'mechanism':10} {'runs a side':>11} {'time':9} {'in process':>11} {'command':>17} {'timeout':>17}")
    for mechanism, batched, trials in MECHANISMS:
        found: dict[str, list[tuple[float, float]]] = {"in process": [], "command": [], "timeout": []}
        for _ in range(rounds):
            for way, times in found.items():
                times.append(seconds(mechanism, batched, trials, way))
        for place, name in enumerate(("processor", "clock")):
            medians = (statistics.median(one[place] for one in times) for times in found.values())
            inside, *others = (1e6 * median / (2 * trials) for median in medians)
            shown = "".join(f" {other:8.3f} {100 * (other / inside - 1):+6.1f} %" for other in others)
            print(f"{mechanism.__name__:10} {trials:11,d} {name:9} {inside:11.3f}{shown}", flush=True)
