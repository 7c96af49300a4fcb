"""Former ids of statements: where what they said stands today, or why it stands nowhere."""

from __future__ import annotations

MOVED_STATEMENTS: dict[str, str] = {
    "NIS-Generic-LargeEpsilon": "O(.) is read for epsilon <= 1; see NIS-Generic",
}
"""Former id -> its new place."""
