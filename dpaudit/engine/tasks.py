"""One audit of one learner, or the check of one claim, as data; and how the kinds are made."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpaudit.contract import Learner, Relation, UtilityClaim
from dpaudit.errors import InputError
from dpaudit.registry import ClaimEntry, Entry
from dpaudit.results import jsonable

__all__ = [
    "KINDS",
    "Task",
    "canonical",
    "exact_task",
    "ledger_task",
    "privacy_task",
    "utility_target",
    "utility_tasks",
]

KINDS = ("exact", "privacy", "utility", "ledger")


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
    kind : {"exact", "privacy", "utility", "ledger"}
        Which audit.
    parameters : mapping
        The learner's keyword arguments.
    arguments : mapping
        What the audit takes, JSON-able. Exact: ``n``, ``relation`` and ``samples`` ("all" or "crafted").
        Privacy: ``n``, ``trials``, ``confidence``; to override the claim, ``epsilon``, ``delta``, ``relation``;
        where they are on, ``strict``, ``sequential``, ``curve``, ``float_bits``. Utility: ``role`` ("claim" or
        "ladder"), ``case`` (name), ``case_index`` (into `hard_cases`, or None for the uniform distribution),
        ``concept`` (a code, or None for the case's own), ``alpha``, ``beta``, ``n``, ``trials``, ``confidence``,
        ``setting``. Ledger: ``statement``, so that a stored result stands for the statement that was checked.
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


def exact_task(
    entry: Entry,
    learner: Learner,
    *,
    parameters: Mapping[str, Any] | None = None,
    n: int | None = None,
    relation: Relation | str | None = None,
    crafted: bool | None = None,
) -> Task:
    """Return the task that computes the worst case over all, or over crafted, samples of n examples."""
    example = entry.example
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
    arguments = {"n": entry.example.n if n is None else n, "trials": trials, "confidence": confidence}
    arguments |= {name: value for name, value in options.items() if value is not None and value is not False}
    return Task(entry.id, "privacy", entry.example.parameters if parameters is None else parameters, arguments)


def ledger_task(entry: ClaimEntry) -> Task:
    """Return the task that checks a claim."""
    return Task(entry.id, "ledger", {}, {"statement": entry.claim.statement})


def utility_target(learner: Any, alpha: float, beta: float) -> UtilityClaim | None:
    """Return what the learner's theorem promises for alpha and beta; None if it has no theorem."""
    if hasattr(learner, "utility"):
        claim: UtilityClaim = learner.utility(alpha, beta)
        return claim
    if hasattr(learner, "sample_size"):
        return UtilityClaim(alpha, beta, int(learner.sample_size(alpha, beta)))
    return None


def utility_tasks(
    entry: Entry,
    learner: Learner,
    *,
    trials: int,
    confidence: float,
    parameters: Mapping[str, Any] | None = None,
    alpha: float | None = None,
    beta: float | None = None,
    n: int | None = None,
    concept: int | None = None,
    cases: Sequence[int | None] | None = None,
) -> list[Task]:
    """Return one task for each hard case, which share the error budget ``1 - confidence`` equally.

    Parameters
    ----------
    entry, learner
        The learner and where it came from.
    trials : int
        Samples drawn for each case.
    confidence : float
        Of all intervals together.
    parameters : mapping, optional
        The learner's; its example's by default.
    alpha, beta, n : optional
        The example's accuracy and failure probability, and the theorem's sample size, by default.
    concept : int, optional
        Target for every case instead of the case's own.
    cases : sequence of int or None, optional
        Which hard cases (None stands for the uniform distribution); all by default.
    """
    alpha = entry.example.alpha if alpha is None else alpha
    beta = entry.example.beta if beta is None else beta
    size, setting = _size(entry, learner, alpha, beta, n)
    chosen = _cases(learner, alpha, cases)
    each = 1 - (1 - confidence) / max(len(chosen), 1)
    shared = {"role": "claim", "concept": concept, "alpha": alpha, "beta": beta, "n": size, "setting": setting}
    shared |= {"trials": trials, "confidence": each}
    kept = entry.example.parameters if parameters is None else parameters
    return [Task(entry.id, "utility", kept, {**shared, "case_index": i, "case": name}) for i, name in chosen]


def _cases(learner: Learner, alpha: float, wanted: Sequence[int | None] | None) -> list[tuple[int | None, str]]:
    """Return (index, name) of the wanted hard cases; (None, "uniform") for the uniform distribution."""
    if wanted is not None and set(wanted) == {None}:
        return [(None, "uniform")]
    from dpaudit.utility.hard_cases import hard_cases

    names = [case.name for case in hard_cases(learner, alpha)]
    for index in wanted or ():
        if index is not None and not 0 <= index < len(names):
            raise InputError(f"distribution must be uniform, all, or a hard case 0..{len(names) - 1}; got {index}")
    chosen = range(len(names)) if wanted is None else wanted
    return [(i, "uniform" if i is None else names[i]) for i in chosen]


def _size(entry: Entry, learner: Learner, alpha: float, beta: float, n: int | None) -> tuple[int, str]:
    """Return the sample size, the theorem's unless given, and what the theorem measures the error on."""
    try:
        target = utility_target(learner, alpha, beta)
    except InputError:
        # The theorem may not reach this alpha and beta; at the user's own n the audit still makes sense.
        if n is None:
            raise
        target = None
    if n is None and target is None:
        raise InputError(f"{entry.id} has no theorem on its sample size; give n")
    size = n if target is None or n is not None else int(target.sample_size)
    assert size is not None
    return size, "realizable" if target is None else target.setting
