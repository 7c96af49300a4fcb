"""Statements on the Set Cover Learner for literals, and the picture of its calibration."""

from __future__ import annotations

import math

import pytest
from ledger_rows import ledger_row, rows_in_quick

from dpaudit_learners.covers.accounting import (
    calibration_picture,
    cost_of_share,
    game_curve,
    game_delta,
    noiseless_share,
)
from dpaudit_learners.papers import kmms_covers

VERDICTS = {
    "KMMS-Thm3.5": "edge case",
    "KMMS-Claim3.4-loss": "loose",
    "KMMS-Claim3.4-pure": "holds",
    "KMMS-Ex3.3-pure": "holds",
    "KMMS-Claim3.4": "loose",
    "KMMS-Step1d": "holds",
    "KMMS-Claim3.1-score": "holds",
    "KMMS-Claim3.1-noise": "holds",
    "KMMS-Thm1.3": "derived",
}


@pytest.mark.parametrize("id", rows_in_quick(statement.id for statement in kmms_covers.STATEMENTS))
def test_verdicts(id: str) -> None:
    row = ledger_row(id)
    assert row.verdict == VERDICTS[id]
    assert all(math.isfinite(value) for value in row.numbers.values())


def test_the_cost_of_a_share_is_the_one_for_which_it_is_allowed() -> None:
    # At k = 20 composition allows less.
    cost = cost_of_share(20, 120, 0.03, 1e-6)
    assert noiseless_share(20, 120, cost, 1e-6) == pytest.approx(0.03, rel=1e-8)
    assert cost_of_share(1, 6, 1.4, 1e-6) == math.inf


def test_a_curve_holds_the_games_deltas() -> None:
    epsilons, deltas = game_curve(1, 3, 0.1, reach=0.5)
    assert epsilons[0] >= 0
    assert (deltas[:-1] >= deltas[1:] - 1e-15).all()
    at = len(epsilons) // 2
    # Another grid: the game's own bound on the interpolation error is below a percent here.
    assert game_delta(1, 3, 0.1, float(epsilons[at])) == pytest.approx(float(deltas[at]), rel=0.02)


def test_the_picture_of_a_calibration() -> None:
    (panel,) = calibration_picture(1, 2, 0.8, 1e-3).panels
    printed, found, claim = panel.shapes
    assert claim.points == ((0.8, -3.0),)
    assert "0.0506" in printed.label  # 0.8 / (2 ln(e / 0.001))
    # The calibrated curve passes just below the claim, the printed one far below.
    below = [y for x, y in found.points if x >= 0.8]
    assert -3.6 < below[0] <= -3.0
    assert max((y for x, y in printed.points if x >= 0.8), default=-9) < -3.6
