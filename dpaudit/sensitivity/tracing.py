"""Draws of noise that know what they are added to: numbers and arrays that otherwise behave as what they are."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from numbers import Number
from typing import Any, Protocol

import numpy as np

Added = Callable[["Noise", Any], tuple[Any, int]]
"""Takes the noise of a sum, with its value, and the sum; returns the sum to go on with and the number of its record."""


@dataclass(frozen=True)
class Noise:
    """The draws that make up the noise of a number, by number, and the value that it was added to so far.

    The factor by which the draws were multiplied is None where it is not one number for all. The value is None where
    there is none yet, and `record` the number of the last sum, -1 before the first.
    """

    draws: tuple[int, ...]
    added: Added
    factor: float | None = 1.0
    value: Any = None
    record: int = -1

    def times(self, factor: Any) -> Noise:
        """Return the noise, multiplied."""
        plain = self.factor is not None and np.ndim(factor) == 0
        whole = abs(float(factor)) * self.factor if plain and self.factor else None
        return replace(self, factor=whole, value=None if self.value is None else self.value * factor)

    def plus(self, other: Noise) -> Noise:
        """Return the sum of two noises that were added to no value."""
        return Noise((*self.draws, *other.draws), self.added, None)


@dataclass(frozen=True)
class Primitive:
    """A source of noise as it was called, named as ``Generator.laplace``.

    The `family` is "laplace", "gaussian", or the name of another distribution; empty for one whose draw is not added to
    a value. The `scale`, or standard deviation, is None where there is no single one. A call may declare a
    `sensitivity`, as mechanisms of diffprivlib do, in a `metric`. `loss` maps a distance to epsilon, as the map of a
    measurement of OpenDP says.
    """

    name: str
    family: str = ""
    scale: float | None = None
    sensitivity: float | None = None
    metric: str = "absolute"
    loss: Callable[[Any], Any] | None = field(default=None, compare=False)


class Recorder(Protocol):
    """Records draws; see `dpaudit.sensitivity.recording.Recording`."""

    def stream(self) -> Callable[[], np.random.Generator]:
        """Return what makes the next generator of a run."""

    def drawn(self, primitive: Primitive, draw: Callable[[], Any], value: Any = None, *, traces: bool = False) -> Any:
        """Return the output of a primitive, recorded."""


class Traced:
    """Base of the numbers and arrays that know of the noise in them."""

    noise: Noise | None = None

    def plain(self) -> Any:
        """Return the number or the array alone."""
        raise NotImplementedError


TRACED_AS: dict[type, Callable[[Any], Traced]] = {}
"""Types of arrays of other libraries -> what makes one that knows of its noise."""


def traced(drawn: Any, noise: Noise) -> Any:
    """Return a draw that knows what it is added to; what is no number and no array of numbers stays as it is."""
    made: Any
    if isinstance(drawn, np.ndarray) and drawn.dtype.kind in "if":
        made = drawn.view(TracedArray)
    elif type(drawn) in TRACED_AS:
        made = TRACED_AS[type(drawn)](drawn)
    elif isinstance(drawn, bool | np.bool_) or not isinstance(drawn, int | float | np.integer | np.floating):
        return drawn
    else:
        made = TracedInt(int(drawn)) if isinstance(drawn, int | np.integer) else TracedFloat(float(drawn))
    made.noise = noise
    return made


def untraced(value: Any) -> Any:
    """Return a value without what it knows."""
    return value.plain() if isinstance(value, Traced) else value


def noise_of(value: Any) -> Noise | None:
    """Return the noise in a value; None if it is none that is known."""
    return value.noise if isinstance(value, Traced) else None


def added(one: Any, other: Any, apply: Callable[[Any, Any], Any]) -> Any:
    """Return the sum, or the difference, of two numbers of which one has noise at least.

    That of a noisy number and a value is noise around the sum of the values; that of two noisy ones is what the
    mechanism makes of them, and knows nothing.
    """
    first, second = noise_of(one), noise_of(other)
    total = apply(untraced(one), untraced(other))
    if first is not None and second is not None:
        fresh = first.value is None and second.value is None
        return traced(total, first.plus(second)) if fresh else total
    noise = first or second
    assert noise is not None
    so_far = 0 if noise.value is None else noise.value
    value = apply(so_far, untraced(other)) if second is None else apply(untraced(one), so_far)
    noise = replace(noise, value=value)
    total, record = noise.added(noise, total)
    return traced(total, replace(noise, record=record))


def scaled(one: Any, factor: Any, total: Any) -> Any:
    """Return a product that has the noise of one factor; of two noises it knows nothing."""
    noise = noise_of(one)
    return total if noise is None or noise_of(factor) is not None else traced(total, noise.times(factor))


def _applied(ufunc: Any, method: str, inputs: tuple[Any, ...], out: Any = None, **settings: Any) -> Any:
    """Apply a function of numpy, of which sums, products and quotients know of the noise in them."""
    plain = [untraced(one) for one in inputs]

    def apply(*values: Any) -> Any:
        return getattr(ufunc, method)(*values, **settings)

    simple = method == "__call__" and not settings
    if simple and ufunc in (np.add, np.subtract) and any(noise_of(one) is not None for one in inputs):
        # A sum in place overwrites the value that the noise is added to.
        one, other = (given.copy() if type(given) is np.ndarray else given for given in inputs)
        total = added(one, other, apply)
    else:
        total = apply(*plain)
        if simple and ufunc is np.multiply:
            one, other = inputs if noise_of(inputs[0]) is not None else inputs[::-1]
            total = scaled(one, other, total)
        elif simple and ufunc is np.true_divide and noise_of(inputs[1]) is None:
            total = scaled(inputs[0], 1 / np.asarray(plain[1]), total)
        elif simple and ufunc is np.negative:
            total = scaled(inputs[0], -1, total)
    if out is None:
        return total
    untraced(out[0])[...] = untraced(total)
    return out[0]


def _is_plain(value: Any) -> bool:
    return isinstance(value, Number | np.ndarray | np.generic)


def _with_plain(apply: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return an operator for numbers and arrays of numpy; others may have one of their own."""
    return lambda self, other: apply(self, other) if _is_plain(other) else NotImplemented


