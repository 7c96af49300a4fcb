"""Exact probabilities of failure, and of errors, by summing over samples and laws."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from dpaudit.contract import Distribution, Hypothesis
from learners.arrays import Floats, Integers, Labels

__all__ = ["answer", "compositions", "errors_of_law", "failure_probability", "two_point", "worst_empirical_failure"]


def failure_probability(learner: Any, concept: Hypothesis, distribution: Distribution, n: int, alpha: float) -> float:
    """Return Pr[the learner fails or its population error exceeds alpha] on n examples labelled by the concept.

    The sum over all C(n + m - 1, m - 1) count vectors of the m points of the distribution, each weighted with its
    multinomial probability and the exact law of the learner; an error within 1e-12 of alpha does not exceed it.
    """
    truth = concept.predict(distribution.points)
    fails: dict[Any, bool] = {}

    def failed(atom: Any) -> bool:
        if atom not in fails:
            hypothesis = learner.decode(atom)
            wrong = None if hypothesis is None else hypothesis.predict(distribution.points) != truth
            fails[atom] = wrong is None or float(distribution.probabilities[wrong].sum()) > alpha + 1e-12
        return fails[atom]

    total = []
    for counts in compositions(n, len(distribution.points)):
        weight = _multinomial(counts, distribution.probabilities)
        seen = np.array(counts) > 0
        sample = learner.domain.sample(distribution.points[seen], truth[seen], np.array(counts)[seen])
        law = learner.law(sample)
        total += [weight * math.exp(lp) for atom, lp in zip(law.atoms, law.log_prob, strict=True) if failed(atom)]
    return math.fsum(total)


def errors_of_law(learner: Any, sample: Any) -> tuple[Floats, Integers]:
    """Return the probabilities of a learner's answers to a sample, and on how many examples each errs."""
    law = learner.law(sample)
    return np.exp(law.log_prob), np.array([sample.errors(learner.decode(atom)) for atom in law.atoms])


def worst_empirical_failure(
    learner: Any, n: int, alpha: float, targets: Iterable[Hypothesis] | None = None
) -> tuple[float, str]:
    """Return the worst Pr[error on the sample > alpha] over samples of n that a target labels, and the sample.

    By default all concepts are targets.
    """
    points, worst, where = learner.domain.points(), 0.0, ""
    answers: dict[Any, Labels] = {}
    for target in learner.concepts.enumerate() if targets is None else targets:
        truth = target.predict(points)
        for counts in compositions(n, len(points)):
            law = learner.law(learner.domain.sample(points, truth, counts))
            for atom in law.atoms:
                if atom not in answers:
                    answers[atom] = learner.decode(atom).predict(points)
            wrong = (np.array([answers[atom] for atom in law.atoms]) != truth) @ np.array(counts)
            failure = float(np.exp(law.log_prob)[wrong > alpha * n].sum())
            if failure > worst:
                worst, where = failure, repr(learner.domain.sample(points, truth, counts))
    return worst, where


def answer(learner: Any, sample: Any) -> Any:
    """Return the hypothesis of a learner without randomness."""
    return learner.decode(int(learner.run(sample, np.random.default_rng(0), 1)[0]))


def two_point(points: Any, hard: int, easy: int, mass: float) -> Distribution:
    """Return the distribution that gives `mass` to row `hard` of the points, the rest to row `easy`."""
    return Distribution(points[[hard, easy]], np.array([mass, 1 - mass]), f"{mass:g} on one point")


def compositions(n: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Yield all tuples of `parts` integers >= 0 with sum n."""
    for bars in itertools.combinations(range(n + parts - 1), parts - 1):
        ends = (-1, *bars, n + parts - 1)
        yield tuple(b - a - 1 for a, b in itertools.pairwise(ends))


def _multinomial(counts: tuple[int, ...], probabilities: Any) -> float:
    """Return n! / prod c_i! prod p_i^c_i."""
    ways = math.lgamma(sum(counts) + 1) - sum(math.lgamma(c + 1) for c in counts)
    return math.exp(ways + sum(c * math.log(p) for c, p in zip(counts, probabilities, strict=True) if c))
