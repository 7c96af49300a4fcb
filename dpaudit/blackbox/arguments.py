"""From the arguments of an audit to what they mean: the claim, the pairs and the bound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpaudit.bounds.base import Bound
from dpaudit.bounds.names import get_bound
from dpaudit.contract import Learner, Pair, PrivacyClaim, Relation
from dpaudit.errors import InputError
from dpaudit.neighbours.check import check_pairs, check_samples
from dpaudit.neighbours.crafted import crafted_pairs

__all__ = ["resolve_bound", "resolve_claim", "resolve_pairs"]


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


def resolve_pairs(
    source: Any, pairs: Sequence[Any] | None, n: int | None, claim: PrivacyClaim, known: Relation | None
) -> tuple[Pair, ...]:
    """Return the pairs to audit, crafted where none are given, checked against the relation that is known."""
    if pairs is None:
        if not isinstance(source, Learner):
            raise InputError(
                "{pairs} must be given: only a learner's neighbouring samples can be crafted", names=("pairs",)
            )
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
