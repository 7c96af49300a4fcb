"""Sample-complexity theorems as measured laws: how n* grows with a parameter, and whether it outgrows the theorem.

Exponents are slopes of lines through brackets of n*, with confidence limits, by statsmodels.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dpaudit.arguments import read_integer, read_number
from dpaudit.contract import Grade, Learner, Parameter, UtilityClaim, UtilityVerdict
from dpaudit.errors import InputError
from dpaudit.progress import Progress, followed
from dpaudit.seeding import check_seed
from dpaudit.utility.finding import ScalingFinding, ScalingPoint, Slope
from dpaudit.utility.interval import verdict
from dpaudit.utility.sample_complexity import MOVES, claimed, own_case, sample_complexity
from dpaudit.utility.worst_case import Bracket

# Fewer values do not determine an exponent: the slope that decides is fitted to half of them.
LEAST_VALUES = 6
# A slope of ln(n*/theorem) up to this may be curvature that a finite range leaves.
CLEAR = 0.1
# Parameters in whose inverse the theorems grow.
INVERSE = ("alpha", "beta", "epsilon")
# Parameters in whose logarithm the theorems grow, and in that of whose inverse.
LOGARITHM = ("domain_size",)
INVERSE_LOGARITHM = ("delta",)
# Before the name of a parameter: the values are its logarithms to the base 2, as 2^(2^14) is no float.
POWER = "log2 "
# Brackets up to this long, on the logarithmic scale, are taken for their middles.
NARROW = math.log(1.03)
# Limits are looked for up to this distance from the estimate; beyond they are infinite for every purpose.
FARTHEST = 64.0

Floats = NDArray[np.float64]


def law_of(
    learner_id: str,
    build: Callable[..., Learner],
    parameter: str,
    values: Sequence[float],
    fixed: Mapping[str, Parameter],
    *,
    alpha: float | None,
    beta: float | None,
    setting: str | None = None,
    confidence: float = 0.95,
    moves: int = MOVES,
    seed: int = 0,
    progress: Progress = False,
    shares: Mapping[str, float] | None = None,
) -> ScalingFinding:
    """Return the law of `dpaudit.pac.scaling_law` for learners that `build` makes of their parameters."""
    check_values(values)
    confidence = read_number("confidence", confidence, 0, 1)
    seed = check_seed(seed)
    moves = read_integer("moves", moves, 0)
    shares = {} if shares is None else shares
    for name in shares:
        if name not in ("alpha", "beta"):
            raise InputError.among("shares", name, ("alpha", "beta"))
    measured = []
    with followed(progress, len(values), "values") as report:
        for value in values:
            levels, parameters = _settled(parameter, value, alpha, beta, fixed, shares)
            measured.append(_measured(build(**parameters), parameter, value, levels, setting, moves, seed))
            if report is not None:
                report(1)
    _, claim, _ = measured[0]
    points = sorted((point for point, _, _ in measured), key=lambda point: point.x)
    # Additive terms such as ln(1/beta) bend the line at small values, so that the upper half decides.
    half = points[len(points) // 2 :]
    ratio = _fitted(half, confidence, over_theorem=True)
    found = verdict(ratio.lower, ratio.upper, CLEAR)
    # No finite number of sizes proves a law of growth.
    if found == UtilityVerdict.HOLDS:
        found = UtilityVerdict.NOT_REFUTED
    return ScalingFinding(
        verdict=found,
        exponent=_fitted(points, confidence),
        upper_exponent=_fitted(half, confidence),
        ratio_slope=ratio,
        local_exponents=_local_exponents(points),
        points=points,
        learner=learner_id,
        parameter=parameter,
        abscissa=_abscissa(parameter, values[0])[0],
        fixed={**fixed, **{name: f"{share:g} of that asked for" for name, share in shares.items()}},
        alpha=alpha,
        beta=beta,
        setting=claim.setting,
        confidence=confidence,
        seed=seed,
        claim_id=claim.claim_id,
        grade=max((grade for _, _, grade in measured), key=list(Grade).index),
    )


def check_values(values: Sequence[float]) -> None:
    """Raise `InputError` for too few values, and for values that are no positive numbers or do not increase."""
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
            raise InputError.of("values", list(values), "positive numbers")
    if len(values) < LEAST_VALUES:
        raise InputError.of("values", list(values), f"at least {LEAST_VALUES} numbers")
    for before, after in pairwise(values):
        if not after > before:
            raise InputError.of("values", list(values), f"increasing, and {after!r} is not above {before!r}")


def _settled(
    parameter: str,
    value: float,
    alpha: float | None,
    beta: float | None,
    fixed: Mapping[str, Parameter],
    shares: Mapping[str, float],
) -> tuple[tuple[float, float], dict[str, Parameter]]:
    """Return alpha and beta, and the learner's parameters, at one value."""
    parameters = dict(fixed)
    if parameter == "alpha":
        if alpha is not None:
            raise InputError.of("alpha", alpha, "left out where it is varied")
        alpha = value
    elif parameter == "beta":
        if beta is not None:
            raise InputError.of("beta", beta, "left out where it is varied")
        beta = value
    elif parameter.startswith(POWER):
        parameters[parameter.removeprefix(POWER)] = 2 ** read_integer("values", value)
    else:
        parameters[parameter] = value
    if alpha is None:
        raise InputError.of("alpha", None, "given unless it is varied")
    if beta is None:
        raise InputError.of("beta", None, "given unless it is varied")
    levels = {"alpha": float(alpha), "beta": float(beta)}
    parameters |= {name: share * levels[name] for name, share in shares.items()}
    return (float(alpha), float(beta)), parameters


