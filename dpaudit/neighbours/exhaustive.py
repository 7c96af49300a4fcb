"""The ordered pairs that an exact audit compares: of every sample of n examples up to symmetry, or of those given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from dpaudit.arguments import read_integer
from dpaudit.contract import Domain, Origin, OriginKind, Pair, Relation, Sample
from dpaudit.errors import InputError
from dpaudit.neighbours.check import are_neighbours
from dpaudit.neighbours.multisets import (
    Permutation,
    Ranks,
    checked_permutation,
    distinct,
    multisets,
    neighbour_ranks,
    orbits,
    unrank,
)

# The most universe indices (multisets times n) that one enumeration may hold.
MULTISET_CELLS = 2**24
# The most pairs (before multiplying by orbit sizes) that one audit compares.
PAIRS = 4_000_000
# The most output laws that one audit computes.
LAWS = 200_000


@dataclass(frozen=True, eq=False)
class PairPlan:
    """The ordered pairs of an exact audit, before any law is computed.

    `left` and `right`, shape (p,), are the sides of each pair as numbers below `size`, one for each input; `inputs`
    makes one and `origin` says how a pair was made, both by number. `pairs` and `samples` count the ordered pairs and
    the samples that are covered, symmetric copies included.
    """

    left: Ranks
    right: Ranks
    inputs: Callable[[int], Sample]
    size: int
    pairs: int
    samples: int
    origin: Callable[[int], Origin]


def every_pair(domain: Domain, n: int, relation: Relation, permutations: Sequence[Permutation] = ()) -> PairPlan:
    """Return every ordered pair of neighbours among the samples of n examples, one representative an orbit.

    Under ADD_REMOVE_ONE the pairs join samples of n examples with those of n - 1 and n + 1, in both directions. All 2
    |X| labelled examples of the domain are used, under REPLACE_PRIVATE each as a private and as a public one. The
    permutations, shape (2 |X|,), are generators of the symmetries of the law, if any are known. `InputError` is raised
    if n is no positive integer, a permutation is none, or a limit (`MULTISET_CELLS`, `PAIRS`, `LAWS`) is exceeded.
    """
    n = read_integer("n", n)
    labelled = 2 * domain.size
    flagged = relation is Relation.REPLACE_PRIVATE
    # Public examples come after all private ones.
    universe = 2 * labelled if flagged else labelled
    total = comb(universe + n - 1, n)
    _check_limit("multisets of n examples to enumerate", total, MULTISET_CELLS // n, n)

    # The number of smaller samples, which are numbered before those of this size.
    def start(size: int) -> int:
        return comb(universe + size - 1, size - 1) if size else 0

    # All samples of n - 1, n and n + 1 are needed.
    if relation is Relation.ADD_REMOVE_ONE and not permutations:
        _check_limit("laws to compute", start(n + 2) - start(n - 1), LAWS, n)
    generators = [checked_permutation(p, labelled) for p in permutations]
    if flagged:
        # A symmetry moves public examples as it moves the private ones.
        generators = [np.concatenate([p, p + labelled]) for p in generators]
    firsts, sizes = orbits(multisets(universe, n), generators, universe)
    rows = unrank(firsts, universe, n)
    # Samples without a private example have no neighbours.
    if flagged:
        some = rows[:, 0] < labelled
        rows = rows[some]
        firsts = firsts[some]
        sizes = sizes[some]
    both = relation is Relation.ADD_REMOVE_ONE
    replaceable = (distinct(rows) & (rows < labelled)).sum(axis=1)
    if both:
        # Each distinct example may go and each labelled one may come, and both directions count.
        degree = 2 * (replaceable + labelled)
    else:
        # Each distinct private example may become any other labelled one.
        degree = replaceable * (labelled - 1)
    _check_limit("pairs to compare", int(degree.sum()), PAIRS, n)

    found = neighbour_ranks(rows, universe, relation, labelled)
    numbers = [start(n) + firsts, *(start(size) + ranks for size, _, ranks in found)]
    inputs, places = np.unique(np.concatenate(numbers), return_inverse=True)
    _check_limit("laws to compute", len(inputs), LAWS, n)
    left = places[np.concatenate([owners for _, owners, _ in found])]
    right = places[len(firsts) :]
    if both:
        left, right = np.concatenate([left, right]), np.concatenate([right, left])
    by_size = np.split(inputs, np.searchsorted(inputs, [start(n), start(n + 1)]))
    groups = zip((n - 1, n, n + 1), by_size, strict=True)
    made = [row for size, group in groups for row in unrank(group - start(size), universe, size)]
    origin = Origin(OriginKind.ENUMERATED, f"every sample of {n} examples, {relation.value}")
    pairs = int((degree * sizes).sum())
    points = domain.points()

    def make(i: int) -> Sample:
        """Return the sample of row i, with its public flags where examples have them."""
        if not len(made[i]):
            return domain.empty_sample()
        public, example = np.divmod(made[i].astype(np.int64), 2 * len(points))
        flags = public > 0 if flagged else None
        return domain.sample(points[example // 2], example % 2, public=flags)

    return PairPlan(left, right, make, len(made), pairs, total, lambda _: origin)


def _check_limit(what: str, count: int, limit: int, n: int) -> None:
    if count > limit:
        shown = f"{count:,}" if count < 10**15 else "more than 10^15"
        text = f"n = {n} is too many to enumerate: {shown} {what}, at most {limit:,} are allowed; give a few samples "
        text += "or pairs by {samples:=}, or use the black-box audit"
        raise InputError(text, parameter="n", value=n, names=("samples",))


def given_pairs(domain: Domain, samples: Iterable[Sample | Pair], relation: Relation) -> PairPlan:
    """Return the ordered pairs, in both directions, of the given samples with all their neighbours.

    A `Pair` among the samples stands for itself: its two sides are compared in both directions, with nothing else.
    `InputError` is raised if there is none, an item is neither a sample nor a pair of neighbours, or a limit is
    exceeded.
    """
    if not isinstance(samples, Iterable) or not (items := list(samples)):
        raise InputError(f"samples must list at least one sample or Pair, got {samples!r:.100}", parameter="samples")
    estimate = 0
    for i, item in enumerate(items):
        if isinstance(item, Pair):
            estimate += 1
            if not are_neighbours(item.data, item.neighbour, relation):
                text = f"samples[{i}] is a pair whose sides are not neighbours under {relation.value}: "
                raise InputError(f"{text}{item.data!r} and {item.neighbour!r}")
        elif isinstance(item, Sample):
            estimate += (len(item.counts) + 1) * 2 * (item.domain or domain).size
        else:
            text = f"samples[{i}] must be a sample or a Pair of samples, got {item!r:.100}"
            raise InputError(text, parameter="samples")
    if estimate > LAWS:
        text = f"samples have about {estimate:,} neighbours, at most {LAWS:,} laws are computed; give fewer samples, "
        raise InputError(text + "or Pairs, or use the black-box audit", parameter="samples")
    numbers: dict[Sample, int] = {}
    origins: dict[tuple[int, int], Origin] = {}
    given: set[Sample] = set()
    for i, item in enumerate(items):
        if isinstance(item, Pair):
            data, neighbour = item.sides
            others = [neighbour]
            origin = item.origin
            given |= {data, neighbour}
        else:
            data = item
            others = list(item.neighbours(relation))
            origin = Origin(text=f"sample {i} and a neighbour, {relation.value}")
            given.add(data)
        for other in others:
            first = numbers.setdefault(data, len(numbers))
            second = numbers.setdefault(other, len(numbers))
            origins.setdefault((first, second), origin)
            # Both directions are compared; an earlier origin of the same pair stays.
            origins.setdefault((second, first), origin)
    if not origins:
        text = f"samples have no neighbours under {relation.value}: nothing can be compared"
        raise InputError(text, parameter="samples")
    sides = np.array(list(origins), dtype=np.int64)
    inputs = list(numbers)
    made = list(origins.values())
    return PairPlan(
        sides[:, 0], sides[:, 1], inputs.__getitem__, len(inputs), len(origins), len(given), made.__getitem__
    )
