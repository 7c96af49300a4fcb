"""Cases of a test that are in the quick profile: of those that take the same way through the code, some."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def by_turns(cases: Iterable[Any], every: int = 2) -> list[Any]:
    """Return all cases, of which the first of each `every` is in the quick profile and the others are in the full one.

    Cases are values, tuples of values or, with marks and an id of their own, `pytest.param`.
    """
    found = []
    for i, case in enumerate(cases):
        own = case if hasattr(case, "marks") else pytest.param(*case) if isinstance(case, tuple) else pytest.param(case)
        marks = [*own.marks, *([pytest.mark.full] if i % every else [])]
        found.append(pytest.param(*own.values, id=own.id, marks=marks))
    return found
