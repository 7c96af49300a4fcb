"""Mechanisms, tools and models of diffprivlib with their claims; it needs scikit-learn before 1.6.

Neighbours differ in the value of one record, as the sensitivities of its means, sums and models mean; of histograms,
whose sensitivity counts one record that is added or removed, they differ in that.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from diffprivlib import mechanisms, models, tools

from examples.cases import Case

__all__ = ["CASES"]

Rng = np.random.Generator

LAPLACE = mechanisms.Laplace(epsilon=1, sensitivity=1)
GEOMETRIC = mechanisms.Geometric(epsilon=1, sensitivity=1)
TRUNCATED = mechanisms.GeometricTruncated(epsilon=1, sensitivity=1, lower=0, upper=5)
BOUNDED = mechanisms.LaplaceBoundedDomain(epsilon=1, sensitivity=1, lower=0, upper=1)
SNAPPING = mechanisms.Snapping(epsilon=1, sensitivity=1, lower=-10, upper=10)
STAIRCASE = mechanisms.Staircase(epsilon=1, sensitivity=1)
ANALYTIC = mechanisms.GaussianAnalytic(epsilon=1, delta=1e-2, sensitivity=1)
BINARY = mechanisms.Binary(epsilon=1, value0="no", value1="yes")


def laplace(data: float, rng: Rng) -> float:
    """Return a number with Laplace noise."""
    return float(LAPLACE.randomise(data))


def geometric(data: int, rng: Rng) -> int:
    """Return an integer with geometric noise."""
    return int(GEOMETRIC.randomise(data))


def truncated(data: int, rng: Rng) -> int:
    """Return an integer with geometric noise, truncated to 0..5."""
    return int(TRUNCATED.randomise(data))


def bounded(data: float, rng: Rng) -> float:
    """Return a number with Laplace noise, redrawn until it lies in [0, 1]."""
    return float(BOUNDED.randomise(data))


def snapping(data: float, rng: Rng) -> float:
    """Return a number by the snapping mechanism, made against the bits of floats."""
    return float(SNAPPING.randomise(data))


def staircase(data: float, rng: Rng) -> float:
    """Return a number with staircase noise."""
    return float(STAIRCASE.randomise(data))


def analytic(data: float, rng: Rng) -> float:
    """Return a number with Gaussian noise of the analytic calibration."""
    return float(ANALYTIC.randomise(data))


def binary(data: str, rng: Rng) -> str:
    """Return an answer by randomized response."""
    return str(BINARY.randomise(data))


def exponential(data: list[float], rng: Rng) -> int:
    """Return an index by the exponential mechanism, given utilities."""
    return int(mechanisms.Exponential(epsilon=1, sensitivity=1, utility=data).randomise())


def mean(data: list[float], rng: Rng) -> float:
    """Return a mean, clipped to [0, 1]."""
    return float(tools.mean(data, epsilon=1, bounds=(0, 1)))


def mean_without_nan(data: list[float], rng: Rng) -> float:
    """Return a mean that leaves NaN out, clipped to [0, 1]."""
    return float(tools.nanmean(data, epsilon=1, bounds=(0, 1)))


def mean_without_bounds(data: list[float], rng: Rng) -> float:
    """Return a mean whose bounds are taken from the data, with a warning."""
    return float(tools.mean(data, epsilon=1))


def variance(data: list[float], rng: Rng) -> float:
    """Return a variance, clipped to [0, 1]."""
    return float(tools.var(data, epsilon=1, bounds=(0, 1)))


def float_sum(data: list[float], rng: Rng) -> float:
    """Return a sum, clipped to [0, 1]."""
    return float(tools.sum(data, epsilon=1, bounds=(0, 1)))


def whole_sum(data: list[int], rng: Rng) -> int:
    """Return a sum of integers up to 2^30 that is asked for as an int32."""
    return int(tools.sum(data, epsilon=1, bounds=(0, 2**30), dtype=np.int32))


def half_sum(data: Any, rng: Rng) -> float:
    """Return a sum of ones and zeros that is asked for as a float of 16 bits."""
    return float(tools.sum(data, epsilon=1, bounds=(0, 1), dtype=np.float16))


def histogram(data: list[float], rng: Rng) -> list[int]:
    """Return the counts of four bins of [0, 1]."""
    return [int(count) for count in tools.histogram(data, epsilon=1, bins=4, range=(0, 1))[0]]


def histogram_without_range(data: list[float], rng: Rng) -> list[float]:
    """Return the edges of a histogram whose range is taken from the data, with a warning."""
    return [float(edge) for edge in tools.histogram(data, epsilon=1, bins=4)[1]]


def median(data: list[float], rng: Rng) -> float:
    """Return a median of values in [0, 1]."""
    return float(tools.median(data, epsilon=1, bounds=(0, 1)))


def count(data: list[int], rng: Rng) -> int:
    """Return how many values are not 0."""
    return int(tools.count_nonzero(data, epsilon=1))


def naive_bayes(data: Any, rng: Rng) -> list[float]:
    """Return the class counts and means of a Gaussian naive Bayes classifier with one feature in [0, 1]."""
    model = models.GaussianNB(epsilon=1, bounds=(0, 1))
    model.fit(np.array(data[0])[:, None], np.array(data[1]))
    return [float(x) for x in (*model.class_count_, *model.theta_.ravel())]


def scaler(data: list[float], rng: Rng) -> list[float]:
    """Return mean and variance as the standard scaler learns them."""
    model = models.StandardScaler(epsilon=1, bounds=(0, 1)).fit(np.array(data)[:, None])
    return [float(model.mean_[0]), float(model.var_[0])]


def regression(data: list[tuple[float, float]], rng: Rng) -> list[float]:
    """Return slope and intercept of a linear regression on [0, 1]."""
    x, y = np.array(data).T
    model = models.LinearRegression(epsilon=1, bounds_X=(0, 1), bounds_y=(0, 1)).fit(x[:, None], y)
    return [float(model.coef_.ravel()[0]), float(np.ravel(model.intercept_)[0])]


SMALL = [0.5] * 9
ENDS = [([*SMALL, 0.0], [*SMALL, 1.0]), ([0.0] * 9 + [0.0], [0.0] * 9 + [1.0])]
NAN = [([*SMALL, math.nan], [*SMALL, 0.5])]
ONES = np.ones(32_472)
HALVES = [(ONES, np.append(ONES[1:], 0.0))]
"""Sums of so many ones are multiples of 16 as floats of 16 bits, so that one record moves them by 16 or not at all."""
WRAPPED = [([2**30, 2**30], [2**30, 2**30 - 1])]
"""The first sum is 2^31, which an int32 holds as -2^31."""
CLASSES = [
    (([0.2, 0.4, 0.6, 0.8], [0, 0, 1, 1]), ([0.2, 0.4, 0.6, 0.8], [0, 0, 1, 0])),
    (([0.2, 0.4, 0.6, 0.0], [0, 0, 1, 1]), ([0.2, 0.4, 0.6, 1.0], [0, 0, 1, 1])),
    (([0.2, 0.4, 0.6, 0.8], [0, 0, 0, 1]), ([0.2, 0.4, 0.6, 0.8], [0, 0, 0, 0])),
]
LINE = [(0.1 * i, 0.1 * i) for i in range(9)]
ORIGIN = [([(0.0, 0.0)] * 3, [(0.0, 0.0)] * 2 + [(1.0, 0.0)])]
"""The sum of squares of x differs by 1, and the scale of its noise is that of the lower bound, 0, alone."""

CASES = (
    Case("laplace", laplace, [(0.0, 1.0), (0.1, 1.1)], 1.0, looks_for="the bits of floats"),
    Case("laplace, its bits", laplace, [(0.0, 1.0), (0.1, 1.1)], 1.0, looks_for="the bits of floats", float_bits=True),
    Case(
        "snapping, its bits", snapping, [(0.0, 1.0), (0.1, 1.1)], 1.0, looks_for="the bits of floats", float_bits=True
    ),
    Case("laplace, NaN", laplace, [(math.nan, 0.0)], 1.0, looks_for="NaN", inside=False),
    Case("geometric", geometric, [(0, 1)], 1.0),
    Case("geometric, truncated", truncated, [(0, 1), (5, 4)], 1.0, looks_for="the atoms at the bounds"),
    Case("laplace, bounded domain", bounded, [(0.0, 1.0), (0.0, 0.5)], 1.0, looks_for="the normalisation"),
    Case("snapping", snapping, [(0.0, 1.0), (0.1, 1.1)], 1.0, looks_for="the bits of floats"),
    Case("staircase", staircase, [(0.0, 1.0), (0.1, 1.1)], 1.0, looks_for="the bits of floats"),
    Case("gaussian, analytic", analytic, [(0.0, 1.0)], 1.0, 1e-2),
    Case("randomized response", binary, [("no", "yes")], 1.0),
    Case("exponential", exponential, [([1.0, 0.0, 0.0], [0.0, 1.0, 1.0])], 1.0, looks_for="ties"),
    Case("mean", mean, ENDS, 1.0, looks_for="data at the bounds"),
    Case("mean, NaN", mean, NAN, 1.0, looks_for="NaN among the rows", inside=False),
    Case("mean that leaves NaN out", mean_without_nan, NAN, 1.0, looks_for="NaN among the rows"),
    Case(
        "mean, bounds from the data",
        mean_without_bounds,
        [([*SMALL, 0.4], [*SMALL, 100.0])],
        1.0,
        looks_for="bounds inferred from data",
        inside=False,
    ),
    Case("variance", variance, [*ENDS, ([0.5], [1.0])], 1.0, looks_for="one record alone"),
    Case("sum", float_sum, [*ENDS, ([0.1] * 999 + [0.0], [0.1] * 999 + [1.0])], 1.0, looks_for="rounding"),
    Case("sum, dtype int32", whole_sum, WRAPPED, 1.0, looks_for="integer overflow"),
    Case(
        "sum, dtype float16",
        half_sum,
        HALVES,
        1.0,
        looks_for="sensitivity in floating point",
        trials=3_000,
        shrinks=False,
    ),
    Case("histogram", histogram, [([0.1, 0.1, 0.6], [0.1, 0.1]), ([0.1, 0.9], [0.9])], 1.0, looks_for="empty bins"),
    Case(
        "histogram, a record replaced",
        histogram,
        [([0.1, 0.1, 0.6], [0.1, 0.1, 0.9]), ([0.1], [0.9])],
        1.0,
        looks_for="the other relation of neighbours",
        inside=False,
    ),
    Case(
        "histogram, range from the data",
        histogram_without_range,
        [([*SMALL, 0.0], [*SMALL, 1.0])],
        1.0,
        trials=2_000,
        looks_for="bounds inferred from data",
        inside=False,
    ),
    Case(
        "median",
        median,
        [([0.0, 0.5, 0.5, 1.0], [0.0, 0.5, 1.0, 1.0]), ([0.5] * 3, [0.5] * 2 + [0.0])],
        1.0,
        looks_for="ties",
    ),
    Case("count", count, [([1, 1, 0], [1, 0, 0]), ([1], [0])], 1.0),
    Case("naive Bayes", naive_bayes, CLASSES, 1.0, trials=3_000, looks_for="a class that becomes empty"),
    Case("standard scaler", scaler, ENDS, 1.0, trials=5_000),
    Case(
        "linear regression",
        regression,
        [([*LINE, (0.9, 0.0)], [*LINE, (0.9, 1.0)]), ([(0.5, 0.5)] * 3, [(0.5, 0.5)] * 2 + [(1.0, 1.0)])],
        1.0,
        trials=4_000,
    ),
    Case(
        "linear regression, at the origin",
        regression,
        ORIGIN,
        1.0,
        looks_for="a sensitivity of the wrong bound",
        trials=1_000,
        shrinks=False,
    ),
)
