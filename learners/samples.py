"""Samples: weighted labelled multisets over a finite domain, in canonical form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpaudit.contract import Domain, Hypothesis, InputError, Relation
from dpaudit.contract import Sample as Examples

from .arrays import Bools, Exact, Integers, Labels, as_exact

# The most examples of a sample: sums of their counts, and differences of such sums, fit an int64.
MOST = 2**62
# The most rows that are merged one by one: calls of numpy take twice as long for two.
FEW = 16


@dataclass(frozen=True, eq=False)
class Sample:
    """A labelled multiset: distinct examples in lexicographic order, each with a count.

    Make one with `Sample.of`, or a domain's `sample` or `draw`; the constructor takes canonical arrays as they are.

    Attributes
    ----------
    points : array, shape (m, k)
        Distinct points (a point stands twice if it occurs with both labels).
    labels : array of uint8, shape (m,)
        Labels in {0, 1}.
    counts : array of int64, shape (m,)
        Multiplicities, each at least 1.
    public : array of bool, shape (m,), or None
        Which examples are public.
    domain : Domain or None
        Where the points live; `neighbours` needs it.
    """

    points: Exact
    labels: Labels
    counts: Integers
    public: Bools | None = None
    domain: Domain | None = None

    @classmethod
    def of(
        cls,
        points: ArrayLike,
        labels: ArrayLike,
        counts: ArrayLike | None = None,
        public: ArrayLike | None = None,
        *,
        domain: Domain | None = None,
    ) -> Sample:
        """Return the multiset of the given examples; equal ones are merged.

        Parameters
        ----------
        points : array-like of integers, shape (m, k) or (m,)
            A one-dimensional array is read as m points with one coordinate.
        labels : array-like, shape (m,)
            0 or 1.
        counts : array-like of integers, shape (m,), optional
            Multiplicities >= 0 (default 1); examples with count 0 are dropped.
        public : array-like of bool, shape (m,), optional
            Which examples are public.
        domain : Domain, optional
            If given, every point must lie in it.

        Raises
        ------
        InputError
            If the sample is empty, a value is not finite, a label is not 0 or 1, a count is negative or not an
            integer, a shape does not fit, or a point lies outside the domain.
        """
        xs = _integers("points", points)
        # A list of numbers is one column.
        xs = xs[:, None] if xs.ndim == 1 else xs
        ys = _integers("labels", labels)
        cs = _integers("counts", np.ones(len(xs), dtype=np.int64) if counts is None else counts)
        _check(xs, ys, cs, domain)
        ps = None if public is None else np.asarray(public, dtype=np.bool_)
        if ps is not None and ps.shape != ys.shape:
            raise InputError(f"public must have shape {ys.shape}, got {ps.shape}")
        sample = _canonical(xs, ys.astype(np.uint8), cs.astype(np.int64, copy=False), ps, domain)
        if sample.n == 0:
            raise InputError("a sample needs at least one example; got none (or only counts of 0)")
        return sample

    @classmethod
    def empty(cls, domain: Domain) -> Sample:
        """Return the sample without examples over a domain."""
        none = np.zeros(0, dtype=np.int64)
        return _canonical(none.reshape(0, domain.dimension), none.astype(np.uint8), none, None, domain)

    @property
    def n(self) -> int:
        """The number of examples, with multiplicity."""
        return int(self.counts.sum())

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """A hashable that is equal for equal multisets."""
        public = None if self.public is None else self.public.tobytes()
        points: bytes | tuple[tuple[int, ...], ...] = self.points.tobytes()
        if self.points.dtype == object:
            # The bytes of an object array are addresses.
            points = tuple(map(tuple, self.points))
        return (self.points.shape, points, self.labels.tobytes(), self.counts.tobytes(), public)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sample) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        rows = [
            f"{tuple(int(v) for v in x)}->{int(y)}" + (f" x{int(c)}" if c > 1 else "")
            for x, y, c in zip(self.points[:8], self.labels, self.counts, strict=False)
        ]
        more = f", ... {len(self.points) - 8} more" if len(self.points) > 8 else ""
        return f"Sample(n={self.n}: {', '.join(rows)}{more})"

    def errors(self, hypothesis: Hypothesis) -> int:
        """Return how many examples the hypothesis labels wrongly, with multiplicity."""
        if len(self.counts):
            return int(self.counts[hypothesis.predict(self.points) != self.labels].sum())
        return 0

    def neighbours(self, relation: Relation, domain: Domain | None = None) -> Iterator[Sample]:
        """Yield every distinct neighbour over the domain once, the sample itself excluded.

        Parameters
        ----------
        relation : Relation
            What a neighbour is.
        domain : Domain, optional
            Where the other examples come from; the sample's own domain by default.
        """
        relation = Relation.parse(relation)
        domain = domain if domain is not None else self.domain
        if domain is None:
            raise InputError("neighbours need a domain: make the sample with domain.sample(...) or pass domain=")
        xs = domain.points()
        examples = [(x, y) for x in xs for y in (0, 1)]
        if relation is Relation.ADD_REMOVE_ONE:
            yield from (self._changed(None, example) for example in examples)
        removable: Sequence[int] = range(len(self.counts))
        if relation is Relation.REPLACE_PRIVATE and self.public is not None:
            removable = [i for i in removable if not self.public[i]]
        for i in removable:
            if relation is Relation.ADD_REMOVE_ONE:
                yield self._changed(i, None)
                continue
            for x, y in examples:
                if y != self.labels[i] or (x != self.points[i]).any():
                    yield self._changed(i, (x, y))

    def _changed(self, removed: int | None, added: tuple[Exact, int] | None) -> Sample:
        """Return the sample with one example of row `removed` taken out and the (private) example `added` put in."""
        counts = self.counts.copy()
        if removed is not None:
            counts[removed] -= 1
        points = self.points
        labels = self.labels
        public = self.public
        if added is not None:
            points = np.concatenate([points, added[0][None, :]])
            labels = np.append(labels, np.uint8(added[1]))
            counts = np.append(counts, 1)
            public = None if public is None else np.append(public, False)
        return _canonical(points, labels, counts, public, self.domain)


def distinct_points(sample: Examples, first: int = 0) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the distinct points of the plane, and how many examples with label `first` and without stand at each."""
    merged: dict[tuple[int, int], list[int]] = {}
    for (x, y), label, count in zip(
        sample.points.tolist(), sample.labels.tolist(), sample.counts.tolist(), strict=True
    ):
        merged.setdefault((x, y), [0, 0])[int(label != first)] += count
    return list(merged), [(one, other) for one, other in merged.values()]


