"""A few runs before an audit, to find what would make it meaningless."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np

from dpaudit import seeding
from dpaudit.adapters import Mechanism
from dpaudit.contract import Pair
from dpaudit.distinguish.canonical import Raised, canonical
from dpaudit.errors import InputError

__all__ = ["preflight"]

RUNS = 2
ASKED_RUNS, ASKED_PAIRS = 64, 8


def preflight(mechanism: Mechanism, pairs: Sequence[Pair], seed: int) -> tuple[str, ...]:
    """Make a few runs that count for nothing and return what they give reason to warn of.

    Two runs on both sides of the first pair, twice with the same generator; and some 64 over up to 8 pairs, to see
    whether most end in an exception.

    Parameters
    ----------
    mechanism : Mechanism
        What will be audited.
    pairs : sequence of Pair
        On what; not empty.
    seed : int
        The root seed.

    Returns
    -------
    tuple of str
        That the runs cannot be repeated, that the mechanism answers with exceptions.

    Raises
    ------
    InputError
        If it returns a wrong number of outputs, or if an input is used up or changed by a run: all runs share it, so
        the later ones would see something else.
    """
    for index, pair in enumerate(pairs):
        for side, data in _sides(pair):
            if isinstance(data, Iterator):
                raise InputError(f"pairs[{index}] has an iterator as its {side}, which a run would use up: pass a list")
    return *_warn_of_own_randomness(mechanism, pairs[0], seed), *_warn_of_exceptions(mechanism, pairs, seed)


def _sides(pair: Pair) -> tuple[tuple[str, Any], tuple[str, Any]]:
    return ("data", pair.data), ("neighbour", pair.neighbour)


def _warn_of_own_randomness(mechanism: Mechanism, pair: Pair, seed: int) -> tuple[str, ...]:
    """Compare runs with equal generators; raise if they change their input."""
    repeatable = True
    for side, data in _sides(pair):
        before = _contents(data)
        outputs = [mechanism(data, seeding.generator(seed, "probe", side), RUNS) for _ in range(2)]
        if _contents(data) != before:
            raise InputError(
                f"the mechanism {mechanism.name} changes its input, which all its runs share: let it work on a copy "
                f"(after {2 * RUNS} runs the {side} of pairs[0] is {data!r:.200})"
            )
        repeatable &= _cells(outputs[0]) == _cells(outputs[1])
    if repeatable:
        return ()
    return ("equal generators gave different outputs: the mechanism has randomness of its own, so its audit cannot be "
            "repeated bit by bit",)  # fmt: skip


def _warn_of_exceptions(mechanism: Mechanism, pairs: Sequence[Pair], seed: int) -> tuple[str, ...]:
    """Warn if more than half of some runs end in an exception.

    Exceptions are outputs like any other, since whoever runs the mechanism sees them too. But a misspelt name would
    raise the same one on both sides of every pair, and the audit would find "no violation". A batched mechanism is not
    asked: its exceptions end the audit.
    """
    if mechanism.batched:
        return ()
    some = range(0, len(pairs), -(-len(pairs) // ASKED_PAIRS))
    each = ASKED_RUNS // (2 * len(some))
    outputs = [
        output
        for index in some
        for side, data in _sides(pairs[index])
        for output in mechanism(data, seeding.generator(seed, "raising", index, side), each)
    ]
    raised = Counter(f"{output.kind}: {output.message:.200}" for output in outputs if isinstance(output, Raised))
    if 2 * raised.total() <= len(outputs):
        return ()
    usual = max(sorted(raised), key=lambda text: raised[text])
    return (
        f"{raised.total()} of {len(outputs)} first runs ended in an exception, most often {usual}; if that is not what "
        "the mechanism is meant to answer, this audit says nothing of it",
    )


def _contents(data: Any) -> Hashable:
    """Return what plain data holds; None for objects, which may fill caches as they please."""
    if isinstance(data, np.ndarray) and data.dtype != object:
        return (data.shape, data.dtype.str, data.tobytes())
    try:
        return canonical(data) if isinstance(data, list | dict | set | bytearray | np.ndarray | tuple) else None
    except InputError:  # an object among them
        return None


def _cells(outputs: Any) -> list[Hashable]:
    """Return what tells the outputs apart; outputs that cannot be told apart are refused later, with their value."""
    try:
        return [canonical(output) for output in outputs]
    except InputError:
        return []
