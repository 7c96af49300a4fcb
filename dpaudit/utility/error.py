"""Exact errors of hypotheses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import ConceptClass, Distribution, Hypothesis
from dpaudit.errors import InputError

__all__ = ["best_error", "empirical_error", "exceeds", "labels_of", "population_error"]

SLACK = 16 * 2.0**-52
"""Relative rounding that an error may carry: an error within 16 ulps above alpha counts as equal to alpha."""

MAX_LABELS = 2**24
"""Up to this many labels (concepts times points) the best concept is found by trying all."""

Floats = NDArray[np.float64]


def exceeds(error: float, alpha: float) -> bool:
    """Return whether an error is greater than alpha by more than rounding.

    Sums are correctly rounded (`math.fsum`), but their terms are floats: three points of probability 0.1
    weigh 0.30000000000000004, and a claim about alpha = 0.3 must not fail for that.
    """
    return error > alpha * (1 + SLACK)


def labels_of(hypothesis: Hypothesis, points: NDArray[Any]) -> NDArray[np.uint8]:
    """Return the labels of the points, after checking that there is one in {0, 1} for each."""
    labels = np.asarray(hypothesis.predict(points))
    if labels.shape != (len(points),) or not np.isin(labels, (0, 1)).all():
        raise InputError(
            f"predict of {hypothesis!r} must return {len(points)} labels in {{0, 1}}, "
            f"got an array of shape {labels.shape} and type {labels.dtype}"
        )
    return labels.astype(np.uint8)


def population_error(
    hypothesis: Hypothesis, distribution: Distribution, truth: NDArray[np.uint8], noise: Floats | None = None
) -> float:
    """Return the probability that a hypothesis gives a random point another label than the point then gets.

    Parameters
    ----------
    hypothesis : Hypothesis
        The hypothesis h.
    distribution : Distribution
        Points x_i with probabilities p_i.
    truth : array of uint8, shape (m,)
        The concept's labels c(x_i).
    noise : array of float64, shape (m,), optional
        The probability eta_i in [0, 1] with which x_i gets the label 1 - c(x_i); by default 0.

    Returns
    -------
    float
        The sum of p_i (1 - eta_i) over h(x_i) != c(x_i) and of p_i eta_i over the other points, divided by the sum of
        all p_i; each sum is correctly rounded.
    """
    wrong = labels_of(hypothesis, distribution.points) != truth
    return _mean(np.asarray(distribution.probabilities, dtype=np.float64), _shares(wrong, noise))


def _shares(wrong: NDArray[np.bool_], noise: Floats | None) -> Floats:
    """Return for every point the probability that the hypothesis is wrong there."""
    return wrong.astype(np.float64) if noise is None else np.where(wrong, 1 - noise, noise)


def _mean(weights: Floats, values: Floats) -> float:
    """Return the weighted mean; sums are correctly rounded."""
    return math.fsum((weights * values).tolist()) / math.fsum(weights.tolist())


def best_error(
    concepts: ConceptClass, distribution: Distribution, truth: NDArray[np.uint8], noise: Floats, *, of_class: bool
) -> float:
    """Return the least population error of a concept of the class.

    If no point has the wrong label more often than the right one and the concept that labels is of the class, no
    concept is better than that one. Otherwise all are tried: in floating point first, then the near-best ones with
    correctly rounded sums.

    Parameters
    ----------
    concepts : ConceptClass
        The class.
    distribution, truth, noise
        As for `population_error`.
    of_class : bool
        Whether the labels `truth` are those of a concept of the class.

    Raises
    ------
    InputError
        If all concepts must be tried and there are too many.
    """
    weights = np.asarray(distribution.probabilities, dtype=np.float64)
    if of_class and (noise <= 0.5).all():
        return _mean(weights, noise)
    if concepts.size * len(truth) > MAX_LABELS:
        raise InputError(
            "{concept} and {noise} must be a code of the class and at most 1/2 everywhere where the class has more "
            "than {most} concepts, so many that the best on {points} points cannot be found by trying all; it has "
            "{size}",
            names=("concept", "noise"),
            most=MAX_LABELS // len(truth),
            points=len(truth),
            size=concepts.size,
        )
    wrong = concepts.evaluate(distribution.points) != truth
    rough = np.where(wrong, 1 - noise, noise) @ weights / weights.sum()
    return min(_mean(weights, _shares(row, noise)) for row in np.unique(wrong[rough <= rough.min() + 1e-9], axis=0))


def empirical_error(hypothesis: Hypothesis, sample: Any) -> float:
    """Return the fraction of a sample's examples that a hypothesis labels wrongly."""
    wrong = labels_of(hypothesis, sample.points) != sample.labels
    return int(sample.counts[wrong].sum()) / int(sample.counts.sum())
