"""Set Cover Learners with one known leak each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Example
from learners.covers.law import Floats
from learners.set_cover import SetCoverConjunction, SetCoverDisjunction, SetCoverLearner

__all__ = ["LEARNERS"]

SMALL = Example(
    {"dimension": 2, "k": 1, "epsilon": 0.5, "delta": 1e-6, "alpha": 0.49, "beta": 0.2}, n=2, alpha=0.99, beta=0.5
)
BARE = Example({**SMALL.parameters, "variant": "noiseless"}, n=2, alpha=0.99, beta=0.5)


class _Multiplied(SetCoverLearner):
    """eps_hat multiplied by what the claim divides by."""

    fault: ClassVar[str] = "eps_hat = 2 epsilon ln(e/delta) in each round: multiplied where it should be divided"

    @property
    def selection_epsilon(self) -> float:
        """eps_hat of a round."""
        return self.epsilon * 2 * (1 - math.log(self.delta))


class _Sparing(SetCoverLearner):
    """The non-private first step: strike out every literal that spoils an example."""

    fault: ClassVar[str] = "selects only literals that cover nothing of the other label: the support shows the sample"

    def _eligible(self, covered: Floats, spoiled: Floats) -> NDArray[np.bool_] | None:
        clean = spoiled == spoiled.min(axis=-1, keepdims=True)
        return np.asarray(clean)


class _Greedy(SetCoverLearner):
    """The classical greedy step: of the literals the ones that cover most."""

    fault: ClassVar[str] = "selects among the literals that cover most, as the greedy algorithm does: the support shows"

    def _eligible(self, covered: Floats, spoiled: Floats) -> NDArray[np.bool_] | None:
        return np.asarray(covered == covered.max(axis=-1, keepdims=True))


@dataclass(frozen=True)
class ConjunctionMultiplied(_Multiplied, SetCoverConjunction):
    """Broken control: the Set Cover Learner for conjunctions with eps_hat multiplied instead of divided."""

    id: ClassVar[str] = "broken-set-cover-conjunction-multiplied"
    example: ClassVar[Example] = SMALL


@dataclass(frozen=True)
class ConjunctionSparing(_Sparing, SetCoverConjunction):
    """Broken control: the Set Cover Learner for conjunctions on the literals consistent with the positives."""

    id: ClassVar[str] = "broken-set-cover-conjunction-sparing"
    example: ClassVar[Example] = BARE


@dataclass(frozen=True)
class ConjunctionGreedy(_Greedy, SetCoverConjunction):
    """Broken control: the greedy Set Cover Learner for conjunctions."""

    id: ClassVar[str] = "broken-set-cover-conjunction-greedy"
    example: ClassVar[Example] = BARE


@dataclass(frozen=True)
class DisjunctionMultiplied(_Multiplied, SetCoverDisjunction):
    """Broken control: the Set Cover Learner for disjunctions with eps_hat multiplied instead of divided."""

    id: ClassVar[str] = "broken-set-cover-disjunction-multiplied"
    example: ClassVar[Example] = SMALL


@dataclass(frozen=True)
class DisjunctionSparing(_Sparing, SetCoverDisjunction):
    """Broken control: the Set Cover Learner for disjunctions on the literals consistent with the negatives."""

    id: ClassVar[str] = "broken-set-cover-disjunction-sparing"
    example: ClassVar[Example] = BARE


@dataclass(frozen=True)
class DisjunctionGreedy(_Greedy, SetCoverDisjunction):
    """Broken control: the greedy Set Cover Learner for disjunctions."""

    id: ClassVar[str] = "broken-set-cover-disjunction-greedy"
    example: ClassVar[Example] = BARE


LEARNERS = (
    ConjunctionMultiplied,
    ConjunctionSparing,
    ConjunctionGreedy,
    DisjunctionMultiplied,
    DisjunctionSparing,
    DisjunctionGreedy,
)
