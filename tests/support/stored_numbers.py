"""The numbers of stored records, compared but for what may be worded otherwise and for last digits."""

from __future__ import annotations

import math
from typing import Any

__all__ = ["numbers_of", "same"]

WORDS = {
    "caption", "checks", "compared", "decoded", "differs", "digest", "epsilon_at_claim", "error_type", "event", "fault",
    "index", "label", "log_evidence", "plain", "source", "versions", "worst_code", "worst_output",
}  # fmt: skip
"""Fields that hold words, the place in a file, the versions of libraries, or what these runs did not look at yet."""


def numbers_of(told: Any) -> Any:
    """Return a record as data, without the fields that may be worded otherwise."""
    if isinstance(told, dict):
        return {name: numbers_of(value) for name, value in told.items() if name not in WORDS}
    return [numbers_of(value) for value in told] if isinstance(told, list) else told


def same(before: Any, today: Any) -> bool:
    """Say whether two pieces of data are equal, floats but for the last digits, which depend on the libraries."""
    if isinstance(before, dict) and isinstance(today, dict):
        return before.keys() == today.keys() and all(same(value, today[name]) for name, value in before.items())
    if isinstance(before, list) and isinstance(today, list):
        return len(before) == len(today) and all(map(same, before, today))
    if isinstance(before, float) and isinstance(today, int | float):
        return math.isclose(before, today, rel_tol=1e-12, abs_tol=1e-15)
    return type(before) is type(today) and before == today
