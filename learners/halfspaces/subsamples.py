"""Halfspaces h_1 .. h_m of disjoint subsamples: how often each halfspace of the class is among them.

Only these counts (|H|,) matter for what is released: a run draws them, a law mixes over them, a theorem with 1e15
examples simulates them, and none of the three lists a subsample's examples.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpaudit.contract import InputError, Sample

from ..arrays import Bools, Floats, Integers
from ..parameters import check_integer
from .concepts import Halfspaces

MAX_LAW_EXAMPLES = 32
MAX_LAW_SUBSAMPLES = 8
MAX_LAW_COUNTS = 2**12
BLOCK = 2**12
# The sum of probabilities that a subsample is without an example up to which 8 terms give the law of their number.
RARE = 2.0**-8
TERMS = 8

Multiplicities = tuple[int, ...]
Hit = tuple[tuple[int, ...], Fraction]


@dataclass(frozen=True)
class Subsamples:
    """m subsamples, each example in one of them, uniformly and independently; of each a uniform consistent halfspace.

    The paper's subsamples are of equal size; these are in expectation, which needs no order of the examples and no
    divisibility. Where no halfspace is consistent the default, number 0, is taken.

    `concepts` is H, `subsamples` m.
    """

    concepts: Halfspaces
    subsamples: int

    refuses: ClassVar[bool] = False
    """True if a run stops where a subsample is inconsistent; then its counts are None."""

    def _violations(self, sample: Sample) -> Bools:
        """Return which halfspaces contradict which example (examples, |H|)."""
        return np.asarray(self.concepts.evaluate(sample.points) != sample.labels).T

    def seen(self, sample: Sample, rng: np.random.Generator, runs: int) -> Bools:
        """Return which examples each subsample contains (runs, m, examples)."""
        m = self.subsamples
        # How many copies of an example fall into each subsample; a second copy changes no consistency.
        parts = [rng.multinomial(count, np.full(m, 1 / m), size=runs) > 0 for count in sample.counts]
        if parts:
            return np.stack(parts, axis=2)
        return np.zeros((runs, m, 0), dtype=np.bool_)

    def seen_alike(self, sample: Sample, rng: np.random.Generator) -> tuple[Bools, Integers]:
        """Return the distinct rows of `seen` in one run (k, examples), and how many subsamples have each.

        An example with many copies for each subsample is missing from few of them, or from none: their number is drawn,
        and which ones these are, so that m costs nothing.
        """
        missing: dict[int, list[int]] = defaultdict(list)
        for i, count in enumerate(sample.counts.tolist()):
            for place in self._without(count, rng):
                missing[place].append(i)
        kinds = Counter(map(tuple, missing.values()))
        kinds[()] = self.subsamples - len(missing)
        rows = np.ones((len(kinds), len(sample.counts)), dtype=np.bool_)
        for row, kind in zip(rows, sorted(kinds), strict=True):
            row[list(kind)] = False
        times = np.array([kinds[kind] for kind in sorted(kinds)], dtype=np.int64)
        return rows[times > 0], times[times > 0]

    def _without(self, count: int, rng: np.random.Generator) -> list[int]:
        """Return the subsamples that get none of the copies of an example.

        With S_j = C(m, j) (1 - j/m)^count just e are without one with probability
        sum over j of (-1)^j C(e + j, e) S_(e + j), and all sets of e are equally likely.
        """
        m = self.subsamples
        sums = [math.comb(m, j) * math.exp(count * math.log1p(-j / m)) for j in range(min(m, TERMS))]
        # S_j <= S_1^j / j!, so that what is left out is below the rounding of the draw.
        if m < TERMS or sums[1] > RARE:
            return np.flatnonzero(rng.multinomial(count, np.full(m, 1 / m)) == 0).tolist()
        law = [
            sum((-1) ** j * math.comb(e + j, e) * sums[e + j] for j in range(TERMS - e)) for e in range(TERMS)
        ]
        number = int((np.cumsum(law) <= rng.random()).sum())
        return rng.choice(m, number, replace=False).tolist() if number else []

    def draw(self, sample: Sample, rng: np.random.Generator, size: int) -> Counter[Multiplicities | None]:
        """Return the counts of the h_i in independent runs, and in how many runs each vector came up."""
        violations = self._violations(sample).astype(np.float32)
        found: Counter[Multiplicities | None] = Counter()
        step = max(1, BLOCK // self.subsamples)
        for start in range(0, size, step):
            seen = self.seen(sample, rng, min(step, size - start))
            counts = np.zeros((len(seen), self.concepts.size), dtype=np.int64)
            stuck = np.zeros(len(seen), dtype=np.bool_)
            for first in range(0, self.subsamples, BLOCK):
                # A halfspace is consistent with a subsample if none of the examples in it violates it.
                allowed = seen[:, first : first + BLOCK].astype(np.float32) @ violations == 0
                stuck |= (~allowed.any(axis=2)).any(axis=1)
                keys = np.where(allowed, rng.random(allowed.shape), -1.0)
                # Without a consistent halfspace all keys are equal, and argmax is the default, number 0.
                np.add.at(counts, (np.arange(len(seen))[:, None], keys.argmax(axis=2)), 1)
            stuck &= self.refuses
            found.update(
                None if stop else tuple(row) for row, stop in zip(counts.tolist(), stuck.tolist(), strict=True)
            )
        return found

    def mixture(self, sample: Sample) -> dict[Multiplicities | None, Fraction]:
        """Return the exact law of the counts; `InputError` where it has too many terms (`draw` has no such limit)."""
        self._check_law(sample)
        full = (1 << self.concepts.size) - 1
        spaces: dict[tuple[int, ...], Fraction] = {(full,) * self.subsamples: Fraction(1)}
        for row, count in zip(self._violations(sample), sample.counts.tolist(), strict=True):
            allowed = full & ~sum(1 << int(i) for i in np.flatnonzero(row))
            # The version spaces of the subsamples after one more example, up to the subsamples' order.
            reduced: dict[tuple[int, ...], Fraction] = defaultdict(Fraction)
            for (masks, weight), (chosen, p) in product(spaces.items(), list(self._hits(count))):
                left = sorted(mask & allowed if i in chosen else mask for i, mask in enumerate(masks))
                reduced[tuple(left)] += weight * p
            spaces = reduced
        mixture: dict[Multiplicities | None, Fraction] = defaultdict(Fraction)
        for masks, weight in spaces.items():
            for counts, p in self._choices(masks).items():
                mixture[counts] += weight * p
        return dict(mixture)

    def _check_law(self, sample: Sample) -> None:
        m = self.subsamples
        if sample.n > MAX_LAW_EXAMPLES or m > MAX_LAW_SUBSAMPLES:
            raise InputError(
                f"the exact law needs n <= {MAX_LAW_EXAMPLES} and subsamples <= {MAX_LAW_SUBSAMPLES}, "
                f"got n={sample.n} and subsamples={m}; run has no such limit"
            )
        vectors = math.comb(self.concepts.size + m - 1, m)
        if vectors > MAX_LAW_COUNTS:
            raise InputError(
                f"subsamples must be fewer for the exact law: {m} of {self.concepts.size} halfspaces can be chosen "
                f"in {vectors} ways, more than {MAX_LAW_COUNTS}; run has no such limit"
            )

    def _hits(self, count: int) -> Iterator[Hit]:
        """Yield (subsamples that get a copy, probability) for an example with `count` copies: inclusion-exclusion."""
        m = self.subsamples
        for size in range(1, m + 1):
            p = sum(
                ((-1) ** (size - j) * math.comb(size, j) * Fraction(j, m) ** count for j in range(size + 1)),
                Fraction(0),
            )
            if p:
                yield from ((chosen, p) for chosen in combinations(range(m), size))

    def _choices(self, masks: tuple[int, ...]) -> dict[Multiplicities | None, Fraction]:
        """Return the law of the counts, given the consistent halfspaces of each subsample."""
        size = self.concepts.size
        if self.refuses and not all(masks):
            return {None: Fraction(1)}
        law: dict[Multiplicities, Fraction] = {(0,) * size: Fraction(1)}
        for mask in masks:
            # The default, number 0, where no halfspace is consistent.
            options = [i for i in range(size) if mask >> i & 1] or [0]
            following: dict[Multiplicities, Fraction] = defaultdict(Fraction)
            for (counts, p), i in product(law.items(), options):
                following[(*counts[:i], counts[i] + 1, *counts[i + 1 :])] += p / len(options)
            law = following
        return {counts: p for counts, p in law.items()}


def consistent_law(concepts: Halfspaces, target: int, probabilities: ArrayLike, size: int) -> Floats:
    """Return the law (|H|,) of a uniform consistent halfspace of `size` independent examples labelled by a concept.

    `target` is the number of the labelling concept, `probabilities` (|X|,) the distribution on the points of the grid,
    at most 16, and `size` the examples of each subsample.
    """
    p = np.asarray(probabilities, dtype=np.float64)
    points = concepts.domain.points()
    if len(points) > 16 or p.shape != (len(points),) or abs(p.sum() - 1) > 1e-9 or (p < 0).any():
        raise InputError(f"probabilities must be a distribution on at most 16 points, got shape {p.shape}")
    check_integer("size", size, 1)
    check_integer("target", target, 0, concepts.size - 1)
    subsets = (np.arange(2 ** len(points))[:, None] >> np.arange(len(points)) & 1).astype(np.float64)
    # Pr[exactly these points are seen] by inclusion-exclusion over Pr[only these are seen].
    # What is missing is small where it matters: 1 - (sum of the others) would lose it, to the power of 1e13 at worst.
    with np.errstate(divide="ignore"):
        exactly = np.exp(size * np.log1p(-np.minimum((1 - subsets) @ p, 1.0)))
    for bit in range(len(points)):
        # Moebius inversion over subsets, one point after the other.
        view = exactly.reshape(-1, 2, 2**bit)
        view[:, 1] -= view[:, 0]
    labels = concepts.evaluate(points)
    consistent = subsets @ (labels != labels[target]).T.astype(np.float64) == 0
    law = (np.maximum(exactly, 0.0)[:, None] * consistent / consistent.sum(axis=1, keepdims=True)).sum(axis=0)
    return np.asarray(law / law.sum(), dtype=np.float64)


def independent_counts(
    concepts: Halfspaces,
    target: int,
    probabilities: ArrayLike,
    n: int,
    subsamples: int,
    rng: np.random.Generator,
    size: int,
) -> Counter[Multiplicities | None]:
    """Return the counts of the h_i on fresh samples of n independent examples, in `size` independent runs.

    Sub-learners on disjoint subsamples of floor(n / m) independent examples each are independent, so the counts of m of
    them are multinomial with the law of one: a theorem with 1e15 examples is simulated without any.

    `concepts`, `target` and `probabilities` are as in `consistent_law`; n, the examples of each sample, is at least m =
    `subsamples`, which is below 2^62.
    """
    check_integer("subsamples", subsamples, 1, 2**62)
    check_integer("n", n, subsamples)
    law = consistent_law(concepts, target, probabilities, int(n) // int(subsamples))
    found: Counter[Multiplicities | None] = Counter()
    found.update(map(tuple, rng.multinomial(int(subsamples), law, size=size).tolist()))
    return found
