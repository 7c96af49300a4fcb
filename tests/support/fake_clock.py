"""A clock of run times that stands still but for what mechanisms and tests add to it."""

from __future__ import annotations

import pytest

from dpaudit.running import adapters


class FakeClock:
    """The nanoseconds that have passed; `pass_` lets some more pass."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0
        monkeypatch.setattr(adapters, "perf_counter_ns", lambda: self.now)

    def pass_(self, nanoseconds: float) -> None:
        """Let time pass."""
        self.now += int(nanoseconds)
