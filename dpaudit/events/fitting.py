"""Fit the discretizers that are worth trying on a mechanism, by the look of its training outputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np

from dpaudit.bounds.base import Array, Integers
from dpaudit.events.cells import LEAST, bins
from dpaudit.events.discretizers import FEW, Atoms, Discretizer, PackedRows, Ranked, ScoreBins, score_edges
from dpaudit.events.event import Outputs
from dpaudit.events.feature_screening.feature import best_events, quantile_edges
from dpaudit.events.feature_screening.featured import screened_discretizers, support_gap_discretizers
from dpaudit.events.flattening import GROUPS, Flattener, group_columns
from dpaudit.events.scores import ColumnScore, Discriminant, NaiveBayes, Patterns, Score, controller
from dpaudit.events.wide import Reducer
from dpaudit.jsonable import stable_repr
from dpaudit.naming import Name, position
from dpaudit.outputs.canonical import canonical

Fit = Callable[[Array, Array], Score]

# Rows that show whether scores repeat: enough to see a share of `COPIES` forty times.
CONTINUUM_ROWS = 2000
# The share of runs with one score above which scores are no continuum. The level ends of a column's table have less, 1
# / (2 `scores.BINS`) of the runs each, and stay together in any fit.
COPIES = 0.02


@dataclass(frozen=True)
class Scored(ScoreBins):
    """Bins a score of groups of columns; without a score function it is the first column as it is."""

    flattener: Flattener
    groups: tuple[str, ...]
    score: Score | None
    edges: Array
    name: Name

    @property
    def learned(self) -> bool:
        """Whether there is a score; a column as it is was fitted to nothing."""
        return self.score is not None and not isinstance(self.score, ColumnScore)

    def column(self, index: int, outputs: Outputs) -> Scored:
        """Return the bins of one of this score's columns as it is, cut by outputs of both sides together."""
        one = replace(self, score=ColumnScore(index), name=Name.of("column {}", position(index)))
        return replace(one, edges=score_edges(one.scores(outputs)))

    @property
    def slow(self) -> bool:
        """Whether the score is a classifier's."""
        return self.score is not None and self.score.slow

    @property
    def midpoints(self) -> Array | None:
        """The score in the middle of each bin; a column as it is estimates no ratio."""
        if self.score is None:
            return None
        return super().midpoints

    def __call__(self, outputs: Outputs) -> Integers:
        """Return the bin of each output's score."""
        return bins(self.edges, self.scores(outputs)).astype(np.int64)

    def refit(self, data: Outputs, neighbour: Outputs) -> Scored | None:
        """Return the same bins of a score fitted on other runs; None for slow scores, and for few scores."""
        if self.score is None:
            return self
        # Of scores that repeat, those of two fits never fall into the same bins, unless they are the same.
        some = self.scores(data[:CONTINUUM_ROWS])
        values, copies = np.unique(some[~np.isin(some, self.score.repeats())], return_counts=True)
        if len(values) < 0.5 * copies.sum() or copies.max(initial=0) > max(2, COPIES * len(some)):
            return None
        score = self.score.refit(self._columns(data), self._columns(neighbour))
        if score is None:
            return None
        return replace(self, score=score)

    def joined(self, other: Discretizer, first: Sequence[Outputs], second: Sequence[Outputs]) -> Scored:
        """Return the mean of this score and its `refit`; bins hold as much as those of each on runs new to it.

        Given are the outputs of both sides that this score, and that the other one, was fitted on.
        """
        if self.score is None or not isinstance(other, Scored) or other.score is None:
            return self
        fresh = np.concatenate([self.scores(side) for side in second] + [other.scores(side) for side in first])
        fitted = np.concatenate([other.scores(side) for side in second] + [self.scores(side) for side in first])
        below = np.searchsorted(np.sort(fresh), self.edges, side="left")
        edges = np.sort((fresh + fitted) / 2)[np.minimum(below, len(fresh) - 1)]
        # Ranks are random: a cut that crossed a score that many outputs share would take all of them along.
        for value in self.score.repeats():
            above = np.maximum(edges, np.nextafter(value, np.inf))
            edges = np.where(self.edges > value, above, np.minimum(edges, value))
        return replace(self, score=self.score.mean(other.score), edges=edges)

    def scores(self, outputs: Outputs) -> Array:
        """Return the score of each output."""
        columns = self._columns(outputs)
        if self.score is None:
            return columns[:, 0]
        return self.score(columns)

    def _columns(self, outputs: Outputs) -> Array:
        base = self.flattener(outputs)
        if self.groups == ("values",):
            return base
        return np.column_stack([GROUPS[group](base) for group in self.groups])


