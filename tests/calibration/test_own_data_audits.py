"""Correct mechanisms are accused no more often than the confidence allows, on pairs made from data and varied."""

from __future__ import annotations

import pytest
from rare_leaks import LEAKS
from scipy.stats import binom

import dpaudit

CONFIDENCE, SEEDS, RUNS = 0.9, 20, 60


@pytest.mark.full
@pytest.mark.parametrize("name", LEAKS)
def test_correct_mechanisms_are_seldom_accused(name: str) -> None:
    leak = LEAKS[name]
    options = {"data": leak.data, "epsilon": 1.0, "trials": RUNS, "confidence": CONFIDENCE, **leak.options}
    verdicts = [dpaudit.audit_privacy(leak.correct, seed=seed, **options).verdict for seed in range(SEEDS)]
    assert binom.sf(verdicts.count("violation") - 1, SEEDS, 1 - CONFIDENCE) > 1e-4
