"""Runs of a mechanism in a process of their own: one that takes too long, or ends its process, harms no other.

Runs on both sides of a pair are made in one random order, so that what drifts from call to call drifts on both alike.
"""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import compress
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import InputError, ToolFault
from dpaudit.folders import enter_folder
from dpaudit.outputs.canonical import contents, timed_out
from dpaudit.outputs.decoding import decode
from dpaudit.outputs.encoding import encode
from dpaudit.outputs.sharing import without
from dpaudit.running.child import Child, Late
from dpaudit.running.processes import APART, ChildDied, can_fork
from dpaudit.running.run_notes import RunFault, noted
from dpaudit.running.sent import sendable, value_of
from dpaudit.running.spawned import has_threads, sendable_function, waiting_libraries
from dpaudit.running.warned import WarnedAt, add, taken
from dpaudit.running.watched import Use, watched, watcher
from dpaudit.running.workers import Items, in_blocks

LOOK = 16
"""Runs of a call after which it is seen whether the input is what it was; checks of mechanisms make so few."""
AGAIN = 0x74696D65
"""Part of the address of the stream for the runs after one that was ended: no mechanism spawns so many streams."""
UNKNOWN = Use(advanced=True, read=False)
"""The use of a generator by runs of which some were ended: nothing is concluded from it."""
Context = Callable[[], AbstractContextManager[Any]]
Work = Callable[[Any, Any], Any]
_RUNS, _WORK = "runs", "work"
"""Requests of a child: for outputs, or for what is made of them."""


@dataclass(frozen=True)
class InTurn:
    """Inputs and generators of a call whose runs are made on two inputs in turn; it stands in the place of one input.

    The runs on either input have a generator of their own, so that their outputs do not depend on the order of the
    sides. The `turns`, shape (size,), are for each run, in the order in which they are made, the number of its input.
    With `fresh` each run has a generator of its own, made from the address of that of its side.
    """

    sides: tuple[Any, Any]
    generators: tuple[np.random.Generator, np.random.Generator]
    turns: NDArray[np.uint8]
    fresh: bool = False

    def runs(self) -> Iterator[tuple[Any, np.random.Generator]]:
        """Yield the input and the generator of each run, and note which input it is."""
        notes, known = noted(), tuple(zip(self.sides, self.generators, strict=True))
        for number, turn in enumerate(self.turns.tolist()):
            notes.turn = turn
            if self.fresh:
                yield self.sides[turn], _further(self.generators[turn], number)
            else:
                yield known[turn]

    def split(self, outputs: Any) -> tuple[Any, Any]:
        """Return the outputs on either input, given those of all runs in their order."""
        masks = self.turns == 0, self.turns == 1
        if isinstance(outputs, np.ndarray):
            return outputs[masks[0]], outputs[masks[1]]
        return list(compress(outputs, masks[0].tolist())), list(compress(outputs, masks[1].tolist()))


@dataclass(frozen=True)
class Timeout:
    """The most seconds that a run may take, infinite where there is no limit, and what one is that takes longer.

    It is an "output", or an "error", a fault.
    """

    seconds: float
    is_: str = "output"

    @property
    def unlimited(self) -> bool:
        """Whether runs are made in a process of their own for its sake alone."""
        return math.isinf(self.seconds)

    def __post_init__(self) -> None:
        if not can_fork():
            message = "{timeout} needs a system on which processes fork, and {system} is none: leave it out"
            raise InputError(message, names=("timeout",), value=self.seconds, system=sys.platform)


