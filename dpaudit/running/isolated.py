"""Runs of a mechanism in a process of their own: one that takes too long, or ends its process, harms no other."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from dpaudit.arguments import read_choice, read_number
from dpaudit.errors import Exited, InputError, ToolFault, blamed
from dpaudit.outputs.canonical import Raised, contents, timed_out
from dpaudit.running.child import Child, Late
from dpaudit.running.processes import ChildDied, can_fork

__all__ = ["Context", "Isolated", "RunFault", "Timeout", "naming_input"]

TIMEOUT_IS = ("output", "error")
"""The meanings of a run that takes too long: an output like any other, or a fault."""
LONGEST = 1e7
"""Seconds, a third of a year: longer ones overflow clocks."""
LOOK = 16
"""Runs of a call after which it is seen whether the input is what it was; checks of mechanisms make so few."""
AGAIN = 0x74696D65
"""Part of the address of the stream for the runs after one that was ended: no mechanism spawns so many streams."""

Context = Callable[[], AbstractContextManager[Any]]


class RunFault(ToolFault):
    """A run ended its process, or took too long where that is a fault."""


def naming_input(where: Callable[[], str], function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a call that makes runs returns; a fault of one is reported with its input."""
    try:
        return function(*arguments)
    except RunFault as fault:
        raise RunFault(f"{fault}, on {where()}") from None
    except Exited as exit:
        raise InputError(f"{exit}, on {where()}") from exit.__cause__


@dataclass(frozen=True)
class Timeout:
    """The most seconds that a run may take, and what one is that takes longer.

    Parameters
    ----------
    seconds : float
        The seconds.
    is_ : {"output", "error"}
        An output, or a fault.
    """

    seconds: float
    is_: str = "output"

    @classmethod
    def of(cls, seconds: float | None, is_: str) -> Timeout | None:
        """Return the limit; None where no seconds are given, although the word is checked."""
        read_choice("timeout_is", is_, TIMEOUT_IS)
        return None if seconds is None else cls(seconds, is_)

    def __post_init__(self) -> None:
        read_number("timeout", self.seconds, 0, LONGEST)
        if not can_fork():
            message = "{timeout} needs a system on which processes fork, and {system} is none: leave it out"
            raise InputError(message, names=("timeout",), value=self.seconds, system=sys.platform)


class Isolated:
    """Runs of a mechanism in a process that is kept from call to call, and ended with whatever takes too long in it.

    Parameters
    ----------
    function : callable
        ``(data, rng, size) -> size outputs``, of a `Mechanism`.
    name : str
        Its name in messages.
    one_by_one : bool
        Whether `function` is a dataclass that makes one run after another of its field `function`. Each run then has
        the seconds of the timeout for itself; otherwise all runs of a call have so many times as much together, and
        where they take longer that is a fault, as an exception is.
    timeout : Timeout
        The limit.
    """

    def __init__(self, function: Any, name: str, one_by_one: bool, timeout: Timeout) -> None:
        self.function, self.name, self.one_by_one, self.timeout = function, name, one_by_one, timeout
        self._moved = False
        self._children = threading.local()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_children"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._children = threading.local()

    def __call__(self, data: Any, rng: np.random.Generator, size: int, contexts: Sequence[Context] = ()) -> Any:
        """Return the outputs of `size` runs in contexts, if there are any; the generator ends where the runs left it.

        After a run that was ended the others have a generator of their own: how much it had drawn is unknown.
        """
        outputs: list[Any] = []
        while True:
            try:
                left = size - len(outputs)
                parts, returned = self._child().call(data, rng, left, contexts, seconds=self._most(size))
            except Late as late:
                if self.timeout.is_ == "error" or not self.one_by_one:
                    raise RunFault(self._too_long(size)) from None
                outputs += [*late.parts, timed_out(self.timeout.seconds)]
                rng = _further(rng, len(outputs))
            except ChildDied as died:
                self.end()
                raise RunFault(f"the mechanism {self.name} {died}") from None
            except BaseException:  # an interrupt: what the child answers now is no answer to the next call
                self.end()
                raise
            else:
                rest, state = returned
                rng.bit_generator.state = state
                return outputs + parts if self.one_by_one else rest

    def end(self) -> None:
        """End the process of this thread; the next call begins another one."""
        child: Child | None = getattr(self._children, "child", None)
        if child is not None:
            child.close()

    def _child(self) -> Child:
        child: Child | None = getattr(self._children, "child", None)
        if child is None or child.closed:
            child = self._children.child = Child(self._runs if child is None else self._runs_reseeded)
        return child

    def _most(self, size: int) -> float:
        return self.timeout.seconds * (1 if self.one_by_one else size)

    def _too_long(self, size: int) -> str:
        whose = "a run" if self.one_by_one else f"a call that makes {size} runs"
        return f"{whose} of the mechanism {self.name} took longer than {self._most(size):g} s"

    def _runs_reseeded(self, emit: Callable[[Any], None], *arguments: Any) -> tuple[Any, Any]:
        """Make runs in a child that takes the place of one: the state of generators that all share goes elsewhere."""
        if not self._moved:
            np.random.seed()  # noqa: NPY002  # mechanisms may draw from it; the fork reseeds `random`
            self._moved = True
        return self._runs(emit, *arguments)

    def _runs(
        self,
        emit: Callable[[Any], None],
        data: Any,
        rng: np.random.Generator,
        size: int,
        contexts: Sequence[Context],
    ) -> tuple[Any, Any]:
        """Make runs, in the child; send their outputs one by one if they are made so, else return them."""
        before = contents(data) if size <= LOOK else None
        function = self.function
        if self.one_by_one:
            function = replace(function, function=partial(_sent, function.function, emit))
        with blamed(f"the mechanism {self.name}"), ExitStack() as stack:
            for context in contexts:
                stack.enter_context(context())
            outputs = function(data, rng, size)
        if before is not None and contents(data) != before:
            raise InputError(
                f"the mechanism {self.name} changes its input, which all its runs share: let it work on a copy"
            )
        return None if self.one_by_one else outputs, rng.bit_generator.state


def _sent(function: Callable[[Any, np.random.Generator], Any], emit: Callable[[Any], None], data: Any, rng: Any) -> Any:
    """Make one run and send its output, or what it raises, before the next one begins."""
    try:
        output = function(data, rng)
    except Exception as error:  # an output like any other, whatever its type
        emit(Raised(error))
        raise
    emit(output)
    return output


def _further(rng: np.random.Generator, number: int) -> np.random.Generator:
    """Return the generator for what comes after so many runs of a call whose generator cannot go on."""
    seed: Any = rng.bit_generator.seed_seq
    key = (*seed.spawn_key, AGAIN, number)
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed.entropy, spawn_key=key)))
