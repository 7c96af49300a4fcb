"""Anybody's mechanism on the command line: MODULE:FUNCTION and its pairs, found from the current directory."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from msgspec.structs import asdict

from dpaudit.arguments import check_built
from dpaudit.blackbox.audit import audit_privacy
from dpaudit.contract import Learner
from dpaudit.engine.arguments import PrivacyArguments
from dpaudit.engine.records import Result
from dpaudit.engine.tasks import Task
from dpaudit.errors import InputError
from dpaudit.neighbours.sampled import pairs_from_strategy
from dpaudit.neighbours.sources import is_source, pairs_of_source

__all__ = ["audit_mechanism", "find_object", "find_pairs", "importable_here"]


def audit_mechanism(args: argparse.Namespace, arguments: PrivacyArguments) -> Result:
    """Audit MODULE:FUNCTION and return the result, as `engine.perform` makes it for a learner.

    Parameters
    ----------
    args : Namespace
        Of ``dpaudit privacy``.
    arguments : PrivacyArguments
        What the audit is given.

    Raises
    ------
    InputError
        If the module, the function or the pairs are not there, or cannot be called as they must be.
    """
    if args.parameter:
        raise InputError(f"-p is for learners of the registry; {args.id} takes none")
    chosen = asdict(arguments)
    place = chosen.pop("pairs")
    chosen["randomness"] = chosen["randomness"] or "argument"
    with importable_here():
        mechanism = find_object("the mechanism", args.id)
        check_built(mechanism, args.id)
        pairs = None if place is None else _pairs(args, place, mechanism)
        learner = mechanism if isinstance(mechanism, Learner) else None
        if learner is None:
            _check_plain(args, mechanism)
        if pairs is not None:
            del chosen["n"]  # they are of n examples already
        finding = audit_privacy(mechanism, pairs, **chosen, seed=args.seed, n_jobs=args.n_jobs)
    claim = None if learner is None else learner.privacy
    key = Task(args.id, {}, arguments).key
    return Result(task=key, learner=args.id, parameters={}, arguments=arguments, finding=finding, claim=claim)


@contextmanager
def importable_here() -> Iterator[None]:
    """Let modules of the current directory be imported, in worker processes too, while the block runs."""
    here = os.getcwd()
    sys.path.insert(0, here)
    try:
        yield
    finally:
        sys.path.remove(here)


def find_object(role: str, place: str) -> Any:
    """Return the object at MODULE:NAME, where NAME may have dots.

    Raises
    ------
    InputError
        If `place` is not of that form, the module cannot be imported, or it has no such attribute.
    """
    module, colon, name = place.partition(":")
    if not colon or not all(part.isidentifier() for part in (*module.split("."), *name.split("."))):
        raise InputError(f"{role} must be given as MODULE:NAME, such as package.module:name; got {place!r}")
    found = _import(module)
    for part in name.split("."):
        if not hasattr(found, part):
            near = get_close_matches(part, [known for known in dir(found) if not known.startswith("__")])
            hint = f"; did you mean {' or '.join(near)}?" if near else ""
            raise InputError(f"{role} {place!r} is not there: {module} has no {name}{hint}")
        found = getattr(found, part)
    return found


def _pairs(args: argparse.Namespace, place: str, mechanism: Any) -> list[Any]:
    """Return the pairs that --pairs names: a source such as random:50, or those at MODULE:NAME."""
    if is_source(place):
        return list(pairs_of_source(place, mechanism, n=args.n, relation=args.relation, seed=args.seed))
    return find_pairs(place, args.seed)


def find_pairs(place: str, seed: int = 0) -> list[Any]:
    """Return the pairs at MODULE:NAME: a list of (data, neighbour), what a callable returns or a strategy makes."""
    pairs = find_object("--pairs", place)
    if _is_strategy(pairs):
        return list(pairs_from_strategy(pairs, seed=seed))
    if callable(pairs):
        try:
            pairs = pairs()
        except (Exception, SystemExit) as error:
            raise InputError(f"--pairs {place}() failed: {type(error).__name__}: {error}") from error
    if isinstance(pairs, str | bytes | dict):
        raise InputError(f"--pairs {place} must be a list of (data, neighbour) tuples, got {pairs!r:.100}")
    try:
        return list(pairs)
    except TypeError:
        raise InputError(
            f"--pairs {place} must be a list of (data, neighbour) tuples or a callable that returns one, "
            f"got {pairs!r:.100}"
        ) from None


def _is_strategy(value: Any) -> bool:
    """Say whether a value is a strategy of hypothesis, which is loaded already if there is one."""
    strategies = sys.modules.get("hypothesis.strategies")
    return strategies is not None and isinstance(value, strategies.SearchStrategy)


def _import(module: str) -> Any:
    """Import a module; whatever it does wrong is bad input, an exit of its own above all."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{module}.".startswith(f"{error.name}."):
            raise InputError(
                f"there is no module {error.name!r}, neither installed nor in the current directory {os.getcwd()}"
            ) from None
        raise InputError(f"the module {module} could not be imported: {error}") from error
    except (Exception, SystemExit) as error:
        raise InputError(f"the module {module} could not be imported: {type(error).__name__}: {error}") from error


def _check_plain(args: argparse.Namespace, mechanism: Any) -> None:
    """Refuse what is missing, and the options of learners; how the function can be called the audit itself checks."""
    if not callable(mechanism):
        raise InputError(f"{args.id} must be a function (data, rng) -> output, got {mechanism!r:.100}")
    if args.pairs is None:
        raise InputError(f"--pairs MODULE:PAIRS must be given: {args.id} is no learner whose samples could be crafted")
    if args.n is not None:
        raise InputError(f"--n is for learners, whose samples are crafted; {args.id} gets the pairs given")
