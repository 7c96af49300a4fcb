"""Parameters: what is built with them, and the checks by which every learner refuses bad input in the same words."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import lru_cache
from inspect import signature
from numbers import Integral, Real
from typing import Any, Generic, TypeVar, cast

from dpaudit.contract import Domain, InputError, Sample

# Smaller numbers, and inverses of larger ones, make sample sizes and weights that floats cannot hold.
LEAST = 1e-100


# Whose share of epsilon a part of a learner spends.
BUDGETS = ("paper", "proved")

T = TypeVar("T")


class Built(Generic[T]):
    """A property: what a class or a function makes of the parameters of its owner that have the names of its own.

    `concepts = Built(Halfspaces)` is `Halfspaces(side, dimension)` of a learner with these two parameters. An object
    of a class is made once for equal parameters: runs ask for it many times, and it does not change.
    """

    def __init__(self, kind: Callable[..., T]) -> None:
        self._kind = kind
        self._names = list(signature(kind).parameters)
        self._given: dict[type, list[str]] = {}
        self._kept: Callable[..., T] = lru_cache(maxsize=32, typed=True)(kind) if isinstance(kind, type) else kind

    def __get__(self, owner: object, owners: type | None = None) -> T:
        if owner is None:
            return cast(T, self)
        if (names := self._given.get(type(owner))) is None:
            # The names are looked up once a class: properties of learners are asked for in every run.
            names = self._given[type(owner)] = [name for name in self._names if hasattr(owner, name)]
        given = {name: getattr(owner, name) for name in names}
        try:
            return self._kept(**given)
        except TypeError:  # a parameter that is no number, which the class refuses
            return self._kind(**given)


# Longer integers are shown as powers of two.
MOST_BITS = 2**10


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Raise `InputError` unless `value` is one of the choices."""
    if value not in choices:
        raise InputError.among(name, value, choices)


def check_integer(name: str, value: object, low: int, high: int | None = None, beyond: str = "") -> None:
    """Raise `InputError` unless `value` is an integer in [low, high]; `beyond` says what more would cost."""
    most = math.inf if high is None else high
    if not isinstance(value, Integral) or isinstance(value, bool) or not low <= int(value) <= most:
        if high is None:
            allowed = f"an integer >= {low}"
        else:
            allowed = f"an integer in [{low}, {_written(high)}]"
        raise InputError(f"{name} must be {allowed}, got {_written(value)}{beyond and f': {beyond}'}")


def _written(value: object) -> str:
    """Return a value as it is shown; integers of thousands of digits, which Python does not write, as powers of two."""
    if not isinstance(value, int) or value.bit_length() <= MOST_BITS:
        return repr(value)
    power = value.bit_length() - 1
    if value == 1 << power:
        return f"2^{power}"
    return f"a number above 2^{power}"


def check_positive(name: str, value: object) -> None:
    """Raise `InputError` unless `value` is a finite number > 0."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < math.inf:
        raise InputError(f"{name} must be a finite number > 0, got {value!r}")
    if not LEAST <= float(value) <= 1 / LEAST:
        raise InputError(f"{name} must be in [{LEAST:g}, {1 / LEAST:g}], where it can be computed with; got {value!r}")


def check_probability(name: str, value: object) -> None:
    """Raise `InputError` unless `value` is a number in (0, 1)."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < 1:
        raise InputError(f"{name} must be in (0, 1), got {value!r}")
    # The logarithm of so small a number is fine, but sample sizes and weights made with it are not.
    if float(value) < LEAST:
        raise InputError(f"{name} must be at least {LEAST:g}, from where it can be computed with; got {value!r}")


def check_parameters(learner: Any, **integers: tuple[int, int | None]) -> None:
    """Raise `InputError` unless a learner's integers are in their ranges, epsilon is > 0, delta, alpha, beta in (0, 1).

    Those of the three that are None by default may be None.
    """
    for name, (low, high) in integers.items():
        check_integer(name, getattr(learner, name), low, high)
    check_positive("epsilon", learner.epsilon)
    for field in fields(learner):
        value = getattr(learner, field.name)
        if field.name in ("delta", "alpha", "beta") and (value is not None or field.default is not None):
            check_probability(field.name, value)


def check_statement(alpha: object, beta: object, setting: str = "realizable", settings: Sequence[str] = ()) -> None:
    """Raise `InputError` unless alpha and beta are in (0, 1) and the setting is one of `settings`, if any are given."""
    check_probability("alpha", alpha)
    check_probability("beta", beta)
    if settings:
        check_setting(setting, settings)


def check_setting(setting: str, settings: Sequence[str]) -> None:
    """Raise `InputError` unless the setting of a theorem is one of `settings`."""
    if setting not in settings:
        *others, last = settings
        allowed = f"{', '.join(others)} or {last}" if others else last
        raise InputError(f"setting must be {allowed}, got {setting!r}")


def check_own_beta(beta: float, own: float, failing: str, *, strict: bool = True) -> None:
    """Raise `InputError` unless beta is above the learner's own, or at least that if not `strict`.

    `failing` says in words what happens with probability `own` at any n.
    """
    if beta < own or (strict and beta == own):
        least = "above" if strict else "at least"
        raise InputError(f"beta must be {least} {own!r}, the probability with which {failing} at any n; got {beta!r}. "
                         "Build the learner with a smaller beta")  # fmt: skip


def check_law_limit(name: str, value: int, limit: int) -> None:
    """Raise `InputError` if a parameter is above the limit up to which the exact law is computed."""
    if value > limit:
        raise InputError(f"{name} must be at most {limit} for the exact law, got {value}; run has no such limit")


def check_sample(sample: Sample, domain: Domain) -> None:
    """Raise `InputError` unless this is a sample and every point of it lies in the learner's domain."""
    if not hasattr(sample, "points"):
        raise InputError(f"sample must be built with learner.domain.sample(points, labels), got {sample!r:.100}")
    inside = domain.contains(sample.points)
    if not inside.all():
        outside = tuple(int(v) for v in sample.points[~inside][0])
        raise InputError(f"points of sample must lie in the learner's domain {domain}, got {outside}")


def check_law(learner: Any, sample: Sample, **limits: int) -> None:
    """Raise `InputError` unless the sample fits a learner whose parameters are within the limits of its exact law."""
    check_sample(sample, learner.domain)
    for name, limit in limits.items():
        check_law_limit(name, getattr(learner, name), limit)


def check_run(sample: Sample, domain: Domain, size: int) -> None:
    """Raise `InputError` unless the sample fits the domain and `size` is a positive number of runs."""
    check_integer("size", size, 1)
    check_sample(sample, domain)
