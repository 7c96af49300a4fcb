"""Features of sequences that the sides choose: which of two members comes first; runs and occurrences of characters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.bounds.base import Array, Bools
from dpaudit.events.cells import to_grid
from dpaudit.events.event import Outputs
from dpaudit.events.feature_screening.feature import ORDER, CellNumbers, Feature, LeafFeature, number, one_of
from dpaudit.events.feature_screening.products import Sides
from dpaudit.events.feature_screening.texts import Texts
from dpaudit.jsonable import stable_repr
from dpaudit.naming import Mention, Name, key, written_key
from dpaudit.outputs import readers
from dpaudit.outputs.leaf import Leaf, Path, in_words, walk
from dpaudit.outputs.plan import LeafPlan

# Values a side that are compared.
COMPARED = 2_000
# Rows that show whether rows have members in common.
FEW = 20
# Characters that are counted.
COMMONEST = 32
# Features of a leaf that are returned.
CHOSEN = 3
# Standard deviations by which a mean must differ: of a thousand some do by luck, which the recount sorts out.
LEAST_GAP = 4.0
# Members of a sequence whose order is compared.
MEMBERS = 128
# The share of sequences that must hold a member.
PRESENT = 0.9
# Characters of a text, or bytes, in which runs and occurrences are looked at.
READ_WIDTH = 512
# Characters of all texts that are looked through for groups of two and three.
GRAM_NUMBERS = 400_000
# More than there are codes of characters.
CODES = 2**21
CLASSES = {"digits": ("0", "9"), "small letters": ("a", "z"), "capital letters": ("A", "Z")}


def _some(neighbour: Sides, fit: Sides) -> tuple[NDArray[np.intp], Sides]:
    places = np.concatenate([np.flatnonzero(fit & (neighbour == side))[:COMPARED] for side in (False, True)])
    return places, neighbour[places]


def _gaps(columns: NDArray[np.generic], side: Sides) -> Array:
    """Return by how many standard deviations the means of columns differ between the sides."""
    first, second = (columns[side == one].astype(np.float64) for one in (False, True))
    variance = first.var(axis=0) / len(first) + second.var(axis=0) / len(second)
    gap = np.abs(first.mean(axis=0) - second.mean(axis=0))
    # A column that is constant on either side, and another constant on the other, tells them apart at once.
    return to_grid(gap / np.sqrt(variance + 1 / (len(first) * len(second))))


# Orders


def orders(plan: LeafPlan, outputs: Outputs, neighbour: Sides, fit: Sides) -> Iterator[Feature]:
    """Yield which of two keys, or of two elements of a list, stands before the other, for those that differ most."""
    for path, name, kind in _ordered(plan):
        values, where = walk(outputs, path)
        place = np.arange(len(outputs)) if where is None else where
        places, side = _some(neighbour[place], fit[place])
        if len(places) < 4 or side.all() or not side.any():
            continue
        leaf = Leaf(path, in_order, name)
        rows = [values[i] for i in places.tolist()]
        if _shared(in_order(rows[:FEW])):
            yield from (Feature(leaf, one, ORDER) for one in _orders_of(in_order(rows), side, kind, name))


def _ordered(plan: LeafPlan) -> Iterator[tuple[Path, Name, str]]:
    """Yield the paths to mappings whose keys' order varies, lists of texts and rows of numbers, and their names."""
    seen = set()
    for leaf in plan.leaves:
        reader = leaf.reader
        if leaf.representation:
            continue
        if isinstance(reader, readers.Categories) and reader.of is tuple:
            yield leaf.path, in_words(leaf.path), "key"
        elif isinstance(reader, readers.Block) and not reader.names and 2 < reader.width <= MEMBERS:
            yield leaf.path, leaf.name, "number"
        elif reader is readers.text and leaf.path[-2:-1] and leaf.path[-2].name == "item":
            parent = leaf.path[:-2]
            if parent not in seen:
                seen.add(parent)
                yield parent, in_words(parent), "element"


def in_order(values: Sequence[Any]) -> list[Iterable[Hashable]]:
    """Return the members of each value in their order: keys, elements, or the numbers of an array."""
    return [one.ravel().tolist() if isinstance(one, np.ndarray) else one for one in values]


