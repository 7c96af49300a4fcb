"""Counted labels, and events over them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.distinguish.canonical import canonical, in_words
from dpaudit.event import Cells, ranges_of

__all__ = ["LEAST", "RARE", "LabelEvent", "Tally", "separation", "tally"]

LEAST = 5
"""Labels seen fewer times in training are one label, RARE, which is also where labels never seen go."""
RARE: Hashable = ("rare",)
"""A label that no output has."""

Tally = Counter[Hashable]


def tally(outputs: Any) -> Tally:
    """Count the labels of a batch of outputs."""
    if isinstance(outputs, np.ndarray) and outputs.ndim == 1 and outputs.dtype.kind in "iu":
        low, high = int(outputs.min()), int(outputs.max())
        if high - low < 4 * len(outputs) + 65536:
            # In narrow types the difference would wrap around.
            wide = outputs.astype(np.int64) if outputs.dtype.itemsize < 8 else outputs
            counts = np.bincount((wide - low).astype(np.int64, copy=False))
            seen = np.flatnonzero(counts)
            return Counter(dict(zip([value + low for value in seen.tolist()], counts[seen].tolist(), strict=True)))
        values, counts = np.unique(outputs, return_counts=True)
        return Counter(dict(zip(values.tolist(), counts.tolist(), strict=True)))
    return Counter(canonical(value) for value in outputs)


@dataclass(frozen=True)
class LabelEvent:
    """The event that the label is in `inside`; a label in neither set is inside if `rare` says so."""

    inside: frozenset[Hashable]
    outside: frozenset[Hashable]
    rare: bool

    def has(self, label: Hashable) -> bool:
        """Say whether a label is in the event."""
        return label in self.inside or (self.rare and label not in self.outside)

    def known(self, counts: Tally) -> Tally:
        """Return the counts with all labels in neither set as one, `RARE`."""
        merged: Tally = Counter()
        for label, count in counts.items():
            merged[label if label in self.inside or label in self.outside else RARE] += count
        return merged

    def hits(self, counts: Tally) -> int:
        """Return how many of the counted outputs are in the event."""
        return sum(count for label, count in counts.items() if self.has(label))

    def cells(self, feature: str) -> Cells:
        """Return the event as data: the labels are the cells of a feature."""
        whole = [label for label in self.inside if isinstance(label, int)]
        others = sorted(in_words(label) for label in self.inside if not isinstance(label, int))
        return Cells(feature, ranges_of(whole), tuple(others), self.rare)


def separation(data: Tally, neighbour: Tally) -> float:
    """Return how many standard errors apart the two sides are in the mean rank of their labels, in label order.

    It is |AUC - 1/2| over its standard error without a signal, for integer labels; 0 for others.
    """
    labels = sorted(label for label in data.keys() | neighbour.keys() if isinstance(label, int))
    x = np.array([data[label] for label in labels], dtype=np.float64)
    y = np.array([neighbour[label] for label in labels], dtype=np.float64)
    m, k = x.sum(), y.sum()
    if m == 0 or k == 0:
        return 0.0
    both = x + y
    rank = (np.cumsum(both) - both / 2) / both.sum() - 0.5
    spread = float(np.sqrt((both @ rank**2) / both.sum() * (1 / m + 1 / k)))
    return abs(float(x @ rank / m - y @ rank / k)) / spread if spread > 0 else 0.0
