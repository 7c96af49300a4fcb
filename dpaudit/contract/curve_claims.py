"""Claims of privacy that are curves: Gaussian, concentrated and Renyi privacy, profiles, trade-off functions, points.

Each is data, a name and parameters. Functions are evaluated once, when the claim is made: a profile and a
trade-off function become points (epsilon, delta) that each follow from the claim, so that refuting one refutes it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from dpaudit.errors import InputError, blamed
from dpaudit.plain_numbers import ROUNDING, is_finite, plain_number, without_rounding

__all__ = ["CurveClaim"]

# The epsilons at which profiles are evaluated: 0 to 2 by 0.05, then to 35 by a tenth.
EPSILONS = (*(i / 20 for i in range(41)), *(2.0 * 1.1**i for i in range(1, 31)))
# Points of half of [0, 1] at which trade-off functions are evaluated.
RATES = 512
# The largest mu, and the largest order: beyond it no number of runs shows anything.
MOST = 50.0
# Bounds on delta that follow from trade-off functions are raised by it, or by `ROUNDING` where rounding shows.
_SLACK = 1e-12


@dataclass(frozen=True)
class CurveClaim:
    r"""A claim of privacy that is a curve, made by `PrivacyClaim.gaussian` and the methods that follow it.

    Of every event S, with P and Q the output laws on two neighbours in either order, it says by its name:

    - "gaussian": Phi^-1(P(S)) - Phi^-1(Q(S)) <= mu (Dong, Roth and Su 2022);
    - "zero-concentrated": D_alpha(P || Q) <= rho alpha for every alpha > 1 (Bun and Steinke 2016);
    - "renyi": D_alpha(P || Q) <= epsilon for each of its orders (Mironov 2017);
    - "points", "profile", "trade-off function": P(S) <= exp(epsilon) Q(S) + delta at each of its points.

    Attributes
    ----------
    name : str
        The kind of the claim.
    mu, rho : float or None
        The parameter, in (0, 50] and in (0, 1250].
    orders : tuple of (float, float)
        Pairs (alpha, epsilon), alpha > 1.
    points : tuple of (float, float)
        Pairs (epsilon, delta).
    """

    name: Literal["gaussian", "zero-concentrated", "renyi", "points", "profile", "trade-off function"]
    mu: float | None = None
    rho: float | None = None
    orders: tuple[tuple[float, float], ...] = ()
    points: tuple[tuple[float, float], ...] = ()

    def __post_init__(self) -> None:
        if self.name not in _PARAMETER_OF:
            raise InputError.among("name", self.name, _PARAMETER_OF)
        own = _PARAMETER_OF[self.name]
        # Orders and points may be an array, which does not compare with ().
        given = {
            "mu": self.mu is not None,
            "rho": self.rho is not None,
            "orders": self.orders is not None and len(self.orders) > 0,
            "points": self.points is not None and len(self.points) > 0,
        }
        for name, there in given.items():
            if there != (name == own):
                raise InputError(f"a claim {self.name!r} has {own} and nothing else", parameter=name)
        # Numbers of any library become numbers of Python, so that claims are compared, shown and stored alike.
        if self.mu is not None:
            object.__setattr__(self, "mu", _in_range("mu", self.mu, MOST))
        if self.rho is not None:
            object.__setattr__(self, "rho", _in_range("rho", self.rho, MOST**2 / 2))
        orders = tuple((_order(alpha), _in_range("epsilon", epsilon, MOST**2)) for alpha, epsilon in self.orders)
        points = tuple(_point(epsilon, delta) for epsilon, delta in self.points)
        object.__setattr__(self, "orders", orders)
        object.__setattr__(self, "points", points)

    @property
    def call(self) -> str:
        """The call that makes the claim, as Python; empty where it was made from a function."""
        if self.mu is not None:
            return f"dpaudit.PrivacyClaim.gaussian({self.mu!r})"
        if self.rho is not None:
            return f"dpaudit.PrivacyClaim.zero_concentrated({self.rho!r})"
        if self.orders:
            return f"dpaudit.PrivacyClaim.renyi({list(self.orders)!r})"
        if self.name == "points":
            return f"dpaudit.PrivacyClaim.points({list(self.points)!r})"
        return ""


_PARAMETER_OF = {
    "gaussian": "mu",
    "zero-concentrated": "rho",
    "renyi": "orders",
    "points": "points",
    "profile": "points",
    "trade-off function": "points",
}


def _in_range(name: str, value: float, most: float) -> float:
    """Return a number in (0, most], or raise `InputError`."""
    number = plain_number(value)
    if number is None or not 0 < number <= most:
        raise InputError.of(name, value, f"a number in (0, {most:g}]")
    return float(number)


def _order(value: float) -> float:
    """Return an order of Renyi privacy, or raise `InputError`."""
    number = plain_number(value)
    if number is None or not 1 < number <= 10 * MOST:
        raise InputError.of("alpha", value, f"an order above 1 and at most {10 * MOST:g}")
    return float(number)


def _point(epsilon: float, delta: float) -> tuple[float, float]:
    """Return a point (epsilon, delta) of a claim, without what rounding explains, or raise `InputError`."""
    at = plain_number(epsilon)
    most = plain_number(delta)
    if at is not None:
        at = without_rounding(at, high=math.inf)
    if at is None or at < 0 or not is_finite(at):
        raise InputError.of("epsilon", epsilon, "a finite number >= 0")
    if most is not None:
        most = without_rounding(most)
    if most is None or not 0 <= most < 1:
        raise InputError.of("delta", delta, "in [0, 1)")
    return float(at), float(most)


def points_claim(points: Iterable[Sequence[float]]) -> CurveClaim:
    """Return the claim of some points, or raise `InputError`."""
    try:
        listed = tuple((epsilon, delta) for epsilon, delta in points)
    except (TypeError, ValueError):
        raise InputError.of("points", points, "pairs (epsilon, delta) of numbers") from None
    if not listed:
        raise InputError.of("points", points, "at least one pair (epsilon, delta)")
    return CurveClaim("points", points=listed)


def profile_claim(delta_of_epsilon: Callable[[float], float]) -> CurveClaim:
    """Return the points of a function at `EPSILONS` as a claim; see `PrivacyClaim.profile`."""
    # Accountants round: a delta that leaves [0, 1] or grows by less than `ROUNDING` is taken for one that does not.
    found: list[tuple[float, float]] = []
    for epsilon in EPSILONS:
        delta = without_rounding(_number("profile", delta_of_epsilon, epsilon))
        if not 0 <= delta <= 1:
            raise InputError.of("profile", delta, f"in [0, 1], as at {epsilon:g}")
        if found and delta > found[-1][1] + ROUNDING:
            raise InputError(
                f"{{profile}} must not grow with epsilon: it is {found[-1][1]:g} at {found[-1][0]:g} and {delta:g} at "
                f"{epsilon:g}",
                names=("profile",),
                value=delta,
            )
        found.append((epsilon, delta))
    # At delta = 1 a claim allows everything, and cannot be refuted.
    said = tuple(one for one in found if one[1] < 1)
    if not said:
        raise InputError("{profile} says nothing: it is 1 at every epsilon", names=("profile",))
    return CurveClaim("profile", points=said)


def trade_off_claim(f: Callable[[float], float]) -> CurveClaim:
    r"""Return the points that follow from a trade-off function; see `PrivacyClaim.trade_off`.

    A slope k = exp(e) supports the region of f at delta = sup_x 1 - f(x) - k x. f is known at a grid; between two
    points a convex function lies above the chords of the intervals on both sides, continued, so the supremum over an
    interval is at most its value at the corner where these meet: delta is never too small. Slopes below 1 give points
    too: p <= k q + d says of the complement, with the sides exchanged, 1 - q <= (1 - p) / k + 1 - (1 - d) / k.
    """
    # A geometric grid up to 1/2, and its mirror image.
    # 6.699 is 7 + log10(1/2).
    lower = [10.0 ** (-7 + 6.699 * i / RATES) for i in range(RATES + 1)]
    xs = [0.0, *lower, *(1 - x for x in reversed(lower[:-1])), 1.0]
    ys = [_number("trade_off", f, x) for x in xs]
    for x, y in zip(xs, ys, strict=True):
        if not -ROUNDING <= y <= 1 - x + ROUNDING:
            raise InputError(
                f"trade_off must be in [0, 1 - x]: it is {y:g} at x = {x:g}", parameter="trade_off", value=y
            )
    ys = [min(max(y, 0.0), 1 - x) for x, y in zip(xs, ys, strict=True)]
    slopes = _slopes(xs, ys)
    slack = _SLACK
    if _bent(slopes) is not None:
        # Between points that are close to each other rounding alone bends the function. The largest convex function
        # below it claims no more; where it differs by rounding alone, its corners stand for the function.
        corners = _convex_corners(xs, ys)
        if _distance(xs, ys, corners) <= ROUNDING:
            xs = [xs[i] for i in corners]
            ys = [ys[i] for i in corners]
            slopes = _slopes(xs, ys)
            slack = ROUNDING
    i = _bent(slopes)
    if i is not None:
        raise InputError(
            f"trade_off must be convex and must not grow: its slope is {slopes[i - 1]:g} before x = {xs[i]:g} and "
            f"{slopes[i]:g} after it",
            parameter="trade_off",
            value=ys[i],
        )
    possible = _corners(xs, ys, slopes)

    def delta(ratio: float) -> float:
        return max(1 - y - ratio * x for x, y in possible) + slack

    points = [(e, min(delta(math.exp(e)), 1 - (1 - delta(math.exp(-e))) * math.exp(e))) for e in EPSILONS]
    said = tuple((e, max(d, 0.0)) for e, d in points if d < 1)
    if not said:
        raise InputError("trade_off says nothing: it is 0 everywhere", parameter="trade_off")
    return CurveClaim("trade-off function", points=said)


def _slopes(xs: list[float], ys: list[float]) -> list[float]:
    """Return the slopes between successive points."""
    return [(b - a) / (v - u) for u, v, a, b in zip(xs, xs[1:], ys, ys[1:], strict=False)]


def _bent(slopes: list[float]) -> int | None:
    """Return the place of the first point at which a function is not convex or grows; None if there is none."""
    for i, (left, right) in enumerate(pairwise(slopes), 1):
        if left > right + 1e-6 * max(1.0, abs(right)) or right > 1e-6:
            return i
    return None


def _convex_corners(xs: list[float], ys: list[float]) -> list[int]:
    """Return which points are corners of the greatest convex function below all of them, ascending."""
    corners: list[int] = []
    for i in range(len(xs)):
        while len(corners) > 1:
            a, b = corners[-2:]
            if (ys[b] - ys[a]) * (xs[i] - xs[b]) < (ys[i] - ys[b]) * (xs[b] - xs[a]):
                break
            corners.pop()
        corners.append(i)
    return corners


def _distance(xs: list[float], ys: list[float], corners: list[int]) -> float:
    """Return by how much, at most, points lie above the chords between some of them."""
    most = 0.0
    for a, b in pairwise(corners):
        slope = (ys[b] - ys[a]) / (xs[b] - xs[a])
        for i in range(a + 1, b):
            most = max(most, ys[i] - ys[a] - slope * (xs[i] - xs[a]))
    return most


def _corners(xs: list[float], ys: list[float], slopes: list[float]) -> list[tuple[float, float]]:
    """Return the corners of a function that no convex function through the points is below, and not below 0."""
    found = list(zip(xs, ys, strict=True))
    for i, slope in enumerate(slopes):
        u = xs[i]
        v = xs[i + 1]
        a = ys[i]
        b = ys[i + 1]
        # A function that does not grow continues at most level after 1, and may fall at once at 0.
        before = slopes[i - 1] if i else -math.inf
        after = slopes[i + 1] if i + 1 < len(slopes) else 0.0
        if math.isinf(before):
            found.append((u, max(b - after * (v - u), 0.0)))
        elif after - before > 1e-9 and before < slope:
            x = min(max((b - a + before * u - after * v) / (before - after), u), v)
            found.append((x, max(a + before * (x - u), b + after * (x - v), 0.0)))
    return found


def _number(name: str, function: Callable[[float], float], at: float) -> float:
    """Return what a function of the user's gives at a point, or raise `InputError`."""
    if not callable(function):
        raise InputError.of(name, function, "a function of one number")
    with blamed(f"the claim's {name}"):
        value = function(at)
    number = plain_number(value)
    if number is None or not is_finite(number):
        raise InputError.of(name, value, f"a function that returns a finite number, as at {at:g}")
    return float(number)
