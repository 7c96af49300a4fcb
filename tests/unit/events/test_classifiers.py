"""Classifiers find the same whatever number of threads the process has, and keep warnings to themselves."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.linalg import LinAlgWarning
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from dpaudit.events.scores import logistic


def test_a_regression_does_not_depend_on_the_number_of_threads() -> None:
    rng = np.random.default_rng(0)
    data, neighbour = rng.normal(size=(2, 20_000, 41))
    data[:, 0] += 0.1
    scores = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            scores.append(logistic(data, neighbour)(data))
    assert (scores[0] == scores[1]).all()
    assert scores[0].std() > 0


def test_fits_that_do_not_converge_warn_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = LogisticRegression.fit

    def unconverged(model: LogisticRegression, *given: Any) -> Any:
        warnings.warn("line search", ConvergenceWarning, stacklevel=1)
        warnings.warn("singular", LinAlgWarning, stacklevel=1)
        return usual(model, *given)

    monkeypatch.setattr(LogisticRegression, "fit", unconverged)
    rng = np.random.default_rng(1)
    data, neighbour = rng.normal(size=(2, 100, 2))
    assert np.isfinite(logistic(data, neighbour)(data)).all()
