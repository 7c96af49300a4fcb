"""How a task is performed: the learner is built and audited, or the claim checked; the finding becomes a record."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

import dpaudit
from dpaudit.contract import PrivacyClaim
from dpaudit.engine.decoding import decoded
from dpaudit.engine.evidence import check_statement
from dpaudit.engine.outcome import PRIVACY_AUDITS
from dpaudit.engine.tasks import Task
from dpaudit.jsonable import jsonable
from dpaudit.registry import PRIVATE, Entry, load

__all__ = ["perform"]


def perform(task: Task, *, seed: int, paths: tuple[str, ...] = (), n_jobs: int = 1) -> dict[str, Any]:
    """Run one audit, or check one claim, and return its record, JSON-safe: the task and the finding.

    The record of an audit also holds the learner's claim and, for a positive control, its fault; that of an audit of
    privacy, what the outputs stand for that its finding names.

    Parameters
    ----------
    task : Task
        What to do.
    seed : int
        The root seed of the run; the audits derive their streams from it and from what they audit.
    paths : tuple of str
        Where learners are found besides the installed packages.
    n_jobs : int
        Processes for this one audit; checks of claims use one.
    """
    if task.kind == "ledger":
        return _record(task, None, None, check_statement(load(paths).get_statement(task.learner).statement))
    entry = load(paths).get(task.learner)
    learner = entry.build(**task.parameters)
    if n_jobs != 1:
        _send_by_value(entry)
    finding = _AUDITS[task.kind](learner, task.arguments, seed, n_jobs)
    record = _record(task, entry.fault, learner.privacy, finding)
    words = decoded(learner, record["finding"]) if task.kind in PRIVACY_AUDITS else {}
    return {**record, "decoded": words} if words else record


def _record(task: Task, fault: str | None, claim: PrivacyClaim | None, finding: Any) -> dict[str, Any]:
    """Return what is stored of a task."""
    return {**task.to_dict(), "fault": fault, "claim": jsonable(claim), "finding": finding.to_dict()}


def _exact(learner: Any, arguments: Mapping[str, Any], seed: int, n_jobs: int) -> Any:
    """Enumerate; there is nothing to draw and nothing to spread over processes."""
    from dpaudit.contract import Relation

    relation, enclosure = Relation.parse(arguments["relation"]), arguments.get("enclosure", False)
    if arguments["samples"] == "all":
        finding = dpaudit.audit_law(learner, n=arguments["n"], relation=relation, enclosure=enclosure)
    else:
        from dpaudit.neighbours.crafted import crafted_pairs

        pairs = crafted_pairs(learner.domain, arguments["n"], relation)
        finding = dpaudit.audit_law(learner, samples=pairs, relation=relation, enclosure=enclosure)
    times = arguments.get("compose")
    if times is None:
        return finding
    from dpaudit.exact.composition import tabulate

    return replace(finding, composition=tabulate(finding, times))


def _privacy(learner: Any, arguments: Mapping[str, Any], seed: int, n_jobs: int) -> Any:
    source, chosen = arguments.get("pairs"), {k: v for k, v in arguments.items() if k != "pairs"}
    if source is not None:
        from dpaudit.neighbours.sources import pairs_of_source

        n = chosen.pop("n")
        chosen["pairs"] = pairs_of_source(source, learner, n=n, relation=arguments.get("relation"), seed=seed)
    return dpaudit.audit_privacy(learner, **chosen, seed=seed, n_jobs=n_jobs)


_ASIDE = ("role", "theorem_n", "case", "case_index", "concept")


def _utility(learner: Any, arguments: Mapping[str, Any], seed: int, n_jobs: int) -> Any:
    chosen = {k: v for k, v in arguments.items() if k not in _ASIDE}
    concept, distribution = arguments.get("concept"), "uniform"
    if arguments["case_index"] is not None:
        from dpaudit.utility.hard_cases import hard_cases

        case = hard_cases(learner, arguments["alpha"], arguments["setting"])[arguments["case_index"]]
        concept = case.concept_code if concept is None else concept
        distribution = case.distribution
        chosen.setdefault("noise", case.noise)
    return dpaudit.audit_utility(
        learner, 0 if concept is None else concept, distribution, **chosen, seed=seed, n_jobs=n_jobs
    )


def _picture(learner: Any, arguments: Mapping[str, Any], seed: int, n_jobs: int) -> Any:
    from dpaudit.engine.drawing import draw_picture

    return draw_picture(learner, arguments["n"], arguments["runs"], seed)


_AUDITS: Mapping[str, Callable[[Any, Mapping[str, Any], int, int], Any]] = {
    "exact": _exact,
    "privacy": _privacy,
    "utility": _utility,
    "picture": _picture,
}


def _send_by_value(entry: Entry) -> None:
    """Let a learner from a path travel to worker processes, which cannot import its private module."""
    package = entry.learner.__module__.partition(".")[0]
    if not package.startswith(PRIVATE):
        return
    # joblib carried its own copy of cloudpickle up to 1.5 and uses the installed one since.
    for name in ("joblib.externals.cloudpickle", "cloudpickle"):
        try:
            import_module(name).register_pickle_by_value(sys.modules[package])
        except ImportError:
            continue
