"""Crafted neighbouring samples: written per domain, for any learner over it.

A learner leaks most if one example tips a balance, so the list combines backgrounds that put all other examples on
landmarks of the domain (in agreement, in conflict, split evenly) with changes that move or flip the last example.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache, partial
from itertools import product

from dpaudit.arguments import read_integer
from dpaudit.contract import Domain, Origin, OriginKind, Pair, Relation, Sample
from dpaudit.neighbours.check import Example, Point, sample_of

# The number of pairs that are crafted by default.
DEFAULT_LIMIT = 64

_Labelled = tuple[Point, int]
_PUBLIC_SHARES = ((", all public", 1.0), (", half of them public", 0.5), (", none public", 0.0))


def crafted_pairs(
    domain: Domain, n: int, relation: Relation = Relation.REPLACE_ONE, limit: int | None = DEFAULT_LIMIT
) -> list[Pair]:
    """Return pairs of neighbouring samples of `n` examples over a domain.

    Parameters
    ----------
    domain : Domain
        The domain of the points; its landmarks carry the weight.
    n : int
        Examples in the first sample of each pair. Under ADD_REMOVE_ONE the second has n - 1.
    relation : Relation
        The relation of neighbours. Under REPLACE_PRIVATE each background is public, private, or half of each.
    limit : int or None
        At most so many pairs, spread evenly over all that were crafted; None keeps all.

    Returns
    -------
    list of Pair
        Distinct pairs in a fixed order. Both directions of each are audited, so none stands twice with sides swapped.
    """
    n = read_integer("n", n)
    relation = Relation.parse(relation)
    pairs: dict[frozenset[Sample], Pair] = {}
    points = [tuple(point) for point in domain.landmarks().tolist()]
    shares = _PUBLIC_SHARES if relation is Relation.REPLACE_PRIVATE else (("", None),)
    changes = list(_changes(points, relation))
    for (shared, background), (publicity, share) in product(_backgrounds(points, n - 1), shares):
        sample_with = cache(partial(_sample, domain, background, share))
        for change, out, into in changes:
            data = sample_with(out)
            neighbour = sample_with(into)
            if data != neighbour:
                origin = Origin(OriginKind.CRAFTED, f"{shared}{publicity}; {change}")
                # Both directions of a pair are audited, so that it stands once, whichever side comes first.
                pairs.setdefault(frozenset((data, neighbour)), Pair(data, neighbour, origin))
    found = list(pairs.values())
    if limit is None or len(found) <= limit:
        return found
    # Evenly over all: neighbouring entries of the list are alike.
    return [found[i * len(found) // limit] for i in range(limit)]


def _spread(points: list[Point]) -> tuple[Point, Point, Point]:
    """Return the first, the middle and the last of some points."""
    return points[0], points[len(points) // 2], points[-1]


def _backgrounds(points: list[Point], size: int) -> Iterator[tuple[str, list[tuple[_Labelled, int]]]]:
    """Yield a description of the examples that both samples share, and each with its count."""
    # A sample of one example has no background.
    if size == 0:
        yield "nothing else", []
        return
    for point, label in product(points, (0, 1)):
        yield f"{size} x {point} labelled {label}", [((point, label), size)]
    half = size // 2
    low, middle, high = _spread(points)
    for (a, b), (first, second) in product([(low, high), (high, low), (low, middle), (middle, high)], [(0, 1), (1, 0)]):
        if a != b:
            words = f"{size - half} x {a} labelled {first} and {half} x {b} labelled {second}"
            yield words, [((a, first), size - half), ((b, second), half)]
    yield f"{low} with both labels", [((low, 0), size - half), ((low, 1), half)]


def _changes(points: list[Point], relation: Relation) -> Iterator[tuple[str, _Labelled, _Labelled | None]]:
    """Yield a description of a change, the example that it takes, and the one that comes for it; None if none does."""
    if relation is Relation.ADD_REMOVE_ONE:
        for point, label in product(points, (1, 0)):
            yield f"{point} labelled {label} removed", (point, label), None
        return
    for point in points:
        yield f"label of {point} flipped", (point, 1), (point, 0)
    low, middle, high = _spread(points)
    labels = [(1, 1), (0, 0), (1, 0), (0, 1)]
    for (a, b), (first, second) in product([(low, high), (low, middle), (middle, high)], labels):
        if a != b:
            yield f"{a} labelled {first} becomes {b} labelled {second}", (a, first), (b, second)


def _sample(
    domain: Domain, background: list[tuple[_Labelled, int]], share: float | None, extra: _Labelled | None
) -> Sample:
    """Return the sample of the background examples and of the private extra one, if any.

    Of each background example this share of its copies is public; None for domains without public examples.
    """
    rows: Counter[Example] = Counter()
    for example, count in background:
        public = count if share is None else round(share * count)
        point, label = example
        rows.update({(point, label, True): public, (point, label, False): count - public})
    if extra is not None:
        point, label = extra
        rows[(point, label, False)] += 1
    return sample_of(rows, domain, share is not None)
