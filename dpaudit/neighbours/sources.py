"""Pairs that are named by a text, as "patterns:8" or "random:50", or that stand in a file or a module."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpaudit.arguments import read_integer
from dpaudit.contract import Learner, Origin, OriginKind, Pair, Relation
from dpaudit.errors import InputError
from dpaudit.neighbours.crafted import crafted_pairs
from dpaudit.neighbours.random_samples import random_pairs
from dpaudit.neighbours.strategies import is_strategy, pairs_from_strategy
from dpaudit.places import Place

# Sixteen vectors of so many numbers take 128 MB.
MOST_QUERIES = 1_000_000
# The name of the pairs in the module of a mechanism.
PAIRS = "PAIRS"
PATTERNS = "patterns"
RANDOM = "random"
CRAFTED = "crafted"
# How many numbers follow each of these words.
_NUMBERS = {PATTERNS: (1,), RANDOM: (1, 2), CRAFTED: (0, 1)}


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
    shifts: dict[str, tuple[np.ndarray, np.ndarray]] = {"one above": (none, one), "one below": (none, -one)}
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
    """Return whether a text is patterns:DIMENSION, random:COUNT, random:COUNT:N, crafted or crafted:N.

    No MODULE:NAME is one, since no name is a number.
    """
    word, *numbers = text.split(":")
    if not all(number.isascii() and number.isdigit() for number in numbers):
        return False
    return len(numbers) in _NUMBERS.get(word, ())


def is_crafted(text: str | None) -> bool:
    """Return whether a text stands for crafted samples, as does none."""
    return text is None or (is_source(text) and text.split(":")[0] == CRAFTED)


def examples_of(source: str | None) -> int | None:
    """Return how many examples samples of a source have; None if it does not say so."""
    word, *numbers = (source or CRAFTED).split(":")
    if len(numbers) < max(_NUMBERS.get(word, (1,))):
        return None
    return int(numbers[-1])


def without_examples(source: str | None) -> str | None:
    """Return a source without the number of examples; None for crafted samples."""
    if is_crafted(source) or source is None:
        return None
    return ":".join(source.split(":")[:2])


def with_examples(source: str | None, n: int | None) -> str:
    """Return the text of pairs of samples of n examples; `source` is as for `is_source`, or None."""
    source = source or CRAFTED
    word, *numbers = source.split(":")
    if n is None or len(numbers) == max(_NUMBERS.get(word, (0,))):
        return source
    return f"{source}:{n}"


def pairs_of_source(text: str, mechanism: Any, *, relation: Relation | str | None = None, seed: int = 0) -> list[Pair]:
    """Return the pairs that a text names.

    "patterns:DIMENSION" are the patterns of `query_patterns`, for a mechanism that answers queries. For a learner
    "crafted:N" are `crafted_pairs` over its domain, and "random:COUNT:N" `random_pairs`. The number N of examples may
    be left out, and is then that of the learner's instance; the relation is that of its claim by default. `InputError`
    is raised if the text names no source, one that does not fit the mechanism, or a number below 1.
    """
    if not is_source(text):
        raise InputError.of("pairs", text, "a list of (data, neighbour), patterns:DIMENSION, crafted:N or random:COUNT")
    word, *numbers = text.split(":")
    if isinstance(mechanism, Learner) == (word == PATTERNS):
        message = "{pairs} {given} are drawn over a learner's domain; the mechanism given is no learner"
        if word == PATTERNS:
            message = "{pairs} {given} are vectors of query answers; a learner takes samples, as of random:COUNT"
        raise InputError(message, names=("pairs",), value=text, given=text)
    if word == PATTERNS:
        return query_patterns(int(numbers[0]))
    if relation is None:
        relation = mechanism.privacy.relation if mechanism.privacy else Relation.REPLACE_ONE
    relation = Relation.parse(relation)
    n = mechanism.instance.n
    if word == CRAFTED:
        if numbers:
            n = int(numbers[0])
        return crafted_pairs(mechanism.domain, n, relation)
    if len(numbers) == 2:
        n = int(numbers[1])
    return random_pairs(mechanism.domain, n, relation, count=int(numbers[0]), seed=seed)


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
