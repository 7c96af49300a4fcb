"""Makes learners, functions and measurements callable in one way: (data, rng, size) -> a batch of outputs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Set
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, is_dataclass, replace
from functools import partial
from itertools import islice
from time import perf_counter_ns
from typing import Any, Protocol, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from dpaudit.arguments import addressed_parameters_of, parameters_of
from dpaudit.contract import Learner
from dpaudit.errors import InputError, blamed
from dpaudit.jsonable import stable_repr
from dpaudit.outputs.canonical import Raised
from dpaudit.outputs.shared import join
from dpaudit.outputs.sharing import Part, Place, refuse_shared, shared_parts, without
from dpaudit.outputs.types import Batch, Values
from dpaudit.running.isolated import Context, InTurn, Isolated, Timeout, predicted
from dpaudit.running.one_by_one import OneByOne, Single, as_returned, refuse_overwritten
from dpaudit.running.passing import as_called, generator_lacks, replaced_seed, with_generator
from dpaudit.withheld import foreign

# Makes many runs: maps an input, a generator and a number of runs to as many outputs.
Batched: TypeAlias = Callable[[Any, np.random.Generator, int], Batch]

# Copies of a measurement that are composed at most: more save nothing.
COMPOSED = 1_000
# The numbers of outputs that calls of a batched function are made for, whatever the audit: a function that is compiled
# for each size, as one of JAX is, is compiled four times at most. It was called for 42 sizes when each call made
# exactly the runs that were wanted.
SIZES = (32, 256, 2_048, 16_384)
# The share of the wanted runs that may be made beyond them, and dropped, in the place of smaller calls.
SURPLUS = 1 / 8


class Measurement(Protocol):
    """A measurement of OpenDP, whose randomness is its own."""

    def invoke(self, data: Any) -> Any:
        """Return an output."""


@dataclass(frozen=True)
class Mechanism:
    """A batched mechanism, ``(data, rng, size) -> size outputs``, with the name that messages show.

    `batched` says whether one call makes many runs, which decides the chunk size only. The `stream`, by default the
    name, is a part of the address of every random stream. Hypotheses are replaced by their predictions on the points of
    a `probe`, an array or a data frame; outputs that are no hypotheses stay as they are. The independence of the runs
    of one call is `promised` by the contract of a learner, and by a random order of outputs that were recorded. Parts
    that all runs share are `left_out` of outputs: the place of each, and a description.
    """

    function: Batched | Isolated
    name: str
    batched: bool
    stream: str = ""
    probe: np.ndarray | None = field(default=None, compare=False)
    promised: bool = False
    left_out: tuple[tuple[Place, str], ...] = field(default=(), compare=False)

    @property
    def places(self) -> tuple[Place, ...]:
        """The places of parts that are left out of outputs."""
        return tuple(place for place, _ in self.left_out)

    def __post_init__(self) -> None:
        object.__setattr__(self, "stream", self.stream or self.name)

    @property
    def even(self) -> bool:
        """Whether calls are made for `SIZES` of outputs alone: those of functions, which may be compiled for each."""
        return self.batched and not self.promised

    def few(self, size: int) -> bool:
        """Say whether no call makes fewer runs than so many."""
        return self.even and size <= SIZES[0]

    def in_turn(self, inputs: InTurn) -> tuple[Batch | None, Batch | None]:
        """Return the outputs on either of two inputs, or None for an input without runs.

        Calls that make many runs begin with the input of the first run.
        """
        if not self.batched:
            return inputs.split(self(inputs, inputs.generators[0], len(inputs.turns)))
        made: list[Batch | None] = [None, None]
        before: list[Part] = []
        # The random order of the runs says which side comes first, so that drift is as likely to help either.
        for side in (int(inputs.turns[0]), 1 - int(inputs.turns[0])):
            runs = int((inputs.turns == side).sum())
            if not runs:
                continue
            inputs.turn = side
            outputs = self(inputs.sides[side], inputs.generators[side], runs)
            if before and before[0].changed:
                # The parts that two calls share are those that have changed.
                refuse_shared(shared_parts(before[0].held, outputs[0]), before[0].held)
            kept = _copied(outputs)
            made[side] = kept
            # Nothing comes after the second call, so that only outputs of the first one can change.
            if not before:
                before = as_returned([kept[0]])
        return made[0], made[1]

    def __call__(self, data: Any, rng: np.random.Generator, size: int, context: Context = nullcontext) -> Batch:
        """Return the outputs of `size` runs on `data`, in a context that is entered where they are made.

        Runs that are made one at a time take an `InTurn` in the place of the data as well. If calls are `even` there
        may be several, one after another with the same generator; outputs beyond `size` are dropped at the end.
        `InputError` is raised if a batched call raises, or returns a wrong number of outputs.
        """
        if not self.even:
            return self._called(data, rng, size, context)
        made: list[Batch] = []
        before: list[Part] = []
        sizes = call_sizes(size)
        for number in sizes:
            outputs = self._called(data, rng, number, context)
            refuse_overwritten(before)
            if len(sizes) > 1:
                made.append(_copied(outputs))
                before = as_returned([made[-1][0]])
        whole = join(made) if len(sizes) > 1 else outputs
        if len(whole) == size:
            return whole
        return _first(whole, size)

    def _called(self, data: Any, rng: np.random.Generator, size: int, context: Context) -> Batch:
        """Return the outputs of one call, or of runs that are made one at a time."""
        outputs: Batch
        with blamed(f"the mechanism {self.name}"):
            if isinstance(self.function, Isolated):
                outputs = self.function(data, rng, size, context)
            else:
                with context():
                    outputs = self.function(data, rng, size)
            if self.probe is not None and not isinstance(self.function, Isolated):
                outputs = [predicted(output, self.probe) for output in outputs]
            if self.left_out and not isinstance(self.function, Isolated):
                outputs = [without(output, self.places) for output in outputs]
        self._refuse_no_batch(outputs, size)
        return outputs

    def _refuse_no_batch(self, outputs: Any, size: int) -> None:
        """Raise `InputError` if a call returned anything but a list or an array of `size` outputs."""
        message = ""
        if isinstance(outputs, Mapping | str | bytes) or hasattr(outputs, "columns"):
            message = " in a list or an array, got an object of class {kind}: of a table, return frame.to_numpy() or "
            message += "frame.to_dict('records')"
        elif isinstance(outputs, Iterator):
            message = " in a list or an array, got an object of class {kind}: return list(...) of it"
        elif isinstance(outputs, Set):
            message = " in a list or an array, got an object of class {kind}, which has no order and holds equal "
            message += "outputs once"
        elif isinstance(outputs, AsyncIterator | Awaitable):
            message = " in a list or an array, got an object of class {kind}"
        if message:
            raise self._no_batch(message, size, kind=foreign(type(outputs).__name__, "its own"))
        try:
            count = len(outputs)
        except TypeError:
            raise self._no_batch(", got {given:.100}", size, given=foreign(repr(outputs))) from None
        if count != size:
            raise InputError(f"the mechanism {self.name} was asked for {size} outputs and returned {count}")

    def _no_batch(self, message: str, size: int, *, kind: str = "", given: str = "") -> InputError:
        start = "with {batched:=True} the mechanism {name} must return {size} outputs"
        return InputError(start + message, names=("batched",), name=self.name, size=size, kind=kind, given=given)


def _copied(outputs: Batch) -> Batch:
    """Return a copy of a batch, since a mechanism may return the same array or list from every call."""
    if isinstance(outputs, np.ndarray | list):
        return outputs.copy()
    return outputs


def call_sizes(runs: int) -> list[int]:
    """Return the sizes of the calls that make so many runs, or a few more.

    >>> call_sizes(500), call_sizes(2_000), call_sizes(300), call_sizes(40_000)
    ([256, 256], [2048], [256, 32, 32], [16384, 16384, 2048, 2048, 2048, 256, 256, 256, 256, 32, 32])
    """
    sizes: list[int] = []
    left = runs
    for size in reversed(SIZES):
        whole, left = divmod(left, size)
        sizes += [size] * whole
        if left and (size == SIZES[0] or size - left <= SURPLUS * runs):
            sizes.append(size)
            left = 0
    return sizes


def _first(outputs: Batch, size: int) -> Batch:
    """Return the first outputs of a batch, of whatever type."""
    # A batch of another library may have no slices.
    with suppress(TypeError, KeyError, ValueError):
        found = outputs[:size]
        if len(found) == size:
            return found
    return list(islice(outputs, size))


def one_run(mechanism: Mechanism) -> Single | None:
    """Return the function that makes one run of a mechanism here; None if calls make many, or have limits."""
    function = mechanism.function
    if isinstance(function, Isolated) and function.timeout.unlimited:
        function = function.mechanism.function
    if not isinstance(function, OneByOne):
        return None
    if function.left_out:
        return partial(_stripped, function)
    return function.function


def _stripped(made: OneByOne, data: Any, rng: np.random.Generator) -> Any:
    return without(made.function(data, rng), made.left_out)


def _with_time(function: Single, probe: np.ndarray | None, data: Any, rng: np.random.Generator) -> dict[str, Any]:
    """Return the output of a run with the nanoseconds of the call, an exception with the time until it was raised."""
    began = perf_counter_ns()
    # The finding must see what the user of the mechanism would see, exceptions of any type included.
    try:
        output = function(data, rng)
        took = perf_counter_ns() - began
    except Exception as error:
        took = perf_counter_ns() - began
        output = Raised(error)
    # Predictions are made after the clock was read: the time is that of the mechanism alone.
    return {"output": predicted(output, probe), "nanoseconds": took}


def timed(mechanism: Mechanism) -> Mechanism:
    """Return a mechanism whose output is that of another with its run time, measured in the process that makes the run.

    `InputError` is raised if its calls make many runs: their times are not those of single ones.
    """
    if mechanism.batched:
        message = "{time:=True} needs a function that makes one run in a call: leave it out for learners, and where "
        raise InputError(message + "{batched:=True}", names=("time", "batched"))
    if isinstance(mechanism.function, Isolated):
        inner = timed(mechanism.function.mechanism)
        return replace(inner, function=Isolated(inner, mechanism.function.timeout))
    assert isinstance(mechanism.function, OneByOne)
    function = OneByOne(partial(_with_time, mechanism.function.function, mechanism.probe))
    return replace(mechanism, function=function, probe=None, stream=f"{mechanism.stream}, timed")


def _composed(measurement: Measurement, data: Any, rng: np.random.Generator, size: int) -> Values:
    """Return outputs of compositions of an OpenDP measurement, since each call of the library takes its time."""
    from opendp.combinators import make_composition

    outputs: list[Any] = []
    while len(outputs) < size:
        copies = min(COMPOSED, size - len(outputs))
        outputs += make_composition([measurement] * copies).invoke(data)
    return outputs


def leaving_out(mechanism: Mechanism, places: tuple[tuple[Place, str], ...]) -> Mechanism:
    """Return a mechanism that leaves parts which all its runs share out of its outputs."""
    left_out = tuple(dict.fromkeys((*mechanism.left_out, *places)))
    function = mechanism.function
    if isinstance(function, Isolated):
        function = Isolated(leaving_out(function.mechanism, places), function.timeout)
    elif isinstance(function, OneByOne):
        function = replace(function, left_out=tuple(place for place, _ in left_out))
    return replace(mechanism, function=function, left_out=left_out)


def as_mechanism(
    source: Any, *, batched: bool = False, probe: ArrayLike | None = None, timeout: Timeout | None = None
) -> Mechanism:
    """Return a `Mechanism` for a learner or a callable.

    The source is a learner (its `run` is batched), a callable ``(data, rng) -> output``, or if `batched` a callable
    ``(data, rng, size) -> size outputs``. The generator is passed to a parameter that asks for it, and to no other
    (`passing.form_of`); one whose randomness is its own may take ``(data)``, or ``(data, size)``.
    An OpenDP measurement is taken as it is; it draws its own noise, so an audit of it cannot be repeated bit by bit,
    and it stays in this process (``n_jobs=1``). If `batched`, it is invoked as a composition of copies of itself, which
    is three times as fast for scalars; one that may raise must be run one by one.

    Outputs with a method `predict` are replaced by their predictions on the points of a `probe`. With a `timeout`, the
    most time that a run may take, runs are made in a process of their own.
    """
    mechanism = _plain(source, batched)
    if probe is not None:
        mechanism = _probed(mechanism, probe)
    if timeout is None:
        return mechanism
    return replace(mechanism, function=Isolated(mechanism, timeout))


def _probed(mechanism: Mechanism, probe: ArrayLike) -> Mechanism:
    """Return a mechanism whose hypotheses are replaced by their predictions on some points."""
    # A frame stays one: an estimator may want the names of its columns.
    points: np.ndarray = probe if hasattr(probe, "iloc") else np.asarray(probe)  # type: ignore[assignment]
    if not points.ndim or not len(points):
        raise InputError.of("probe", probe, "points, one a row")
    function = mechanism.function
    if isinstance(function, OneByOne):
        function = replace(function, probe=points)
    return replace(mechanism, function=function, probe=points)


def _plain(source: Any, batched: bool) -> Mechanism:
    if isinstance(source, Learner):
        name = _described(source, parameters_of(source))
        stream = _described(source, addressed_parameters_of(source))
        return Mechanism(source.run, name, True, stream=stream, promised=True)
    if _is_measurement(source):
        # Both pass no generator: the randomness of a measurement is its own.
        if batched:
            return Mechanism(partial(_composed, source), "measurement", True)
        return Mechanism(OneByOne(lambda data, rng: source.invoke(data)), "measurement", False)
    if not callable(source):
        raise InputError.of("mechanism", source, "a learner or a callable (data, rng) -> output")
    called = as_called(with_generator(source, batched=batched), batched=batched)
    if batched:
        return Mechanism(called, _name(source), True)
    return Mechanism(OneByOne(called), _name(source), False)


def _described(learner: Learner, given: Mapping[str, Any]) -> str:
    return f"{learner.id} " + ", ".join(f"{name}={stable_repr(value)}" for name, value in given.items())


def _is_measurement(source: Any) -> TypeGuard[Measurement]:
    """Say whether a source is a measurement of OpenDP."""
    return hasattr(source, "invoke") and callable(source.invoke) and hasattr(source, "input_domain")


def _name(source: Callable[..., Any]) -> str:
    """Name a callable in addresses of streams: mechanisms of different names do not share their noise."""
    if isinstance(source, partial):
        return f"{_name(source.func)} of {stable_repr([source.args, source.keywords])}"
    fallback = stable_repr(source) if is_dataclass(source) else type(source).__qualname__
    return str(getattr(source, "__qualname__", fallback))


def check_generator(mechanism: Mechanism) -> None:
    """Raise `InputError` if the generator of a run is not passed to the function that makes it."""
    why = generator_lacks(_inner(mechanism))
    if why:
        wanted = "(data, rng, size)" if mechanism.batched else "(data, rng)"
        message = "mechanism must take {wanted}: {name} {why}; if its randomness is its own, pass {randomness:=own}"
        raise InputError(
            message, names=("randomness",), parameter="mechanism", name=mechanism.name, why=why, wanted=wanted
        )


def fixed_seed_warnings(mechanism: Mechanism) -> tuple[str, ...]:
    """Return the warning that a fixed seed is the default of the parameter that gets the generator."""
    replaced = replaced_seed(_inner(mechanism))
    if not replaced:
        return ()
    text = f"the default {replaced} of {mechanism.name} is a fixed seed, and the audit passed a generator instead; "
    return (text + "called without one, the mechanism adds the same noise each time, which hides nothing",)


def _inner(mechanism: Mechanism) -> Single | Batched:
    """Return the function that is called with the data and the generator."""
    function = mechanism.function
    if isinstance(function, Isolated):
        function = function.mechanism.function
    return function.function if isinstance(function, OneByOne) else function
