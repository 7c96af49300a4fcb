"""Statements of papers with the evidence on them, and the audits that their checks get, typed for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from dpaudit.contract.claims import Relation
from dpaudit.contract.learners import Learner, Parameter
from dpaudit.contract.pairs import Pair
from dpaudit.contract.samples import Distribution, Hypothesis, Sample
from dpaudit.contract.verdicts import (
    ACCUSATIONS,
    OF_CHECKS,
    Constants,
    Grade,
    Part,
    PrivacyVerdict,
    StatementVerdict,
    Survives,
    UtilityVerdict,
)
from dpaudit.errors import InputError
from dpaudit.jsonable import Json

__all__ = ["Evidence", "Statement", "Tools", "require_grounds"]


class LawResult(Protocol):
    """The numbers of a `LawFinding` that checks read."""

    @property
    def verdict(self) -> PrivacyVerdict:
        """The verdict on the learner's own claim."""

    @property
    def epsilon(self) -> float:
        """The worst loss."""

    @property
    def delta_at_claim(self) -> float:
        """The worst delta at the claimed epsilon."""


class SupremumResult(Protocol):
    """The numbers of a `SupremumFinding` that checks read."""

    @property
    def value(self) -> float:
        """The supremum, as far as it is known."""

    @property
    def attained(self) -> float:
        """The loss of the witness."""

    @property
    def n(self) -> int:
        """The examples of the witness."""


class UtilityResult(Protocol):
    """The numbers of a `UtilityFinding` that checks read."""

    @property
    def verdict(self) -> UtilityVerdict:
        """The verdict on the failure rate."""

    @property
    def failures(self) -> int:
        """The runs that failed."""

    @property
    def trials(self) -> int:
        """The runs."""

    @property
    def failure_rate(self) -> float:
        """The share of runs that failed."""


class Tools(Protocol):
    """The functions of `dpaudit.pac` that checks call; see there for the arguments and the findings.

    mypy compares their arguments with those of dpaudit. The contract stands below the findings, and cannot name them.
    """

    def audit_law(
        self,
        learner: Learner,
        *,
        n: int | None = None,
        samples: Iterable[Sample | Pair] | None = None,
        relation: Relation | str | None = None,
    ) -> LawResult:
        """Return the `LawFinding` of a learner: its worst-case epsilon and delta, from its exact output laws."""

    def audit_supremum(
        self, learner: Learner, *, starts: int = 8, evaluations: int = 250, most: int = 4
    ) -> SupremumResult:
        """Return the `SupremumFinding` of a learner: the supremum of its loss over samples of every size."""

    def audit_utility(
        self,
        learner: Learner,
        concept: int | Hypothesis,
        distribution: Distribution | str,
        *,
        alpha: float,
        beta: float,
        n: int | None = None,
        trials: int = 1000,
        confidence: float = 0.999,
        setting: str | None = None,
        noise: float | None = None,
    ) -> UtilityResult:
        """Return the `UtilityFinding` on the claim Pr[error > alpha] <= beta on n examples."""

    def scaling_law(
        self,
        learner_id: str,
        parameter: str,
        values: Sequence[float],
        *,
        alpha: float | None = None,
        beta: float | None = None,
        setting: str | None = None,
        moves: int = 100,
        parameters: Mapping[str, Parameter] | None = None,
        shares: Mapping[str, float] | None = None,
        # These take any type here, as the other arguments of the function that is called are among them.
        **fixed: Any,
    ) -> Any:
        """Return the `ScalingFinding` on how a sample complexity grows with one parameter, against the theorem."""


@dataclass(frozen=True)
class Evidence:
    """The evidence for or against a statement of a paper.

    Parameters
    ----------
    verdict : StatementVerdict
        One of `OF_CHECKS`: "loose" if the statement is true and its constant is far from the truth; "refuted" if a
        number contradicts it, which needs a witness.
    summary : str
        The finding in a sentence, numbers included.
    numbers : mapping of str to number
        The numbers that decided.
    grade : {"exact", "numeric", "statistical"}
        The kind of the evidence.
    witness : str
        A description of the instance that refutes; empty otherwise.
    witness_data : mapping of str to data
        The instance that decides (it refutes, or comes nearest to it) as data from which another program computes the
        numbers again: learners with their parameters, samples, distributions, outputs.
    one_sided : bool
        Whether the numbers bound what the statement is about from below, so that they can contradict it and never
        confirm it: then it is refuted or undecided.
    """

    verdict: StatementVerdict
    summary: str
    numbers: Mapping[str, float]
    grade: str
    witness: str = ""
    witness_data: Mapping[str, Json] = field(default_factory=dict)
    one_sided: bool = False

    def __post_init__(self) -> None:
        # Numbers that bound from one side never confirm: neither "holds" nor "loose" is left.
        verdicts = OF_CHECKS[2:] if self.one_sided else OF_CHECKS
        if self.verdict not in verdicts:
            raise InputError.among("verdict", self.verdict, verdicts)
        if self.grade not in tuple(Grade):
            raise InputError.among("grade", self.grade, tuple(Grade))
        # Whoever doubts a refutation can compute it again from the witness.
        if self.verdict == StatementVerdict.REFUTED and not self.witness:
            raise InputError("a refutation needs a witness", parameter="witness", value="")


