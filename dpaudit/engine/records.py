"""The records of a run: its header, a line for each result, and a line for each task that failed."""

from __future__ import annotations

import enum
from typing import Any, Literal

import msgspec

from dpaudit.contract import PrivacyClaim
from dpaudit.engine.arguments import Arguments
from dpaudit.engine.findings import AnyFinding
from dpaudit.errors import InputError
from dpaudit.record import Count, Frozen, Words
from dpaudit.results import SCHEMA_VERSION, STREAMS_VERSION

__all__ = ["Failure", "Fault", "Header", "Listed", "Parameters", "Planned", "Record", "Result", "Run", "Seal", "State"]

Parameters = dict[str, Any]
"""A learner's keyword arguments, JSON-safe."""


class State(enum.StrEnum):
    """The state of the file of a run."""

    NEVER = "not sealed"
    """Written by a version that knew no seals."""
    OPEN = "not sealed yet"
    """Not finished: lines stand in the order in which tasks end, each bound to the header by its digest."""
    SEALED = "sealed"
    """Finished: lines stand in the order of the plan, each bound to all before it, and the last one is the seal."""


class Planned(Frozen, frozen=True):
    """A task of a plan.

    Attributes
    ----------
    task : str
        The task's key.
    learner : str
        The learner's id; of a statement, its own.
    kind : str
        The kind of the audit.
    """

    task: Words
    learner: str
    kind: str


class Fault(Frozen, frozen=True):
    """A learner for which no plan could be made.

    Attributes
    ----------
    learner : str
        The learner's id.
    error : str
        The error that it raised.
    """

    learner: str
    error: Words


class Header(Frozen, frozen=True, kw_only=True, tag="run", tag_field="record"):
    """The first line of a run: what was planned, what could not be, and what it takes to remake it.

    Attributes
    ----------
    seed : int
        The root seed.
    profile : str
        How much work was planned.
    plan : tuple of Planned
        The tasks, in order.
    command : str
        The command that remakes the run.
    versions : dict of str to str
        Versions of Python and of the libraries that the numbers depend on.
    faults : tuple of Fault
        Learners for which no plan could be made, with the error.
    controls : dict of str to str
        What each positive control of the run leaks, by its id.
    sources : dict of str to str
        A digest of each piece of code that the results come from, by its name.
    state : {"not sealed", "not sealed yet", "sealed"}
        The state of the file.
    schema_version, streams_version : int
        The versions of the records, and of the addresses of random streams.
    digest : str
        Over the other bytes of the line.
    """

    seed: Count
    profile: str
    plan: tuple[Planned, ...]
    command: str
    versions: dict[str, str]
    faults: tuple[Fault, ...] = ()
    controls: dict[str, str] = msgspec.field(default_factory=dict)
    sources: dict[str, str] = msgspec.field(default_factory=dict)
    state: State = State.NEVER
    schema_version: Literal[2] = SCHEMA_VERSION
    streams_version: int = STREAMS_VERSION
    digest: str = ""


class _Task(Frozen, frozen=True, kw_only=True, tag_field="record"):
    """Base of the lines that are about a task.

    Attributes
    ----------
    task : str
        The task's key.
    learner : str
        The learner's id; of a statement, its own.
    parameters : dict
        The learner's keyword arguments.
    arguments : Arguments
        The arguments of the audit; their type is its kind.
    index : int
        The task's place in the plan.
    digest : str
        Over the other bytes of the line, and over the digest of the header or, in a sealed file, of the line before.
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

    Attributes
    ----------
    finding : Finding
        The finding; its kind is that of the arguments.
    fault : str or None
        For a positive control, what it leaks.
    claim : PrivacyClaim or None
        The learner's claim of privacy.
    decoded : dict of str to str
        The meaning of the outputs that the finding names, by code.
    """

    finding: AnyFinding
    fault: str | None = None
    claim: PrivacyClaim | None = None
    decoded: dict[str, Words] = msgspec.field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.finding.kind != self.arguments.kind:
            raise InputError(f"a task of kind {self.arguments.kind} has a finding of kind {self.finding.kind}")


class Failure(_Task, kw_only=True, frozen=True, tag="failure"):
    """A task that raised, or killed its process: nothing is known of its learner.

    Attributes
    ----------
    error : str
        The error that it raised.
    """

    error: Words


class Seal(Frozen, frozen=True, kw_only=True, tag="seal", tag_field="record"):
    """The last line of a sealed file.

    Attributes
    ----------
    records : int
        The number of lines between the header and this one.
    digest : str
        The total of the run: over the other bytes of the line and the digest of the line before, and so over all.
    """

    records: Count
    digest: str = ""


Record = Header | Result | Failure | Seal


class Listed(Frozen, frozen=True):
    """The settings of a project for one of its audits.

    Attributes
    ----------
    name : str
        Its name.
    accepted : str
        Up to which epsilon its violation is accepted, why and since when; empty where none is.
    """

    name: str
    accepted: str = ""


class Run(Frozen, frozen=True):
    """A stored run, finished or not.

    Attributes
    ----------
    header : Header
        Its first line.
    results : tuple of Result
        In the order of the plan.
    failures : tuple of Failure
        The last failure of each task without a result, in the order of the plan.
    total : str
        The digest over all of a sealed file; empty for any other.
    listed : dict of str to Listed
        Of the check of a project, its audits by what their results have as learner.
    """

    header: Header
    results: tuple[Result, ...]
    failures: tuple[Failure, ...] = ()
    total: str = ""
    listed: dict[str, Listed] = msgspec.field(default_factory=dict)

    @property
    def seal(self) -> str:
        """The total of a sealed run; of any other its state, in words."""
        return self.total or str(self.header.state)
