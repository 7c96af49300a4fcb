"""Events: sets of outputs of a mechanism whose probabilities an audit bounds.

Training selects a `CellSet` among the outcome cells of a discretizer, by which runs are counted; `Cells.of` makes an
event of it, as `Cells.of_outputs` does of outputs. Findings and certificates store an `Event`, as data. One that is
`explicit` says by itself which outputs it holds, so that a certificate of it can be checked by everybody; what the
others hold, only the audit that learned them can say. Words are made from events in `report.words.events` and nowhere
else; nothing parses them. A new kind of event is a class here, a member of `Event`, and its words there.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import groupby
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from dpaudit.bounds.base import Array, Bools
from dpaudit.errors import InputError
from dpaudit.jsonable import MOST_BITS, Json
from dpaudit.naming import Name
from dpaudit.outputs.canonical import Raised, canonical, in_words
from dpaudit.outputs.leaf import OUTPUT
from dpaudit.outputs.readers import DIGITS, stored
from dpaudit.outputs.types import Batch, Values
from dpaudit.outputs.values import JsonValue, decode_value, encode_value
from dpaudit.record import Extended, Frozen

T = TypeVar("T")
Tally: TypeAlias = Counter[Hashable]
Outputs: TypeAlias = Batch
"""A batch of outputs, which may be anything: a list of them, or an array with a row for each."""

# A cell that no output has.
RARE: Hashable = ("rare",)
# The cells that say whether a number is one.
NAN_CELLS = ("not NaN", "NaN")
# Stands for the part of an output that has no such part.
MISSING = object()
Path = tuple[int | str, ...]
"""The place in an output where a feature is read: the indices and keys down to a leaf; empty for all of the output.

Keys lead into dictionaries, tables and series of pandas, and texts that are JSON."""


class _Event(Frozen, frozen=True, tag_field="kind"):
    @property
    def explicit(self) -> bool:
        """Whether the event says by itself which outputs are in it."""
        return False

    def holds(self, outputs: Outputs) -> Bools:
        """Say for each output of a batch whether it is in the event; `InputError` unless the event is explicit."""
        if isinstance(self, Cells | Interval) and self.explicit:
            return self.has(self.read(outputs))
        raise InputError("only the audit that learned the event can tell which outputs are in it")


class Cells(_Event, frozen=True, tag="cells"):
    """The event that the value of a discrete feature, an outcome cell, is one of some, or none of them.

    It is explicit if the feature is the output itself, or a part of it, and each cell is an integer or one of
    `outputs`. Which outputs have cells that are given as texts is known only to the audit that learned them.

    Attributes
    ----------
    feature : str
        The feature: "output" for the outputs as they are, else the name of the discretizer whose cells these are; with
        `NAN_CELLS` as values, the number that they are said of.
    ranges : tuple of (int, int)
        Cells that are integers, as ascending ranges with both ends included.
    values : tuple of str
        The cells known by their words alone, each as a person would write it.
    rare : bool
        Whether every cell that training saw too rarely to distinguish, or not at all, belongs to the event.
    path : tuple of int or str
        Where in the output the feature is read.
    shown : tuple of str
        The values as reports list them, where that is not as they are: integers in order and three or more as a range,
        rationals as fractions; else left out.
    outputs : tuple of JsonValue
        Outputs whose cells belong to the event, where it was made from outputs; otherwise left out.
    complement : bool
        Whether the event is that the cell is none of these; left out where it is not.
    rounding : bool
        Whether the feature says which doubles a floating-point sampler can return; left out where it does not.
    """

    feature: str
    ranges: tuple[tuple[int, int], ...]
    values: tuple[str, ...] = ()
    rare: bool = False
    path: Path = ()
    shown: tuple[str, ...] | UnsetType = UNSET
    outputs: tuple[JsonValue, ...] | UnsetType = UNSET
    complement: Literal[True] | UnsetType = UNSET
    rounding: Literal[True] | UnsetType = UNSET

    @classmethod
    def of(cls, feature: str, cells: Iterable[Hashable], rare: bool = False) -> Cells:
        """Return the event that a feature's value is one of some cells; integers are ranges."""
        whole, others = _parted(cells)
        found = cls(feature, ranges_of(whole), tuple(sorted(map(in_words, others))), rare)
        return found._listed(sorted(in_words(cell, fractions=True) for cell in others))

    @classmethod
    def of_values(
        cls, feature: str, values: Iterable[str | int], rare: bool = False, *, rounding: bool = False
    ) -> Cells:
        """Return the event that a feature, perhaps of `rounding`, is one of some values, as people write them."""
        whole, others = _parted(values)
        labels = [label for ends in ranges_of(whole) for label in range_labels(*ends)]
        found = cls(feature, (), tuple(sorted(map(str, (*whole, *others)))), rare, rounding=rounding or UNSET)
        return found._listed([*labels, *sorted(map(str, others))])

    @classmethod
    def of_outputs(cls, outputs: Outputs, *, complement: bool = False, path: Path = ()) -> Cells:
        """Return the explicit event that a part of the output is one of some, or with `complement` none of them."""
        cells = [(canonical(output), output) for output in outputs]
        whole = ranges_of([cell for cell, _ in cells if type(cell) is int])
        others = tuple(encode_value(output) for cell, output in cells if type(cell) is not int)
        return cls(OUTPUT, whole, path=path, outputs=others or UNSET, complement=complement or UNSET)

    def _listed(self, shown: Sequence[str]) -> Cells:
        if tuple(shown) == self.values:
            return self
        return replace(self, shown=tuple(shown))

    @property
    def labels(self) -> tuple[str, ...]:
        """The cells that are no integers, as reports list them."""
        return (self.shown or self.values) + tuple(map(in_words, self._listed_cells))

    @property
    def _listed_cells(self) -> list[Hashable]:
        return [canonical(decode_value(value)) for value in self.outputs or ()]

    @property
    def size(self) -> int:
        """The number of cells that the event names."""
        return sum(high - low + 1 for low, high in self.ranges) + len(self.values) + len(self.outputs or ())

    @property
    def explicit(self) -> bool:
        """Whether the event says by itself which outputs are in it."""
        return self.feature == "output" and self.size > 0 and not (self.values or self.rare)

    def read(self, outputs: Outputs) -> Any:
        """Return the cell of the part of each output of a batch."""
        return [cell_of(part_of(output, self.path)) for output in outputs]

    def has(self, cells: Any) -> Bools:
        """Say for each cell that was read whether it is in the event."""
        listed = set(self._listed_cells)
        ranges = self.ranges
        inside = (c in listed or (type(c) is int and any(low <= c <= high for low, high in ranges)) for c in cells)
        return np.fromiter(inside, np.bool_, len(cells)) ^ bool(self.complement)