def _orders_of(rows: Sequence[Iterable[Hashable]], side: Sides, kind: str, name: Name) -> Iterator[LeafFeature]:
    counts = Counter(member for row in rows for member in dict.fromkeys(islice(row, MEMBERS)))
    present = (one for one, count in counts.most_common(MEMBERS) if count >= PRESENT * len(rows))
    members = sorted(present, key=stable_repr)
    # Two are told by what stands first.
    if len(members) < 3:
        return
    places = np.stack([_places(row, members) for row in rows])
    found: list[tuple[float, int, int]] = []
    for i in range(len(members) - 1):
        gaps = _gaps(places[:, i : i + 1] < places[:, i + 1 :], side)
        found += [(gap, i, i + 1 + j) for j, gap in enumerate(gaps.tolist()) if gap > LEAST_GAP]
    found.sort(key=lambda one: (-one[0], one[1:]))
    for _, i, j in found[:CHOSEN]:
        first = members[i]
        second = members[j]
        mentioned = written_key(_shown(first)), written_key(_shown(second))
        words = Name.of(f"order of the {kind}s {{}} and {{}} in {{}}", *mentioned, name)
        cells = one_of(f"{_shown(second)} first", f"{_shown(first)} first", "absent")
        yield LeafFeature(words, partial(_before, first, second), cells)


def _shared(rows: Sequence[Iterable[Hashable]]) -> bool:
    """Say whether a few rows have members in common: those of numbers of a continuum do not, nor lists of lists."""
    try:
        counts = Counter(member for row in rows for member in dict.fromkeys(islice(row, MEMBERS)))
    except (TypeError, NotImplementedError):
        # Lists as members are not hashable, and sparse matrices of some formats have no rows to iterate.
        return False
    return sum(count >= PRESENT * len(rows) for count in counts.values()) >= 3


def _shown(member: Hashable) -> str:
    return stable_repr(member)[:60]


def _places(row: Iterable[Hashable], members: Sequence[Hashable]) -> NDArray[np.int64]:
    """Return the place of each of some members in a row, or one beyond all."""
    places = {member: place for place, member in reversed(list(enumerate(islice(row, MEMBERS))))}
    return np.fromiter((places.get(member, MEMBERS) for member in members), np.int64, len(members))


def _before(first: Hashable, second: Hashable, rows: Sequence[Iterable[Hashable]]) -> CellNumbers:
    """Return for each row whether it has the first member before the second one: 2 if it lacks one of them."""
    return np.fromiter((_is_before(first, second, row) for row in rows), np.int64, len(rows))


def _is_before(first: Hashable, second: Hashable, row: Iterable[Hashable]) -> int:
    earlier: Hashable = None
    found = 0
    for member in islice(row, MEMBERS):
        if member == first or member == second:
            if found and member != earlier:
                return int(earlier == first)
            earlier = member
            found = 1
    return 2


# Runs and occurrences of characters


def runs(values: Texts, neighbour: Sides, fit: Sides) -> list[LeafFeature]:
    """Return lengths of runs, and occurrences of characters and of two or three together, that differ most."""
    places, side = _some(neighbour, fit)
    if len(places) < 4 or side.all() or not side.any():
        return []
    some = [values[i] for i in places.tolist()]
    width = min(READ_WIDTH, max(map(len, some)))
    if width < 2 or len(set(map(type, some))) > 1:
        return []
    table = _table(some, width)
    found: list[tuple[float, LeafFeature]] = []
    common = Counter(table[table >= 0].tolist()).most_common(COMMONEST)
    counted: list[tuple[Name, Callable[[NDArray[np.int64]], CellNumbers]]] = [
        (Name("longest run of a character"), _longest_run),
        (Name("equal neighbouring characters"), _equal_neighbours),
        *((Name(f"longest run of {kind}"), partial(_longest_of_class, *ends)) for kind, ends in CLASSES.items()),
        *((Name.of("longest run of {}", _written([code], some)), partial(_longest_of, code)) for code, _ in common[:8]),
        *((Name.of("number of {}", _written([code], some)), partial(_count, code)) for code, _ in common),
    ]
    for name, read in counted:
        gap = float(_gaps(read(table)[:, None], side)[0])
        if gap > LEAST_GAP:
            found.append((gap, number(name, partial(_of_table, read), some)))
    for gap, group in _groups(table, side):
        name = Name.of("occurrence of the characters {}", _written(group, some))
        found.append((gap, LeafFeature(name, partial(_of_table, partial(_has, group)), one_of("no", "yes"))))
    found.sort(key=itemgetter(0), reverse=True)
    return [one for _, one in found[:CHOSEN]]


