"""Calls of a function in a fixed form: which argument stands where, and which kind of generator is passed.

A function may take another kind of generator than numpy's `Generator`: each of the `KINDS` draws from the stream of the
run. How a function refuses a kind is recognised by its exceptions.
"""

from __future__ import annotations

import inspect
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from dpaudit.running.signatures import Function
from dpaudit.running.watched import state_of

# A generator, or a seed, that a function may take; all of them draw from the stream of the run.
Kind: TypeAlias = np.random.Generator | np.random.RandomState | random.Random | int


def _new(rng: np.random.Generator) -> np.random.Generator:
    return rng


def _old(rng: np.random.Generator) -> np.random.RandomState:
    """Return a generator of numpy's older interface that draws from the stream of a newer one, and advances it."""
    # scikit-learn takes no other.
    return np.random.RandomState(rng.bit_generator)


def _of_python(rng: np.random.Generator) -> random.Random:
    """Return a generator of Python's own library whose seed is drawn from a stream."""
    return random.Random(int(rng.integers(2**63)))


def _seed(rng: np.random.Generator) -> int:
    """Return a seed that is drawn from a stream, as large as scikit-learn takes."""
    return int(rng.integers(2**32))


# The makers of the kinds, in the order in which they are tried.
KINDS: tuple[Callable[[np.random.Generator], Kind], ...] = (_new, _old, _of_python, _seed)
# The texts by which errors of type and value name the classes of generators.
_NAMES_OF_CLASSES = ("RandomState", "Generator(", "numpy.random", "random.Random")


def declared_kind(annotation: object) -> int:
    """Return the one of `KINDS` that an annotation asks for; 0 if it may be a `Generator`, or anything."""
    text = annotation if isinstance(annotation, str) else str(annotation)
    if "Generator" in text:
        return 0
    if re.search(r"\bRandomState\b", text):
        return KINDS.index(_old)
    if re.search(r"\bRandom\b", text):
        return KINDS.index(_of_python)
    return 0


def is_fixed_seed(parameter: inspect.Parameter) -> bool:
    """Say whether the default of a parameter is a number, which makes the same noise in every call."""
    return isinstance(parameter.default, int | np.integer)


def refuses_generator(error: BaseException, *, old: bool) -> bool:
    """Say whether an exception is about the class of a generator and not about the data.

    It asks for a method that only another class has, or is an error of type or value that names one of the classes,
    as those of scikit-learn's `check_random_state` and of its checks of parameters do.
    """
    if not isinstance(error, AttributeError):
        return refuses(error)
    if not isinstance(error.obj, np.random.Generator) or error.name is None:
        return False
    of_numpy = hasattr(np.random.RandomState, error.name)
    if old:
        return of_numpy
    return of_numpy != hasattr(random.Random, error.name)


def is_ambiguous(error: BaseException) -> bool:
    """Say whether an exception asks for a method by which other classes mean different things.

    The upper end of ``randint`` is a value of Python's generators and none of numpy's: to guess would be to run another
    mechanism than its users do.
    """
    if not isinstance(error, AttributeError) or error.name is None:
        return False
    return hasattr(np.random.RandomState, error.name) and hasattr(random.Random, error.name)


def refuses(error: BaseException) -> bool:
    """Say whether an exception asks for a method of another class of generators, or names one of these classes."""
    if isinstance(error, AttributeError):
        return isinstance(error.obj, Kind)
    if not isinstance(error, TypeError | ValueError):
        return False
    said = str(error)
    return any(name in said for name in _NAMES_OF_CLASSES)


# Calls that raise before they have drawn anything in which generators of other kinds are tried, at most.
TRIED = 2
# Times that such a call must raise again with a `Generator` before it is said to refuse it.
AGAIN = 2

# The argument that a parameter gets: the data, the generator or the number of runs.
Role: TypeAlias = Literal["data", "rng", "size"]


@dataclass(frozen=True)
class Fixed:
    """The value of an option that stands before a positional-only parameter: its own default."""

    value: Any


