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

import numpy as np

from dpaudit.contract import Domain, Law, Pair, Relation, Sample
from dpaudit.errors import InputError
from dpaudit.exact.profiles import UNBOUNDED, LawTable
from dpaudit.neighbours.check import as_multiset, sample_of
from dpaudit.progress import Advance

# The most copies of an example: errors of laws grow with the counts, and limits along rays need no more.
CAP = 10**6
# The most points of a domain that are all tried; of a larger one its landmarks are.
LISTED = 64
# Counts of the samples on which examples are compared.
_LIKE = (1, 3, 7, 20)

# A sample: pairs (number of an example, its count), sorted, each count at least 1.
Weights = tuple[tuple[int, int], ...]


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
        self._flagged = relation is Relation.REPLACE_PRIVATE
        flags = [False, True] if self._flagged else [False]
        examples = [(x, label, flag) for flag in flags for x in points for label in (0, 1)]
        self._points = np.array([x for x, _, _ in examples])
        self._labels = np.array([label for _, label, _ in examples])
        self._public = np.array([flag for _, _, flag in examples])
        self.items = list(range(len(examples)))
        self.changed = [i for i in self.items if not examples[i][2]]

    def sample(self, weights: Weights) -> Sample:
        """Return the sample of some weights."""
        if not weights:
            return self._domain.empty_sample()
        rows, counts = (np.array(part, dtype=np.int64) for part in zip(*weights, strict=True))
        points = self._points[rows]
        labels = self._labels[rows]
        if not self._flagged:
            return self._domain.sample(points, labels, counts)
        return self._domain.sample(points, labels, counts, self._public[rows])

    def fold(self, law: Callable[[Sample], Law], rng: np.random.Generator) -> None:
        """Keep one of the examples that a law does not distinguish on some samples, as where labels are ignored.

        Samples with an example that is left out are not searched, so that the supremum found may be too small where
        these samples did not show the difference; it is never too large.
        """
        drawn = (rng.choice(self.items, size=len(_LIKE)).tolist() for _ in _LIKE)
        backgrounds: list[Weights] = [(), *(plus((), zip(items, _LIKE, strict=True)) for items in drawn)]
        kept: dict[tuple[bytes, ...], int] = {}
        # Backwards, so that of examples that are alike the first one is kept.
        for item in reversed(self.items):
            kept[tuple(_key(law, self.sample(plus(base, [(item, 1)]))) for base in backgrounds)] = item
        self.items = sorted(kept.values())
        told_apart = [item for item in self.changed if item in kept.values()]
        # A replacement needs two examples, even if the law does not distinguish them.
        self.changed = told_apart if len(told_apart) > 1 else self.changed[:2]


def _key(law: Callable[[Sample], Law], sample: Sample) -> bytes:
    """Return bytes that are equal for equal laws, or for equal refusals of a sample."""
    try:
        found = law(sample)
    except InputError as refusal:
        return str(refusal).encode()
    return repr(found.atoms).encode() + np.asarray(found.log_prob, dtype=np.float64).tobytes()


