"""Values of many outputs that are few objects, as the members of an enumeration are: each object is read once.

Steps and readers look at one value at a time, so what they make of an object holds wherever the object stands. Objects
are distinguished by identity, never by equality.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cached_property
from typing import Any, TypeVar, overload

import numpy as np

from dpaudit.outputs.types import Batch, Mask, Places, Values

# The most distinct objects, as a share of the values, for which distinguishing them pays.
SHARED = 0.25
# Values whose objects are looked at first: nearly always they hold all of many, or there are too many.
LOOK = 256

V = TypeVar("V")
W = TypeVar("W")
K = TypeVar("K", bound=Hashable)


class Shared(Sequence[V]):
    """A sequence of values, kept as its distinct objects and the number of the object at each place.

    Two of the objects may be equal.
    """

    def __init__(self, objects: list[V], codes: Places) -> None:
        self.objects = objects
        self.codes = codes

    @classmethod
    def of(cls, values: Sequence[V]) -> Shared[V] | None:
        """Return values by their objects, or None if there are too many of these."""
        addresses = np.fromiter(map(id, values), np.intp, len(values))
        known = np.unique(addresses[:LOOK])
        if len(known) > SHARED * min(LOOK, len(values)):
            return None
        codes = np.minimum(np.searchsorted(known, addresses), len(known) - 1)
        strange = addresses[known[codes] != addresses]
        if len(strange):
            known = np.union1d(known, strange)
            if len(known) > SHARED * len(values):
                return None
            codes = np.searchsorted(known, addresses)
        places = np.empty(len(known), dtype=np.intp)
        places[codes] = np.arange(len(values))
        return cls([values[i] for i in places.tolist()], codes)

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, place: int) -> V: ...
    @overload
    def __getitem__(self, place: slice) -> list[V]: ...
    def __getitem__(self, place: int | slice) -> V | list[V]:
        return self._listed[place]

    def __iter__(self) -> Iterator[V]:
        return iter(self._listed)

    @cached_property
    def _listed(self) -> list[V]:
        return list(map(self.objects.__getitem__, self.codes.tolist()))


def follow(
    step: Callable[[Sequence[V]], tuple[Sequence[W], Mask | None]], values: Sequence[V]
) -> tuple[Sequence[W], Mask | None]:
    """Return where a step leads from values, and a mask of those that it applies to (None for all)."""
    if not isinstance(values, Shared):
        return step(values)
    found, mask = step(values.objects)
    if mask is None:
        return Shared(list(found), values.codes), None
    kept = mask[values.codes]
    return Shared(list(found), (np.cumsum(mask) - 1)[values.codes[kept]]), kept


@overload
def counted(of: Callable[[V], K], values: Sequence[V]) -> Counter[K]: ...
@overload
def counted(of: None, values: Sequence[K]) -> Counter[K]: ...
@overload
def counted(of: Callable[[V], Hashable] | None, values: Sequence[V]) -> Counter[Hashable]: ...
def counted(of: Callable[[Any], Hashable] | None, values: Values) -> Counter[Any]:
    """Return how many values have each property; without a function the values themselves are counted."""
    if not isinstance(values, Shared):
        return Counter(values if of is None else map(of, values))
    counts: Counter[Hashable] = Counter()
    copies = np.bincount(values.codes, minlength=len(values.objects)).tolist()
    for value, count in zip(values.objects, copies, strict=True):
        counts[value if of is None else of(value)] += count
    # Unary plus drops the properties of objects that stand at no place.
    return +counts


@overload
def join(batches: Sequence[Values]) -> Values: ...
@overload
def join(batches: Sequence[Batch]) -> Batch: ...
def join(batches: Sequence[Batch]) -> Batch:
    """Return batches of outputs as one batch: an array if all are arrays that fit together, else a list.

    Arrays of different types stay apart: one array of both would have the type of neither.
    """
    arrays = [batch for batch in batches if isinstance(batch, np.ndarray)]
    if len(arrays) == len(batches) and len({(batch.shape[1:], batch.dtype) for batch in arrays}) == 1:
        return np.concatenate(arrays)
    return [value for batch in batches for value in batch]
