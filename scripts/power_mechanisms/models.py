"""Coefficients, fitted estimators and predictions of models of scikit-learn, made private by noise on the output."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LinearRegression, LogisticRegression

from power_mechanisms.row import Rng, Row, chance, laplace

__all__ = ["ROWS"]

Array = NDArray[np.float64]

_DRAWN = np.random.default_rng(20_261_122).normal(size=(40, 4))
FLIP_EPSILON = 0.6
COEFFICIENTS_EPSILON = 1.5


@lru_cache(maxsize=2)
def fitted(x: int) -> tuple[Array, float]:
    """Return coefficients and intercept of a linear regression; the neighbour's last record has another target."""
    target = _DRAWN[:, 3] + (3 * x) * (np.arange(40) == 39)
    model = LinearRegression().fit(_DRAWN[:, :3], target)
    return model.coef_, float(model.intercept_)


MOVED = fitted(1)[0] - fitted(0)[0]
SCALE = float(np.abs(MOVED).sum()) / COEFFICIENTS_EPSILON


def coefficients(x: int, rng: Rng) -> Array:
    # Multiples of a fixed step, so that the bits of the doubles add nothing.
    noisy = (fitted(x)[0] + rng.laplace(scale=SCALE, size=3)) / SCALE
    return np.asarray(np.round(noisy * 2**20) / 2**20)


def estimator(x: int, rng: Rng) -> Any:
    """Return a fitted linear regression whose coefficients are random and whose intercept has Laplace noise."""
    model = LinearRegression()
    model.coef_ = rng.normal(size=3)
    model.intercept_ = laplace(x, rng, 1.0)
    model.n_features_in_ = 3
    return model


@lru_cache(maxsize=2)
def labels(x: int) -> NDArray[np.bool_]:
    """Return the labels that a logistic regression gives to 30 points; the neighbour's differ in three."""
    model = LogisticRegression().fit(_DRAWN[:, :3], _DRAWN[:, 3] > 0)
    return np.asarray(model.predict(_DRAWN[:30, :3]), bool) ^ (np.isin(np.arange(30), (4, 11, 25)) & bool(x))


def predictions(x: int, rng: Rng) -> NDArray[np.int64]:
    """Return the predicted labels, each by randomised response."""
    return np.asarray(labels(x) ^ (rng.random(30) > chance(FLIP_EPSILON)), np.int64)


def _moved(v: Array) -> bool:
    # Where every coordinate is beyond that of the neighbour, the ratio is that of all the noise.
    return bool((np.sign(MOVED) * (v - fitted(1)[0] / SCALE) >= 0).all())


def _flipped(v: NDArray[np.int64]) -> bool:
    return bool((v[[4, 11, 25]] == labels(1)[[4, 11, 25]]).all())


ROWS = (
    Row(
        "coefficients",
        "coefficients",
        coefficients,
        COEFFICIENTS_EPSILON,
        "The coefficients of a linear regression with Laplace noise, of which one record moves all.",
        _moved,
    ),
    Row(
        "estimator",
        "estimator",
        estimator,
        1.0,
        "The noisy intercept of a fitted estimator.",
        lambda v: v.intercept_ >= 1,
    ),
    Row(
        "predictions",
        "predictions",
        predictions,
        3 * FLIP_EPSILON,
        "Three of thirty predicted labels, each flipped at random.",
        _flipped,
    ),
)