@dataclass(frozen=True)
class Peak:
    """The greatest loss of a star: the logarithm of the ratio of an output, with a bound on its error.

    `weights` are the examples that all samples of the star share. `left` are the further examples of the sample on
    which the output is likelier, and `right` those of the other one.
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
        law: Callable[[Sample], Law],
        *,
        limits: bool = False,
        report: Advance | None = None,
    ) -> None:
        self._universe = universe
        self._law = law
        self._limits = limits
        self._report = report
        self._centred = relation is Relation.ADD_REMOVE_ONE
        self._changes: list[Weights] = [((item, 1),) for item in universe.changed]
        if self._centred:
            # The shared examples themselves, with which all others are compared.
            self._changes.insert(0, ())
        # Climbs and rays come back to the same examples, and a star costs as many laws as there are changes.
        self._known: dict[Weights, Peak | None] = {}
        self.laws = 0
        self.refusal: InputError | None = None
        self.numeric = False

    def __call__(self, weights: Weights) -> Peak | None:
        """Return the greatest loss of a star; None if a law refuses one of its samples."""
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
        loss, atom, left, right = _centred_loss(table) if self._centred else _spread(table)
        if loss >= UNBOUNDED:
            loss = np.inf
        error = float(table.error[left] + table.error[right])
        return Peak(weights, self._changes[left], self._changes[right], table.atoms[atom], loss, error)


def _centred_loss(table: LawTable) -> tuple[float, int, int, int]:
    """Return the greatest loss between law 0 and another, its atom, and the two laws in their order."""
    losses = table.log_prob[0] - table.log_prob[1:]
    row, atom = np.unravel_index(np.abs(losses).argmax(), losses.shape)
    loss = float(losses[row, atom])
    other = int(row) + 1
    if loss >= 0:
        return loss, int(atom), 0, other
    return -loss, int(atom), other, 0


def _spread(table: LawTable) -> tuple[float, int, int, int]:
    """Return the greatest loss between two laws of a table, its atom, and the two laws in their order."""
    logs = table.log_prob
    spread = logs.max(axis=0) - logs.min(axis=0)
    atom = int(spread.argmax())
    left = int(logs[:, atom].argmax())
    right = int(logs[:, atom].argmin())
    if right == left:
        # All laws are alike: any two samples will do, but they must be two.
        right = (left + 1) % len(logs)
    return float(spread[atom]), atom, left, right


# Moves are drawn with equal probability, so that one that is listed twice is twice as likely.
_MOVES = ("scale", "scale", "shift", "drop", "add", "exchange", "multiply")
_FACTORS = (2, 10, 1000)
# Steps without a gain after which a climb ends.
_PATIENCE = 60
# The least relative gain that counts as one.
_GAIN = 1e-5
# Random starts after which a law that refuses them all is given up.
_TRIES = 50


def climb(star: Star, items: Sequence[int], *, evaluations: int, most: int, rng: np.random.Generator) -> Peak | None:
    """Return the greatest loss that a climb over weighted samples meets; None if the law refuses every start.

    A step changes one count (times or divided by 2, 10 or 1000; by 1), drops, adds or exchanges an example, or
    multiplies all counts; it is taken unless the certain loss falls.

    `items` are the examples to choose from, and `evaluations` steps are tried; a sample has at most `most` distinct
    examples.
    """
    walk = _Walk(items, most, rng)
    # A law may refuse a sample by `InputError`.
    best = next((peak for peak in (star(walk.start()) for _ in range(_TRIES)) if peak is not None), None)
    if best is None:
        return None
    worth = best.safe
    last = 0
    for step in range(evaluations):
        peak = star(walk.step(best.weights))
        if peak is not None and peak.safe >= best.safe:
            best = peak
        if best.safe > worth * (1 + _GAIN):
            worth = best.safe
            last = step
        if np.isinf(best.loss) or step - last >= _PATIENCE:
            break
    return best


class _Walk:
    """Random weighted samples and random steps between them."""

    def __init__(self, items: Sequence[int], most: int, rng: np.random.Generator) -> None:
        self._items = list(items)
        self._most = most
        self._rng = rng

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
        if weights:
            item, count = weights[int(rng.integers(len(weights)))]
        else:
            item = self._item()
            count = 0
        if move == "scale":
            factor = _FACTORS[int(rng.integers(len(_FACTORS)))]
            scaled = count * factor if rng.random() < 0.5 else max(1, count // factor)
            return plus(weights, [(item, scaled - count)])
        if move == "shift":
            step = 1 if rng.random() < 0.5 else -1
            return plus(weights, [(item, step)])
        if move == "drop":
            return plus(weights, [(item, -count)])
        # An exchange, which also stands for an addition where there is no room for one.
        return plus(weights, [(item, -count), (self._item(), count)])


def ray_bases(items: Sequence[int], most: int, limit: int) -> Iterator[tuple[int, Weights]]:
    """Yield (direction, base): every example as a direction with every base of fewer than `most` examples.

    The smallest bases come first; sizes whose bases would exceed `limit` rays in all are left out.
    """
    made = 0
    for size in range(most):
        # So many that they need not be listed to know that there are more than `limit`.
        if len(items) ** size > 64 * limit:
            return
        bases = list(combinations_with_replacement(items, size))
        made += len(bases) * len(items)
        if not bases or made > limit:
            return
        for base in bases:
            for direction in items:
                yield direction, plus((), [(item, 1) for item in base])


def growth(pair: Pair, domain: Domain, loss: Callable[[Pair], float]) -> Iterator[tuple[int, float]]:
    """Yield size and loss of a pair with 0, 1, 2, 5, 10, ... copies of the example that both sides have most of."""
    ours = as_multiset(pair.data)
    theirs = as_multiset(pair.neighbour)
    common, copies = max((ours & theirs).items(), key=lambda one: one[1], default=(((), 0, False), 0))
    steps = [step * 10**power for power in range(7) for step in (1, 2, 5)]
    for kept in sorted({0, *(step for step in steps if step < copies), copies}):
        gone = Counter({common: copies - kept})
        flagged = pair.data.public is not None
        smaller = Pair(sample_of(ours - gone, domain, flagged), sample_of(theirs - gone, domain, flagged))
        if smaller.data.n and smaller.neighbour.n:
            yield smaller.data.n, loss(smaller)
