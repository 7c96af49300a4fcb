"""The exact audit against a double loop over sequences, in fractions and without symmetry."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest

import dpaudit
from dpaudit.contract import Instance, Law, PrivacyClaim, Relation, Sample
from dpaudit_learners.domains import Cube, Interval

Examples = Sequence[tuple[int, int]]
"""(row of the point in the domain, label), one entry for each example."""


def majority(examples: Examples) -> dict[Hashable, Fraction]:
    """Randomised response, truth with probability 3/4, on the majority label (ties to 1)."""
    truth = int(2 * sum(y for _, y in examples) >= len(examples))
    return {truth: Fraction(3, 4), 1 - truth: Fraction(1, 4)}


def doubling(examples: Examples) -> dict[Hashable, Fraction]:
    """The exponential mechanism with weights 2^(correct labels) over the thresholds 1[x < j] on three points."""
    weights = {j: Fraction(2) ** sum(int(x < j) == y for x, y in examples) for j in range(4)}
    return {j: w / sum(weights.values()) for j, w in weights.items()}


def consistent_only(examples: Examples) -> dict[Hashable, Fraction]:
    """Uniform over the thresholds consistent with the sample, "none" if there is none: supports differ."""
    good = [j for j in range(4) if all(int(x < j) == y for x, y in examples)]
    if good:
        return {j: Fraction(1, len(good)) for j in good}
    return {"none": Fraction(1)}


def parity(examples: Examples) -> dict[Hashable, Fraction]:
    """The private parity learner at epsilon = 1 on two variables, by enumeration of the examples kept."""
    points = [(0, 0), (0, 1), (1, 0), (1, 1)]
    law = dict.fromkeys(range(-1, 4), Fraction(0))
    keep = Fraction(1, 4)
    # The coin of the algorithm fails with probability 1/2 before it looks at the sample.
    law[-1] = Fraction(1, 2)
    for kept in itertools.product((0, 1), repeat=len(examples)):
        chance = Fraction(1, 2) * keep ** sum(kept) * (1 - keep) ** (len(kept) - sum(kept))
        solutions = [
            r
            for r in range(4)
            if all(
                (points[x][0] * (r & 1) + points[x][1] * (r >> 1)) % 2 == y
                for (x, y), k in zip(examples, kept, strict=True)
                if k
            )
        ]
        # A solution is drawn uniformly; an inconsistent system fails.
        for r in solutions or [-1]:
            law[r] += chance / max(1, len(solutions))
    return law


@dataclass(frozen=True)
class Rational:
    """A learner given by its law in fractions."""

    fractions: Callable[[Examples], dict[Hashable, Fraction]]
    space: Cube | Interval
    permutations: list[list[int]] = field(default_factory=list)
    id: ClassVar[str] = "toy-rational"
    instance: ClassVar[Instance] = Instance({}, n=1)
    privacy: ClassVar[PrivacyClaim] = PrivacyClaim(math.log(2))

    @property
    def domain(self) -> Cube | Interval:
        return self.space

    def symmetries(self) -> list[np.ndarray]:
        return [np.array(p) for p in self.permutations]

    def law(self, sample: Sample) -> Law:
        points = [tuple(x) for x in self.space.points().tolist()]
        rows = zip(sample.points.tolist(), sample.labels.tolist(), sample.counts.tolist(), strict=True)
        law = self.fractions([(points.index(tuple(x)), y) for x, y, c in rows for _ in range(c)])
        return Law(tuple(law), np.array([math.log(p) if p else -math.inf for p in law.values()]), 1e-15)


# Generators, example (x, y) being number 2 x + y. Reflection of thresholds: x -> 2 - x, labels flipped.
REFLECT = [5, 4, 3, 2, 1, 0]
# Parities: (0,1) and (1,0) exchanged; (a, b) -> (a, a + b); the label of x flipped by its first coordinate.
SWAP = [0, 1, 4, 5, 2, 3, 6, 7]
SHEAR = [0, 1, 2, 3, 6, 7, 4, 5]
FLIP = [0, 1, 2, 3, 5, 4, 7, 6]
# The majority ignores the points.
MOVE = [2, 3, 0, 1]

CASES = [
    (Rational(majority, Interval(2)), 1),
    (Rational(majority, Interval(2)), 3),
    (Rational(majority, Interval(2), [MOVE]), 3),
    (Rational(doubling, Interval(3)), 2),
    (Rational(doubling, Interval(3), [REFLECT]), 1),
    (Rational(doubling, Interval(3), [REFLECT]), 2),
    (Rational(doubling, Interval(3), [REFLECT]), 3),
    (Rational(consistent_only, Interval(3), [REFLECT]), 2),
    (Rational(parity, Cube(2), [SWAP, SHEAR, FLIP]), 1),
    (Rational(parity, Cube(2), [SWAP, SHEAR, FLIP]), 2),
    (Rational(parity, Cube(2)), 2),
]


@dataclass
class Answer:
    """Return what the double loop finds: the greatest ratio (None if infinite), delta(ln 2), what was covered."""

    ratio: Fraction | None
    delta: Fraction
    pairs: int
    samples: int


def neighbours(sequence: tuple[int, ...], universe: int, relation: Relation) -> list[tuple[int, ...]]:
    if relation is Relation.REPLACE_ONE:
        places = itertools.product(range(len(sequence)), range(universe))
        return [(*sequence[:i], v, *sequence[i + 1 :]) for i, v in places]
    removed = [sequence[:i] + sequence[i + 1 :] for i in range(len(sequence))]
    return removed + [(*sequence, v) for v in range(universe)]


def double_loop(learner: Rational, n: int, relation: Relation) -> Answer:
    universe = 2 * learner.domain.size
    laws = {}
    pairs: set[tuple[tuple[int, ...], tuple[int, ...]]] = set()
    for sequence in itertools.product(range(universe), repeat=n):
        for other in neighbours(sequence, universe, relation):
            ends = tuple(sorted(sequence)), tuple(sorted(other))
            # Both directions: the loss of a pair is not symmetric. Sequences of one multiset are one dataset.
            if ends[0] != ends[1]:
                pairs |= {ends, ends[::-1]}
    for side in {side for ends in pairs for side in ends}:
        laws[side] = learner.fractions([divmod(v, 2) for v in side])
    ratio: Fraction | None = Fraction(1)
    delta = Fraction(0)
    for left, right in pairs:
        ps = laws[left]
        qs = laws[right]
        # At epsilon = ln 2: exp(epsilon) is 2, a fraction.
        delta = max(delta, sum((max(Fraction(0), p - 2 * qs.get(o, Fraction(0))) for o, p in ps.items()), Fraction(0)))
        for o, p in ps.items():
            # An output that is impossible on the other side: no ratio bounds it.
            if p and not qs.get(o):
                ratio = None
            elif p and ratio is not None:
                ratio = max(ratio, p / qs[o])
    return Answer(ratio, delta, len(pairs), math.comb(universe + n - 1, n))


@pytest.mark.parametrize("relation", [Relation.REPLACE_ONE, Relation.ADD_REMOVE_ONE], ids=lambda r: r.value)
@pytest.mark.parametrize(("learner", "n"), CASES, ids=lambda v: v.fractions.__name__ if hasattr(v, "fractions") else v)
def test_the_audit_finds_what_the_double_loop_finds(learner: Rational, n: int, relation: Relation) -> None:
    slow = double_loop(learner, n, relation)
    fast = dpaudit.pac.audit_law(learner, n=n, relation=relation)
    assert (fast.pairs, fast.samples) == (slow.pairs, slow.samples)
    if slow.ratio is None:
        assert fast.epsilon == math.inf
    else:
        assert abs(fast.epsilon - math.log(slow.ratio)) <= fast.error <= 1e-14
    assert abs(fast.delta(math.log(2)) - float(slow.delta)) <= fast.profiles.delta_error(math.log(2)) <= 1e-12


@pytest.mark.parametrize("n", [1, 2])
def test_private_parity_is_exactly_ln_five_thirds(n: int) -> None:
    # (1 + p) / (1 - p) with p = 1/4.
    assert double_loop(Rational(parity, Cube(2)), n, Relation.REPLACE_ONE).ratio == Fraction(5, 3)
    finding = dpaudit.pac.audit_law(Rational(parity, Cube(2), [SWAP, SHEAR, FLIP]), n=n)
    assert finding.epsilon == pytest.approx(math.log(1.25 / 0.75), abs=1e-9)
