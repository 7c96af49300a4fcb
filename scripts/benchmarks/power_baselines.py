"""Search an event as two published auditors do, on outputs flattened to rows of numbers, for comparison.

Both are small and honest: they see as many runs as an audit does, choose an event on half of them, and confirm it on
the other half with the bound that audits use. What is no list, tuple or array of as many finite numbers in every run,
they cannot take.

* `logistic_search`, after DP-Sniper (Bichsel, Steffen, Bogunovic and Vechev, IEEE S&P 2021): a logistic regression
  tells the two sides apart, and the event is that its score passes a threshold, which is chosen so that the less likely
  side has at least a given mass. There the mass is 0.01 and the runs are millions; here the best of five is taken.
* `box_search`, after StatDP (Ding, Wang, Wang, Zhang and Kifer, CCS 2018): the events are single values or half-lines
  of each coordinate, and pairs of them. There a hypothesis test chooses; here the ratio of confidence limits does.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from dpaudit.bounds.limits import lower_limit, upper_limit

__all__ = ["SEARCHES", "Chosen", "box_search", "flattened", "logistic_search"]

Array: TypeAlias = NDArray[np.float64]

MASSES = (0.01, 0.05, 0.1, 0.25, 0.5)
"""The least masses, on the less likely side, of the events of the logistic search."""
FEW = 16
"""A coordinate with no more values has one event a value; another one has half-lines."""
CUTS = (0.005, 0.01, 0.02, *np.linspace(0.05, 0.95, 19), 0.98, 0.99, 0.995)
"""The quantiles at which half-lines begin and end."""
PAIRED = 8
"""The coordinates whose best events are tried in pairs."""
ERROR = 0.025


@dataclass(frozen=True)
class Chosen:
    """An event that a search has chosen.

    Parameters
    ----------
    forward : bool
        Whether it is likelier on the second side.
    holds : callable
        Rows of numbers -> whether the event happened, one a row.
    """

    forward: bool
    holds: Callable[[Array], NDArray[np.bool_]]


@dataclass(frozen=True)
class Score:
    """The event that a linear score is at least a threshold."""

    centre: Array
    weights: Array
    least: float

    def __call__(self, rows: Array) -> NDArray[np.bool_]:
        """Return which rows are in it."""
        return np.asarray((rows - self.centre) @ self.weights >= self.least)


@dataclass(frozen=True)
class Box:
    """The event that some coordinates are between limits, both included."""

    limits: tuple[tuple[int, float, float], ...]

    def __call__(self, rows: Array) -> NDArray[np.bool_]:
        """Return which rows are in it."""
        inside = [(rows[:, i] >= low) & (rows[:, i] <= high) for i, low, high in self.limits]
        return np.asarray(np.all(inside, axis=0))


def flattened(outputs: Sequence[Any]) -> Array | None:
    """Return outputs as rows of finite numbers of one length, or None where they are not such."""
    rows = [_numbers(output) for output in outputs]
    if any(row is None or len(row) != len(rows[0]) for row in rows):
        return None
    table = np.array(rows, np.float64)
    return table if np.isfinite(table).all() else None


def _numbers(output: Any) -> Any:
    if isinstance(output, bool | int | float | np.number | np.bool_) and not isinstance(output, np.complexfloating):
        return [output]
    if isinstance(output, np.ndarray) and output.dtype.kind in "biuf":
        return np.asarray(output).ravel()
    if isinstance(output, list | tuple):
        parts = [_numbers(part) for part in output]
        return None if any(part is None for part in parts) else [number for part in parts for number in part]
    return None


def promise(hits: Any, runs: int, others: Any, other_runs: int) -> Array:
    """Return a rough lower bound on the log-ratio, by the ratio of two confidence limits: the measure of the choice."""
    low = lower_limit(hits, runs, ERROR)
    high = upper_limit(others, other_runs, ERROR)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(low) - np.log(high))


def logistic_search(first: Array, second: Array) -> Chosen:
    """Return the event that a logistic regression's score passes a threshold, in the better direction."""
    rows = np.concatenate([first, second])
    spread = np.std(np.concatenate([first, second]), axis=0)
    centre = rows.mean(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LogisticRegression(max_iter=200).fit(
            (rows - centre) / scale, np.repeat([0, 1], [len(first), len(second)])
        )
    best = -np.inf
    chosen = None
    for forward, (less, more) in ((True, (first, second)), (False, (second, first))):
        weights = (1 if forward else -1) * model.coef_[0] / scale
        low = (less - centre) @ weights
        high = (more - centre) @ weights
        for least in np.quantile(low, 1 - np.array(MASSES), method="lower"):
            # Sums depend in their last digits on how many rows are multiplied at once; a tie must stay in the event.
            least = least - 1e-9 * (1 + abs(least))
            found = float(promise((high >= least).sum(), len(high), (low >= least).sum(), len(low)))
            if found > best or chosen is None:
                best = found
                chosen = Chosen(forward, Score(centre, weights, float(least)))
    assert chosen is not None
    return chosen


def box_search(first: Array, second: Array) -> Chosen:
    """Return the best event among values and half-lines of the coordinates and pairs of these, in both directions."""
    best: tuple[float, Chosen] | None = None
    for forward, (less, more) in ((True, (first, second)), (False, (second, first))):
        singles = sorted((_best_of(i, less, more) for i in range(first.shape[1])), key=lambda found: -found[0])
        leading = [box.limits for _, box in singles[:PAIRED]]
        pairs = [Box(a + b) for a, b in combinations(leading, 2)]
        for found, box in [singles[0], *((_measured(pair, less, more), pair) for pair in pairs)]:
            if best is None or found > best[0]:
                best = found, Chosen(forward, box)
    assert best is not None
    return best[1]


def _measured(box: Box, less: Array, more: Array) -> float:
    return float(promise(box(more).sum(), len(more), box(less).sum(), len(less)))


def _best_of(column: int, less: Array, more: Array) -> tuple[float, Box]:
    """Return the best event of a coordinate and its measure."""
    low = np.sort(less[:, column])
    high = np.sort(more[:, column])
    pooled = np.concatenate([low, high])
    values = np.unique(pooled)
    if len(values) <= FEW:
        ranges = np.stack([values, values], axis=1)
    else:
        cuts = np.unique(np.quantile(pooled, CUTS, method="lower"))
        ends = np.full(len(cuts), np.inf)
        ranges = np.concatenate([np.stack([cuts, ends], axis=1), np.stack([-ends, cuts], axis=1)])

    def hits(ordered: Array) -> NDArray[np.intp]:
        return np.searchsorted(ordered, ranges[:, 1], "right") - np.searchsorted(ordered, ranges[:, 0], "left")

    measures = promise(hits(high), len(high), hits(low), len(low))
    i = int(np.argmax(measures))
    return float(measures[i]), Box(((column, float(ranges[i, 0]), float(ranges[i, 1])),))


SEARCHES: dict[str, Callable[[Array, Array], Chosen]] = {"logistic": logistic_search, "boxes": box_search}
"""The searches by the name of their columns."""
