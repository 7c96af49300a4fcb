"""Elementary steps of runs, counted where they are made, so that statements on running times can be measured.

A learner says what it does with `count_steps`, in units that its theorem counts: candidates weighed, cells made,
equations reduced. Nobody listens unless `counting_steps` is open, and the count costs a call where one is made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["count_steps", "counting_steps"]

_OPEN: list[Counter[str]] = []


def count_steps(kind: str, number: int) -> None:
    """Add to the steps of a kind in every count that is open in this process.

    Parameters
    ----------
    kind : str
        What the steps are, in the plural: "candidates weighed".
    number : int
        How many were made.
    """
    for counts in _OPEN:
        counts[kind] += int(number)


@contextmanager
def counting_steps() -> Iterator[Counter[str]]:
    """Count the steps that learners report until the end of the block, in this process.

    Yields
    ------
    collections.Counter
        The number of steps of each kind, which grows as they are made.

    Examples
    --------
    >>> with counting_steps() as steps:
    ...     count_steps("candidates weighed", 3)
    >>> dict(steps)
    {'candidates weighed': 3}
    """
    counts: Counter[str] = Counter()
    _OPEN.append(counts)
    try:
        yield counts
    finally:
        # By identity: two counts may be equal.
        del _OPEN[next(i for i, one in enumerate(_OPEN) if one is counts)]
