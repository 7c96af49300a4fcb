"""The search for cases on which a learner needs the most examples: proposals are raced, the best are improved."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import joblib
import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import FIXED_SETTINGS, Distribution, HasWorstTargets, Learner
from dpaudit.progress import Advance
from dpaudit.running.workers import spread
from dpaudit.seeding import generator
from dpaudit.utility.hard_cases import (
    MAX_ENTRIES,
    HardCase,
    Key,
    Labels,
    Points,
    evaluated_points,
    hard_cases,
    just_above,
    just_bad,
    solved,
)
from dpaudit.utility.interval import size_of
from dpaudit.utility.problem import CaseFailure
from dpaudit.utility.worst_case import first_size

# Sizes nearer to each other than this are not distinguished.
RATIO = 1.02
# Samples on which a proposal is judged, the same random numbers for all, where no short sum gives its rate.
DRAWS = 60
# A sum over so many count vectors is short.
VECTORS = 2 * DRAWS
# Fresh samples on which the best are put in order.
CHECKS = 150
# In the place of the first for a class that cannot be numbered, where each is a run of a large problem.
FEW_DRAWS = 16
# The number of the best that are put in order.
KEPT = 3
# A proposal that suffices at this share of the best size so far is left.
WEAK = 0.7
# Up to this many labels (concepts times points) of a class, rivals are made just bad.
MAX_LABELS = 2**20
# The moves of a climb that keep the concept, equally likely.
MOVES = ("shift", "split", "merge", "snap", "snap", "rivals", "level")
# Concepts whose rivals are made just bad.
CONCEPTS = 8

Floats = NDArray[np.float64]
# Concept, name, n, points, probabilities, the distribution's name, and which points are public.
_Parts = tuple[int, str, int, Points, Floats, str, NDArray[np.bool_] | None]


@dataclass(frozen=True)
class Proposal:
    """A case and, roughly, the least n that suffices on it; selected, hence optimistic."""

    case: HardCase
    n: int


def proposals(learner: Learner, alpha: float, setting: str) -> Iterator[HardCase]:
    """Yield the hard cases of a learner and, without noise, its own worst ones and those with many rivals just bad."""
    yield from hard_cases(learner, alpha, setting)
    if isinstance(learner, HasWorstTargets) and setting != "agnostic":
        for code, law, name in learner.worst_targets(alpha):
            yield HardCase(code, law, name)
    concepts = learner.concepts
    size = size_of(concepts)
    if size is None or setting in ("agnostic", "solution"):
        return
    points, _ = evaluated_points(learner)
    if size * len(points) > MAX_LABELS:
        return
    labels = concepts.evaluate(points)
    for code in dict.fromkeys(i * (size - 1) // (CONCEPTS - 1) for i in range(CONCEPTS)):
        for weights, name in just_bad(labels, code, just_above(alpha)):
            yield _case(code, points, weights, name)


def _case(code: int, points: Points, weights: Floats, name: str, least: float = 0.0) -> HardCase:
    """Return the case of a concept on the points that have more than the least weight."""
    seen = weights > least
    law = Distribution(points[seen], weights[seen] / weights[seen].sum(), name)
    return HardCase(code, law, f"{name}; concept {code}")


class WorstCaseSearch:
    """The search for hard cases of a learner: the largest n of interest is `cap`."""

    def __init__(self, learner: Learner, alpha: float, beta: float, setting: str, cap: int, seed: int) -> None:
        self._learner = learner
        self._alpha = alpha
        self._beta = beta
        self._setting = setting
        self._cap = cap
        self._seed = seed
        self._points, _ = evaluated_points(learner)

    def best(self, starts: int, moves: int, report: Advance | None, n_jobs: int = 1) -> list[Proposal]:
        """Return the best proposals, and what climbing from them, `n_jobs` at a time, found: the hardest first."""
        # A climb changes the concept by its number, and measures rivals.
        numbered = size_of(self._learner.concepts) is not None
        draws = DRAWS if numbered else FEW_DRAWS
        # A proposal that is clearly weaker than the record so far is not measured exactly.
        raced: list[Proposal] = []
        for case in proposals(self._learner, self._alpha, self._setting):
            record = max((one.n for one in raced), default=0)
            raced.append(Proposal(case, self._least(case, "race", draws, math.floor(WEAK * record))))
        raced = _hardest(_distinct(raced))
        # Climbs are made in the setting "realizable" alone.
        climbed = []
        if numbered and self._setting not in ("agnostic", *FIXED_SETTINGS):
            climbed = self._all_climbed(raced[:starts], moves, report, n_jobs)
        leading = _distinct(_hardest([*raced[:starts], *climbed]))[:KEPT]
        if not numbered:
            return leading
        # The sizes found so far are optimistic, as the cases were selected by them: these samples are fresh.
        return _hardest([Proposal(one.case, self._least(one.case, "check", CHECKS)) for one in leading])

    def _failure(self, case: HardCase) -> CaseFailure:
        return CaseFailure(self._learner, case, self._alpha, self._setting)

    def _least(self, case: HardCase, samples: str, draws: int, least: int = 0) -> int:
        """Return about the least n at which the mean failure rate of some samples is at most beta, at most the cap.

        0 if that holds at the size `least` already, so that weak cases cost one look.
        """
        failure = self._failure(case)

        # The same random numbers at every size and for every case, so that comparisons have less noise than rates.
        def fails(n: int) -> bool:
            return self._mean(failure, n, samples, draws) > self._beta

        if least and not fails(least):
            return 0
        found = first_size(lambda n: not fails(n), self._cap, max(1, 2 * least), low=least, ratio=RATIO)
        return self._cap if found is None else found

    def _all_climbed(self, starts: list[Proposal], moves: int, report: Advance | None, n_jobs: int) -> list[Proposal]:
        """Return the case that climbing from each start found; climbs are independent, so that their order is free."""
        # In this process progress is shown move by move.
        if joblib.effective_n_jobs(n_jobs) == 1:
            return [self._climbed(start, moves, i, report) for i, start in enumerate(starts)]
        calls = [partial(self._climbed_in_parts, start, moves, i) for i, start in enumerate(starts)]
        found = []
        for code, name, n, points, probabilities, law_name, public in spread(calls, n_jobs=n_jobs):
            law = Distribution(points, probabilities, law_name, public)
            found.append(Proposal(HardCase(code, law, name), n))
            if report is not None:
                report(moves)
        return found

    def _climbed(self, start: Proposal, moves: int, number: int, report: Advance | None) -> Proposal:
        """Return the case that a walk of moves, each kept if it fails no less often, leads to; n grows on the way."""
        rng = generator(self._seed, "n*", "climb", number)
        case = start.case
        n = start.n
        rate = self._rate(case, n)
        for _ in range(moves):
            other = self._changed(case, rng)
            if (found := self._rate(other, n)) >= rate:
                case = other
                rate = found
                # The walk is after the largest n: it grows as long as the case fails too often there.
                while rate > self._beta and n < self._cap:
                    n = min(self._cap, max(n + 1, math.floor(n * RATIO)))
                    rate = self._rate(case, n)
            if report is not None:
                report(1)
        return Proposal(case, n)

    def _climbed_in_parts(self, start: Proposal, moves: int, number: int) -> _Parts:
        """Return the result of a climb as plain values and arrays, which travel between processes."""
        found = self._climbed(start, moves, number, None)
        law = found.case.distribution
        assert isinstance(found.case.concept, int)  # only cases of a class that is numbered are climbed from
        return (
            found.case.concept, found.case.name, found.n, law.points, law.probabilities, law.name, law.public
        )  # fmt: skip

    def _rate(self, case: HardCase, n: int) -> float:
        return self._mean(self._failure(case), n, "race", DRAWS)

    def _mean(self, failure: CaseFailure, n: int, samples: str, draws: int) -> float:
        """Return the failure rate by a short sum, or the mean over some samples."""
        exact = failure.exact(n, VECTORS)
        if exact is not None:
            return sum(exact) / 2
        return float(failure.draws(n, generator(self._seed, "n*", samples), draws).mean())

    def _changed(self, case: HardCase, rng: np.random.Generator) -> HardCase:
        """Return a case one random move away.

        Move a share of a point's mass to another point of the support; split it with a point outside; merge two points;
        bring a random rival's error to just above alpha by scaling the mass on which it errs; make another number of
        rivals bad, with the least error of all; level the masses of points that are alike; change the concept.
        """
        code = case.concept
        assert isinstance(code, int)  # as in `_climbed_in_parts`
        points = case.distribution.points
        weights = np.array(case.distribution.probabilities, dtype=np.float64)
        if rng.random() < 1 / 6:
            code = int(rng.integers(self._learner.concepts.size))
        else:
            kind = MOVES[int(rng.integers(len(MOVES)))]
            if kind == "snap":
                weights = self._snapped(code, points, weights, rng)
            elif kind == "rivals":
                points, weights = self._with_rivals(code, rng) or (points, weights)
            elif kind == "level":
                points, weights = self._levelled(code, points, weights, rng)
            else:
                points, weights = self._transferred(kind, points, weights, rng)
        # A point that is never drawn only costs time.
        return _case(code, points, weights, "found by climbing", 1e-6)

    def _transferred(
        self, kind: str, points: Points, weights: Floats, rng: np.random.Generator
    ) -> tuple[Points, Floats]:
        """Return the points and their masses after one point gave another a share of its mass, or all if they merge."""
        if kind == "split":
            fresh = self._points[int(rng.integers(len(self._points)))]
            source = int(rng.integers(len(weights)))
            same = (points == fresh).all(axis=1)
            target = len(weights)
            if same.any():
                target = int(np.argmax(same))
        else:
            source, target = rng.integers(len(weights), size=2).tolist()
        if target == len(weights):
            points = np.concatenate([points, fresh[None, :]])
            weights = np.append(weights, 0.0)
        share = 1.0 if kind == "merge" else rng.random()
        moved = weights[source] * share
        weights[source] -= moved
        weights[target] += moved
        return points, weights

    @cached_property
    def _labels(self) -> Labels | None:
        """The labels of all concepts, (concepts, points); None if there are too many."""
        concepts = self._learner.concepts
        if concepts.size * len(self._points) > MAX_LABELS:
            return None
        return concepts.evaluate(self._points)

    def _with_rivals(self, code: int, rng: np.random.Generator) -> tuple[Points, Floats] | None:
        """Return points and masses that make the nearest of the rivals just bad, any number of them equally likely.

        Numbers are equally likely on the logarithmic scale, and ties are broken at random. None if no masses do.
        """
        if self._labels is None:
            return None
        differing = np.unique(self._labels != self._labels[code], axis=0)
        differing = rng.permutation(differing[differing.any(axis=1)])
        if not len(differing) or differing.size > MAX_ENTRIES:
            return None
        bad = np.zeros(len(differing), dtype=bool)
        bad[np.argsort(differing.sum(axis=1), kind="stable")[: math.ceil(len(differing) ** rng.random())]] = True
        weights = solved(differing, bad, just_above(self._alpha))
        if weights is None:
            return None
        return self._points, weights

    def _levelled(self, code: int, points: Points, weights: Floats, rng: np.random.Generator) -> tuple[Points, Floats]:
        """Return the masses where points share equally what they have, that are alike: where as many rivals err.

        It is all points like a random one of the support, or those of the support alone.
        """
        if self._labels is None:
            return points, weights
        spread = np.zeros(len(self._points))
        for point, weight in zip(points, weights, strict=True):
            spread += np.where((self._points == point).all(axis=1), weight, 0.0)
        wrong = (self._labels != self._labels[code]).sum(axis=0)
        alike = wrong == wrong[rng.choice(np.flatnonzero(spread))]
        if rng.random() < 1 / 2:
            alike &= spread > 0
        return self._points, np.where(alike, spread[alike].mean(), spread)

    def _snapped(self, code: int, points: Points, weights: Floats, rng: np.random.Generator) -> Floats:
        """Return the masses at which the error of a random rival is just above alpha, if they can be scaled so."""
        concepts = self._learner.concepts
        rival = int(rng.integers(concepts.size))
        wrong = concepts.concept(rival).predict(points) != concepts.concept(code).predict(points)
        error = float(weights[wrong].sum())
        if not 0 < error < 1:
            return weights
        mass = just_above(self._alpha)
        return np.where(wrong, weights * (mass / error), weights * ((1 - mass) / (1 - error)))


def _hardest(candidates: Iterable[Proposal]) -> list[Proposal]:
    return sorted(candidates, key=lambda one: -one.n)


def _distinct(candidates: Iterable[Proposal]) -> list[Proposal]:
    kept: dict[Key, Proposal] = {}
    for one in candidates:
        kept.setdefault(one.case.key, one)
    return list(kept.values())
