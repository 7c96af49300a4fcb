"""The finding of a measurement of sample complexity: the worst case that was found, and its bracket."""

from __future__ import annotations

from typing import ClassVar

from dpaudit.contract import OF_UTILITY, Grade, Verdict
from dpaudit.record import Count, Frozen, Level, Probability, Size, Words
from dpaudit.results import AuditFinding
from dpaudit.utility.finding import Setting

__all__ = ["SampleComplexityFinding", "WorstCase"]


class WorstCase(Frozen, frozen=True, kw_only=True):
    """A case: a concept of the class and a distribution of the points.

    Attributes
    ----------
    concept : int or None
        The concept's code; None where the case is told in words alone, as a learner offers it for its domain's points
        without listing them.
    points : list of list of int
        The points of the distribution, a row each; none where the case is told in words alone.
    probabilities : list of float
        Their probabilities.
    noise : list of float
        In the setting "agnostic", how often the label of each point is wrong; else empty.
    name : str
        How it was found, in words.
    """

    concept: Count | None
    points: list[list[int]]
    probabilities: list[Probability]
    noise: list[Probability]
    name: Words


class SampleComplexityFinding(AuditFinding, kw_only=True, frozen=True, tag="sample-complexity"):
    """The measured sample complexity n* = 1 + sup{n : Pr[error > alpha] > beta} of a learner, on its worst case found.

    Attributes
    ----------
    verdict : {"holds", "violation", "undecided", "vacuous"}
        On the theorem: "violation" if the learner fails at an n for which the theorem promises that it does not,
        "holds" if on the worst case found no more than the theorem's n are needed.
    lower : int
        On the worst case the failure rate exceeds beta at so many examples, so n* is larger; 0 if that was shown for
        none.
    upper : int or None
        On the worst case the failure rate is at most beta at so many examples. This bounds n* from above for that case
        alone; None if it was shown for none.
    theorem : int
        The examples that the learner's theorem asks for.
    uniform, hard_cases : int or None
        About the n* that the uniform distribution, and the worst of the hard cases without any search, would have
        shown: estimates; None where there is no such case.
    worst : WorstCase
        The worst case found.
    alpha, beta : float
        The accuracy and the rate of failure.
    setting : str
        The error and the randomness; see `contract.UtilityClaim`.
    candidates : int
        How many cases competed at the end.
    confidence : float
        The probability that `lower` and `upper` are both right; 1 if they were computed exactly.
    seed : int
        The root seed.
    claim_id : str
        The theorem.
    grade : {"exact", "numeric", "statistical"}
        The kind of the evidence; "numeric" where the learner's own formula gave the failure rate.
    """

    kind: ClassVar[str] = "sample-complexity"
    verdicts: ClassVar[tuple[Verdict, ...]] = OF_UTILITY
    verdict: Verdict
    lower: Count
    upper: Size | None
    theorem: Size
    uniform: Size | None
    hard_cases: Size | None
    worst: WorstCase
    alpha: Level
    beta: Level
    setting: Setting
    candidates: Size
    confidence: Probability
    seed: Count
    claim_id: str
    grade: Grade
