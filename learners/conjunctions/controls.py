"""Conjunctions and disjunctions, selected at once, literal by literal or by noisy counts, with one known leak each."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from dpaudit.contract import Instance, Law, Sample

from ..arrays import Floats
from ..controls import DOUBLED, FROZEN, SHORTCUT, SUPPORT, controls, cover_controls, fault, some, top
from ..covers.accounting import TINY
from ..domains import moving_negatives
from ..mechanisms.log_laws import ULP, log_above, log_below, log_between, placed
from ..parameters import check_sample
from .concepts import ConjunctionExponential
from .greedy import ConjunctionGreedy
from .laplace import ConjunctionLaplace, contradictions
from .set_cover import SetCoverConjunction, SetCoverDisjunction

COVER = Instance({"dimension": 2, **TINY, "epsilon": 0.5}, n=2, alpha=0.99, beta=0.5)
# A large beta makes the threshold small, so that a handful of examples crosses it.
NOISY = Instance({"dimension": 2, "epsilon": 2.0, "beta": 0.9}, n=4, beta=0.95)


def _bare_tails(self: ConjunctionLaplace, z: Floats) -> tuple[Floats, Floats]:
    """Return ln Pr[deleted] and ln Pr[kept] of every literal, the negated ones without noise."""
    # The negated literals have the odd numbers; without noise they are deleted exactly if the count exceeds the
    # threshold.
    bare = np.arange(len(z)) % 2 == 1
    deleted = np.where(bare, np.where(z < 0, 0.0, -np.inf), log_above(z))
    return deleted, np.where(bare, np.where(z < 0, -np.inf, 0.0), log_below(z))


def _shared_law(self: ConjunctionLaplace, sample: Sample) -> Law:
    """Return the law on all 4^d masks.

    The noise deletes exactly the literals whose count is above threshold - noise: the masks that can occur form a
    chain, one for each gap between consecutive counts. The error of an end of a gap of width w is magnified by at
    most 2 / (1 - e^-w).
    """
    check_sample(sample, self.domain)
    counts = contradictions(sample)
    scale = self._scale
    levels = sorted(set(counts.tolist()), reverse=True)
    t = self._threshold / scale
    gaps = [log_between(t - above / scale, (above - below) / scale) for above, below in pairwise(levels)]
    least = float(log_below(np.array(t - levels[0] / scale)))
    most = float(log_above(np.array(t - levels[-1] / scale)))
    masks = [sum(1 << i for i, c in enumerate(counts) if c < above) for above in (math.inf, *levels)]
    magnified = 2 / -math.expm1(-1 / scale)
    error = ULP * magnified * (6 * t + 4 * levels[0] / scale + 16)
    return Law(range(4**self.dimension), placed(4**self.dimension, masks, [least, *gaps, most]), error)


SEEN = SUPPORT.shown(Instance({"dimension": 2, "k": 2, "epsilon": 1.0}, n=2))

LEARNERS = (
    *controls(
        ConjunctionExponential,
        "conjunction-exponential",
        doubled=DOUBLED,
        support=SEEN,
        shortcut=SHORTCUT,
        frozen=FROZEN,
    ),
    *controls(
        ConjunctionGreedy,
        "conjunction-greedy",
        undivided=fault(
            "every round spends the whole epsilon: the budget is not divided over the rounds",
            instance=Instance({"dimension": 2, "k": 1, "epsilon": 1.0}, n=5),
            share=lambda self, rounds: self.epsilon,
        ),
        support=fault(
            "chooses only literals that have a score of 0 or more, if there are any: the support shows",
            _eligible=lambda self, scores: some(scores >= 0),
        ),
        noiseless=fault(
            "takes a literal of the greatest score in every round, at random among equals only",
            _eligible=lambda self, scores: top(scores),
        ),
        eager=fault(
            "takes only literals of the greatest score once some literal has a score of 0 or more",
            _eligible=lambda self, scores: top(scores) | (scores.max(axis=-1, keepdims=True) < 0),
        ),
    ),
    *cover_controls(SetCoverConjunction, COVER),
    *cover_controls(SetCoverDisjunction, COVER),
    *controls(
        ConjunctionLaplace,
        "conjunction",
        NOISY,
        half_sensitivity=fault(
            "noise Lap(d/epsilon): scaled to adding or removing an example, not to replacing one",
            instance=Instance({"dimension": 1, "epsilon": 2.0, "beta": 0.9}, n=4, beta=0.95),
            _scale=property(lambda self: self.dimension / self.epsilon),
        ),
        undivided=fault(
            "noise Lap(1/epsilon): the budget is not divided over the 2 d counts",
            _scale=property(lambda self: 1 / self.epsilon),
        ),
        bare_negations=fault(
            "no noise on the counts of the negated literals",
            _noise=lambda self, rng, size: (
                np.zeros(size) if literal % 2 else rng.laplace(0.0, self._scale, size)
                for literal in range(2 * self.dimension)
            ),
            _log_tails=_bare_tails,
            # Complementing a variable would exchange noise and none.
            symmetries=lambda self: moving_negatives(self.domain.size),
        ),
        shared_noise=fault(
            "all literals share one noise: the order of their counts shows",
            _noise=lambda self, rng, size: [rng.laplace(0.0, self._scale, size)] * (2 * self.dimension),
            law=_shared_law,
        ),
    ),
)
