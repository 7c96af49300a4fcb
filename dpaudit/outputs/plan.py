"""The plan of an audit's outputs: which leaves they have, found on training runs and then fixed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np

from dpaudit.errors import InputError
from dpaudit.jsonable import stable_repr
from dpaudit.naming import Name, member, position
from dpaudit.outputs import readers
from dpaudit.outputs.canonical import (
    NUMERIC,
    Raised,
    canonical,
    class_of,
    dtype_of,
    family,
    holds_unseen,
    kind_of,
    order_of,
)
from dpaudit.outputs.leaf import OUTPUT, Leaf, Path, Step, in_words, listed, template
from dpaudit.outputs.metadata import WithMetadata
from dpaudit.outputs.numpy_parts import has_numbers
from dpaudit.outputs.shared import counted, follow
from dpaudit.outputs.types import Array, Batch, Parts, Sparse, Values
from dpaudit.withheld import foreign

# A key, or a family of types, in a smaller share of the outputs is counted and not taken apart.
COMMON = 0.005
LEAST_ROWS = 5
# Steps from an output to a leaf; of a list in a list each takes two.
DEPTH = 64
MOST_LEAVES = 2_000
MOST_CATEGORIES = 256
# Elements of a sequence of mixed kinds that are taken apart one by one; the rest is reported as unseen.
POSITIONS = 64
# Numbers of a sequence that are leaves of their own, in addition to the row that they form.
NAMED_POSITIONS = 16
# Keys of mappings that are followed: the commonest.
KEYS = 256
# Numbers of a sparse matrix up to which it becomes a row of numbers.
DENSE = 10**6
# Doubles hold all integers of no greater magnitude.
LARGEST_EXACT = 2**53
MOST_TEMPLATES = 64
# The share of texts that must be JSON, or hexadecimal, to be read as such.
MOSTLY = 0.95


@dataclass
class LeafPlan:
    """The leaves of some outputs, and the names of parts that are not read.

    It is made from `total` outputs. An audit lacks evidence on `unseen` parts; parts that are `aside` cannot be read
    by anybody, and the audit names them. While the plan is made, `in_row` says whether a row of numbers also holds what
    is planned now, and `beyond` has the path of the first part that is one leaf too many.
    """

    leaves: list[Leaf] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    total: int = 0
    aside: list[str] = field(default_factory=list)
    in_row: bool = False
    beyond: list[Path] = field(default_factory=list)

    @classmethod
    def of(cls, rows: Batch) -> LeafPlan:
        """Return the plan of outputs of both sides; `InputError` if one cannot be taken apart."""
        plan = cls(total=len(rows))
        plan.node(listed(rows), ())
        return plan

    @classmethod
    def of_reduced(cls, rows: Batch, names: Sequence[Name], columns: tuple[Name, ...]) -> LeafPlan:
        """Return the plan of wide outputs as a reducer returns them.

        They are rows of these columns, or tuples of the values of other leaves, of these names, with such a row at the
        end.
        """
        plan = cls(total=len(rows))
        for j, name in enumerate(names):
            plan.node([row[j] for row in rows], (Step("leaf", (j, name)),))
        path: Path = (Step("family", "array"),)
        if names:
            path = (Step("leaf", (len(names), OUTPUT)),)
        plan.add(path, readers.Block(len(columns), columns))
        return plan

    def node(self, values: Values, path: Path) -> None:
        """Plan the values at the end of a path."""
        if len(path) > DEPTH and sum(step not in _NO_DEEPER for step in path) > DEPTH:
            raise InputError(
                f"an output is nested deeper than {DEPTH} steps, or holds itself: {foreign(in_words(path)):.200}; "
                "return what matters of it, or say what that is by dpaudit.register_flattener(TYPE, lambda output: ...)"
            )
        if len(self.leaves) >= MOST_LEAVES:
            if not self.beyond:
                self.beyond.append(path)
                # A plain text, which is withheld: the path may hold a key of the data, and is cut.
                self.unseen.append(f"parts beyond the first {MOST_LEAVES}, from {in_words(path):.200} on")
            return
        found: Counter[str] = Counter()
        kinds: dict[str, set[type]] = {}
        for kind, count in counted(type, values).items():
            name = family(kind)
            found[name] += count
            kinds.setdefault(name, set()).add(kind)
        if len(found) > 1:
            self.category(kind_of, values, path, Name("type"))
            if set(found) <= NUMERIC:
                self.add(path, readers.real, Name("value"))
        for name in sorted(found):
            step = Step("family", name)
            if len(kinds[name]) > 1 and name not in _CLASSES_APART:
                # A tuple and a list, or a scalar of NumPy and one of Python, are taken apart alike, and differ.
                self.category(class_of, follow(step, values)[0], (*path, step), Name("class"))
            if len(found) == 1 or self.common(found[name]):
                _HANDLERS.get(name, _HANDLERS["object"])(self, follow(step, values)[0], (*path, step))

    def common(self, count: int) -> bool:
        """Say whether so many of the outputs are worth being taken apart."""
        return count >= max(LEAST_ROWS, COMMON * self.total)

    def step(self, name: str, values: Values, path: Path) -> None:
        """Plan what a step leads to from all values."""
        step = Step(name)
        self.node(follow(step, values)[0], (*path, step))

    def add(self, path: Path, reader: readers.Reader, what: Name | None = None, representation: bool = False) -> None:
        """Add a leaf, which is `what` the values at the end of the path have, or these themselves."""
        name = in_words(path)
        if what is not None:
            name = Name.of("{} of {}", what, name)
        self.leaves.append(Leaf(path, reader, name, self.in_row or representation, representation))

    def large_integers(self, values: Values, path: Path, width: int) -> None:
        """Plan rows of integers that doubles do not hold: their lowest digits, which the row of doubles lacks."""
        step = Step("lowest bits")
        if len(follow(step, values)[0]) == len(values):
            self.add((*path, step), readers.Block(width))

    def category(
        self,
        of: readers.Category,
        values: Values,
        path: Path,
        what: Name,
        most: int = MOST_CATEGORIES,
        representation: bool = False,
    ) -> None:
        """Add a category of the values if it varies."""
        reader = readers.Categories.fit(of, values, most)
        if len(reader.numbers) > 1:
            self.add(path, reader, what, representation)

    def within_row(self) -> LeafPlan:
        """Return this plan for parts that a row of numbers, or a text, holds together already."""
        return replace(self, in_row=True)


# Steps from what a conversion made of an output to the values that it kept.
_NO_DEEPER = (Step("family", "labelled"), Step("labelled"))
# Families whose handlers look at the classes themselves, or whose classes say nothing.
_CLASSES_APART = frozenset({"exception", "labelled"})

Handler: TypeAlias = Callable[[LeafPlan, Any, Path], None]
"""Plans values of one family, which stand at the end of a path."""


def _sequence(plan: LeafPlan, values: Sequence[Collection[Any]], path: Path) -> None:
    """Plan lists and tuples: their length, and a row of numbers or each element."""
    lengths = set(map(len, values))
    longest = max(lengths)
    if len(lengths) > 1:
        plan.add((*path, Step("length")), readers.whole)
    inside = {family(kind) for kind in set(map(type, chain.from_iterable(values)))}
    if inside == {"int"} and longest > NAMED_POSITIONS and any(map(_has_large_integers, values)):
        plan.large_integers(values, path, longest)
    if len(inside) > 1 or not inside <= NUMERIC:
        plan.category(_types_of, values, path, Name("types"))
    if inside <= NUMERIC:
        _row(plan, values, path, "item", longest)
        return
    _positions(plan, values, path, "item", min(longest, POSITIONS))
    if longest > POSITIONS:
        numbers = position(POSITIONS), position(longest - 1)
        plan.unseen.append(Name.of("elements {} to {} of {}", *numbers, in_words(path)))


def _row(plan: LeafPlan, values: Values, path: Path, step: str, width: int) -> None:
    """Plan a row of numbers, and if it is short each of them."""
    if width:
        plan.add(path, readers.Block(width))
    if width <= NAMED_POSITIONS:
        _positions(plan.within_row(), values, path, step, width)


def _positions(plan: LeafPlan, values: Values, path: Path, step: str, longest: int) -> None:
    for j in range(longest):
        to = Step(step, j)
        below = follow(to, values)[0]
        if plan.common(len(below)) or len(values) == len(below):
            plan.node(below, (*path, to))


def _types_of(values: Iterable[Any]) -> str:
    return " ".join(family(type(value)) for value, _ in zip(values, range(POSITIONS), strict=False))


def _array(plan: LeafPlan, values: Sequence[Array], path: Path) -> None:
    """Plan arrays: their shape, kind and numbers; those of other things by their parts."""
    plan.category(attrgetter("shape"), values, path, Name("shape"))
    plan.category(_kind_of_numbers, values, path, Name("kind of the numbers"))
    plan.category(dtype_of, values, path, Name("dtype"))
    plan.category(order_of, values, path, Name("memory order"))
    if not all(has_numbers(value.dtype) for value in values):
        plan.step("parts", values, path)
        return
    widest = max(value.size for value in values)
    if len({value.size for value in values}) > 1:
        plan.add((*path, Step("size")), readers.whole)
    if widest > NAMED_POSITIONS and any(map(_has_large_integers, values)):
        plan.large_integers(values, path, widest)
    _row(plan, values, path, "entry", widest)


def _has_large_integers(value: Collection[int] | Array) -> bool:
    """Say whether some integers of a row are beyond those that doubles hold exactly."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "iu" or value.dtype.itemsize < 8 or not value.size:
            return False
        return bool(value.max() > LARGEST_EXACT) or bool(value.min() < -LARGEST_EXACT)
    return any(abs(one) > LARGEST_EXACT for one in value)


