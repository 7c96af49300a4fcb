"""Pairs named by a word, as the command line and stored tasks give them: "patterns:8", "random:50"."""

from __future__ import annotations

from typing import Any

from dpaudit.contract import Learner, Pair, Relation
from dpaudit.errors import InputError
from dpaudit.neighbours.patterns import query_patterns
from dpaudit.neighbours.sampled import random_pairs

__all__ = ["is_source", "pairs_of_source"]

PATTERNS, RANDOM = "patterns", "random"


def is_source(text: str) -> bool:
    """Say whether a text is patterns:DIMENSION or random:COUNT; no MODULE:NAME is, since no name is a number."""
    word, _, number = text.partition(":")
    return word in (PATTERNS, RANDOM) and number.isascii() and number.isdigit()


def pairs_of_source(
    text: str, mechanism: Any, *, n: int | None = None, relation: Relation | str | None = None, seed: int = 0
) -> list[Pair]:
    """Return the pairs that a text names.

    Parameters
    ----------
    text : str
        "patterns:DIMENSION": the eight patterns of `query_patterns`, for a mechanism that answers queries;
        "random:COUNT": `random_pairs` over a learner's domain.
    mechanism : Learner or callable
        The mechanism that is audited.
    n : int, optional
        Examples in a random sample; those of the learner's instance by default.
    relation : Relation or str, optional
        The relation of neighbours; that of the learner's claim by default.
    seed : int
        The root seed.

    Raises
    ------
    InputError
        If the text names no source, one that does not fit the mechanism, or a number below 1.
    """
    if not is_source(text):
        raise InputError.of("pairs", text, "patterns:DIMENSION or random:COUNT")
    word, _, number = text.partition(":")
    if word == PATTERNS:
        if isinstance(mechanism, Learner):
            told = "{pairs} {given} are vectors of query answers; a learner takes samples, as of random:COUNT"
            raise InputError(told, names=("pairs",), value=text, given=text)
        return query_patterns(int(number))
    if not isinstance(mechanism, Learner):
        told = "{pairs} {given} are drawn over a learner's domain; the mechanism given is no learner"
        raise InputError(told, names=("pairs",), value=text, given=text)
    claim = mechanism.privacy
    kin = relation if relation is not None else (claim.relation if claim else Relation.REPLACE_ONE)
    return random_pairs(
        mechanism.domain, mechanism.instance.n if n is None else n, Relation.parse(kin), count=int(number), seed=seed
    )