# Rows a side that decide which groups of columns say anything.
GROUP_ROWS = 5_000
# Rows a side that classifiers are fitted on: with more they take most of an audit's time.
CLASSIFIER_ROWS = 100_000
# Rows a side below which no classifier is fitted: with a hundred, audits of 1,000 runs of vectors show as much or more
# without one, in half the time, and spare loading scikit-learn.
LEAST_ROWS = 250
# Rows a side that a classifier is tried on, and again as many that compare it with naive scores.
TRIED_ROWS = 5_000
# With fewer a classifier is not tried first.
LEAST_TRIED_ROWS = 2_000
# By how much it may promise less: with all rows it learns more than a naive score does.
TRIED_SLACK = 0.05
# The epsilon that naive scores must promise: below it, so few rows cannot say which score is better.
CLEAR = 0.3
# Groups that are linear in the values, so that they say nothing new to a linear score.
LINEAR = ("differences", "halves")
# Rows a side whose scores say where bins are cut: their outermost bins hold 4 runs of either.
EDGE_ROWS = 100_000
# The same of a classifier, whose scores take longer.
SLOW_EDGE_ROWS = 25_000
# 2^64 over the golden ratio: a product with it spreads a code over all bits.
HASH = np.uint64(0x9E3779B97F4A7C15)
# Outputs a side that are looked through for atoms: one of a thousandth of the mass is met ten times.
ATOM_ROWS = 10_000


def fitted_discretizers(
    data: Outputs,
    neighbour: Outputs,
    *,
    thorough: bool,
    float_bits: bool,
    discrete: Discretizer | None = None,
    reducer: Reducer | None = None,
    confirm: int | None = None,
    epsilon: float = 0.0,
) -> list[Discretizer]:
    """Fit every score and every histogram that applies to training outputs of the two sides.

    If `thorough`, scikit-learn's classifiers are fitted too, where outputs have several columns. With `float_bits` the
    bits of floats are looked at and not only their values. The `discrete` cells, which keep all outputs apart, are
    ranked; without them the outputs that repeat are. Wide outputs were made by a `reducer`. Where the number of fresh
    runs a side to come is given, `confirm`, features of every leaf are screened for what they promise beyond the claim,
    `epsilon`.
    """
    flattener = Flattener.fit([data, neighbour], reducer)
    left = flattener(data)
    right = flattener(neighbour)
    # The columns of reduced rows are no neighbours of each other.
    names = ["values"]
    if reducer is None:
        names = group_columns(np.concatenate([left[:GROUP_ROWS], right[:GROUP_ROWS]]))
    if not float_bits:
        names = [name for name in names if name != "float bits"]
    found: list[Discretizer] = []
    parts: dict[int, list[Outputs]] = {}
    for groups, score, name in _scores(left, right, names, thorough, confirm):
        scored = Scored(flattener, groups, score, np.zeros(0), name)
        if score is None:
            most = len(left)
        elif scored.slow:
            most = SLOW_EDGE_ROWS
        else:
            most = EDGE_ROWS
        if most not in parts and most >= max(len(left), len(right)):
            # The batches themselves: the flattener has kept their matrices.
            parts[most] = [data, neighbour]
        elif most not in parts:
            parts[most] = [data[:most], neighbour[:most]]
        pooled = np.concatenate([scored.scores(side) for side in parts[most]])
        found.append(replace(scored, edges=score_edges(pooled)))
    for group in ("halves", "summaries"):
        if group not in names:
            continue
        columns = GROUPS[group](left)
        # Few columns of few whole values have a joint histogram.
        if (columns == np.round(columns)).all() and np.abs(columns).max(initial=0) <= 2**31:
            rows = PackedRows.of(columns, 20 * FEW)
            if rows:
                name = Name(f"histogram of {group}")
                found.append(replace(rows, name=name, flattener=flattener, group=group))
    if confirm is not None:
        found += screened_discretizers(
            data, neighbour, confirm, epsilon=epsilon, stored=float_bits, plan=flattener.plan
        )
        if float_bits:
            found += support_gap_discretizers(data, neighbour, flattener.plan)
    base = discrete or _atoms((data, neighbour), (left, right))
    if base:
        return [*found, Ranked.fit(base, data, neighbour)]
    return found


