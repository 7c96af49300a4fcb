"""Runs of a mechanism in a child process: one that takes too long, or ends its process, harms no other.

A run goes into the child and back in these steps:

1. A `Mechanism` calls `Isolated`, which keeps one `child.Child` for each thread, and begins it when it is first needed.
2. `Isolated._made_in` writes the request (`_request`) to the child: how many runs, the addresses of their generators,
   and the inputs as a pickle. A child begins as a copy of this process, or as a fresh interpreter of the same kind, so
   that it can read the pickle.
3. In the child `serving.serve` reads the frames of `protocol` and calls `Runs`, which makes the runs and emits their
   outputs as bytes: plain values and arrays, taken apart (`outputs.encoding`).
4. `Child.call` collects these parts. `Isolated._made_in` decodes them, moves the generator to where the runs left it,
   and adds the warnings of the child. Nothing that a child sends is unpickled.

Runs on both sides of a pair are made in one random order, so that what drifts from call to call drifts on both alike.
"""

from __future__ import annotations

import math
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import DpauditError, Exited, InputError, ToolFault
from dpaudit.folders import enter_folder, leave, left
from dpaudit.outputs.canonical import contents, timed_out
from dpaudit.outputs.decoding import decode
from dpaudit.outputs.encoding import encode
from dpaudit.outputs.sharing import without
from dpaudit.outputs.types import Batch, Values
from dpaudit.places import cloudpickle
from dpaudit.running.child import PATIENCE, Child, has_threads, waiting_libraries
from dpaudit.running.failed_runs import RunFault
from dpaudit.running.processes import ChildDied, can_fork
from dpaudit.running.protocol import PICKLED
from dpaudit.running.serving import Emit, Served
from dpaudit.running.transport import sendable, value_of
from dpaudit.running.warning_counts import WarningPlace, add, taken
from dpaudit.running.watched import Use, address_of, generator_at, go_on, position_of, watched, watcher
from dpaudit.withheld import hides, hiding

# Runs of a call after which it is seen whether the input is what it was; checks of mechanisms make so few.
LOOK = 16
# Part of the address of the stream for the runs after one that was ended: no mechanism spawns so many streams.
AGAIN = 0x74696D65
# The use of a generator by runs of which some were ended: nothing is concluded from it.
UNKNOWN = Use(advanced=True, read=False)
_UNSENDABLE = (
    "runs are made in a process of their own, to which the inputs of {pairs} must travel, and something cannot be "
    "sent: {why:.500}; give plain data"
)
Context = Callable[[], AbstractContextManager[Any]]


