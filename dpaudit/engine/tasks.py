"""One audit of one learner, or the check of one claim, as data; and how the kinds are made."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpaudit.contract import Instance, Learner, Relation
from dpaudit.errors import InputError
from dpaudit.jsonable import jsonable
from dpaudit.registry import Entry, StatementEntry

__all__ = [
    "KINDS",
    "Task",
    "canonical",
    "exact_task",
    "ledger_task",
    "picture_task",
    "privacy_task",
]

KINDS = ("exact", "privacy", "utility", "ledger", "picture")

PICTURED_RUNS = 3
"""How many outputs a picture shows."""


def canonical(value: Any) -> str:
    """Return `value` as JSON with sorted keys and no spaces: equal values give equal text."""
    return json.dumps(jsonable(value), sort_keys=True, separators=(",", ":"), allow_nan=False)


@dataclass(frozen=True)
class Task:
    """One audit of one learner, or the check of one claim of the ledger.

    Parameters
    ----------
    learner : str
        The learner's id; for the ledger, the claim's.
    kind : {"exact", "privacy", "utility", "ledger", "picture"}
        Which audit; a picture is none, and decides nothing.
    parameters : mapping
        The learner's keyword arguments.
    arguments : mapping
        What the audit takes, JSON-able. Exact: ``n``, ``relation`` and ``samples`` ("all" or "crafted");
        where they are asked for, ``enclosure`` and ``compose`` (a number of runs).
        Privacy: ``n``, ``trials``, ``confidence``; to override the claim, ``epsilon``, ``delta``, ``relation``;
        where they are on, ``strict``, ``sequential``, ``curve``, ``float_bits``; instead of crafted pairs, ``pairs``
        (such as "random:50"). Utility: ``role`` ("claim" or
        "ladder"; of a single audit's ladder also ``theorem_n``), ``case`` (name), ``case_index`` (into `hard_cases`,
        or None for the uniform distribution),
        ``concept`` (a code, or None for the case's own), ``alpha``, ``beta``, ``n``, ``trials``, ``confidence``,
        ``setting`` and, to override the case's own, ``noise``. Ledger: ``statement``, so that a stored result stands
        for the statement that was checked.
        Picture: ``n`` and ``runs``.
    """

    learner: str
    kind: str
    parameters: Mapping[str, Any]
    arguments: Mapping[str, Any]

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"kind must be one of {', '.join(KINDS)}; got {self.kind!r}")

    @property
    def key(self) -> str:
        """A stable name: learner or claim, kind, role, number of examples, and a hash of all that the task says."""
        everything = canonical([self.learner, self.kind, self.parameters, self.arguments])
        digest = hashlib.blake2b(everything.encode(), digest_size=5).hexdigest()
        if self.kind == "ledger":
            return f"{self.learner}/ledger/{digest}"
        role = self.arguments.get("role")
        label = f"n{self.arguments.get('n')}" if role is None else f"{role}-n{self.arguments.get('n')}"
        return f"{self.learner}/{self.kind}/{label}-{digest}"

    def to_dict(self) -> dict[str, Any]:
        """Return what every stored line says of its task, JSON-safe."""
        found: dict[str, Any] = jsonable(
            {
                "task": self.key,
                "kind": self.kind,
                "learner": self.learner,
                "parameters": self.parameters,
                "arguments": self.arguments,
            }
        )
        return found


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
    example = entry.instance
    if relation is None:
        relation = Relation.REPLACE_ONE if learner.privacy is None else learner.privacy.relation
    if crafted is None:
        # An n of the user's own is taken at its word; enumeration says itself when it is too large.
        crafted = n is None and not example.exhaustive
    arguments = {
        "n": example.n if n is None else n,
        "relation": Relation.parse(relation).value,
        "samples": "crafted" if crafted else "all",
    }
    arguments |= {"enclosure": True} if enclosure else {}
    arguments |= {} if compose is None else {"compose": compose}
    return Task(entry.id, "exact", example.parameters if parameters is None else parameters, arguments)


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
    arguments = {"n": entry.instance.n if n is None else n, "trials": trials, "confidence": confidence}
    arguments |= {name: value for name, value in options.items() if value is not None and value is not False}
    return Task(entry.id, "privacy", entry.instance.parameters if parameters is None else parameters, arguments)


def ledger_task(entry: StatementEntry) -> Task:
    """Return the task that checks a claim."""
    return Task(entry.id, "ledger", {}, {"statement": entry.statement.statement})


def picture_task(entry: Entry) -> Task:
    """Return the task that draws some outputs of a learner on its `pictured` instance, else on its example."""
    pictured: Instance = getattr(entry.learner, "pictured", entry.instance)
    return Task(entry.id, "picture", pictured.parameters, {"n": pictured.n, "runs": PICTURED_RUNS})
