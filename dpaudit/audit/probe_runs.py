"""Looks at a mechanism: a few runs with a generator of one's choice, told apart exactly."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import InputError
from dpaudit.outputs.canonical import TIMED_OUT, Raised, canonical

__all__ = ["arrangements", "labels", "one_way"]

DIGITS = 9
"""Decimal digits of floats that are compared: sums over several threads differ in the last ones of sixteen."""

Label = Hashable


def labels(outputs: Any) -> list[Label] | None:
    """Return for each output what tells it apart; None if there is one that cannot be told apart, or that timed out.

    Of an exception it is the type, since messages name addresses in memory; floats are equal if their first nine digits
    are.
    """
    try:
        return [_label(output) for output in outputs]
    except InputError:
        return None


def _label(output: Any) -> Label:
    if isinstance(output, np.ndarray) and output.dtype.kind in "fc":
        parts = [output] if output.dtype.kind == "f" else [output.real, output.imag]
        return (output.shape, *(_rounded(part) for part in parts))
    if isinstance(output, np.ndarray) and output.dtype.kind in "biuSU":
        return (output.shape, output.tobytes())
    if isinstance(output, Raised) and output.kind == TIMED_OUT:
        raise InputError("whether a run takes too long is for the clock to say, and not alike each time")
    if isinstance(output, Raised):
        return ("raised", output.kind)
    return _blurred(canonical(output))


def _rounded(values: NDArray[Any]) -> bytes:
    mantissa, exponent = np.frexp(np.asarray(values, dtype=np.float64))
    return bytes(np.round(mantissa, DIGITS).tobytes() + exponent.tobytes())


def _blurred(label: Label) -> Label:
    """Return a label with its floats rounded."""
    if isinstance(label, float):
        return float(f"{label:.{DIGITS}g}")
    if isinstance(label, tuple):
        return tuple(map(_blurred, label))
    return frozenset(map(_blurred, label)) if isinstance(label, frozenset) else label


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
