"""Features of outputs, each a column of small cells read from the values of a leaf.

What a feature needs to know of the data (frequent values, quantiles) is fitted on training runs and then fixed; each
value is read by itself.

Events over the cells of features are compared by promises before fresh runs confirm them. The promise of an event with
x hits of m training runs on one side and y of k on the other is ln L(x, m) - ln U(y, k), with L and U one-sided Wilson
score limits at effective sizes 1 / (z^2 / m + c^2 / n), n the confirmation runs: the training runs say little where
they are few, and no confirmation shows more than its own runs can. A score bound, unlike one by the delta method, gives
an event with no hits of 200 its due.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.bounds.base import Array, Bools
from dpaudit.bounds.limits import wilson_limit
from dpaudit.events.cells import to_grid
from dpaudit.events.event import Outputs, opened
from dpaudit.naming import Name
from dpaudit.outputs import readers
from dpaudit.outputs.leaf import Leaf, Step, spread

CellNumbers = NDArray[np.int64]
LeafValues: TypeAlias = readers.WholeValues | NDArray[np.generic] | Sequence[str] | Sequence[bytes]
"""The values of a leaf in a batch, as its reader returns them; rows of numbers are a matrix."""
V = TypeVar("V", bound=LeafValues)

# Into so many cells of equal mass a real feature is cut while features are compared.
CELLS = 64
# The cell of an output that has no such leaf.
ABSENT = -1
# The features that say little to a person, by their kind or their name.
INTRICATE = ("repeats", "repeated_entries", "parity of the ones", "parity of the order", "sum of squares")
# The kinds of features that are looked at only where ordinary ones promise nothing.
DIGIT = "decimal digit"
PERIOD = "period"
ORDER = "order"
RUNS = "runs"
# The kinds whose names already name the part of an output.
NAMED = (DIGIT, PERIOD, ORDER)
# The share of different values up to which texts are looked at once each.
REPEATING = 0.25


def quantile_edges(values: Array) -> Array:
    """Return cuts that divide values into `CELLS` cells of about equal mass."""
    if not len(values):
        return np.zeros(0)
    # As `np.quantile` has them by the method "lower", in a thirtieth of its time.
    places = np.floor((len(values) - 1) * np.linspace(0, 1, CELLS + 1)[1:-1]).astype(np.intp)
    return np.unique(np.sort(values)[places])


# Arrays have no one truth value.
@dataclass(frozen=True, eq=False)
class LeafFeature:
    """A feature of the values of a leaf, named as "bit 3" or "length"; the name of the value itself is empty.

    It can `read` cells from values or, where there are edges, real numbers, which the `edges` cut into cells; these are
    shown as intervals. `shown` maps any other cell to what it stands for, by default the cell itself. A
    `representation` shows how a value is stored rather than which it is.
    """

    name: Name
    read: Callable[[Any], NDArray[Any]]
    shown: Callable[[int], str | int] = int
    edges: Array | None = None
    representation: bool = False

    def cells(self, values: LeafValues, places: NDArray[np.intp] | None = None) -> CellNumbers:
        """Return the cell of each value; of the `distinct` ones where their places are given."""
        found = self.read(values)
        if self.edges is not None:
            found = np.searchsorted(self.edges, found, side="right")
        cells: CellNumbers = np.asarray(found, dtype=np.int64)
        if places is None:
            return cells
        return cells[places]

    def cell(self, code: int) -> str | int:
        """Return a cell as a person would write it."""
        if self.edges is None:
            return self.shown(code)
        ends = [-math.inf, *self.edges.tolist(), math.inf]
        return f"[{ends[code]:.6g}, {ends[code + 1]:.6g})"


def number(name: Name, read: Callable[[V], Array], values: V) -> LeafFeature:
    """Return the feature of a real number, cut into cells of equal mass for values like these."""
    return LeafFeature(name, read, edges=quantile_edges(read(values)))


def one_of(*shown: str | int) -> Callable[[int], str | int]:
    """Return what shows the cells 0, 1, ... as these."""
    return shown.__getitem__


@dataclass(frozen=True, eq=False)
class Feature:
    """A feature of outputs: what a `column` reads of a `leaf`, the `index`-th of a `kind` of similar features."""

    leaf: Leaf
    column: LeafFeature
    kind: str
    index: int = 0

    @property
    def name(self) -> Name:
        """The name of the feature, as "bit 3 of output['count']"."""
        name = self.column.name
        if self.reduced or self.kind in NAMED:
            return name
        if name:
            return Name.of("{} of {}", name, self.leaf.name)
        return self.leaf.name

    @property
    def reduced(self) -> bool:
        """Whether it reads one column of a reduced row."""
        return isinstance(self.leaf.reader, readers.Block) and bool(self.leaf.reader.names)

    @property
    def representation(self) -> bool:
        """Whether it shows how a value is stored rather than which it is."""
        return self.column.representation or self.leaf.representation

    @property
    def ordered(self) -> bool:
        """Whether the feature is a real number, whose cells ascend with it."""
        return self.column.edges is not None

    def intricate(self, output: Any) -> bool:
        """Say whether it says little to a person who sees an output like this one.

        So does a part of a table as it is taken apart; and the number of keys, which say more themselves.
        """
        is_length = self.kind == "value" and self.leaf.path[-1:] == (Step("length"),)
        counts_keys = is_length and isinstance(opened(output), dict)
        inside = any(step.name == "key" and step.at in ("values", "index") for step in self.leaf.path)
        return counts_keys or inside or self.kind in INTRICATE or self.column.name in INTRICATE

    def __call__(self, outputs: Outputs) -> CellNumbers:
        """Return the cell of each output."""
        values, where = self.leaf.read(outputs)
        return spread(self.column.cells(*distinct(values)), where, len(outputs), ABSENT)

    def real(self, outputs: Outputs) -> Array:
        """Return the number of each output, -inf where there is none; for ordered features alone."""
        values, where = self.leaf.read(outputs)
        return spread(self.column.read(values), where, len(outputs), -np.inf)

    def cell(self, code: int) -> str | int:
        """Return a cell as a person would write it."""
        if code == ABSENT:
            return "absent"
        return self.column.cell(code)


def distinct(values: LeafValues) -> tuple[LeafValues, NDArray[np.intp] | None]:
    """Return the values to read features of, texts that repeat once each, and then the place of each value in them."""
    if isinstance(values, list) and values and type(values[0]) is str:
        numbers = {value: i for i, value in enumerate(dict.fromkeys(values))}
        if len(numbers) <= REPEATING * len(values):
            return list(numbers), np.fromiter(map(numbers.__getitem__, values), np.intp, len(values))
    return values, None


# Standard errors of the training runs that a promise is marked down by.
TRAINING = 2.0
# The same for the confirmation runs to come.
CONFIRMATION = 2.0


def promise(x: Array, m: float | Array, y: Array, k: float | Array, confirm: int, training: float = TRAINING) -> Array:
    """Return the promise of events with x of m and y of k training runs, elementwise."""
    first, second = (1 / (training**2 / runs + CONFIRMATION**2 / confirm) for runs in (m, k))
    low = wilson_limit(x / m * first, first, -1.0)
    high = wilson_limit(y / k * second, second, 1.0)
    return to_grid(np.log(np.maximum(low, 1e-300)) - np.log(high))


def best_events(data: Array, neighbour: Array, confirm: int) -> tuple[Array, Bools, Bools]:
    """Return the best prefix of the cells by likelihood ratio of each of many features, for `confirm` fresh runs.

    Given are the training runs in each cell of each feature, shape (..., parts, cells). With two parts each is ordered
    by the other's counts, so that many cells of few runs promise nothing by luck; the mean promise decides how many
    cells to take of the order by all runs.

    Returned are what the event promises, shape (...), -inf where there is one cell only; whether each cell is in it,
    shape (..., cells); and whether it is data's, shape (...).
    """
    *many, _, cells = data.shape
    if cells < 2:
        return np.full(many, -np.inf), np.zeros((*many, cells), dtype=bool), np.ones(many, dtype=bool)
    order = _order(data[..., ::-1, :], neighbour[..., ::-1, :])
    left, right = (np.take_along_axis(side, order, axis=-1) for side in (data, neighbour))
    mean = np.mean(_promises(left, right, confirm), axis=-2).reshape(*many, -1)
    best = np.argmax(mean, axis=-1)
    direction, length = np.divmod(best, cells - 1)
    place = np.argsort(_order(data.sum(axis=-2), neighbour.sum(axis=-2)), axis=-1)
    forward = direction == 0
    return mean.max(axis=-1), (place <= length[..., None]) == forward[..., None], forward


def best_half_lines(data: Array, neighbour: Array, confirm: int) -> tuple[Array, Bools, Bools]:
    """Return the same of the cells below, or above, one threshold: as few events need no order to be learned.

    All parts are counted together, which leaves less to mark down.
    """
    left, right = (side.sum(axis=-2, keepdims=True) for side in (data, neighbour))
    cells = data.shape[-1]
    below = np.stack([_promises(left, right, confirm), _promises(right, left, confirm)], axis=-4)
    # Of the four a cut has: the lower part on data, the upper on neighbour, the lower on neighbour, the upper on data.
    found = below.reshape(*data.shape[:-2], 4, cells - 1)
    which, cut = np.divmod(np.argmax(found.reshape(*data.shape[:-2], -1), axis=-1), cells - 1)
    lower = np.arange(cells) <= cut[..., None]
    forward: Bools = (which == 0) | (which == 3)
    return found.max(axis=(-2, -1)), lower == (which % 2 == 0)[..., None], forward


def _order(data: Array, neighbour: Array) -> NDArray[np.intp]:
    ratio = to_grid(np.log(data + 0.5) - np.log(neighbour + 0.5))
    return np.argsort(-ratio, axis=-1, kind="stable")


def _promises(data: Array, neighbour: Array, confirm: int) -> Array:
    """Return the promises, shape (..., 2, parts, cells - 1), of the prefixes on data and of the rest on neighbour.

    A part without runs on either side promises nothing.
    """
    m, k = (side.sum(axis=-1, keepdims=True) for side in (data, neighbour))
    empty = (m == 0) | (k == 0)
    m = np.where(empty, 1.0, m)
    k = np.where(empty, 1.0, k)
    x, y = (np.cumsum(side, axis=-1)[..., :-1] for side in (data, neighbour))
    found = [promise(x, m, y, k, confirm), promise(k - y, k, m - x, m, confirm)]
    return np.stack([np.where(empty, -np.inf, one) for one in found], axis=-3)
