"""Fit a log-likelihood ratio that is linear in a score: a logistic regression of the side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

__all__ = ["ITERATIONS", "RIDGE", "Line", "fit_line"]

Array = NDArray[np.float64]

RIDGE = 1e-6
"""Keeps a precision regular where runs say nothing, as of the level of ratios or where one side has hardly a run."""
ITERATIONS = 40
"""Damped Newton steps at most; three or four are usual."""


@dataclass(frozen=True)
class Line:
    """A log-likelihood ratio that is linear in a score: its value in each atom, and what it owes to luck.

    Attributes
    ----------
    ratio : array, shape (m,)
        The fitted line.
    design : array, shape (m, 2)
        One, and the standardised score.
    covariance : array, shape (2, 2)
        Of intercept and slope.
    """

    ratio: Array
    design: Array
    covariance: Array


def fit_line(scores: Array, hits: Array, total: Array, offset: float) -> Line | None:
    """Regress the side on the score; None where the score is constant or the regression has no solution."""
    mean = np.average(scores, weights=total)
    spread = np.sqrt(np.average(np.square(scores - mean), weights=total))
    if not 0 < spread < np.inf:
        return None
    design = np.column_stack([np.ones_like(scores), (scores - mean) / spread])
    beta = np.zeros(2)
    for _ in range(ITERATIONS):
        share = expit(design @ beta + offset)
        information = design.T @ (design * (total * share * (1 - share))[:, None]) + RIDGE * np.eye(2)
        step = np.linalg.solve(information, design.T @ (hits - total * share) - RIDGE * beta)
        size = float(np.abs(step).max())
        beta = beta + step * min(1.0, 3.0 / max(size, 1e-12))
        if size < 1e-8:
            return Line(design @ beta, design, np.linalg.inv(information))
    return None