@dataclass(frozen=True)
class Form:
    """The form of a call: the arguments of the positional parameters, in order, and those passed by name.

    If nothing is the generator, `without` says why, in words that follow the callable's name. `old` says that its
    parameter has the name that scikit-learn gave to older generators. `replaced` is the text of a default that is a
    fixed seed, in the place of which the generator is passed. `kind` is the one of `KINDS` that the parameter of the
    generator is declared to take.
    """

    positional: tuple[Role | Fixed, ...]
    named: tuple[tuple[str, Role], ...] = ()
    without: str = ""
    old: bool = False
    replaced: str = ""
    kind: int = 0

    @property
    def plain(self) -> bool:
        """Whether the callable can be called as it is, with its data, its generator and the number of runs in order."""
        in_order = self.positional in (("data", "rng"), ("data", "rng", "size"))
        return in_order and not self.named and not self.old and not self.kind

    def arguments(self, given: Mapping[Role, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Return the positional arguments of a call and those by name, where roles have the given values."""
        positional = [one.value if isinstance(one, Fixed) else given[one] for one in self.positional]
        return positional, {name: given[role] for name, role in self.named}


@dataclass(unsafe_hash=True)
class Called:
    """Calls a function in a form.

    The parameter of the generator gets a `Generator` until the function refuses it. From then on, and in the same run,
    it gets the first of the other `KINDS` that the function takes: each of them draws from the stream of the run.
    """

    function: Function
    form: Form
    kind: int = field(default=0, compare=False)
    tried: int = field(default=0, compare=False)
    _keyword: str | None = field(default=None, init=False, compare=False)

    def __post_init__(self) -> None:
        self.kind = self.kind or self.form.kind
        # A simple mechanism takes no longer than to build the general form of a call, so the commonest are known.
        if self.form.positional == ("data",):
            if not self.form.named:
                self._keyword = ""
            elif len(self.form.named) == 1 and self.form.named[0][1] == "rng":
                self._keyword = self.form.named[0][0]
        if self.form.without:
            self.tried = TRIED

    @property
    def quick(self) -> Function:
        """The function to call once a call has shown what it takes: the function itself, if its form is plain."""
        settled = self.tried >= TRIED and self.kind == 0 and not self.form.old
        if settled and self.form.plain:
            return self.function
        return self

    def __call__(self, data: Any, rng: np.random.Generator, size: int = 1) -> Any:
        """Return the output, or `size` outputs."""
        if self.kind:
            return self._call(data, KINDS[self.kind](rng), size)
        if self.tried < TRIED or self.form.old:
            return self._first(data, rng, size)
        return self._call(data, rng, size)

    def _first(self, data: Any, rng: np.random.Generator, size: int) -> Any:
        """Return the output of a call that may show that the function refuses a `Generator`.

        It does if its exception says so. A guard that asserts the class says nothing in words: then it does if it
        raises before it has drawn anything, twice more as well, and returns with a generator of another kind.
        """
        before = state_of(rng)
        # Of any type: libraries refuse a Generator in many ways.
        try:
            output = self._call(data, rng, size)
        except Exception as error:
            said = refuses_generator(error, old=self.form.old)
            if not said and (is_ambiguous(error) or self.tried >= TRIED or state_of(rng) != before):
                raise
            self.tried += 1
            first = error
        else:
            self.tried = TRIED
            return output
        likely: tuple[int, Exception] | None = None
        for kind in range(1, len(KINDS)):
            rng.bit_generator.state = before
            try:
                output = self._call(data, KINDS[kind](rng), size)
            except Exception as error:
                # It takes this kind and does not like the data, if it takes no later one.
                if said and likely is None and not refuses(error):
                    likely = kind, error
                continue
            if said:
                self.kind = kind
                return output
            # An exception by chance, as of a mechanism that fails now and then, is no refusal of a kind.
            if all(self._raises(data, rng, size, before, type(first)) for _ in range(AGAIN)):
                self.kind = kind
                # The draws of the calls between are made again.
                rng.bit_generator.state = before
                return self._call(data, KINDS[kind](rng), size)
            break
        if likely is not None:
            self.kind, reason = likely
            raise reason
        rng.bit_generator.state = before
        # Nothing is being handled here, so that it keeps its own cause and context.
        raise first

    def _raises(
        self, data: Any, rng: np.random.Generator, size: int, before: Mapping[str, Any], kind: type[Exception]
    ) -> bool:
        """Say whether a call with a `Generator` raises an exception of this class before it has drawn anything."""
        rng.bit_generator.state = before
        try:
            self._call(data, rng, size)
        except Exception as error:
            return type(error) is kind and state_of(rng) == before
        return False

    def _call(self, data: Any, rng: Kind, size: int) -> Any:
        if self._keyword:
            return self.function(data, **{self._keyword: rng})
        if self._keyword is not None:
            return self.function(data)
        positional, named = self.form.arguments({"data": data, "rng": rng, "size": size})
        return self.function(*positional, **named)
