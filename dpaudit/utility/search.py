"""The search for cases on which a learner needs the most examples: proposals are raced, the best are improved."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import FIXED_SETTINGS, ConceptClass, Distribution, Learner
from dpaudit.progress import Tell
from dpaudit.running.workers import spread
from dpaudit.seeding import generator
from dpaudit.utility.failure_rate import CaseFailure
from dpaudit.utility.hard_cases import HardCase, evaluated_points, hard_cases, just_above, just_bad

__all__ = ["RATIO", "Candidate", "Search", "estimated_size", "proposals"]

RATIO = 1.02
"""Sizes nearer to each other than this are not distinguished."""
DRAWS = 60
"""Samples on which a proposal is judged, the same random numbers for all."""
CHECKS = 150
"""Fresh samples on which the best are put in order."""
KEPT = 3
"""The number of the best that are put in order."""
WEAK = 0.7
"""A proposal that suffices at this share of the best size so far is left."""
MAX_LABELS = 2**20
"""Up to this many labels (concepts times points) of a class, rivals are made just bad."""
CONCEPTS = 8
"""Concepts whose rivals are made just bad."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Candidate:
    """A case and, roughly, the least n that suffices on it; selected, hence optimistic."""

    case: HardCase
    n: int


def proposals(learner: Learner, alpha: float, setting: str) -> Iterator[HardCase]:
    """Yield the hard cases of a learner and, without noise, cases in which many rivals are just bad."""
    yield from hard_cases(learner, alpha, setting)
    concepts, (points, _) = learner.concepts, evaluated_points(learner)
    if setting in ("agnostic", "solution") or concepts.size * len(points) > MAX_LABELS:
        return
    labels = concepts.evaluate(points)
    for code in dict.fromkeys(i * (concepts.size - 1) // (CONCEPTS - 1) for i in range(CONCEPTS)):
        for weights, name in just_bad(labels, code, just_above(alpha)):
            seen = weights > 0
            law = Distribution(points[seen], weights[seen] / weights[seen].sum(), name)
            yield HardCase(code, law, f"{name}; concept {code}")


def estimated_size(
    failure: CaseFailure, beta: float, cap: int, address: tuple[Any, ...], draws: int, least: int = 0
) -> int:
    """Return about the least n at which the mean failure rate of some samples is at most beta, at most `cap`.

    0 if that holds at the size `least` already, so that weak cases cost one look.
    """

    def fails(n: int) -> bool:
        return float(failure.draws(n, generator(*address), draws).mean()) > beta

    if least and not fails(least):
        return 0
    low, high = least, max(1, 2 * least)
    while fails(high):
        if high >= cap:
            return cap
        low, high = high, min(2 * high, cap)
    while high - low > max(1, math.floor((RATIO - 1) * high)):
        middle = (low + high) // 2
        low, high = (middle, high) if fails(middle) else (low, middle)
    return high


class Search:
    """The search for hard cases of a learner.

    Parameters
    ----------
    learner, alpha, beta, setting
        The problem.
    cap : int
        The largest n of interest.
    seed : int
        The root seed.
    """

    def __init__(self, learner: Learner, alpha: float, beta: float, setting: str, cap: int, seed: int) -> None:
        self._learner, self._alpha, self._beta, self._setting = learner, alpha, beta, setting
        self._cap, self._seed = cap, seed

    def best(self, starts: int, moves: int, tell: Tell | None, n_jobs: int = 1) -> list[Candidate]:
        """Return the best proposals, and what climbing from them, `n_jobs` at a time, found: the hardest first."""
        raced: list[Candidate] = []
        for case in proposals(self._learner, self._alpha, self._setting):
            record = max((one.n for one in raced), default=0)
            raced.append(self._raced(case, math.floor(WEAK * record)))
        raced = sorted(_distinct(raced), key=lambda candidate: -candidate.n)
        climbed = []
        if self._setting not in ("agnostic", *FIXED_SETTINGS):
            climbed = self._all_climbed(raced[:starts], moves, tell, n_jobs)
        leading = sorted([*raced[:starts], *climbed], key=lambda candidate: -candidate.n)
        checked = [Candidate(one.case, self.checked(one.case)) for one in _distinct(leading)[:KEPT]]
        return sorted(checked, key=lambda candidate: -candidate.n)

    def checked(self, case: HardCase, least: int = 0) -> int:
        """Return about the least n that suffices on a case, from samples that no search saw; 0 if `least` does."""
        address = (self._seed, "n*", "check")
        return estimated_size(self._failure(case), self._beta, self._cap, address, CHECKS, least)

    def largest(self, cases: Iterable[HardCase]) -> int | None:
        """Return about the least n that suffices on each of some cases; None if there are none."""
        found = 0
        for case in cases:
            found = max(found, self.checked(case, found))
        return found or None

    def _failure(self, case: HardCase) -> CaseFailure:
        return CaseFailure(self._learner, case, self._alpha, self._setting)

    def _raced(self, case: HardCase, least: int) -> Candidate:
        address = (self._seed, "n*", "race")
        return Candidate(case, estimated_size(self._failure(case), self._beta, self._cap, address, DRAWS, least))

    def _all_climbed(self, starts: list[Candidate], moves: int, tell: Tell | None, n_jobs: int) -> list[Candidate]:
        """Return what climbing from each start found. No climb looks at another, so their order is free."""
        if joblib.effective_n_jobs(n_jobs) == 1:
            return [self._climbed(start, moves, i, tell) for i, start in enumerate(starts)]
        calls = [partial(self._climbed, start, moves, i, None) for i, start in enumerate(starts)]
        found = []
        for candidate in spread(calls, n_jobs=n_jobs):
            found.append(candidate)
            if tell is not None:
                tell(moves)
        return found

    def _climbed(self, start: Candidate, moves: int, number: int, tell: Tell | None) -> Candidate:
        """Return the case that a walk of moves, each kept if it fails no less often, leads to; n grows on the way."""
        points, _ = evaluated_points(self._learner)
        change, rng = _Moves(self._learner.concepts, points, self._alpha), generator(self._seed, "n*", "climb", number)
        case, n = start.case, start.n
        rate = self._rate(case, n)
        for _ in range(moves):
            other = change.changed(case, rng)
            if (found := self._rate(other, n)) >= rate:
                case, rate = other, found
                while rate > self._beta and n < self._cap:
                    n = min(self._cap, max(n + 1, math.floor(n * RATIO)))
                    rate = self._rate(case, n)
            if tell is not None:
                tell(1)
        return Candidate(case, n)

    def _rate(self, case: HardCase, n: int) -> float:
        return float(self._failure(case).draws(n, generator(self._seed, "n*", "race"), DRAWS).mean())


def _distinct(candidates: list[Candidate]) -> list[Candidate]:
    """Return the candidates without repeats of a case."""
    kept: dict[Any, Candidate] = {}
    for one in candidates:
        law = one.case.distribution
        points = np.asarray(law.points).tolist()
        key = (one.case.concept_code, repr(points), law.probabilities.tobytes(), repr(one.case.noise))
        kept.setdefault(key, one)
    return list(kept.values())


class _Moves:
    """Random moves over the distributions on some points, and over the concepts.

    Move a share of a point's mass to another point of the support; split it with a point outside; merge two points;
    bring a random rival's error to just above alpha by scaling the mass on which it errs; change the concept.

    Parameters
    ----------
    concepts : ConceptClass
        The class.
    points : array, shape (m, k)
        Points that may have mass.
    alpha : float
        The accuracy.
    """

    def __init__(self, concepts: ConceptClass, points: NDArray[Any], alpha: float) -> None:
        self._concepts, self._points, self._mass = concepts, points, just_above(alpha)
        self._kinds = (self._shift, self._split, self._merge, self._snap, self._snap)

    def changed(self, case: HardCase, rng: np.random.Generator) -> HardCase:
        """Return a case one move away."""
        code, points = case.concept_code, case.distribution.points
        weights = np.array(case.distribution.probabilities, dtype=np.float64)
        if rng.random() < 1 / 6:
            code = int(rng.integers(self._concepts.size))
        else:
            points, weights = self._kinds[int(rng.integers(len(self._kinds)))](code, points, weights, rng)
        seen = weights > 1e-6  # a point that is never drawn only costs time
        law = Distribution(points[seen], weights[seen] / weights[seen].sum(), "found by climbing")
        return HardCase(code, law, f"found by climbing; concept {code}")

    def _shift(self, code: int, points: Any, weights: Floats, rng: np.random.Generator) -> tuple[Any, Floats]:
        source, target = rng.integers(len(weights), size=2)
        moved = weights[source] * rng.random()
        weights[source] -= moved
        weights[target] += moved
        return points, weights

    def _split(self, code: int, points: Any, weights: Floats, rng: np.random.Generator) -> tuple[Any, Floats]:
        fresh = self._points[int(rng.integers(len(self._points)))]
        source = int(rng.integers(len(weights)))
        moved = weights[source] * rng.random()
        weights[source] -= moved
        same = np.flatnonzero((points == fresh).all(axis=1))
        if len(same):
            weights[same[0]] += moved
            return points, weights
        return np.concatenate([points, fresh[None, :]]), np.append(weights, moved)

    def _merge(self, code: int, points: Any, weights: Floats, rng: np.random.Generator) -> tuple[Any, Floats]:
        source, target = rng.integers(len(weights), size=2)
        if source != target:
            weights[target] += weights[source]
            weights[source] = 0.0
        return points, weights

    def _snap(self, code: int, points: Any, weights: Floats, rng: np.random.Generator) -> tuple[Any, Floats]:
        rival = int(rng.integers(self._concepts.size))
        wrong = self._concepts.concept(rival).predict(points) != self._concepts.concept(code).predict(points)
        error = float(weights[wrong].sum())
        if 0 < error < 1:
            weights = np.where(wrong, weights * (self._mass / error), weights * ((1 - self._mass) / (1 - error)))
        return points, weights
