"""Multisets of examples as numbers: their ranks, their orbits under symmetries, and their neighbours.

The example universe lists the examples (x, y) of a domain: index 2 i + y, i the row of ``domain.points()``. A
sample is a multiset of universe indices, written as a sorted row a_0 <= ... <= a_{n-1} and numbered by its
colexicographic rank

    rank(a) = sum_i C(a_i + i, i + 1),      0 <= rank < C(U + n - 1, n),

so that sets of samples are arrays of integers. A symmetry is a permutation of the universe under which the
law of the permuted sample is the law of the sample with its atoms renamed; pairs in one orbit have the same
loss profile, hence one representative of an orbit is compared with all its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from math import comb

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from dpaudit.bounds.base import Array, Bools
from dpaudit.contract import Domain, Law, Relation, Sample
from dpaudit.errors import InputError

Rows = NDArray[np.integer]
Ranks = NDArray[np.int64]
Permutation = NDArray[np.int64]


def _steps(universe: int, n: int) -> Ranks:
    """Return the table (n, universe) of C(v + i, i + 1): each row is the running sum of the one above."""
    rows = accumulate(range(1, n), lambda row, _: np.cumsum(row), initial=np.arange(universe, dtype=np.int64))
    return np.array([*rows][:n]).reshape(n, universe)


def rank(rows: Rows, universe: int) -> Ranks:
    """Return the colexicographic ranks (m,) of sorted rows (m, n) of universe indices."""
    total = np.zeros(len(rows), dtype=np.int64)
    for step, column in zip(_steps(universe, rows.shape[1]), rows.T, strict=True):
        total += step[column]
    return total


def unrank(ranks: Ranks, universe: int, n: int) -> Rows:
    """Return the sorted rows (m, n) with the given ranks: `rank` undone, from the largest element down."""
    table = _steps(universe, n)
    # Half of the memory suffices for most universes.
    width = np.int16 if universe < 2**15 else np.int32
    rows: Rows = np.empty((len(ranks), n), dtype=width)
    rest = ranks.copy()
    for i in reversed(range(n)):
        rows[:, i] = np.searchsorted(table[i], rest, side="right") - 1
        rest -= table[i, rows[:, i]]
    return rows


def multisets(universe: int, n: int) -> Rows:
    """Return all C(universe + n - 1, n) multisets of n universe indices as sorted rows, ordered by rank."""
    return unrank(np.arange(comb(universe + n - 1, n), dtype=np.int64), universe, n)


def orbits(rows: Rows, permutations: Sequence[Permutation], universe: int) -> tuple[Ranks, Ranks]:
    """Return the least rank in each orbit of the permutations' group on all multisets, and the orbit sizes.

    The rows are all multisets, as `multisets` lists them; each permutation takes index v to ``permutation[v]``.
    """
    labels = np.arange(len(rows))
    block = max(1, 2**21 // max(1, rows.shape[1]))
    for permutation in permutations:
        pieces = (np.sort(permutation[rows[i : i + block]], axis=1) for i in range(0, len(rows), block))
        image = np.concatenate([rank(piece, universe) for piece in pieces])
        ends = (labels, labels[image])
        # The classes found so far are the nodes, so that only one generator's edges are held at a time.
        graph = scipy.sparse.coo_array((np.ones(len(rows), dtype=np.bool_), ends), shape=(len(rows), len(rows)))
        labels = scipy.sparse.csgraph.connected_components(graph, directed=False)[1][labels]
    _, first, sizes = np.unique(labels, return_index=True, return_counts=True)
    order = np.argsort(first)
    return first[order].astype(np.int64), sizes[order].astype(np.int64)


def _added(rows: Rows, choices: int) -> Rows:
    """Return rows (m * choices, n + 1): each row with each example of an index below `choices` added."""
    extra = np.tile(np.arange(choices, dtype=rows.dtype), len(rows))
    grown = np.concatenate([np.repeat(rows, choices, axis=0), extra[:, None]], axis=1)
    grown.sort(axis=1)
    return grown


def distinct(rows: Rows) -> Bools:
    """Mark the first occurrence of each element of each sorted row."""
    return np.concatenate([np.ones((len(rows), 1), np.bool_), rows[:, 1:] != rows[:, :-1]], axis=1)


def neighbour_ranks(rows: Rows, universe: int, relation: Relation, private: int) -> list[tuple[int, Ranks, Ranks]]:
    """Return (size, owner, rank) of every distinct neighbour of every row.

    Only examples with indices below `private` are replaced, and only by such.
    """
    n = rows.shape[1]
    found = []
    if relation is Relation.ADD_REMOVE_ONE:
        owners = np.repeat(np.arange(len(rows)), universe)
        found.append((n + 1, owners, rank(_added(rows, universe), universe)))
    for i in range(n):
        owners = np.flatnonzero(distinct(rows)[:, i] & (rows[:, i] < private))
        rest = np.delete(rows[owners], i, axis=1)
        if relation is Relation.ADD_REMOVE_ONE:
            found.append((n - 1, owners, rank(rest, universe)))
            continue
        changed = np.tile(np.arange(private), len(owners)) != np.repeat(rows[owners, i], private)
        ranks = rank(_added(rest, private), universe)
        found.append((n, np.repeat(owners, private)[changed], ranks[changed]))
    return found


def checked_permutation(values: ArrayLike, universe: int) -> Permutation:
    """Return a permutation of the universe as int64, or raise `InputError`."""
    array = np.asarray(values)
    fits = array.shape == (universe,) and array.dtype.kind in "iu"
    if not fits or (np.sort(array) != np.arange(universe)).any():
        raise InputError(
            f"a symmetry must be a permutation of 0 .. {universe - 1}, got {values!r:.100}", parameter="permutations"
        )
    return array.astype(np.int64)


def check_symmetry(
    law: Callable[[Sample], Law], domain: Domain, sample: Sample, neighbour: Sample, permutation: ArrayLike
) -> bool:
    """Return whether a permutation of the examples keeps what distinguishes the laws of two samples.

    The exact audit looks at one pair of each orbit, so epsilon and delta must be functions of the orbit: for every e,
    sum over o of (Pr[A(S) = o] - exp(e) Pr[A(S') = o])_+ must be the same for (S, S') and for its image, in both
    directions, to within the laws' errors. That single laws are the same up to names of atoms is not enough: the names
    could differ between S and S'. Example (x_i, y) is number 2 i + y.
    """
    laws = [law(side) for side in (sample, neighbour)]
    laws += [law(_moved(domain, side, permutation)) for side in (sample, neighbour)]
    slack = 4 * sum(found.error for found in laws) + 1e-12
    before = _aligned(laws[0], laws[1])
    after = _aligned(laws[2], laws[3])
    # Most symmetries leave the laws as they are, atom by atom.
    if np.array_equal(before, after):
        return True
    # The loss of an atom that both laws exclude is -inf - (-inf), which is NaN, and no loss.
    with np.errstate(invalid="ignore"):
        losses = np.abs(np.concatenate([first - second for first, second in (before, after)]))
    epsilons = np.append(np.unique(losses[np.isfinite(losses)]), [0.0, 700.0])
    return all(
        bool((np.abs(_curve(pair, epsilons) - _curve(other, epsilons)) <= slack).all())
        for pair, other in ((before, after), (before[::-1], after[::-1]))
    )


def _moved(domain: Domain, sample: Sample, permutation: ArrayLike) -> Sample:
    """Return a sample with its examples permuted."""
    if not len(sample.counts):
        return sample
    where = {tuple(point): row for row, point in enumerate(domain.points().tolist())}
    index = 2 * np.array([where[tuple(point)] for point in sample.points.tolist()]) + sample.labels
    image = checked_permutation(permutation, 2 * domain.size)[index]
    return domain.sample(domain.points()[image // 2], image % 2, sample.counts)


def _aligned(first: Law, second: Law) -> Array:
    """Return the log-probabilities of both laws over the atoms of either, shape (2, atoms), sorted."""
    # Laws of the same atoms are compared without a look-up of each.
    if list(first.atoms) == list(second.atoms):
        laws = np.array([first.log_prob, second.log_prob])
    else:
        tables = [dict(zip(law.atoms, law.log_prob.tolist(), strict=True)) for law in (first, second)]
        atoms = tables[0] | tables[1]
        laws = np.array([[table.get(atom, -np.inf) for atom in atoms] for table in tables])
    return laws[:, np.lexsort(laws)]


def _curve(laws: Array, epsilons: Array) -> Array:
    """Return the sum over the atoms of (exp(p) - exp(e + q))_+, which is delta(e), at every e, for laws p and q."""
    first, second = np.exp(laws)
    block = max(1, 2**20 // max(1, len(first)))
    factors = (np.exp(epsilons[i : i + block, None]) for i in range(0, len(epsilons), block))
    return np.concatenate([np.maximum(first - factor * second, 0.0).sum(axis=1) for factor in factors])