class Isolated:
    """Runs of a mechanism in a process that is kept from call to call, and ended with whatever takes too long in it.

    The mechanism is there with its probe. Unless it is batched, its function is a dataclass that passes each output to
    its field `emit` before the next run begins. Each run then has the seconds of the timeout for itself; otherwise all
    runs of a call have so many times as much together, and where they take longer that is a fault, as an exception is.
    """

    def __init__(self, mechanism: Any, timeout: Timeout) -> None:
        self.mechanism, self.timeout = mechanism, timeout
        self._fresh, self._tried = False, False
        self._children = threading.local()

    @property
    def _at_once(self) -> bool:
        return bool(self.mechanism.batched) or self.timeout.unlimited

    def __reduce__(self) -> tuple[Any, ...]:
        return Isolated, (self.mechanism, self.timeout)

    @property
    def apart(self) -> bool:
        """Whether runs are made in another process than this, so that outputs come as plain values."""
        return bool(APART) or not self.timeout.unlimited

    def reduced(self, work: Work, items: Items[Any], n_jobs: int) -> Iterator[Any]:
        """Yield what ``work(mechanism, item)`` makes of each item, in their order, in so many processes at most.

        It is made of plain values and arrays, which come as outputs do. Outputs are taken apart in those processes, so
        that nothing depends on which of them makes a run. `RunFault` is raised if a run ended its process.
        """
        children = [self._child(i) for i in range(max(1, min(n_jobs, len(items))))]
        content = sendable(work)
        try:
            for part in in_blocks(children, lambda child, block: child.begin(_WORK, content, block), items, _warned):
                yield decode(part, 1)[0]
        except ToolFault as fault:
            why = fault if isinstance(fault, ChildDied) else f"gave no answer: {fault}"
            raise RunFault(f"the mechanism {self.mechanism.name} {why}") from None

    def __call__(self, data: Any, rng: np.random.Generator, size: int, context: Context = nullcontext) -> Any:
        """Return the outputs of `size` runs in a context; the generator ends where the runs left it.

        After a run that was ended the others have a generator of their own: how much it had drawn is unknown.
        """
        if not self.apart:  # in a worker, a process of its own
            return self.mechanism(data, rng, size, context)
        outputs: list[Any] = []
        name, batched = self.mechanism.name, self._at_once
        most = self.timeout.seconds * (size if batched else 1)
        watch = watcher(rng)
        if watch is not None:
            watch.uses = (UNKNOWN,)
        while True:
            child = self._child(0)
            try:
                made = self._answer(child, data, rng, size - len(outputs), context, seconds=most)
                return made if batched else outputs + made
            except Late as late:
                if not child.answered and self._try_fresh():
                    continue
                # Fresh interpreters take long to begin: they are for what does not end in a copy of this process.
                self._fresh = self._fresh and child.answered
                noted().turn = child.notes.turn
                if self.timeout.is_ == "error" or batched:
                    whose = f"a call that makes {size} runs" if batched else "a run"
                    raise RunFault(f"{whose} of the mechanism {name} took longer than {most:g} s") from None
                if len(outputs) + len(late.parts) >= size:
                    raise RunFault(f"the mechanism {name} made its {size} runs and did not end in {most:g} s") from None
                try:
                    before = _outputs(late.parts)
                except ToolFault as fault:
                    raise RunFault(f"the mechanism {name} gave no answer: {fault}") from None
                outputs += [*before, timed_out(self.timeout.seconds)]
                rng = _further(rng, len(outputs))
                data = _rest(data, len(late.parts) + 1) if isinstance(data, InTurn) else data
            except BaseException as error:  # after an interrupt what the child answers is no answer to the next call
                noted().turn = child.notes.turn
                child.close()
                if isinstance(error, ChildDied):
                    raise RunFault(f"the mechanism {name} {error}") from None
                raise

    def _try_fresh(self) -> bool:
        """Say whether to make a first run again in a fresh interpreter, once: a copy may lack threads it waits for."""
        tried, self._tried = self._tried, True
        self._fresh = not tried and has_threads()
        return self._fresh

    def _answer(
        self, child: Child, data: Any, rng: np.random.Generator, size: int, context: Context, seconds: float
    ) -> Any:
        """Return the outputs of so many runs that a child makes, and leave the generator where it says."""
        batched, limit = self._at_once, None if self.timeout.unlimited else seconds
        watch = watcher(rng)
        asked = data, rng, size, context, watch is not None
        parts, returned = child.call(_RUNS, *asked, seconds=limit, most=0 if batched else size)
        try:
            ended = msgspec.msgpack.decode(returned, type=_Ended)
            made = decode(ended.outputs, size) if batched else _outputs(parts)
            if len(made) != size:
                raise ToolFault(f"there are {len(made)} outputs of {size} runs")
            state, (number, has_half, half) = dict(rng.bit_generator.state), ended.state
            state |= {"state": {**state["state"], "state": int(number, 16)}, "has_uint32": has_half, "uinteger": half}
            rng.bit_generator.state = state
            if watch is not None:
                watch.uses = tuple(Use(*use) for use in ended.uses)
            _warned(ended.warned)
            return made
        except (msgspec.MsgspecError, ToolFault, ValueError, OverflowError) as error:
            raise ChildDied(f"gave no answer: {error}") from None

    def _child(self, number: int) -> Child:
        """Return a process of this thread by its number; another one if that has ended."""
        known: dict[int, Child] = self._children.__dict__.setdefault("known", {})
        if number not in known or known[number].closed:
            function = partial(self._serve, bool(known))
            # A copy of this process would lack the threads that some libraries wait for.
            content = sendable_function(function) if self._fresh or waiting_libraries() else None
            known[number] = Child(function if content is None else content)
        return known[number]

    def _serve(self, again: bool, emit: Callable[[bytes], None], kind: str, *arguments: Any) -> bytes:
        """Make the call that a request asks for, in a child; in one that is not the first, draw other global noise."""
        if again:
            np.random.seed()  # noqa: NPY002  # mechanisms may draw from it; the fork reseeds `random`
        enter_folder()
        taken()
        return self._runs(emit, *arguments) if kind == _RUNS else self._work(emit, *arguments)

    def _work(self, emit: Callable[[bytes], None], content: bytes, items: Sequence[Any]) -> bytes:
        """Work on items, in the child, and send what is made of each; return the warnings."""
        work = _read_work(content)
        mechanism = replace(self.mechanism, function=partial(self._checked, self.mechanism), probe=None, left_out=())
        for item in items:
            emit(encode([work(mechanism, item)]))
        return _warnings()

    def _checked(
        self, mechanism: Any, data: Any, rng: np.random.Generator, size: int, context: Context = nullcontext
    ) -> Any:
        """Return the outputs of runs; see in a call of few that they do not change what all runs share."""
        held = data.sides if isinstance(data, InTurn) else data
        before = contents(held) if size <= LOOK or mechanism.few(size) else None
        outputs = mechanism(data, rng, size, context)
        if before is not None and contents(held) != before:
            raise InputError(
                f"the mechanism {mechanism.name} changes its input, which all its runs share: let it work on a copy"
            )
        return outputs

    def _runs(
        self,
        emit: Callable[[bytes], None],
        data: Any,
        rng: np.random.Generator,
        size: int,
        context: Context,
        watching: bool,
    ) -> bytes:
        """Make runs, in the child; return outputs that are made as a batch, and send others one by one."""
        mechanism = self.mechanism
        if watching:
            rng = watched(rng)
        if not self._at_once:
            probe, places = mechanism.probe, mechanism.places
            each = replace(
                mechanism.function, emit=lambda output: emit(encode([without(predicted(output, probe), places)]))
            )
            mechanism = replace(mechanism, function=each, probe=None, left_out=())
        outputs = self._checked(mechanism, data, rng, size, context)
        watch = watcher(rng)
        uses = watch.used() if watch is not None else ()
        content, state = encode(outputs) if self._at_once else b"", rng.bit_generator.state
        del outputs
        half = state["has_uint32"], state["uinteger"]
        return msgspec.msgpack.encode(_Ended(content, (f"{state['state']['state']:x}", *half), _warnings(), uses))