def _scores(
    left: Array, right: Array, names: list[str], thorough: bool, confirm: int | None
) -> Iterator[tuple[tuple[str, ...], Score | None, Name]]:
    """Yield the groups of columns, the score fitted on them (None for a column as it is) and its name."""
    if left.shape[1] == 1:
        yield ("values",), None, Name("value")
    patterns = Patterns.fit(left, right)
    if patterns is not None:
        yield ("values",), patterns, Name("naive Bayes within patterns of repeated values")
    columns = {name: (GROUPS[name](left), GROUPS[name](right)) for name in names}
    for name, sides in columns.items():
        yield (name,), NaiveBayes.fit(*sides), Name(f"naive Bayes on {name}")
        if name in ("values", "differences") and left.shape[1] > 1:
            yield (name,), NaiveBayes.fit(*sides, pooled=True), Name(f"pooled naive Bayes on {name}")
    if thorough and left.shape[1] > 1 and min(len(left), len(right)) >= LEAST_ROWS:
        # Bits would drown the other columns, and the naive score reads them as they are.
        groups, naive = _paying({name: sides for name, sides in columns.items() if name != "float bits"}, confirm)
        for fit, taken, name in (
            (Discriminant.fit, tuple(one for one in groups if one not in LINEAR), "linear discriminant"),
            (boosting, groups, "boosted trees"),
        ):
            rows = [np.column_stack([columns[one][side][:CLASSIFIER_ROWS] for one in taken]) for side in (0, 1)]
            # Where columns say nothing together that they do not say alone, a score of them promises less than naive
            # ones on the same few rows, and trees would take most of an audit's time. Elsewhere it is worth it.
            if naive <= CLEAR or confirm is None or _promised(fit, rows, confirm) > naive - TRIED_SLACK:
                yield taken, fit(*rows), Name(f"{name} on {', '.join(taken)}")


def _paying(columns: Mapping[str, tuple[Array, Array]], confirm: int | None) -> tuple[tuple[str, ...], float]:
    """Return the groups of columns that classifiers are fitted on, and what naive scores promise.

    They are the values, and what promises more than these do. Where nothing promises anything all are taken: what
    columns say together may be all there is. The time of a fit grows with the columns.
    """
    if confirm is None or min(map(len, columns["values"])) < 2 * LEAST_TRIED_ROWS:
        return tuple(columns), 0.0
    promised = {name: _promised(NaiveBayes.fit, sides, confirm) for name, sides in columns.items()}
    pooled = _promised(partial(NaiveBayes.fit, pooled=True), columns["values"], confirm)
    promised["values"] = max(promised["values"], pooled)
    naive = max(promised.values())
    paying = [name for name in columns if name == "values" or naive <= CLEAR or promised[name] > promised["values"]]
    return tuple(paying), naive


