"""Former ids of statements: where what they said stands today, or why it stands nowhere."""

from __future__ import annotations

MOVED_STATEMENTS: dict[str, str] = {}
"""Former id -> its new place."""
