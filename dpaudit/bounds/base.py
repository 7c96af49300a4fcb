"""Check the counts and the parameters of bounds on epsilon from one event fixed in advance; bisect.

An event was hit x times in n1 runs on the side where it is likelier (probability p) and y times in n2 runs on the other
(probability q), all independent. The hypothesis is H0(epsilon, delta): p <= exp(epsilon) q + delta.

`melded`, joint limits by one integral, is the bound for delta > 0 and for counts that were recorded elsewhere; its
validity is checked by exact enumeration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpaudit.errors import InputError

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Bools = NDArray[np.bool_]

# The most runs on one side up to which the numerical error of the tail probabilities has been measured.
MAX_RUNS = 10**12
# No larger epsilon is tested.
MAX_EPSILON = 700.0
# The same of the canaries of one run, whose bounds are sums over all of them.
MAX_COINS = 10**8


@dataclass(frozen=True)
class CountArrays:
    """Hits x of n1 runs on the side where an event is likelier, y of n2 on the other: flat float arrays, shape (m,).

    `shape` is the common shape of the arrays given, which results have.
    """

    x: Array
    n1: Array
    y: Array
    n2: Array
    shape: tuple[int, ...]

    @classmethod
    def of(
        cls, x: ArrayLike, n1: ArrayLike, y: ArrayLike, n2: ArrayLike, names: Sequence[str] = ("x", "n1", "y", "n2")
    ) -> CountArrays:
        """Return the counts, broadcast against each other; `names` are for errors.

        `InputError` if a count is not an integer, runs are not in [1, 10^12], hits exceed runs, or shapes do not fit.
        """
        arrays = [whole_numbers(name, value) for name, value in zip(names, (x, n1, y, n2), strict=True)]
        for i in (1, 3):
            check_range(names[i], arrays[i], 1, MAX_RUNS)
        xs, n1s, ys, n2s = broadcast(names, arrays)
        check_range(names[0], xs, 0, n1s)
        check_range(names[2], ys, 0, n2s)
        return cls(xs.ravel(), n1s.ravel(), ys.ravel(), n2s.ravel(), xs.shape)

    def take(self, index: NDArray[np.intp] | Bools) -> CountArrays:
        """Return the events at an index (integers or a mask)."""
        x = self.x[index]
        return CountArrays(x, self.n1[index], self.y[index], self.n2[index], x.shape)

    def spread(self, name: str, value: ArrayLike, low: float, high: float) -> Array:
        """Return a parameter in [low, high) as one number an event, shape (m,), or raise `InputError`."""
        array = in_interval(name, value, low, high)
        try:
            return np.broadcast_to(array, self.shape).ravel()
        except ValueError:
            raise InputError(
                f"{name} must broadcast to the counts' shape {self.shape}, got {array.shape}", parameter=name
            ) from None


def broadcast(names: Sequence[str], arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return arrays with one shape, or raise `InputError` in their names."""
    try:
        return np.broadcast_arrays(*arrays)
    except ValueError:
        shapes = ", ".join(str(each.shape) for each in arrays)
        named = f"{', '.join(names[:-1])} and {names[-1]}"
        raise InputError(f"{named} must broadcast against each other; got shapes {shapes}") from None


def in_interval(name: str, value: ArrayLike, low: float, high: float) -> Array:
    """Return numbers of [low, high) as an array, or raise `InputError`."""
    array = np.asarray(value, dtype=np.float64)
    bad = ~((array >= low) & (array < high))
    if bad.any():
        raise InputError.of(name, float(array[bad][0]), f"in [{low:g}, {high:g})")
    return array


def bisect(kept: Any, other: Any, keeps: Callable[[Any], Any], halvings: int) -> Any:
    """Return the ends of brackets after bisection: `kept`, where a condition holds, and `other`, where it does not.

    The ends are numbers or arrays, and so is what `keeps` says of the middle; it is not asked at the ends.
    """
    for _ in range(halvings):
        middle = 0.5 * (kept + other)
        holds = keeps(middle)
        kept = np.where(holds, middle, kept)
        other = np.where(holds, other, middle)
    return kept, other


def whole_numbers(name: str, value: ArrayLike) -> Array:
    """Return whole numbers as floats (exact below 2^53)."""
    array = np.asarray(value)
    if array.dtype.kind not in "iuf":
        raise InputError(f"{name} must be integers, got {array.dtype}", parameter=name)
    numbers = array.astype(np.float64)
    bad = ~(np.isfinite(numbers) & (numbers == np.floor(numbers)))
    if bad.any():
        raise InputError.of(name, float(numbers[bad][0]), "integers")
    return numbers


def check_range(name: str, values: Array, low: float, high: float | Array) -> None:
    """Raise `InputError` unless low <= values <= high everywhere."""
    limit = np.broadcast_to(high, values.shape)
    bad = (values < low) | (values > limit)
    if bad.any():
        allowed = f"[{low:g}, {float(limit[bad][0]):g}]"
        raise InputError(f"{name} must be in {allowed}, got {float(values[bad][0]):g}", parameter=name)
