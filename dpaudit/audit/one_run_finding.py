"""The finding of an audit in one run of a training with many canaries."""

from __future__ import annotations

from typing import ClassVar, Literal

from msgspec import UNSET, UnsetType

from dpaudit.contract import OF_PRIVACY, CurveClaim, Grade, PrivacyVerdict, Relation
from dpaudit.errors import InputError
from dpaudit.record import Amount, Count, Frozen, Level, NonNegative, Probability, Size, Words
from dpaudit.results import AuditFinding

# The order of guesses; see `OneRunFinding.ranking`.
RankingName = Literal["two-sided", "in"]


class FewCanaries(Frozen, frozen=True, tag="few canaries", tag_field="kind"):
    """Not even all guesses right would have refuted the claim.

    Attributes
    ----------
    canaries : int
        Canaries of all runs together.
    least : int or None
        About the least number that could, or None if delta times the canaries is too large for any number.
    """

    canaries: Size
    least: Size | None


class EqualScores(Frozen, frozen=True, tag="equal scores", tag_field="kind"):
    """So many canaries have equal scores that their order is that of a shuffle.

    Attributes
    ----------
    equal, canaries : int
        Canaries whose score another of the same run has, and all of them.
    """

    equal: Size
    canaries: Size


class IgnoredCanaries(Frozen, frozen=True, tag="ignored canaries", tag_field="kind"):
    """The scores were the same for a training with the other canaries in: they do not depend on the coins."""


OneRunGap = FewCanaries | EqualScores | IgnoredCanaries


class Guesses(Frozen, frozen=True):
    """One number of guesses: those of so many of the surest canaries.

    Attributes
    ----------
    guesses : int
        The number, of a schedule that is fixed by the number of canaries and the claim.
    right : int
        How many of them were right.
    critical : int
        So many right ones refute the claim; one more than all where none do.
    """

    guesses: Size
    right: Count
    critical: Count


class IfGaussian(Frozen, frozen=True, kw_only=True):
    """Bounds from the right guesses that rest on assumptions; no verdict rests on them.

    Attributes
    ----------
    recursion_mu, independent_mu : float
        Lower bounds on mu if the training is mu-Gaussian private: by the recursion of Mahloujifar, Melis and Chaudhuri,
        and, which is larger, if the canaries do not influence each other's scores either.
    recursion_epsilon, independent_epsilon : float or None
        Epsilon of that Gaussian privacy at the claim's delta, or None if delta is 0.
    """

    recursion_mu: Amount
    independent_mu: Amount
    recursion_epsilon: Amount | None = None
    independent_epsilon: Amount | None = None


class OneRunFinding(AuditFinding, kw_only=True, frozen=True, tag="one run"):
    """The finding of `audit_scores` or `audit_one_run`: an audit in one run of a training, or a few.

    `epsilon_lower` is a lower confidence bound on epsilon at the claim's delta, at level `confidence`, whatever the
    training is. It asks for fair coins that scores were made without knowledge of, and nothing of the canaries.

    Attributes
    ----------
    verdict : {"violation", "consistent", "no evidence"}
        "violation" if `p_value` is at most 1 - confidence; else "consistent", or "no evidence" where there are `gaps`.
    epsilon, delta : float
        The claim; of a claim that is a curve the point of it with the least p-value.
    epsilon_lower : float
        The bound; 0 where nothing was found. Of a claim that is a curve, at the point's delta.
    p_value : float
        Of the claim, over all numbers of guesses together.
    detectable_epsilon : float
        The least epsilon of independent randomised responses, one for each canary, that would have been detected with
        probability 0.95; infinite if none would, and where the verdict is "no evidence".
    confidence : float
        Of the verdict and of each bound.
    canaries, runs, included : int
        Canaries of a run, runs, and the canaries that were in, of all runs together.
    ranking : {"two-sided", "in"}
        The order of the guesses: by the distance of a score from the mean of the quartiles of its run, above which a
        canary is guessed to be in and below it out; or by the score, and all are guessed to be in.
    schedule : tuple of Guesses
        The numbers of guesses, with the right ones among so many of the surest.
    decided_by : int
        The place in the schedule, from 0, with the least p-value.
    relation : Relation
        What a coin decides: that an example is there or not, or which of two it is.
    tied : int
        Canaries whose score another of the same run has; a shuffle that does not know the coins orders them.
    seal : str
        The digest of the coins, made before the training; empty if they were not sealed.
    seed : int or None
        The seed that was chosen for the coins, or None if there was none or it is not known.
    gaps : tuple of OneRunGap
        Why the audit could not have seen that the claim fails; empty if it could.
    grade : {"statistical"}
        The kind of the evidence.
    if_gaussian : IfGaussian or None
        What the guesses would show under assumptions.
    curve_claim : CurveClaim
        The claim that is a curve; left out if it is (epsilon, delta)-privacy.
    mu_lower : float or None
        The bound on mu of a claim of Gaussian privacy; it asks for no assumption on the canaries.
    detectable_mu : float or None
        The least mu of independent Gaussian scores that would have been detected with probability 0.95, of a claim of
        Gaussian privacy; infinite if none would, and where the verdict is "no evidence".
    checked : bool
        Whether a further training, with the other canaries and an equal generator, was compared with the first one.
        Findings of an earlier version lack it.
    reversed : bool
        Whether scores are smaller for canaries that are in. Guesses are then turned around, and the schedule, bounds
        and power are those of these guesses, which have a tenth of the error. Findings of an earlier version, in which
        the guesses as given have all of it, lack it.
    warnings : tuple of str
        What is unlikely of fair coins in the order of those that were given.
    """

    verdicts: ClassVar[tuple[PrivacyVerdict, ...]] = OF_PRIVACY
    verdict: PrivacyVerdict
    epsilon: Amount
    delta: Probability
    epsilon_lower: NonNegative
    p_value: Probability
    detectable_epsilon: NonNegative
    confidence: Level
    canaries: Size
    runs: Size
    included: Count
    ranking: RankingName
    schedule: tuple[Guesses, ...]
    decided_by: Count
    relation: Relation
    tied: Count = 0
    seal: str = ""
    seed: Count | None = None
    gaps: tuple[OneRunGap, ...] = ()
    grade: Grade = Grade.STATISTICAL
    if_gaussian: IfGaussian | None = None
    curve_claim: CurveClaim | UnsetType = UNSET
    mu_lower: Amount | None = None
    detectable_mu: NonNegative | None = None
    checked: bool | UnsetType = UNSET
    reversed: bool | UnsetType = UNSET
    warnings: tuple[Words, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.verdict != PrivacyVerdict.VIOLATION and (self.verdict == PrivacyVerdict.NO_EVIDENCE) != bool(self.gaps):
            raise InputError("the verdict is 'no evidence' where there are gaps and no violation, and only there")
        if self.decided_by >= len(self.schedule):
            raise InputError.of("decided_by", self.decided_by, "a place in the schedule")

    @property
    def curve(self) -> CurveClaim | None:
        """The claim that is a curve, or None if the claim is (epsilon, delta)-privacy."""
        if self.curve_claim is UNSET:
            return None
        return self.curve_claim

    @property
    def best(self) -> Guesses:
        """The number of guesses with the least p-value."""
        return self.schedule[self.decided_by]
