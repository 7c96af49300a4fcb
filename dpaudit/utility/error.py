"""How wrong a hypothesis is: its exact error, and whether that exceeds alpha."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Distribution, Hypothesis, Learner
from dpaudit.errors import InputError

__all__ = ["ErrorJudge", "empirical_error", "exceeds", "labels_of", "population_error"]

SLACK = 16 * 2.0**-52
"""Relative rounding that an error may carry: an error within 16 ulps above alpha counts as equal to alpha."""


def exceeds(error: float, alpha: float) -> bool:
    """Say whether an error is greater than alpha by more than rounding.

    Sums are correctly rounded (`math.fsum`), but their terms are floats: three points of probability 0.1
    weigh 0.30000000000000004, and a claim about alpha = 0.3 must not fail for that.
    """
    return error > alpha * (1 + SLACK)


def labels_of(hypothesis: Hypothesis, points: NDArray[Any]) -> NDArray[np.uint8]:
    """Return the labels of the points, after checking that there is one in {0, 1} for each."""
    labels = np.asarray(hypothesis.predict(points))
    if labels.shape != (len(points),) or not np.isin(labels, (0, 1)).all():
        raise InputError(f"predict of {hypothesis!r} must return {len(points)} labels in {{0, 1}}, "
                         f"got an array of shape {labels.shape} and type {labels.dtype}")
    return labels.astype(np.uint8)


def population_error(hypothesis: Hypothesis, distribution: Distribution, truth: NDArray[np.uint8]) -> float:
    """Return the probability of the points that a hypothesis labels differently from the truth.

    Parameters
    ----------
    hypothesis : Hypothesis
        The hypothesis h.
    distribution : Distribution
        Points x_i with probabilities p_i.
    truth : array of uint8, shape (m,)
        The concept's labels c(x_i).

    Returns
    -------
    float
        sum of p_i over h(x_i) != c(x_i), divided by the sum of all p_i; each sum is correctly rounded.
    """
    wrong = labels_of(hypothesis, distribution.points) != truth
    weights = np.asarray(distribution.probabilities, dtype=np.float64)
    return math.fsum(weights[wrong].tolist()) / math.fsum(weights.tolist())


def empirical_error(hypothesis: Hypothesis, sample: Any) -> float:
    """Return the fraction of a sample's examples that a hypothesis labels wrongly."""
    wrong = labels_of(hypothesis, sample.points) != sample.labels
    return int(sample.counts[wrong].sum()) / int(sample.counts.sum())


class ErrorJudge:
    """Says which outputs of a learner fail, decoding each distinct output once.

    Parameters
    ----------
    learner : Learner
        Its `decode` turns an output into a hypothesis, or None for failure.
    distribution : Distribution
        Where the population error is measured.
    truth : array of uint8, shape (m,)
        The concept's labels of the distribution's points.
    alpha : float
        The error that is allowed.
    setting : {"realizable", "empirical"}
        Whether the population error counts or the error on the sample.
    """

    def __init__(
        self,
        learner: Learner,
        distribution: Distribution,
        truth: NDArray[np.uint8],
        alpha: float,
        setting: str,
    ) -> None:
        self._learner = learner
        self._alpha = alpha
        self._population: Callable[[Hypothesis], float] | None = (
            (lambda h: population_error(h, distribution, truth)) if setting == "realizable" else None
        )
        self._hypotheses: dict[Hashable, Hypothesis | None] = {}
        self._failed: dict[Hashable, bool] = {}

    def fails(self, output: Hashable, sample: Any) -> bool:
        """Say whether the output, learned from the sample, is a failure: no hypothesis, or error > alpha."""
        if output not in self._hypotheses:
            self._hypotheses[output] = self._learner.decode(output)
        hypothesis = self._hypotheses[output]
        if hypothesis is None:
            return True
        if self._population is None:
            return exceeds(empirical_error(hypothesis, sample), self._alpha)
        if output not in self._failed:
            self._failed[output] = exceeds(self._population(hypothesis), self._alpha)
        return self._failed[output]
