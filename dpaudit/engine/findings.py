"""The findings that are made here: the verdict on a statement, and a picture; and the union of all findings."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import msgspec

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.contract import OF_STATEMENTS, Grade, Picture, Verdict
from dpaudit.errors import InputError
from dpaudit.exact.finding import LawFinding
from dpaudit.record import Count, Extended, Size, Words
from dpaudit.results import Finding
from dpaudit.utility.finding import UtilityFinding

__all__ = ["AnyFinding", "LedgerRow", "PictureFinding"]


class LedgerRow(Finding, kw_only=True, frozen=True, tag="ledger"):
    """The verdict on a statement of a paper, and the evidence for it.

    Attributes
    ----------
    id : str
        The statement's id.
    statement, source : str
        The statement as it is checked, and its paper and place.
    verdict : {"holds", "loose", "refuted", "undecided"}
        "loose" if the statement is true and its constant far from the truth.
    summary : str
        The finding in a sentence, numbers included.
    numbers : dict of str to number
        The numbers that decided.
    grade : {"exact", "numeric", "statistical"}
        The kind of the evidence.
    witness : str
        The instance that refutes; empty otherwise.
    short : str
        The statement in a line; empty where its author gave none.
    printed, found, best : str
        What the paper prints, what computation finds, and the best constant known, in a few words.
    witness_data : dict of str to data
        The instance that decides, as data from which another program computes the numbers again.
    repeat : str
        The command that makes this row, and no other, again.
    stopped_in : str
        The part of the check that was running when its time was over; empty where it ended by itself.
    """

    kind: ClassVar[str] = "ledger"
    verdicts: ClassVar[tuple[Verdict, ...]] = OF_STATEMENTS
    id: Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9]+([-._][A-Za-z0-9]+)*$")]
    statement: Words
    source: Words
    verdict: Verdict
    summary: Words
    numbers: dict[str, Extended]
    grade: Grade
    witness: str = ""
    short: str = ""
    printed: str = ""
    found: str = ""
    best: str = ""
    witness_data: dict[str, Any] = msgspec.field(default_factory=dict)
    repeat: str = ""
    stopped_in: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("statement", "source", "summary"):
            if not getattr(self, name):
                raise InputError(f"{name} must not be empty")
        if self.verdict == Verdict.REFUTED and not self.witness:
            raise InputError("a refutation needs a witness")


class PictureFinding(Finding, kw_only=True, frozen=True, tag="picture"):
    """The picture of some outputs of a learner on one sample: an illustration, and evidence of nothing.

    Attributes
    ----------
    picture : Picture
        The picture.
    n : int
        Examples of the sample.
    runs : int
        Outputs drawn.
    seed : int
        The root seed.
    """

    kind: ClassVar[str] = "picture"
    picture: Picture
    n: Count
    runs: Size
    seed: Count


AnyFinding = PrivacyFinding | LawFinding | UtilityFinding | LedgerRow | PictureFinding
