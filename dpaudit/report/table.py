"""The colours of a terminal, and the width of what is shown whole."""

from __future__ import annotations

__all__ = ["BOLD", "RED", "STYLES", "WIDTH", "painted"]

WIDTH = 120
STYLES = {"bad": "bold red", "none": "bold"}
"""Tone of a verdict -> the style of its row, in rich's words; none where it needs no look."""
RED, BOLD = "\x1b[1;31m", "\x1b[1m"

_END = "\x1b[0m"


def painted(text: str, tone: str) -> str:
    """Return text in a tone."""
    return f"{tone}{text}{_END}" if tone else text
