"""The findings of exact audits: the worst case over enumerated pairs, and that over samples of every size."""

from __future__ import annotations

from typing import ClassVar

import msgspec
from msgspec import UNSET, UnsetType

from dpaudit.contract import OF_PRIVACY, Grade, Origin, Pair, PrivacyVerdict, Relation, Support
from dpaudit.errors import InputError
from dpaudit.exact.composition import Composition, CompositionTable, compose
from dpaudit.exact.profiles import LossProfiles
from dpaudit.record import Amount, Count, Extended, Frozen, NonNegative, Probability, Size
from dpaudit.results import AuditFinding

# A climb agrees with the value of a supremum if it comes as close, relatively.
AGREES = 1e-3


class PairInWords(Frozen, frozen=True):
    """Two neighbouring inputs as text, and their origin.

    Attributes
    ----------
    data, neighbour : str
        The inputs.
    origin : Origin
        How the pair was made.
    """

    data: str
    neighbour: str
    origin: Origin


class LawFinding(AuditFinding, kw_only=True, frozen=True, tag="exact"):
    """The finding of an audit by exact output laws, on the pairs of neighbours that it covered.

    A finding of `audit_law` also holds the pairs and the laws themselves, which are not stored: `worst_pair` are then
    the inputs, and `delta` and `compose` can be called.

    Attributes
    ----------
    verdict : {"violation", "consistent"}
        Whether the claim fails by more than the error; "consistent" where there is none.
    epsilon, error : float
        The worst case of ln(Pr[output | data] / Pr[output | neighbour]) over the pairs, and a bound on its error.
    claimed_epsilon, claimed_delta : float
        The claim; None and 0 where there is none.
    delta_at_claim : float
        The worst hockey-stick divergence at the claimed epsilon.
    epsilon_at_claim : float or None
        The least epsilon at the claimed delta; None without a claim.
    pair_in_words : PairInWords
        The worst pair; "worst_pair" in JSON.
    worst_atom : str
        The output, as `repr` writes it, at which the worst case lies.
    worst_output, worst_code : str, int
        The output with its rationals as fractions, and as an integer where it is one; neither is in files written
        before there were these fields.
    pairs, samples, laws : int
        The numbers of ordered pairs, samples and laws that were covered.
    n : int or None
        Examples in a sample; None where samples were given.
    relation : Relation
        The relation of neighbours.
    grade : {"exact", "numeric"}
        Whether the laws' error is proved.
    curve : tuple of (float, float)
        Pairs (epsilon, worst delta).
    claim_id : str
        The theorem, where its own statement was tested.
    enclosure : (float, float) or None
        Two floats between which epsilon lies for certain, by ball arithmetic, if asked for.
    composition : CompositionTable or None
        The cost of many runs, if asked for.
    """

    verdicts: ClassVar[tuple[PrivacyVerdict, ...]] = OF_PRIVACY
    verdict: PrivacyVerdict
    epsilon: NonNegative
    error: NonNegative
    claimed_epsilon: Amount | None
    claimed_delta: Probability
    delta_at_claim: Probability
    pair_in_words: PairInWords = msgspec.field(name="worst_pair")
    worst_atom: str
    pairs: Count
    samples: Count
    laws: Count
    n: Count | None
    relation: Relation
    grade: Grade
    curve: tuple[tuple[Amount, Probability], ...]
    claim_id: str = ""
    epsilon_at_claim: NonNegative | None = None
    enclosure: tuple[Extended, Extended] | None = None
    composition: CompositionTable | None = None
    worst_output: str | UnsetType = UNSET
    worst_code: int | UnsetType = UNSET

    @property
    def p_value(self) -> float:
        """0.0 where the claim is refuted, which is no matter of chance here, else 1.0."""
        return float(self.verdict != PrivacyVerdict.VIOLATION)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.grade == Grade.STATISTICAL:
            raise InputError.of("grade", self.grade, "exact or numeric")

    @property
    def worst_pair(self) -> Pair | PairInWords:
        """The pair of the worst case: the inputs, or their words where the finding was read from a file."""
        found: Pair | PairInWords = self.__dict__.get("worst_pair", self.pair_in_words)
        return found

    @property
    def profiles(self) -> LossProfiles:
        """The laws of all pairs; `InputError` where the finding was read from a file."""
        if "profiles" not in self.__dict__:
            raise InputError("the finding was read from a file, which holds no laws: call audit_law again")
        found: LossProfiles = self.__dict__["profiles"]
        return found

    def delta(self, epsilon: float) -> float:
        """Return the worst hockey-stick divergence max over pairs of sum over atoms of (P - exp(epsilon) Q)_+."""
        return self.profiles.delta(epsilon)

    def compose(self, times: int, *, epsilon: float | None = None, delta: float | None = None) -> Composition:
        """Return bounds on the privacy of `times` runs on the same sample; see `exact.composition.compose`."""
        return compose(self.profiles, times, epsilon=epsilon, delta=delta, grade=self.grade)


