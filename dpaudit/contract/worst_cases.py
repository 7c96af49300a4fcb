"""The worst case of a learner: a bound on its failure rate over all concepts of its class and all distributions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, runtime_checkable

from dpaudit.contract.samples import Distribution
from dpaudit.errors import InputError

__all__ = ["CaseFamily", "HasWorstCase", "HasWorstTargets", "WorstFailure"]


class CaseFamily(StrEnum):
    """The families of learners whose worst case is bounded by a proof; docs/research/results.md has the proofs."""

    FINITE_CLASS = "finite class"
    POINTS = "points"
    THRESHOLDS = "thresholds"
    PARITIES = "parities"
    INTERIOR_POINTS = "interior points"
    COVERS = "covers"
    SELECTIONS = "selections"
    OUTPUTS = "outputs"
    LITERALS = "literals"
    FACES = "faces"
    THRESHOLD_CALLS = "threshold calls"
    SUBSAMPLES = "subsamples"


@dataclass(frozen=True)
class WorstFailure:
    """Two ends of the supremum, over concepts and distributions, of a learner's failure rate at some n.

    Both ends are computed in floating point, and serve to find the sizes that a certificate states;
    `dpaudit.utility.size_certificates` recomputes those in decimal arithmetic that rounds outwards, from `family` and
    `numbers`.

    Parameters
    ----------
    lower : float
        The failure rate of the case below, or less; 0 where no case is offered.
    upper : float
        What no case exceeds. It must not increase with n.
    family : CaseFamily
        The proof that covers all cases.
    numbers : mapping
        What the proof needs to know of the learner: numbers, by their names in `dpaudit.utility.size_certificates`.
    proof : str
        The reason why no case exceeds `upper`.
    missing : str
        The step that is missing between both ends; empty if they agree in the limit.
    concept : int or None
        The code of the case's concept; None if `case` alone describes it.
    points : tuple of tuple of int
        The case's points.
    probabilities : tuple of float
        Their probabilities.
    case : str
        A description of the case.
    """

    lower: float
    upper: float
    family: CaseFamily
    numbers: Mapping[str, float]
    proof: str
    missing: str = ""
    concept: int | None = None
    points: tuple[tuple[int, ...], ...] = ()
    probabilities: tuple[float, ...] = ()
    case: str = ""

    def __post_init__(self) -> None:
        # Not NaN either, which is in no interval.
        if not 0 <= self.lower <= 1 or not 0 <= self.upper <= 1:
            raise InputError(f"lower and upper must be in [0, 1], got {self.lower!r} and {self.upper!r}")


@runtime_checkable
class HasWorstCase(Protocol):
    """A bound on the failure rate that covers every concept and every distribution: n* is then bounded from above."""

    def worst_failure(self, alpha: float, n: int) -> WorstFailure:
        """Return both ends of the supremum of Pr[error > alpha] on n examples, in the theorem's own setting.

        Raises
        ------
        InputError
            If nothing is proved at the learner's parameters or this alpha.
        """


@runtime_checkable
class HasWorstTargets(Protocol):
    """Cases on which the learner is believed to need the most examples, for a search of its sample complexity.

    Unlike `contract.HasHardTargets` they are not audited at the theorem's n, where few of them fail.
    """

    def worst_targets(self, alpha: float) -> Sequence[tuple[int, Distribution, str]]:
        """Return (code of the concept, distribution of the points, name) of each case, for accuracy alpha."""
