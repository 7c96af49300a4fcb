"""Lower confidence bounds on epsilon from one event fixed in advance: what all of them offer.

An event was hit x times in n1 runs on the side where it is likelier (probability p) and y times in n2 runs on the other
(probability q), all independent. The hypothesis is H0(epsilon, delta): p <= exp(epsilon) q + delta.

| name | what it is | when |
|---|---|---|
| melded | joint limits, one integral | the default; validity checked by exact enumeration |
| unconditional | Buehler's bound, certified supremum | proved, slow; up to 1e6 runs a side |
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpaudit.bounds.counts import MAX_RUNS, Counts, check_level

__all__ = ["Bound"]

Array = NDArray[np.float64]


class Bound(ABC):
    """A valid one-sided bound for one event fixed in advance.

    Counts broadcast against each other; results have their shape. Results err to the safe side: p-values upwards, lower
    bounds downwards. Bounds are never negative, never infinite, and 0 where there is no signal or its sign is wrong.

    Attributes
    ----------
    name : str
        The name by which results call the bound.
    max_epsilon : float
        No larger epsilon is tested.
    max_runs : int
        The most runs a side.
    """

    name: ClassVar[str]
    max_epsilon: ClassVar[float] = 700.0
    max_runs: ClassVar[int] = MAX_RUNS

    def p_value(
        self,
        x: ArrayLike,
        n1: ArrayLike,
        y: ArrayLike,
        n2: ArrayLike,
        *,
        epsilon: ArrayLike,
        delta: ArrayLike = 0.0,
        gamma: float | None = None,
    ) -> Array:
        """Return p-values of H0(epsilon, delta), which a test at level gamma rejects where they are <= gamma.

        `gamma` says with what level they will be compared; only bounds that are tuned to a level use it.

        Raises
        ------
        InputError
            For bad counts or parameters.
        """
        c = Counts.of(x, n1, y, n2, self.max_runs)
        level = None if gamma is None else check_level(gamma)
        ratio = np.exp(c.spread("epsilon", epsilon, 0, self.max_epsilon))
        return c.shaped(self._p_values(c, ratio, c.spread("delta", delta, 0, 1), level))

    def epsilon_lower(
        self, x: ArrayLike, n1: ArrayLike, y: ArrayLike, n2: ArrayLike, *, delta: ArrayLike = 0.0, gamma: float
    ) -> Array:
        """Return inf{epsilon : p_value > gamma}, which exceeds ln((p - delta) / q) with probability at most gamma.

        Raises
        ------
        InputError
            For bad counts or parameters.
        """
        c, level = Counts.of(x, n1, y, n2, self.max_runs), check_level(gamma)
        return c.shaped(self._epsilons(c, c.spread("delta", delta, 0, 1), level))

    @abstractmethod
    def _p_values(self, c: Counts, ratio: Array, delta: Array, gamma: float | None) -> Array:
        """Return one p-value an event, with ratio = exp(epsilon)."""

    @abstractmethod
    def _epsilons(self, c: Counts, delta: Array, gamma: float) -> Array:
        """Return one lower bound an event."""
