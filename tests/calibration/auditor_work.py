"""The pieces of work of a calibration, which worker processes import."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from auditor_trials import Trial, skip_power

import dpaudit
from dpaudit.registry import list_learners

__all__ = ["CONTROLS", "audit_learner", "judge"]

CONTROLS = {"trials": 100_000, "confidence": 0.999}
"""The budget on which learners are audited, broken ones and sound ones: small, for leaks that are planted are large."""


def judge(trial: Trial, seeds: Sequence[int]) -> tuple[int, float]:
    """Return how many audits of a block accuse, and the processor seconds that they took here."""
    skip_power()
    start = time.process_time()
    return sum(trial.accused(seeds)), time.process_time() - start


def audit_learner(id: str) -> tuple[str, dict[str, Any]]:
    """Return what the black box finds about a learner's example."""
    skip_power()
    entry = next(entry for entry in list_learners() if entry.id == id)
    finding = dpaudit.audit_privacy(entry.build(**entry.instance.parameters), **CONTROLS)
    convicted, claim = finding.verdict == "violation", finding.epsilon
    return id, {"fault": entry.fault, "convicted": convicted, "lower": finding.epsilon_lower, "claim": claim}
