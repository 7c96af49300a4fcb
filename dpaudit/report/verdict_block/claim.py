"""The claim of privacy that an audit tested, in a line."""

from __future__ import annotations

from dpaudit.contract import Relation
from dpaudit.engine.records import Result
from dpaudit.registry.import_spec import is_place
from dpaudit.report.numbers import value_text

__all__ = ["tested_claim"]


def tested_claim(result: Result, epsilon: float, delta: float, relation: Relation | None) -> str:
    """Return the claim that was tested; with its source if it is the learner's own."""
    own = result.claim
    tested = f"epsilon = {value_text(epsilon)}, delta = {value_text(delta)}, {relation or 'neighbours as given'}"
    if own is None and is_place(result.learner):
        return tested
    if own is None or (own.epsilon, own.delta, own.relation) != (epsilon, delta, relation):
        return f"{tested} (not the learner's own)"
    known = [text for text in (own.claim_id, own.source) if text]
    return f"{tested} ({'; '.join(known)})" if known else tested
