"""Samples as multisets, and the checks that pairs are neighbours: one that is not would refute a true claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np

from dpaudit.bounds.base import Bools
from dpaudit.contract import Domain, Made, Pair, Relation, Sample
from dpaudit.errors import InputError
from dpaudit.outputs.canonical import canonical

Point = tuple[int, ...]
Example = tuple[Point, int, bool]
"""The point, the label, and whether the example is public."""


Sliceable: TypeAlias = "Sequence[Any] | np.ndarray"
_Elements = TypeVar("_Elements", Sequence[Any], np.ndarray)
_Record = TypeVar("_Record", bound=Hashable)


def as_multiset(sample: Sample) -> Counter[Example]:
    """Return how often each example stands in a sample."""
    public = [False] * len(sample.counts)
    if sample.public is not None:
        public = list(map(bool, sample.public))
    rows = zip(sample.points.tolist(), sample.labels.tolist(), sample.counts.tolist(), public, strict=True)
    return Counter({(tuple(point), label, flag): count for point, label, count, flag in rows})


def sample_of(rows: Counter[Example], domain: Domain, flagged: bool) -> Sample:
    """Return the sample over a domain with these examples; `flagged` is whether it records which are public."""
    rows = +rows
    if not rows:
        return domain.empty_sample()
    points, labels, flags = zip(*rows, strict=True)
    public = list(flags) if flagged else None
    return domain.sample(list(points), list(labels), list(rows.values()), public)


def are_neighbours(data: Sample, neighbour: Sample, relation: Relation) -> bool:
    """Return whether two different samples are neighbours under a relation."""
    first = as_multiset(data)
    second = as_multiset(neighbour)
    if not _one_record_apart(first, second, relation):
        return False
    changed = (*(first - second), *(second - first))
    return relation is not Relation.REPLACE_PRIVATE or not any(public for _, _, public in changed)


def _one_record_apart(first: Counter[_Record], second: Counter[_Record], relation: Relation) -> bool:
    """Return whether one record was added, removed or replaced, as the relation allows; public ones count too."""
    gone = (first - second).total()
    come = (second - first).total()
    if relation is Relation.ADD_REMOVE_ONE:
        return gone + come == 1
    return gone == 1 and come == 1


def _records(data: Any) -> Counter[Hashable] | None:
    """Return how often each record stands in a dataset; None for an input that is no dataset."""
    # This module loads pandas, which takes a while.
    from dpaudit.neighbours.own_data.tables import table_of

    try:
        return Counter(map(canonical, table_of(data).records()))
    except InputError:
        return None


def shared_ends(first: _Elements, second: _Elements, alike: Callable[[_Elements, _Elements], Bools]) -> tuple[int, int]:
    """Return how many elements two sequences share at the start, and how many of the others at the end.

    `alike` says of two sequences of one length which elements are equal.
    """
    left = min(len(first), len(second))
    ends = []
    for step in (1, -1):
        same = alike(first[::step][:left], second[::step][:left])
        shared = left if same.all() else int(np.argmin(same))
        ends.append(shared)
        left -= shared
    return ends[0], ends[1]


def lacking(rows: Iterable[Hashable], others: Iterable[Hashable]) -> Bools:
    """Return which of some rows the others lack, one by one: of equal rows the last ones, if there are too few."""
    left = Counter(others)
    found = []
    for row in rows:
        found.append(not left[row])
        if left[row]:
            left[row] -= 1
    return np.array(found, dtype=np.bool_)


def form(data: Any) -> Hashable:
    """Return what two neighbouring datasets share: types, dtypes, widths, and the columns in their order."""
    # A schema of pyarrow or polars names all columns with their types.
    if hasattr(data, "schema") and data.schema is not None:
        return type(data), str(data.schema)
    if hasattr(data, "columns") and data.columns is not None:
        return type(data), tuple(data.columns), tuple(map(str, data.dtypes))
    if isinstance(data, Mapping):
        return type(data), tuple((key, form(column)) for key, column in data.items())
    if isinstance(data, tuple) and all(hasattr(part, "shape") for part in data):
        return tuple, tuple(map(form, data))
    dtype = str(data.dtype) if hasattr(data, "dtype") else ""
    shape = tuple(data.shape) if hasattr(data, "shape") else ()
    return type(data), dtype, shape[1:]


def check_pairs(pairs: Any, relation: Relation | None) -> list[Pair]:
    """Return the pairs as a list of `Pair`, after checking those whose inputs are samples or datasets of records.

    `InputError` is raised if there is no pair, an entry is no pair, or two inputs are not neighbours. Opaque inputs
    cannot be checked.
    """
    if _is_one_pair(pairs):
        text = "{pairs} must be a list of pairs, and this is one pair: write {pairs:=[(data, neighbour)]}"
        raise InputError(text, names=("pairs",), value=pairs)
    if _is_dataset(pairs):
        text = "{pairs} must be a list of pairs [(data, neighbour), ...], got a {kind}; if it is one dataset, write "
        raise InputError(text + "{data:=data} in its place", names=("pairs", "data"), kind=type(pairs).__qualname__)
    if not isinstance(pairs, Iterable):
        raise InputError.of("pairs", pairs, "a sequence of (data, neighbour) pairs", "write pairs=[(data, neighbour)]")
    checked = []
    for index, entry in enumerate(pairs):
        if isinstance(entry, Pair):
            checked.append(entry)
        elif isinstance(entry, tuple | list) and len(entry) == 2:
            checked.append(Pair(*entry))
        else:
            # What was given may be a record, so its value is not shown.
            got = f"one of type {type(entry).__qualname__}"
            if isinstance(entry, tuple | list):
                got += f" of length {len(entry)}"
            if index == 0:
                got += "; if they are the records of one dataset, write data=records"
            raise InputError(f"pair {index} must be a tuple (data, neighbour), got {got}", parameter="pairs")
    if not checked:
        raise InputError("{pairs} must hold at least one (data, neighbour) pair, got none", names=("pairs",))
    if relation is not None:
        for index, pair in enumerate(checked):
            check_pair(index, pair, relation)
    return checked


def _is_one_pair(pairs: Any) -> bool:
    """Return whether two inputs are given that are not in a list, and are no pairs themselves."""
    if isinstance(pairs, Pair):
        return True
    if not isinstance(pairs, tuple) or len(pairs) != 2 or any(isinstance(one, Pair) for one in pairs):
        return False
    # Tuples of two may be pairs; lists of two in a tuple are inputs of two records.
    return not all(isinstance(one, tuple) and len(one) == 2 for one in pairs)


def _is_dataset(pairs: Any) -> bool:
    """Return whether an object is a dataset, a text or a dictionary, and so no list of pairs."""
    if isinstance(pairs, str | bytes | Mapping):
        return True
    return any(hasattr(pairs, name) for name in ("shape", "columns", "to_pylist", "to_list"))


def check_pair(index: int, pair: Pair, relation: Relation) -> bool:
    """Return whether two inputs were seen to be neighbours; `InputError` if they differ and are none.

    Inputs that are not datasets are not checked, nor those that hold the same records, or are of two forms.
    """
    start = f"pair {index} is not a pair of neighbours under {relation.value}: "
    if all(isinstance(side, Sample) for side in pair.sides):
        if pair.data != pair.neighbour and not are_neighbours(pair.data, pair.neighbour, relation):
            raise InputError(f"{start}{pair.data!r} and {pair.neighbour!r}")
        return bool(pair.data != pair.neighbour)
    # Which records are public is not known.
    if any(isinstance(side, Sample | Made) for side in pair.sides) or relation is Relation.REPLACE_PRIVATE:
        return False
    first = _records(pair.data)
    second = _records(pair.neighbour)
    if first is None or second is None or first == second:
        return False
    if _one_record_apart(first, second, relation):
        return form(pair.data) == form(pair.neighbour)
    text = "{start}{gone} of the records of the data and {come} of the neighbour's are not in the other; if the inputs "
    text += "are not datasets of records, leave {relation} out"
    gone = (first - second).total()
    come = (second - first).total()
    raise InputError(text, names=("relation",), start=start, gone=gone, come=come)


def check_samples(pairs: Iterable[Pair]) -> None:
    """Raise `InputError` unless both inputs of every pair are samples, as learners take them."""
    for index, pair in enumerate(pairs):
        for name, side in zip(("data", "neighbour"), pair.sides, strict=True):
            if not isinstance(side, Sample):
                text = f"pair {index} must hold samples, since a learner is audited; its {name} is {side!r:.100}: "
                raise InputError(text + "build samples with learner.domain.sample(points, labels)")
