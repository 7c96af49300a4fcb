"""Pilot outputs: whether a mechanism's outputs repeat, and so can be the outcome cells themselves."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.distinguish.canonical import canonical
from dpaudit.distinguish.discretizers import FEW, Discretizer, Identity, PackedRows

__all__ = ["Pilot"]

REPEATED = 3
"""An output counts as repeated from so many times on: two of several hundred values of a continuum rounded to a few
digits often agree, three seldom."""


@dataclass(frozen=True)
class Pilot:
    """The discretizer that keeps outputs apart as they are, and whether no other is needed.

    Attributes
    ----------
    discretizer : Discretizer or None
        None where outputs hardly ever repeat.
    sufficient : bool
        True where cells are few, so that no score could say more than their histogram.
    """

    discretizer: Discretizer | None
    sufficient: bool

    @classmethod
    def of(cls, outputs: Any) -> Pilot:
        """Return what a batch of outputs of both sides suggests."""
        found: Discretizer = _packed(outputs) or Identity()
        counts = Counter(canonical(cell) for cell in found(outputs))
        repeated = sum(c for c in counts.values() if c >= REPEATED) / max(1, len(outputs))
        return cls(found, len(counts) <= FEW) if repeated > 0.5 else cls(None, False)

    @property
    def shared(self) -> list[Discretizer]:
        """The discretizer as a list, empty where there is none."""
        return [self.discretizer] if self.discretizer else []


def _packed(outputs: Any) -> PackedRows | None:
    """Return a discretizer of rows of integers that fit into one integer each, or None."""
    rows = isinstance(outputs, np.ndarray) and outputs.dtype.kind in "iu" and outputs.ndim == 2
    return PackedRows.of(outputs, 2**62 - 1) if rows else None