def _kind_of_numbers(value: Array | Sparse) -> str:
    kind = value.dtype.kind
    return "i" if kind == "u" else kind


def _sparse(plan: LeafPlan, values: Sequence[Sparse], path: Path) -> None:
    """Plan sparse matrices: all their numbers if these are not too many, and the pattern of the stored entries."""
    plan.category(attrgetter("shape"), values, path, Name("shape"))
    plan.category(_kind_of_numbers, values, path, Name("kind of the numbers"))
    plan.category(attrgetter("format"), values, path, Name("format"), representation=True)
    plan.category(dtype_of, values, path, Name("dtype"))
    widths = {int(np.prod(value.shape, dtype=np.int64)) for value in values}
    if len(widths) > 1 or max(widths) > DENSE or not all(has_numbers(value.dtype) for value in values):
        plan.step("parts", values, path)
        return
    plan.add(path, readers.SparseRows(max(widths)))
    plan.add((*path, Step("stored entries")), readers.whole)
    step = Step("explicit zeros")
    zeros = follow(step, values)[0]
    if any(zeros):
        plan.node(zeros, (*path, step))


# Types of keys that are equal to some of another type, or hold such: 1, 1.0 and True are one key.
_EQUAL = (int, float, complex, np.number, tuple)


def _types_of_keys(keys: Iterable[Hashable]) -> str:
    return " ".join(map(_type_of_key, keys))