def _measured(
    learner: Learner,
    parameter: str,
    value: float,
    levels: tuple[float, float],
    setting: str | None,
    moves: int,
    seed: int,
) -> tuple[ScalingPoint, UtilityClaim, Grade]:
    """Return n* and the theorem's n at one value, the theorem's claim, and the grade of n*."""
    alpha, beta = levels
    claim = claimed(learner, alpha, beta, setting)
    if (own := own_case(learner, alpha, beta, claim)) is not None:
        found, case = own
    else:
        size = sample_complexity(learner, alpha=alpha, beta=beta, setting=claim.setting, moves=moves, seed=seed)
        found = Bracket(size.lower, size.suffices, size.grade)
        case = size.worst.name
    _, x = _abscissa(parameter, value)
    point = ScalingPoint(
        value=float(value), x=x, lower=found.lower, upper=found.upper, theorem=claim.sample_size, case=case
    )
    return point, claim, found.grade


def _abscissa(parameter: str, value: float) -> tuple[str, float]:
    """Return the name of the abscissa of the law, and its number at a value of the parameter."""
    if parameter in INVERSE:
        return f"1/{parameter}", 1 / value
    if parameter in LOGARITHM:
        return f"ln {parameter}", math.log(value)
    if parameter in INVERSE_LOGARITHM:
        return f"ln 1/{parameter}", -math.log(value)
    return parameter, float(value)


def _local_exponents(points: Sequence[ScalingPoint]) -> list[float]:
    """Return the slopes between points that follow each other in the order of x, from the ends of their brackets."""
    logs = [(math.log(point.x), math.log(point.upper or max(point.lower, 1))) for point in points]
    return [(n - m) / (y - x) for (x, m), (y, n) in pairwise(logs)]


def _fitted(points: Iterable[ScalingPoint], confidence: float, *, over_theorem: bool = False) -> Slope:
    """Return the slope of ln n*, or of ln(n*/theorem), on ln x."""
    x = []
    lower = []
    upper = []
    for point in points:
        base = math.log(point.theorem) if over_theorem else 0.0
        x.append(math.log(point.x))
        least: float = max(point.lower, 0.5)
        if point.upper == point.lower + 1:
            # n* is an integer above `lower`: where it is known, the middle of the bracket is its own logarithm.
            least = point.upper
        lower.append(math.log(least) - base)
        upper.append(math.inf if point.upper is None else math.log(point.upper) - base)
    return slope(x, lower, upper, confidence)