class Interval(_Event, frozen=True, tag="interval"):
    """The event low <= score < high; an output without such a number is outside.

    It is explicit if the score is one of `FEATURES`.

    Attributes
    ----------
    feature : str
        The name of the score. "value": the number itself. "sum", "maximum", "minimum", "length": of the numbers of a
        sequence, a dictionary or an array, or the length of a text. "lowest bit": the exponent of the lowest bit that
        is set in a float. "raised": 1 if the run ended in an exception, else 0; "NaN" and "present" likewise, if the
        number is NaN, and if the output has such a part.
    low, high : float
        The ends; an infinite one is no limit.
    path : tuple of int or str
        The indices and keys that lead from the output to what has the score.
    """

    feature: str
    low: Extended
    high: Extended
    path: Path = ()

    @property
    def explicit(self) -> bool:
        """Whether the event says by itself which outputs are in it."""
        return self.feature in FEATURES

    def read(self, outputs: Outputs) -> Array:
        """Return the score of each output of a batch, NaN where there is none."""
        return numbers_of(outputs, self.feature, self.path)

    def has(self, found: Array) -> Bools:
        """Say for each score that was read whether it is in the interval."""
        inside: Bools = self.low <= found
        if self.high < math.inf:
            return inside & (found < self.high)
        return inside


class Bets(_Event, frozen=True, tag="bets"):
    """No single event: bets on many events of one pair's runs.

    Attributes
    ----------
    runs : int
        Runs of the pair that were bet on, both sides together.
    log_stake : float
        Natural logarithm of the factor by which the stake grew.
    """

    runs: int
    log_stake: Extended


class Withheld(_Event, frozen=True, tag="withheld"):
    """An event that may name a value of somebody's record, which the finding was not to show.

    Attributes
    ----------
    feature : str
        The feature that it is over, where its name may be shown.
    """

    feature: str | UnsetType = UNSET


Event = Cells | Interval | Bets | Withheld
"""The events of findings and certificates."""


@dataclass(frozen=True)
class CellSet:
    """Outcome cells: those `inside`, and if it is `rare` those in neither set too."""

    inside: frozenset[Hashable]
    outside: frozenset[Hashable]
    rare: bool

    def has(self, cell: Hashable) -> bool:
        """Say whether a cell is in the set."""
        return cell in self.inside or (self.rare and cell not in self.outside)

    def with_rare_merged(self, counts: Tally) -> Tally:
        """Return the counts with all cells in neither set as one, `RARE`."""
        merged: Tally = Counter()
        for cell, count in counts.items():
            merged[cell if cell in self.inside or cell in self.outside else RARE] += count
        return merged

    def hits(self, counts: Tally) -> int:
        """Return how many of the counted outputs are in the set."""
        # As `has` says of each cell; a call for each would take as long as a batch of runs.
        if not self.rare:
            return sum([counts[cell] for cell in self.inside if cell in counts])
        inside = self.inside
        outside = self.outside
        return sum([count for cell, count in counts.items() if cell in inside or cell not in outside])


def _parted(cells: Iterable[T]) -> tuple[list[int], list[T]]:
    """Return the integers among some cells that are written as numbers, and all others."""
    whole: list[int] = []
    others: list[T] = []
    for cell in cells:
        if isinstance(cell, int) and cell.bit_length() <= MOST_BITS:
            whole.append(cell)
        else:
            others.append(cell)
    return whole, others


