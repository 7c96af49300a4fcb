"""Tasks: one audit of one learner, or the check of one statement, as data; and functions that make each kind."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpaudit.contract import Learner, Relation
from dpaudit.engine.arguments import (
    Arguments,
    ExactArguments,
    LedgerArguments,
    PictureArguments,
    PrivacyArguments,
)
from dpaudit.jsonable import jsonable
from dpaudit.record import encodable
from dpaudit.registry import Entry, StatementEntry

__all__ = [
    "Task",
    "canonical",
    "exact_task",
    "ledger_task",
    "picture_task",
    "privacy_task",
]

PICTURED_RUNS = 3
"""The number of outputs that a picture shows."""


def canonical(value: Any) -> str:
    """Return `value` as JSON with sorted keys and no spaces: equal values give equal text."""
    return json.dumps(jsonable(value), sort_keys=True, separators=(",", ":"), allow_nan=False)


@dataclass(frozen=True)
class Task:
    """One audit of one learner, or the check of one statement of a paper.

    Parameters
    ----------
    learner : str
        The learner's id; of a check, the statement's.
    parameters : mapping
        The learner's keyword arguments.
    arguments : Arguments
        The arguments of the audit; their type is its kind.
    """

    learner: str
    parameters: Mapping[str, Any]
    arguments: Arguments

    @property
    def kind(self) -> str:
        """The kind of the audit; a picture is none, and decides nothing."""
        return self.arguments.kind

    @property
    def key(self) -> str:
        """A stable name: learner or statement, kind, role, number of examples, and a hash of all that the task says."""
        told = {name: value for name, value in encodable(self.arguments).items() if name != "kind"}
        everything = canonical([self.learner, self.kind, self.parameters, told])
        digest = hashlib.blake2b(everything.encode(), digest_size=5).hexdigest()
        if self.kind == "ledger":
            return f"{self.learner}/ledger/{digest}"
        role = f"{told['role']}-" if "role" in told else ""
        return f"{self.learner}/{self.kind}/{role}n{told.get('n')}-{digest}"


def exact_task(
    entry: Entry,
    learner: Learner,
    *,
    parameters: Mapping[str, Any] | None = None,
    n: int | None = None,
    relation: Relation | str | None = None,
    crafted: bool | None = None,
    enclosure: bool = False,
    compose: int | None = None,
) -> Task:
    """Return the task that computes the worst case over all, or over crafted, samples of n examples."""
    instance = entry.instance
    if relation is None:
        relation = Relation.REPLACE_ONE if learner.privacy is None else learner.privacy.relation
    if crafted is None:
        # An n of the user's own is taken at its word; enumeration says itself when it is too large.
        crafted = n is None and not instance.exhaustive
    arguments = ExactArguments(
        n=instance.n if n is None else n,
        relation=Relation.parse(relation),
        samples="crafted" if crafted else "all",
        enclosure=enclosure,
        compose=compose,
    )
    return Task(entry.id, instance.parameters if parameters is None else parameters, arguments)


def privacy_task(
    entry: Entry,
    *,
    trials: int,
    confidence: float,
    parameters: Mapping[str, Any] | None = None,
    n: int | None = None,
    **options: Any,
) -> Task:
    """Return the task of the black-box audit; `options` are as for `audit_privacy`, None and False stand for none."""
    chosen = {name: value for name, value in options.items() if value is not None}
    if "relation" in chosen:
        chosen["relation"] = Relation.parse(chosen["relation"])
    size = entry.instance.n if n is None else n
    arguments = PrivacyArguments(n=size, trials=trials, confidence=confidence, **chosen)
    return Task(entry.id, entry.instance.parameters if parameters is None else parameters, arguments)


def ledger_task(entry: StatementEntry, time_limit: float | None = None) -> Task:
    """Return the task that checks a statement."""
    return Task(entry.id, {}, LedgerArguments(statement=entry.statement.statement, time_limit=time_limit))


def picture_task(entry: Entry) -> Task:
    """Return the task that draws some outputs of a learner on the instance to show."""
    pictured = entry.pictured_instance
    return Task(entry.id, pictured.parameters, PictureArguments(n=pictured.n, runs=PICTURED_RUNS))
