"""Conjunctions chosen by exponential mechanisms, at once or one literal at a time, with one known leak each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Instance
from learners.conjunctions.exponential import ConjunctionExponential
from learners.conjunctions.greedy import ConjunctionGreedy
from learners.finite.faults import Doubled, Frozen, Shortcut, Support

__all__ = ["LEARNERS"]


@dataclass(frozen=True)
class ExponentialDoubled(Doubled, ConjunctionExponential):
    """Broken control: conjunctions by the exponential mechanism at twice the rate."""

    id: ClassVar[str] = "broken-conjunction-exponential-doubled"


@dataclass(frozen=True)
class ExponentialSupport(Support, ConjunctionExponential):
    """Broken control: conjunctions by the exponential mechanism over a data-dependent range."""

    id: ClassVar[str] = "broken-conjunction-exponential-support"
    instance: ClassVar[Instance] = Instance({"dimension": 2, "k": 2, "epsilon": 1.0}, n=2)


@dataclass(frozen=True)
class ExponentialShortcut(Shortcut, ConjunctionExponential):
    """Broken control: conjunctions by the exponential mechanism, but consistent ones first."""

    id: ClassVar[str] = "broken-conjunction-exponential-shortcut"


@dataclass(frozen=True)
class ExponentialFrozen(Frozen, ConjunctionExponential):
    """Broken control: conjunctions by the exponential mechanism with noise drawn once and for all."""

    id: ClassVar[str] = "broken-conjunction-exponential-frozen"


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

    def _eligible(self, scores: NDArray[np.int64]) -> NDArray[np.bool_]:
        good = scores >= 0
        return np.asarray(good | ~good.any(axis=-1, keepdims=True), dtype=np.bool_)


@dataclass(frozen=True)
class GreedyNoiseless(ConjunctionGreedy):
    """Broken control: greedy conjunctions that take a literal of the greatest score."""

    id: ClassVar[str] = "broken-conjunction-greedy-noiseless"
    fault: ClassVar[str] = "takes a literal of the greatest score in every round, at random among equals only"

    def _eligible(self, scores: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.asarray(scores == scores.max(axis=-1, keepdims=True), dtype=np.bool_)


@dataclass(frozen=True)
class GreedyEager(ConjunctionGreedy):
    """Broken control: greedy conjunctions without noise where the sample is easy."""

    id: ClassVar[str] = "broken-conjunction-greedy-eager"
    fault: ClassVar[str] = "takes only literals of the greatest score once some literal has a score of 0 or more"

    def _eligible(self, scores: NDArray[np.int64]) -> NDArray[np.bool_]:
        top = scores.max(axis=-1, keepdims=True)
        return np.asarray((scores == top) | (top < 0), dtype=np.bool_)


LEARNERS = (
    ExponentialDoubled,
    ExponentialSupport,
    ExponentialShortcut,
    ExponentialFrozen,
    GreedyUndivided,
    GreedySupport,
    GreedyNoiseless,
    GreedyEager,
)
