"""Measurements of what kills, faults, corruptions and limits do to runs, by subject: `scripts/bench.py reliability`."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.losses.claims import boundary
from benchmarks.losses.corruptions import corruptions
from benchmarks.losses.faults import faults
from benchmarks.losses.kills import kills
from benchmarks.losses.limits import day, mechanisms, memory
from benchmarks.losses.row import Row

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