@dataclass(frozen=True)
class Statement:
    """A statement of a paper that computation can check; modules list theirs in ``STATEMENTS``.

    Parameters
    ----------
    id : str
        The paper's short name and the theorem, as in "NIS-ParityLearner".
    statement : str
        The statement as it is checked, with its constants.
    source : str
        Paper and place.
    check : callable
        Takes the audits as `Tools`, so that learners need not import the harness, and returns the `Evidence`.
        Deterministic; seconds, not minutes.
    short : str
        The statement in a line, for tables; empty where `statement` has to do.
    printed, found : str
        What the paper prints and what computation finds, in a few words. A name of the evidence's numbers in braces
        stands for that number, as in "ε = {epsilon:.3g}"; what follows the last colon is a format.
    slow : bool
        Whether the check takes more than two seconds, so that quick runs leave it out.
    best : str
        The best constant known to the tool, as `found` is written; empty where the statement has no constant.
    since : str
        What was proved since, by others, with a source; a citation, which no check looks at.
    place : str
        Section, theorem and line.
    formula, conditions : str
        The formula as it is printed, in plain notation, and the conditions under which.
    constants : {"paper", "ours"}
        Whose constants the check uses: "ours" where the source has O(.), so that the verdict is never "loose".
    failure : StatementVerdict or None
        One of `ACCUSATIONS`: the class of the statement if its check finds a contradiction, which is a judgement of the
        source. It takes `place`, `formula`, `survives` and `argument`.
    survives : {"yes", "no", "unknown", "not applicable"}
        Whether the theorem survives that failure.
    argument : str
        The argument or the proof, in our words.
    part : {"papers", "ours", "auditor"}
        The part of the ledger in which the row is counted.
    """

    id: str
    statement: str
    source: str
    check: Callable[[Tools], Evidence]
    short: str = ""
    printed: str = ""
    found: str = ""
    slow: bool = False
    best: str = ""
    place: str = ""
    formula: str = ""
    conditions: str = ""
    constants: Constants = Constants.PAPER
    failure: StatementVerdict | None = None
    survives: Survives = Survives.NOT_APPLICABLE
    argument: str = ""
    part: Part = Part.PAPERS
    since: str = ""

    def __post_init__(self) -> None:
        if self.failure is not None:
            if self.failure not in ACCUSATIONS:
                raise InputError.among("failure", self.failure, ACCUSATIONS)
            require_grounds(self.id, self.place, self.formula, self.argument, self.survives)

    def verdict_on(self, found: StatementVerdict) -> StatementVerdict:
        """Return the class of the statement, given what its check found.

        Constants of ours are never loose: of a paper's statement they are "derived", and one of ours holds.
        """
        # Without a judgement of the source a contradiction is shown as what it is.
        if found == StatementVerdict.REFUTED:
            return self.failure or found
        if self.constants == Constants.OURS and found in (StatementVerdict.HOLDS, StatementVerdict.LOOSE):
            return StatementVerdict.DERIVED if self.part == Part.PAPERS else StatementVerdict.HOLDS
        return found


def require_grounds(id: str, place: str, formula: str, argument: str, survives: Survives) -> None:
    """Raise `InputError` unless an accusation has its place, formula and argument, and whether a theorem survives."""
    lacking = []
    if not place:
        lacking.append("place")
    if not formula:
        lacking.append("formula")
    if not argument:
        lacking.append("argument")
    if survives == Survives.NOT_APPLICABLE:
        lacking.append("survives")
    if lacking:
        raise InputError(f"the accusation {id} has no {' and no '.join(lacking)}")
