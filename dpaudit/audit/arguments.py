"""Resolve the arguments of an audit: the claim, the pairs and the bound."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dpaudit.bounds.base import Bound
from dpaudit.bounds.names import get_bound
from dpaudit.contract import Learner, MadePair, Pair, PrivacyClaim, Relation
from dpaudit.errors import InputError
from dpaudit.neighbours.check import check_pairs, check_samples
from dpaudit.neighbours.crafted import crafted_pairs
from dpaudit.neighbours.own_data.pairs import own_data
from dpaudit.neighbours.sampled import SampleMoves

__all__ = ["Moves", "OwnDataArguments", "check_bets", "resolve_bound", "resolve_claim", "resolve_inputs", "showing"]

Moves = Callable[[Pair, int], list[Pair]]
"""Proposes variations of a pair in a step of the local search."""


@dataclass(frozen=True)
class OwnDataArguments:
    """The dataset that pairs are made of, if one is given, and what is said of it; as for `neighbours_of`."""

    data: Any = None
    bounds: Any = None
    unit: Any = None

    def check(self, source: Any, pairs: Any, n: int | None) -> None:
        """Raise `InputError` for arguments that do not go with a dataset, or not without one."""
        if self.data is None:
            for name, value in (("bounds", self.bounds), ("unit", self.unit)):
                if value is not None:
                    told = "{" + name + "} says something of {data}, which must be given too"
                    raise InputError(told, names=(name, "data"), value=value)
            return
        if isinstance(source, Learner):
            told = "{data} is for mechanisms that take it, and a learner takes samples: give {pairs} of these, or none"
            raise InputError(told, names=("data", "pairs"))
        for name, value in (("pairs", pairs), ("n", n)):
            if value is not None:
                told = "{" + name + "} must be left out where {data} is given: pairs are made of it"
                raise InputError(told, names=(name, "data"))


def resolve_claim(
    source: Any, epsilon: float | None, delta: float | None, relation: Relation | str | None
) -> PrivacyClaim:
    """Return the claim to test: what was given, completed by the learner's own."""
    own: PrivacyClaim | None = source.privacy if isinstance(source, Learner) else None
    if delta is None:
        delta = own.delta if own else 0.0
    if epsilon is None:
        if own is None:
            raise InputError("{epsilon} must be given: the mechanism makes no claim of its own", names=("epsilon",))
        epsilon = own.epsilon
    kin = Relation.parse(relation) if relation is not None else (own.relation if own else Relation.REPLACE_ONE)
    # The theorem's name stands only where the theorem's own statement is tested.
    stated = own is not None and (epsilon, delta, kin) == (own.epsilon, own.delta, own.relation)
    return PrivacyClaim(epsilon, delta, kin, own.claim_id if own and stated else "")


def resolve_inputs(
    source: Any,
    pairs: Sequence[Any] | None,
    own: OwnDataArguments,
    n: int | None,
    claim: PrivacyClaim,
    known: Relation | None,
    seed: int,
) -> tuple[tuple[Pair, ...], Moves | None]:
    """Return the pairs to audit, and what varies them where they were made here: from one's own data, or crafted."""
    own.check(source, pairs, n)
    if own.data is not None:
        made = own_data(own.data, claim.relation, bounds=own.bounds, unit=own.unit, seed=seed)
        return made.pairs, made.moves
    moves = SampleMoves(source.domain, seed) if pairs is None and isinstance(source, Learner) else None
    return _resolve_pairs(source, pairs, n, claim, known), moves


def showing(pairs: tuple[Pair, ...]) -> tuple[Pair, ...]:
    """Return pairs of which findings may show the inputs, also where these were made from data."""
    return tuple(MadePair(*pair.sides, pair.origin, True) if isinstance(pair, MadePair) else pair for pair in pairs)


def _resolve_pairs(
    source: Any, pairs: Sequence[Any] | None, n: int | None, claim: PrivacyClaim, known: Relation | None
) -> tuple[Pair, ...]:
    """Return the pairs to audit, crafted where none are given, checked against the relation that is known."""
    if pairs is None:
        if not isinstance(source, Learner):
            told = "{pairs} must be given, or {data} to make them of: only a learner's neighbouring samples are crafted"
            raise InputError(told, names=("pairs", "data"))
        pairs = crafted_pairs(source.domain, source.instance.n if n is None else n, claim.relation)
    elif n is not None:
        raise InputError(
            "{n} must be left out where {pairs} are given: it is the size of crafted samples; got {value_}",
            names=("n", "pairs"),
            value=n,
            value_=repr(n),
        )
    checked = check_pairs(pairs, known)
    if isinstance(source, Learner):
        check_samples(checked)
    return tuple(checked)


def check_bets(sequential: bool, curve: bool, strict: bool, bound: str | None) -> None:
    """Raise `InputError` for what bets have no use for, where an audit bets."""
    if sequential and (curve or strict or bound is not None):
        raise InputError(
            "{sequential:=True} bets instead of testing one event, so it takes neither {curve}, {strict} nor {bound}",
            names=("sequential", "curve", "strict", "bound"),
        )


def resolve_bound(strict: bool, name: str | None) -> Bound:
    """Return the bound by name; `strict` means the unconditional one, and nothing given the melded one."""
    if strict and name not in (None, "unconditional"):
        raise InputError(
            "{strict:=True} means the {bound} 'unconditional', and {bound} is {value_}: leave one of them out",
            names=("bound", "strict"),
            value=name,
            value_=repr(name),
        )
    return get_bound(name or ("unconditional" if strict else "melded"))
