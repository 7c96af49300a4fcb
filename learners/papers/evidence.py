"""Evidence on claims of privacy, and witnesses as data: learners with parameters, samples, pairs, hard cases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from dpaudit.contract import Distribution, Evidence, Pair, Sample, Support, SupremumAudit, Tools, Verdict

from .verdicts import exceeds, judged, tightness


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
