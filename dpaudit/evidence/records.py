"""The records of a run: its findings, its header, a line for each result, and a line for each task that failed."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import UNSET, UnsetType

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.contract import (
    ACCUSATIONS,
    FAIL,
    OF_STATEMENTS,
    Constants,
    Grade,
    Learner,
    Part,
    Picture,
    PrivacyClaim,
    StatementVerdict,
    Survives,
    require_grounds,
)
from dpaudit.errors import InputError
from dpaudit.events.event import Cells, Event
from dpaudit.evidence.subjects import Subject
from dpaudit.evidence.tasks import Arguments
from dpaudit.exact.finding import LawFinding
from dpaudit.record import Count, Extended, Frozen, Share, Size, Words
from dpaudit.results import SCHEMA_VERSION, STREAMS_VERSION, Finding, versions
from dpaudit.utility.finding import UtilityFinding

# A learner's keyword arguments, JSON-safe.
Parameters = dict[str, Any]
# The profile of audits that are no run of learners.
SINGLE = "single"
# The most codes of an event whose meanings a result has, and the most characters of a meaning.
_MOST = 4
_LONGEST = 60


class LedgerRow(Finding, kw_only=True, frozen=True, tag="ledger"):
    """The verdict on a statement of a paper, and the evidence for it.

    - id: The statement's id.
    - statement, source: The statement as it is checked, and its paper and place.
    - verdict: The class: one of `OF_STATEMENTS`; "refuted" in rows that were stored before there were classes.
    - summary: The finding in a sentence, numbers included.
    - numbers: The numbers that decided.
    - grade: The kind of the evidence.
    - witness: The instance that refutes; empty otherwise.
    - short: The statement in a line; empty where its author gave none.
    - printed, found, best: What the paper prints, what computation finds, and the best constant known, in a few words.
    - witness_data: The instance that decides, as data from which another program computes the numbers again.
    - repeat: The command that makes this row, and no other, again.
    - stopped_in: The part of the check that was running when its time was over; empty where it ended by itself.
    - place, formula, conditions, constants, argument, part: As in `contract.Statement`.
    - survives: Whether the theorem survives that the verdict is "false", "gap", "misprint" or "edge case".
    - one_sided: As in `contract.Evidence`.
    """

    verdicts: ClassVar[tuple[StatementVerdict, ...]] = OF_STATEMENTS
    id: Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9]+([-._][A-Za-z0-9]+)*$")]
    statement: Words
    source: Words
    verdict: StatementVerdict
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
    place: str = ""
    formula: str = ""
    conditions: str = ""
    constants: Constants = Constants.PAPER
    survives: Survives = Survives.NOT_APPLICABLE
    argument: str = ""
    part: Part = Part.PAPERS
    one_sided: bool = False

    @property
    def word(self) -> str:
        """The verdict in tables: of numbers that could contradict alone, and do not, it is "not refuted"."""
        if self.one_sided and self.verdict == StatementVerdict.UNDECIDED:
            return "not refuted"
        return self.verdict.word

    def __post_init__(self) -> None:
        super().__post_init__()
        needed_texts = {"statement": self.statement, "source": self.source, "summary": self.summary}
        for name, text in needed_texts.items():
            if not text:
                raise InputError(f"{name} must not be empty")
        # Rows that were stored before there were classes are "refuted".
        if self.verdict in (StatementVerdict.REFUTED, *ACCUSATIONS) and not self.witness:
            raise InputError("a refutation needs a witness")
        if self.verdict in ACCUSATIONS:
            require_grounds(self.id, self.place, self.formula, self.argument, self.survives)
        # A constant is loose where the paper prints it. Constants inside O(.) are ours: such rows are derived, and
        # never loose.
        needed = {StatementVerdict.LOOSE: Constants.PAPER, StatementVerdict.DERIVED: Constants.OURS}
        if self.constants != needed.get(self.verdict, self.constants):
            raise InputError(f"{self.id} is {self.verdict} with constants of {self.constants}")


class PictureFinding(Finding, kw_only=True, frozen=True, tag="picture"):
    """The picture of some outputs of a learner on one sample: an illustration, and evidence of nothing.

    - picture: The picture.
    - n: Examples of the sample.
    - runs: Outputs drawn.
    - seed: The root seed.
    """

    picture: Picture
    n: Count
    runs: Size
    seed: Count


# The state of the file of a run. Until it is finished, lines stand in the order in which tasks end, each bound to the
# header by its digest. Those of a sealed file stand in the order of the plan, each bound to all before it, and the last
# one is the seal.
State = Literal["not sealed", "sealed"]
AnyFinding = PrivacyFinding | LawFinding | UtilityFinding | LedgerRow | PictureFinding


class Planned(Frozen, frozen=True):
    """A task of a plan.

    - task: The task's key.
    - learner: The learner's id; of a statement, its own.
    - kind: The kind of the audit.
    """

    task: Words
    learner: str
    kind: str


class Fault(Frozen, frozen=True):
    """A learner for which no plan could be made.

    - learner: The learner's id.
    - error: The error that it raised.
    """

    learner: str
    error: Words


class Header(Frozen, frozen=True, kw_only=True, tag="run", tag_field="record"):
    """The first line of a run: what was planned, what could not be, and what it takes to remake it.

    - seed: The root seed.
    - profile: How much work was planned.
    - plan: The tasks, in order.
    - command: The command that remakes the run.
    - versions: Versions of Python and of the libraries that the numbers depend on.
    - faults: Learners for which no plan could be made, with the error.
    - controls: What each positive control of the run leaks, by its id.
    - sources: A digest of each piece of code that the results come from, by its name.
    - state: The state of the file.
    - subjects: The files and distributions that were audited; the reference run in ``reports`` lacks them.
    - family_wise: The chance of a false alarm over all claims together, by Holm's procedure; unset where each has its
      own. Results have the verdicts that claims have alone.
    - schema_version, streams_version: The versions of the records, and of the addresses of random streams.
    - digest: Over the other bytes of the line.
    """

    seed: Count
    profile: str
    plan: tuple[Planned, ...]
    command: str
    versions: dict[str, str] = msgspec.field(default_factory=versions)
    faults: tuple[Fault, ...] = ()
    controls: dict[str, str] = msgspec.field(default_factory=dict)
    sources: dict[str, str] = msgspec.field(default_factory=dict)
    state: State = "not sealed"
    schema_version: Literal[2] = SCHEMA_VERSION
    streams_version: int = STREAMS_VERSION
    subjects: tuple[Subject, ...] | UnsetType = UNSET
    family_wise: Share | UnsetType = UNSET
    digest: str = ""


class _Task(Frozen, frozen=True, kw_only=True, tag_field="record"):
    """Base of the lines that are about a task.

    - task: The task's key.
    - learner: The learner's id; of a statement, its own.
    - parameters: The learner's keyword arguments.
    - arguments: The arguments of the audit; their type is its kind.
    - index: The task's place in the plan.
    - digest: Over the other bytes of the line, and over the digest of the header or, in a sealed file, of the line
      before.
    """

    task: Words
    learner: str
    parameters: Parameters
    arguments: Arguments
    index: Count = 0
    digest: str = ""

    @property
    def kind(self) -> str:
        """The kind of the audit: "exact", "privacy", "utility", "ledger" or "picture"."""
        return self.arguments.kind


class Result(_Task, kw_only=True, frozen=True, tag="result"):
    """The result of one task.

    - finding: The finding; its kind is that of the arguments.
    - fault: For a positive control, what it leaks.
    - claim: The learner's claim of privacy.
    - decoded: The meaning of the outputs that the finding names, by code.
    """

    finding: AnyFinding
    fault: str | None = None
    claim: PrivacyClaim | None = None
    decoded: dict[str, Words] = msgspec.field(default_factory=dict)

    def __post_init__(self) -> None:
        # Both are unions of several types, which no type holds together.
        if self.finding.kind != self.arguments.kind:
            raise InputError(f"a task of kind {self.arguments.kind} has a finding of kind {self.finding.kind}")


class Failure(_Task, kw_only=True, frozen=True, tag="failure"):
    """A task that raised, or killed its process: nothing is known of its learner.

    - error: The error that it raised.
    """

    error: Words


class Seal(Frozen, frozen=True, kw_only=True, tag="seal", tag_field="record"):
    """The last line of a sealed file.

    - records: The number of lines between the header and this one.
    - digest: The total of the run: over the other bytes of the line and the digest of the line before, and so over all.
    """

    records: Count
    digest: str = ""


Record = Header | Result | Failure | Seal


class Listed(Frozen, frozen=True):
    """The settings of a project for one of its audits.

    `accepted` says up to which epsilon its violation is accepted, why and since when; it is empty where none is.
    """

    name: str
    accepted: str = ""


class Run(Frozen, frozen=True):
    """A stored run, finished or not.

    Results, and the last failure of each task without a result, are in the order of the plan. `total` is the digest
    over all of a sealed file, empty for any other. Of the check of a project, `listed` has its audits by what their
    results have as learner. `started` is when the run began, in UTC; it is empty where that is not known.
    """

    header: Header
    results: tuple[Result, ...]
    failures: tuple[Failure, ...] = ()
    total: str = ""
    listed: dict[str, Listed] = msgspec.field(default_factory=dict)
    started: str = ""

    @property
    def seal(self) -> str:
        """The total of a sealed run; of any other its state, in words."""
        return self.total or self.header.state

    @property
    def single(self) -> bool:
        """Whether it is of audits that were asked for one by one, which have no seal and need no controls."""
        return self.header.profile == SINGLE


def codes_of(named: Event) -> list[int]:
    """Return the integers that an event names of outputs; none if they are more than four, or not all are integers.

    >>> codes_of(Cells("output", ((-1, -1), (3, 5)))), codes_of(Cells("output", (), ("(1, 2)",)))
    ([-1, 3, 4, 5], [])
    """
    if not isinstance(named, Cells) or named.feature != "output" or named.labels or named.size > _MOST:
        return []
    return [code for low, high in named.ranges for code in range(low, high + 1)]


def decoded(learner: Learner, finding: AnyFinding) -> dict[str, str]:
    """Return the meanings of the codes named by a finding on privacy, by code; long meanings are left out."""
    codes: list[int] = []
    if isinstance(finding, LawFinding) and finding.worst_code is not UNSET:
        codes = [finding.worst_code]
    elif isinstance(finding, PrivacyFinding):
        codes = codes_of(finding.witness.event)
    return {str(code): word for code in codes if (word := _words(learner, code))}


def _words(learner: Learner, code: int) -> str:
    """Return an output in words; an empty text if that is long, or would differ from run to run."""
    try:
        hypothesis = None
        if code != FAIL:
            hypothesis = learner.decode(code)
        text = "failure"
        if hypothesis is not None:
            text = str(hypothesis)
    except Exception:  # a learner may refuse a code that its law has; what was found does not depend on it
        return ""
    # The address of an object in memory differs from run to run.
    if len(text) > _LONGEST or " at 0x" in text or "\n" in text:
        return ""
    return text
