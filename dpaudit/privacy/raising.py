"""Does a mechanism answer at all? What raises on every input gives nothing away, and nothing is learned of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dpaudit import seeding
from dpaudit.adapters import Mechanism
from dpaudit.contract import Pair
from dpaudit.distinguish.canonical import Raised

__all__ = ["warn_of_raising"]

PAIRS = 8
RUNS = 64


def warn_of_raising(mechanism: Mechanism, pairs: Sequence[Pair], seed: int) -> tuple[str, ...]:
    """Make about `RUNS` runs on both sides of up to `PAIRS` pairs; warn if more than half end in an exception.

    Exceptions are outputs like any other, since whoever runs the mechanism sees them too. But a misspelt name would
    raise the same one on both sides of every pair, and the audit would find "no violation". A batched mechanism is not
    asked: its exceptions end the audit.
    """
    if mechanism.batched:
        return ()
    some = range(0, len(pairs), -(-len(pairs) // PAIRS))
    each = RUNS // (2 * len(some))
    outputs = [
        output
        for index in some
        for side, data in enumerate((pairs[index].data, pairs[index].neighbour))
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
