"""Statements of papers that computation can check, the tools that a check is given, and the evidence it returns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from dpaudit.contract.claims import Relation
from dpaudit.contract.samples import Distribution, Hypothesis
from dpaudit.contract.verdicts import OF_STATEMENTS, Grade, Verdict
from dpaudit.errors import InputError

__all__ = [
    "Evidence",
    "LawAudit",
    "MeasuredLaw",
    "MeasuredPoint",
    "MeasuredSlope",
    "Neighbours",
    "Statement",
    "SupremumAudit",
    "Tools",
    "UtilityAudit",
]


@dataclass(frozen=True)
class Evidence:
    """The evidence for or against a statement of a paper.

    Parameters
    ----------
    verdict : {"holds", "loose", "refuted", "undecided"}
        "loose" if the statement is true and its constant is far from the truth; "refuted" needs a witness.
    summary : str
        The finding in a sentence, numbers included.
    numbers : mapping of str to number
        The numbers that decided.
    grade : {"exact", "numeric", "statistical"}
        The kind of the evidence.
    witness : str
        The instance that refutes, in words; empty otherwise.
    witness_data : mapping of str to data
        The instance that decides (it refutes, or comes nearest to it) as data from which another program computes the
        numbers again: learners with their parameters, samples, distributions, outputs.
    """

    verdict: str
    summary: str
    numbers: Mapping[str, float]
    grade: str
    witness: str = ""
    witness_data: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, allowed in (("verdict", OF_STATEMENTS), ("grade", tuple(Grade))):
            value = getattr(self, name)
            if value not in allowed:
                raise InputError.among(name, value, allowed)
        if self.verdict == Verdict.REFUTED and not self.witness:
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


class Neighbours(Protocol):
    """Two neighbouring inputs."""

    @property
    def data(self) -> Any: ...
    @property
    def neighbour(self) -> Any: ...


class LawAudit(Protocol):
    """The part of `dpaudit.LawFinding` that checks use."""

    @property
    def verdict(self) -> str: ...
    @property
    def epsilon(self) -> float: ...
    @property
    def delta_at_claim(self) -> float: ...
    @property
    def pairs(self) -> int: ...
    @property
    def worst_pair(self) -> Neighbours: ...


class SupremumAudit(Protocol):
    """The part of `dpaudit.SupremumFinding` that checks use."""

    @property
    def value(self) -> float: ...
    @property
    def error(self) -> float: ...
    @property
    def support(self) -> str: ...
    @property
    def attained(self) -> float: ...
    @property
    def attained_error(self) -> float: ...
    @property
    def n(self) -> int: ...
    @property
    def witness(self) -> Neighbours: ...


class UtilityAudit(Protocol):
    """The part of `dpaudit.UtilityFinding` that checks use."""

    @property
    def verdict(self) -> str: ...
    @property
    def failures(self) -> int: ...
    @property
    def trials(self) -> int: ...
    @property
    def failure_rate(self) -> float: ...
    @property
    def failure_upper(self) -> float: ...


class MeasuredSlope(Protocol):
    """An exponent with its confidence limits."""

    @property
    def value(self) -> float: ...
    @property
    def lower(self) -> float: ...
    @property
    def upper(self) -> float: ...


class MeasuredPoint(Protocol):
    """The bracket of one sample complexity, with the theorem's sample size and the worst case in words."""

    @property
    def value(self) -> float: ...
    @property
    def lower(self) -> int: ...
    @property
    def upper(self) -> int | None: ...
    @property
    def theorem(self) -> int: ...
    @property
    def case(self) -> str: ...


class MeasuredLaw(Protocol):
    """The part of `dpaudit.ScalingFinding` that checks use."""

    @property
    def verdict(self) -> str: ...
    @property
    def grade(self) -> str: ...
    @property
    def learner(self) -> str: ...
    @property
    def abscissa(self) -> str: ...
    @property
    def points(self) -> Sequence[MeasuredPoint]: ...
    @property
    def exponent(self) -> MeasuredSlope: ...
    @property
    def upper_exponent(self) -> MeasuredSlope: ...
    @property
    def ratio_slope(self) -> MeasuredSlope: ...


class Tools(Protocol):
    """The public functions of dpaudit that checks call; see there for the arguments and the findings."""

    def audit_law(
        self,
        learner: Any,
        *,
        n: int | None = None,
        samples: Iterable[Any] | None = None,
        relation: Relation | str | None = None,
    ) -> LawAudit:
        """Compute the worst-case epsilon and delta of a learner from its exact output laws."""

    def audit_supremum(self, learner: Any, *, starts: int = 8, evaluations: int = 250, most: int = 4) -> SupremumAudit:
        """Search for the supremum of a learner's privacy loss over samples of every size."""

    def audit_utility(
        self,
        learner: Any,
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
    ) -> UtilityAudit:
        """Test the claim Pr[error > alpha] <= beta on n examples."""

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
        parameters: Mapping[str, Any] | None = None,
        **fixed: Any,
    ) -> MeasuredLaw:
        """Measure the growth of a sample complexity with one parameter, against the theorem's."""