def range_labels(low: int, high: int) -> list[str]:
    """Return a range of integers as labels: three and more as one."""
    if high - low > 1:
        return [f"{low}..{high}"]
    return [str(code) for code in range(low, high + 1)]


def ranges_of(values: list[int]) -> tuple[tuple[int, int], ...]:
    """Return integers as ascending ranges with both ends included.

    >>> ranges_of([5, 3, 4, -1])
    ((-1, -1), (3, 5))
    """
    runs = (list(run) for _, run in groupby(enumerate(sorted(values)), lambda one: one[1] - one[0]))
    return tuple((run[0][1], run[-1][1]) for run in runs)


def cell_of(part: Any) -> Hashable:
    """Return the canonical cell of a part of an output, or that of a missing one."""
    if part is MISSING:
        return ("missing",)
    return canonical(part)


def numbers_of(outputs: Outputs, feature: str, path: Path = (), *, parts: Values | None = None) -> Array:
    """Return a feature of each output of a batch, NaN for those that have none; shape (len(outputs),).

    The `parts` of outputs at the path are given where they are known.
    """
    if isinstance(outputs, np.ndarray) and outputs.dtype.kind in "iufb" and feature in ("value", "lowest bit"):
        column = np.full(len(outputs), np.nan)
        steps = zip(path, outputs.shape[1:], strict=False)
        if outputs.ndim == 1 + len(path) and all(type(step) is int and step < size for step, size in steps):
            at: tuple[slice | int, ...] = (slice(None), *(step for step in path if isinstance(step, int)))
            column = outputs[at].astype(np.float64)
        if feature == "value":
            return column
        return _lowest_bits(column)
    measure = FEATURES[feature]
    if parts is None:
        parts = [part_of(output, path) for output in outputs]
    return np.array(list(map(measure, parts)), dtype=np.float64)


def part_of(output: Any, path: Path) -> Any:
    """Return a part of an output; a mark where it has no such part."""
    for step in path:
        output = opened(output)
        try:
            # Asked for first, for a mapping with a default would put what it lacks into the output.
            by_key = type(output) not in _INDEXED and (isinstance(output, Mapping) or is_table(output))
            if by_key and step not in output:
                return MISSING
            output = output[step]
        except (TypeError, LookupError):
            return MISSING
    return output


_INDEXED = (list, tuple, np.ndarray)


def is_table(output: Any) -> bool:
    """Say whether an output is a table of pandas or one of its columns, whose parts have labels."""
    return hasattr(output, "iloc") and hasattr(output, "keys")


# The most characters of a text that is opened: those of a few thousand outputs are kept open.
LONGEST_JSON = 4_000


def opened(output: Any) -> Any:
    """Return the object or array that a text holds as JSON; anything else, and a longer text, as it is."""
    if type(output) is not str or output[:1] not in ("{", "[") or len(output) > LONGEST_JSON:
        return output
    return _loaded(output)


@lru_cache(maxsize=4096)
def _loaded(text: str) -> Json:
    try:
        found: Json = json.loads(text)
        return found
    except (ValueError, RecursionError):
        return text


def _value(value: Any) -> float:
    with suppress(TypeError, ValueError, OverflowError):
        if isinstance(value, str | bytes):
            return math.nan
        # NumPy and pandas make no number of an array with one element any more.
        if getattr(value, "ndim", 0):
            return float(np.asarray(value).item())
        return float(value)
    return math.nan


def _flat(of: Callable[[Array], float], value: Any) -> float:
    """Return a number of those of a sequence, a dictionary or an array; NaN for anything else."""
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list | tuple | np.ndarray) and not is_table(value):
        return math.nan
    try:
        flat = np.asarray(value, dtype=np.float64).ravel()
    except (TypeError, ValueError, OverflowError):
        return math.nan
    if len(flat):
        return float(of(flat))
    return math.nan


def _length(value: Any) -> float:
    sized = isinstance(value, list | tuple | dict | str | bytes | np.ndarray | set) or is_table(value)
    if sized:
        return float(len(value))
    return math.nan


def _lowest_bits(values: Array) -> Array:
    """Return e where a float is an odd multiple of 2^e; NaN for zeros and what is not finite."""
    exponent, whole, zeros = stored(np.where(np.isfinite(values), values, 0.0))
    return np.where(whole > 0, exponent - DIGITS + zeros, np.nan)


# The features by name: what each makes of one part of an output.
FEATURES: dict[str, Callable[[Any], float]] = {
    Name("value"): _value,
    Name("sum"): partial(_flat, np.sum),
    Name("maximum"): partial(_flat, np.max),
    Name("minimum"): partial(_flat, np.min),
    Name("length"): _length,
    Name("lowest bit"): lambda value: float(_lowest_bits(np.array([_value(value)]))[0]),
    Name("raised"): lambda value: float(type(value) is Raised),
    Name("NaN"): lambda value: float(isinstance(value, float | np.floating) and math.isnan(value)),
    Name("present"): lambda value: float(value is not MISSING),
}
# Those that are 1 or 0, whether something is so.
YES_OR_NO = ("raised", "NaN", "present")
