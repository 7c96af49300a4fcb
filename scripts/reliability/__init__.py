"""Measurements of what kills, faults, corruptions and limits do to runs, by subject: `scripts/bench_reliability.py`."""

from __future__ import annotations

from collections.abc import Callable

from reliability.claims import boundary
from reliability.corruptions import corruptions
from reliability.faults import faults
from reliability.kills import kills
from reliability.limits import day, mechanisms, memory
from reliability.row import Row

__all__ = ["PARTS", "Row"]

PARTS: dict[str, tuple[Callable[[int], Row], int]] = {
    "kills": (kills, 6),
    "faults": (faults, 6),
    "corruptions": (corruptions, 200),
    "boundary": (boundary, 20),
    "memory": (memory, 5),
    "mechanisms": (mechanisms, 10),
    "clock": (lambda number: day(), 1),
}
"""The parts of the page: each with the number of its cases where no option says another."""
