"""Bin a real score of the outputs' columns, and put two scores fitted on different runs together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.events.binning import bins, quantiles_of_sorted
from dpaudit.events.classifiers import Classifier
from dpaudit.events.columns import Flattener
from dpaudit.events.discretizers import Discretizer, ScoreBins
from dpaudit.events.features import GROUPS
from dpaudit.events.naive_bayes import NaiveBayes
from dpaudit.events.patterns import Patterns

__all__ = ["Score", "Scored", "score_edges"]

Array = NDArray[np.float64]
Score = Callable[[Array], Array]

CONTINUUM_ROWS = 2000
"""Rows that tell whether scores repeat: enough to see a share of `COPIES` forty times."""
COPIES = 0.02
"""The share of runs with one score above which scores are no continuum. The level ends of a column's table have
less, 1 / (2 `naive_bayes.BINS`) of the runs each, and stay together in any fit."""


@dataclass(frozen=True)
class MeanScore:
    """The mean of scores that estimate the same log-likelihood ratio on different runs: it has less of their luck."""

    scores: tuple[Score, ...]

    def __call__(self, rows: Array) -> Array:
        """Return the score of each row."""
        total: Array = sum((score(rows) for score in self.scores), np.zeros(len(rows)))
        return total / len(self.scores)


@dataclass(frozen=True)
class Scored(ScoreBins):
    """Bins a score of groups of columns; without a score function it is the first column as it is."""

    flattener: Flattener
    groups: tuple[str, ...]
    score: Score | None
    edges: Array
    name: str

    @property
    def learned(self) -> bool:
        """Whether there is a score; a column as it is was fitted to nothing."""
        return self.score is not None

    @property
    def slow(self) -> bool:
        """Whether the score is a classifier's."""
        return isinstance(self.score, Classifier)

    @property
    def midpoints(self) -> Array | None:
        """The score in the middle of each bin; a column as it is estimates no ratio."""
        return None if self.score is None else super().midpoints

    def __call__(self, outputs: Any) -> NDArray[np.int64]:
        """Return the bin of each output's score."""
        return bins(self.edges, self.scores(outputs)).astype(np.int64)

    def refit(self, data: Any, neighbour: Any) -> Scored | None:
        """Return the same bins of a score fitted on other runs; None for slow scores, and for few scores."""
        if self.score is None:
            return self
        if not isinstance(self.score, NaiveBayes | Patterns):
            return None
        # Of scores that repeat, those of two fits never fall into the same bins, unless they are the same.
        some = self.scores(data[:CONTINUUM_ROWS])
        values, copies = np.unique(some[~np.isin(some, self._repeats)], return_counts=True)
        if len(values) < 0.5 * copies.sum() or copies.max(initial=0) > max(2, COPIES * len(some)):
            return None
        return replace(self, score=self.score.refit(self._columns(data), self._columns(neighbour)))

    def joined(self, other: Discretizer, first: Sequence[Any], second: Sequence[Any]) -> Scored:
        """Return the mean of two scores, with bins that hold as much as those of each score on runs new to it.

        Parameters
        ----------
        other : Scored
            The `refit` of this score.
        first, second : sequence of batches
            Outputs of both sides that this score, and that the other one, was fitted on.
        """
        if self.score is None or not isinstance(other, Scored) or other.score is None:
            return self
        news = np.concatenate([self.scores(side) for side in second] + [other.scores(side) for side in first])
        known = np.concatenate([other.scores(side) for side in second] + [self.scores(side) for side in first])
        below = np.searchsorted(np.sort(news), self.edges, side="left")
        edges = np.sort((news + known) / 2)[np.minimum(below, len(news) - 1)]
        # Ranks are random: a cut that crossed a score that many outputs share would take all of them along.
        for value in self._repeats:
            above = np.maximum(edges, np.nextafter(value, np.inf))
            edges = np.where(self.edges > value, above, np.minimum(edges, value))
        both = (self.score, other.score)
        if isinstance(both[0], NaiveBayes) and isinstance(both[1], NaiveBayes):
            return replace(self, score=both[0].mean(both[1]), edges=edges)
        return replace(self, score=MeanScore(both), edges=edges)

    def scores(self, outputs: Any) -> Array:
        """Return the score of each output."""
        columns = self._columns(outputs)
        return columns[:, 0] if self.score is None else self.score(columns)

    @property
    def _repeats(self) -> Array:
        """The scores that outputs share and that a `refit` keeps."""
        return self.score.repeats() if isinstance(self.score, Patterns) else np.zeros(0)

    def _columns(self, outputs: Any) -> Array:
        base = self.flattener(outputs)
        if self.groups == ("values",):
            return base
        return np.column_stack([GROUPS[group](base) for group in self.groups])


def score_edges(scores: Array) -> Array:
    """Return some 260 cuts of a score at most: 64 equal parts, and tails spaced logarithmically down to 4 runs."""
    least = min(0.25, 4 / len(scores))
    tails = np.geomspace(least, 0.5, 100)
    inner = np.linspace(0, 1, 65)[1:-1]
    return np.unique(quantiles_of_sorted(np.sort(scores), np.concatenate([tails, 1 - tails, inner])))
