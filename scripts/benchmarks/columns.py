"""Lines of tables and whole numbers, for scripts that measure."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

__all__ = ["line", "positive"]


def line(cells: Sequence[str], widths: Sequence[int], left: int = 2) -> str:
    """Return cells in columns of some widths, the first `left` of them from the left and the others to the right."""
    padded = [cell.ljust(width) for cell, width in zip(cells[:left], widths[:left], strict=True)]
    padded += [cell.rjust(width) for cell, width in zip(cells[left:], widths[left:], strict=True)]
    return "".join(padded).rstrip()


def positive(text: str, least: int = 1) -> int:
    """Return the number that an option gives, if it is at least 1, or another one."""
    value = int(text)
    if value < least:
        raise argparse.ArgumentTypeError(f"must be at least {least}, got {value}")
    return value
