"""Private parity learners with one known leak each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Example
from learners.parity import ParityPrivate

__all__ = ["LEARNERS"]


@dataclass(frozen=True)
class NoCoin(ParityPrivate):
    """Broken control: the private parity learner without its initial coin."""

    id: ClassVar[str] = "broken-parity-no-coin"
    fault: ClassVar[str] = "never fails by the coin: failure proves that the sample is inconsistent"
    example: ClassVar[Example] = Example({"dimension": 2, "epsilon": 1.0}, n=4, beta=0.6)
    _coin: ClassVar[float] = 0.0


@dataclass(frozen=True)
class Oversampled(ParityPrivate):
    """Broken control: the private parity learner that keeps examples with probability epsilon."""

    id: ClassVar[str] = "broken-parity-oversampled"
    fault: ClassVar[str] = "keeps each example with probability epsilon instead of epsilon/4"
    example: ClassVar[Example] = Example({"dimension": 2, "epsilon": 0.5}, n=2, beta=0.6)

    @property
    def _keep(self) -> float:
        return min(1.0, self.epsilon)


@dataclass(frozen=True)
class FixedSolution(ParityPrivate):
    """Broken control: the private parity learner that returns the particular solution."""

    id: ClassVar[str] = "broken-parity-fixed-solution"
    fault: ClassVar[str] = "returns the particular solution instead of a random one: some parities show some examples"
    example: ClassVar[Example] = Example({"dimension": 2, "epsilon": 1.0}, n=2, beta=0.6)
    _uniform: ClassVar[bool] = False

    def symmetries(self) -> list[NDArray[np.int64]]:
        """Return no symmetry: the particular solution depends on the order of the variables."""
        return []


LEARNERS = (NoCoin, Oversampled, FixedSolution)
