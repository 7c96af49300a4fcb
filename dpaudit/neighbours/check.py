"""Samples as multisets, and the checks that pairs are neighbours: one that is not would refute a true claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Domain, Made, Pair, Relation, Sample
from dpaudit.errors import InputError
from dpaudit.outputs.canonical import canonical


def as_multiset(sample: Any) -> Counter[tuple[Any, ...]]:
    """Return how often each example (point, label, public) stands in a sample."""
    public = sample.public if sample.public is not None else [False] * len(sample.counts)
    rows = zip(sample.points.tolist(), sample.labels.tolist(), sample.counts.tolist(), public, strict=True)
    return Counter({(tuple(x), y, bool(flag)): c for x, y, c, flag in rows})


def sample_of(rows: Counter[tuple[Any, ...]], domain: Domain, flagged: bool) -> Sample:
    """Return the sample over a domain with these examples; `flagged` is whether it records which are public."""
    rows = +rows
    if not rows:
        return domain.empty_sample()
    points, labels, flags = zip(*rows, strict=True)
    return domain.sample(list(points), list(labels), list(rows.values()), list(flags) if flagged else None)


def are_neighbours(data: Any, neighbour: Any, relation: Relation) -> bool:
    """Return whether two different samples are neighbours under a relation."""
    return _neighbouring(as_multiset(data), as_multiset(neighbour), relation)


def _neighbouring(first: Counter[Any], second: Counter[Any], relation: Relation) -> bool:
    """Return whether two multisets of examples (point, label, public), or of records, are neighbours."""
    gone, come = first - second, second - first
    if relation is Relation.ADD_REMOVE_ONE:
        return gone.total() + come.total() == 1
    if gone.total() != 1 or come.total() != 1:
        return False
    return relation is Relation.REPLACE_ONE or not any(flag for _, _, flag in (*gone, *come))


def _records(data: Any) -> Counter[Any] | None:
    """Return how often each record stands in a dataset; None for what is no dataset."""
    from dpaudit.neighbours.own_data.tables import table_of  # pandas takes a while to load

    try:
        return Counter(map(canonical, table_of(data).records()))
    except InputError:
        return None


def shared_ends(first: Any, second: Any, alike: Callable[[Any, Any], NDArray[np.bool_]] = np.equal) -> tuple[int, int]:
    """Return how many elements two sequences share at the start, and at the end beside those; `alike` compares them."""
    ends, left = [], min(len(first), len(second))
    for step in (1, -1):
        same = alike(first[::step][:left], second[::step][:left])
        ends.append(left if same.all() else int(np.argmin(same)))
        left -= ends[-1]
    return ends[0], ends[1]


def lacking(rows: Iterable[Hashable], others: Iterable[Hashable]) -> NDArray[np.bool_]:
    """Return which of some rows the others lack, one by one: of equal rows the last ones, if there are too few."""
    left = Counter(others)
    found = []
    for row in rows:
        found.append(not left[row])
        if left[row]:
            left[row] -= 1
    return np.array(found, dtype=np.bool_)


def form(data: Any) -> Any:
    """Return what two neighbouring datasets share: types, dtypes, widths, and the columns in their order."""
    if (schema := getattr(data, "schema", None)) is not None:  # of pyarrow or polars
        return type(data), str(schema)
    if (columns := getattr(data, "columns", None)) is not None:
        return type(data), tuple(columns), tuple(map(str, data.dtypes))
    if isinstance(data, Mapping):
        return type(data), tuple((key, form(column)) for key, column in data.items())
    if isinstance(data, tuple) and all(hasattr(part, "shape") for part in data):
        return tuple, tuple(map(form, data))
    return type(data), str(getattr(data, "dtype", "")), tuple(getattr(data, "shape", ()))[1:]


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
        if not isinstance(entry, Pair) and (not isinstance(entry, tuple | list) or len(entry) != 2):
            hint = "; if they are the records of one dataset, write data=records" if index == 0 else ""
            # What was given may be a record, so its value is not shown.
            kind = type(entry).__qualname__
            of = f" of length {len(entry)}" if isinstance(entry, tuple | list) else ""
            message = f"pair {index} must be a tuple (data, neighbour), got one of type {kind}{of}{hint}"
            raise InputError(message, parameter="pairs")
        checked.append(entry if isinstance(entry, Pair) else Pair(*entry))
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
    """Return whether an object holds columns, numbers or characters, of which none is a pair."""
    if isinstance(pairs, str | bytes | Mapping):
        return True
    return (
        hasattr(pairs, "shape") or hasattr(pairs, "columns") or hasattr(pairs, "to_pylist") or hasattr(pairs, "to_list")
    )


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
    first, second = _records(pair.data), _records(pair.neighbour)
    if first is None or second is None or first == second:
        return False
    if _neighbouring(first, second, relation):
        return bool(form(pair.data) == form(pair.neighbour))
    text = "{start}{gone} of the records of the data and {come} of the neighbour's are not in the other; if the inputs "
    text += "are not datasets of records, leave {relation} out"
    gone, come = (first - second).total(), (second - first).total()
    raise InputError(text, names=("relation",), start=start, gone=gone, come=come)


def check_samples(pairs: Iterable[Pair]) -> None:
    """Raise `InputError` unless both inputs of every pair are samples, as learners take them."""
    for index, pair in enumerate(pairs):
        for name, side in zip(("data", "neighbour"), pair.sides, strict=True):
            if not isinstance(side, Sample):
                text = f"pair {index} must hold samples, since a learner is audited; its {name} is {side!r:.100}: "
                raise InputError(text + "build samples with learner.domain.sample(points, labels)")
