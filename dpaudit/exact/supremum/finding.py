"""The finding of a search for the supremum of the privacy loss over samples of every size."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from dpaudit.contract import OF_PRIVACY, Grade, Pair, Relation, Support, Verdict
from dpaudit.exact.finding import PairInWords
from dpaudit.record import Amount, Count, NonNegative, Probability, Size
from dpaudit.results import AuditFinding

__all__ = ["SupremumFinding"]


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
        The example of which ever more copies lead to the limit; empty for the other supports.
    starts, agreement : int
        The climbs over weighted samples, and how many of them came within 0.1 % of `value`. Agreement is no proof.
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

    kind: ClassVar[str] = "supremum"
    verdicts: ClassVar[tuple[Verdict, ...]] = OF_PRIVACY
    verdict: Verdict
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
    def share(self) -> float | None:
        """The value as a share of the claimed epsilon; None without a claim."""
        return None if self.claimed_epsilon is None else self.value / self.claimed_epsilon

    @property
    def witness(self) -> Pair | PairInWords:
        """The pair that loses most of those computed; its words where the finding was read from a file."""
        found: Pair | PairInWords = self.__dict__.get("pair", self.pair_in_words)
        return found

    def with_pair(self, pair: Pair) -> SupremumFinding:
        """Return the finding itself, which from now on knows the inputs of its witness."""
        self.__dict__["pair"] = pair
        return self
