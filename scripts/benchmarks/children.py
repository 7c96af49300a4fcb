"""The price of a child process: runs here, in dpaudit's child, and in the workers of Pebble and of loky.

Usage: python scripts/bench.py children [--rounds 20]

Pebble and loky are optional: a library that is not installed is left out. Their workers return what dpaudit's child
does, outputs that are taken apart, so that the difference is that of the way and not of the content. With a limit each
run may take a minute for itself: dpaudit's child sends each output before the next run begins, and a library's worker
makes one run a task, as its limits are those of tasks. The least of the rounds is shown, in microseconds a run: what a
machine with nothing else to do takes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from contextlib import suppress

import numpy as np

from dpaudit.outputs.decoding import decode
from dpaudit.outputs.encoding import encode
from dpaudit.running.adapters import as_mechanism
from dpaudit.running.isolated import Timeout
from dpaudit.running.processes import keep_memory

WIDE = 10_000
"""Numbers of a large output: 80 kB."""
LIMIT = 60.0
Way = Callable[[], object]


def busy(seconds: float) -> None:
    """Compute for so many seconds."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def quick(data: float, rng: np.random.Generator) -> float:
    """Return a number, in about a microsecond."""
    return data + rng.laplace()


def quick_wide(data: float, rng: np.random.Generator) -> np.ndarray:
    """Return a large array, most of whose time is its noise."""
    return data + rng.laplace(size=WIDE)


def medium(data: float, rng: np.random.Generator) -> float:
    """Return a number, in 100 microseconds."""
    busy(1e-4)
    return data + rng.laplace()


def medium_wide(data: float, rng: np.random.Generator) -> np.ndarray:
    """Return a large array, in 100 microseconds more than its noise takes."""
    busy(1e-4)
    return data + rng.laplace(size=WIDE)


def slow(data: float, rng: np.random.Generator) -> float:
    """Return a number, in 10 ms."""
    busy(1e-2)
    return data + rng.laplace()


def slow_wide(data: float, rng: np.random.Generator) -> np.ndarray:
    """Return a large array, in 10 ms more than its noise takes."""
    busy(1e-2)
    return data + rng.laplace(size=WIDE)


def batch(data: float, rng: np.random.Generator, size: int) -> np.ndarray:
    """Return numbers, all in one call."""
    return data + rng.laplace(size=size)


def batch_wide(data: float, rng: np.random.Generator, size: int) -> np.ndarray:
    """Return rows of ten numbers, all in one call."""
    return data + rng.laplace(size=(size, 10))


KINDS = ((quick, 2048), (quick_wide, 64), (medium, 512), (medium_wide, 64), (slow, 32), (slow_wide, 32))
BATCHES = ((batch, 2**15), (batch_wide, 2**15))


def made(function: Callable[..., object], size: int, batched: bool) -> bytes:
    """Make runs, in the worker of a library, and return their outputs taken apart."""
    rng = np.random.default_rng(0)
    return encode(function(1.0, rng, size) if batched else [function(1.0, rng) for _ in range(size)])


def ways(function: Callable[..., object], size: int, batched: bool, stops: list[Way]) -> dict[str, Way]:
    """Return the ways in which runs are made, each a call; and add what ends their workers to `stops`."""
    here = as_mechanism(function, batched=batched)
    apart = as_mechanism(function, batched=batched, timeout=Timeout(float("inf")))
    limited = as_mechanism(function, batched=batched, timeout=Timeout(LIMIT))
    found: dict[str, Way] = {
        "here": lambda: here(1.0, np.random.default_rng(0), size),
        "child": lambda: apart(1.0, np.random.default_rng(0), size),
        "child, limit": lambda: limited(1.0, np.random.default_rng(0), size),
    }
    with suppress(ImportError):
        from pebble import ProcessPool

        pebble = ProcessPool(max_workers=1)
        stops += [pebble.stop, pebble.join]

        def by_pebble(runs: int, tasks: int) -> None:
            for _ in range(tasks):
                future = pebble.schedule(made, args=[function, runs, batched], timeout=LIMIT)
                decode(future.result(), runs)

        found["Pebble"] = lambda: by_pebble(size, 1)
        if not batched:
            found["Pebble, limit"] = lambda: by_pebble(1, size)
    with suppress(ImportError):
        from loky import ProcessPoolExecutor

        loky = ProcessPoolExecutor(max_workers=1)
        stops.append(loky.shutdown)
        found["loky"] = lambda: decode(loky.submit(made, function, size, batched).result(), size)
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    keep_memory()  # as in a child: else the way that comes first pays for the pages of all
    for batched, kinds in ((False, KINDS), (True, BATCHES)):
        for function, size in kinds:
            stops: list[Way] = []
            known = ways(function, size, batched, stops)
            times: dict[str, list[float]] = {name: [] for name in known}
            for call in known.values():
                call()  # workers begin
            for _ in range(rounds):
                for name, call in known.items():
                    began = time.perf_counter()
                    call()
                    times[name].append(1e6 * (time.perf_counter() - began) / size)
            least = {name: min(found) for name, found in times.items()}
            shown = (f"{name} {one:.3g} ({one / least['here']:.2f})" for name, one in least.items())
            print(f"{function.__name__:12} {'; '.join(shown)}", flush=True)
            for stop in stops:
                stop()


if __name__ == "__main__":
    main()