def slope(x: Sequence[float], lower: Sequence[float], upper: Sequence[float], confidence: float) -> Slope:
    """Return the slope b of y = a + b x + s z, z normal, where y_i is only known to lie in (lower_i, upper_i].

    Narrow brackets are taken for their middles: ordinary least squares with t limits. Otherwise the likelihood is the
    product of Phi((upper_i - a - b x_i)/s) - Phi((lower_i - a - b x_i)/s), maximised over a, b and s, and the limits
    are the b at which twice the fall of the logarithm of the profile likelihood is the quantile of F(1, m - 2); that
    distribution, not chi^2, because m is small, and no Wald limits, because s may go to 0.

    The m >= 3 upper ends may be infinite.
    """
    xs, low, high = (np.asarray(values, dtype=np.float64) for values in (x, lower, upper))
    if (high - low).max() <= NARROW:
        return _least_squares(xs, (low + high) / 2, confidence)
    return _censored(xs, low, high, confidence)


def _least_squares(x: Floats, y: Floats, confidence: float) -> Slope:
    from statsmodels.regression.linear_model import OLS

    # The error of a level line is 0/0, and 0.
    if np.ptp(y) == 0:
        return Slope(value=0.0, lower=0.0, upper=0.0, method="least squares")
    line = OLS(y, np.column_stack([np.ones_like(x), x])).fit()
    low, high = line.conf_int(alpha=1 - confidence)[1]
    return Slope(value=float(line.params[1]), lower=float(low), upper=float(high), method="least squares")


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

    # The step doubles until the profile likelihood has fallen enough: the limit is then between the last two steps.
    limits = []
    for sign in (-1, 1):
        step = max(1e-3, abs(guess.upper - guess.lower) / 4)
        while step < FARTHEST and excess(at + sign * step) < 0:
            step *= 2
        limit = at + sign * step
        if step < FARTHEST:
            limit = float(brentq(excess, at, limit, xtol=1e-6))
        limits.append(limit)
    return Slope(value=at, lower=limits[0], upper=limits[1], method="interval-censored likelihood")


def _profile(x: Floats, low: Floats, high: Floats, fixed: float | None, guess: float) -> tuple[float, float]:
    """Return the greatest log-likelihood, and the slope there, over all parameters or with the slope fixed."""
    from scipy.special import log_ndtr
    from statsmodels.base.model import GenericLikelihoodModel

    ends = np.where(np.isfinite(high), high, low + 1)
    first = guess if fixed is None else fixed
    residual = (low + ends) / 2 - first * x
    # Not much smaller than the brackets: their likelihood is 1 for every smaller s, which is then of no interest.
    least = math.log(max(1e-6, float((ends - low).min()) / 20))

    class Censored(GenericLikelihoodModel):  # type: ignore[misc]  # statsmodels has no types
        """The likelihood of brackets, of the parameters a and ln s, and b where it is free."""

        def nloglikeobs(self, params: Floats) -> Floats:
            b = params[-1] if fixed is None else fixed
            s = math.exp(max(least, float(params[1])))
            top = (high - params[0] - b * x) / s
            bottom = (low - params[0] - b * x) / s
            # In the left tail differences of the distribution function keep their digits.
            flip = bottom > 0
            top, bottom = np.where(flip, -bottom, top), np.where(flip, -top, bottom)
            larger = log_ndtr(top)
            smaller = log_ndtr(bottom)
            loss: Floats = -(larger + np.log(-np.expm1(np.minimum(smaller - larger, -1e-300))))
            return loss

    start = [float(residual.mean()), math.log(max(float(residual.std()), math.exp(least)))]
    names = ["ln s"]
    if fixed is None:
        start.append(guess)
        names.append("b")
    # With one column the model has one parameter of its own, which is a; the others are named.
    model = Censored(low, np.ones_like(x), extra_params_names=names)
    with np.errstate(all="ignore"), warnings.catch_warnings():  # a step may lead to where the likelihood is 0
        warnings.simplefilter("ignore")
        best = model.fit(start_params=np.array(start), method="nm", maxiter=2000, disp=False, skip_hessian=True)
        return -float(model.nloglike(best.params)), float(best.params[-1]) if fixed is None else fixed
