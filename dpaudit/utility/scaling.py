"""Sample-complexity theorems as measured laws: how n* grows with a parameter, and whether it outgrows the theorem.

Exponents are slopes of lines through brackets of n*, with confidence limits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.arguments import read_integer, read_number
from dpaudit.contract import Grade, Learner, UtilityClaim, UtilityVerdict
from dpaudit.errors import InputError
from dpaudit.progress import Progress, followed
from dpaudit.registry import get_learner
from dpaudit.results import remembering
from dpaudit.seeding import check_seed
from dpaudit.utility.finding import ScalingFinding, ScalingPoint, Slope
from dpaudit.utility.interval import verdict
from dpaudit.utility.sample_complexity import MOVES, claimed, own_case, sample_complexity
from dpaudit.utility.worst_case import Bracket

LEAST_VALUES = 6
"""Fewer values do not determine an exponent: the slope that decides is fitted to half of them."""
CLEAR = 0.1
"""A slope of ln(n*/theorem) up to this may be curvature that a finite range leaves."""
INVERSE = ("alpha", "beta", "epsilon")
"""Parameters in whose inverse the theorems grow."""
LOGARITHM = ("domain_size",)
"""Parameters in whose logarithm the theorems grow."""
NARROW = math.log(1.03)
"""Brackets up to this long, on the logarithmic scale, are taken for their middles."""
FARTHEST = 64.0
"""Limits are looked for up to this distance from the estimate; beyond they are infinite for every purpose."""

Floats = NDArray[np.float64]


@remembering
def scaling_law(
    learner_id: str,
    parameter: str,
    values: Sequence[float],
    *,
    alpha: float | None = None,
    beta: float | None = None,
    setting: str | None = None,
    confidence: float = 0.95,
    moves: int = MOVES,
    seed: int = 0,
    progress: Progress = False,
    parameters: Mapping[str, Any] | None = None,
    **fixed: Any,
) -> ScalingFinding:
    """Measure how a learner's sample complexity grows with a parameter, and compare it with its theorem.

    For each value n* is computed on the learner's own hard case where it offers the exact failure rate
    (`hard_failure`), else measured by `sample_complexity`. The hard case is the same one at every value, so that its n*
    can be compared; `sample_complexity` may find a worse case, whose n* is larger. The raw exponent is the slope of
    ln n* on ln x. Additive terms such as ln(1/beta) bend that line where the theorem's shape is exactly right, so what
    decides is the slope of ln(n*/theorem) in the upper half of the values.

    Parameters
    ----------
    learner_id : str
        The learner.
    parameter : str
        A parameter of the learner, or "alpha" or "beta". x is its inverse for alpha, beta and epsilon, its logarithm
        for domain_size, else its value.
    values : sequence of number
        At least six, increasing.
    alpha, beta : float, optional
        The accuracy and the rate of failure; needed unless varied.
    setting : str, optional
        As for `sample_complexity`.
    confidence : float
        Of each interval.
    moves : int
        As for `sample_complexity`, where n* is measured by it; with 0 the hard cases that are proposed compete alone.
    seed : int
        Root seed.
    progress : bool or callable
        As for `audit_privacy`; the unit is a value.
    parameters : mapping, optional
        Parameters of the learner that are called as one of these arguments, such as a `beta` of its own.
    **fixed
        The learner's other parameters.

    Raises
    ------
    InputError
        If the values are too few or not increasing, alpha or beta is missing, or a learner cannot be built.
    """
    return law_of(
        learner_id, partial(get_learner, learner_id), parameter, values, {**fixed, **(parameters or {})}, alpha=alpha,
        beta=beta, setting=setting, confidence=confidence, moves=moves, seed=seed, progress=progress,
    )  # fmt: skip


def law_of(
    learner_id: str,
    build: Callable[..., Learner],
    parameter: str,
    values: Sequence[float],
    fixed: Mapping[str, Any],
    *,
    alpha: float | None,
    beta: float | None,
    setting: str | None = None,
    confidence: float = 0.95,
    moves: int = MOVES,
    seed: int = 0,
    progress: Progress = False,
) -> ScalingFinding:
    """Return the law of `scaling_law` for learners that `build` makes of their parameters."""
    check_values(values)
    confidence, seed = read_number("confidence", confidence, 0, 1), check_seed(seed)
    moves = read_integer("moves", moves, 0)
    measured = []
    with followed(progress, len(values), "values") as report:
        for value in values:
            levels, parameters = _settled(parameter, value, alpha, beta, fixed)
            measured.append(_measured(build(**parameters), parameter, value, levels, setting, moves, seed))
            if report is not None:
                report(1)
    _, claim, _ = measured[0]
    points = sorted((point for point, _, _ in measured), key=lambda point: point.x)
    return ScalingFinding(
        **slopes_of(points, confidence),
        points=points,
        learner=learner_id,
        parameter=parameter,
        abscissa=_abscissa(parameter, values[0])[0],
        fixed=dict(fixed),
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
    parameter: str, value: float, alpha: float | None, beta: float | None, fixed: Mapping[str, Any]
) -> tuple[tuple[float, float], dict[str, Any]]:
    """Return alpha and beta, and the learner's parameters, at one value."""
    levels: dict[str, Any] = {"alpha": alpha, "beta": beta}
    parameters = dict(fixed)
    if levels.get(parameter) is not None:
        raise InputError.of(parameter, levels[parameter], "left out where it is varied")
    (levels if parameter in levels else parameters)[parameter] = value
    for name, level in levels.items():
        if level is None:
            raise InputError.of(name, None, "given unless it is varied")
    return (float(levels["alpha"]), float(levels["beta"])), parameters


