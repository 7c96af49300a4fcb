"""Statements of papers beside their checks, and the rule by which numbers become a verdict, the same for all of them.

A check computes what the statement bounds. If a number contradicts the statement, it is "refuted" and the instance is
its witness, whatever was expected; of which class that failure is, the statement declares. If none does, the statement
"holds" where it was checked on all cases that the summary names, and is "loose" if, besides, the truth is far below its
constant. The truth of a claim of privacy is the supremum over samples of every size, so that "loose" takes a proof of
it: a maximum over a few examples, or over what a search met, may be far below. A single instance that was chosen
because it might refute, and does not, leaves the statement "undecided", and so do lower bounds of a quantity that is
bounded from above.

Witnesses are data: learners with parameters, samples, pairs, hard cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from dpaudit.contract import (
    Constants,
    Distribution,
    Evidence,
    Pair,
    Part,
    Sample,
    Statement,
    Support,
    SupremumAudit,
    Tools,
    Verdict,
)

from .. import citations

LOOSE = 0.75
"""A true statement is loose if the truth is at most this share of its constant."""

TOLERANCE = 1e-9
"""The relative error that rounding may give a number computed from exact laws."""

StatementCheck = Callable[[Tools], Evidence]


def states(
    id: str, statement: str, place: str = "", *,
    short: str, printed: str, found: str = "", best: str = "", slow: bool = False, **declared: Any,
) -> Callable[[StatementCheck], Statement]:  # fmt: skip
    """Return the decorator that makes a check the statement of that id; see `contract.Statement`, also for `declared`.

    The source is a place in the paper with which the id begins. A statement whose id begins with "OURS" is ours, and
    the constants of what is ours are.
    """
    part = declared.setdefault("part", Part.OURS if id.startswith("OURS") else Part.PAPERS)
    declared.setdefault("constants", Constants.OURS if part is Part.OURS else Constants.PAPER)
    source = getattr(citations, id.partition("-")[0])
    source += place if place.startswith(";") else f", {place}" * bool(place)
    at = {"place": place.removeprefix("; ")} | declared
    return lambda check: Statement(id, statement, source, check, short, printed, found, slow, best, **at)


def statements_in(names: Mapping[str, Any]) -> tuple[Statement, ...]:
    """Return the statements among the names of a module."""
    return tuple(value for value in names.values() if isinstance(value, Statement))


def judged(
    otherwise: Verdict,
    summary: str,
    numbers: Mapping[str, float],
    witness: str,
    data: Mapping[str, Any],
    *,
    failed: bool | None = None,
    grade: str = "exact",
    one_sided: bool = False,
) -> Evidence:
    """Return the evidence: "refuted", with the witness, if a number contradicts the statement; else `otherwise`.

    `otherwise` is the verdict if the statement is not refuted; `summary`, `numbers`, `grade` and `one_sided` are as in
    `Evidence`.
    `witness` and `data` are the instance that decides, in words and as data, which are returned whatever the verdict.
    `failed` says whether the statement is refuted; by default whether there is a witness.
    """
    verdict, shown = (Verdict.REFUTED, witness) if failed or (failed is None and witness) else (otherwise, "")
    return Evidence(verdict, summary, numbers, grade, shown, _plain(data), one_sided)


def greatest(cases: Iterable[tuple[float, str, dict[str, Any]]]) -> tuple[float, str, dict[str, Any]]:
    """Return the first case with the greatest number, as (number, words, data)."""
    return max(cases, key=lambda case: case[0])


def exceeds(found: float, claimed: float) -> bool:
    """Return whether an exactly computed number is above a bound by more than rounding explains."""
    return found > claimed * (1 + TOLERANCE)


def tightness(truth: float, claimed: float) -> Verdict:
    """Return the verdict on a true upper bound: "loose" if the truth is at most `LOOSE` of it, else "holds"."""
    return Verdict.LOOSE if truth <= LOOSE * claimed else Verdict.HOLDS


def _plain(value: Any) -> Any:
    """Return data with arrays, NumPy's numbers and tuples as lists and numbers of Python: equal data compare equal."""
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def against(pair: Pair) -> str:
    """Return both sides of a pair in words."""
    return f"{pair.data!r} against {pair.neighbour!r}"


