"""Map outputs to outcome cells that can be counted, by rules fixed before any run that counts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from dpaudit.bounds.base import Array, Integers
from dpaudit.events.cells import LEAST, places_of, quantiles_of_sorted, tally, to_grid
from dpaudit.events.event import Cells, CellSet, Event, Interval, Outputs, Tally
from dpaudit.events.feature_screening.search import not_compared
from dpaudit.events.flattening import GROUPS, Flattener
from dpaudit.events.wide import wide_leaves
from dpaudit.jsonable import stable_repr
from dpaudit.naming import Name
from dpaudit.outputs.canonical import canonical_each, holds_unseen
from dpaudit.outputs.leaf import OUTPUT
from dpaudit.outputs.plan import LeafPlan
from dpaudit.outputs.readers import Block

# Cells up to this many are compared as they are: histograms of more bins reached 79 to 84 % of the best bound on
# continuous outputs, and a smooth score 98 %.
FEW = 200
HISTOGRAM = Name("histogram")
HISTOGRAM_OF_ROWS = Name("histogram of rows")
REPEATED_OUTPUTS = Name("repeated outputs")
RANKED_HISTOGRAM = Name("ranked histogram")
# The cell of every output that training did not show.
OTHER = -1


class Discretizer:
    """Maps a batch of outputs to a batch of outcome cells; by default by a rule that was fitted to no runs.

    Findings call it by its `name`. Cells are `ordered` if they are integers that ascend with a score, so that events
    {cell >= t} make sense; others get an order from their counts. It is `screened` if it is the best of many features,
    which is better by luck than one score is.
    """

    name: Name
    ordered: bool = False
    screened: bool = False

    @property
    def learned(self) -> bool:
        """Whether the cells are those of a score that was fitted to runs, which cannot be read off an output."""
        return False

    @property
    def slow(self) -> bool:
        """Whether finding the cells takes much longer than counting them."""
        return False

    @property
    def columns(self) -> tuple[int, ...] | None:
        """The columns of reduced rows that the cells depend on; None for all, or for other outputs."""
        return None

    @property
    def midpoints(self) -> Array | None:
        """The score in the middle of each cell, where it estimates a log-likelihood ratio."""
        return None

    def __call__(self, outputs: Outputs) -> Outputs:
        """Return one cell for each output."""
        raise NotImplementedError

    def describe(self, event: CellSet) -> Event:
        """Return an event over the cells as data."""
        return Cells.of(self.name, event.inside, event.rare)

    def refit(self, data: Outputs, neighbour: Outputs) -> Discretizer | None:
        """Return the same cells by a score fitted on other runs; None if that is impossible or costs too much."""
        return self

    def joined(self, other: Discretizer, first: Sequence[Outputs], second: Sequence[Outputs]) -> Discretizer:
        """Return this discretizer and its `refit` as one, given the outputs that each was fitted on."""
        return self


@dataclass(frozen=True)
class Identity(Discretizer):
    """Takes discrete outputs as the cells."""

    name: Name = HISTOGRAM

    def __call__(self, outputs: Outputs) -> Outputs:
        """Return the outputs."""
        return outputs

    def describe(self, event: CellSet) -> Event:
        """Return the event as one over the outputs themselves."""
        return Cells.of(OUTPUT, event.inside, event.rare)


# A number beyond all ranges of packed rows.
_FAR = 2.0**53


@dataclass(frozen=True)
class PackedRows(Discretizer):
    """Packs rows of small integers into one integer each, in mixed radix; rows outside the pilot's ranges are OTHER.

    The rows are the outputs, or the columns of a group that a flattener makes of them.
    """

    lows: tuple[int, ...]
    sizes: tuple[int, ...]
    name: Name = HISTOGRAM_OF_ROWS
    flattener: Flattener | None = None
    group: str = ""

    @classmethod
    def of(cls, rows: NDArray[np.generic], most: int) -> PackedRows | None:
        """Return the packing of rows of whole numbers in the ranges seen; None for more than `most` packed values."""
        lows, highs = ([int(v) for v in ends] for ends in (rows.min(axis=0), rows.max(axis=0)))
        sizes = tuple(high - low + 1 for low, high in zip(lows, highs, strict=True))
        if math.prod(sizes) <= most:
            return cls(tuple(lows), sizes)
        return None

    def __call__(self, outputs: Outputs) -> Integers:
        """Return the packed rows."""
        found = outputs if self.flattener is None else GROUPS[self.group](self.flattener(outputs))
        rows = np.asarray(found).reshape(len(outputs), -1)
        # Missing and infinite values are in no range.
        if rows.dtype.kind == "f":
            rows = np.nan_to_num(rows, nan=_FAR).clip(-_FAR, _FAR)
        digits = rows.astype(np.int64) - np.array(self.lows)
        sizes = np.array(self.sizes)
        in_range = ((digits >= 0) & (digits < sizes)).all(axis=1)
        weights = np.concatenate([[1], np.cumprod(sizes[:0:-1])])[::-1]
        return np.where(in_range, digits @ weights, OTHER)


@dataclass(frozen=True)
class Atoms(Discretizer):
    """Numbers the outputs that training repeated; all others are OTHER: for atoms in a continuum."""

    numbers: Mapping[Hashable, int]
    name: Name = REPEATED_OUTPUTS

    def __call__(self, outputs: Outputs) -> Integers:
        """Return the number of each output's atom."""
        if not (isinstance(outputs, np.ndarray) and outputs.ndim == 1 and outputs.dtype.kind == "f"):
            return np.array([self.numbers.get(cell, OTHER) for cell in canonical_each(outputs)], dtype=np.int64)
        cells = np.full(len(outputs), OTHER)
        for atom, number in self.numbers.items():
            value = float(atom[1]) if isinstance(atom, tuple) else np.nan
            alike = (outputs == value) & (np.signbit(outputs) == np.signbit(value))
            cells[np.isnan(outputs) if np.isnan(value) else alike] = number
        return cells


