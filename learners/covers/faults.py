"""The leaks of Set Cover Learners, whatever they cover with."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from learners.covers.accounting import CoverAccounting

__all__ = ["Greedy", "Multiplied", "Sparing"]

Floats = NDArray[np.float64]


class Multiplied(CoverAccounting):
    """eps_hat multiplied by what the claim divides by."""

    fault: ClassVar[str] = "eps_hat = 2 epsilon ln(e/delta) in each round: multiplied where it should be divided"

    @property
    def selection_epsilon(self) -> float:
        """eps_hat of a round."""
        return self.epsilon * 2 * (1 - math.log(self.delta))


class Sparing:
    """The non-private first step: strike out every hypothesis that spoils more than it must."""

    fault: ClassVar[str] = "selects only what spoils as little of the other label as possible: the support shows it"

    def _eligible(self, covered: Floats, spoiled: Floats) -> NDArray[np.bool_] | None:
        return np.asarray(spoiled == spoiled.min(axis=-1, keepdims=True))


class Greedy:
    """The classical greedy step: of the hypotheses the ones that cover most."""

    fault: ClassVar[str] = "selects among what covers most, as the greedy algorithm does: the support shows"

    def _eligible(self, covered: Floats, spoiled: Floats) -> NDArray[np.bool_] | None:
        return np.asarray(covered == covered.max(axis=-1, keepdims=True))
