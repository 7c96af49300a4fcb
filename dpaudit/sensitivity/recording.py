"""Record what a mechanism adds noise to, and replay it on a neighbouring input with the noisy values as they were.

A mechanism is run on one input, and its draws of randomness are written down. It is run again on the neighbour; each
draw is then what it was, and where noise is added to a value, or a primitive is given one, the sum is that of the first
run, so that all that follows is the same unless the mechanism reads the data again. What differs is the values.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from types import FrameType
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from dpaudit import seeding
from dpaudit.outputs.canonical import canonical
from dpaudit.sensitivity.primitives import patched, recorded_generator
from dpaudit.sensitivity.tracing import Noise, Numbers, Primitive, traced, untraced
from dpaudit.withheld import hides

_T = TypeVar("_T")
# What stands in these folders is dpaudit's own code, or a library's, and no place of the mechanism.
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_LIBRARIES = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)


@dataclass
class Draw:
    """A call of a primitive: its place, its output, and whether a value is known that it was given or added to."""

    primitive: Primitive
    place: str
    output: ArrayLike
    added: bool = False


@dataclass(frozen=True)
class Value:
    """A value that noise was added to, or that a primitive was given, and the noisy value that came of it.

    `draws` are the numbers of the draws, and `factor` the one number by which their noise was multiplied, if there is
    one. With `given` the primitive took the value; with `partial` more was added to the noisy value, which another
    record has.
    """

    draws: tuple[int, ...]
    factor: float | None
    value: ArrayLike
    noisy: ArrayLike
    place: str
    given: bool = False
    partial: bool = False


# No `except Exception` of a mechanism is to catch it.
class Diverged(BaseException):
    """A replay asked for another draw than the recording, so that values cannot be compared any more."""


class Recording:
    """The draws and the noisy values of one run.

    Attributes
    ----------
    rng : numpy.random.Generator
        The generator for the run.
    draws : list of Draw
        The calls of primitives, in their order.
    values : list of Value
        The values that noise was added to, in their order.
    diverged : str
        Why a replay could not follow the recording to its end; empty if it could.
    flow : bool
        Whether that is because other primitives were called, and not the same ones for more or fewer numbers.
    """

    def __init__(self, seed: int = 0, source: Recording | None = None) -> None:
        self.seed = seed
        self._source = source
        self.draws: list[Draw] = []
        self.values: list[Value] = []
        self.diverged = ""
        self.flow = False
        self.active = False
        self._inside = False
        self._streams = 0
        self.rng = recorded_generator(self, self.stream()())

    def stream(self) -> Callable[[], np.random.Generator]:
        """Return what makes the next generator of the run, if one is needed; the same ones in a replay."""
        self._streams += 1
        return partial(seeding.generator, self.seed, "recording", self._streams)

    @contextmanager
    def recorded(self) -> Iterator[Recording]:
        """Record what is drawn inside, also from the global generators and by known libraries."""
        with patched(self):
            self.active = True
            try:
                yield self
            except Diverged as error:
                self.diverged = str(error)
            finally:
                self.active = False

    def replay(self) -> AbstractContextManager[Recording]:
        """Return a context as that of `recorded`, in which every draw and every noisy value is that of this run."""
        return Recording(self.seed, self).recorded()

    def drawn(
        self, primitive: Primitive, draw: Callable[[], _T], value: ArrayLike | None = None, *, traces: bool = False
    ) -> _T:
        """Return the output of a primitive: `draw()`, or in a replay what it was.

        A `value` that it is given is recorded. With `traces` the output knows what it is added to.
        """
        # A primitive that is made of others, as those of diffprivlib are, is recorded once and as a whole.
        if not self.active or self._inside:
            return draw()
        number = len(self.draws)
        before = self._drawn_before(number, primitive)
        self._inside = True
        try:
            # A replay draws too, so that other draws of the same generator stay what they were.
            output: Any = draw()
        finally:
            self._inside = False
        if before is not None:
            if np.shape(output) != np.shape(before.output):
                self._diverge(f"{primitive.name} draws {_shape(output)} in place of {_shape(before.output)}")
            output = before.output
        place = _caller()
        # A centre of 0 says only that the value is added later, if at all.
        self.draws.append(Draw(primitive, place, output, added=value is not None and bool(np.any(value))))
        if value is not None:
            self.values.append(Value((number,), 1.0, as_numbers(value), output, place, given=True))
        # The mechanism may write into what it gets, and the recording must keep what was drawn.
        copied: _T = _copied(output)
        if traces:
            return traced(copied, Noise((number,), self._add))
        return copied

    def _drawn_before(self, number: int, primitive: Primitive) -> Draw | None:
        """Return the draw of the recording that this one replays; None if this is the recording."""
        if self._source is None:
            return None
        if number >= len(self._source.draws):
            self._diverge(f"{primitive.name} is called once more", flow=True)
        before = self._source.draws[number]
        if before.primitive.name != primitive.name:
            self._diverge(f"{primitive.name} is called in place of {before.primitive.name}", flow=True)
        return before

    def _add(self, noise: Noise, total: Numbers) -> tuple[Numbers, int]:
        """Record the value of a sum with noise; return the sum, or in a replay what it was, and its number."""
        if not self.active or self._inside:
            return total, noise.record
        for draw in noise.draws:
            self.draws[draw].added = True
        number = len(self.values)
        # In a replay the mechanism goes on with the sum of the recording, so that all that follows is the same.
        if self._source is not None:
            total = self._summed_before(number, noise, total)
        # The noise was added to a value before: that record is of a part of this sum.
        if noise.record >= 0:
            self.values[noise.record] = replace(self.values[noise.record], partial=True)
        value = as_numbers(untraced(noise.value))
        assert value is not None
        self.values.append(Value(noise.draws, noise.factor, value, _copied(total), _caller()))
        return total, number

    def _summed_before(self, number: int, noise: Noise, total: Numbers) -> Numbers:
        """Return the sum of the recording that this one replays."""
        assert self._source is not None
        values = self._source.values
        # Values are known by the draws in them, as they have no names.
        if number >= len(values) or values[number].draws != noise.draws:
            self._diverge("noise is added in another order", flow=True)
        before: Any = values[number].noisy
        if np.shape(before) != np.shape(total):
            self._diverge(f"noise is added to {_shape(total)} in place of {_shape(before)}")
        copied: Numbers = _copied(before)
        return copied

    def _diverge(self, why: str, *, flow: bool = False) -> NoReturn:
        self.flow = flow
        raise Diverged(f"on the neighbour {why}")

    @property
    def untraced(self) -> list[Draw]:
        """The draws whose output was added to no value that is known."""
        return [draw for draw in self.draws if not draw.added]

    @property
    def reused(self) -> list[Value]:
        """The values with noise that was added to an earlier value too."""
        seen: set[int] = set()
        found = []
        for value in self.values:
            if not value.given and not value.partial:
                if seen.intersection(value.draws):
                    found.append(value)
                seen.update(value.draws)
        return found


@contextmanager
def recording(seed: int = 0) -> Iterator[Recording]:
    """Record the noise of a mechanism, and what it is added to.

    Inside the context the methods of `numpy.random.Generator` and those of `numpy.random`, the functions of `random`,
    the mechanisms of diffprivlib, the measurements of OpenDP and the generators of torch are recorded, whichever of
    these is loaded. Afterwards ``with record.replay() as again:`` runs the mechanism on a neighbouring input with all
    noisy values as they were: `record.values` and `again.values` are then compared one by one.

    Parameters
    ----------
    seed : int
        The root seed of `record.rng` and of generators that are made inside.

    Yields
    ------
    Recording

    Examples
    --------
    >>> def noisy_mean(data, rng):
    ...     return sum(data) / len(data) + rng.laplace(scale=0.1)
    >>> with recording() as record:
    ...     _ = noisy_mean([0, 1, 1], record.rng)
    >>> with record.replay() as again:
    ...     _ = noisy_mean([0, 1], again.rng)
    >>> [value.value for value in (*record.values, *again.values)]
    [0.6666666666666666, 0.5]
    """
    with Recording(seed).recorded() as record:
        yield record


def _copied(value: _T) -> _T:
    """Return a copy of an array or a tensor, and anything else as it is."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if hasattr(value, "clone"):
        copied: _T = value.clone()
        return copied
    return value


