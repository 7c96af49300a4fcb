"""The closed form of a learner's greatest privacy loss over samples of every size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dpaudit.contract.pairs import Pair
from dpaudit.errors import InputError

__all__ = ["Supremum"]


@dataclass(frozen=True)
class Supremum:
    """The supremum over all pairs of neighbours, of every size, of the greatest log-ratio of an output, with its proof.

    Parameters
    ----------
    value : float
        sup over (S, S') and outputs o of ln Pr[A(S) = o] / Pr[A(S') = o].
    proof : str
        Why no pair exceeds it, and why the pairs of `ray` reach it; or where that is proved.
    ray : callable
        The pair of neighbours number t = 1, 2, ...: its loss tends to `value` as t grows. It is the same pair for
        every t where the supremum is attained.
    """

    value: float
    proof: str
    ray: Callable[[int], Pair]

    def __post_init__(self) -> None:
        if not self.value >= 0:
            raise InputError.of("value", self.value, "a number >= 0")
