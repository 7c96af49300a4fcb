"""The rows that are held out: see the package above."""

from __future__ import annotations

from power_mechanisms.held_out import arrays, numbers, structures, text
from power_mechanisms.row import Row

__all__ = ["ROWS"]

ROWS: tuple[Row, ...] = numbers.ROWS + arrays.ROWS + text.ROWS + structures.ROWS
