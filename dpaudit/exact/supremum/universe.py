"""The labelled examples that a search for the supremum weighs, and the samples that weights stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from dpaudit.contract import Domain, Law, Relation
from dpaudit.errors import InputError

__all__ = ["CAP", "Universe", "Weights", "plus"]

CAP = 10**6
"""The most copies of an example: errors of laws grow with the counts, and limits along rays need no more."""
LISTED = 64
"""The most points of a domain that are all tried; of a larger one its landmarks are."""
_LIKE = (1, 3, 7, 20)
"""Counts of the samples on which examples are compared."""

Weights = tuple[tuple[int, int], ...]
"""A sample: pairs (number of an example, its count), sorted, each count at least 1."""


def plus(weights: Weights, more: Iterable[tuple[int, int]]) -> Weights:
    """Return the sum of weights; counts that are not positive are left out."""
    total = dict(weights)
    for item, count in more:
        total[item] = total.get(item, 0) + count
    return tuple(sorted((item, count) for item, count in total.items() if count > 0))


class Universe:
    """Every labelled example of a small domain, or those at the landmarks of a large one.

    Parameters
    ----------
    domain : Domain
        The learner's.
    relation : Relation
        Under REPLACE_PRIVATE each example is there twice, private and public.

    Attributes
    ----------
    items : list of int
        The numbers of the examples that samples are made of.
    changed : list of int
        The numbers of those that may be replaced, added or removed.
    """

    def __init__(self, domain: Domain, relation: Relation) -> None:
        self._domain = domain
        points = domain.points() if domain.size <= LISTED else domain.landmarks()
        flags = (False, True) if relation is Relation.REPLACE_PRIVATE else (False,)
        examples = [(x, label, flag) for flag in flags for x in points for label in (0, 1)]
        self._points = np.array([x for x, _, _ in examples])
        self._labels = np.array([label for _, label, _ in examples])
        self._public = np.array([flag for _, _, flag in examples]) if len(flags) > 1 else None
        self.items = list(range(len(examples)))
        self.changed = [i for i in self.items if not examples[i][2]]

    def sample(self, weights: Weights) -> Any:
        """Return the sample of some weights."""
        if not weights:
            return self._domain.empty_sample()
        rows, counts = (np.array(part, dtype=np.int64) for part in zip(*weights, strict=True))
        public = None if self._public is None else self._public[rows]
        return self._domain.sample(self._points[rows], self._labels[rows], counts, public)

    def fold(self, law: Callable[[Any], Law], rng: np.random.Generator) -> None:
        """Keep one of the examples that a law does not tell apart on some samples, as where labels are ignored.

        Samples with an example that is left out are not searched, so that the supremum found may be too small where
        these samples did not show the difference; it is never too large.
        """
        backgrounds: list[Weights] = [(), *(self._background(rng) for _ in _LIKE)]
        kept: dict[tuple[bytes, ...], int] = {}
        for item in reversed(self.items):
            kept[tuple(_key(law, self.sample(plus(base, [(item, 1)]))) for base in backgrounds)] = item
        self.items = sorted(kept.values())
        told_apart = [item for item in self.changed if item in kept.values()]
        self.changed = told_apart if len(told_apart) > 1 else self.changed[:2]

    def _background(self, rng: np.random.Generator) -> Weights:
        chosen = rng.choice(self.items, size=len(_LIKE))
        return plus((), zip(chosen.tolist(), _LIKE, strict=True))


def _key(law: Callable[[Any], Law], sample: Any) -> bytes:
    """Return what a law says of a sample, refusals included."""
    try:
        found = law(sample)
    except InputError as refusal:
        return str(refusal).encode()
    return repr(found.atoms).encode() + np.asarray(found.log_prob, dtype=np.float64).tobytes()
