"""Events as explicit predicates: everybody can say of an output whether it is in the event, with no fitted score."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpaudit.certificates.values import Value, decode_value, encode_value
from dpaudit.events.event import Cells, Event, Interval, Path, ranges_of
from dpaudit.outputs.canonical import Raised, canonical
from dpaudit.outputs.readers import DIGITS, stored
from dpaudit.record import Count, Extended, Frozen

__all__ = [
    "FEATURES",
    "MISSING",
    "Explicit",
    "Learned",
    "Outputs",
    "Predicate",
    "Threshold",
    "cell_of",
    "holds",
    "listed_outputs",
    "numbers_of",
    "part_of",
    "predicate_of",
]

Array = NDArray[np.float64]
FeatureName = Literal["value", "sum", "maximum", "minimum", "length", "lowest bit", "raised"]


class Threshold(Frozen, frozen=True, tag="threshold", tag_field="kind"):
    """The event low <= feature < high, where an infinite end is no limit; an output without such a number is outside.

    Attributes
    ----------
    feature : str
        "value": the number itself. "sum", "maximum", "minimum", "length": of the numbers of a sequence or an array, or
        the length of a text. "lowest bit": the exponent of the lowest bit that is set in a float. "raised": 1 if the
        run ended in an exception, else 0.
    path : tuple of int or str
        The indices and keys that lead from the output to what has the feature.
    low, high : float
        The ends.
    """

    feature: FeatureName
    low: Extended
    high: Extended
    path: Path = ()


class Outputs(Frozen, frozen=True, tag="outputs", tag_field="kind"):
    """The event that the output is one of some, or none of them.

    Attributes
    ----------
    values : tuple of Value
        Outputs.
    ranges : tuple of (int, int)
        Integers, as ranges with both ends included.
    complement : bool
        Whether the event is that the output is none of these.
    path : tuple of int or str
        Where in the output the value is read.
    """

    values: tuple[Value, ...]
    ranges: tuple[tuple[int, int], ...] = ()
    complement: bool = False
    path: Path = ()


class Learned(Frozen, frozen=True, tag="learned", tag_field="kind"):
    """An event that only the audit itself can tell: by a fitted score, by bets, or by outputs that are not listed.

    Attributes
    ----------
    event : Event
        The event, as findings describe it.
    runs : int
        Runs a side of an audit that learns such an event anew.
    """

    event: Event
    runs: Count


Explicit = Threshold | Outputs
Predicate = Threshold | Outputs | Learned

MISSING = object()
"""Stands for the part of an output that has no such part."""


def predicate_of(event: Event, runs: int) -> Predicate:
    """Return the explicit predicate of a finding's event, where the finding itself says all of it; else `Learned`."""
    match event:
        case Interval(feature="value"):
            return Threshold("value", event.low, event.high, event.path)
        case Cells(feature="output", values=(), rare=False) if event.ranges:
            return Outputs((), event.ranges, path=event.path)
    return Learned(event, runs)


def holds(predicate: Explicit, outputs: Any) -> NDArray[np.bool_]:
    """Say for each output of a batch whether it is in the event."""
    if isinstance(predicate, Threshold):
        found = numbers_of(outputs, predicate.feature, predicate.path)
        inside: NDArray[np.bool_] = predicate.low <= found
        return inside & (found < predicate.high) if predicate.high < math.inf else inside
    listed = {canonical(decode_value(value)) for value in predicate.values}
    parts = (part_of(output, predicate.path) for output in outputs)
    among = [_is_one_of(cell_of(part), listed, predicate.ranges) for part in parts]
    return np.array(among, dtype=np.bool_) ^ predicate.complement


def cell_of(part: Any) -> Hashable:
    """Return the canonical cell of a part of an output, or that of a missing one."""
    return ("missing",) if part is MISSING else canonical(part)


def _is_one_of(cell: Hashable, listed: set[Hashable], ranges: Sequence[tuple[int, int]]) -> bool:
    return cell in listed or (type(cell) is int and any(low <= cell <= high for low, high in ranges))


def numbers_of(outputs: Any, feature: str, path: Path = ()) -> Array:
    """Return a feature of each output of a batch, NaN for those that have none; shape (len(outputs),)."""
    if isinstance(outputs, np.ndarray) and outputs.dtype.kind in "iufb" and feature in ("value", "lowest bit"):
        if outputs.ndim == 1 + len(path) and all(type(step) is int for step in path):
            inside = all(int(step) < size for step, size in zip(path, outputs.shape[1:], strict=True))
            at: Any = (slice(None), *path)
            column = np.asarray(outputs[at] if inside else np.full(len(outputs), np.nan), dtype=np.float64)
            return column if feature == "value" else _lowest_bits(column)
        return np.full(len(outputs), np.nan)
    measure = FEATURES[feature]
    return np.array([measure(part_of(output, path)) for output in outputs], dtype=np.float64)


def part_of(output: Any, path: Path) -> Any:
    """Return a part of an output; a mark where it has no such part."""
    for step in path:
        try:
            output = output[step]
        except (TypeError, LookupError):
            return MISSING
    return output


def _value(value: Any) -> float:
    if isinstance(value, str | bytes):
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _flat(value: Any) -> Array:
    """Return the numbers of a sequence or an array; none of anything else."""
    if not isinstance(value, list | tuple | np.ndarray):
        return np.zeros(0)
    try:
        return np.asarray(value, dtype=np.float64).ravel()
    except (TypeError, ValueError, OverflowError):
        return np.zeros(0)


def _length(value: Any) -> float:
    return float(len(value)) if isinstance(value, list | tuple | dict | str | bytes | np.ndarray | set) else math.nan


def _lowest_bits(values: Array) -> Array:
    """Return e where a float is an odd multiple of 2^e; NaN for zeros and what is not finite."""
    exponent, whole, zeros = stored(np.where(np.isfinite(values), values, 0.0))
    return np.where(whole > 0, exponent - DIGITS + zeros, np.nan)


FEATURES: dict[str, Any] = {
    "value": _value,
    "sum": lambda value: float(flat.sum()) if len(flat := _flat(value)) else math.nan,
    "maximum": lambda value: float(flat.max()) if len(flat := _flat(value)) else math.nan,
    "minimum": lambda value: float(flat.min()) if len(flat := _flat(value)) else math.nan,
    "length": _length,
    "lowest bit": lambda value: float(_lowest_bits(np.array([_value(value)]))[0]),
    "raised": lambda value: float(type(value) is Raised),
}
"""The features by name: what each makes of one part of an output."""


def listed_outputs(values: Sequence[Any], *, complement: bool, path: Path) -> Outputs:
    """Return the event that a part of the output is one of some values, or none of them."""
    cells = list(map(canonical, values))
    whole = ranges_of([cell for cell in cells if type(cell) is int])
    others = tuple(encode_value(value) for value, cell in zip(values, cells, strict=True) if type(cell) is not int)
    return Outputs(others, whole, complement=complement, path=path)