def _type_of_key(key: Hashable) -> str:
    """Return the family of a key, with those of the elements of a tuple and the sign of a zero."""
    if isinstance(key, tuple):
        return f"({_types_of_keys(key)})"
    kind = family(type(key))
    if isinstance(key, float) and key == 0 and math.copysign(1.0, key) < 0:
        return f"-{kind}"
    return kind


def _mapping(plan: LeafPlan, values: Sequence[Mapping[Hashable, Any]], path: Path) -> None:
    """Plan mappings: their keys, the order of these, and the value at each."""
    plan.category(frozenset, values, path, Name("keys"))
    plan.category(tuple, values, path, Name("order of the keys"))
    counts = Counter(chain.from_iterable(values))
    if any(isinstance(key, _EQUAL) for key in counts):
        plan.category(_types_of_keys, values, path, Name("types of the keys"))
    if len(set(map(len, values))) > 1:
        plan.add((*path, Step("length")), readers.whole)
    kept = [key for key, count in counts.most_common(KEYS) if plan.common(count) or count == len(values)]
    for key in sorted(kept, key=stable_repr):
        to = Step("key", key)
        below = follow(to, values)[0]
        if len(below) < len(values):
            plan.category(partial(_has, key), values, path, Name.of("presence of {}", member(key)))
        plan.node(below, (*path, to))
    if len(kept) < len(counts):
        plan.step("keys", values, path)
        plan.step("values", values, path)


