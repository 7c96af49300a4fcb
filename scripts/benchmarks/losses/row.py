"""A row of the page."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Row"]


@dataclass
class Row:
    """A line of the table: what was done how often, and in how many cases something was lost."""

    what: str
    made: int
    lost: int
    told: str
    notes: list[str] = field(default_factory=list)