class SupremumFinding(AuditFinding, kw_only=True, frozen=True, tag="supremum"):
    """The finding of `audit_supremum`: the greatest loss over samples of every size, and what it rests on.

    Attributes
    ----------
    verdict : {"violation", "consistent"}
        Whether the witness, or for a pure claim the value, refutes the claim by more than the error; "consistent" where
        there is none.
    value, error : float
        The supremum of ln(Pr[output | data] / Pr[output | neighbour]), as far as it is known, and a bound on the error
        of the number.
    support : {"proved", "limit", "lower bound"}
        What `value` rests on: the learner's proof, which the search does not contradict; the exact limit along a ray
        of samples, the greatest of those searched; or the loss of the witness.
    claimed_epsilon, claimed_delta : float
        The claim; None and 0 where there is none.
    attained, attained_error : float
        The loss of the witness, and a bound on its error.
    pair_in_words : PairInWords
        The pair that loses most of those computed; "witness" in JSON.
    worst_atom : str
        The output, as `repr` writes it, at which it does.
    n : int
        Examples in the witness.
    growth : tuple of (int, float)
        Examples and loss of the witness, and of it with fewer copies of its commonest example: what an audit of few
        examples would have said.
    ray : str
        The example whose copies, ever more of them, lead to the limit; empty for the other supports.
    starts, agreement : int
        The climbs over weighted samples, and how many of them came within `AGREES` of `value`. Agreement is no proof.
    laws : int
        Laws that were computed.
    relation : Relation
        The relation of neighbours.
    grade : {"exact", "numeric"}
        Whether the laws' error is proved.
    proof : str
        The learner's proof of its closed form; empty where it offers none.
    proved_value : float or None
        The closed form; None where there is none.
    proof_refuted : bool
        Whether the witness loses more than the closed form: then the proof is wrong, and `value` is the witness's.
    claim_id : str
        The theorem, where its own statement was tested.
    seed : int
        The root of the search's randomness.
    """

    verdicts: ClassVar[tuple[PrivacyVerdict, ...]] = OF_PRIVACY
    verdict: PrivacyVerdict
    value: NonNegative
    error: NonNegative
    support: Support
    claimed_epsilon: Amount | None
    claimed_delta: Probability
    attained: NonNegative
    attained_error: NonNegative
    pair_in_words: PairInWords = msgspec.field(name="witness")
    worst_atom: str
    n: Count
    growth: tuple[tuple[int, NonNegative], ...]
    starts: Size
    agreement: Count
    laws: Count
    relation: Relation
    grade: Grade
    seed: Count
    ray: str = ""
    proof: str = ""
    proved_value: NonNegative | None = None
    proof_refuted: bool = False
    claim_id: str = ""

    @property
    def p_value(self) -> float:
        """0.0 where the claim is refuted, which is no matter of chance here, else 1.0."""
        return float(self.verdict != PrivacyVerdict.VIOLATION)

    @property
    def share(self) -> float | None:
        """The value as a share of the claimed epsilon; None without a claim."""
        return None if self.claimed_epsilon is None else self.value / self.claimed_epsilon

    @property
    def witness(self) -> Pair | PairInWords:
        """The pair that loses most of those computed; its words where the finding was read from a file."""
        found: Pair | PairInWords = self.__dict__.get("pair", self.pair_in_words)
        return found
