"""The log-likelihood ratio of a pair by the learner's own law: it orders events, and decides nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpaudit.contract import HasLaw, Pair
from dpaudit.errors import InputError

__all__ = ["law_ratio"]

NEVER = -745.0
"""The log-probability of what a law excludes: that of the least positive float."""


def law_ratio(source: Any, pair: Pair) -> Mapping[Any, float] | None:
    """Return ln(Pr[output | data] / Pr[output | neighbour]) by output; None where the law is out of reach."""
    if not isinstance(source, HasLaw):
        return None
    try:
        laws = source.law(pair.data), source.law(pair.neighbour)
    except InputError:  # the law is out of reach at this size; sampling is not
        return None
    first, second = (dict(zip(side.atoms, side.log_prob.tolist(), strict=True)) for side in laws)
    return {
        atom: max(first.get(atom, NEVER), NEVER) - max(second.get(atom, NEVER), NEVER) for atom in {*first, *second}
    }