@dataclass(frozen=True)
class Loss:
    """The supremum of a learner's privacy loss over samples of every size, as far as a search knows it."""

    learner: Any
    found: SupremumAudit

    @property
    def value(self) -> float:
        """The supremum, or the greatest loss found."""
        return float(self.found.value)

    def __str__(self) -> str:
        where = f"computed {self.found.attained:.4f} at n = {self.found.n}"
        if self.found.support == Support.PROVED:
            return f"{self.value:.4f} over samples of every size by proof, {where}"
        return f"at least {self.value:.4f} ({self.found.support}; {where})"


def losses_of(tools: Tools, learners: Iterable[Any]) -> tuple[list[Loss], Loss]:
    """Return the losses of learners, and the greatest, by short searches: `dpaudit supremum` searches longer."""
    found = [Loss(one, tools.audit_supremum(one, starts=1, evaluations=20, most=2)) for one in learners]
    return found, max(found, key=lambda loss: loss.value)


def judged_loss(
    loss: Loss,
    claimed: float,
    summary: str,
    numbers: Mapping[str, float],
    *,
    otherwise: Verdict | None = None,
    failed: bool = False,
    witness: str = "",
) -> Evidence:
    """Return the evidence on a claim of pure privacy: refuted where the supremum exceeds it, or where `failed`.

    It is "loose" if the supremum is proved to be far below. `witness` is what contradicts the statement where the
    supremum does not; `otherwise` replaces the verdict on the loss of a statement that is not refuted.
    """
    leaks, pair = exceeds(loss.found.value - loss.found.error, claimed), loss.found.witness
    verdict = tightness(loss.value, claimed) if loss.found.support == Support.PROVED else Verdict.HOLDS
    words = repr(pair) if leaks or not witness else witness
    data = pair_data(loss.learner, pair, epsilon=loss.found.attained)
    return judged(otherwise or verdict, summary, numbers, words, data, failed=leaks or failed)


def learner_data(learner: Any) -> dict[str, Any]:
    """Return a learner's id and its parameters: `dpaudit.pac.get_learner(id, **parameters)` builds it again."""
    parameters = {field.name: getattr(learner, field.name) for field in fields(learner)}
    return {"id": getattr(learner, "id", ""), "parameters": parameters}


def sample_data(sample: Sample) -> dict[str, Any]:
    """Return points, labels, counts and, of a mixture, which examples are public."""
    public = {} if sample.public is None else {"public": sample.public}
    return {"points": sample.points, "labels": sample.labels, "counts": sample.counts, **public}


def pair_data(learner: Any, pair: Pair, **numbers: float) -> dict[str, Any]:
    """Return a learner and two neighbouring samples, with the numbers that the laws of both give."""
    samples = {"data": sample_data(pair.data), "neighbour": sample_data(pair.neighbour)}
    return {"kind": "pair", "learner": learner_data(learner), **samples, **numbers}


def errors_data(learner: Any, sample: Sample, limit: float, probability: float) -> dict[str, Any]:
    """Return a learner and a sample on which it errs more than `limit` times with that probability."""
    case = {"learner": learner_data(learner), "sample": sample_data(sample)}
    return {"kind": "errors", **case, "limit": limit, "probability": probability}


def case_data(
    learner: Any, concept: int, distribution: Distribution | str, n: int, alpha: float, **numbers: float
) -> dict[str, Any]:
    """Return a learner and a hard case: a concept, a distribution and n, with what was found of Pr[error > alpha]."""
    drawn: Any = distribution
    if isinstance(distribution, Distribution):
        drawn = {"points": distribution.points, "probabilities": distribution.probabilities}
        drawn |= {} if distribution.public is None else {"public": distribution.public}
    case = {"learner": learner_data(learner), "concept": concept, "distribution": drawn, "n": n, "alpha": alpha}
    return {"kind": "case", **case, **numbers}
