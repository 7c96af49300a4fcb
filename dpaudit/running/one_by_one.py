"""Runs of an unbatched mechanism, one after another, and whether a run writes into the outputs of earlier ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeAlias

import numpy as np

from dpaudit.outputs.canonical import Raised
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
from dpaudit.outputs.types import Values
from dpaudit.running.isolated import InTurn, predicted
from dpaudit.running.passing import quick
from dpaudit.running.watched import each_run

# Makes one run: maps an input and a generator to an output.
Single: TypeAlias = Callable[[Any, np.random.Generator], Any]

# The input and the generator of a run.
Run: TypeAlias = tuple[Any, np.random.Generator]

# Runs in which the outputs of a mechanism that returns one object again and again are compared.
WATCHED = 8
# Types of outputs that cannot change.
FIXED = (bool, int, float, complex, str, bytes, type(None))


def as_returned(outputs: Values) -> list[Part]:
    """Return outputs, each whole, with their contents now, by which it is seen later whether they have changed."""
    # An output that fills a cache when it is read does so now.
    for output in outputs:
        label_of(output)
    return [Part((), output, label_of(output)) for output in outputs]


def refuse_overwritten(before: Sequence[Part]) -> None:
    """Raise `InputError` if an output is not what it was."""
    for one in before:
        if one.changed:
            raise changes_itself(one.held) or overwritten(one.held)


def refuse_changed(held: Sequence[Part], output: Any) -> None:
    """Raise an error if parts that an output shares with others are not what they were."""
    changed = [part for part in held if part.changed]
    if changed:
        refuse_shared(changed, output)


@dataclass(frozen=True)
class OneByOne:
    """Runs an unbatched mechanism `size` times; each output, or exception, is emitted before the next run begins.

    Whether runs write into the outputs of earlier ones is checked on what the audit sees of these: their predictions
    on the points of a `probe`, and nothing at the places that are `left_out`.
    """

    function: Single
    emit: Callable[[Any], None] | None = None
    probe: np.ndarray | None = field(default=None, compare=False)
    left_out: tuple[Place, ...] = field(default=(), compare=False)

    def __call__(self, data: Any, rng: np.random.Generator, size: int) -> Values:
        """Return the outputs of `size` runs, or of the runs that an `InTurn` asks for."""
        runs: Iterator[Run]
        if isinstance(data, InTurn):
            runs = data.runs()
        else:
            runs = each_run(data, rng, size)
        # Two runs show whether outputs share a part; only then more of them are compared.
        outputs = [self._once(*one) for one in islice(runs, 2)]
        held = self._watched(outputs, runs)
        # What was emitted has left the process: later runs cannot write into it.
        if self.emit is not None:
            return outputs + [self._once(*one) for one in runs]
        # Two, since a mechanism may use several objects by turns.
        before = as_returned(self._as_audited(outputs[:2]))
        self._add_rest(outputs, runs)
        if held:
            refuse_changed(held, before[0].held)
        refuse_overwritten(before)
        return outputs

    def _add_rest(self, outputs: list[Any], runs: Iterator[Run]) -> None:
        """Add the outputs of the runs that are left."""
        # A call of a method for each run would take as long as a simple mechanism.
        function = quick(self.function)
        add = outputs.append
        going = True
        while going:
            try:
                for given, generator in runs:
                    add(function(given, generator))
                going = False
            # As in `_once`: the loop goes on with the next run.
            except Exception as error:
                add(Raised(error))

    def _watched(self, outputs: list[Any], runs: Iterator[Run]) -> list[Part]:
        """Return the parts that the outputs of the first two runs share; if there are any, add outputs of further runs.

        An error is raised if a shared part changes.
        """
        if len(outputs) < 2 or type(outputs[0]) in FIXED:
            return []
        # The same object from both runs: is it written into again? Tuples and frozen sets cannot be.
        if outputs[0] is outputs[1] and not isinstance(outputs[0], tuple | frozenset):
            for one in islice(runs, WATCHED):
                before = label_of(self._as_audited(outputs[-1:])[0])
                outputs.append(self._once(*one))
                if label_of(self._as_audited(outputs[-2:-1])[0]) != before:
                    raise changes_itself(outputs[-2]) or overwritten(outputs[-2])
            return []
        first, second = self._as_audited(outputs)
        held = shared_parts(first, second)
        for one in islice(runs, WATCHED if held else 0):
            outputs.append(self._once(*one))
            refuse_changed(held, first)
        return held

    def _as_audited(self, outputs: Values) -> Values:
        """Return outputs as the audit sees them."""
        return [without(predicted(output, self.probe), self.left_out) for output in outputs]

    def _once(self, data: Any, rng: np.random.Generator) -> Any:
        # The finding must see what the user of the mechanism would see, exceptions of any type included.
        try:
            output = self.function(data, rng)
        except Exception as error:
            output = Raised(error)
        if self.emit is not None:
            self.emit(output)
        return output
