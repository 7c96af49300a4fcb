"""Calls of a function in a fixed form: which argument stands where, and which kind of generator is passed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from dpaudit.running.generator_kinds import KINDS, Kind, is_ambiguous, refuses, refuses_generator
from dpaudit.running.signatures import Function
from dpaudit.running.watched import state_of

# Calls that raise before they have drawn anything in which generators of other kinds are tried, at most.
TRIED = 2
# Times that such a call must raise again with a `Generator` before it is said to refuse it.
AGAIN = 2

Role: TypeAlias = Literal["data", "rng", "size"]
"""The argument that a parameter gets: the data, the generator or the number of runs."""


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
