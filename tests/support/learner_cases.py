"""Learners and samples that several test files of the learners share."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.stats

from dpaudit.contract import Relation
from dpaudit.registry import load
from dpaudit_learners.samples import Sample

FAMILIES = ("points", "parities", "conjunctions")
# Set covers have tests of their own.
CASES = tuple(entry for entry in load().entries if entry.learner.__module__.split(".")[1] in FAMILIES
              and "cover" not in entry.id)  # fmt: skip
SOUND = tuple(entry.learner for entry in CASES if entry.fault is None)
BROKEN = tuple(entry.learner for entry in CASES if entry.fault is not None)
PRIVATE = tuple(c for c in SOUND if c(**c.instance.parameters).privacy is not None)


def example_of(learner_class: Any) -> Any:
    """Return the learner's own example instance."""
    return learner_class(**learner_class.instance.parameters)


def remember_laws(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute each law of the learners of a class once in a test."""
    if hasattr(kind, "law"):
        law = cache(kind.law)
        monkeypatch.setattr(kind, "law", lambda learner, sample: law(learner, sample))


def every_sample(domain: Any, n: int) -> Iterator[Sample]:
    """Yield every multiset of n examples."""
    examples = [(x, y) for x in domain.points() for y in (0, 1)]
    for chosen in itertools.combinations_with_replacement(examples, n):
        yield domain.sample(np.array([x for x, _ in chosen]), [y for _, y in chosen])


def worst_epsilon(
    learner: Any,
    n: int,
    samples: Any = None,
    relation: Relation = Relation.REPLACE_ONE,
    enough: float = math.inf,
) -> float:
    """Return the greatest log-ratio over all pairs, by a plain double loop over samples and neighbours.

    The loop ends at a ratio that is `enough`. Over all samples of n, of which each pair comes in both orders, the ratio
    is taken in one direction; over given samples in both.
    """
    directions = (1,) if samples is None and relation is Relation.REPLACE_ONE else (1, -1)
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
            for left, right in ((here, there)[::step] for step in directions):
                can = left > -np.inf
                worst = max(worst, float((left[can] - right[can]).max()))
        if worst >= enough:
            break
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
