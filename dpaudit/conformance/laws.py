"""Check the law of a learner: that it is one, that runs follow it, that its symmetries keep it; and small parameters.

The edges of the parameters are one variable, one point, one example.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.special import chdtrc

from dpaudit import seeding
from dpaudit.arguments import parameters_of
from dpaudit.conformance.checks import require, samples_of
from dpaudit.contract import Grade, HasLaw, HasSymmetries, HasUtility, Learner, Relation
from dpaudit.errors import InputError
from dpaudit.events.cells import tally
from dpaudit.exact.audit import audit_law
from dpaudit.exact.supremum import audit_supremum
from dpaudit.neighbours.multisets import check_symmetry
from dpaudit.outputs.canonical import canonical
from dpaudit.utility.audit import audit_utility
from dpaudit.utility.hard_cases import hard_cases

__all__ = ["FALSE_ALARM", "check_edges", "check_law_is_a_law", "check_run_agrees_with_law", "check_symmetries", "edges"]

FALSE_ALARM = 1e-6
"""Probability with which `check_run_agrees_with_law` accuses a conforming learner, over all its samples together."""

RUNS = 20_000
NEIGHBOURS = 2


def check_law_is_a_law(learner: Learner) -> None:
    """Check that probabilities sum to 1 within the stated error, and that atoms are distinct and hashable."""
    if not isinstance(learner, HasLaw):
        return
    for sample in samples_of(learner):
        law = learner.law(sample)
        distinct = len(set(law.atoms)) == len(law.atoms) == len(law.log_prob)
        require(distinct, learner, "atoms must be distinct, one a log-probability")
        graded = law.grade in (Grade.EXACT, Grade.NUMERIC) and law.error >= 0
        require(graded, learner, "a law needs a grade and an error >= 0")
        total = float(np.exp(law.log_prob).sum())
        slack = np.expm1(law.error) + 1e-12 * len(law.atoms)
        fits = bool(abs(total - 1) <= slack)
        require(fits, learner, f"probabilities on {sample!r} sum to {total!r}, not 1 within {slack:.2g}")


def check_run_agrees_with_law(learner: Learner) -> None:
    """Check that `run` follows `law`, by a G-test on each of several samples; false-alarm rate `FALSE_ALARM` in all."""
    if not isinstance(learner, HasLaw):
        return
    samples = samples_of(learner)
    for index, sample in enumerate(samples):
        law = learner.law(sample)
        counts = tally(learner.run(sample, seeding.generator(2, "conformance", index), RUNS))
        cells = [canonical(atom) for atom in law.atoms]
        possible = {cell for cell, lp in zip(cells, law.log_prob, strict=True) if lp > -np.inf}
        strange = [cell for cell in counts if cell not in possible]
        require(not strange, learner, f"run returned {strange[:3]!r}, which the law excludes, on {sample!r}")
        p = _g_test(counts, dict(zip(cells, np.exp(law.log_prob), strict=True)))
        fits = p > FALSE_ALARM / len(samples)
        require(fits, learner, f"run disagrees with law on {sample!r}: G-test p = {p:.3g} at {RUNS} runs")


def _g_test(counts: Counter[Any], law: dict[Any, float]) -> float:
    """Return the p-value of the likelihood-ratio test of fit; atoms expected fewer than 20 times are one cell."""
    runs = counts.total()
    cells = [(counts[atom], runs * p) for atom, p in law.items() if runs * p >= 20]
    rest = (runs - sum(c for c, _ in cells), runs - sum(e for _, e in cells))
    cells += [rest] if rest[1] > 1e-6 * runs or rest[0] else []
    statistic = 2 * sum(c * np.log(c / max(e, 1e-300)) for c, e in cells if c)
    return float(chdtrc(len(cells) - 1, max(statistic, 0.0))) if len(cells) > 1 else 1.0


def check_symmetries(learner: Learner) -> None:
    """Check that each generator that `symmetries` returns keeps what distinguishes samples from their neighbours."""
    if not (isinstance(learner, HasSymmetries) and isinstance(learner, HasLaw)):
        return
    remembered = SimpleNamespace(domain=learner.domain, law=lru_cache(maxsize=None)(learner.law))
    kin = learner.privacy.relation if learner.privacy else Relation.REPLACE_ONE
    samples = [sample for sample in samples_of(learner) if sample.n]
    pairs = [(sample, other) for sample in samples for other in _some_neighbours(sample, kin)]
    for permutation in learner.symmetries():
        for sample, other in pairs:
            require(
                check_symmetry(remembered, sample, other, permutation),
                learner,
                f"{list(permutation)!r:.200} is no symmetry: it changes the loss of {sample!r:.200} and {other!r:.200}",
            )


def _some_neighbours(sample: Any, relation: Relation) -> list[Any]:
    """Return a few neighbours of a sample, spread over all."""
    found = list(sample.neighbours(relation))
    return found[:: max(1, len(found) // NEIGHBOURS)][:NEIGHBOURS]


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
    message = f"{audit.__name__.strip('_')} of {edge!r} raised"
    try:
        audit(edge)
    except InputError:
        return
    except Exception as error:  # whatever a learner raises is its fault, and is reported
        require(False, edge, f"{message} {type(error).__name__}: {error}")


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
