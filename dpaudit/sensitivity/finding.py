"""The finding of an audit of a sensitivity: the greatest distance that neighbouring inputs moved an output."""

from __future__ import annotations

from typing import ClassVar, Literal

from dpaudit.contract import OF_SENSITIVITY, Grade, Origin, Pair, PrivacyVerdict, Relation
from dpaudit.neighbours.pair_words import words_of
from dpaudit.record import Amount, Count, Frozen, NonNegative, Probability, Size, Words
from dpaudit.results import AuditFinding

MetricName = Literal["absolute", "l1", "l2", "linf", "hamming", "symmetric"]


class Moved(Frozen, frozen=True):
    """The pair on which an output moved farthest.

    Attributes
    ----------
    origin : Origin
        How the pair was made.
    data, neighbour : str
        Descriptions of the inputs; of people's data their recipes.
    outputs : tuple of str or None
        The outputs on both; None if they may not be shown.
    """

    origin: Origin
    data: str
    neighbour: str
    outputs: tuple[str, str] | None = None

    @classmethod
    def of(cls, pair: Pair, outputs: tuple[str, str] | None = None) -> Moved:
        """Return a pair, and the outputs on both of its inputs."""
        return cls(pair.origin, *words_of(pair), outputs)


def verdict_of(refuted: bool, tested: bool) -> PrivacyVerdict:
    """Return the verdict on a claim that was refuted, or that was tested and not refuted."""
    if refuted:
        return PrivacyVerdict.VIOLATION
    if tested:
        return PrivacyVerdict.NOT_REFUTED
    return PrivacyVerdict.NO_EVIDENCE


class NoiseMove(Frozen, frozen=True, kw_only=True):
    """A value that noise was added to, and how far it moved between the inputs of the witness.

    Attributes
    ----------
    primitive : str
        The source of the noise, as "Generator.laplace" or "diffprivlib.Laplace".
    place : str
        File and line of the sum, or of the call of a primitive that takes the value.
    scale : float or None
        Scale or standard deviation of the noise; None if there is no single one.
    declared : float or None
        The sensitivity that the primitive declares or that is claimed; None if there is none.
    metric : str
        The metric of the distance.
    distance : float
        The distance, rounded down; infinite if the values have none.
    loss : float or None
        What the noisy value alone loses: epsilon at the claim's delta if it is released and nothing random precedes
        it; None if that is not so, or not known.
    """

    primitive: Words
    place: str
    scale: Amount | None
    declared: Amount | None
    metric: MetricName
    distance: NonNegative
    loss: NonNegative | None = None


class RecordedFinding(AuditFinding, kw_only=True, frozen=True, tag="recorded noise"):
    """The finding of `audit_sensitivity` on a mechanism whose noise was recorded and replayed.

    Attributes
    ----------
    verdict : {"violation", "not refuted", "no evidence"}
        "violation" if a value moved by more than the declared sensitivity, or a value that is released with noise
        loses more than the claim by itself; "no evidence" if no value is known that noise was added to, or nothing is
        declared.
    epsilon, delta : float or None
        The claim of privacy; epsilon is None if none was given.
    moves : tuple of NoiseMove
        The values on the witness, those that refute first.
    wrong_sensitivity, wrong_epsilon : bool
        Whether a declared sensitivity is refuted, and whether the claim of privacy is.
    not_covered : tuple of str
        Draws whose output was added to no value that is known, with their place, or that no recording sees.
    reused : tuple of str
        The places that add noise which was added to another value too.
    beside : bool
        Whether the outputs on a pair differ though all noisy values are equal, or one of them is an exception: the
        mechanism reads the data elsewhere as well. That is no proof of a violation, and a reason to run it.
    pairs, moved, refused, diverged : int
        Pairs that were tried, those on which a value moved, those on which a run raised an exception, and those on
        which the runs drew differently, so that their values cannot be compared.
    why_diverged, raised : str
        The first reason for each; empty if there was none.
    runs : int
        Runs of the mechanism.
    relation : Relation or None
        What neighbours are; None if it is unknown.
    witness : Moved or None
        The pair on which a value moved farthest.
    grade : {"exact"}
        The kind of the evidence: values are compared as fractions.
    """

    verdicts: ClassVar[tuple[PrivacyVerdict, ...]] = OF_SENSITIVITY
    verdict: PrivacyVerdict
    epsilon: Amount | None
    delta: Probability
    moves: tuple[NoiseMove, ...]
    wrong_sensitivity: bool
    wrong_epsilon: bool
    not_covered: tuple[str, ...]
    reused: tuple[str, ...]
    beside: bool
    pairs: Size
    moved: Count
    refused: Count = 0
    diverged: Count = 0
    why_diverged: str = ""
    raised: str = ""
    runs: Size
    relation: Relation | None
    witness: Moved | None = None
    grade: Grade = Grade.EXACT

    @property
    def p_value(self) -> float:
        """0.0 where the claim is refuted, which is no matter of chance here, else 1.0."""
        return float(self.verdict != PrivacyVerdict.VIOLATION)


class SensitivityFinding(AuditFinding, kw_only=True, frozen=True, tag="sensitivity"):
    """The finding of `audit_sensitivity` on a function: distances are computed without noise, so that one is a proof.

    Attributes
    ----------
    verdict : {"violation", "not refuted", "no evidence"}
        "violation" if a pair of neighbours has outputs farther apart than the claim; "no evidence" if the function gave
        equal outputs on all pairs, or none.
    sensitivity : float
        The claim.
    metric : str
        The metric of the outputs.
    distance : float
        The greatest distance, rounded down: a finite one if that exceeds the claim.
    infinite : str
        Why the outputs on a pair have no finite distance, such as a NaN on one side; empty if there is no such pair.
    rounded : bool
        Whether floats that are no integers were compared. A billionth of the claim then counts as rounding.
    pairs, moved, refused : int
        Pairs that were tried, those whose outputs differ, and those on which the function raised an exception.
    raised : str
        The first such exception; empty if there was none.
    calls : int
        Calls of the function.
    relation : Relation or None
        What neighbours are; None if it is unknown.
    witness : Moved or None
        The pair of the distance; None if no pair had outputs on both sides.
    grade : {"exact"}
        The kind of the evidence: the outputs are compared as fractions.
    """

    verdicts: ClassVar[tuple[PrivacyVerdict, ...]] = OF_SENSITIVITY
    verdict: PrivacyVerdict
    sensitivity: Amount
    metric: MetricName
    distance: NonNegative
    infinite: str = ""
    rounded: bool = False
    pairs: Size
    moved: Count
    refused: Count = 0
    raised: str = ""
    calls: Size
    relation: Relation | None
    witness: Moved | None = None
    grade: Grade = Grade.EXACT

    @property
    def p_value(self) -> float:
        """0.0 where the claim is refuted, which is no matter of chance here, else 1.0."""
        return float(self.verdict != PrivacyVerdict.VIOLATION)
