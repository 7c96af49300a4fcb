"""Values of many outputs that are few objects, as the members of an enumeration are: each is looked at once.

Steps and readers look at one value at a time, so that what they make of an object holds wherever it stands. Objects are
distinguished by identity, never by equality.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

SHARED = 0.25
"""The most distinct objects, as a share of the values, for which distinguishing them pays."""
LOOK = 256
"""Values whose objects are looked at first: nearly always they are all of many, or there are too many."""

Mask = NDArray[np.bool_]


class Shared(Sequence[Any]):
    """A sequence of values by the distinct objects among them, of which two may be equal, and each one's place."""

    def __init__(self, objects: list[Any], codes: NDArray[np.intp]) -> None:
        self.objects, self.codes = objects, codes

    @classmethod
    def of(cls, values: Sequence[Any]) -> Shared | None:
        """Return values by their objects; None where they are too many."""
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

    def __getitem__(self, place: Any) -> Any:
        return self._listed[place]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._listed)

    @cached_property
    def _listed(self) -> list[Any]:
        return list(map(self.objects.__getitem__, self.codes.tolist()))


def follow(step: Callable[[Any], tuple[Any, Mask | None]], values: Sequence[Any]) -> tuple[Any, Mask | None]:
    """Return where a step leads from values, and which of them it applies to (None for all)."""
    if not isinstance(values, Shared):
        return step(values)
    found, mask = step(values.objects)
    if mask is None:
        return Shared(list(found), values.codes), None
    kept = mask[values.codes]
    return Shared(list(found), (np.cumsum(mask) - 1)[values.codes[kept]]), kept


def counted(of: Callable[[Any], Hashable] | None, values: Sequence[Any]) -> Counter[Any]:
    """Return how many values have each property; without a function the values themselves are counted."""
    if not isinstance(values, Shared):
        return Counter(values if of is None else map(of, values))
    counts: Counter[Any] = Counter()
    copies = np.bincount(values.codes, minlength=len(values.objects)).tolist()
    for value, count in zip(values.objects, copies, strict=True):
        counts[value if of is None else of(value)] += count
    return +counts


class Recent(threading.local):
    """Each thread's own list of its last batches with what was made of them, the newest at the end."""

    def __init__(self) -> None:
        self.known: list[Any] = []


def join(batches: Sequence[Any]) -> Any:
    """Return batches of outputs as one batch: an array if all are arrays that fit together, else a list.

    Arrays of different types stay apart: one of both would have the type of neither.
    """
    arrays = all(isinstance(batch, np.ndarray) for batch in batches)
    if arrays and len({(batch.shape[1:], batch.dtype) for batch in batches}) == 1:
        return np.concatenate(batches)
    return [value for batch in batches for value in batch]
