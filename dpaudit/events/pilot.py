"""Decide from pilot outputs whether they repeat, and so can be the outcome cells themselves."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpaudit.events.discretizers import FEW, Discretizer, Identity, PackedRows
from dpaudit.events.reducer import wide_leaves
from dpaudit.outputs.canonical import canonical
from dpaudit.outputs.plan import Plan
from dpaudit.outputs.readers import Block

__all__ = ["Pilot"]

REPEATED = 3
"""An output counts as repeated from so many times on: among several hundred outputs of many thousand kinds two often
agree by chance, three seldom."""
MOST_COMPARED = 100_000
"""Outputs of more numbers are not looked through for such that repeat."""


@dataclass(frozen=True)
class Pilot:
    """The discretizer that keeps outputs apart as they are, and whether no other is needed.

    Attributes
    ----------
    discretizer : Discretizer or None
        None where outputs hardly ever repeat.
    sufficient : bool
        True where cells are few, so that no score could say more than their histogram.
    plan : Plan
        The leaves of the outputs; none where cells suffice.
    """

    discretizer: Discretizer | None
    sufficient: bool
    plan: Plan = field(default_factory=Plan)

    @classmethod
    def of(cls, outputs: Any) -> Pilot:
        """Return what a batch of outputs of both sides suggests."""
        if isinstance(outputs, np.ndarray) and outputs[:1].size > MOST_COMPARED:
            return cls(None, False, Plan.of(outputs))
        found: Discretizer = _packed(outputs) or Identity()
        counts = Counter(canonical(cell) for cell in found(outputs))
        repeated = sum(c for c in counts.values() if c >= REPEATED) / max(1, len(outputs))
        sufficient = repeated > 0.5 and len(counts) <= FEW
        return cls(found if repeated > 0.5 else None, sufficient, Plan() if sufficient else Plan.of(outputs))

    @property
    def width(self) -> int:
        """The numbers of the widest row, where they are more than scores can be fitted on; else 0."""
        return max((leaf.reader.width for leaf in wide_leaves(self.plan) if isinstance(leaf.reader, Block)), default=0)

    @property
    def shared(self) -> list[Discretizer]:
        """The discretizer as a list, empty where there is none."""
        return [self.discretizer] if self.discretizer else []


def _packed(outputs: Any) -> PackedRows | None:
    """Return a discretizer of rows of integers that fit into one integer each, or None."""
    rows = isinstance(outputs, np.ndarray) and outputs.dtype.kind in "iu" and outputs.ndim == 2
    return PackedRows.of(outputs, 2**62 - 1) if rows else None
