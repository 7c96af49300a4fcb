"""The search for the supremum: weighed examples, the samples that weights stand for, their stars, and proposals.

The star of a sample is the set of neighbours that share all examples but one; its loss is the greatest between them.
Samples whose stars lose much are proposed by climbing over weights and along rays; the loss is followed as a sample
grows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from dpaudit.contract import Domain, Law, Pair, Relation
from dpaudit.errors import InputError
from dpaudit.exact.profiles import UNBOUNDED, LawTable
from dpaudit.neighbours.check import as_multiset, sample_of
from dpaudit.progress import Report

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

    Under REPLACE_PRIVATE each example is there twice, private and public. `items` are the numbers of the examples that
    samples are made of, and `changed` those of them that may be replaced, added or removed.
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
        drawn = (rng.choice(self.items, size=len(_LIKE)).tolist() for _ in _LIKE)
        backgrounds: list[Weights] = [(), *(plus((), zip(items, _LIKE, strict=True)) for items in drawn)]
        kept: dict[tuple[bytes, ...], int] = {}
        for item in reversed(self.items):
            kept[tuple(_key(law, self.sample(plus(base, [(item, 1)]))) for base in backgrounds)] = item
        self.items = sorted(kept.values())
        told_apart = [item for item in self.changed if item in kept.values()]
        self.changed = told_apart if len(told_apart) > 1 else self.changed[:2]


def _key(law: Callable[[Any], Law], sample: Any) -> bytes:
    """Return what a law says of a sample, refusals included."""
    try:
        found = law(sample)
    except InputError as refusal:
        return str(refusal).encode()
    return repr(found.atoms).encode() + np.asarray(found.log_prob, dtype=np.float64).tobytes()


@dataclass(frozen=True)
class Peak:
    """The greatest loss of a star: the logarithm of the ratio of an output, with a bound on its error.

    `weights` are the examples that all samples of the star share; `left` and `right` what the sample on which the
    output is the likelier, and the other one, have besides.
    """

    weights: Weights
    left: Weights
    right: Weights
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

    `law` gives the law of a sample or, with `limits`, its limit along a ray; `report` is called after each.
    """

    def __init__(
        self,
        universe: Universe,
        relation: Relation,
        law: Callable[[Any], Law],
        *,
        limits: bool = False,
        report: Report | None = None,
    ) -> None:
        self._universe, self._law, self._limits, self._report = universe, law, limits, report
        self._centred = relation is Relation.ADD_REMOVE_ONE
        self._changes: list[Weights] = [((item, 1),) for item in universe.changed]
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
            if self._report is not None:
                self._report(1)
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


_MOVES = ("scale", "scale", "shift", "drop", "add", "exchange", "multiply")
_FACTORS = (2, 10, 1000)
_PATIENCE = 60
"""Steps without a gain after which a climb ends."""
_GAIN = 1e-5
"""The least relative gain that counts as one."""
_TRIES = 50
"""Random starts after which a law that refuses them all is given up."""


def climb(star: Star, items: Sequence[int], *, evaluations: int, most: int, rng: np.random.Generator) -> Peak | None:
    """Return the greatest loss that a climb over weighted samples meets; None if the law refuses every start.

    A step changes one count (times or divided by 2, 10 or 1000; by 1), drops, adds or exchanges an example, or
    multiplies all counts; it is taken unless the certain loss falls.

    `items` are the examples to choose from, and `evaluations` steps are tried; a sample has at most `most` distinct
    examples.
    """
    walk = _Walk(items, most, rng)
    best = next((peak for peak in (star(walk.start()) for _ in range(_TRIES)) if peak is not None), None)
    if best is None:
        return None
    worth, last = best.safe, 0
    for step in range(evaluations):
        peak = star(walk.step(best.weights))
        if peak is not None and peak.safe >= best.safe:
            best = peak
        if best.safe > worth * (1 + _GAIN):
            worth, last = best.safe, step
        if np.isinf(best.loss) or step - last >= _PATIENCE:
            break
    return best


class _Walk:
    """Random weighted samples and random steps between them."""

    def __init__(self, items: Sequence[int], most: int, rng: np.random.Generator) -> None:
        self._items, self._most, self._rng = list(items), most, rng

    def start(self) -> Weights:
        """Return a sample of one to three examples, counts log-uniform."""
        return plus((), [(self._item(), self._count()) for _ in range(int(self._rng.integers(1, 4)))])

    def step(self, weights: Weights) -> Weights:
        """Return a neighbour of a sample in the search; a count that grows too large stays at `CAP`."""
        moved = self._moved(_MOVES[int(self._rng.integers(len(_MOVES)))], weights)
        return tuple((item, min(count, CAP)) for item, count in moved)

    def _item(self) -> int:
        return self._items[int(self._rng.integers(len(self._items)))]

    def _count(self) -> int:
        return int(10 ** self._rng.uniform(0, 3))

    def _moved(self, move: str, weights: Weights) -> Weights:
        """Return a sample after a move of one of its examples, of any with a count of 0 if it has none."""
        rng = self._rng
        if move == "multiply":
            factor = 2 if rng.random() < 0.5 else 10
            return tuple((item, count * factor) for item, count in weights)
        if move == "add" and len(weights) < self._most:
            return plus(weights, [(self._item(), self._count())])
        item, count = weights[int(rng.integers(len(weights)))] if weights else (self._item(), 0)
        if move == "scale":
            factor = _FACTORS[int(rng.integers(len(_FACTORS)))]
            scaled = count * factor if rng.random() < 0.5 else max(1, count // factor)
            return plus(weights, [(item, scaled - count)])
        if move == "shift":
            return plus(weights, [(item, 1 if rng.random() < 0.5 else -1)])
        if move == "drop":
            return plus(weights, [(item, -count)])
        return plus(weights, [(item, -count), (self._item(), count)])  # exchange, as where there is no room to add


def ray_bases(items: Sequence[int], most: int, limit: int) -> Iterator[tuple[int, Weights]]:
    """Yield (direction, base): every example as a direction with every base of fewer than `most` examples.

    The smallest bases come first; sizes whose bases would exceed `limit` rays in all are left out.
    """
    made = 0
    for size in range(most):
        bases = list(combinations_with_replacement(items, size)) if len(items) ** size <= 64 * limit else []
        made += len(bases) * len(items)
        if not bases or made > limit:
            return
        for base in bases:
            for direction in items:
                yield direction, plus((), [(item, 1) for item in base])


def growth(pair: Pair, domain: Domain, loss: Callable[[Pair], float]) -> Iterator[tuple[int, float]]:
    """Yield size and loss of a pair with 0, 1, 2, 5, 10, ... copies of the example that both sides have most of."""
    ours, theirs = as_multiset(pair.data), as_multiset(pair.neighbour)
    common, copies = max((ours & theirs).items(), key=lambda one: one[1], default=(((), 0, False), 0))
    steps = [step * 10**power for power in range(7) for step in (1, 2, 5)]
    for kept in sorted({0, *(step for step in steps if step < copies), copies}):
        gone, flagged = Counter({common: copies - kept}), pair.data.public is not None
        smaller = Pair(sample_of(ours - gone, domain, flagged), sample_of(theirs - gone, domain, flagged))
        if smaller.data.n and smaller.neighbour.n:
            yield smaller.data.n, loss(smaller)
