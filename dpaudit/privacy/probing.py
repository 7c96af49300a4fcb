"""A few runs before an audit: better to know now than after an hour what would make it meaningless."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np

from dpaudit import seeding
from dpaudit.adapters import Mechanism
from dpaudit.contract import Pair
from dpaudit.distinguish.canonical import canonical
from dpaudit.errors import InputError

__all__ = ["probe"]

RUNS = 2


def probe(mechanism: Mechanism, pair: Pair, seed: int) -> tuple[str, ...]:
    """Run a mechanism twice on both sides of a pair, with the same generator each time.

    Returns
    -------
    tuple of str
        Warnings: that the runs cannot be repeated.

    Raises
    ------
    InputError
        If it returns a wrong number of outputs, or if an input is used up or changed by a run: all runs share it, so
        the later ones would see something else.
    """
    repeatable = True
    for side, data in (("data", pair.data), ("neighbour", pair.neighbour)):
        if isinstance(data, Iterator):
            raise InputError(f"pairs[0] has an iterator as its {side}, which the first run would use up: pass a list")
        before = _contents(data)
        outputs = [mechanism(data, seeding.generator(seed, "probe", side), RUNS) for _ in range(2)]
        if _contents(data) != before:
            raise InputError(
                f"the mechanism {mechanism.name} changes its input, which all its runs share: let it work on a copy "
                f"(after {2 * RUNS} runs the {side} of pairs[0] is {data!r:.200})"
            )
        repeatable &= _labels(outputs[0]) == _labels(outputs[1])
    if repeatable:
        return ()
    return ("equal generators gave different outputs: the mechanism has randomness of its own, so its audit cannot be "
            "repeated bit by bit",)  # fmt: skip


def _contents(data: Any) -> Hashable:
    """Return what plain data holds; None for objects, which may fill caches as they please."""
    if isinstance(data, np.ndarray) and data.dtype != object:
        return (data.shape, data.dtype.str, data.tobytes())
    try:
        return canonical(data) if isinstance(data, list | dict | set | bytearray | np.ndarray | tuple) else None
    except InputError:  # an object among them
        return None


def _labels(outputs: Any) -> list[Hashable]:
    """Return what tells the outputs apart; outputs that cannot be told apart are refused later, with their value."""
    try:
        return [canonical(output) for output in outputs]
    except InputError:
        return []