class ScoreBins(Discretizer):
    """Base of discretizers whose cells are the bins of a real score, which ascend with it.

    The `edges` are the ascending cuts between the bins; each belongs to the bin above it.
    """

    edges: Array
    ordered = True

    @property
    def midpoints(self) -> Array | None:
        """The middle of each bin; the outermost bins have one edge only, which stands for them."""
        if not len(self.edges):
            return None
        ends = np.concatenate([self.edges[:1], self.edges, self.edges[-1:]])
        return ends[:-1] / 2 + ends[1:] / 2

    def describe(self, event: CellSet) -> Event:
        """Return the interval of the score from the event's lowest bin to its highest."""
        bins = sorted(v for v in event.inside if isinstance(v, int))
        if not bins:
            return Interval(self.name, -math.inf, math.inf)
        ends = [-math.inf, *self.edges.tolist(), math.inf]
        low = ends[bins[0]]
        high = ends[bins[-1] + 1]
        return Interval(self.name, low, high)


def score_edges(scores: Array) -> Array:
    """Return some 260 cuts of a score at most: 64 equal parts, and tails spaced logarithmically down to 4 runs."""
    least = min(0.25, 4 / len(scores))
    tails = np.geomspace(least, 0.5, 100)
    inner = np.linspace(0, 1, 65)[1:-1]
    return np.unique(quantiles_of_sorted(np.sort(scores), np.concatenate([tails, 1 - tails, inner])))


def tally_each(discretizers: Sequence[Discretizer], slow: bool, outputs: Outputs) -> tuple[Tally, ...]:
    """Return the counts of a batch by each of several discretizers, by slow ones only if asked to."""
    return tuple(tally(one(outputs)) if slow or not one.slow else Counter() for one in discretizers)


@dataclass(frozen=True)
class Ranked(ScoreBins):
    """Merges the cells of another discretizer into bins of their likelihood ratio on fitting runs.

    Ordering a thousand cells and testing the order on the same runs finds luck; this order meets fresh runs.
    """

    base: Discretizer
    bins: Mapping[Hashable, int]
    edges: Array
    name: Name = RANKED_HISTOGRAM

    @classmethod
    def fit(cls, base: Discretizer, data: Outputs, neighbour: Outputs) -> Self:
        """Order the cells of two batches of outputs by their log-likelihood ratio, shrunk by a standard error.

        Cells seen fewer than `LEAST` times are in the middle.
        """
        left = tally(base(data))
        right = tally(base(neighbour))
        common = sorted((v for v in left.keys() | right.keys() if left[v] + right[v] >= LEAST), key=stable_repr)
        x = np.array([left[v] for v in common]) + 0.5
        y = np.array([right[v] for v in common]) + 0.5
        raw = np.log(x / (left.total() + 1)) - np.log(y / (right.total() + 1))
        score = to_grid(np.sign(raw) * np.maximum(np.abs(raw) - np.sqrt(1 / x + 1 / y), 0.0))
        edges = np.unique(np.quantile(score, np.linspace(0, 1, FEW)[1:-1])) if common else np.zeros(0)
        return cls(base, dict(zip(common, np.searchsorted(edges, score, side="right").tolist(), strict=True)), edges)

    def __call__(self, outputs: Outputs) -> Integers:
        """Return the bin of each output's cell; unknown cells have the bin of ratio 1."""
        cells = self.base(outputs)
        if isinstance(cells, np.ndarray) and cells.ndim == 1 and cells.dtype.kind in "iu":
            ranked, bins = self._sorted
            at = places_of(ranked, cells)
            return np.where(at < 0, self.middle, bins[at])
        return np.array([self.bins.get(cell, self.middle) for cell in canonical_each(cells)], dtype=np.int64)

    def refit(self, data: Outputs, neighbour: Outputs) -> None:
        """Return None: bins of another fit would hold other cells."""

    @cached_property
    def middle(self) -> int:
        """The bin of ratio 1, in which unknown cells are."""
        return int(np.searchsorted(self.edges, 0.0, side="right"))

    @cached_property
    def _sorted(self) -> tuple[Integers, Integers]:
        whole = sorted(v for v in self.bins if isinstance(v, int)) or [OTHER]
        return np.array(whole), np.array([self.bins.get(v, self.middle) for v in whole])


