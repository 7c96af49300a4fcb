"""Choose the simplest explicit event that distinguishes two sides: half of the runs propose, half compare."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.bounds.base import Array
from dpaudit.bounds.melded import Melded
from dpaudit.contract import Direction
from dpaudit.errors import InputError
from dpaudit.events.cells import LEAST
from dpaudit.events.event import (
    FEATURES,
    MISSING,
    YES_OR_NO,
    Cells,
    Event,
    Interval,
    Outputs,
    Path,
    cell_of,
    is_table,
    numbers_of,
    opened,
    part_of,
)
from dpaudit.events.prefixes import likelier_first
from dpaudit.jsonable import stable_repr
from dpaudit.outputs.values import encode_value

# Parts of an output that are examined one by one.
MOST_LEAVES = 32
# Outputs a side whose parts are listed.
SHOWN = 200
# Outputs that an event names; one that needs more is better described by a threshold, or found by the audit itself.
MOST_LISTED = 32
# The part of the best event's bound that a simpler one must reach.
WORTH = 0.9
# The part of a threshold's bound that it must keep with fewer digits.
ROUNDED = 0.98
# The quantiles, of the runs of both sides together, at which thresholds are tried.
QUANTILES = np.concatenate([np.geomspace(1e-3, 0.5, 40), 1 - np.geomspace(1e-3, 0.45, 40)])
# Runs a side for each standard error that proposals are marked down by, to three of them.
FEW_RUNS = 24
DIGITS = range(1, 7)
# The most cells of a list that is read at a glance.
FEW = 4
# A sum or a maximum takes as many words as so many parts of an output.
AGGREGATED = 4
STORED = "lowest bit"
# Features of values that have several parts, which values of the types in `SINGLE` have not.
OF_SEVERAL = ("sum", "maximum", "minimum", "length")
SINGLE = {bool, int, float, type(None)}

Counts = Array | NDArray[np.intp]
Explicit = Interval | Cells
"""The events that are proposed."""


@dataclass(frozen=True)
class ChosenEvent:
    """An event, "forward" where it is likelier on the data, and the bound that the runs which compared events give.

    That bound has chosen, and proves nothing.
    """

    event: Explicit
    direction: Direction
    lower: float


def is_plain(event: Event) -> bool:
    """Say whether a person reads off an output whether it is in an event over a feature that is not intricate."""
    return isinstance(event, Interval) or (isinstance(event, Cells) and event.size <= FEW and not event.rare)


# Outputs may be as large as numbers are.
@np.errstate(over="ignore", invalid="ignore")
def choose(
    sides: Sequence[Outputs], delta: float, error: float, *, float_bits: bool = False, worth: float = WORTH
) -> ChosenEvent | None:
    """Return the simplest event whose bound is near the best one's, or None if no event gives a bound above 0.

    `sides` are the outputs on the data and on the neighbour, `delta` is the claim's, and `error` that of the bounds
    which are compared; near is what has the part `worth` of the best one. With `float_bits` events over how floats are
    stored take part.
    """
    halves = [[outputs[at::2] for outputs in sides] for at in (0, 1)]
    proposed = {stable_repr(one): one for one in _proposed(halves[0], delta, float_bits)}
    found: list[ChosenEvent] = []
    read: dict[tuple[str | None, Path], list[Any]] = {}
    for event, direction in proposed.values():
        of = (event.feature if isinstance(event, Interval) else None, event.path)
        # Events differ in less than what they read.
        if of not in read:
            read[of] = [event.read(outputs) for outputs in halves[1]]
        likelier, other = likelier_first(direction, *((int(event.has(one).sum()), len(one)) for one in read[of]))
        lower = float(Melded().epsilon_lower(*likelier, *other, delta=delta, gamma=error))
        found.append(ChosenEvent(event, direction, lower))
    best = max((one.lower for one in found), default=0.0)
    near = [one for one in found if one.lower >= worth * best > 0]
    return min(near, key=lambda one: (_complexity(one.event), -one.lower), default=None)


def _complexity(event: Explicit) -> tuple[int, int]:
    """Return how much there is to say of an event: parts, then digits."""
    if isinstance(event, Interval):
        ends = [end for end in (event.low, event.high) if math.isfinite(end)]
        measured = AGGREGATED
        if event.feature in YES_OR_NO:
            measured = 0
        elif event.feature == "value":
            measured = 1
        return len(event.path) + measured, sum(len(f"{end:g}") for end in ends)
    ranges = sum(1 if low == high else 2 for low, high in event.ranges)
    return len(event.path) + len(event.outputs or ()) + ranges, int(bool(event.complement))


def _proposed(sides: Sequence[Outputs], delta: float, float_bits: bool) -> Iterator[tuple[Explicit, Direction]]:
    some = [[*outputs[:SHOWN]] for outputs in sides]
    features = [name for name in FEATURES if float_bits or name != STORED]
    for path in islice(_paths(some), MOST_LEAVES):
        parts = [[part_of(output, path) for output in outputs] for outputs in sides]
        shown = [part for side in parts for part in side[:SHOWN]]
        single = set(map(type, shown)) <= SINGLE
        yield from _listed(parts, shown, path, delta)
        for feature in features:
            if feature == "present" and not isinstance((path or (0,))[-1], str):
                # Whether an element of a list is there is what its length says.
                continue
            if single and feature in OF_SEVERAL:
                continue
            columns = [
                numbers_of(outputs, feature, path, parts=side) for outputs, side in zip(sides, parts, strict=True)
            ]
            if feature in YES_OR_NO or not all(np.isnan(one[:SHOWN]).all() for one in columns):
                yield from _half_lines(columns, feature, path, delta)


def _paths(sides: Sequence[Outputs]) -> Iterator[Path]:
    """Yield the ways from an output to its parts: the output itself, then elements and entries to a depth of 2."""
    seen = {path: None for outputs in sides for output in outputs for path in _below(output, (), 2)}
    yield ()
    yield from sorted(seen, key=lambda path: (len(path), stable_repr(path)))


def _below(output: Any, path: Path, depth: int) -> Iterator[Path]:
    keys: list[int | str] = []
    output = opened(output)
    if isinstance(output, dict) or is_table(output):
        keys = [key for key in output.keys() if type(key) in (int, str)]
    elif isinstance(output, list | tuple) or (isinstance(output, np.ndarray) and output.ndim):
        keys = list(range(len(output)))
    for key in keys[:MOST_LEAVES]:
        yield (*path, key)
        if depth > 1:
            yield from _below(output[key], (*path, key), depth - 1)


def _half_lines(
    columns: Sequence[Array], feature: str, path: Path, delta: float
) -> Iterator[tuple[Explicit, Direction]]:
    """Yield the best half-line of a feature each way and on each side, its end with as few digits as do as well."""
    values = [np.sort(column[~np.isnan(column)]) for column in columns]
    runs = [len(column) for column in columns]
    pooled = np.sort(np.concatenate(values))
    if not len(pooled) or (pooled[0] == pooled[-1] and len(pooled) == sum(runs)):
        return
    # Places between values of both sides, sorted, at many of their quantiles.
    usual = np.unique(pooled[np.isfinite(pooled)])
    between = usual[:-1] / 2 + usual[1:] / 2
    # Ends beyond the finite values too, for outputs that are infinite.
    ends = [usual[:1], np.nextafter(usual[-1:], np.inf)]
    if len(usual) < 2:
        cuts = np.concatenate(ends)
    else:
        at = np.searchsorted(usual, np.quantile(pooled, QUANTILES, method="nearest"))
        cuts = np.unique(np.concatenate([*ends, *(between[np.clip(at - off, 0, len(between) - 1)] for off in (0, 1))]))

    def promised(cuts: Array, upwards: bool, first: int) -> Array:
        below = [np.searchsorted(side, cuts, side="left") for side in values]
        hits = below
        if upwards:
            hits = [len(side) - cut for side, cut in zip(values, below, strict=True)]
        return _promised(hits[first], runs[first], hits[1 - first], runs[1 - first], delta)

    for upwards in (True, False):
        for first, direction in enumerate(Direction):
            worth = promised(cuts, upwards, first)
            end = float(cuts[int(np.argmax(worth))])
            if worth.max() <= 0:
                continue
            short = np.array([float(f"{end:.{digits}g}") for digits in DIGITS])
            kept = np.flatnonzero(promised(short, upwards, first) >= ROUNDED * worth.max())
            cut = float(short[kept[0]]) if len(kept) else end
            if upwards:
                yield Interval(feature, cut, math.inf, path), direction
            else:
                yield Interval(feature, -math.inf, cut, path), direction


def _listed(
    sides: Sequence[Outputs], shown: Sequence[Any], path: Path, delta: float
) -> Iterator[tuple[Explicit, Direction]]:
    """Yield the best single output and the best few, or all but these, of parts that repeat, as those shown do."""
    if len(set(map(cell_of, shown))) > len(shown) / 4:
        return
    parts: dict[Hashable, Any] = {}
    tallies: list[Counter[Hashable]] = [Counter(), Counter()]
    for side, tally in zip(sides, tallies, strict=True):
        for part in side:
            tally[cell := cell_of(part)] += 1
            parts.setdefault(cell, part.item() if isinstance(part, np.generic) else part)
    often = sorted((cell for cell in parts if tallies[0][cell] + tallies[1][cell] >= LEAST), key=stable_repr)
    listed: list[Hashable] = []
    for cell in (cell for cell in often if parts[cell] is not MISSING):
        # A value that no certificate can hold is not listed.
        with suppress(InputError):
            encode_value(parts[cell])
            listed.append(cell)
    counts = np.array([[tally[cell] for cell in listed] for tally in tallies], dtype=np.float64)
    runs = np.array(list(map(len, sides)))
    for first in (0, 1):
        order = np.argsort(-np.log((counts[first] + 0.5) / (counts[1 - first] + 0.5)), kind="stable")[:MOST_LISTED]
        inside = np.cumsum(counts[:, order], axis=1)
        for complement in (False, True):
            hits = inside
            likelier = first
            if complement:
                hits = runs[:, None] - inside
                likelier = 1 - first
            worth = _promised(hits[likelier], runs[likelier], hits[1 - likelier], runs[1 - likelier], delta)
            if not len(worth):
                continue
            for size in {1, int(np.argmax(worth)) + 1}:
                event = Cells.of_outputs([parts[listed[i]] for i in order[:size]], complement=complement, path=path)
                yield event, tuple(Direction)[likelier]


def _promised(x: Counts, n1: int, y: Counts, n2: int, delta: float) -> Array:
    """Return about what bound so many hits give: ln((p - delta) / q) less three standard errors, or fewer of few runs.

    Three of a dozen runs would leave nothing of a difference that is total.
    """
    errors = np.minimum(3.0, np.minimum(n1, n2) / FEW_RUNS)
    p = (x + 0.5) / (n1 + 1)
    q = (y + 0.5) / (n2 + 1)
    gain = np.maximum(p - delta, 1e-12)
    spread = np.sqrt(p * (1 - p) / n1 / gain**2 + (1 - q) / (q * n2))
    return np.asarray(np.log(gain / q) - errors * spread)
