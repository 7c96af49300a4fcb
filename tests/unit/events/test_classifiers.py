"""Linear scores are those of the closed form by any number of threads; far values do not decide."""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits

from dpaudit.events.scores import Discriminant


def test_a_discriminant_does_not_depend_on_the_number_of_threads() -> None:
    rng = np.random.default_rng(0)
    data, neighbour = rng.normal(size=(2, 20_000, 41))
    data[:, 0] += 0.1
    scores = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            scores.append(Discriminant.fit(data, neighbour)(data))
    assert (scores[0] == scores[1]).all()
    assert scores[0].std() > 0


def test_the_direction_is_that_of_the_inverse_covariance() -> None:
    # By 40,000 rows each weight errs by less than 0.02 with a probability far above 1 - 1e-6.
    rng = np.random.default_rng(1)
    root = np.array([[1.0, 0.0, 0.0], [0.8, 0.6, 0.0], [0.0, 0.5, 1.0]])
    shift = np.array([0.3, 0.0, -0.2])
    data, neighbour = (rng.normal(size=(2, 40_000, 3)) @ root.T)[:2]
    score = Discriminant.fit(data + shift, neighbour)
    assert np.abs(score.weights - np.linalg.solve(root @ root.T, shift)).max() < 0.08
    both = score.mean(score.refit(data + shift, neighbour))
    assert np.allclose(both(data), score(data))


def test_constant_rare_and_far_values_are_fitted() -> None:
    rng = np.random.default_rng(2)
    data, neighbour = rng.normal(size=(2, 3_000, 4))
    for x, share in ((data, 0.04), (neighbour, 0.01)):
        x[:, 1] = 7.0
        x[:, 2] = rng.random(len(x)) < share
        x[:20, 3] = 1e300
    score = Discriminant.fit(data, neighbour)
    assert np.isfinite(score(data)).all()
    assert score.weights[1] == 0
    assert score.weights[2] > 1
    assert abs(score.weights[3]) < 0.2


def test_as_many_columns_as_rows_are_no_error() -> None:
    rng = np.random.default_rng(3)
    data, neighbour = rng.normal(size=(2, 250, 500))
    data[:, :250] += 1.0
    score = Discriminant.fit(data, neighbour)
    fresh = rng.normal(size=(2, 400, 500))
    fresh[0, :, :250] += 1.0
    assert score(fresh[0]).mean() - score(fresh[1]).mean() > 3 * score(fresh[1]).std()
