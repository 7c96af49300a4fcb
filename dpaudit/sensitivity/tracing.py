"""Draws of noise that know what they are added to: numbers and arrays that otherwise behave as what they are."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from numbers import Number
from types import ModuleType
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

# Numbers that noise is added to, or that have noise; the tensors of other libraries behave as arrays do.
Numbers = float | np.number | np.ndarray
# Takes the noise of a sum, with its value, and the sum; returns the sum to go on with and the number of its record.
Added = Callable[["Noise", Numbers], tuple[Numbers, int]]
# Adds two numbers, or subtracts one from the other.
Combine = Callable[[Numbers, Numbers], Numbers]
# A class or a module, the name of a function of it, and what stands in for that while noise is recorded.
Replacement = tuple[type | ModuleType, str, Callable[..., Any]]
_T = TypeVar("_T")


@dataclass(frozen=True)
class Noise:
    """The draws that make up the noise of a number, by number, and the value that it was added to so far.

    The factor by which the draws were multiplied is None if it is not one number for all. The value is None if there is
    none yet, and `record` is the number of the last sum, -1 before the first.
    """

    draws: tuple[int, ...]
    added: Added
    factor: float | None = 1.0
    value: Numbers | None = None
    record: int = -1

    def times(self, factor: Numbers) -> Noise:
        """Return the noise, multiplied."""
        whole = None
        if self.factor and np.ndim(factor) == 0:
            whole = abs(float(factor)) * self.factor
        value = None
        if self.value is not None:
            value = self.value * factor
        return replace(self, factor=whole, value=value)

    def plus(self, other: Noise) -> Noise:
        """Return the sum of two noises that were added to no value."""
        return Noise((*self.draws, *other.draws), self.added, None)


@dataclass(frozen=True)
class Primitive:
    """A source of noise as it was called, named as ``Generator.laplace``.

    The `family` is "laplace", "gaussian", or the name of another distribution; empty for one whose draw is not added to
    a value. The `scale`, or standard deviation, is None if there is no single one. A call may declare a
    `sensitivity`, as mechanisms of diffprivlib do, in a `metric`. `loss` maps a distance to epsilon, as the map of a
    measurement of OpenDP says.
    """

    name: str
    family: str = ""
    scale: float | None = None
    sensitivity: float | None = None
    metric: str = "absolute"
    loss: Callable[[float], float] | None = field(default=None, compare=False)


class Recorder(Protocol):
    """Records draws; see `dpaudit.sensitivity.recording.Recording`."""

    def stream(self) -> Callable[[], np.random.Generator]:
        """Return what makes the next generator of a run."""

    def drawn(
        self, primitive: Primitive, draw: Callable[[], _T], value: ArrayLike | None = None, *, traces: bool = False
    ) -> _T:
        """Return the output of a primitive, recorded."""


class Traced:
    """Base of the numbers and arrays that know of the noise in them."""

    noise: Noise | None = None

    def plain(self) -> Any:
        """Return the number or the array alone."""
        raise NotImplementedError


# Types of arrays of other libraries -> what makes one that knows of its noise.
TRACED_AS: dict[type, Callable[[Any], Traced]] = {}


def traced(drawn: _T, noise: Noise) -> _T:
    """Return a draw that knows what it is added to; what is no number and no array of numbers stays as it is."""
    made: Any
    if isinstance(drawn, np.ndarray) and drawn.dtype.kind in "if":
        made = drawn.view(TracedArray)
    elif type(drawn) in TRACED_AS:
        made = TRACED_AS[type(drawn)](drawn)
    # Before integers, as a truth value is one to Python.
    elif isinstance(drawn, bool | np.bool_):
        return drawn
    elif isinstance(drawn, int | np.integer):
        made = TracedInt(int(drawn))
    elif isinstance(drawn, float | np.floating):
        made = TracedFloat(float(drawn))
    else:
        return drawn
    made.noise = noise
    known: _T = made
    return known


def untraced(value: _T) -> _T:
    """Return a value without what it knows."""
    if isinstance(value, Traced):
        plain: _T = value.plain()
        return plain
    return value


def noise_of(value: Any) -> Noise | None:
    """Return the noise in a value; None if no noise is known to be in it."""
    return value.noise if isinstance(value, Traced) else None


def added(one: Numbers, other: Numbers, apply: Combine) -> Numbers:
    """Return the sum, or the difference, of two numbers of which at least one has noise.

    That of a noisy number and a value is noise around the sum of the values; that of two noisy ones is what the
    mechanism makes of them, and knows nothing.
    """
    first = noise_of(one)
    second = noise_of(other)
    total = apply(untraced(one), untraced(other))
    if first is not None and second is not None:
        # Noise of several draws, as a Laplace draw made of two exponential ones, is added to a value as one.
        if first.value is None and second.value is None:
            return traced(total, first.plus(second))
        return total
    noise = first or second
    assert noise is not None
    # The value that the noise was added to so far grows by what is added now.
    so_far = 0 if noise.value is None else noise.value
    if second is None:
        value = apply(so_far, untraced(other))
    else:
        value = apply(untraced(one), so_far)
    noise = replace(noise, value=value)
    total, record = noise.added(noise, total)
    return traced(total, replace(noise, record=record))


def scaled(one: Numbers, factor: Numbers, total: Numbers) -> Numbers:
    """Return a product that has the noise of one factor; if both have noise, it knows nothing."""
    noise = noise_of(one)
    if noise is None or noise_of(factor) is not None:
        return total
    return traced(total, noise.times(factor))


def _applied(
    ufunc: np.ufunc,
    method: str,
    inputs: tuple[Numbers, ...],
    settings: Mapping[str, Any],
    out: tuple[np.ndarray] | None = None,
) -> Numbers:
    """Apply a function of numpy; its sums, products and quotients know of the noise in them."""
    plain = [untraced(one) for one in inputs]

    def apply(*values: Numbers) -> Numbers:
        result: Numbers = getattr(ufunc, method)(*values, **settings)
        return result

    simple = method == "__call__" and not settings
    if simple and ufunc in (np.add, np.subtract) and any(noise_of(one) is not None for one in inputs):
        # A sum in place overwrites the value that the noise is added to.
        one, other = (given.copy() if type(given) is np.ndarray else given for given in inputs)
        total = added(one, other, apply)
    else:
        total = apply(*plain)
        if simple and ufunc is np.multiply:
            one, other = noisy_first(inputs)
            total = scaled(one, other, total)
        elif simple and ufunc is np.true_divide and noise_of(inputs[1]) is None:
            total = scaled(inputs[0], 1 / np.asarray(plain[1]), total)
        elif simple and ufunc is np.negative:
            total = scaled(inputs[0], -1, total)
    if out is None:
        return total
    untraced(out[0])[...] = untraced(total)
    return out[0]


def noisy_first(factors: tuple[Numbers, ...]) -> tuple[Numbers, ...]:
    """Return two factors with the one that has noise in front."""
    return factors if noise_of(factors[0]) is not None else factors[::-1]


def _with_plain(apply: Combine) -> Callable[[Any, Any], Any]:
    """Return an operator for numbers and arrays of numpy; others may have one of their own."""

    def operate(self: Numbers, other: Numbers) -> Numbers:
        if isinstance(other, Number | np.ndarray | np.generic):
            return apply(self, other)
        return NotImplemented  # type: ignore[no-any-return]

    return operate


def _quotient(one: Numbers, other: Numbers) -> Numbers:
    quotient = untraced(one) / untraced(other)
    if noise_of(other) is not None:
        return quotient
    return scaled(one, 1 / other, quotient)


class _TracedNumber(Traced):
    """Arithmetic of a number that is noise."""

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Numbers, out: tuple[np.ndarray] | None = None, **settings: Any
    ) -> Numbers:
        return _applied(ufunc, method, inputs, settings, out)

    __add__ = _with_plain(lambda self, other: added(self, other, operator.add))
    __radd__ = _with_plain(lambda self, other: added(other, self, operator.add))
    __sub__ = _with_plain(lambda self, other: added(self, other, operator.sub))
    __rsub__ = _with_plain(lambda self, other: added(other, self, operator.sub))
    __mul__ = _with_plain(lambda self, other: scaled(self, other, untraced(self) * untraced(other)))
    __rmul__ = __mul__
    __truediv__ = _with_plain(_quotient)

    def __neg__(self) -> Any:
        negated = -self.plain()
        if self.noise is None:
            return negated
        return traced(negated, self.noise.times(-1))

    def __pos__(self) -> Self:
        return self

    # A copy, or what travels to another process, is a plain number: nothing is recorded there.
    def __reduce__(self) -> tuple[type, tuple[float]]:
        plain = self.plain()
        return type(plain), (plain,)


class TracedFloat(_TracedNumber, float):
    """A float that is noise."""

    def plain(self) -> float:
        """Return the float alone."""
        return float(self)


class TracedInt(_TracedNumber, int):
    """An integer that is noise."""

    def plain(self) -> int:
        """Return the integer alone."""
        return int(self)


class TracedArray(Traced, np.ndarray):
    """An array that is noise; its parts, single numbers and rows, are noise too."""

    def plain(self) -> np.ndarray:
        """Return the array alone."""
        return self.view(np.ndarray)

    def __array_finalize__(self, made_from: np.ndarray | None) -> None:
        # A view or a copy is noise only if it is said to be.
        self.noise = None

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Numbers, out: tuple[np.ndarray] | None = None, **settings: Any
    ) -> Numbers:
        return _applied(ufunc, method, inputs, settings, out)

    def __getitem__(self, index: Any) -> Any:
        part = self.plain()[index]
        if self.noise is None:
            return part
        return traced(part, self._of_part(lambda value: value[index]))

    def _of_part(self, take: Callable[[np.ndarray], np.ndarray]) -> Noise:
        """Return the noise of a part, with that part of the value."""
        assert self.noise is not None
        value: Any = self.noise.value
        if np.shape(value) == self.shape:
            value = take(untraced(value))
        return replace(self.noise, value=value, record=-1)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def reshape(self, *shape: Any, **settings: Any) -> Any:
        """Return the noise in another shape."""
        made = self.plain().reshape(*shape, **settings)
        if self.noise is None:
            return made
        return traced(made, self._of_part(lambda value: value.reshape(*shape, **settings)))

    def __reduce__(self) -> Any:
        return self.plain().__reduce__()
