"""Sums of multiples of two or three numbers of an output, with few digits: what a person can compute.

A fitted score of many columns says the same where a leak is in a sum of named numbers, and says it to nobody.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpaudit.bounds.base import Array
from dpaudit.contract import Direction
from dpaudit.events.discretizers import score_edges
from dpaudit.events.event import Event, Interval, Outputs
from dpaudit.events.flattening import Flattener, TextNumbers
from dpaudit.events.scores import Discriminant
from dpaudit.naming import Mention, Mentioned, Name, Sum, position
from dpaudit.outputs import readers
from dpaudit.outputs.leaf import Leaf

# The most terms.
TERMS = 3
# Numbers of an output among which they are chosen; of longer rows a sum of three is seldom all.
MOST_NAMED = 16
# Significant digits of coefficients, scaled so that the greatest is 1: the fewest that do as well.
DIGITS = range(1, 4)
# The part of the separation by all digits that fewer must keep.
AS_GOOD = 0.98
# Significant digits of the range of a sum that its thresholds have.
CUT_DIGITS = 3
# The part of the weightiest term's share that a term must have.
LEAST_SHARE = 0.05
# Runs a side below which no sum is fitted.
LEAST_RUNS = 20
# The part of a number's variance that is added to it, so that numbers which determine each other have weights.
RIDGE = 1e-9
# Times by which weights without a penalty must separate better.
FAR = 4.0
# Outputs of the likelier side in a half-line, at least: nobody would say that four in five hundred are many.
LEAST_HITS = 10
_KEY = re.compile(r"output\['([A-Za-z_]\w*)'\]")


@dataclass(frozen=True, eq=False)
class Formula:
    """A sum of multiples of numbers of an output, by their places among the columns of flattened outputs."""

    flattener: Flattener
    places: tuple[int, ...]
    coefficients: tuple[float, ...]
    name: Sum

    def __call__(self, outputs: Outputs) -> Array:
        """Return the sum of each output."""
        table = self.flattener(outputs)
        return np.asarray(table[:, list(self.places)] @ np.array(self.coefficients))

    @classmethod
    def fit(cls, data: Outputs, neighbour: Outputs) -> Formula | None:
        """Return the sum that distinguishes two batches of outputs best, or None unless they have few named numbers."""
        flattener = Flattener.fit([data, neighbour])
        named = _named(flattener)
        if not 2 <= len(named) <= MOST_NAMED:
            return None
        columns = list(named)
        left, right = (flattener(side)[:, columns] for side in (data, neighbour))
        spread = np.concatenate([left, right]).std(axis=0)
        share = np.abs(_weights(left, right)) * spread
        if not np.isfinite(share).all() or not share.any():
            return None
        chosen = np.argsort(-share, kind="stable")[:TERMS]
        chosen = np.sort(chosen[share[chosen] > LEAST_SHARE * share.max()])
        if len(chosen) < 2:
            return None
        coefficients = _few_digits(left[:, chosen], right[:, chosen])
        places = tuple(columns[i] for i in chosen.tolist())
        name = _written([named[place] for place in places], coefficients)
        return cls(flattener, places, coefficients, name)


def _weights(left: Array, right: Array) -> Array:
    """Return the weights of a linear discriminant, or of one without a penalty where that separates far better.

    Large noise that two numbers share cancels in their difference, which a penalty on weights does not find.
    """
    penalised = Discriminant.fit(left, right).weights
    if not np.isfinite(left).all() or not np.isfinite(right).all():
        return penalised
    # Of numbers whose squares are no floats nothing comes that is finite.
    with np.errstate(all="ignore"):
        unit = np.concatenate([left, right]).std(axis=0)
        unit = np.where(unit > 0, unit, 1.0)
        scaled = [side / unit for side in (left, right)]
        covariance = RIDGE * np.eye(len(unit))
        for side in scaled:
            covariance += np.cov(side, rowvar=False)
        if not np.isfinite(covariance).all():
            return penalised
        free = np.linalg.solve(covariance, scaled[0].mean(axis=0) - scaled[1].mean(axis=0)) / unit
        far = _separation(left, right, free) > FAR * _separation(left, right, penalised)
    if far and np.isfinite(free).all():
        return np.asarray(free)
    return penalised


def _few_digits(left: Array, right: Array) -> tuple[float, ...]:
    """Return the coefficients of a linear discriminant, the first positive, with as few digits as separate as well."""
    weights = _weights(left, right)
    scaled = weights / np.abs(weights).max()
    if weights[0] < 0:
        scaled = -scaled
    rounded = [np.array([float(f"{one:.{digits}g}") for one in scaled.tolist()]) for digits in DIGITS]
    least = AS_GOOD * _separation(left, right, scaled)
    found = next((one for one in rounded if _separation(left, right, one) >= least), rounded[-1])
    return tuple(found.tolist())


def _separation(left: Array, right: Array, coefficients: Array) -> float:
    first = left @ coefficients
    second = right @ coefficients
    return float(np.square(first.mean() - second.mean()) / max(first.var() + second.var(), 1e-300))


def _named(flattener: Flattener) -> dict[int, Name]:
    """Return the names of the columns that are single numbers or elements of rows, by their places."""
    found: dict[int, Name] = {}
    start = 0
    for leaf in flattener.leaves:
        if isinstance(leaf.reader, readers.Block):
            width = leaf.reader.width
            found |= {start + j: Name.of("{}[{}]", _short(leaf), position(j)) for j in range(width)}
        else:
            # Of a text there is which one it is, and its length; by these, and by categories, nobody computes.
            width = 2 if isinstance(leaf.reader, TextNumbers) else 1
            if leaf.reader in (readers.whole, readers.real):
                found[start] = _short(leaf)
        start += width
    # Leaves of other widths, as sparse rows, have no names here.
    if start == flattener.width:
        return found
    return {}


def _short(leaf: Leaf) -> Name:
    key = _KEY.fullmatch(leaf.name)
    if key:
        return Name.of("{}", Mention(key[1], Mentioned.TERM))
    return leaf.name


def _written(names: Sequence[Name], coefficients: Sequence[float]) -> Sum:
    """Return a sum as "client_a - 0.5 client_b"."""
    text = ""
    times: list[Mention] = []
    for name, coefficient in zip(names, coefficients, strict=True):
        sign = "-" if coefficient < 0 else ""
        if text:
            sign = " - " if coefficient < 0 else " + "
        text += sign
        if abs(coefficient) != 1:
            times.append(Mention(f"{abs(coefficient):g}", Mentioned.NUMBER))
            text += f"{times[-1]} "
        text += name
    return Sum.of_terms(text, names, times)


def sum_event(
    sides: Sequence[Outputs], epsilon: float, delta: float
) -> tuple[Event, Direction, list[tuple[int, int]]] | None:
    """Return the half-line of a sum that was seen too often for a claim, its likelier side, and its hits and runs.

    Those of the likelier side come first. Half of the outputs choose the sum, all of them the half-line. None if there
    is none that exceeds the claim and holds ten outputs of that side.
    """
    halves = [side[::2] for side in sides]
    if min(map(len, halves)) < LEAST_RUNS:
        return None
    formula = Formula.fit(*halves)
    if formula is None:
        return None
    sums = list(map(formula, sides))
    cuts = _round_cuts(score_edges(np.concatenate(sums)))
    below = [np.searchsorted(np.sort(one), cuts, side="left") for one in sums]
    sizes = list(map(len, sums))
    allowed = math.exp(min(epsilon, 700.0))
    best = 0.0
    found: tuple[Event, Direction, list[tuple[int, int]]] | None = None
    for upwards in (True, False):
        hits = below
        if upwards:
            hits = [size - one for size, one in zip(sizes, below, strict=True)]
        for first, direction in enumerate(Direction):
            x = hits[first]
            y = hits[1 - first]
            m = sizes[first]
            k = sizes[1 - first]
            p = (x + 0.5) / (m + 1)
            q = (y + 0.5) / (k + 1)
            excess = (x / m - allowed * y / k - delta) / np.sqrt(p * (1 - p) / m + allowed**2 * q * (1 - q) / k)
            excess = np.where(x >= LEAST_HITS, excess, 0.0)
            at = int(np.argmax(excess))
            if excess[at] > best:
                best = float(excess[at])
                cut = float(cuts[at])
                event = Interval(formula.name, -math.inf, cut)
                if upwards:
                    event = Interval(formula.name, cut, math.inf)
                found = event, direction, [(int(x[at]), m), (int(y[at]), k)]
    return found


def _round_cuts(cuts: Array) -> Array:
    """Return thresholds with few digits for the range that most of them span."""
    low, high = np.quantile(cuts, [0.1, 0.9], method="lower").tolist()
    if not 0 < high - low < math.inf:
        return cuts
    places = CUT_DIGITS - 1 - math.floor(math.log10(high - low))
    if -300 < places < 300:
        return np.unique(np.round(cuts, places))
    return cuts
