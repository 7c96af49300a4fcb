"""Makes learners, functions and measurements callable in one way: (data, rng, size) -> a batch of outputs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence, Set
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, is_dataclass, replace
from functools import partial
from itertools import islice
from time import perf_counter_ns
from typing import Any

import numpy as np

from dpaudit.arguments import addressed_parameters_of, parameters_of
from dpaudit.contract import Learner
from dpaudit.errors import InputError, blamed
from dpaudit.jsonable import stable_repr
from dpaudit.outputs.canonical import Raised
from dpaudit.outputs.shared import join
from dpaudit.outputs.sharing import (
    Part,
    Place,
    changes_itself,
    label_of,
    overwritten,
    refuse_shared,
    shared_parts,
    without,
)
from dpaudit.running.isolated import Context, InTurn, Isolated, Timeout, predicted
from dpaudit.running.passing import as_called, generator_lacks, quick, replaced_seed, with_generator
from dpaudit.running.watched import each_run
from dpaudit.withheld import foreign

COMPOSED = 1_000
"""Copies of a measurement that are composed at most: more save nothing."""
WATCHED = 8
"""Runs in which the outputs of a mechanism that returns one object again and again are compared."""
FIXED = (bool, int, float, complex, str, bytes, type(None))
"""Types of outputs that cannot change."""
SIZES = (32, 256, 2_048, 16_384)
"""The numbers of outputs that calls of a batched function are made for, whatever the audit: a function that is compiled
for each size, as one of JAX is, is compiled four times at most."""
SURPLUS = 1 / 8
"""The share of the runs that are wanted which may be made beyond them, and dropped, in the place of smaller calls."""


@dataclass(frozen=True)
class Mechanism:
    """A batched mechanism, ``(data, rng, size) -> size outputs``, with the name that messages show.

    `batched` says whether one call makes many runs, which decides the chunk size only. The `stream`, by default the
    name, is a part of the address of every random stream. On the points of a `probe` predictions of hypotheses replace
    them; outputs that are no hypotheses stay as they are. That runs of one call are independent is `promised` by the
    contract of a learner, and by a random order of outputs that were recorded. Parts that all runs share are
    `left_out` of outputs: the place of each, and what is there, in words.
    """

    function: Callable[[Any, np.random.Generator, int], Any] | Isolated
    name: str
    batched: bool
    stream: str = ""
    probe: Any = field(default=None, compare=False)
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

    def in_turn(self, inputs: InTurn) -> tuple[Any, Any]:
        """Return the outputs on either of two inputs; calls that make many runs begin with the input of the first."""
        if not self.batched:
            return inputs.split(self(inputs, inputs.generators[0], len(inputs.turns)))
        made: list[Any] = [None, None]
        before: list[tuple[Any, Any]] = []
        for side in (int(inputs.turns[0]), 1 - int(inputs.turns[0])):
            runs = int((inputs.turns == side).sum())
            if not runs:
                continue
            inputs.turn = side
            outputs = self(inputs.sides[side], inputs.generators[side], runs)
            if before and label_of(before[0][0]) != before[0][1]:
                # What two calls share is what has changed.
                refuse_shared(shared_parts(before[0][0], outputs[0]), before[0][0])
            # A mechanism may return the same array or list from every call.
            made[side] = outputs.copy() if isinstance(outputs, np.ndarray | list) else outputs
            if not before:  # nothing comes after the second call
                before = _labelled([made[side][0]])
        return made[0], made[1]

    def __call__(self, data: Any, rng: np.random.Generator, size: int, context: Context = nullcontext) -> Any:
        """Return the outputs of `size` runs on `data`, in a context that is entered where they are made.

        Runs that are made one at a time take an `InTurn` in the place of the data as well. Where calls are `even` there
        may be several, one after another with the same generator; the last outputs of the last one are dropped where
        they are more than `size`. `InputError` is raised if a batched call raises, or returns a wrong number of
        outputs.
        """
        if not self.even:
            return self._called(data, rng, size, context)
        made: list[Any] = []
        before: list[tuple[Any, Any]] = []
        sizes = call_sizes(size)
        for number in sizes:
            outputs = self._called(data, rng, number, context)
            _refuse_overwritten(before)
            if len(sizes) > 1:
                # A mechanism may return the same array or list from every call.
                made.append(outputs.copy() if isinstance(outputs, np.ndarray | list) else outputs)
                before = _labelled([made[-1][0]])
        whole = join(made) if len(sizes) > 1 else outputs
        return whole if len(whole) == size else _first(whole, size)

    def _called(self, data: Any, rng: np.random.Generator, size: int, context: Context) -> Any:
        """Return the outputs of one call, or of runs that are made one at a time."""
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
        message = "with {batched:=True} the mechanism {name} must return {size} outputs"
        named: dict[str, Any] = {"names": ("batched",), "name": self.name, "size": size}
        if isinstance(outputs, Mapping | str | bytes) or hasattr(outputs, "columns"):
            given = f"an object of class {foreign(type(outputs).__name__, 'its own')}"
            message += " in a list or an array, got {given}: of a table, return frame.to_numpy() or "
            raise InputError(message + "frame.to_dict('records')", **named, given=given)
        if isinstance(outputs, Iterator | AsyncIterator | Set | Awaitable):
            kind = foreign(type(outputs).__name__, "its own")
            message += " in a list or an array, got an object of class {kind}"
            if isinstance(outputs, Iterator):
                message += ": return list(...) of it"
            elif isinstance(outputs, Set):
                message += ", which has no order and holds equal outputs once"
            raise InputError(message, **named, kind=kind)
        try:
            count = len(outputs)
        except TypeError:
            raise InputError(message + ", got {given:.100}", **named, given=foreign(repr(outputs))) from None
        if count != size:
            raise InputError(f"the mechanism {self.name} was asked for {size} outputs and returned {count}")
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


def _first(outputs: Any, size: int) -> Any:
    """Return the first outputs of a batch, of whatever type."""
    with suppress(TypeError, KeyError, ValueError):  # of a batch that has no slices
        found = outputs[:size]
        if len(found) == size:
            return found
    return list(islice(outputs, size))


@dataclass(frozen=True)
class _OneByOne:
    """Runs an unbatched mechanism `size` times; each output, or exception, is emitted before the next run begins.

    Whether runs write into the outputs of earlier ones is looked at in what the audit sees of these: their predictions
    on the points of a `probe`, and nothing at the places that are `left_out`.
    """

    function: Callable[[Any, np.random.Generator], Any]
    emit: Callable[[Any], None] | None = None
    probe: Any = field(default=None, compare=False)
    left_out: tuple[Place, ...] = field(default=(), compare=False)

    def __call__(self, data: Any, rng: np.random.Generator, size: int) -> Sequence[Any]:
        runs: Iterator[Any] = data.runs() if isinstance(data, InTurn) else each_run(data, rng, size)
        outputs = [self._once(*one) for one in islice(runs, 2)]
        held = self._watched(outputs, runs)
        if self.emit is not None:
            return outputs + [self._once(*one) for one in runs]
        before = _labelled(self._seen(outputs[:2]))  # several objects may be used by turns
        # A call of a method for each run would take as long as a simple mechanism.
        function, add, going = quick(self.function), outputs.append, True
        while going:
            try:
                for given, generator in runs:
                    add(function(given, generator))
                going = False
            except Exception as error:  # as in `_once`
                add(Raised(error))
        if held:
            _refuse_changed(held, before[0][0])
        _refuse_overwritten(before)
        return outputs

    def _watched(self, outputs: list[Any], runs: Iterator[Any]) -> list[Part]:
        """Return what the outputs of the first two runs share; if anything, add those of further runs.

        `InputError` is raised if it changes.
        """
        if len(outputs) < 2 or type(outputs[0]) in FIXED:
            return []
        if outputs[0] is outputs[1] and not isinstance(outputs[0], tuple | frozenset):
            for one in islice(runs, WATCHED):
                before = label_of(self._seen(outputs[-1:])[0])
                outputs.append(self._once(*one))
                if label_of(self._seen(outputs[-2:-1])[0]) != before:
                    raise changes_itself(outputs[-2]) or overwritten(outputs[-2])
            return []
        first, second = self._seen(outputs)
        held = shared_parts(first, second)
        for one in islice(runs, WATCHED if held else 0):
            outputs.append(self._once(*one))
            _refuse_changed(held, first)
        return held

    def _seen(self, outputs: Sequence[Any]) -> list[Any]:
        """Return outputs as the audit sees them."""
        return [without(predicted(output, self.probe), self.left_out) for output in outputs]

    def _once(self, data: Any, rng: np.random.Generator) -> Any:
        try:
            output = self.function(data, rng)
        except Exception as error:  # the finding must see what the user of the mechanism would see
            output = Raised(error)
        if self.emit is not None:
            self.emit(output)
        return output


def one_run(mechanism: Mechanism) -> Callable[[Any, np.random.Generator], Any] | None:
    """Return the function that makes one run of a mechanism here; None where calls make many, or have limits."""
    function = mechanism.function
    if isinstance(function, Isolated) and function.timeout.unlimited:
        function = function.mechanism.function
    if not isinstance(function, _OneByOne):
        return None
    return function.function if not function.left_out else partial(_stripped, function)


def _stripped(made: _OneByOne, data: Any, rng: np.random.Generator) -> Any:
    return without(made.function(data, rng), made.left_out)


@dataclass(frozen=True)
class _Timed:
    """Returns the output of a run with the nanoseconds of the call, an exception with the time until it was raised."""

    function: Callable[[Any, np.random.Generator], Any]
    probe: Any = field(default=None, compare=False)

    def __call__(self, data: Any, rng: np.random.Generator) -> dict[str, Any]:
        began = perf_counter_ns()
        try:
            output = self.function(data, rng)
            took = perf_counter_ns() - began
        except Exception as error:  # as in `_OneByOne`
            took = perf_counter_ns() - began
            output = Raised(error)
        return {"output": predicted(output, self.probe), "nanoseconds": took}


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
    assert isinstance(mechanism.function, _OneByOne)
    function = _OneByOne(_Timed(mechanism.function.function, mechanism.probe))
    return replace(mechanism, function=function, probe=None, stream=f"{mechanism.stream}, timed")


def _composed(measurement: Any, data: Any, rng: np.random.Generator, size: int) -> list[Any]:
    """Return outputs of compositions of an OpenDP measurement: a call takes its time on the way to the library."""
    from opendp.combinators import make_composition

    outputs: list[Any] = []
    while len(outputs) < size:
        copies = min(COMPOSED, size - len(outputs))
        outputs += make_composition([measurement] * copies).invoke(data)
    return outputs


def _refuse_overwritten(before: Sequence[tuple[Any, Any]]) -> None:
    """Raise `InputError` if an output is not what it was, given with its earlier label."""
    for output, label in before:
        if label_of(output) != label:
            raise changes_itself(output) or overwritten(output)


def _refuse_changed(held: Sequence[Part], output: Any) -> None:
    """Raise `InputError` if parts that an output shares with others are not what they were."""
    changed = [part for part in held if part.changed]
    if changed:
        refuse_shared(changed, output)


def _labelled(outputs: Sequence[Any]) -> list[tuple[Any, Any]]:
    for output in outputs:
        label_of(output)  # an output that fills a cache when it is read has done so now
    return [(output, label_of(output)) for output in outputs]


def leaving_out(mechanism: Mechanism, places: tuple[tuple[Place, str], ...]) -> Mechanism:
    """Return a mechanism that leaves parts which all its runs share out of its outputs."""
    left_out = tuple(dict.fromkeys((*mechanism.left_out, *places)))
    function = mechanism.function
    if isinstance(function, Isolated):
        function = Isolated(leaving_out(function.mechanism, places), function.timeout)
    elif isinstance(function, _OneByOne):
        function = replace(function, left_out=tuple(place for place, _ in left_out))
    return replace(mechanism, function=function, left_out=left_out)


def as_mechanism(source: Any, *, batched: bool = False, probe: Any = None, timeout: Timeout | None = None) -> Mechanism:
    """Return a `Mechanism` for a learner or a callable.

    The source is a learner (its `run` is batched), a callable ``(data, rng) -> output``, or if `batched` a callable
    ``(data, rng, size) -> size outputs``. The generator is passed to a parameter that asks for it, and to no other
    (`passing.form_of`); one whose randomness is its own may take ``(data)``, or ``(data, size)``.
    An OpenDP measurement is taken as it is; it draws its own noise, so an audit of it cannot be repeated bit by bit,
    and it stays in this process (``n_jobs=1``). If `batched`, it is invoked as a composition of
    copies of itself, which is three times as fast for scalars; one that may raise must be run one by one.

    On the points of a `probe` the predictions of outputs with a method `predict` replace them. With a `timeout`, the
    most time that a run may take, runs are made in a process of their own.
    """
    mechanism = _plain(source, batched)
    if probe is not None:
        points = probe if hasattr(probe, "iloc") else np.asarray(probe)
        if not points.ndim or not len(points):
            raise InputError.of("probe", probe, "points, one a row")
        function = mechanism.function
        if isinstance(function, _OneByOne):
            function = replace(function, probe=points)
        mechanism = replace(mechanism, function=function, probe=points)
    return mechanism if timeout is None else replace(mechanism, function=Isolated(mechanism, timeout))


def _plain(source: Any, batched: bool) -> Mechanism:
    if isinstance(source, Learner):
        name, stream = (
            f"{source.id} " + ", ".join(f"{name}={stable_repr(value)}" for name, value in given.items())
            for given in (parameters_of(source), addressed_parameters_of(source))
        )
        return Mechanism(source.run, name, True, stream=stream, promised=True)
    if callable(getattr(source, "invoke", None)) and hasattr(source, "input_domain"):
        # The randomness of a measurement is its own.
        runs = partial(_composed, source) if batched else _OneByOne(lambda data, rng: source.invoke(data))
        return Mechanism(runs, "measurement", batched)
    if not callable(source):
        raise InputError.of("mechanism", source, "a learner or a callable (data, rng) -> output")
    called = as_called(with_generator(source, batched=batched), batched=batched)
    return Mechanism(called if batched else _OneByOne(called), _name(source), batched)


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
        shown = {"name": mechanism.name, "why": why, "wanted": wanted}
        raise InputError(message, names=("randomness",), parameter="mechanism", **shown)


def fixed_seed_warnings(mechanism: Mechanism) -> tuple[str, ...]:
    """Return the warning that a fixed seed is the default of the parameter that gets the generator."""
    replaced = replaced_seed(_inner(mechanism))
    if not replaced:
        return ()
    text = f"the default {replaced} of {mechanism.name} is a fixed seed, and the audit passed a generator instead; "
    return (text + "called without one, the mechanism adds the same noise each time, which hides nothing",)


def _inner(mechanism: Mechanism) -> Any:
    """Return the function that is called with the data and the generator."""
    function = mechanism.function.mechanism.function if isinstance(mechanism.function, Isolated) else mechanism.function
    return function.function if isinstance(function, _OneByOne) else function
