"""Classifiers find the same whatever number of threads the process has."""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits

from dpaudit.distinguish.classifiers import logistic


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
