"""Pairs that are named by a text, as "patterns:8" or "random:50", or that stand in a file or a module."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpaudit.arguments import read_integer
from dpaudit.bounds.base import Array
from dpaudit.contract import Learner, Origin, OriginKind, Pair, Relation
from dpaudit.errors import InputError
from dpaudit.neighbours.random_samples import random_pairs
from dpaudit.neighbours.strategies import is_strategy, pairs_from_strategy
from dpaudit.registry.import_spec import Place

MOST_QUERIES = 1_000_000
"""Sixteen vectors of so many numbers take 128 MB."""
PAIRS = "PAIRS"
"""The name of the pairs in the module of a mechanism."""
PATTERNS = "patterns"
RANDOM = "random"


def query_patterns(dimension: int, *, every: bool = True, level: float = 1.0) -> list[Pair]:
    """Return pairs of vectors of query answers that differ by at most 1 in each coordinate.

    Parameters
    ----------
    dimension : int
        The number of queries, at most 1,000,000.
    every : bool
        Whether one record may change every answer (eight patterns), or one answer only (two patterns).
    level : float
        The common answer on the first vector; answers go up and down by 1 from there.

    Returns
    -------
    list of Pair
        One above, one below; and, if `every`, also one above and the rest below, one below and the rest above, half up
        and half down, all above, all below, and crossed halves. Both directions of a pair are audited in any case.
    """
    dimension = read_integer("dimension", dimension, most=MOST_QUERIES)
    base = np.full(dimension, float(level))
    places = np.arange(dimension)
    none = np.zeros(dimension)
    ones = np.ones(dimension)
    one = (places < 1) * ones
    front = (places < dimension // 2) * ones
    shifts: dict[str, tuple[Array, Array]] = {"one above": (none, one), "one below": (none, -one)}
    if every:
        shifts |= {
            "one above, rest below": (none, 2 * one - ones),
            "one below, rest above": (none, ones - 2 * one),
            "half above, half below": (none, 2 * front - ones),
            "all above": (none, ones),
            "all below": (none, -ones),
            "crossed halves": (front - ones, -front),
        }
    pairs = [Pair(base + a, base + b, Origin(OriginKind.PATTERN, name)) for name, (a, b) in shifts.items()]
    return [pair for pair in pairs if (pair.data != pair.neighbour).any()]


def is_source(text: str) -> bool:
    """Return whether a text is patterns:DIMENSION or random:COUNT; no MODULE:NAME is, since no name is a number."""
    word, _, number = text.partition(":")
    return word in (PATTERNS, RANDOM) and number.isascii() and number.isdigit()


def pairs_of_source(
    text: str, mechanism: Any, *, n: int | None = None, relation: Relation | str | None = None, seed: int = 0
) -> list[Pair]:
    """Return the pairs that a text names.

    "patterns:DIMENSION" are the patterns of `query_patterns`, for a mechanism that answers queries; "random:COUNT" are
    `random_pairs` over a learner's domain, with the sizes of its instance and the relation of its claim by default.
    `InputError` is raised if the text names no source, one that does not fit the mechanism, or a number below 1.
    """
    if not is_source(text):
        raise InputError.of("pairs", text, "patterns:DIMENSION or random:COUNT")
    word, _, number = text.partition(":")
    if word == PATTERNS:
        if isinstance(mechanism, Learner):
            message = "{pairs} {given} are vectors of query answers; a learner takes samples, as of random:COUNT"
            raise InputError(message, names=("pairs",), value=text, given=text)
        return query_patterns(int(number))
    if not isinstance(mechanism, Learner):
        message = "{pairs} {given} are drawn over a learner's domain; the mechanism given is no learner"
        raise InputError(message, names=("pairs",), value=text, given=text)
    if relation is None:
        relation = mechanism.privacy.relation if mechanism.privacy else Relation.REPLACE_ONE
    if n is None:
        n = mechanism.instance.n
    return random_pairs(mechanism.domain, n, relation, count=int(number), seed=seed)


def pairs_beside(place: Place, role: str) -> Place:
    """Return the place of the pairs in the module of a mechanism; `role` names them in messages.

    If there are none, `InputError` names what might be meant.
    """
    module = place.module()
    if hasattr(module, PAIRS):
        return Place(role, place.source, PAIRS)
    near = [name for name in vars(module) if name.upper().startswith("PAIR")]
    hint = ""
    if near:
        hint = f" (did you mean {role} {place.source}:{near[0]}?)"
    raise InputError(
        f"{role} must be given: {place.source} has no {PAIRS}, a list of (data, neighbour) tuples{hint}; such a list "
        f"is given as {role} FILE.py:NAME, patterns:DIMENSION makes one for answers to counting queries, and "
        "--data FILE.csv one of a dataset"
    )


def pairs_at(place: Place, seed: int = 0) -> list[Any]:
    """Return the pairs at a place: a list of (data, neighbour), what a callable returns or a strategy makes."""
    pairs = place.find()
    source = f"{place.role} {place.source}:{place.name}"
    if is_strategy(pairs):
        return list(pairs_from_strategy(pairs, seed=seed))
    if callable(pairs):
        try:
            pairs = pairs()
        except (Exception, SystemExit) as error:
            raise InputError(f"{source}() failed: {type(error).__name__}: {error}") from error
    allowed = "a list of (data, neighbour) tuples"
    if isinstance(pairs, str | bytes | dict):
        raise InputError(f"{source} must be {allowed}, got {pairs!r:.100}")
    try:
        return list(pairs)
    except TypeError:
        message = f"{source} must be {allowed} or a callable that returns one, got {pairs!r:.100}"
        raise InputError(message) from None