def _table(values: Sequence[Any], width: int) -> NDArray[np.int64]:
    """Return the codes of the first characters of each value, or its first bytes, a row each; -1 beyond its end."""
    if isinstance(values[0], str):
        joined = "".join([value[:width].ljust(width, "\0") for value in values])
        table = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype="<u4").reshape(-1, width)
    else:
        table = np.frombuffer(b"".join([value[:width].ljust(width, b"\0") for value in values]), np.uint8)
        table = table.reshape(-1, width)
    lengths = np.fromiter(map(len, values), np.int64, len(values))
    return np.where(np.arange(width) >= lengths[:, None], -1, table.astype(np.int64))


def _of_table(read: Callable[[CellNumbers], NDArray[np.generic]], values: Texts) -> Array:
    if not len(values):
        return np.zeros(0)
    width = max(1, min(READ_WIDTH, max(map(len, values))))
    return np.asarray(read(_table(values, width)), dtype=np.float64)


def _longest(inside: NDArray[np.bool_]) -> CellNumbers:
    """Return the most True in a row of each row."""
    best = np.zeros(len(inside), dtype=np.int64)
    now = np.zeros(len(inside), dtype=np.int64)
    for column in inside.T:
        now = (now + 1) * column
        np.maximum(best, now, out=best)
    return best


def _longest_run(table: NDArray[np.int64]) -> CellNumbers:
    same = (table[:, 1:] == table[:, :-1]) & (table[:, 1:] >= 0)
    return _longest(same) + (table >= 0).any(axis=1)


def _equal_neighbours(table: NDArray[np.int64]) -> CellNumbers:
    found: CellNumbers = ((table[:, 1:] == table[:, :-1]) & (table[:, 1:] >= 0)).sum(axis=1)
    return found


def _longest_of_class(low: str, high: str, table: NDArray[np.int64]) -> CellNumbers:
    return _longest((table >= ord(low)) & (table <= ord(high)))


def _longest_of(code: int, table: NDArray[np.int64]) -> CellNumbers:
    return _longest(table == code)


def _count(code: int, table: NDArray[np.int64]) -> CellNumbers:
    found: CellNumbers = (table == code).sum(axis=1)
    return found


def _grams(table: NDArray[np.int64], length: int) -> NDArray[np.int64]:
    """Return the groups of so many neighbouring codes of each row as one number each; -1 beyond its end."""
    last = table.shape[1] - length + 1
    grams = np.zeros((len(table), max(0, last)), dtype=np.int64)
    for at in range(length):
        grams = grams * CODES + np.maximum(table[:, at : at + grams.shape[1]], 0)
    if grams.size:
        grams[table[:, length - 1 :] < 0] = -1
    return grams


def _groups(table: NDArray[np.int64], side: Sides) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Yield the groups of two and three neighbouring codes whose occurrence differs most between the sides."""
    some = max(8, GRAM_NUMBERS // table.shape[1])
    if len(table) > some:
        step = -(-len(table) // some)
        table = table[::step]
        side = side[::step]
    sizes = [(~side).sum(), side.sum()]
    for length in (2, 3):
        grams = _grams(table, length)
        row, column = np.nonzero(grams >= 0)
        if not len(row):
            continue
        kinds, which = np.unique(grams[row, column], return_inverse=True)
        # Each kind once a row.
        pairs = np.unique(which * len(table) + row)
        which = pairs // len(table)
        of_side = side[pairs % len(table)]
        hits = [np.bincount(which[of_side == one], minlength=len(kinds)) for one in (False, True)]
        shares = [(hit + 0.5) / (size + 1) for hit, size in zip(hits, sizes, strict=True)]
        variance = sum(p * (1 - p) / size for p, size in zip(shares, sizes, strict=True))
        gaps = to_grid(np.abs(shares[0] - shares[1]) / np.sqrt(variance))
        for at in np.argsort(-gaps, kind="stable")[:CHOSEN].tolist():
            if gaps[at] > LEAST_GAP + 1:
                yield float(gaps[at]), _members(int(kinds[at]), length)


def _members(gram: int, length: int) -> tuple[int, ...]:
    found: list[int] = []
    for _ in range(length):
        gram, code = divmod(gram, CODES)
        found.insert(0, code)
    return tuple(found)


def _has(group: tuple[int, ...], table: NDArray[np.int64]) -> Bools:
    wanted = 0
    for code in group:
        wanted = wanted * CODES + code
    found: Bools = (_grams(table, len(group)) == wanted).any(axis=1)
    return found


def _written(group: Sequence[int], values: Texts) -> Mention:
    return key(bytes(group) if isinstance(values[0], bytes) else "".join(map(chr, group)))
