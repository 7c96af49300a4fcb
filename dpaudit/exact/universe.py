"""The labelled examples that a search for the supremum weighs, the samples that weights stand for, and their stars.

The star of a sample is the set of neighbours that share all examples but one; its loss is the greatest between them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.contract import Domain, Law, Relation
from dpaudit.errors import InputError
from dpaudit.exact.profiles import UNBOUNDED, LawTable
from dpaudit.progress import Tell

__all__ = ["CAP", "Peak", "Star", "Universe", "Weights", "plus"]

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
        """Keep one of the examples that a law does not distinguish on some samples, as where labels are ignored.

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


Change = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Peak:
    """The greatest loss of a star.

    Parameters
    ----------
    weights : Weights
        The examples that all samples of the star share.
    left, right : Change
        What the sample on which the output is the likelier, and the other one, have besides.
    atom : Hashable
        The output.
    loss, error : float
        The logarithm of the ratio, and a bound on its error.
    """

    weights: Weights
    left: Change
    right: Change
    atom: Hashable
    loss: float
    error: float

    @property
    def safe(self) -> float:
        """The loss that is certain; what is compared, for errors grow with counts."""
        return self.loss - self.error


class Star:
    """The objective of a search: shared examples T -> the greatest loss between T + e and T + e', over all e and e'.

    With m examples to choose from, m laws give m (m - 1) pairs: for each output the greatest log-probability minus the
    least one. Under ADD_REMOVE_ONE the pairs are T and T + e instead.

    Parameters
    ----------
    universe : Universe
        The examples.
    relation : Relation
        The relation of neighbours.
    law : callable
        The law of a sample, or its limit along a ray.
    limits : bool
        Whether `law` gives limits.
    tell : callable, optional
        Called after each law.
    """

    def __init__(
        self,
        universe: Universe,
        relation: Relation,
        law: Callable[[Any], Law],
        *,
        limits: bool = False,
        tell: Tell | None = None,
    ) -> None:
        self._universe, self._law, self._limits, self._tell = universe, law, limits, tell
        self._centred = relation is Relation.ADD_REMOVE_ONE
        self._changes: list[Change] = [((item, 1),) for item in universe.changed]
        if self._centred:
            self._changes.insert(0, ())
        self._known: dict[Weights, Peak | None] = {}
        self.laws = 0
        self.refusal: InputError | None = None
        self.numeric = False

    def __call__(self, weights: Weights) -> Peak | None:
        """Return the greatest loss of a star; None where a law refuses one of its samples."""
        if weights not in self._known:
            self._known[weights] = self._peak(weights)
        return self._known[weights]

    def _peak(self, weights: Weights) -> Peak | None:
        table = LawTable(len(self._changes), limits=self._limits)
        for change in self._changes:
            sample = self._universe.sample(plus(weights, change))
            try:
                table.add(self._law(sample), sample)
            except InputError as refusal:
                self.refusal = refusal
                return None
            self.laws += 1
            if self._tell is not None:
                self._tell(1)
        self.numeric |= table.grade == "numeric"
        loss, atom, left, right = self._centred_loss(table) if self._centred else _spread(table)
        error = float(table.error[left] + table.error[right])
        changes = self._changes[left], self._changes[right]
        return Peak(weights, *changes, table.atoms[atom], loss if loss < UNBOUNDED else np.inf, error)

    def _centred_loss(self, table: LawTable) -> tuple[float, int, int, int]:
        """Return the greatest loss between law 0 and another, its atom, and the two laws in their order."""
        losses = table.log_prob[0] - table.log_prob[1:]
        row, atom = np.unravel_index(np.abs(losses).argmax(), losses.shape)
        loss, other = float(losses[row, atom]), int(row) + 1
        return (loss, int(atom), 0, other) if loss >= 0 else (-loss, int(atom), other, 0)


def _spread(table: LawTable) -> tuple[float, int, int, int]:
    """Return the greatest loss between two laws of a table, its atom, and the two laws in their order."""
    logs = table.log_prob
    spread = logs.max(axis=0) - logs.min(axis=0)
    atom = int(spread.argmax())
    left, right = int(logs[:, atom].argmax()), int(logs[:, atom].argmin())
    # Where all laws are alike, any two samples will do, but they must be two.
    return float(spread[atom]), atom, left, right if right != left else (left + 1) % len(logs)
