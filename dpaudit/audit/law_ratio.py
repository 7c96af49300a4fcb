"""Compute the log-likelihood ratio of a pair by the learner's own law, which orders events and decides nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

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
    p, q = (np.maximum(side.log_prob, NEVER) for side in laws)
    if laws[0].atoms == laws[1].atoms:
        return dict(zip(laws[0].atoms, (p - q).tolist(), strict=True))
    first, second = (dict(zip(law.atoms, side.tolist(), strict=True)) for law, side in zip(laws, (p, q), strict=True))
    return {atom: first.get(atom, NEVER) - second.get(atom, NEVER) for atom in {*first, *second}}
