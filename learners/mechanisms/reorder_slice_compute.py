"""Reorder, slice, compute: private calls on slices that are cut off one after the other, each by its own order."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from dpaudit.contract import InputError
from learners.mechanisms.composition import Cost, basic

__all__ = ["ReorderSliceCompute"]

Item = TypeVar("Item")


@dataclass(frozen=True)
class ReorderSliceCompute:
    """Cut off the first m + G elements in a given order, with Pr[G = g] = (1 - a) a^g, a = e^-epsilon0, g >= 0.

    A round (m, order, A) removes the slice from the data and releases A(slice). An order maps a multiset to a list such
    that removing an element removes it from the list. Round by round everything may depend on what was released, on
    nothing else. Each slice is used by one call that is epsilon_i-private under adding or removing one element.

    Privacy (`cost`), whatever the number of rounds. Let D+ = D and one element x, and p_t the rank of x in round t if
    it is still there. Pair a run on D+ in which x is caught in round t (noisy size s_t >= p_t) with the run on D with
    s_t - 1 there and the same noise before and after: the slices differ by x in this round and by nothing else, and
    what remains is equal.

    - From D to D+: pair s_t >= p_t on D with s_t + 1; every run on D+ is used at most once, and the shift costs
      e^epsilon0: P(T) <= e^(epsilon0 + epsilon_max) P+(T).
    - From D+ to D: the shift costs e^-epsilon0, but a run on D is used once more for each round with s_t = p_t - 1, in
      which x is nearly caught. Given s_t >= p_t - 1 that has probability 1 - a, else x is caught, so the number C of
      such rounds is at least j with probability at most (1 - a)^j. Hence P+(T) <= e^epsilon_max E[(1 + a C) 1_T], and
      for any J >= 0 this is at most e^epsilon_max (1 + a J) P(T) + e^epsilon_max (1 - a)^(J + 1).

    Replacement is a removal and an addition: epsilon0 + 2 epsilon_max + ln(1 + a J) and e^epsilon_max (1 - a)^(J + 1).
    J is taken as small as delta allows. It is at least ln 2 for J >= 1, so for few rounds basic composition (2
    epsilon_i each under replacement) is better, and `cost` returns the better.

    Parameters
    ----------
    epsilon0 : Fraction
        Of the slices' sizes, > 0.

    Notes
    -----
    The mechanism is that of Cohen, Lyu, Nelson, Sarlos, Stemmer (2023), who prove O(epsilon0 log(1/delta)) for small
    epsilon0; pairing and constants are our own.
    """

    epsilon0: Fraction

    def __post_init__(self) -> None:
        if not self.epsilon0 > 0:
            raise InputError(f"epsilon0 must be > 0, got {self.epsilon0!r}")

    def cut(
        self, items: Sequence[Item], size: int, order: Callable[[Item], Any], rng: np.random.Generator
    ) -> tuple[list[Item], list[Item]]:
        """Return the slice (the first `size` + G items by the key `order`) and the rest."""
        ranked = sorted(items, key=order)
        # numpy's geometric law starts at 1.
        end = size + int(rng.geometric(-math.expm1(-float(self.epsilon0)))) - 1
        return ranked[:end], ranked[end:]

    def cost(self, calls: Sequence[Cost], delta: float | Fraction) -> Cost:
        """Return a guarantee under replacement for pure calls (costs under adding or removing), one on each slice.

        Parameters
        ----------
        calls : sequence of Cost
            One for each round, with delta 0.
        delta : float or Fraction
            The most that the guarantee's delta may be, in (0, 1).
        """
        if any(c.delta for c in calls) or not calls:
            raise InputError(f"calls must be at least one, each with delta 0, got {list(calls)!r}")
        if not 0 < delta < 1:
            raise InputError(f"delta must be in (0, 1), got {delta!r}")
        plain = basic([c.for_group(2) for c in calls])
        coupled = self._coupled(max(c.epsilon for c in calls), float(delta))
        return coupled if coupled.epsilon < plain.epsilon else plain

    def _coupled(self, epsilon_max: Fraction, delta: float) -> Cost:
        """Return the guarantee that does not depend on the number of rounds."""
        a = math.exp(-float(self.epsilon0))
        repeats = max(0, math.ceil((math.log(delta) - float(epsilon_max)) / math.log1p(-a)) - 1)
        factor = math.log1p(a * repeats) * (1 + 1e-12)
        spent = math.exp(float(epsilon_max)) * (1 - a) ** (repeats + 1) * (1 + 1e-12)
        return Cost(self.epsilon0 + 2 * epsilon_max + Fraction(factor), Fraction(spent), "reorder-slice-compute")