@dataclass
class InTurn:
    """Inputs and generators of a call whose runs are made on two inputs in turn; it stands in the place of one input.

    The runs on either input have a generator of their own, so that their outputs do not depend on the order of the
    sides. The `turns`, shape (size,), are for each run, in the order in which they are made, the number of its input.
    With `fresh` each run has a generator of its own, made from the address of that of its side. The `turn` is the
    number of the input on which the last run has begun, None where that is not known.
    """

    sides: tuple[Any, Any]
    generators: tuple[np.random.Generator, np.random.Generator]
    turns: NDArray[np.uint8]
    fresh: bool = False
    turn: int | None = field(default=None, compare=False)

    def runs(self) -> Iterator[tuple[Any, np.random.Generator]]:
        """Yield the input and the generator of each run, and note which input it is."""
        known = tuple(zip(self.sides, self.generators, strict=True))
        for number, turn in enumerate(self.turns.tolist()):
            self.turn = turn
            if self.fresh:
                yield self.sides[turn], _further(self.generators[turn], number)
            else:
                yield known[turn]

    def split(self, outputs: Batch) -> tuple[Batch, Batch]:
        """Return the outputs on either input, given those of all runs in their order."""
        masks = self.turns == 0, self.turns == 1
        if isinstance(outputs, np.ndarray):
            return outputs[masks[0]], outputs[masks[1]]
        return list(compress(outputs, masks[0].tolist())), list(compress(outputs, masks[1].tolist()))

    def note_turn(self, runs: int) -> None:
        """Note the input of the run that is under way after so many."""
        if runs < len(self.turns):
            self.turn = int(self.turns[runs])

    def after(self, runs: int) -> InTurn:
        """Return what is left after so many runs, with other generators: how much those had drawn is unknown."""
        made = self.turns[:runs].tolist()
        first, second = (_further(rng, 1 + made.count(side)) for side, rng in enumerate(self.generators))
        return replace(self, generators=(first, second), turns=self.turns[runs:])


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
    """Runs of a mechanism in a child that is kept from call to call, and ended with whatever takes too long in it.

    The mechanism is there with its probe. Unless it is batched, its function is a dataclass that passes each output to
    its field `emit` before the next run begins. Each run then has the seconds of the timeout for itself; otherwise all
    runs of a call have so many times as much together, and where they take longer that is a fault, as an exception is.
    """

    def __init__(self, mechanism: Any, timeout: Timeout) -> None:
        self.mechanism = mechanism
        self.timeout = timeout
        self._fresh = False
        self._tried = False
        # A child makes one call after another, so that each thread of joblib's backend "threading" has its own.
        self._of_thread = threading.local()

    def __reduce__(self) -> tuple[type[Isolated], tuple[Any, Timeout]]:
        return Isolated, (self.mechanism, self.timeout)

    def __call__(self, data: Any, rng: np.random.Generator, size: int, context: Context = nullcontext) -> Batch:
        """Return the outputs of `size` runs in a context; the generator ends where the runs left it.

        After a run that was ended the others have a generator of their own: how much it had drawn is unknown.
        """
        # One message for all runs is quicker; with a time limit for each run, each output has to come before the next
        # run begins, so that it is known which run took too long.
        at_once = self.mechanism.batched or self.timeout.unlimited
        limit = self.timeout.seconds * (size if self.mechanism.batched else 1)
        outputs: Values = []
        # What is left of the data after runs that were ended.
        left_over = data
        watch = watcher(rng)
        # The use of the generator is known once the child has returned.
        if watch is not None:
            watch.uses = (UNKNOWN,)
        while True:
            child = self._child()
            remaining = size - len(outputs)
            seconds = None if self.timeout.unlimited else limit
            try:
                made = self._made_in(child, left_over, rng, remaining, context, one_by_one=not at_once, seconds=seconds)
            except ChildDied as died:
                child.close()
                if isinstance(data, InTurn):
                    if not at_once:
                        data.note_turn(len(outputs) + len(child.parts))
                    elif child.died and not self.mechanism.batched:
                        data.turn = self._turn_that_ends(data, rng, remaining, context)
                raise RunFault(f"the mechanism {self.mechanism.name} {died}") from None
            except BaseException as error:
                # After an interrupt what the child answers would be taken for an answer to the next call.
                child.close()
                if isinstance(error, Exited) and isinstance(data, InTurn) and error.turn is not None:
                    data.turn = error.turn
                raise
            if made is not None:
                if at_once:
                    return made
                return [*outputs, *made]
            # The first run may hang because a copy of this process lacks threads: a fresh interpreter has its own.
            if not child.answered and self._try_fresh():
                continue
            # Fresh interpreters take long to begin: they are for what does not end in a copy of this process.
            self._fresh = self._fresh and child.answered
            before = len(child.parts)
            if isinstance(data, InTurn) and not at_once:
                data.note_turn(len(outputs) + before)
            self._refuse_late(len(outputs) + before, size, limit)
            # The run that was ended is an output of its own kind; another child makes those after it.
            outputs = [*outputs, *self._parts(child.parts), timed_out(self.timeout.seconds)]
            rng = _further(rng, len(outputs))
            if isinstance(left_over, InTurn):
                left_over = left_over.after(before + 1)

    def _refuse_late(self, made: int, size: int, limit: float) -> None:
        """Raise `RunFault` where a run that takes too long is no output, or all runs were made and the call goes on."""
        name = self.mechanism.name
        if self.timeout.is_ == "error" or self.mechanism.batched:
            whose = f"a call that makes {size} runs" if self.mechanism.batched else "a run"
            raise RunFault(f"{whose} of the mechanism {name} took longer than {limit:g} s")
        if made >= size:
            raise RunFault(f"the mechanism {name} made its {size} runs and did not end in {limit:g} s")

    def _parts(self, parts: list[bytes]) -> Values:
        try:
            return _outputs(parts)
        except ToolFault as fault:
            raise RunFault(f"the mechanism {self.mechanism.name} gave no answer: {fault}") from None

    def _turn_that_ends(self, data: InTurn, rng: np.random.Generator, size: int, context: Context) -> int | None:
        """Return the number of the input whose run ends its process, as the same runs made again one by one show.

        They are sent one by one only here, since that takes some microseconds a run. None is returned where the process
        does not end this time, as where the system had ended it.
        """
        child = self._child()
        try:
            self._made_in(child, data, rng, size, context, one_by_one=True, seconds=PATIENCE)
        except ChildDied:
            # The child has sent an output for each run that ended: the next one is that which it did not survive.
            if len(child.parts) < size:
                return int(data.turns[len(child.parts)])
        except DpauditError:
            pass
        finally:
            child.close()
        return None

    def _made_in(
        self,
        child: Child,
        data: Any,
        rng: np.random.Generator,
        size: int,
        context: Context,
        *,
        one_by_one: bool,
        seconds: float | None,
    ) -> Batch | None:
        """Return the outputs of runs that a child makes, or None if it took too long and was ended.

        Each run that is sent `one_by_one`, or else all of them together, may take so many seconds. The generator of the
        runs is left where they end.
        """
        request, inputs = _request(data, rng, size, context, one_by_one, self.timeout.unlimited)
        most = size if one_by_one else 1
        answer = child.call(request, inputs, seconds=seconds, most=most)
        if answer is None:
            return None
        parts, returned = answer
        # What a child sends is checked like a stranger's input: the audited code may have written to its pipe.
        try:
            if len(parts) != most:
                raise ToolFault(f"there are {len(parts)} parts in the place of {most}")
            outputs: Batch
            if one_by_one:
                outputs = _outputs(parts)
            else:
                outputs = decode(parts[0], size)
            ended = decode(returned, 1)[0]
            go_on(rng, ended["position"])
            watch = watcher(rng)
            if watch is not None:
                watch.uses = tuple(Use(bool(advanced), bool(read)) for advanced, read in ended["uses"])
            add(_warnings(ended["warned"]))
            return outputs
        except (ToolFault, ValueError, TypeError, LookupError, OverflowError) as error:
            raise ChildDied(f"gave no answer: {error}") from None

    def _try_fresh(self) -> bool:
        """Say whether to make a first run again in a fresh interpreter, once: a copy may lack threads it waits for."""
        tried = self._tried
        self._tried = True
        self._fresh = not tried and has_threads()
        return self._fresh

    def _child(self) -> Child:
        """Return the child of this thread; another one if that has ended."""
        known: Child | None = getattr(self._of_thread, "child", None)
        if known is None or known.closed:
            served = Runs(self.mechanism, again=known is not None)
            # A copy of this process would lack the threads that some libraries wait for.
            content = None
            if self._fresh or waiting_libraries():
                content = _as_pickle(served)
            # What cannot be pickled is served by a copy all the same.
            known = Child(content or served)
            self._of_thread.child = known
        return known


