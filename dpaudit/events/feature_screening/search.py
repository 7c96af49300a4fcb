"""The screen: many features of every leaf are compared on some training runs, and the most promising ones returned.

Where none promises enough, features of too many to compare each are searched: parities of bits, products of two
numbers, remainders by large numbers, what stands far from the ends of texts, check sums of characters.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from dpaudit.bounds.base import Array, Integers
from dpaudit.events.event import Outputs
from dpaudit.events.feature_screening import numbers, rows, texts
from dpaudit.events.feature_screening.compared import (
    MODULUS,
    MOST_BITS,
    WIDEST,
    Parity,
    check_characters,
    far_places,
    parities,
    remainders,
)
from dpaudit.events.feature_screening.feature import (
    ABSENT,
    DIGIT,
    ORDER,
    PERIOD,
    RUNS,
    CellNumbers,
    Feature,
    LeafFeature,
    LeafValues,
    best_events,
    best_half_lines,
    distinct,
    one_of,
    promise,
)
from dpaudit.events.feature_screening.periods import MOST_PERIODIC, digits_and_periods
from dpaudit.events.feature_screening.products import Product, Sides, products, signs
from dpaudit.events.feature_screening.sequences import READ_WIDTH, orders, runs
from dpaudit.events.wide import PAIR_WIDTH, WIDTH
from dpaudit.jsonable import stable_repr
from dpaudit.naming import Name, position
from dpaudit.outputs import readers
from dpaudit.outputs.leaf import Leaf, in_words, spread
from dpaudit.outputs.plan import NAMED_POSITIONS, LeafPlan
from dpaudit.outputs.readers import is_usual
from dpaudit.outputs.shared import join

# Training runs a side that features are compared on: beyond them the screen costs more and finds little more.
ROWS = 5_000
# Features that are counted again, on runs that did not rank them.
RECOUNTED = 24
# Features that are returned.
RETURNED = 6
# Parts of the runs: two of a quarter each rank features, the rest recounts the best.
PARTS = 3
# If nothing promises so much more than the claim, features chosen by comparing the sides are looked at too.
ENOUGH = 0.3
# So much more must be promised by features that the sides chose of very many: by luck some promise a little.
MARKDOWN = 0.1
# The kinds of features that must promise more than every ordinary one: a value that leaks leaks through these too.
SECONDARY = (DIGIT, PERIOD, ORDER, RUNS)
# Numbers of an output whose products and signs are compared.
MOST_COLUMNS = 256
# Integers of an output by whose remainders all moduli are compared.
MOST_WHOLE = 6

Screened: TypeAlias = Feature | Parity | Product


@dataclass(frozen=True)
class Promising:
    """A feature, and the bound that it promises on runs that did not choose it."""

    feature: Screened
    promise: float


def screen_features(
    plan: LeafPlan,
    data: Outputs,
    neighbour: Outputs,
    confirm: int,
    *,
    epsilon: float = 0.0,
    stored: bool | None = False,
) -> list[Promising]:
    """Return the most promising features of some training runs of the two sides, the best first.

    `confirm` fresh runs a side are to come. Where some feature promises clearly more than the claim, `epsilon`, no
    parities are searched. `stored` says whether features of how values are stored take part; None stands for these
    alone.
    """
    left = data[:ROWS]
    right = neighbour[:ROWS]
    outputs = join([left, right])
    side = np.repeat([0, 1], [len(left), len(right)])
    # Two parts of a quarter each rank the features, each ordered by the other; the rest recounts the best.
    part = np.concatenate([np.minimum(4 * np.arange(n) // n, PARTS - 1) for n in (len(left), len(right)) if n])
    groups = part + PARTS * side
    features: list[Screened] = []
    counts: list[Array] = []
    bits: list[tuple[Feature, CellNumbers]] = []
    for feature, cells in _features(plan, outputs, stored):
        if cells.min() == cells.max():
            continue
        features.append(feature)
        counts.append(_counts(cells, groups))
        if cells.min() >= 0 and cells.max() == 1 and not feature.representation:
            bits.append((feature, cells))
    promised, again = _promises(counts, confirm, [feature.ordered for feature in features])
    screened = len(features)
    if promised.max(initial=-np.inf) < epsilon + ENOUGH and stored is not None:
        chosen = list(_chosen(plan, outputs, bits, side == 1, part < PARTS - 1))
        features += chosen
        of_each = [_counts(feature(outputs), groups) for feature in chosen]
        again = np.append(again, _promises(of_each, confirm, [feature.ordered for feature in chosen])[1])
    order = np.append(np.argsort(-promised[:screened], kind="stable")[:RECOUNTED], np.arange(screened, len(features)))
    ordinary = again[order[order < screened]].max(initial=0.0)
    worse = [
        i >= screened and features[i].kind in SECONDARY and again[i] - MARKDOWN <= ordinary for i in order.tolist()
    ]
    order = order[~np.array(worse, dtype=np.bool_)]
    order = order[np.argsort(-(again - MARKDOWN * (np.arange(len(features)) >= screened))[order], kind="stable")]
    # The best feature of each kind comes before any second one of a kind: a number leaks through its sums and
    # differences with others as well, and some of so many promise more by luck. A tail of one number was lost where
    # three of them were returned.
    first = {features[i].kind: i for i in order[::-1].tolist()}
    best = sorted(order.tolist(), key=lambda i: first[features[i].kind] != i)
    return [Promising(features[i], float(again[i])) for i in best[:RETURNED]]


def _chosen(
    plan: LeafPlan, outputs: Outputs, bits: Sequence[tuple[Feature, CellNumbers]], neighbour: Sides, fit: Sides
) -> Iterator[Screened]:
    """Yield features that are chosen by comparing the sides on the runs to `fit`."""
    if not (fit & neighbour).any() or not (fit & ~neighbour).any():
        return
    columns = list[tuple[Feature, Array]]()
    whole = 0
    for leaf in plan.leaves:
        values, where = leaf.read(outputs)
        place = np.arange(len(outputs)) if where is None else where
        if leaf.representation or not len(values):
            continue
        if leaf.reader in (readers.text, readers.byte_string):
            for kind, choose in (("place", far_places), ("check", check_characters), (RUNS, runs)):
                yield from (Feature(leaf, one, kind) for one in choose(values, neighbour[place], fit[place]))
        if len(columns) >= MOST_COLUMNS:
            continue
        for read, features in features_of(leaf, values, _SINGLE.__contains__):
            numeric = [one for one in features if one.kind in ("value", "entries") and not one.reduced]
            if isinstance(read, readers.WholeValues) and whole < MOST_WHOLE:
                whole += 1
                chosen = remainders(read, neighbour[place], fit[place])
                yield from (Feature(numeric[0].leaf, one, "remainder") for one in chosen)
            if not leaf.in_row:
                columns += [(one, spread(one.column.read(read), where, len(outputs), -np.inf)) for one in numeric]
    yield from orders(plan, outputs, neighbour, fit)
    columns = columns[:MOST_COLUMNS]
    yield from digits_and_periods(columns, neighbour, fit)
    yield from products(columns, neighbour, fit)
    bits = [*signs(columns), *bits]
    if bits:
        matrix = np.stack([cells for _, cells in bits], axis=1).astype(np.uint8)
        yield from parities([bit for bit, _ in bits], matrix[fit & ~neighbour], matrix[fit & neighbour])


def not_compared(plan: LeafPlan, outputs: Outputs) -> tuple[Name, ...]:
    """Return the names of relations between parts of such outputs that no feature shows.

    docs/research/outputs.md has all of them. Only those are named that outputs of these types and sizes can have.
    """
    found: list[Name] = []
    single = 0
    integers = 0
    bits = 0
    numeric = 0
    for leaf in plan.leaves:
        if leaf.representation or leaf.in_row:
            continue
        name = leaf.name
        if isinstance(leaf.reader, readers.Block):
            numeric += leaf.reader.width
            if leaf.reader.width > 2:
                found.append(Name.of("relations of three and more numbers of {}", name))
            if leaf.reader.width > WIDTH:
                found.append(Name.of("the parity of the order of {}", name))
            if leaf.reader.width > PAIR_WIDTH:
                found.append(Name.of("products of two numbers of {}", name))
        elif leaf.reader in (readers.text, readers.byte_string):
            held = leaf.read(outputs)[0]
            # One text has no relation that another lacks.
            if len(set(held)) < 2:
                continue
            longest = max(map(len, held), default=0)
            if longest > 2:
                found.append(Name.of("relations of characters of {}, but for check characters and runs", name))
            if longest > READ_WIDTH:
                found.append(Name.of("runs of characters of {} beyond the first {}", name, position(READ_WIDTH)))
            if longest > texts.CHECKED_WIDTH:
                found.append(Name.of("check characters of {}", name))
            if longest > WIDEST + texts.NEAR:
                found.append(Name.of("characters of {} beyond the first {}", name, position(WIDEST)))
        elif leaf.reader is readers.whole:
            values = leaf.read(outputs)[0]
            single += 1
            integers += 1
            numeric += 1
            bits += int(values.length.max(initial=0))
            large = values.real.max(initial=0) - values.real.min(initial=0) > MODULUS**2
            if large:
                found.append(Name.of("most remainders of {} by numbers above {}", name, position(MODULUS)))
        elif leaf.reader is readers.real:
            single += 1
            numeric += 1
        elif isinstance(leaf.reader, readers.Categories) and leaf.reader.of is tuple:
            found.append(Name.of("orders of three and more keys of {}", in_words(leaf.path)))
    for what, count, most in (
        ("digits and periods of numbers", numeric, MOST_PERIODIC),
        ("remainders of integers", integers, MOST_WHOLE),
        ("products of two numbers", single, MOST_COLUMNS),
        ("parities of integers' bits", bits, MOST_BITS),
    ):
        if count > most:
            found.append(Name.of(f"{what} beyond the first {{}}", position(most)))
    return tuple(found)


def _counts(cells: CellNumbers, groups: Integers) -> Array:
    """Return the runs in each cell of a feature that any run is in, shape (sides, parts, cells)."""
    codes = cells - ABSENT
    width = int(codes.max(initial=0)) + 1
    counts = np.bincount(codes + width * groups, minlength=2 * PARTS * width).reshape(2, PARTS, width).astype(float)
    return counts[:, :, counts.sum(axis=(0, 1)) > 0]


def _promises(counts: Sequence[Array], confirm: int, ordered: Sequence[bool]) -> tuple[Array, Array]:
    """Return what each feature's best event promises on the parts that rank, and on the part that recounts.

    Features of as many cells are judged together: most have two. Where cells are ordered, or two, half-lines compete
    with events of any cells: among five hundred features a tail of a number was lost by the order of its cells alone.
    """
    promised = np.zeros(len(counts))
    again = np.zeros(len(counts))
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
            inside = np.where(better[:, None], line[1], inside)
            forward = np.where(better, line[2], forward)
        fresh = np.stack([data[:, -1], neighbour[:, -1]])
        hits = (fresh * inside).sum(axis=-1)
        runs = fresh.sum(axis=-1)
        (x, y), (m, k) = (np.where(forward, side, side[::-1]) for side in (hits, np.maximum(runs, 1.0)))
        again[alike] = -np.inf
        if width > 1:
            again[alike] = promise(x, m, y, k, confirm, training=1.0)
    return promised, again


def _features(plan: LeafPlan, outputs: Outputs, stored: bool | None) -> Iterator[tuple[Feature, CellNumbers]]:
    for leaf in plan.leaves:
        values, where = leaf.read(outputs)
        if not len(values):
            continue
        for read, features in features_of(leaf, values, lambda group: stored or (group in _STORED) is (stored is None)):
            different = distinct(read)
            for feature in features:
                if stored or feature.representation is (stored is None):
                    yield feature, spread(feature.column.cells(*different), where, len(outputs), ABSENT)


Group = Callable[[Any], list[LeafFeature]]
"""Fits some similar features to the training values of a leaf."""

_WHOLE: tuple[Group, ...] = (numbers.value, numbers.repeats, numbers.forms)
_LONG: tuple[Group, ...] = (numbers.bits, numbers.residues, numbers.digits, numbers.check_digits)
# Of features that tell the same the first is named.
_REAL: tuple[Group, ...] = (
    numbers.nans, numbers.value, numbers.repeats, numbers.fractions, numbers.storage, numbers.mantissa,
)  # fmt: skip
_TEXT: tuple[Group, ...] = (numbers.repeats, texts.characters, texts.affixes, texts.words, texts.counts)
_BYTES: tuple[Group, ...] = (
    numbers.repeats, texts.byte_values, texts.byte_bits, texts.byte_numbers, texts.affixes,
)  # fmt: skip


# The groups of features that show how a value is stored.
_STORED: frozenset[Group] = frozenset({numbers.storage, numbers.mantissa, numbers.row_storage})
_SINGLE: frozenset[Group] = frozenset({numbers.value, rows.entries})


def features_of(
    leaf: Leaf, values: LeafValues, wanted: Callable[[Group], bool | None] = lambda group: True
) -> Iterator[tuple[LeafValues, list[Feature]]]:
    """Yield the features of a leaf, fitted to its training values, after the values that each some of them read.

    Of the groups of features those that are `wanted` are fitted, and all categories.
    """
    if isinstance(leaf.reader, readers.Categories):
        # 0 is that of a category that training did not show.
        shown = one_of("another", *map(_shown, leaf.reader.numbers))
        yield values, [Feature(leaf, LeafFeature(Name(), partial(np.add, 1), shown), "category")]
    elif isinstance(values, readers.WholeValues):
        groups = _WHOLE
        if values.length.max(initial=0) > 1:
            groups += _LONG
        yield values, _fitted(leaf, values, groups, wanted)
    elif isinstance(values, np.ndarray) and values.ndim == 2:
        yield from _of_rows(leaf, np.asarray(values, dtype=np.float64), wanted)
    else:
        if leaf.reader is readers.text:
            groups = _TEXT
        elif leaf.reader is readers.byte_string:
            groups = _BYTES
        else:
            groups = _REAL
        yield values, _fitted(leaf, values, groups, wanted)


def _fitted(
    leaf: Leaf, values: LeafValues, groups: Iterable[Group], wanted: Callable[[Group], bool | None]
) -> list[Feature]:
    fitted = ((group.__name__, group(values)) for group in groups if wanted(group))
    return [Feature(leaf, column, kind, j) for kind, columns in fitted for j, column in enumerate(columns)]


def _shown(category: Hashable) -> str:
    """Return a category as a person would write it; of a mapping's keys, or a set's members, in order."""
    text = stable_repr(category)
    if isinstance(category, frozenset):
        text = f"{{{', '.join(sorted(map(stable_repr, category)))}}}"
    return text[: numbers.SHOWN]


def _of_rows(
    leaf: Leaf, table: Array, wanted: Callable[[Group], bool | None]
) -> Iterator[tuple[LeafValues, list[Feature]]]:
    names = leaf.reader.names if isinstance(leaf.reader, readers.Block) else ()
    if table.shape[1] < 2 or names:
        columns: list[LeafFeature] = []
        if wanted(rows.entries):
            columns = rows.entries(table, names)
        yield table, [Feature(leaf, column, "entries", j) for j, column in enumerate(columns)]
        return
    # Numbers of shorter rows are leaves of their own.
    groups: list[Group] = [rows.entries, rows.summaries, rows.relations]
    if table.shape[1] > NAMED_POSITIONS:
        groups.append(rows.repeated_entries)
    ordinary = table[is_usual(table)]
    whole = bool((ordinary == np.round(ordinary)).all() and np.abs(ordinary).max(initial=0) < 2**53)
    if not whole:
        groups.append(numbers.row_storage)
    yield table, _fitted(leaf, table, groups, wanted)
    if whole and wanted(numbers.value) and isinstance(leaf.reader, readers.Block):
        for of, what in ((np.add, "sum"), (np.bitwise_xor, "XOR"), (np.gcd, "greatest common divisor")):
            reader = partial(rows.whole_of_values, leaf.reader, of)
            summed = Leaf(leaf.path, reader, Name.of(f"{what} of {{}}", leaf.name))
            yield from features_of(summed, rows.whole_of_rows(of, table), wanted)
