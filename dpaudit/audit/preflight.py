"""Make a few runs before an audit, to find what would make it meaningless."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from dpaudit.audit.checks import Answer, Check, CheckName
from dpaudit.audit.hygiene import Hygiene, look_runs
from dpaudit.contract import MadePair, Pair
from dpaudit.errors import InputError
from dpaudit.outputs.canonical import contents
from dpaudit.running.sampling import Sampler

__all__ = ["preflight"]

_SIDES = ("data", "neighbour")
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, functools.partial)


def preflight(sampler: Sampler, pairs: tuple[Pair, ...], trials: int, own: bool) -> tuple[Hygiene, tuple[Check, ...]]:
    """Make a few runs on both sides of the first pair and return what they show.

    Parameters
    ----------
    sampler : Sampler
        The mechanism that will be audited.
    pairs : tuple of Pair
        On what; not empty.
    trials : int
        Runs on each side of each pair, by which the number of these runs is scaled.
    own : bool
        Whether the mechanism is declared to have randomness of its own.

    Returns
    -------
    hygiene : Hygiene
        What makes the last looks, at the end of the audit.
    checks : tuple of Check
        What the first ones show.

    Raises
    ------
    InputError
        If the mechanism returns a wrong number of outputs, or something that is no value, such as a generator; or if an
        input is used up or changed by a run: all runs share it, so the later ones would see something else.
    """
    for index, pair in enumerate(pairs):
        for side, data in zip(_SIDES, pair.sides, strict=True):
            if isinstance(data, Iterator):
                raise InputError(f"pairs[{index}] has an iterator as its {side}, which a run would use up: pass a list")
    mechanism = sampler.mechanism
    refuse = functools.partial(_refuse_outputs, mechanism.name)
    inputs = pairs[0].data, pairs[0].neighbour  # made once, so that it shows if a run changes them
    looked_at = Pair(*inputs, pairs[0].origin)
    hygiene = Hygiene(sampler, looked_at, look_runs(trials, mechanism.batched), own, refuse)
    before = list(map(contents, inputs))
    checks = hygiene.open()
    for side, data, earlier in zip(_SIDES, inputs, before, strict=True):
        if contents(data) != earlier:
            shown = f" is {data!r:.200}" if not isinstance(pairs[0], MadePair) else " is not what it was"
            raise InputError(
                f"the mechanism {mechanism.name} changes its input, which all its runs share: let it work on a copy "
                f"(after {sum(check.runs for check in checks)} runs the {side} of pairs[0]{shown})"
            )
    asked = all(earlier is not None for earlier in before)
    return hygiene, (Check(CheckName.INPUTS, Answer.PASSED if asked else Answer.NOT_ASKED, 0), *checks)


def _refuse_outputs(name: str, outputs: Any) -> None:
    """Raise `InputError` if an output is a promise of a value instead of one: a generator, a coroutine, a function."""
    if isinstance(outputs, np.ndarray) and outputs.dtype != object:
        return
    for output in outputs:
        advice = _advice(output)
        if not advice:
            continue
        for coroutine in filter(inspect.iscoroutine, outputs):
            coroutine.close()  # else it complains that nobody awaited it
        raise InputError(f"the mechanism {name} returns an output of type {type(output).__qualname__}: {advice}")


def _advice(output: Any) -> str:
    """Return what to do about an output that is no value; empty for a value."""
    if inspect.iscoroutine(output) or inspect.isawaitable(output):
        return "await it, and return what comes (asyncio.run(...) does so in a plain function)"
    if inspect.isasyncgen(output) or isinstance(output, Iterator):
        return "return list(...) of it, since a run's output is what it yields"
    return "call it, and return what it returns" if isinstance(output, _FUNCTIONS) else ""