# An output counts as repeated from so many times on: among several hundred outputs of many thousand kinds two often
# agree by chance, three seldom.
REPEATED = 3
# Outputs of more numbers are not searched for repetitions.
MOST_COMPARED = 100_000


# Classes that differ from no other one here of their family: NumPy's scalars of Python's width count as Python's.
_ONE_CLASS = frozenset({bool, int, float, str, bytes, type(None), np.float64, np.int64, np.bool_, np.str_})


def _are_all(cells: Iterable[Hashable], outputs: Outputs) -> bool:
    """Say whether cells say all of some outputs: of no class, or part, whose likes share a cell."""
    if isinstance(outputs, np.ndarray) and outputs.dtype != object:
        return True
    return set(map(type, outputs)) <= _ONE_CLASS and not any(map(holds_unseen, cells))


@dataclass(frozen=True)
class Pilot:
    """The discretizer that keeps outputs apart as they are, if they repeat, and whether no other is needed.

    It is `sufficient` where cells are few, so that no score could say more than their histogram; else the `plan` has
    the leaves of the outputs. `not_compared` are the relations between parts of such outputs that no feature shows. The
    `atoms` keep those apart that repeat among outputs that hardly ever do. So many outputs were `different` from the
    commonest one.
    """

    discretizer: Discretizer | None
    sufficient: bool
    plan: LeafPlan = field(default_factory=LeafPlan)
    not_compared: tuple[str, ...] = ()
    atoms: Discretizer | None = None
    different: int = 0

    @classmethod
    def of(cls, outputs: Outputs) -> Pilot:
        """Return what a batch of outputs of both sides suggests."""
        if isinstance(outputs, np.ndarray) and outputs[:1].size > MOST_COMPARED:
            plan = LeafPlan.of(outputs)
            return cls(None, False, plan, not_compared(plan, outputs))
        found: Discretizer = Identity()
        if isinstance(outputs, np.ndarray) and outputs.dtype.kind in "iu" and outputs.ndim == 2:
            # Rows of integers that fit into one integer each are packed.
            found = PackedRows.of(outputs, 2**62 - 1) or found
        counts = Counter(canonical_each(found(outputs)))
        repeated = sum(c for c in counts.values() if c >= REPEATED) / max(1, len(outputs))
        sufficient = repeated > 0.5 and len(counts) <= FEW
        plan = LeafPlan() if sufficient and _are_all(counts, outputs) else LeafPlan.of(outputs)
        if sufficient and not any(leaf.tells_likes_apart for leaf in plan.leaves):
            plan = LeafPlan(aside=plan.aside)
        else:
            sufficient = False
        relations = not_compared(plan, outputs)
        different = len(outputs) - max(counts.values(), default=0)
        if repeated > 0.5:
            return cls(found, sufficient, plan, relations, None, different)
        often = []
        if isinstance(found, Identity):
            often = [cell for cell, c in counts.most_common(FEW) if c >= REPEATED]
        atoms = Atoms({cell: i for i, cell in enumerate(often)}) if often else None
        return cls(None, sufficient, plan, relations, atoms, different)

    @property
    def width(self) -> int:
        """The numbers of the widest row, where they are more than scores can be fitted on; else 0."""
        return max((leaf.reader.width for leaf in wide_leaves(self.plan) if isinstance(leaf.reader, Block)), default=0)

    @property
    def shared(self) -> list[Discretizer]:
        """The discretizer as a list, empty where there is none."""
        if self.discretizer:
            return [self.discretizer]
        return []
