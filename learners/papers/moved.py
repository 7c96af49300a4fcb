"""Former ids of statements: where what they said stands today, or why it stands nowhere."""

from __future__ import annotations

MOVED_STATEMENTS: dict[str, str] = {
    "KMMS-Claim3.4-sketch": "the overview calls itself oversimplified, and claims no constant; see KMMS-Claim3.4",
    "NIS-Generic-LargeEpsilon": "O(.) is read for epsilon <= 1; see NIS-Generic",
    "STE-Box2-count": "the lecture leaves it as an exercise; see STE-Box2",
    "STE-BoxTight": "it is in no lecture; see OURS-BoxTight",
    "STE-IPP": "it is not in that lecture; see OURS-IPP",
    "STE-Thr": "it is not in that lecture; see OURS-Thr",
    "STE-TreeLog": "it is not in that lecture; see OURS-TreeLog",
    "STE-TreeLog-slices": "it is in no source, and tests the auditor; see OURS-TreeLog-slices",
}
"""Former id -> its new place."""
