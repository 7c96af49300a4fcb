"""Learners and samples that several test files of the learners share."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.stats

from dpaudit.contract import Relation
from learners.conjunctions import controls as broken_conjunctions
from learners.conjunctions import elimination as conjunctions
from learners.conjunctions import exponential as conjunctions_exponential
from learners.conjunctions import greedy as conjunctions_greedy
from learners.conjunctions import search_controls as broken_search
from learners.parities import amplified as parity_confidence
from learners.parities import controls as broken_parity
from learners.parities import private as parity
from learners.points import consistent as points_consistent
from learners.points import controls as broken_finite_class
from learners.points import exponential as points_exponential
from learners.samples import Sample

MODULES = (
    points_consistent,
    points_exponential,
    parity,
    parity_confidence,
    conjunctions,
    conjunctions_exponential,
    conjunctions_greedy,
)
CONTROLS = (broken_finite_class, broken_parity, broken_conjunctions, broken_search)
SOUND = tuple(learner for module in MODULES for learner in module.LEARNERS)
BROKEN = tuple(learner for module in CONTROLS for learner in module.LEARNERS)
PRIVATE = tuple(c for c in SOUND if c(**c.instance.parameters).privacy is not None)


def example_of(learner_class: Any) -> Any:
    """Return the learner's own example instance."""
    return learner_class(**learner_class.instance.parameters)


def every_sample(domain: Any, n: int) -> Iterator[Sample]:
    """Yield every multiset of n examples."""
    examples = [(x, y) for x in domain.points() for y in (0, 1)]
    for chosen in itertools.combinations_with_replacement(examples, n):
        yield domain.sample(np.array([x for x, _ in chosen]), [y for _, y in chosen])


def worst_epsilon(learner: Any, n: int, samples: Any = None, relation: Relation = Relation.REPLACE_ONE) -> float:
    """Return the greatest log-ratio over all pairs, by a plain double loop over samples and neighbours."""
    laws: dict[Sample, Any] = {}

    def log_prob(sample: Sample) -> Any:
        if sample not in laws:
            laws[sample] = learner.law(sample).log_prob
        return laws[sample]

    worst = 0.0
    for sample in every_sample(learner.domain, n) if samples is None else samples:
        here = log_prob(sample)
        for neighbour in sample.neighbours(relation):
            there = log_prob(neighbour)
            for left, right in ((here, there), (there, here)):
                can = left > -np.inf
                worst = max(worst, float((left[can] - right[can]).max()))
    return worst


def agreement(learner: Any, sample: Sample, runs: int, rng: np.random.Generator, law: Any = None) -> float:
    """Return the p-value of the likelihood-ratio test that `runs` outputs come from the law (0 if one cannot occur).

    Atoms with fewer than 20 expected outputs are pooled, so that the chi-squared approximation holds far out.
    """
    law = learner.law(sample) if law is None else law
    places = {atom: i for i, atom in enumerate(law.atoms)}
    observed = np.bincount([places[int(c)] for c in learner.run(sample, rng, runs)], minlength=len(places))
    expected = runs * np.exp(law.log_prob)
    if observed[np.isneginf(law.log_prob)].any():
        return 0.0
    large = expected >= 20
    seen = np.append(observed[large], observed[~large].sum())
    due = np.append(expected[large], expected[~large].sum())
    if due[-1] < 20:
        # Too little to approximate: fold the rest into the commonest atom.
        top = due[:-1].argmax()
        seen[top], due[top] = seen[top] + seen[-1], due[top] + due[-1]
        seen, due = seen[:-1], due[:-1]
    statistic = 2 * sum(o * math.log(o / e) for o, e in zip(seen, due, strict=True) if o)
    return float(scipy.stats.chi2.sf(statistic, len(due) - 1)) if len(due) > 1 else 1.0
