"""The Neyman-Pearson-ordered histogram: count labels, order them by likelihood ratio, choose how many to take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.distinguish.canonical import canonical, in_words
from dpaudit.distinguish.events import best_prefix
from dpaudit.distinguish.families import (
    BACKWARD,
    FORWARD,
    families_by_counts,
    families_by_law,
    families_by_score,
)
from dpaudit.jsonable import stable_repr

__all__ = [
    "BACKWARD",
    "FORWARD",
    "LEAST",
    "RARE",
    "LabelChoice",
    "LabelEvent",
    "Tally",
    "choose_label_event",
    "separation",
    "tally",
]

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

    def __str__(self) -> str:
        whole = sorted(v for v in self.inside if isinstance(v, int))
        labels = [*_ranges(whole), *sorted(in_words(label) for label in self.inside if not isinstance(label, int))]
        shown = ", ".join(labels[:12]) + (f", ... ({len(self.inside)} outputs)" if len(labels) > 12 else "")
        rare = "any output rare or unseen in training" if self.rare else ""
        return " or ".join(part for part in (f"output in {{{shown}}}" if labels else "", rare) if part)


def _ranges(values: list[int]) -> list[str]:
    """Return ascending integers as text, runs of three and more as ranges."""
    runs: list[list[int]] = []
    for value in values:
        if runs and value == runs[-1][-1] + 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    return [text for run in runs for text in ([f"{run[0]}..{run[-1]}"] if len(run) > 2 else map(str, run))]


@dataclass(frozen=True)
class LabelChoice:
    """The best event over labels, the direction in which it is likelier, and the bound it can be expected to give.

    `ranking` holds all atoms, the label `RARE` among them, from the likeliest on data to the likeliest on neighbour in
    the order that the event is taken from.
    """

    event: LabelEvent
    direction: str
    value: float
    order: str
    compared: int
    ranking: tuple[Hashable, ...]


def choose_label_event(
    data: Tally,
    neighbour: Tally,
    confirm: int,
    *,
    delta: float,
    gamma: float,
    monotone: bool = False,
    log_ratio: Mapping[Hashable, float] | None = None,
    midpoints: NDArray[np.float64] | None = None,
    careful: bool = False,
    caution: float = 1.0,
) -> LabelChoice:
    """Return the best event over labels among nested events in several orders, in both directions.

    The orders are: if `monotone`, by the labels up and down; otherwise by the likelihood ratio that the counts show,
    and by `log_ratio` where it is known. The prefix with the greatest expected bound is taken.

    Parameters
    ----------
    data, neighbour : Counter
        Labels of the training runs on the two sides.
    confirm : int
        Fresh runs a side that will confirm.
    delta, gamma : float
        The claim's delta and the error of the confidence bound.
    monotone : bool
        Whether labels are integers that ascend with a score.
    log_ratio : mapping, optional
        ln(Pr[label | data] / Pr[label | neighbour]) by the learner's own law.
    midpoints : array, optional
        The score that each of the labels 0, 1, ... stands for, where it estimates a log-likelihood ratio.
    careful : bool
        Whether the choice is worth some 30 milliseconds for models with a prior.
    caution : float
        Multiplies the penalties of smooth ratios.
    """
    common, x, y = _atoms(data, neighbour, monotone)
    m, k = data.total(), neighbour.total()
    best: LabelChoice | None = None
    compared = 0
    careful = careful and delta == 0  # the models say nothing of p - delta
    if monotone:
        families = families_by_score(common, x, y, midpoints, careful)
    else:
        by_law = () if log_ratio is None else families_by_law(common, log_ratio)
        families = chain(families_by_counts(x, y, careful), by_law)
    for family in families:
        sides = (x, m, y, k) if family.direction == FORWARD else (y, k, x, m)
        hits, trained, others, neighbour_trained = sides
        choice = best_prefix(
            hits[family.order],
            trained,
            others[family.order],
            neighbour_trained,
            confirm,
            delta=delta,
            gamma=gamma,
            ordered=monotone,
            models=family.models,
            penalty=family.penalty,
            caution=caution,
        )
        compared += len(family.order)
        if best is None or choice.value > best.value:
            ranking = tuple(common[i] if i < len(common) else RARE for i in family.order.tolist())
            taken = frozenset(ranking[: choice.length])
            event = LabelEvent(taken - {RARE}, frozenset(common) - taken, RARE in taken)
            ranking = ranking if family.direction == FORWARD else ranking[::-1]
            best = LabelChoice(event, family.direction, choice.value, family.name, 0, ranking)
    assert best is not None
    return replace(best, compared=compared)


def _atoms(data: Tally, neighbour: Tally, monotone: bool) -> tuple[list[Any], NDArray[np.int64], NDArray[np.int64]]:
    """Return the common labels in order, and the counts of both sides in each and, last, in all the rare ones."""
    # A score has a place for every label, however rare.
    least = 1 if monotone else LEAST
    common: list[Any] = [label for label in data.keys() | neighbour.keys() if data[label] + neighbour[label] >= least]
    common.sort(key=None if monotone else stable_repr)
    x = np.array([data[label] for label in common], dtype=np.int64)
    y = np.array([neighbour[label] for label in common], dtype=np.int64)
    return common, np.append(x, data.total() - x.sum()), np.append(y, neighbour.total() - y.sum())


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
