"""From raw outputs to labels that can be counted: a fixed post-processing, chosen before any run that counts."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from dpaudit.distinguish.binning import bins, quantiles_of_sorted
from dpaudit.distinguish.canonical import canonical
from dpaudit.distinguish.classifiers import Classifier
from dpaudit.distinguish.features import GROUPS, Flattener
from dpaudit.distinguish.histogram import Tally
from dpaudit.distinguish.naive_bayes import NaiveBayes
from dpaudit.distinguish.patterns import Patterns
from dpaudit.jsonable import stable_repr

__all__ = ["AsTheyAre", "Atoms", "Joint", "Labeller", "PackedRows", "Ranked", "Scored", "score_edges"]

FEW = 200
"""Labels up to this many are compared as they are."""
CONTINUUM_ROWS = 2000
COPIES = 0.02
"""Where more runs than this share have one score, scores are no continuum. The level ends of a column's table have
less, 1 / (2 `naive_bayes.BINS`) of the runs each, and stay together in any fit."""
OTHER = -1
"""The label of what the pilot did not show."""


class Labeller(Protocol):
    """Maps a batch of outputs to a batch of labels.

    With ordered labels events {label >= t} make sense; others get an order from their counts.
    """

    @property
    def name(self) -> str:
        """What the finding calls it."""

    @property
    def ordered(self) -> bool:
        """Whether labels are integers that ascend with a score."""

    @property
    def unfitted(self) -> bool:
        """Whether labels owe nothing to which side their training runs came from."""

    @property
    def slow(self) -> bool:
        """Whether labelling takes much longer than counting."""

    @property
    def midpoints(self) -> NDArray[np.float64] | None:
        """The score in the middle of each label's bin, where it estimates a log-likelihood ratio."""

    def __call__(self, outputs: Any) -> Any:
        """Return one label for each output."""


class _Unfitted:
    """What labellers have in common whose labels owe nothing to the runs of either side."""

    ordered: ClassVar[bool] = False
    unfitted: ClassVar[bool] = True
    slow: ClassVar[bool] = False
    midpoints: ClassVar[None] = None


@dataclass(frozen=True)
class AsTheyAre(_Unfitted):
    """Discrete outputs are their own labels."""

    name: str = "histogram"

    def __call__(self, outputs: Any) -> Any:
        """Return the outputs."""
        return outputs


@dataclass(frozen=True)
class PackedRows(_Unfitted):
    """Rows of small integers as one integer each, in mixed radix; rows outside the pilot's ranges are OTHER."""

    lows: tuple[int, ...]
    sizes: tuple[int, ...]
    name: str = "histogram of rows"

    def __call__(self, outputs: Any) -> NDArray[np.int64]:
        """Return the packed rows."""
        rows = np.asarray(outputs).reshape(len(outputs), -1).astype(np.int64)
        digits = rows - np.array(self.lows)
        sizes = np.array(self.sizes)
        known = ((digits >= 0) & (digits < sizes)).all(axis=1)
        weights = np.concatenate([[1], np.cumprod(sizes[:0:-1])])[::-1]
        return np.where(known, digits @ weights, OTHER)


@dataclass(frozen=True)
class Atoms(_Unfitted):
    """Outputs that the pilot repeated, each by its number; all others are OTHER: for atoms in a continuum."""

    numbers: Mapping[Hashable, int]
    name: str = "repeated outputs"

    def __call__(self, outputs: Any) -> NDArray[np.int64]:
        """Return the number of each output's atom."""
        if isinstance(outputs, np.ndarray) and outputs.ndim == 1 and outputs.dtype.kind == "f":
            labels = np.full(len(outputs), OTHER)
            for label, number in self.numbers.items():
                value = float(label[1]) if isinstance(label, tuple) else np.nan
                same = (
                    np.isnan(outputs)
                    if np.isnan(value)
                    else (outputs == value) & (np.signbit(outputs) == np.signbit(value))
                )
                labels[same] = number
            return labels
        return np.array([self.numbers.get(canonical(value), OTHER) for value in outputs], dtype=np.int64)


