"""Scores from scikit-learn: boosted trees and logistic regression on all groups of columns.

It is loaded when a score is fitted, for it takes longer to import than a small audit takes to run.
"""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Classifier", "boosting", "logistic"]

Matrix = NDArray[np.float64]

TREE_ROWS = 50_000
"""Rows a side that trees are fitted on: more cost more than they tell, where simpler scores are fitted on all."""
TREE_NUMBERS, LEAST_TREE_ROWS = 1_000_000, 2_000
"""Numbers a side of these rows, but not below so many rows: of wide rows trees take most of an audit's time."""


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _one_thread() -> AbstractContextManager[Any]:
    """Keep a fit on one thread: threads that wait for each other in a spin cost far more than they save.

    On a machine that others use, the product of matrices in a regression took a hundred times as long on two threads;
    and its last digits, which depend on the number of threads, are the same everywhere.
    """
    limit: AbstractContextManager[Any] = _controller().limit(limits=1)
    return limit


@dataclass(frozen=True, eq=False)
class Classifier:
    """A fitted classifier; its score is the log-odds of the first side."""

    model: Any

    def __call__(self, rows: Matrix) -> NDArray[np.float64]:
        """Return the score of each row."""
        with _one_thread():
            return np.asarray(self.model.decision_function(np.clip(rows, -1e15, 1e15)), dtype=np.float64)


def _rows(data: Matrix, neighbour: Matrix) -> tuple[Matrix, NDArray[np.int8]]:
    labels = np.concatenate([np.ones(len(data), np.int8), np.zeros(len(neighbour), np.int8)])
    return np.clip(np.concatenate([data, neighbour]), -1e15, 1e15), labels


def boosting(data: Matrix, neighbour: Matrix) -> Classifier:
    """Fit gradient-boosted trees: any interaction, given enough runs."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    rows = min(TREE_ROWS, max(LEAST_TREE_ROWS, TREE_NUMBERS // data.shape[1]))
    data, neighbour = data[:rows], neighbour[:rows]
    model = HistGradientBoostingClassifier(
        max_iter=50,
        learning_rate=0.1,
        max_leaf_nodes=8,
        # Leaves of few runs learn noise: the signals sought are weak.
        min_samples_leaf=max(20, (len(data) + len(neighbour)) // 100),
        early_stopping=False,
        random_state=0,
    )
    pooled, labels = _rows(data, neighbour)
    with _one_thread():
        model.fit(pooled, labels)
    return Classifier(model)


def logistic(data: Matrix, neighbour: Matrix) -> Classifier:
    """Fit a logistic regression on rank-like (winsorised, standardised) columns: best with few runs.

    That a fit has not converged is nothing to warn of: fresh runs judge its score like any other.
    """
    from scipy.linalg import LinAlgWarning
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import RobustScaler, StandardScaler

    regression = LogisticRegression(solver="newton-cholesky")
    model = make_pipeline(RobustScaler(quantile_range=(5, 95)), StandardScaler(), regression)
    pooled, labels = _rows(data, neighbour)
    with _one_thread(), warnings.catch_warnings():
        for kind in (ConvergenceWarning, LinAlgWarning):
            warnings.simplefilter("ignore", kind)
        model.fit(pooled, labels)
    return Classifier(model)
