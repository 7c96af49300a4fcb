"""Lower confidence bounds on epsilon from one event fixed in advance: the interface and the choice.

An event was hit x times in n1 runs on the side where it is likelier (probability p) and y times in n2 runs on the other
(probability q), all independent. The hypothesis is H0(epsilon, delta): p <= exp(epsilon) q + delta.

| name | what it is | when |
|---|---|---|
| melded | joint limits, one integral | the default; validity checked by exact enumeration |
| unconditional | Buehler's bound, certified supremum | strict mode; proved; up to 1e6 runs a side |
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpaudit.bounds.melded import Melded
from dpaudit.bounds.unconditional import Unconditional
from dpaudit.errors import InputError

__all__ = ["BOUNDS", "Bound", "Melded", "Unconditional", "get_bound"]


class Bound(Protocol):
    """A valid one-sided bound for one event fixed in advance.

    Counts broadcast against each other; results have their shape. Results err to the safe side: p-values upwards, lower
    bounds downwards. Bounds are never negative, never infinite, and 0 where there is no signal or its sign is wrong.
    Bad counts or parameters raise `InputError`.
    """

    @property
    def name(self) -> str:
        """What results call the bound."""

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
    ) -> NDArray[np.float64]:
        """Return p-values of H0(epsilon, delta), which a test at level gamma rejects where they are <= gamma.

        `gamma` says with what level they will be compared; only bounds that are tuned to a level use it.
        """

    def epsilon_lower(
        self, x: ArrayLike, n1: ArrayLike, y: ArrayLike, n2: ArrayLike, *, delta: ArrayLike = 0.0, gamma: float
    ) -> NDArray[np.float64]:
        """Return inf{epsilon : p_value > gamma}, which exceeds ln((p - delta) / q) with probability at most gamma."""

    def delta_lower(
        self, x: ArrayLike, n1: ArrayLike, y: ArrayLike, n2: ArrayLike, *, epsilon: ArrayLike, gamma: float
    ) -> NDArray[np.float64]:
        """Return bounds that exceed max(p - exp(epsilon) q, 0) with probability at most gamma."""


BOUNDS: dict[str, type[Melded | Unconditional]] = {kind.name: kind for kind in (Melded, Unconditional)}


def get_bound(choice: Bound | str | bool = False) -> Bound:
    """Return a bound by name; True for the strict one, False for the default, a bound itself as it is.

    The choice must not depend on the counts that the bound is then given.
    """
    if isinstance(choice, bool):
        return Unconditional() if choice else Melded()
    if not isinstance(choice, str):
        return choice
    if choice not in BOUNDS:
        raise InputError.among("bound", choice, BOUNDS)
    return BOUNDS[choice]()
