"""Statements of papers that computation can check, the tools that a check is given, and the evidence it returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from dpaudit.contract.verdicts import OF_STATEMENTS, Grade, Verdict
from dpaudit.errors import InputError

__all__ = ["Evidence", "Statement", "Tools"]


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


class Tools(Protocol):
    """The public functions of dpaudit that checks call; arguments and findings are documented there."""

    audit_law: Callable[..., Any]
    audit_supremum: Callable[..., Any]
    audit_utility: Callable[..., Any]
    scaling_law: Callable[..., Any]
