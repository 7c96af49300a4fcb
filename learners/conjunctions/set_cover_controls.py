"""Set Cover Learners with one known leak each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dpaudit.contract import Instance
from learners.conjunctions.set_cover import SetCoverConjunction, SetCoverDisjunction
from learners.covers.faults import Greedy, Multiplied, Sparing

__all__ = ["LEARNERS"]

SMALL = Instance(
    {"dimension": 2, "k": 1, "epsilon": 0.5, "delta": 1e-6, "alpha": 0.49, "beta": 0.2}, n=2, alpha=0.99, beta=0.5
)
BARE = Instance({**SMALL.parameters, "variant": "noiseless"}, n=2, alpha=0.99, beta=0.5)


@dataclass(frozen=True)
class ConjunctionMultiplied(Multiplied, SetCoverConjunction):
    """Broken control: the Set Cover Learner for conjunctions with eps_hat multiplied instead of divided."""

    id: ClassVar[str] = "broken-set-cover-conjunction-multiplied"
    instance: ClassVar[Instance] = SMALL


@dataclass(frozen=True)
class ConjunctionSparing(Sparing, SetCoverConjunction):
    """Broken control: the Set Cover Learner for conjunctions on the literals consistent with the positives."""

    id: ClassVar[str] = "broken-set-cover-conjunction-sparing"
    instance: ClassVar[Instance] = BARE


@dataclass(frozen=True)
class ConjunctionGreedy(Greedy, SetCoverConjunction):
    """Broken control: the greedy Set Cover Learner for conjunctions."""

    id: ClassVar[str] = "broken-set-cover-conjunction-greedy"
    instance: ClassVar[Instance] = BARE


@dataclass(frozen=True)
class DisjunctionMultiplied(Multiplied, SetCoverDisjunction):
    """Broken control: the Set Cover Learner for disjunctions with eps_hat multiplied instead of divided."""

    id: ClassVar[str] = "broken-set-cover-disjunction-multiplied"
    instance: ClassVar[Instance] = SMALL


@dataclass(frozen=True)
class DisjunctionSparing(Sparing, SetCoverDisjunction):
    """Broken control: the Set Cover Learner for disjunctions on the literals consistent with the negatives."""

    id: ClassVar[str] = "broken-set-cover-disjunction-sparing"
    instance: ClassVar[Instance] = BARE


@dataclass(frozen=True)
class DisjunctionGreedy(Greedy, SetCoverDisjunction):
    """Broken control: the greedy Set Cover Learner for disjunctions."""

    id: ClassVar[str] = "broken-set-cover-disjunction-greedy"
    instance: ClassVar[Instance] = BARE


LEARNERS = (
    ConjunctionMultiplied,
    ConjunctionSparing,
    ConjunctionGreedy,
    DisjunctionMultiplied,
    DisjunctionSparing,
    DisjunctionGreedy,
)