def _set(plan: LeafPlan, values: Sequence[Collection[Hashable]], path: Path) -> None:
    counts = Counter(chain.from_iterable(values))
    followed = [one for one, count in counts.most_common(KEYS) if plan.common(count) and count < len(values)]
    for one in sorted(followed, key=stable_repr):
        plan.category(partial(_has, one), values, path, Name.of("membership of {}", member(one)))
    plan.step("elements", values, path)


def _has(member: Hashable, value: Collection[Hashable]) -> bool:
    return member in value


def _text(plan: LeafPlan, values: Sequence[str], path: Path) -> None:
    """Plan texts: as they are, and what JSON or hexadecimal digits stand for, or their numbers and the text between."""
    plan.add(path, readers.text)
    plan = plan.within_row()
    different = counted(None, values)
    for name in ("json", "hexadecimal"):
        decimal = name == "hexadecimal" and all(map(str.isdigit, different))
        below = follow(Step(name), values)[0]
        if not decimal and len(below) >= MOSTLY * len(values):
            plan.node(below, (*path, Step(name)))
            return
    templates = counted(template, values)
    if max(templates.values()) > 1 and len(templates) < len(different):
        plan.category(template, values, path, Name("text between the numbers"), MOST_TEMPLATES)
        whole = follow(Step("numbers"), values)[0]
        decimals = follow(Step("decimals"), values)[0]
        plan.node(whole, (*path, Step("numbers")))
        if list(decimals) != list(whole):
            plan.node(decimals, (*path, Step("decimals")))


def _exception(plan: LeafPlan, values: Sequence[Raised | BaseException], path: Path) -> None:
    plan.category(_exception_kind, values, path, Name("exception type"))
    plan.step("message", values, path)
    step = Step("details")
    if any(follow(step, values)[0]):
        plan.step(step.name, values, path)


def _exception_kind(error: Raised | BaseException) -> str:
    # Any exception may have an attribute of this name.
    return str(getattr(error, "kind", type(error).__qualname__))


def _labelled(plan: LeafPlan, values: Sequence[WithMetadata], path: Path) -> None:
    """Plan the values that a conversion of outputs kept, and what it dropped."""
    plan.step("labelled", values, path)
    to = (*path, Step("metadata"))
    _metadata(plan, follow(to[-1], values)[0], to)


def _metadata(plan: LeafPlan, values: Sequence[Parts], path: Path) -> None:
    """Plan the metadata of outputs that is not the same in all of them."""
    if all(map(_is_empty, values)):
        return
    keys = Counter(chain.from_iterable(values))
    plan.category(frozenset, values, path, Name("keys"))
    for key, count in keys.items():
        to = (*path, Step("family", "mapping"), Step("key", key))
        below = follow(to[-1], values)[0]
        cells = counted(canonical, below)
        if any(map(holds_unseen, cells)):
            plan.aside.append(in_words(to))
        if len(cells) == 1 or not (plan.common(count) or count == len(values)):
            continue
        kinds = set(map(type, below))
        if kinds == {dict} and all(plan.common(some) for some in Counter(chain.from_iterable(below)).values()):
            plan.category(tuple, below, to, Name("order of the keys"))
            _metadata(plan, below, to)
        else:
            plan.node(below, to)


def _is_empty(held: Parts) -> bool:
    return not held


def _leaf(reader: readers.Reader) -> Handler:
    return lambda plan, values, path: plan.add(path, reader)


# The function that plans values of each family; all others are planned as an "object", by their parts.
_HANDLERS: dict[str, Handler] = {
    "bool": _leaf(readers.whole),
    "int": _leaf(readers.whole),
    "float": _leaf(readers.real),
    "text": _text,
    "bytes": _leaf(readers.byte_string),
    "object": lambda plan, values, path: plan.step("parts", values, path),
    # That an output is None is its type, which is planned where types differ.
    "none": lambda plan, values, path: None,
    "exception": _exception,
    "labelled": _labelled,
    # That there is something that cannot be read is its type.
    "unseen": lambda plan, values, path: None,
    "sequence": _sequence,
    "array": _array,
    "sparse": _sparse,
    "mapping": _mapping,
    "set": _set,
}
