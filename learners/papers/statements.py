"""A check becomes a statement of a paper by a decorator, so that both stand together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpaudit.contract import Evidence, Statement

__all__ = ["states"]

Check = Callable[[Any], Evidence]


def states(
    id: str,
    statement: str,
    source: str,
    *,
    short: str,
    printed: str,
    found: str = "",
    best: str = "",
    slow: bool = False,
) -> Callable[[Check], Statement]:
    """Return the decorator that makes a check the statement of that id, in its words and with its place in a paper."""
    return lambda check: Statement(id, statement, source, check, short, printed, found, slow, best)