@dataclass(frozen=True)
class Ranked:
    """Many labels, merged into few by their likelihood ratio on fitting runs; ascends with the ratio.

    Ordering a thousand labels and testing the order on the same runs finds luck; this order meets fresh runs.
    """

    base: Labeller
    bins: Mapping[Hashable, int]
    edges: NDArray[np.float64]
    name: str = "ranked histogram"
    ordered: ClassVar[bool] = True
    unfitted: ClassVar[bool] = False
    slow: ClassVar[bool] = False

    @classmethod
    def fit(cls, base: Labeller, data: Tally, neighbour: Tally) -> Ranked:
        """Order the labels by their shrunken log-likelihood ratio; labels seen fewer than 5 times are in the middle."""
        known = sorted((v for v in data.keys() | neighbour.keys() if data[v] + neighbour[v] >= 5), key=stable_repr)
        x = np.array([data[v] for v in known]) + 0.5
        y = np.array([neighbour[v] for v in known]) + 0.5
        raw = np.log(x / (data.total() + 1)) - np.log(y / (neighbour.total() + 1))
        score = np.sign(raw) * np.maximum(np.abs(raw) - np.sqrt(1 / x + 1 / y), 0.0)
        edges = np.unique(np.quantile(score, np.linspace(0, 1, FEW)[1:-1])) if known else np.zeros(0)
        return cls(base, dict(zip(known, np.searchsorted(edges, score, side="right").tolist(), strict=True)), edges)

    def __call__(self, outputs: Any) -> NDArray[np.int64]:
        """Return the bin of each output's label; unknown labels have the bin of ratio 1."""
        labels = self.base(outputs)
        if isinstance(labels, np.ndarray) and labels.ndim == 1 and labels.dtype.kind in "iu":
            known, bins = self._sorted
            at = np.minimum(np.searchsorted(known, labels), len(known) - 1)
            return np.where(known[at] == labels, bins[at], self._middle)
        return np.array([self.bins.get(canonical(v), self._middle) for v in labels], dtype=np.int64)

    @property
    def midpoints(self) -> NDArray[np.float64] | None:
        """The shrunken log-likelihood ratio in the middle of each bin."""
        return _midpoints(self.edges)

    @cached_property
    def _middle(self) -> int:
        return int(np.searchsorted(self.edges, 0.0, side="right"))

    @cached_property
    def _sorted(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        whole = sorted(v for v in self.bins if isinstance(v, int)) or [OTHER]
        return np.array(whole), np.array([self.bins.get(v, self._middle) for v in whole])


@dataclass(frozen=True)
class MeanScore:
    """The mean of scores that estimate the same log-likelihood ratio on different runs: it has less of their luck."""

    scores: tuple[Callable[[NDArray[np.float64]], NDArray[np.float64]], ...]

    def __call__(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the score of each row."""
        total: NDArray[np.float64] = sum((score(rows) for score in self.scores), np.zeros(len(rows)))
        return total / len(self.scores)


@dataclass(frozen=True)
class Scored:
    """The bin of a real score of the outputs' columns; bins ascend with the score."""

    flattener: Flattener
    groups: tuple[str, ...]
    score: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None
    edges: NDArray[np.float64]
    name: str
    ordered: ClassVar[bool] = True

    @property
    def unfitted(self) -> bool:
        """Whether the score is a column as it is."""
        return self.score is None

    @property
    def slow(self) -> bool:
        """Whether the score is a classifier's."""
        return isinstance(self.score, Classifier)

    @property
    def midpoints(self) -> NDArray[np.float64] | None:
        """The score in the middle of each bin; a column as it is estimates no ratio."""
        return None if self.unfitted else _midpoints(self.edges)

    def __call__(self, outputs: Any) -> NDArray[np.int64]:
        """Return the bin of each output's score."""
        return bins(self.edges, self.scores(outputs)).astype(np.int64)

    def refit(self, data: Any, neighbour: Any) -> Scored | None:
        """Return the same bins of a score fitted on other runs; None for slow scores, few scores and none."""
        if not isinstance(self.score, NaiveBayes | Patterns):
            return None
        # Of scores that repeat, those of two fits never fall into the same bins, unless they are the same.
        some = self.scores(data[:CONTINUUM_ROWS])
        values, copies = np.unique(some[~np.isin(some, self._repeats)], return_counts=True)
        if len(values) < 0.5 * copies.sum() or copies.max(initial=0) > max(2, COPIES * len(some)):
            return None
        return replace(self, score=self.score.refit(self._columns(data), self._columns(neighbour)))

    def joined(self, other: Scored, first: Sequence[Any], second: Sequence[Any]) -> Scored:
        """Return the mean of two scores, with bins that hold as much as those of each score on runs new to it.

        Parameters
        ----------
        other : Scored
            The `refit` of this score.
        first, second : sequence of batches
            Outputs of both sides that this score, and that the other one, was fitted on.
        """
        if self.score is None or other.score is None:
            return self
        news = np.concatenate([self.scores(side) for side in second] + [other.scores(side) for side in first])
        known = np.concatenate([other.scores(side) for side in second] + [self.scores(side) for side in first])
        below = np.searchsorted(np.sort(news), self.edges, side="left")
        edges = np.sort((news + known) / 2)[np.minimum(below, len(news) - 1)]
        # Ranks are random: a cut that crossed a score that many outputs share would take all of them along.
        for value in self._repeats:
            above = np.maximum(edges, np.nextafter(value, np.inf))
            edges = np.where(self.edges > value, above, np.minimum(edges, value))
        if isinstance(self.score, NaiveBayes) and isinstance(other.score, NaiveBayes):
            return replace(self, score=self.score.mean(other.score), edges=edges)
        return replace(self, score=MeanScore((self.score, other.score)), edges=edges)

    def scores(self, outputs: Any) -> NDArray[np.float64]:
        """Return the score of each output; without a score function it is the first column."""
        columns = self._columns(outputs)
        return columns[:, 0] if self.score is None else self.score(columns)

    @property
    def _repeats(self) -> NDArray[np.float64]:
        """The scores that outputs share and that a `refit` keeps."""
        return self.score.repeats() if isinstance(self.score, Patterns) else np.zeros(0)

    def _columns(self, outputs: Any) -> NDArray[np.float64]:
        base = self.flattener(outputs)
        if self.groups == ("values",):
            return base
        return np.column_stack([GROUPS[group](base) for group in self.groups])


@dataclass(frozen=True)
class Joint(_Unfitted):
    """The joint value of a group's columns, where they are few and whole."""

    flattener: Flattener
    group: str
    rows: PackedRows
    name: str

    def __call__(self, outputs: Any) -> NDArray[np.int64]:
        """Return the packed columns."""
        return self.rows(GROUPS[self.group](self.flattener(outputs)))


def _midpoints(edges: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Return the middle of each bin; the outermost bins have one edge only, which stands for them."""
    if not len(edges):
        return None
    ends = np.concatenate([edges[:1], edges, edges[-1:]])
    return ends[:-1] / 2 + ends[1:] / 2


def score_edges(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return some 260 cuts of a score at most: 64 equal parts, and tails spaced logarithmically down to 4 runs."""
    least = min(0.25, 4 / len(scores))
    tails = np.geomspace(least, 0.5, 100)
    inner = np.linspace(0, 1, 65)[1:-1]
    return np.unique(quantiles_of_sorted(np.sort(scores), np.concatenate([tails, 1 - tails, inner])))
