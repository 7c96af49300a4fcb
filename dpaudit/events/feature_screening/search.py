"""The screen: many features of every leaf are compared on some training runs, and the most promising ones returned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.events.batches import join
from dpaudit.events.feature_screening.features import ABSENT, Distinct, Feature, groups_of, placed
from dpaudit.events.feature_screening.groups import Cells
from dpaudit.events.feature_screening.parity import Parity, parities
from dpaudit.events.feature_screening.wilson_scores import best_events, best_half_lines, promise
from dpaudit.outputs.plan import Plan

__all__ = ["Promising", "screen"]

Floats = NDArray[np.float64]

ROWS = 5_000
"""Training runs a side that features are compared on: beyond them the screen costs more and finds little more."""
RECOUNTED = 24
"""Features that are counted again, on runs that did not rank them."""
RETURNED = 6
PARTS = 3
ENOUGH = 0.3
"""If nothing promises so much more than the claim, parities of bits are searched too."""


@dataclass(frozen=True)
class Promising:
    """A feature, and the bound that it promises on runs that did not choose it."""

    feature: Feature | Parity
    promise: float


def screen(
    plan: Plan,
    data: Sequence[Any],
    neighbour: Sequence[Any],
    confirm: int,
    *,
    epsilon: float = 0.0,
    stored: bool | None = False,
) -> list[Promising]:
    """Return the most promising features of some training runs, the best first.

    Parameters
    ----------
    plan : Plan
        The leaves.
    data, neighbour : batch
        Training outputs of the two sides.
    confirm : int
        Fresh runs a side to come.
    epsilon : float
        The claim; where some feature promises clearly more, no parities are searched.
    stored : bool
        Whether features of how values are stored take part; None for these alone.
    """
    left, right = data[:ROWS], neighbour[:ROWS]
    rows = join([left, right])
    # Two parts rank the features, each ordered by the other; a third recounts the best.
    side = np.r_[np.zeros(len(left), dtype=np.int64), np.ones(len(right), dtype=np.int64)]
    part = np.r_[_parts(len(left)), _parts(len(right))]
    groups = part + PARTS * side
    features: list[Feature | Parity] = []
    counts: list[Floats] = []
    bits: list[tuple[Feature, Cells]] = []
    for feature, cells in _features(plan, rows, stored):
        if cells.min() == cells.max():
            continue
        features.append(feature)
        counts.append(_counts(cells, groups))
        if cells.min() >= 0 and cells.max() == 1 and not feature.representation:
            bits.append((feature, cells))
    promised, again = _promises(counts, confirm, [feature.ordered for feature in features])
    if promised.max(initial=-np.inf) < epsilon + ENOUGH and bits:
        matrix = np.stack([cells for _, cells in bits], axis=1).astype(np.uint8)
        fit = part < PARTS - 1
        found = parities([bit for bit, _ in bits], matrix[fit & (side == 0)], matrix[fit & (side == 1)])
        features += (relations := list(found))
        more = _promises([_counts(parity(rows), groups) for parity in relations], confirm, [False] * len(relations))
        promised, again = np.append(promised, more[0]), np.append(again, more[1])
    order = np.argsort(-promised, kind="stable")[:RECOUNTED]
    order = order[np.argsort(-again[order], kind="stable")]
    return [Promising(features[i], float(again[i])) for i in _of_many_kinds(order.tolist(), features)[:RETURNED]]


def _of_many_kinds(order: Sequence[int], features: Sequence[Feature | Parity]) -> list[int]:
    """Return the best feature of each kind before any second one of a kind, each part in the order given.

    A number leaks through its sums and differences with others as well, and some of so many promise more by luck: a
    tail of one number was lost where three of them were returned.
    """
    ordered = [features[i] for i in order]
    kinds: list[type] = [type(one.group) if isinstance(one, Feature) else Parity for one in ordered]
    first = [i for place, i in enumerate(order) if kinds[place] not in kinds[:place]]
    return [*first, *(i for i in order if i not in first)]


def _parts(runs: int) -> NDArray[np.int64]:
    """Return which part each run belongs to: a quarter each to rank by, the rest to recount."""
    return np.minimum(4 * np.arange(runs) // max(1, runs), PARTS - 1)


def _counts(cells: Cells, groups: NDArray[np.int64]) -> Floats:
    """Return the runs in each cell of a feature that any run is in, shape (sides, parts, cells)."""
    codes = cells - ABSENT
    width = int(codes.max(initial=0)) + 1
    counts = np.bincount(codes + width * groups, minlength=2 * PARTS * width).reshape(2, PARTS, width).astype(float)
    return counts[:, :, counts.sum(axis=(0, 1)) > 0]


def _promises(counts: Sequence[Floats], confirm: int, ordered: Sequence[bool]) -> tuple[Floats, Floats]:
    """Return what each feature's best event promises on the parts that rank, and on the part that recounts.

    Features of as many cells are judged together: most have two. Where cells are ordered, or two, half-lines compete
    with events of any cells: among five hundred features a tail of a number was lost by the order of its cells alone.
    """
    promised, again = np.zeros(len(counts)), np.zeros(len(counts))
    widths = np.array([one.shape[-1] for one in counts], dtype=np.int64)
    for width in np.unique(widths).tolist():
        alike = np.flatnonzero(widths == width)
        data, neighbour = np.moveaxis(np.stack([counts[i] for i in alike.tolist()]), 1, 0)
        ranking = data[:, :-1], neighbour[:, :-1]
        promised[alike], inside, forward = best_events(*ranking, confirm)
        if width > 1:
            line = best_half_lines(*ranking, confirm)
            better = (line[0] > promised[alike]) & (np.array(ordered)[alike] | (width == 2))
            promised[alike[better]] = line[0][better]
            inside, forward = np.where(better[:, None], line[1], inside), np.where(better, line[2], forward)
        fresh = np.stack([data[:, -1], neighbour[:, -1]])
        hits, runs = (fresh * inside).sum(axis=-1), fresh.sum(axis=-1)
        (x, y), (m, k) = (np.where(forward, side, side[::-1]) for side in (hits, np.maximum(runs, 1.0)))
        again[alike] = promise(x, m, y, k, confirm, training=1.0) if width > 1 else -np.inf
    return promised, again


def _features(plan: Plan, rows: Any, stored: bool | None) -> Iterator[tuple[Feature, Cells]]:
    """Yield every feature of every leaf with its cells."""
    for leaf in plan.leaves:
        values, where = leaf.read(rows)
        if not len(values):
            continue
        for owner, read, group in groups_of(leaf, values):
            stores = group.representation or leaf.representation
            if (stored is None and not stores) or (stored is False and stores):
                continue
            distinct = Distinct.of(read)
            for j in range(len(group.names)):
                yield Feature(owner, group, j), placed(distinct.cells(group, j), where, len(rows))