def _request(
    data: Any, rng: np.random.Generator, size: int, context: Context, one_by_one: bool, unlimited: bool
) -> tuple[bytes, bytes]:
    """Return the request for some runs, and their inputs, as docs/research/protocol.md has them."""
    inputs: tuple[Any, ...] = (data,)
    generators: tuple[np.random.Generator, ...] = (rng,)
    turns = b""
    fresh = False
    if isinstance(data, InTurn):
        inputs = data.sides
        generators = data.generators
        turns = data.turns.tobytes()
        fresh = data.fresh
    request = encode(
        [
            {
                "size": size,
                "streams": list(map(address_of, generators)),
                "turns": turns,
                "fresh": fresh,
                "one by one": one_by_one,
                "watched": watcher(rng) is not None,
                "context": b"" if context is nullcontext else sendable(context),
            }
        ]
    )
    # Without a time limit nobody has asked for a process: the error then names the inputs, and not {timeout}.
    if unlimited:
        return request, PICKLED + sendable(inputs, _UNSENDABLE, ("pairs",))
    return request, PICKLED + sendable(inputs)


@dataclass
class Runs:
    """Makes the runs that a request asks for, in a child; `again` says that it is not the first of its thread."""

    mechanism: Any
    again: bool = False
    begun: bool = False

    def __call__(self, emit: Emit, request: bytes, inputs: bytes) -> bytes:
        """Emit the outputs, one by one or all at once; return where the generator is, and what else the audit notes."""
        if not self.begun and self.again:
            # Mechanisms may draw from it, and another copy of the process has had it; `random` is seeded by the fork.
            np.random.seed()  # noqa: NPY002
        self.begun = True
        enter_folder()
        # Warnings that were counted before the fork are shown there, and not once more by the child.
        taken()
        asked = decode(request, 1)[0]
        sides = value_of(inputs[len(PICKLED) :])
        generators = [generator_at(address) for address in asked["streams"]]
        rng = generators[0]
        if asked["watched"]:
            rng = watched(rng)
        data = sides[0]
        if len(sides) > 1:
            turns = np.frombuffer(asked["turns"], np.uint8)
            data = InTurn((sides[0], sides[1]), (rng, generators[1]), turns, asked["fresh"])
        context: Context = nullcontext
        if asked["context"]:
            context = value_of(asked["context"])
        mechanism = self.mechanism
        if asked["one by one"]:
            mechanism = self._emitting(emit)
        try:
            outputs = self._checked(mechanism, data, rng, asked["size"], context)
        except Exited as error:
            error.turn = data.turn if isinstance(data, InTurn) else None
            raise
        watch = watcher(rng)
        uses = [] if watch is None else [list(use) for use in watch.used()]
        if not asked["one by one"]:
            emit(encode(outputs))
        # Their destructors may warn, and these warnings belong to this call.
        del outputs
        warned = [[*place, text, number] for place, (text, number) in taken().items()]
        return encode([{"position": position_of(rng), "uses": uses, "warned": warned}])

    def _emitting(self, emit: Emit) -> Any:
        """Return the mechanism, which sends each output before the next run begins."""
        probe = self.mechanism.probe
        places = self.mechanism.places

        def send(output: Any) -> None:
            emit(encode([without(predicted(output, probe), places)]))

        function = replace(self.mechanism.function, emit=send)
        # What is sent has been predicted and stripped, which must not be done again.
        return replace(self.mechanism, function=function, probe=None, left_out=())

    def _checked(self, mechanism: Any, data: Any, rng: np.random.Generator, size: int, context: Context) -> Batch:
        """Return the outputs of runs; see in a call of few that they do not change what all runs share."""
        held = data.sides if isinstance(data, InTurn) else data
        before = None
        if size <= LOOK or mechanism.few(size):
            before = contents(held)
        outputs: Batch = mechanism(data, rng, size, context)
        if before is not None and contents(held) != before:
            raise InputError(
                f"the mechanism {mechanism.name} changes its input, which all its runs share: let it work on a copy"
            )
        return outputs


