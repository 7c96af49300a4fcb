"""Run times that have nothing to do with the data, on machines that drift and stall, refute no claim."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from fake_clock import FakeClock
from two_stages import TwoStages

import dpaudit

CONFIDENCE = 0.9
ACCUSED = TwoStages(40, 7, first=12, few=1)
"""Times have half of the error: with 40 audits at 0.05 each, more are accused with probability 0.001; an error of 0.4
would be seen with 0.97."""


def slowing(calls: int, noise: np.random.Generator) -> float:
    """Return the time of a run on a machine that becomes slower, and runs other programs now and then."""
    return 1_000 + calls / 4 + 20 * noise.standard_cauchy() ** 2


def stalling(calls: int, noise: np.random.Generator) -> float:
    """Return the time of a run on a machine that is busy half of the time, for long."""
    return 1_000 + 500 * (calls // 70 % 2) + noise.exponential(10)


@pytest.mark.parametrize(
    ("law", "delta", "sequential"),
    [
        (stalling, 0.0, False),
        *(
            pytest.param(*case, marks=pytest.mark.full)
            for case in [(slowing, 0.0, False), (slowing, 0.01, False), (stalling, 0.01, False), (stalling, 0.0, True)]
        ),
    ],
)
def test_a_machine_that_drifts_accuses_no_mechanism(
    monkeypatch: pytest.MonkeyPatch,
    law: Callable[[int, np.random.Generator], float],
    delta: float,
    sequential: bool,
) -> None:
    clock = FakeClock(monkeypatch)

    def accused(seed: int) -> bool:
        noise, calls = np.random.default_rng([seed, 7]), [0]

        def run(data: int, rng: np.random.Generator) -> int:
            calls[0] += 1
            clock.pass_(law(calls[0], noise))
            return 0

        found = dpaudit.audit_privacy(
            run,
            [(0, 1)],
            epsilon=0.01,
            delta=delta,
            trials=300,
            confidence=CONFIDENCE,
            seed=seed,
            execution=dpaudit.Execution(sequential=sequential),
            look=dpaudit.Look(time=True),
        )
        return bool(found.run_time.epsilon_lower > 0.01)

    assert ACCUSED.failing(0.4) > 0.97
    assert ACCUSED.failing(0.05) < 0.001
    ACCUSED.hold(lambda seeds: list(map(accused, seeds)), range(ACCUSED.number))
