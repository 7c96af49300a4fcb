"""Probe a mechanism: points on which estimators are compared, and a few runs with a given generator, compared exactly.

A call can be made with other global generators, clocks or process id. Other threads of the process see no difference:
clocks and the id are changed for the calling thread alone.
"""

from __future__ import annotations

import itertools
import math
import os
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from dpaudit.errors import InputError
from dpaudit.neighbours.check import check_pairs
from dpaudit.outputs.canonical import TIMED_OUT, Raised, canonical
from dpaudit.running.adapters import Mechanism

__all__ = [
    "FROM_DATA", "Label", "arrangements", "equal_global_generators", "labels", "moved_clocks", "one_way",
    "other_process", "probe_of", "probe_warnings", "ticking_clocks",
]  # fmt: skip

FROM_DATA = "data"
"""Says that the probe is to be derived from the pairs."""
PAIRS = 8
"""Pairs at most whose records are looked at."""


def probe_of(pairs: Sequence[Any], count: int = 64) -> Any:
    """Return points on which hypotheses that were fitted on pairs of datasets can be distinguished.

    They are the distinct records of both sides, those of one side alone first, then points half-way between records
    that follow each other, and two beyond the least and the greatest values of all.

    Parameters
    ----------
    pairs : sequence of (data, neighbour) or Pair
        Data that are points, or whose first part is: ``(X, y)``, an array, a list of numbers, a data frame (of which
        records alone are taken), or a learner's sample.
    count : int
        Points at most.

    Returns
    -------
    array, shape (points, features) or (points,), or data frame

    Raises
    ------
    InputError
        If the data hold no points of numbers.
    """
    sides = [_points(data) for pair in check_pairs(pairs[:PAIRS], None) for data in pair.sides]
    if hasattr(sides[0], "iloc"):
        import pandas as pd

        return pd.concat(sides).drop_duplicates().iloc[:count].reset_index(drop=True)
    if len({side.shape[1:] for side in sides}) > 1:
        raise InputError("{probe} cannot be derived from data of different widths: give points", names=("probe",))
    seen, times = np.unique(np.concatenate(sides), axis=0, return_counts=True)
    if not len(seen):
        raise InputError("{probe} cannot be derived from data without a record: give points", names=("probe",))
    records = seen[np.argsort(times, kind="stable")][: max(1, count // 2)]
    low, high = seen.min(axis=0), seen.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    between = (records[1:] + records[:-1]) / 2
    return np.concatenate([records, np.stack([low - span, high + span]), between])[:count]


def _points(data: Any) -> Any:
    """Return the points that a dataset holds, as an array of numbers or a data frame."""
    first = isinstance(data, tuple | list) and len(data) > 1 and getattr(data[0], "ndim", 0) == 2
    found = getattr(data, "points", data[0] if first else data)
    if hasattr(found, "iloc"):
        return found
    try:
        points = np.asarray(found, dtype=np.float64)
    except (TypeError, ValueError):
        points = np.zeros(())
    if points.ndim not in (1, 2):
        message = "{probe} cannot be derived from data of type {kind}: give points that predict takes, one a row"
        raise InputError(message, names=("probe",), kind=type(data).__qualname__)
    return points


def probe_warnings(mechanism: Mechanism, outputs: Sequence[Any]) -> tuple[str, ...]:
    """Return what a probe does not show, by some first outputs on both sides of a pair; nothing without a probe."""
    if mechanism.probe is None:
        return ()
    points = len(mechanism.probe)
    if not any(isinstance(output, np.ndarray) and len(output) == points for output in outputs):
        return ("the probe is not used: no output has a method predict",)
    if len(outputs) < 2 or len(set(map(canonical, outputs))) > 1:
        return ()
    message = f"{points} points of the probe have the same predictions in all of the first {len(outputs)} runs"
    return (f'{message}, on both inputs: choose points that distinguish models, as probe="{FROM_DATA}" does',)


DIGITS = 9
"""Decimal digits of floats that are compared: sums over several threads differ in the last ones of sixteen."""

Label = Hashable


def labels(outputs: Any) -> list[Label] | None:
    """Return for each output what distinguishes it; None if one cannot be distinguished from others, or timed out.

    Of an exception it is the type, since messages name addresses in memory; floats are equal if their first nine digits
    are.
    """
    try:
        return [_label(output) for output in outputs]
    except InputError:
        return None


def _label(output: Any) -> Label:
    if isinstance(output, np.ndarray) and output.dtype.kind in "fc":
        label: list[Label] = [output.shape]
        for part in [output] if output.dtype.kind == "f" else [output.real, output.imag]:
            mantissa, exponent = np.frexp(np.asarray(part, dtype=np.float64))
            label.append(np.round(mantissa, DIGITS).tobytes() + exponent.tobytes())
        return tuple(label)
    if isinstance(output, np.ndarray) and output.dtype.kind in "biuSU":
        return (output.shape, output.tobytes())
    if isinstance(output, Raised):
        if output.kind == TIMED_OUT:
            raise InputError("whether a run takes too long is for the clock to say, and not alike each time")
        return ("raised", output.kind)
    return _blurred(canonical(output))


def _blurred(label: Label) -> Label:
    """Return a label with its floats rounded."""
    if isinstance(label, float):
        return float(f"{label:.{DIGITS}g}")
    return type(label)(map(_blurred, label)) if isinstance(label, tuple | frozenset) else label


def arrangements(found: Sequence[Label]) -> float:
    """Return in how many orders these labels could have come.

    Independent runs give any order of them with the same probability. So, whatever the law of an output, the
    probability that two looks agree run by run and have at least k orders is at most 1 / k.
    """
    repeats = (math.lgamma(times + 1) for times in Counter(found).values())
    return math.exp(min(math.lgamma(len(found) + 1) - sum(repeats), 700.0))


def one_way(outputs: Sequence[Any]) -> bool:
    """Say whether outputs are numbers that only rise, or only fall, from run to run.

    Independent runs do so with probability at most 2 / n!, for n runs.
    """
    plain = all(isinstance(output, int | float | np.number) and not isinstance(output, bool) for output in outputs)
    if not plain or len(outputs) < 2:
        return False
    steps = np.diff(np.array([float(output) for output in outputs]))
    return bool((steps > 0).all() or (steps < 0).all())


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

    def later(clock: Callable[[], float], shift: int) -> float:
        return clock() + shift

    shifts = {name: SHIFT * (10**9 if name.endswith("_ns") else 1) for name in CLOCKS}
    return _changed(time, {name: partial(later, getattr(time, name), shift) for name, shift in shifts.items()})


def ticking_clocks() -> Any:
    """Let the clocks of the module `time` begin at one hour and go on by a millisecond each time they are read.

    If they stood still, code that waits for one would wait for ever.
    """
    steps = {name: 10**6 if name.endswith("_ns") else 1e-3 for name in CLOCKS}
    return _changed(time, {name: map(step.__mul__, itertools.count(10**12)).__next__ for name, step in steps.items()})


def other_process() -> Any:
    """Let the process have another id."""
    return _changed(os, {"getpid": partial(int, os.getpid() + 1)})


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