def as_numbers(value: _T) -> _T:
    """Return a copy of an array, or of a tensor as an array, and anything else as it is."""
    if hasattr(value, "detach"):
        array: _T = value.detach().cpu().numpy().copy()
        return array
    if isinstance(value, np.ndarray):
        return value.copy()
    return value


def _shape(value: ArrayLike) -> str:
    shape = np.shape(value)
    return f"an array of shape {shape}" if shape else "one number"


def _caller() -> str:
    """Return file and line of the innermost frame that is of no library, else of the innermost one that is not ours."""
    frame: FrameType | None = sys._getframe(1)
    first = ""
    # A sum within a library is said to be at the user's line that called it.
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(_HERE) and not (hides() and not os.path.isfile(name)):
            place = f"{os.path.basename(name)}, line {frame.f_lineno}"
            first = first or place
            if not any(part in name for part in _LIBRARIES) and not name.startswith("<"):
                return place
        frame = frame.f_back
    return first


def plain_output(output: Any) -> Any:
    """Return an output, also of containers, without what its numbers know."""
    if type(output) in (list, tuple):
        return type(output)(map(plain_output, output))
    if type(output) is dict:
        return {plain_output(key): plain_output(item) for key, item in output.items()}
    return untraced(output)


def same(first: _T, second: _T) -> bool:
    """Return whether two outputs are indistinguishable."""
    return canonical(plain_output(first)) == canonical(plain_output(second))
