"""The failure rate of a learner on one case: exact sums, or means over samples of exact conditional rates."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import HasLaw, Learner
from dpaudit.errors import InputError
from dpaudit.utility.hard_cases import HardCase
from dpaudit.utility.problem import Judge, Problem

MAX_VECTORS = 4000
"""Sums over up to this many count vectors are made instead of drawing samples."""
MAX_SUPPORT = 4
"""On more points than these there are too many count vectors."""
TAIL = 1e-12
"""The probability that each one of the nested ranges of counts leaves out, on either side."""
MAX_KNOWN = 2**14
"""The number of samples whose conditional rates are remembered."""

Floats = NDArray[np.float64]


class CaseFailure:
    """Pr[a learner fails] on n examples of one case, where failing is an error above alpha or no hypothesis.

    Where the learner has a law, the rate given the sample is the law's mass of the outputs that fail, without the
    variance that runs would add; else it is the indicator that one run fails.
    """

    def __init__(self, learner: Learner, case: HardCase, alpha: float, setting: str) -> None:
        concept = learner.concepts.concept(case.concept_code)
        self._problem = Problem(learner, concept, case.distribution, case.noise, alpha, setting)
        self._lawful = isinstance(learner, HasLaw)
        self._known: dict[Any, float] = {}
        self._masks: dict[range, NDArray[np.bool_]] = {}
        self._judge = self._problem.judge()

    def draws(self, n: int, rng: np.random.Generator, size: int) -> Floats:
        """Return the failure rates given each of `size` independent samples of n examples, (size,)."""
        problem = self._problem
        if problem.fixed:
            sample = problem.sample(n)
            return np.array([self._given(sample, rng, problem.judge(sample)) for _ in range(size)])
        return np.array([self._given(problem.draw(n, rng), rng, self._judge) for _ in range(size)])

    def exact(self, n: int, most: int = MAX_VECTORS) -> tuple[float, float] | None:
        """Return an interval that contains the failure rate, from a sum over up to `most` likely samples; None if more.

        Count vectors that are left out, below 1e-9 together, widen it; so may rounding, by 1e-9 relatively.
        """
        if not self._lawful:
            return None
        problem = self._problem
        try:
            if problem.fixed:
                sample = problem.sample(n)
                rate, left_out = self._by_law(sample, problem.judge(sample)), 0.0
            else:
                vectors = _likely_counts(n, problem.chances, most)
                if vectors is None:
                    return None
                samples = ((problem.sample_of(counts), p) for counts, p in vectors)
                rate = sum(p * self._by_law(sample, self._judge) for sample, p in samples)
                left_out = max(0.0, 1 - sum(p for _, p in vectors))
        except InputError:  # the law of so large a sample is not offered
            return None
        return max(0.0, rate * (1 - 1e-9)), min(1.0, rate * (1 + 1e-9) + left_out)

    def _given(self, sample: Any, rng: np.random.Generator, judge: Judge) -> float:
        try:
            if self._lawful:
                rate = self._known[sample] if sample in self._known else self._by_law(sample, judge)
                if len(self._known) < MAX_KNOWN:
                    self._known[sample] = rate
                return rate
        except InputError:  # the law of so large a sample is not offered
            self._lawful = False
        return float(judge(self._problem.learner.run(sample, rng, 1)[0]))

    def _by_law(self, sample: Any, judge: Judge) -> float:
        """Return the mass of the outputs that fail."""
        law = self._problem.learner.law(sample)
        kept = isinstance(law.atoms, range) and judge is self._judge
        failing = self._masks.get(law.atoms) if kept else None
        if failing is None:
            failing = np.fromiter((judge(atom) for atom in law.atoms), dtype=np.bool_, count=len(law.atoms))
            if kept:
                self._masks[law.atoms] = failing
        return float(np.exp(np.asarray(law.log_prob)[failing]).sum())


def _likely_counts(n: int, weights: Floats, most: int) -> list[tuple[NDArray[np.int64], float]] | None:
    """Return the likely count vectors of a multinomial draw with their probabilities; None if there are too many."""
    drawn = np.flatnonzero(weights)
    if len(drawn) > MAX_SUPPORT:
        return None
    found = list(islice(_nested(n, weights[drawn], 1.0), most + 1))
    if len(found) > most:
        return None
    vectors = np.zeros((len(found), len(weights)), dtype=np.int64)
    vectors[:, drawn] = [counts for counts, _ in found]
    return [(counts, probability) for counts, (_, probability) in zip(vectors, found, strict=True)]


def _nested(n: int, weights: Floats, reached: float) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield likely counts of the points with these weights, one point after the other."""
    from scipy.stats import binom

    if len(weights) == 1:
        yield (n,), reached
        return
    if reached < TAIL or not weights.sum() > 0:
        return
    share = min(1.0, float(weights[0] / weights.sum()))
    least, most = int(binom.ppf(TAIL, n, share)), int(binom.isf(TAIL, n, share))
    counts = np.arange(max(0, least), most + 1)
    for count, probability in zip(counts.tolist(), binom.pmf(counts, n, share).tolist(), strict=True):
        for rest, joint in _nested(n - count, weights[1:], reached * probability):
            yield (count, *rest), joint