_read_work = lru_cache(1)(value_of)
"""Returns work, in the child, which gets the same with each block of items."""


class _Ended(msgspec.Struct, array_like=True):
    """The end of a call: outputs that were made as a batch, what the generator's state is now, and the warnings.

    Where the generator is watched, the `uses` of it come last.
    """

    outputs: bytes
    state: tuple[str, int, int]
    warned: bytes
    uses: tuple[tuple[bool, bool], ...] = ()


def _warnings() -> bytes:
    return msgspec.msgpack.encode(list(taken().items()))


def _warned(content: bytes) -> None:
    try:
        warned = msgspec.msgpack.decode(content, type=list[tuple[WarnedAt, tuple[str, int]]])
    except msgspec.MsgspecError as error:
        raise ToolFault(str(error)) from None
    add({WarnedAt(*place): counted for place, counted in warned})


def _outputs(parts: list[bytes]) -> list[Any]:
    return [decode(part, 1)[0] for part in parts]


def predicted(output: Any, probe: Any) -> Any:
    """Return the predictions of a hypothesis on the points of a probe; another output as it is."""
    return np.asarray(output.predict(probe)) if probe is not None and hasattr(output, "predict") else output


def _rest(data: InTurn, runs: int) -> InTurn:
    """Return what is left after so many runs, with other generators: how much those had drawn is unknown."""
    made = data.turns[:runs].tolist()
    first, second = (_further(rng, 1 + made.count(side)) for side, rng in enumerate(data.generators))
    return replace(data, generators=(first, second), turns=data.turns[runs:])


def _further(rng: np.random.Generator, number: int) -> np.random.Generator:
    """Return the generator for what comes after so many runs of a call whose generator cannot go on."""
    seed: Any = rng.bit_generator.seed_seq
    key = (*seed.spawn_key, AGAIN, number)
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed.entropy, spawn_key=key)))
