"""Runs for the tests of the reporters: the small golden one, and variants of it."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path

from msgspec.structs import replace
from toy_records import planned_task

from dpaudit.contract import Verdict
from dpaudit.evidence.records import Failure, Planned, Run
from dpaudit.evidence.store import load_run

GOLDEN = Path(__file__).parents[1] / "golden"


@cache
def load_small() -> Run:
    """Return the stored small run, which nobody changes."""
    return load_run(GOLDEN / "run_small.jsonl")


def remake():
    """Return the module that constructs the small run."""
    spec = importlib.util.spec_from_file_location("golden_remake", GOLDEN / "remake.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def only(run, learner, *kinds) -> Run:
    """Return the run with the results of one learner and of the kinds given (all by default)."""
    return with_results(run, [r for r in run.results if r.learner == learner and (not kinds or r.kind in kinds)])


def with_results(run, results) -> Run:
    """Return the run with other results and the plan that goes with them."""
    results = tuple(replace(result, index=i) for i, result in enumerate(results))
    return Run(replace(run.header, plan=tuple(Planned(r.task, r.learner, r.kind) for r in results)), results)


def first(run, kind, role=None):
    """Return the first result of a kind (and role)."""
    return next(r for r in run.results if r.kind == kind and (role is None or r.arguments.role == role))


def put(run, *changed) -> Run:
    """Return the run with results in the place of those of the same tasks."""
    new = {result.task: result for result in changed}
    return replace(run, results=tuple(new.get(result.task, result) for result in run.results))


def retold(result, **changes):
    """Return a result whose finding has other fields."""
    if "verdict" in changes:
        changes["verdict"] = Verdict.of(changes["verdict"])
    return replace(result, finding=replace(result.finding, **changes))


def change(run, kind, role=None, **changes) -> Run:
    """Return the run with other fields in the finding of the first result of a kind (and role)."""
    return put(run, retold(first(run, kind, role), **changes))


def change_witness(run, **changes) -> Run:
    """Return the run with other fields in the witness of its first black-box audit."""
    return change(run, "privacy", witness=replace(first(run, "privacy").finding.witness, **changes))


def claiming(run, **changes) -> Run:
    """Return the run with other fields in the claims of its learners."""
    return put(run, *(replace(r, claim=type(r.claim)(**_fields(r.claim) | changes)) for r in run.results if r.claim))


def _fields(claim):
    return {name: getattr(claim, name) for name in ("epsilon", "delta", "relation", "claim_id", "source")}


def controls_missed(run) -> Run:
    """Return the run with no violation found in its controls."""
    return put(run, *(retold(r, verdict="consistent") for r in run.results if r.fault is not None))


def planned(run, *keys) -> Run:
    """Return the run with more tasks in its plan."""
    return replace(run, header=replace(run.header, plan=(*run.header.plan, *map(planned_task, keys))))


def failed(run, result, error="RuntimeError: oops") -> Run:
    """Return the run with a result replaced by a failure of its task."""
    names = ("index", "task", "learner", "parameters", "arguments")
    failure = Failure(**{name: getattr(result, name) for name in names}, error=error)
    kept = tuple(r for r in run.results if r is not result)
    return replace(run, results=kept, failures=(*run.failures, failure))