def _promised(fit: Fit, sides: Sequence[Array], confirm: int) -> float:
    """Return what the best half-line of a score, fitted on some rows of the sides, promises by as many others."""
    most = min(TRIED_ROWS, *(len(side) // 2 for side in sides))
    score = fit(*(side[:most] for side in sides))
    scores = [score(side[most : 2 * most]) for side in sides]
    edges = quantile_edges(np.concatenate(scores))
    cells = (np.searchsorted(edges, side, side="right") for side in scores)
    data, neighbour = (np.bincount(side, minlength=len(edges) + 1).astype(np.float64)[None] for side in cells)
    return float(best_events(data, neighbour, confirm)[0])


def _atoms(sides: Sequence[Outputs], rows: Sequence[Array]) -> Atoms | None:
    """Return a discretizer for outputs that repeat among ones that do not, or None if there are none.

    Outputs that are equal have equal rows of numbers, so that only such outputs are compared.
    """
    # Rows of an array have no cheap hash.
    if isinstance(sides[0], np.ndarray) and sides[0].ndim > 1:
        return None
    rows = [side[:ATOM_ROWS] for side in rows]
    # A hash of the numbers of each output.
    code = np.zeros(sum(map(len, rows)), dtype=np.uint64)
    for column in np.concatenate(rows).T:
        # + 0.0 makes both zeros one.
        code = code * HASH + (column + 0.0).view(np.uint64)
    _, which, times = np.unique(code, return_inverse=True, return_counts=True)
    outputs = [value for side in sides for value in side[:ATOM_ROWS]]
    counts = Counter(canonical(outputs[i]) for i in np.flatnonzero(times[which] >= LEAST).tolist())
    repeated = sorted((atom for atom, c in counts.items() if c >= LEAST), key=stable_repr)[:FEW]
    if repeated:
        return Atoms({atom: i for i, atom in enumerate(repeated)})
    return None


# Rows a side that trees are fitted on: more cost more than they help, where simpler scores are fitted on all.
TREE_ROWS = 50_000
# Numbers a side in these rows: of wide rows trees take most of an audit's time.
TREE_NUMBERS = 1_000_000
# Rows a side that are taken however wide they are.
LEAST_TREE_ROWS = 2_000


@dataclass(frozen=True, eq=False)
class Trees(Score):
    """Fitted boosted trees: the sum of a base and of the value that each tree has for a row of `width` numbers.

    The `nodes` are the fields of scikit-learn's nodes, those of all trees one after the other. The `ends` are where
    each tree begins among them, and the end of the last.
    """

    width: int
    base: float
    ends: Integers
    nodes: dict[str, np.ndarray]
    slow = True

    def __post_init__(self) -> None:
        for first, last in pairwise(self.ends.tolist()):
            tree = {name: part[first:last] for name, part in self.nodes.items()}
            inner = tree["is_leaf"] == 0
            own = np.arange(last - first)
            sons = np.stack([tree["left"], tree["right"]])[:, inner]
            # Read in C without a check: a son comes after its parent, and is there.
            wrong = (sons <= own[inner]).any() or (sons >= last - first).any() or (tree["is_categorical"] != 0).any()
            if wrong or first >= last or not ((tree["feature_idx"] >= 0) & (tree["feature_idx"] < self.width)).all():
                raise ValueError("these are no trees")

    def __call__(self, rows: Array) -> Array:
        """Return the score of each row."""
        if rows.shape[1] != self.width:
            raise ValueError(f"rows of {rows.shape[1]} numbers, not {self.width}")
        rows = np.ascontiguousarray(np.clip(rows, -1e15, 1e15), dtype=np.float64)
        score = np.zeros(len(rows)) + self.base
        for tree in self._trees:
            score += tree.predict(rows, np.zeros((0, 8), np.uint32), np.zeros(self.width, np.uint32), 1)
        return score

    @cached_property
    def _trees(self) -> list[Any]:
        from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE
        from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor

        nodes = np.zeros(self.ends[-1], PREDICTOR_RECORD_DTYPE)
        none = np.zeros((0, 8), np.uint32)
        for name, part in self.nodes.items():
            nodes[name] = part
        return [TreePredictor(nodes[first:last].copy(), none, none) for first, last in pairwise(self.ends.tolist())]


def boosting(data: Array, neighbour: Array) -> Trees:
    """Fit gradient-boosted trees, by scikit-learn: any interaction, given enough runs."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    rows = min(TREE_ROWS, max(LEAST_TREE_ROWS, TREE_NUMBERS // data.shape[1]))
    data = data[:rows]
    neighbour = neighbour[:rows]
    model = HistGradientBoostingClassifier(
        max_iter=50,
        learning_rate=0.1,
        max_leaf_nodes=8,
        # Leaves of few runs learn noise: the signals sought are weak.
        min_samples_leaf=max(20, (len(data) + len(neighbour)) // 100),
        early_stopping=False,
        random_state=0,
    )
    labels = np.repeat(np.array([1, 0], np.int8), [len(data), len(neighbour)])
    with controller("sklearn").limit(limits=1):
        model.fit(np.clip(np.concatenate([data, neighbour]), -1e15, 1e15), labels)
    trees = [one.nodes for (one,) in model._predictors]
    nodes = np.concatenate(trees)
    parts = {str(name): nodes[name].copy() for name in nodes.dtype.names or ()}
    return Trees(data.shape[1], float(model._baseline_prediction[0, 0]), np.cumsum([0, *map(len, trees)]), parts)
