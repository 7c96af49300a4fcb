"""Refuses learners that break the contract, and makes the samples on which they are checked."""

from __future__ import annotations

from typing import Any

from dpaudit.arguments import lacking
from dpaudit.contract import Learner, Relation
from dpaudit.neighbours.crafted import crafted_pairs

__all__ = ["NonConforming", "check_parts", "require", "samples_of"]

SAMPLES = 6


class NonConforming(AssertionError):
    """A learner breaks the contract."""


def require(condition: bool, learner: Any, message: str) -> None:
    """Raise `NonConforming` with the learner's name unless a condition holds."""
    if not condition:
        kind = learner if isinstance(learner, type) else type(learner)
        raise NonConforming(f"{kind.__name__}: {message}")


def check_parts(learner: Learner | type[Any]) -> None:
    """Check that a learner, or a class of learners, has every part that the contract requires."""
    missing = lacking(learner)
    require(not missing, learner, f"a learner must have {', '.join(missing)}; see contract.Learner")


def samples_of(learner: Learner) -> list[Any]:
    """Return a few samples of the learner's instance: realizable, conflicting, and the empty one."""
    pairs = crafted_pairs(learner.domain, learner.instance.n, Relation.REPLACE_ONE, limit=None)
    step = max(1, len(pairs) // SAMPLES)
    return [*(pair.data for pair in pairs[::step][:SAMPLES]), learner.domain.empty_sample()]
