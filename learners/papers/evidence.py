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

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

from dpaudit.contract import (
    Distribution,
    Evidence,
    Pair,
    PrivacyVerdict,
    Sample,
    StatementVerdict,
    Support,
    Tools,
)

# A true statement is loose if the truth is at most this share of its constant.
LOOSE = 0.75

# The relative error that rounding may give a number computed from exact laws.
TOLERANCE = 1e-9

Case = tuple[float, str, dict[str, Any]] | tuple[float, dict[str, Any]]
"""A number, the case in words, by default those of its data, and the data."""


def judged(
    summary: str,
    numbers: Mapping[str, float],
    witness: str,
    data: Mapping[str, Any],
    *,
    otherwise: StatementVerdict = StatementVerdict.HOLDS,
    failed: bool | None = None,
    grade: str = "exact",
    one_sided: bool = False,
) -> Evidence:
    """Return the evidence: "refuted", with the witness, if a number contradicts the statement; else `otherwise`.

    `summary`, `numbers`, `grade` and `one_sided` are as in `Evidence`. `witness` and `data` are the instance that
    decides, in words and as data, which are returned whatever the verdict. `failed` says whether the statement is
    refuted; by default whether there is a witness.
    """
    if failed or (failed is None and witness):
        verdict = StatementVerdict.REFUTED
        shown = witness
    else:
        verdict = otherwise
        shown = ""
    return Evidence(verdict, summary, numbers, grade, shown, data, one_sided)


tried = partial(judged, otherwise=StatementVerdict.UNDECIDED)
"""As `judged`, of an instance that refutes the statement or leaves it undecided."""


def greatest(cases: Iterable[Case], least: bool = False) -> tuple[float, str, dict[str, Any]]:
    """Return the first case with the greatest number, or with the least one, as (number, words, data)."""
    case = (min if least else max)(cases, key=lambda case: case[0])
    if len(case) == 3:
        return case
    return (case[0], listed(case[1]), case[1])


def listed(values: Mapping[str, Any], form: str = "") -> str:
    """Return "name: value, ...", the values in some format."""
    return ", ".join(f"{name}: {value:{form}}" for name, value in values.items())


def exceeds(found: float, claimed: float) -> bool:
    """Return whether an exactly computed number is above a bound by more than rounding explains."""
    return found > claimed * (1 + TOLERANCE)


def tightness(truth: float, claimed: float) -> StatementVerdict:
    """Return the verdict on a true upper bound: "loose" if the truth is at most `LOOSE` of it, else "holds"."""
    if truth <= LOOSE * claimed:
        return StatementVerdict.LOOSE
    return StatementVerdict.HOLDS


def against(pair: Pair) -> str:
    """Return both sides of a pair in words."""
    return f"{pair.data!r} against {pair.neighbour!r}"


@dataclass(frozen=True)
class Law:
    """A learner and its audit by exact output laws."""

    learner: Any
    found: Any

    @property
    def epsilon(self) -> float:
        """The worst loss."""
        return float(self.found.epsilon)

    @property
    def delta(self) -> float:
        """The worst delta at the claimed epsilon."""
        return float(self.found.delta_at_claim)

    @property
    def leaks(self) -> bool:
        """Whether the claim of privacy fails."""
        return bool(self.found.verdict == PrivacyVerdict.VIOLATION)

    @property
    def pair(self) -> Pair:
        """The pair of the worst loss."""
        pair: Pair = self.found.worst_pair
        return pair

    @property
    def data(self) -> dict[str, Any]:
        """The learner and the pair, with its loss."""
        return pair_data(self.learner, self.pair, epsilon=self.epsilon)

    @property
    def spill(self) -> dict[str, Any]:
        """The learner and the pair, with its delta at the claimed epsilon."""
        return pair_data(self.learner, self.pair, at=self.learner.epsilon, delta=self.delta)


def law_of(tools: Tools, learner: Any, **covered: Any) -> Law:
    """Return the audit of a learner by its exact output laws, on what `Tools.audit_law` is to cover."""
    return Law(learner, tools.audit_law(learner, **covered))


def judged_law(
    law: Law,
    summary: str,
    numbers: Mapping[str, float],
    *,
    leaks: bool | None = None,
    failed: bool = False,
    witness: str = "",
    data: Mapping[str, Any] | None = None,
    **rest: Any,
) -> Evidence:
    """Return the evidence on a claim of privacy: refuted where the law `leaks`, by its own word, or where `failed`.

    `witness` is what contradicts the statement where the law does not leak, and `data` are those of the law by
    default; for the `rest` see `judged`.
    """
    leaks = law.leaks if leaks is None else leaks
    # A leak is its own witness; the one given is for what else may fail.
    words = repr(law.pair) if leaks or not witness else witness
    return judged(summary, numbers, words, law.data if data is None else data, failed=leaks or failed, **rest)


def judged_unprivate(law: Law, summary: str) -> Evidence:
    """Return the evidence that a learner is private with no epsilon."""
    return judged_law(law, summary, {"epsilon": law.epsilon}, leaks=law.epsilon < math.inf)


class Loss(Law):
    """The supremum of a learner's privacy loss over samples of every size, as far as a search knows it."""

    @property
    def epsilon(self) -> float:
        """The loss of the pair."""
        return float(self.found.attained)

    @property
    def value(self) -> float:
        """The supremum, or the greatest loss found."""
        return float(self.found.value)

    @property
    def pair(self) -> Pair:
        """The pair that loses most of those computed."""
        pair: Pair = self.found.witness
        return pair

    def __str__(self) -> str:
        where = f"computed {self.found.attained:.4f} at n = {self.found.n}"
        if self.found.support == Support.PROVED:
            return f"{self.value:.4f} over samples of every size by proof, {where}"
        return f"at least {self.value:.4f} ({self.found.support}; {where})"


def losses_of(tools: Tools, learners: Iterable[Any]) -> tuple[list[Loss], Loss]:
    """Return the losses of learners, and the greatest, by searches shorter than those of `dpaudit exact --supremum`."""
    # Short, as the ledger has many rows; for a loss with a proof the search only illustrates it.
    found = [Loss(one, tools.audit_supremum(one, starts=1, evaluations=20, most=2)) for one in learners]
    return found, max(found, key=lambda loss: loss.value)


def judged_loss(
    loss: Loss,
    claimed: float,
    summary: str,
    numbers: Mapping[str, float],
    *,
    otherwise: StatementVerdict | None = None,
    **rest: Any,
) -> Evidence:
    """Return the evidence on a claim of pure privacy: refuted where the supremum exceeds it, or where `failed`.

    It is "loose" if the supremum is proved to be far below; `otherwise` replaces this verdict on a statement that is
    not refuted. For the `rest` see `judged_law`.
    """
    if loss.found.support == Support.PROVED:
        verdict = tightness(loss.value, claimed)
    else:
        verdict = StatementVerdict.HOLDS
    # What a search found may be too large by its error; only what is left refutes a claim.
    leaks = exceeds(loss.found.value - loss.found.error, claimed)
    return judged_law(loss, summary, numbers, leaks=leaks, otherwise=otherwise or verdict, **rest)


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
