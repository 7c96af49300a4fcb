"""Checks a learner at the edges of its parameters: one variable, one point, one example."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from dpaudit import seeding
from dpaudit.arguments import parameters_of
from dpaudit.conformance.required import require
from dpaudit.contract import HasLaw, HasUtility, Learner
from dpaudit.errors import InputError
from dpaudit.exact.audit import audit_law
from dpaudit.exact.supremum.audit import audit_supremum
from dpaudit.utility.audit import audit_utility
from dpaudit.utility.hard_cases import hard_cases

__all__ = ["check_edges", "edges"]

LEAST = {"dimension": (1,), "domain_size": (1, 2), "k": (1,), "rounds": (1,), "side": (1,), "subsamples": (1,)}
"""The least values of parameters that are sizes, by their names."""


def edges(learner: Learner) -> Iterator[Learner]:
    """Yield the learner with all sizes among its parameters at their least, and with each one alone.

    A size that it refuses by `InputError` is left out.
    """
    given = parameters_of(learner)
    sizes = [(name, value) for name in LEAST if given.get(name) is not None for value in LEAST[name]]
    changes = [dict(sizes), *({name: value} for name, value in sizes)]
    seen: list[dict[str, Any]] = []
    for change in changes:
        parameters = {**given, **change}
        if parameters in seen:
            continue
        seen.append(parameters)
        try:
            made: Learner = type(learner)(**parameters)
        except InputError:
            continue
        yield made


def check_edges(learner: Learner) -> None:
    """Check that audits at the edges of the parameters end, or refuse by `InputError`, on one example."""
    for edge in edges(learner):
        for audit in (_run, _law, _supremum, _utility):
            _check_audit(edge, audit)


def _check_audit(edge: Learner, audit: Callable[[Any], object]) -> None:
    """Raise `NonConforming` if an audit of a learner ends by another exception than `InputError`."""
    told = f"{audit.__name__.strip('_')} of {edge!r} raised"
    try:
        audit(edge)
    except InputError:
        return
    except Exception as error:  # whatever a learner raises is its fault, and is told
        require(False, edge, f"{told} {type(error).__name__}: {error}")


def _run(edge: Learner) -> None:
    sample = edge.domain.sample(edge.domain.landmarks()[:1], [1])
    for code in edge.run(sample, seeding.generator(0, "conformance", "edge"), 2):
        edge.decode(code)


def _law(edge: Learner) -> None:
    if isinstance(edge, HasLaw):
        audit_law(edge, n=1)


def _supremum(edge: Learner) -> None:
    if isinstance(edge, HasLaw):
        audit_supremum(edge, starts=1, evaluations=1, most=1)


def _utility(edge: Learner) -> None:
    alpha, beta = edge.instance.alpha, edge.instance.beta
    if isinstance(edge, HasUtility):
        edge.utility(alpha, beta)
    hard_cases(edge, alpha)
    audit_utility(edge, 0, "uniform", alpha=alpha, beta=beta, n=1, trials=20, confidence=0.9)
