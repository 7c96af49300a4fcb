"""Points that fitted estimators are compared on: derive them from the data, and say where they show nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpaudit.errors import InputError
from dpaudit.neighbours.check import check_pairs
from dpaudit.outputs.canonical import canonical
from dpaudit.running.adapters import Mechanism, Probed

__all__ = ["FROM_DATA", "probe_of", "probe_warnings"]

FROM_DATA = "data"
"""Says that the probe is to be derived from the pairs."""
PAIRS = 8
"""Pairs at most whose records are looked at."""


def probe_of(pairs: Sequence[Any], count: int = 64) -> Any:
    """Return points on which hypotheses that were fitted on pairs of datasets can be distinguished.

    They are the distinct records of both sides, those of one side alone first, then points half-way between records
    that follow each other, and two beyond the least and the greatest values of all.

    Parameters
    ----------
    pairs : sequence of (data, neighbour) or Pair
        Data that are points, or whose first part is: ``(X, y)``, an array, a list of numbers, a data frame (of which
        records alone are taken), or a learner's sample.
    count : int
        Points at most.

    Returns
    -------
    array, shape (points, features) or (points,), or data frame

    Raises
    ------
    InputError
        If the data hold no points of numbers.
    """
    sides = [_points(data) for pair in check_pairs(pairs[:PAIRS], None) for data in pair.sides]
    if hasattr(sides[0], "iloc"):
        import pandas as pd

        return pd.concat(sides).drop_duplicates().iloc[:count].reset_index(drop=True)
    if len({side.shape[1:] for side in sides}) > 1:
        raise InputError("{probe} cannot be derived from data of different widths: give points", names=("probe",))
    seen, times = np.unique(np.concatenate(sides), axis=0, return_counts=True)
    if not len(seen):
        raise InputError("{probe} cannot be derived from data without a record: give points", names=("probe",))
    records = seen[np.argsort(times, kind="stable")][: max(1, count // 2)]
    low, high = seen.min(axis=0), seen.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    between = (records[1:] + records[:-1]) / 2
    return np.concatenate([records, np.stack([low - span, high + span]), between])[:count]


def _points(data: Any) -> Any:
    """Return the points that a dataset holds, as an array of numbers or a data frame."""
    found = getattr(data, "points", data[0] if _has_points_first(data) else data)
    if hasattr(found, "iloc"):
        return found
    try:
        points = np.asarray(found, dtype=np.float64)
    except (TypeError, ValueError):
        points = np.zeros(())
    if points.ndim not in (1, 2):
        message = "{probe} cannot be derived from data of type {kind}: give points that predict takes, one a row"
        raise InputError(message, names=("probe",), kind=type(data).__qualname__)
    return points


def _has_points_first(data: Any) -> bool:
    return isinstance(data, tuple | list) and len(data) > 1 and getattr(data[0], "ndim", 0) == 2


def probe_warnings(mechanism: Mechanism, outputs: Sequence[Any]) -> tuple[str, ...]:
    """Return what a probe does not show, by some first outputs on both sides of a pair; nothing without a probe."""
    if not isinstance(mechanism.function, Probed):
        return ()
    points = len(mechanism.function.probe)
    if not any(isinstance(output, np.ndarray) and len(output) == points for output in outputs):
        return ("the probe is not used: no output has a method predict",)
    if len(outputs) < 2 or len(set(map(canonical, outputs))) > 1:
        return ()
    message = f"{points} points of the probe have the same predictions in all of the first {len(outputs)} runs"
    return (f'{message}, on both inputs: choose points that distinguish models, as probe="{FROM_DATA}" does',)