def _integers(name: str, values: ArrayLike) -> Exact:
    """Return `values` as an array of integers, refusing what would be rounded."""
    array = np.asarray(values)
    if array.dtype.kind == "f" and not isinstance(values, np.ndarray):
        # NumPy turns a list with Python integers beyond int64 into floats, which would round them.
        listed = np.asarray(values, dtype=object)
        if all(isinstance(v, int | np.integer) for v in listed.flat):
            array = listed
        else:
            array = array
    if array.dtype.kind in "ib" or array.size == 0:
        return array.astype(np.int64, copy=False)
    if array.dtype.kind in "uO" and all(isinstance(v, int | np.integer) for v in array.flat):
        # Beyond int64 (a domain of 2^64 points) arrays hold Python integers; everything else is int64.
        exact = np.array([int(v) for v in array.flat], dtype=object).reshape(array.shape)
        if all(-(2**63) <= v < 2**63 for v in exact.flat):
            return exact.astype(np.int64)
        return exact
    if array.dtype.kind == "f":
        if not np.isfinite(array).all():
            raise InputError(f"{name} must be finite, got {array[~np.isfinite(array)][0]!r}")
        if (array == np.floor(array)).all() and (np.abs(array) <= 2**53).all():
            return array.astype(np.int64)
        raise InputError(f"{name} must be integers, got {array[array != np.floor(array)].flat[0]!r}")
    raise InputError(f"{name} must be integers, got values of type {array.dtype}")


def _check(xs: Exact, ys: Exact, cs: Exact, domain: Domain | None) -> None:
    """Raise `InputError` for shapes, labels, counts or points that make no sample."""
    if xs.ndim != 2:
        raise InputError(f"points must have shape (m, k) or (m,), got {xs.shape}")
    for name, values in (("labels", ys), ("counts", cs)):
        if values.shape != (len(xs),):
            raise InputError(f"{name} must have shape ({len(xs)},) to go with {len(xs)} points, got {values.shape}")
    if np.count_nonzero(wrong := ys >> 1):
        raise InputError(f"labels must be 0 or 1, got {ys[wrong != 0][0]!r}")
    if np.count_nonzero(cs < 0):
        raise InputError(f"counts must be >= 0, got {cs[cs < 0][0]!r}")
    # The sum in floats is off by far less than what is left below 2^63.
    if len(cs) and float(cs.sum(dtype=np.float64)) > MOST:
        raise InputError(f"counts must sum to at most {MOST}, got {sum(int(c) for c in cs)}")
    if domain is not None and len(xs) and not (inside := domain.contains(xs)).all():
        outside = tuple(int(v) for v in xs[~inside][0])
        raise InputError(f"points must lie in the domain {domain}, got {outside}")


def _canonical(xs: Exact, ys: Labels, cs: Integers, ps: Bools | None, domain: Domain | None) -> Sample:
    """Merge equal examples, drop counts of 0, sort lexicographically by point, label and publicity."""
    flags = np.zeros(len(ys), dtype=np.bool_) if ps is None else ps
    if xs.dtype == object or len(ys) <= FEW:
        merged: dict[Any, int] = {}
        rows = zip(map(tuple, xs.tolist()), ys.tolist(), flags.tolist(), strict=True)
        for row, count in zip(rows, cs.tolist(), strict=True):
            merged[row] = merged.get(row, 0) + count
        kept = sorted(row for row, count in merged.items() if count)
        points, labels, public = zip(*kept, strict=True) if kept else ((), (), ())
        xs = as_exact(points, wide=xs.dtype == object).reshape(len(kept), xs.shape[1])
        ys = np.array(labels, dtype=np.uint8)
        cs = np.array([merged[row] for row in kept], dtype=np.int64)
        flags = np.array(public, dtype=np.bool_)
    else:
        order = np.lexsort((flags, ys, *xs.T[::-1]))
        # Rows of count 0 are rare: most samples are not copied again.
        order = order if cs.all() else order[cs[order] > 0]
        xs = xs[order]
        ys = ys[order]
        cs = cs[order]
        flags = flags[order]
        # Sorted, equal examples are neighbours: a row that differs from the one before begins a new example.
        new = (xs[1:] != xs[:-1]).any(axis=1) | (ys[1:] != ys[:-1]) | (flags[1:] != flags[:-1])
        if not new.all():
            starts = np.flatnonzero(np.append(True, new))
            xs = xs[starts]
            ys = ys[starts]
            flags = flags[starts]
            cs = np.add.reduceat(cs, starts)
    # Samples are hashed and shared between runs, so their arrays must not change.
    for array in (xs, ys, cs, flags):
        array.flags.writeable = False
    return Sample(xs, ys, cs, None if ps is None else flags, domain)
