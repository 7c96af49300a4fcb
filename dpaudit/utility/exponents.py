"""Exponents of measured laws: slopes of lines through brackets, with confidence limits, by statsmodels."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.record import Frozen

__all__ = ["Slope", "slope"]

NARROW = math.log(1.03)
"""Brackets up to this long, on the logarithmic scale, are taken for their middles."""
FARTHEST = 64.0
"""Limits are looked for up to this distance from the estimate; beyond they are infinite for every purpose."""

Floats = NDArray[np.float64]


class Slope(Frozen, frozen=True, kw_only=True):
    """A slope with its confidence interval.

    Attributes
    ----------
    value, lower, upper : float
        The estimate and its limits.
    method : str
        "least squares" or "interval-censored likelihood".
    """

    value: float
    lower: float
    upper: float
    method: str


def slope(x: Sequence[float], lower: Sequence[float], upper: Sequence[float], confidence: float) -> Slope:
    """Return the slope b of y = a + b x + s z, z normal, where y_i is only known to lie in (lower_i, upper_i].

    Narrow brackets are taken for their middles: ordinary least squares with t limits. Otherwise the likelihood is the
    product of Phi((upper_i - a - b x_i)/s) - Phi((lower_i - a - b x_i)/s), maximised over a, b and s, and the limits
    are the b at which twice the fall of the logarithm of the profile likelihood is the quantile of F(1, m - 2); that
    distribution, not chi^2, because m is small, and no Wald limits, because s may go to 0.

    Parameters
    ----------
    x, lower, upper : sequence of float, length m >= 3
        Abscissae, and the ends of the brackets; an upper end may be infinite.
    confidence : float
        In (0, 1).
    """
    xs, low, high = (np.asarray(values, dtype=np.float64) for values in (x, lower, upper))
    if (high - low).max() <= NARROW:
        return _least_squares(xs, (low + high) / 2, confidence)
    return _censored(xs, low, high, confidence)


def _least_squares(x: Floats, y: Floats, confidence: float) -> Slope:
    import statsmodels.api as sm

    fitted = sm.OLS(y, sm.add_constant(x)).fit()
    low, high = fitted.conf_int(alpha=1 - confidence)[1]
    return Slope(value=float(fitted.params[1]), lower=float(low), upper=float(high), method="least squares")


def _censored(x: Floats, low: Floats, high: Floats, confidence: float) -> Slope:
    """Return the slope of greatest likelihood and its limits by the likelihood ratio."""
    from scipy.optimize import brentq
    from scipy.stats import f

    ends = np.where(np.isfinite(high), high, low + 1)
    guess = _least_squares(x, (low + ends) / 2, confidence)
    best, at = _profile(x, low, high, None, guess.value)
    fall = float(f.ppf(confidence, 1, len(x) - 2)) / 2

    def excess(b: float) -> float:
        return best - _profile(x, low, high, b, at)[0] - fall

    limits = []
    for sign in (-1, 1):
        step = max(1e-3, abs(guess.upper - guess.lower) / 4)
        while step < FARTHEST and excess(at + sign * step) < 0:
            step *= 2
        limits.append(float(brentq(excess, at, at + sign * step, xtol=1e-6)) if step < FARTHEST else at + sign * step)
    return Slope(value=at, lower=limits[0], upper=limits[1], method="interval-censored likelihood")


def _profile(x: Floats, low: Floats, high: Floats, fixed: float | None, guess: float) -> tuple[float, float]:
    """Return the greatest log-likelihood, and the slope there, over all parameters or with the slope fixed."""
    from scipy.special import log_ndtr
    from statsmodels.base.model import GenericLikelihoodModel

    ends = np.where(np.isfinite(high), high, low + 1)
    start_slope = guess if fixed is None else fixed
    residual = (low + ends) / 2 - start_slope * x
    # Not much smaller than the brackets: their likelihood is 1 for every smaller s, which is then of no interest.
    least = math.log(max(1e-6, float((ends - low).min()) / 20))

    class Censored(GenericLikelihoodModel):  # type: ignore[misc]  # statsmodels has no types
        def nloglikeobs(self, params: Any) -> Any:
            b = params[-1] if fixed is None else fixed
            s = math.exp(max(least, float(params[1])))
            top, bottom = (high - params[0] - b * x) / s, (low - params[0] - b * x) / s
            flip = bottom > 0  # the tail in which differences keep their digits
            top, bottom = np.where(flip, -bottom, top), np.where(flip, -top, bottom)
            larger, smaller = log_ndtr(top), log_ndtr(bottom)
            return -(larger + np.log(-np.expm1(np.minimum(smaller - larger, -1e-300))))

    start = [float(residual.mean()), math.log(max(float(residual.std()), math.exp(least)))]
    start += [] if fixed is not None else [guess]
    names = ["a", "ln s", "b"][: len(start)]
    model = Censored(low, x[:, None], extra_params_names=names[1:])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what statsmodels says of Hessians, which are not used
        fitted = model.fit(start_params=np.array(start), method="nm", maxiter=2000, disp=False, skip_hessian=True)
    return float(-model.nloglike(fitted.params)), float(fitted.params[-1]) if fixed is None else fixed
