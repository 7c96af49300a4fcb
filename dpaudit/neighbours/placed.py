"""Pairs that stand in a file or a module: a list, a callable that returns one, or a strategy of hypothesis."""

from __future__ import annotations

import sys
from typing import Any

from dpaudit.errors import InputError
from dpaudit.neighbours.sampled import pairs_from_strategy
from dpaudit.registry.import_spec import Place

__all__ = ["is_strategy", "pairs_at", "pairs_beside"]

PAIRS = "PAIRS"
"""The name of the pairs beside a mechanism."""


def pairs_beside(place: Place, role: str) -> Place:
    """Return the place of the pairs beside a mechanism for which none were given.

    Parameters
    ----------
    place : Place
        The mechanism.
    role : str
        What the pairs are called, in messages.

    Raises
    ------
    InputError
        If there are none: the message names what might be meant.
    """
    module = place.module()
    if hasattr(module, PAIRS):
        return place.beside(role, PAIRS)
    near = [name for name in vars(module) if name.upper().startswith("PAIR")]
    hint = f" (did you mean {role} {place.source}:{near[0]}?)" if near else ""
    raise InputError(
        f"{role} must be given: {place.source} has no {PAIRS}, a list of (data, neighbour) tuples{hint}; such a list "
        f"is given as {role} FILE.py:NAME, patterns:DIMENSION makes one for answers to counting queries, and "
        "--data FILE.csv one of a dataset"
    )


def pairs_at(place: Place, seed: int = 0) -> list[Any]:
    """Return the pairs at a place: a list of (data, neighbour), what a callable returns or a strategy makes."""
    pairs, told = place.find(), f"{place.role} {place.source}:{place.name}"
    if is_strategy(pairs):
        return list(pairs_from_strategy(pairs, seed=seed))
    if callable(pairs):
        try:
            pairs = pairs()
        except (Exception, SystemExit) as error:
            raise InputError(f"{told}() failed: {type(error).__name__}: {error}") from error
    if isinstance(pairs, str | bytes | dict):
        raise InputError(f"{told} must be a list of (data, neighbour) tuples, got {pairs!r:.100}")
    try:
        return list(pairs)
    except TypeError:
        raise InputError(
            f"{told} must be a list of (data, neighbour) tuples or a callable that returns one, got {pairs!r:.100}"
        ) from None


def is_strategy(value: Any) -> bool:
    """Say whether a value is a strategy of hypothesis, which is loaded already if there is one."""
    strategies = sys.modules.get("hypothesis.strategies")
    return strategies is not None and isinstance(value, strategies.SearchStrategy)