class _TracedNumber(Traced):
    """Arithmetic of a number that is noise."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **settings: Any) -> Any:
        return _applied(ufunc, method, inputs, **settings)

    __add__ = _with_plain(lambda self, other: added(self, other, operator.add))
    __radd__ = _with_plain(lambda self, other: added(other, self, operator.add))
    __sub__ = _with_plain(lambda self, other: added(self, other, operator.sub))
    __rsub__ = _with_plain(lambda self, other: added(other, self, operator.sub))
    __mul__ = __rmul__ = _with_plain(lambda self, other: scaled(self, other, untraced(self) * untraced(other)))

    @_with_plain
    def __truediv__(self, other: Any) -> Any:
        quotient = untraced(self) / untraced(other)
        return quotient if noise_of(other) is not None else scaled(self, 1 / other, quotient)

    def __neg__(self) -> Any:
        return scaled(self, -1, -untraced(self))

    def __pos__(self) -> Any:
        return self

    def __reduce__(self) -> Any:
        return type(untraced(self)), (untraced(self),)


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
    """An array that is noise; of its parts single numbers and rows are noise too."""

    def plain(self) -> Any:
        """Return the array alone."""
        return self.view(np.ndarray)

    def __array_finalize__(self, made_from: Any) -> None:
        self.noise = None  # a view or a copy is noise only where it is said

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **settings: Any) -> Any:
        return _applied(ufunc, method, inputs, **settings)

    def __getitem__(self, index: Any) -> Any:
        part = untraced(self)[index]
        return part if self.noise is None else traced(part, self._of_part(lambda value: value[index]))

    def _of_part(self, take: Callable[[Any], Any]) -> Noise:
        """Return the noise of a part, with that part of the value."""
        assert self.noise is not None
        value = self.noise.value
        part = take(untraced(value)) if np.shape(value) == self.shape else value
        return replace(self.noise, value=part, record=-1)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def reshape(self, *shape: Any, **settings: Any) -> Any:
        """Return the noise in another shape."""
        made = untraced(self).reshape(*shape, **settings)
        if self.noise is None:
            return made
        return traced(made, self._of_part(lambda value: value.reshape(*shape, **settings)))

    def __reduce__(self) -> Any:
        return untraced(self).__reduce__()