def _as_pickle(served: Served) -> bytes | None:
    """Return what a fresh interpreter serves, in the folder of this process and as discreetly; None if it cannot be."""
    try:
        return bytes(cloudpickle().dumps(partial(_settled, hides(), left(), served), pickle.HIGHEST_PROTOCOL))
    except Exception:  # of many types: what pickle raises depends on what it meets
        return None


def _settled(hidden: bool, folder: str | None, served: Served, emit: Emit, request: bytes, inputs: bytes) -> bytes:
    leave(folder)
    with hiding() if hidden else nullcontext():
        return served(emit, request, inputs)


def _warnings(found: Any) -> dict[WarningPlace, tuple[str, int]]:
    """Return the warnings that a child counted; `ToolFault` if they are none."""
    warned = {}
    for module, category, file, line, text, number in found:
        if not all(isinstance(one, str) for one in (module, category, file, text)):
            raise ToolFault("what was sent are no warnings")
        warned[WarningPlace(module, category, file, int(line))] = (text, int(number))
    return warned


def _outputs(parts: list[bytes]) -> Values:
    return [decode(part, 1)[0] for part in parts]


def predicted(output: Any, probe: np.ndarray | None) -> Any:
    """Return the predictions of a hypothesis on the points of a probe; another output as it is."""
    if probe is None or not hasattr(output, "predict"):
        return output
    return np.asarray(output.predict(probe))


def _further(rng: np.random.Generator, number: int) -> np.random.Generator:
    """Return the generator for what comes after so many runs of a call whose generator cannot go on."""
    seed = rng.bit_generator.seed_seq
    assert isinstance(seed, np.random.SeedSequence)
    # A stream that depends on the run alone, and not on how far earlier runs had come: the audit can be made again.
    key = (*seed.spawn_key, AGAIN, number)
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed.entropy, spawn_key=key)))
