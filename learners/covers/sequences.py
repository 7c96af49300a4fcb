"""The outputs of Set Cover Learners over a listed class: sequences h_1 .. h_J as numbers, and their laws."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dpaudit.contract import Law
from learners.arrays import Bools, Floats, Integers
from learners.parameters import check_integer

__all__ = ["LAW_ATOMS", "decoded", "encoded", "sequence_law"]


LAW_ATOMS = 2**16
"""The most sequences that a law lists."""


def encoded(chosen: Integers, size: int) -> Integers | list[int]:
    """Return sum h_j size^(j-1) for rows h_1 .. h_J, as Python integers where it may exceed 63 bits."""
    rounds = chosen.shape[1]
    if size**rounds < 2**63:
        return np.asarray(chosen @ size ** np.arange(rounds, dtype=np.int64), dtype=np.int64)
    powers = [size**j for j in range(rounds)]
    return [sum(h * power for h, power in zip(row, powers, strict=True)) for row in chosen.tolist()]


def decoded(code: int, size: int, rounds: int) -> list[int]:
    """Return h_1 .. h_J of a number; `InputError` if it is none."""
    check_integer("code", code, 0, size**rounds - 1)
    members, rest = [], int(code)
    for _ in range(rounds):
        rest, member = divmod(rest, size)
        members.append(member)
    return members


def sequence_law(cover: Bools, rounds: int, round_law: Callable[[Floats], tuple[Floats, float]]) -> Law:
    """Return the law on all size^J sequences: products of the laws of the rounds along each sequence.

    Parameters
    ----------
    cover : array of bool, shape (m, size)
        Which of the sample's distinct examples each member of the class covers.
    rounds : int
        J.
    round_law : callable
        From which examples are still alive, (m,) of 0 and 1, to ln p(h) (size,) and a bound on its error. A round's
        law depends on that alone, so each set of examples is asked for once.
    """
    hit = [sum(1 << i for i in np.flatnonzero(column).tolist()) for column in cover.T]
    states, logs, error = [(1 << len(cover)) - 1], np.zeros(1), 0.0
    known: dict[int, tuple[Floats, float]] = {}
    for _ in range(rounds):
        for state in set(states) - set(known):
            known[state] = round_law(np.array([state >> i & 1 for i in range(len(cover))], dtype=np.float64))
        step = np.array([known[state][0] for state in states])
        logs = (logs[None, :] + step.T).ravel()
        error += max(known[state][1] for state in states)
        states = [state & ~mask for mask in hit for state in states]
    finite = logs[np.isfinite(logs)]
    return Law(range(len(logs)), logs, error + 2.0**-53 * rounds * float(-finite.min()))
