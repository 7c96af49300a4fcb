"""Former ids of statements: where what they said stands today, or why it stands nowhere."""

from __future__ import annotations

MOVED_STATEMENTS: dict[str, str] = {
    "BMN-Thm4.10-law-alpha": "a grid of eight points is a finite class; see BMN-Thm4.10",
    "BMN-Thm4.9-law-alpha": "a grid of eight points is a finite class; see OURS-MixtureBound",
    "BMN-Thm4.9-law-dimension": "it has a closed form for every d; see OURS-MixtureBound",
    "BMNS-Exponential": "the paper's mechanism is one selection, BMNS-Joint; see OURS-HullPoint",
    "BMNS-Sec3-loss": "the sentence is informal; BMNS-Fig1-r has the promises",
    "KMMS-Claim3.4-sketch": "the overview calls itself oversimplified, and claims no constant; see KMMS-Claim3.4",
    "NIS-Generic-LargeEpsilon": "O(.) is read for epsilon <= 1; see NIS-Generic",
    "STE-Box2-count": "the lecture leaves it as an exercise; see STE-Box2",
    "STE-BoxTight": "it is in no lecture; see OURS-BoxTight",
    "STE-IPP": "it is not in that lecture; see OURS-IPP",
    "STE-Thr": "it is not in that lecture; see OURS-Thr",
    "STE-TreeLog": "it is not in that lecture; see OURS-TreeLog",
    "STE-TreeLog-slices": "it is in no source, and tests the auditor; see OURS-TreeLog-slices",
    "Stable-select-loose": "it is in neither paper; see OURS-StableSelect",
    "Stable-select-safe": "it is in neither paper; see OURS-StableSelect",
    "Stable-select-wrong": "it is in neither paper, and tests the auditor; see OURS-StableSelect-wrong",
}
"""Former id -> its new place."""
