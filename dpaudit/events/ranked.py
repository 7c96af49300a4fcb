"""Merge many cells into few by their likelihood ratio, so that the order can be tested on other runs."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dpaudit.events.discretizers import FEW, OTHER, Discretizer, ScoreBins
from dpaudit.events.histogram import LEAST, tally
from dpaudit.events.rounding import steady
from dpaudit.jsonable import stable_repr
from dpaudit.outputs.canonical import canonical

__all__ = ["Ranked"]


@dataclass(frozen=True)
class Ranked(ScoreBins):
    """Merges the cells of another discretizer into bins of their likelihood ratio on fitting runs.

    Ordering a thousand cells and testing the order on the same runs finds luck; this order meets fresh runs.
    """

    base: Discretizer
    bins: Mapping[Hashable, int]
    edges: NDArray[np.float64]
    name: str = "ranked histogram"

    @classmethod
    def fit(cls, base: Discretizer, data: Any, neighbour: Any) -> Self:
        """Order the cells of two batches of outputs by their log-likelihood ratio, shrunk by a standard error.

        Cells seen fewer than `LEAST` times are in the middle.
        """
        left, right = tally(base(data)), tally(base(neighbour))
        known = sorted((v for v in left.keys() | right.keys() if left[v] + right[v] >= LEAST), key=stable_repr)
        x = np.array([left[v] for v in known]) + 0.5
        y = np.array([right[v] for v in known]) + 0.5
        raw = np.log(x / (left.total() + 1)) - np.log(y / (right.total() + 1))
        score = steady(np.sign(raw) * np.maximum(np.abs(raw) - np.sqrt(1 / x + 1 / y), 0.0))
        edges = np.unique(np.quantile(score, np.linspace(0, 1, FEW)[1:-1])) if known else np.zeros(0)
        return cls(base, dict(zip(known, np.searchsorted(edges, score, side="right").tolist(), strict=True)), edges)

    def __call__(self, outputs: Any) -> NDArray[np.int64]:
        """Return the bin of each output's cell; unknown cells have the bin of ratio 1."""
        cells = self.base(outputs)
        if isinstance(cells, np.ndarray) and cells.ndim == 1 and cells.dtype.kind in "iu":
            known, bins = self._sorted
            at = np.minimum(np.searchsorted(known, cells), len(known) - 1)
            return np.where(known[at] == cells, bins[at], self.middle)
        return np.array([self.bins.get(canonical(v), self.middle) for v in cells], dtype=np.int64)

    def refit(self, data: Any, neighbour: Any) -> None:
        """Return None: bins of another fit would hold other cells."""

    @cached_property
    def middle(self) -> int:
        """The bin of ratio 1, in which unknown cells are."""
        return int(np.searchsorted(self.edges, 0.0, side="right"))

    @cached_property
    def _sorted(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        whole = sorted(v for v in self.bins if isinstance(v, int)) or [OTHER]
        return np.array(whole), np.array([self.bins.get(v, self.middle) for v in whole])