def _measured(
    learner: Learner,
    parameter: str,
    value: float,
    levels: tuple[float, float],
    setting: str | None,
    moves: int,
    seed: int,
) -> tuple[ScalingPoint, UtilityClaim, Grade]:
    """Return n* at one value beside the theorem's n, the theorem's claim there, and the grade."""
    alpha, beta = levels
    claim = claimed(learner, alpha, beta, setting)
    if (own := own_case(learner, alpha, beta, claim)) is not None:
        found, case = own
    else:
        size = sample_complexity(learner, alpha=alpha, beta=beta, setting=claim.setting, moves=moves, seed=seed)
        found, case = Bracket(size.lower, size.suffices, size.grade), size.worst.name
    _, x = _abscissa(parameter, value)
    point = ScalingPoint(
        value=float(value), x=x, lower=found.lower, upper=found.upper, theorem=claim.sample_size, case=case
    )
    return point, claim, found.grade


def _abscissa(parameter: str, value: float) -> tuple[str, float]:
    """Return the abscissa of the law in words, and at a value of the parameter."""
    if parameter in INVERSE:
        return f"1/{parameter}", 1 / value
    return (f"ln {parameter}", math.log(value)) if parameter in LOGARITHM else (parameter, float(value))


def slopes_of(points: Sequence[ScalingPoint], confidence: float) -> dict[str, Any]:
    """Return the fields of a finding that follow from its points, in the order of x, by name."""
    half = points[len(points) // 2 :]
    logs = [(math.log(point.x), math.log(point.upper or max(point.lower, 1))) for point in points]
    ratio = _fitted(half, confidence, over_theorem=True)
    found = verdict(ratio.lower, ratio.upper, CLEAR)
    return {
        "verdict": UtilityVerdict.NOT_REFUTED if found == UtilityVerdict.HOLDS else found,
        "exponent": _fitted(points, confidence),
        "upper_exponent": _fitted(half, confidence),
        "ratio_slope": ratio,
        # From the ends of brackets.
        "local_exponents": [(n - m) / (y - x) for (x, m), (y, n) in pairwise(logs)],
    }


def _fitted(points: Iterable[ScalingPoint], confidence: float, *, over_theorem: bool = False) -> Slope:
    """Return the slope of ln n*, or of ln(n*/theorem), on ln x."""
    x, lower, upper = [], [], []
    for point in points:
        base = math.log(point.theorem) if over_theorem else 0.0
        x.append(math.log(point.x))
        # n* is an integer above `lower`: where it is known, the middle of the bracket is its own logarithm.
        exact = point.upper == point.lower + 1
        lower.append(math.log(point.lower + 1 if exact else max(point.lower, 0.5)) - base)
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
    from scipy.stats import linregress, t

    line = linregress(x, y)
    reach = float(t.isf((1 - confidence) / 2, len(x) - 2) * line.stderr)
    value = float(line.slope)
    return Slope(value=value, lower=value - reach, upper=value + reach, method="least squares")


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
    from scipy.optimize import fmin
    from scipy.special import log_ndtr

    ends = np.where(np.isfinite(high), high, low + 1)
    residual = (low + ends) / 2 - (guess if fixed is None else fixed) * x
    # Not much smaller than the brackets: their likelihood is 1 for every smaller s, which is then of no interest.
    least = math.log(max(1e-6, float((ends - low).min()) / 20))

    def mean_loss(parameters: Floats) -> float:
        b = parameters[-1] if fixed is None else fixed
        s = math.exp(max(least, float(parameters[1])))
        top, bottom = (high - parameters[0] - b * x) / s, (low - parameters[0] - b * x) / s
        flip = bottom > 0  # the tail in which differences keep their digits
        top, bottom = np.where(flip, -bottom, top), np.where(flip, -top, bottom)
        larger, smaller = log_ndtr(top), log_ndtr(bottom)
        return float(-(larger + np.log(-np.expm1(np.minimum(smaller - larger, -1e-300)))).mean())

    start = [float(residual.mean()), math.log(max(float(residual.std()), math.exp(least)))]
    with np.errstate(all="ignore"):  # a step may lead to where the likelihood is 0
        best = fmin(mean_loss, [*start, guess] if fixed is None else start, maxiter=2000, disp=False)
        return -mean_loss(best) * len(x), float(best[-1]) if fixed is None else fixed
