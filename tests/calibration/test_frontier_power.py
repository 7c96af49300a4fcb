"""An audit keeps what the frontier promises of a given event, where there is hardly anything to choose from."""

from __future__ import annotations

import math

import numpy as np
import pytest
from two_stages import TwoStages

import dpaudit

MISSES = TwoStages(36, 10, first=14, few=1)


@pytest.mark.parametrize("mass", [0.1, 0.01, 0.001])
def test_a_leak_on_the_frontier_of_a_binary_output_is_detected(mass: float) -> None:
    # Promised with probability 0.95 for the event given, and the audit must find it among two; more than 10 of 36
    # misses have probability 1e-6 then. A power of 0.5 would be seen with 0.993.
    assert MISSES.failing(0.05) < 1e-6
    assert MISSES.failing(0.5) > 0.993

    def response(epsilon: float) -> object:
        likelier = math.exp(epsilon) * mass
        return lambda data, rng, size: (rng.random(size) < (likelier if data else mass)).astype(np.int64)

    def audit(epsilon: float, seed: int) -> dpaudit.PrivacyFinding:
        return dpaudit.audit_privacy(
            response(epsilon), [(1, 0)], epsilon=0.5, trials=20_000, batched=True, seed=seed, confidence=0.95
        )

    least = dict(audit(0.0, 0).frontier)[mass]
    MISSES.hold(lambda seeds: [audit(least, seed).verdict != "violation" for seed in seeds], range(MISSES.number))
