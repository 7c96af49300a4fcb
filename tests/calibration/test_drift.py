"""Mechanisms whose outputs do not depend on their input, but drift from call to call, are not accused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from two_stages import TwoStages

import dpaudit
from tests.support.grouped import grouped

CONFIDENCE = 0.95
ACCUSED = TwoStages(60, 9, first=15, few=1)
"""With 60 audits at an error of 0.05 each, more are accused with probability 0.001; an error of 0.3 is seen with 0.96.
"""


def warm_up(calls: int) -> float:
    """Return the probability of a 1 in a mechanism that changes once, after some calls."""
    return 0.9 if calls < 500 else 0.2


def cycle(calls: int) -> float:
    """Return the same for one that changes to and fro, slowly."""
    return 0.5 + 0.4 * np.sin(calls / 150)


def drifting(law: Callable[[int], float], *, batched: bool) -> Callable[..., Any]:
    """Return a mechanism that ignores its input and counts its calls, or in batches the runs of all of them."""
    calls = [0]

    def one(data: Any, rng: np.random.Generator) -> int:
        calls[0] += 1
        return int(rng.random() < law(calls[0]))

    def many(data: Any, rng: np.random.Generator, size: int) -> np.ndarray:
        calls[0] += size
        return (rng.random(size) < law(calls[0])).astype(int)

    return many if batched else one


@pytest.mark.parametrize("law", [warm_up, pytest.param(cycle, marks=pytest.mark.full)])
def test_drift_is_no_leak(law: Callable[[int], float]) -> None:
    def accused(seed: int) -> bool:
        mechanism = drifting(law, batched=False)
        options: dict[str, Any] = {"epsilon": 0.01, "trials": 400, "confidence": CONFIDENCE, "seed": seed}
        return bool(dpaudit.audit_privacy(mechanism, [(0, 1)], **grouped(**options)).epsilon_lower > 0.01)

    assert ACCUSED.failing(0.3) > 0.96
    assert ACCUSED.failing(1 - CONFIDENCE) < 0.001
    ACCUSED.hold(lambda seeds: list(map(accused, seeds)), range(ACCUSED.number))


def test_a_batched_mechanism_whose_state_is_seen_is_no_violation() -> None:
    mechanism = drifting(lambda calls: 0.9 if calls < 60_000 else 0.1, batched=True)
    finding = dpaudit.audit_privacy(mechanism, [(0, 1)], epsilon=0.01, trials=50_000, batched=True)
    assert finding.verdict == "no evidence"
    assert "meaningless" in [gap.__struct_config__.tag for gap in finding.gaps]


@pytest.mark.parametrize(
    "options", [{"sequential": True}, {}, {"delta": 1e-3}, {"delta": 1e-3, "sequential": True}], ids=str
)
def test_a_leak_beside_a_state_that_shows_is_no_evidence(options: dict[str, Any]) -> None:
    """The bound may hold in any state: but the user has to take the counter out to see which of the two leaks."""
    calls = [0]

    def mechanism(bit: int, rng: np.random.Generator) -> tuple[int, int]:
        calls[0] += 1
        return calls[0] % 3, int(rng.random() < (0.9 if bit else 0.1))

    finding = dpaudit.audit_privacy(mechanism, [(0, 1)], **grouped(epsilon=0.5, trials=4_000, **options))
    assert finding.epsilon_lower > 0.5
    assert finding.verdict == "no evidence"
    assert "order" in [str(check.name) for check in finding.checks if not check.passed]

    def without(bit: int, rng: np.random.Generator) -> int:
        return mechanism(bit, rng)[1]

    assert (
        dpaudit.audit_privacy(without, [(0, 1)], **grouped(epsilon=0.5, trials=4_000, **options)).verdict == "violation"
    )


def test_of_a_batch_with_a_state_no_bound_is_judged() -> None:
    """A batch has one stream and one state; its runs are assumed to be independent, and are seen not to be."""
    calls = [0]

    def mechanism(bit: int, rng: np.random.Generator, size: int) -> np.ndarray:
        calls[0] += 1
        return (rng.random(size) < (0.9 if bit else 0.1)).astype(int) + 2 * (calls[0] % 3)

    finding = dpaudit.audit_privacy(mechanism, [(0, 1)], epsilon=0.5, trials=4_000, batched=True)
    assert (finding.verdict, finding.in_any_state) == ("no evidence", False)
