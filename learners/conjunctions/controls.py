"""Conjunctions and disjunctions selected at once, or literal by literal, with one known leak each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit.contract import Instance
from learners.arrays import Bools, Integers
from learners.conjunctions.exponential import ConjunctionExponential
from learners.conjunctions.greedy import ConjunctionGreedy
from learners.conjunctions.set_cover import SetCoverConjunction, SetCoverDisjunction
from learners.covers.faults import cover_controls
from learners.finite.faults import exponential_controls

__all__ = ["LEARNERS"]

SMALL = Instance(
    {"dimension": 2, "k": 1, "epsilon": 0.5, "delta": 1e-6, "alpha": 0.49, "beta": 0.2}, n=2, alpha=0.99, beta=0.5
)

EXPONENTIAL = (
    ConjunctionExponentialDoubled,
    ConjunctionExponentialSupport,
    ConjunctionExponentialShortcut,
    ConjunctionExponentialFrozen,
) = exponential_controls(
    __name__,
    ConjunctionExponential,
    "conjunction-exponential",
    "conjunctions",
    Instance({"dimension": 2, "k": 2, "epsilon": 1.0}, n=2),
    frozen=True,
)
CONJUNCTIONS = (SetCoverConjunctionMultiplied, SetCoverConjunctionSparing, SetCoverConjunctionGreedy) = cover_controls(
    __name__, SetCoverConjunction, "set-cover conjunctions", "literals", SMALL
)
DISJUNCTIONS = (SetCoverDisjunctionMultiplied, SetCoverDisjunctionSparing, SetCoverDisjunctionGreedy) = cover_controls(
    __name__, SetCoverDisjunction, "set-cover disjunctions", "literals", SMALL
)


@dataclass(frozen=True)
class GreedyUndivided(ConjunctionGreedy):
    """Broken control: greedy conjunctions, each round spending the whole budget."""

    id: ClassVar[str] = "broken-conjunction-greedy-undivided"
    fault: ClassVar[str] = "every round spends the whole epsilon: the budget is not divided over the rounds"
    instance: ClassVar[Instance] = Instance({"dimension": 2, "k": 1, "epsilon": 1.0}, n=5)

    def share(self, rounds: int) -> float:
        """Return epsilon, whatever the number of rounds."""
        return self.epsilon


@dataclass(frozen=True)
class GreedySupport(ConjunctionGreedy):
    """Broken control: greedy conjunctions over a data-dependent range."""

    id: ClassVar[str] = "broken-conjunction-greedy-support"
    fault: ClassVar[str] = "chooses only literals that have a score of 0 or more, if there are any: the support shows"

    def _eligible(self, scores: Integers) -> Bools:
        good = scores >= 0
        return np.asarray(good | ~good.any(axis=-1, keepdims=True), dtype=np.bool_)


@dataclass(frozen=True)
class GreedyNoiseless(ConjunctionGreedy):
    """Broken control: greedy conjunctions that take a literal of the greatest score."""

    id: ClassVar[str] = "broken-conjunction-greedy-noiseless"
    fault: ClassVar[str] = "takes a literal of the greatest score in every round, at random among equals only"

    def _eligible(self, scores: Integers) -> Bools:
        return np.asarray(scores == scores.max(axis=-1, keepdims=True), dtype=np.bool_)


@dataclass(frozen=True)
class GreedyEager(ConjunctionGreedy):
    """Broken control: greedy conjunctions without noise where the sample is easy."""

    id: ClassVar[str] = "broken-conjunction-greedy-eager"
    fault: ClassVar[str] = "takes only literals of the greatest score once some literal has a score of 0 or more"

    def _eligible(self, scores: Integers) -> Bools:
        top = scores.max(axis=-1, keepdims=True)
        return np.asarray((scores == top) | (top < 0), dtype=np.bool_)


LEARNERS = (
    *EXPONENTIAL,
    GreedyUndivided,
    GreedySupport,
    GreedyNoiseless,
    GreedyEager,
    *CONJUNCTIONS,
    *DISJUNCTIONS,
)
