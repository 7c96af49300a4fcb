"""Every sample of n examples up to symmetry, with every neighbour.

The example universe lists the examples (x, y) of a domain: index 2 i + y, i the row of ``domain.points()``. A
sample is a multiset of universe indices, written as a sorted row a_0 <= ... <= a_{n-1} and numbered by its
colexicographic rank

    rank(a) = sum_i C(a_i + i, i + 1),      0 <= rank < C(U + n - 1, n),

so that sets of samples are arrays of integers. A symmetry is a permutation of the universe under which the
law of the permuted sample is the law of the sample with its atoms renamed; pairs in one orbit have the same
loss profile, hence one representative of an orbit is compared with all its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from dpaudit.arguments import read_integer
from dpaudit.contract import Domain, Pair, Relation
from dpaudit.errors import InputError
from dpaudit.neighbours.check import are_neighbours

__all__ = [
    "LAWS",
    "MULTISET_CELLS",
    "PAIRS",
    "PairPlan",
    "checked_permutation",
    "every_pair",
    "given_pairs",
    "multisets",
    "orbits",
    "rank",
]

MULTISET_CELLS = 2**24
"""The most universe indices (multisets times n) that one enumeration may hold."""
LAWS = 200_000
"""The most output laws that one audit computes."""
PAIRS = 4_000_000
"""The most pairs (before multiplying by orbit sizes) that one audit compares."""

_ALTERNATIVE = "give a few samples or pairs by {samples:=}, or use the black-box audit"

Rows = NDArray[np.integer[Any]]
Ranks = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PairPlan:
    """The ordered pairs of an exact audit, before any law is computed.

    Parameters
    ----------
    left, right : array of int64, shape (p,)
        The two sides of each pair, as numbers of inputs.
    inputs : callable
        Makes input number i, 0 <= i < size.
    size : int
        The number of distinct inputs, and so of laws.
    pairs : int
        The number of ordered pairs that are covered, symmetric copies included.
    samples : int
        The number of samples that are covered, symmetric copies included.
    origin : callable
        Says how pair number i was made.
    """

    left: Ranks
    right: Ranks
    inputs: Callable[[int], Any]
    size: int
    pairs: int
    samples: int
    origin: Callable[[int], str]


def _steps(universe: int, n: int) -> Ranks:
    """Return the table (n, universe) of C(v + i, i + 1): each row is the running sum of the one above."""
    table = np.empty((n, universe), dtype=np.int64)
    row = np.arange(universe, dtype=np.int64)
    for i in range(n):
        table[i] = row
        row = np.cumsum(row)
    return table


def rank(rows: Rows, universe: int) -> Ranks:
    """Return the colexicographic ranks (m,) of sorted rows (m, n) of universe indices."""
    table = _steps(universe, rows.shape[1])
    total = np.zeros(len(rows), dtype=np.int64)
    for i in range(rows.shape[1]):
        total += table[i, rows[:, i]]
    return total


def _unrank(ranks: Ranks, universe: int, n: int) -> Rows:
    """Return the sorted rows (m, n) with the given ranks: `rank` undone, from the largest element down."""
    table = _steps(universe, n)
    rows = np.empty((len(ranks), n), dtype=np.int16 if universe < 2**15 else np.int32)
    rest = ranks.copy()
    for i in reversed(range(n)):
        rows[:, i] = np.searchsorted(table[i], rest, side="right") - 1
        rest -= table[i, rows[:, i]]
    return rows


def multisets(universe: int, n: int) -> Rows:
    """Return all C(universe + n - 1, n) multisets of n universe indices as sorted rows, ordered by rank."""
    return _unrank(np.arange(comb(universe + n - 1, n), dtype=np.int64), universe, n)


def orbits(rows: Rows, permutations: Sequence[NDArray[Any]], universe: int) -> tuple[Ranks, Ranks]:
    """Return the least rank in each orbit of the permutations' group on all multisets, and the orbit sizes.

    Parameters
    ----------
    rows : array, shape (m, n)
        All multisets, as `multisets` lists them.
    permutations : sequence of integer arrays, shape (universe,)
        Generators: index v goes to ``permutation[v]``.
    universe : int
        The number of examples in the universe.
    """
    labels = np.arange(len(rows))
    block = max(1, 2**21 // max(1, rows.shape[1]))
    for permutation in permutations:
        pieces = (np.sort(permutation[rows[i : i + block]], axis=1) for i in range(0, len(rows), block))
        image = np.concatenate([rank(piece, universe) for piece in pieces])
        ends = (labels, labels[image])
        # The classes found so far are the nodes, so that only one generator's edges are held at a time.
        graph = coo_array((np.ones(len(rows), dtype=np.bool_), ends), shape=(len(rows), len(rows)))
        labels = connected_components(graph, directed=False)[1][labels]
    _, first, sizes = np.unique(labels, return_index=True, return_counts=True)
    order = np.argsort(first)
    return first[order].astype(np.int64), sizes[order].astype(np.int64)


def _added(rows: Rows, universe: int) -> Rows:
    """Return rows (m * universe, n + 1): each row with each example of the universe added."""
    extra = np.tile(np.arange(universe, dtype=rows.dtype), len(rows))
    grown = np.concatenate([np.repeat(rows, universe, axis=0), extra[:, None]], axis=1)
    grown.sort(axis=1)
    return grown


def _distinct(rows: Rows) -> NDArray[np.bool_]:
    """Mark the first occurrence of each element of each sorted row."""
    return np.concatenate([np.ones((len(rows), 1), np.bool_), rows[:, 1:] != rows[:, :-1]], axis=1)


def _neighbours(rows: Rows, universe: int, relation: Relation) -> list[tuple[int, Ranks, Ranks]]:
    """Return (size, owner, rank) of every distinct neighbour of every row."""
    n, found = rows.shape[1], []
    if relation is Relation.ADD_REMOVE_ONE:
        owners = np.repeat(np.arange(len(rows)), universe)
        found.append((n + 1, owners, rank(_added(rows, universe), universe)))
    for i in range(n):
        owners = np.flatnonzero(_distinct(rows)[:, i])
        rest = np.delete(rows[owners], i, axis=1)
        if relation is Relation.ADD_REMOVE_ONE:
            found.append((n - 1, owners, rank(rest, universe)))
            continue
        changed = np.tile(np.arange(universe), len(owners)) != np.repeat(rows[owners, i], universe)
        ranks = rank(_added(rest, universe), universe)
        found.append((n, np.repeat(owners, universe)[changed], ranks[changed]))
    return found


def every_pair(domain: Domain, n: int, relation: Relation, permutations: Sequence[NDArray[Any]] = ()) -> PairPlan:
    """Return every ordered pair of neighbours among the samples of n examples, one representative an orbit.

    Under ADD_REMOVE_ONE the pairs join samples of n examples with those of n - 1 and n + 1, in both
    directions.

    Parameters
    ----------
    domain : Domain
        The domain; all 2 |X| labelled examples are used.
    n : int
        Examples per sample, at least 1.
    relation : Relation
        REPLACE_ONE or ADD_REMOVE_ONE.
    permutations : sequence of integer arrays, shape (2 |X|,)
        Generators of the symmetries of the law, if any are known.

    Raises
    ------
    InputError
        If n is no positive integer, the relation needs public examples, a permutation is none, or a limit
        (`MULTISET_CELLS`, `PAIRS`, `LAWS`) is exceeded.
    """
    n = read_integer("n", n)
    if relation is Relation.REPLACE_PRIVATE:
        told = "{relation} replace-private needs samples with public examples: give them by {samples:=}"
        raise InputError(told, names=("relation", "samples"), value=relation)
    universe = 2 * domain.size
    total = comb(universe + int(n) - 1, int(n))
    _check_limit("multisets of n examples to enumerate", total, MULTISET_CELLS // int(n), n)
    generators = [checked_permutation(p, universe) for p in permutations]
    firsts, sizes = orbits(multisets(universe, int(n)), generators, universe)
    rows = _unrank(firsts, universe, int(n))
    degree = _distinct(rows).sum(axis=1)
    both = relation is Relation.ADD_REMOVE_ONE
    degree = 2 * (degree + universe) if both else degree * (universe - 1)
    _check_limit("pairs to compare", int(degree.sum()), PAIRS, n)
    found = _neighbours(rows, universe, relation)
    catalogue = _catalogue([(int(n), firsts), *((size, ranks) for size, _, ranks in found)])
    _check_limit("laws to compute", sum(map(len, catalogue.values())), LAWS, n)
    left = np.concatenate([_number(catalogue, int(n), firsts)[owners] for _, owners, _ in found])
    right = np.concatenate([_number(catalogue, size, ranks) for size, _, ranks in found])
    if both:
        left, right = np.concatenate([left, right]), np.concatenate([right, left])
    made = [row for size, ranks in catalogue.items() for row in _unrank(ranks, universe, size)]
    maker = _maker(domain, made)
    return PairPlan(
        left,
        right,
        maker,
        len(made),
        int((degree * sizes).sum()),
        total,
        lambda _: f"every sample of {n} examples, {relation.value}",
    )


def _check_limit(what: str, count: int, limit: int, n: int) -> None:
    """Raise `InputError` if there is too much to enumerate."""
    if count > limit:
        shown = f"{count:,}" if count < 10**15 else "more than 10^15"
        told = f"n = {n} is too many to enumerate: {shown} {what}, at most {limit:,} are allowed; {_ALTERNATIVE}"
        raise InputError(told, parameter="n", value=n, names=("samples",))


def checked_permutation(values: Any, universe: int) -> Ranks:
    """Return a permutation of the universe as int64, or raise `InputError`."""
    array = np.asarray(values)
    fits = array.shape == (universe,) and array.dtype.kind in "iu"
    if not fits or (np.sort(array) != np.arange(universe)).any():
        raise InputError(
            f"a symmetry must be a permutation of 0 .. {universe - 1}, got {values!r:.100}", parameter="permutations"
        )
    return array.astype(np.int64)


def _catalogue(groups: Iterable[tuple[int, Ranks]]) -> dict[int, Ranks]:
    """Return the distinct ranks of each sample size, sorted."""
    by_size: dict[int, list[Ranks]] = {}
    for size, ranks in groups:
        by_size.setdefault(size, []).append(ranks)
    return {size: np.unique(np.concatenate(by_size[size])) for size in sorted(by_size)}


def _number(catalogue: dict[int, Ranks], size: int, ranks: Ranks) -> Ranks:
    """Return the positions of samples of one size in the list of all sizes."""
    offset = sum(len(other) for s, other in catalogue.items() if s < size)
    return offset + np.searchsorted(catalogue[size], ranks)


def _maker(domain: Domain, rows: list[Rows]) -> Callable[[int], Any]:
    """Return the function that makes the sample of row i."""
    points = domain.points()

    def make(i: int) -> Any:
        row = rows[i].astype(np.int64)
        return domain.sample(points[row // 2], row % 2) if len(row) else domain.empty_sample()

    return make


def given_pairs(domain: Domain, samples: Iterable[Any], relation: Relation) -> PairPlan:
    """Return the ordered pairs, in both directions, of the given samples with all their neighbours.

    A `Pair` among the samples stands for itself: its two sides are compared in both directions, with nothing
    else.

    Raises
    ------
    InputError
        If there is none, an item is neither a sample nor a pair of neighbours, or a limit is exceeded.
    """
    if not isinstance(samples, Iterable) or not (items := list(samples)):
        raise InputError(f"samples must list at least one sample or Pair, got {samples!r:.100}", parameter="samples")
    estimate = 0
    for i, item in enumerate(items):
        _check_item(i, item, relation)
        estimate += 1 if isinstance(item, Pair) else (len(item.counts) + 1) * 2 * (item.domain or domain).size
    if estimate > LAWS:
        raise InputError(
            f"samples have about {estimate:,} neighbours, at most {LAWS:,} laws are computed; "
            "give fewer samples, or Pairs, or use the black-box audit",
            parameter="samples",
        )
    numbers: dict[Any, int] = {}
    origins: dict[tuple[int, int], str] = {}
    given: set[Any] = set()
    for i, item in enumerate(items):
        pair = isinstance(item, Pair)
        data = item.data if pair else item
        given |= {data, item.neighbour} if pair else {data}
        for other in [item.neighbour] if pair else item.neighbours(relation):
            ends = [numbers.setdefault(side, len(numbers)) for side in (data, other)]
            origin = item.origin if pair else f"sample {i} and a neighbour, {relation.value}"
            origins.setdefault((ends[0], ends[1]), origin)
            origins.setdefault((ends[1], ends[0]), origin)
    if not origins:
        raise InputError(
            f"samples have no neighbours under {relation.value}: nothing can be compared", parameter="samples"
        )
    sides = np.array(list(origins), dtype=np.int64)
    inputs, words = list(numbers), list(origins.values())
    return PairPlan(
        sides[:, 0], sides[:, 1], inputs.__getitem__, len(inputs), len(origins), len(given), words.__getitem__
    )


def _check_item(i: int, item: Any, relation: Relation) -> None:
    """Raise `InputError` unless an item is a sample or a pair of neighbours."""
    if isinstance(item, Pair):
        if not are_neighbours(item.data, item.neighbour, relation):
            raise InputError(
                f"samples[{i}] is a pair whose sides are not neighbours under {relation.value}: "
                f"{item.data!r} and {item.neighbour!r}"
            )
    elif not (hasattr(item, "neighbours") and hasattr(item, "counts")):
        raise InputError(f"samples[{i}] must be a sample or a Pair of samples, got {item!r:.100}", parameter="samples")
