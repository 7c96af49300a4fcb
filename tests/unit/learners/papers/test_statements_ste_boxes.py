"""The statements on boxes, RecConcave and stable selection: verdicts and the numbers that decide."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from ledger_rows import ledger_row

from dpaudit.contract import Statement
from dpaudit_learners.mechanisms.rec_concave import RecConcave
from dpaudit_learners.papers import bmns_rec_concave, ste_boxes

STATEMENTS = [one for one in ste_boxes.STATEMENTS + bmns_rec_concave.STATEMENTS if not one.slow]
VERDICTS = {
    "STE-Box2-signs": "misprint",
    "STE-Box2": "holds",
    "STE-Boxd": "derived",
    "STE-ExpRec": "false",
    "STE-Box-privacy": "holds",
    "STE-Box2-size": "holds",
    "STE-Box2-m": "derived",
    "OURS-BoxTight": "holds",
    "OURS-IPP": "holds",
    "OURS-Thr": "holds",
    "OURS-TreeLog": "holds",
    "OURS-TreeLog-slices": "false",
    "BMNS-Prop2.11": "loose",
    "BMNS-Sec4-base": "misprint",
    "OURS-StableSelect": "holds",
    "OURS-StableSelect-wrong": "false",
}


def test_every_statement_has_its_verdict_here() -> None:
    assert [statement.id for statement in STATEMENTS] == list(VERDICTS)


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda statement: statement.id)
def test_verdicts(statement: Statement) -> None:
    row = ledger_row(statement.id)
    assert row.verdict == VERDICTS[statement.id], row.summary
    numbers = row.numbers
    if statement.id == "STE-Box2-signs":
        assert numbers["Pr[more than 4 (m - 1) wrong]"] <= 0.1
    elif statement.id == "STE-ExpRec":
        # The box of the point, those of it and one neighbour (score 28), of neither (14 or 28), by brute force.
        weights = {score: math.exp(score / 2) for score in (14, 28, 42)}
        scores = [28] + [
            14 * (3 - sum((a <= x <= b) != y for x, y in ((49, 0), (50, 1), (51, 0))))
            for a in range(100) for b in range(a, 100)
        ]  # fmt: skip
        below = sum(weights.get(score, 1.0) for score in scores if score < 42)
        assert numbers["below, any base"] == pytest.approx(below / (below + weights[42]))
        assert numbers["below OPT - (2/epsilon) ln(|C|/beta)"] <= 0.1
    elif statement.id == "OURS-BoxTight":
        # The box holds both points and one of them is not drawn.
        assert numbers["failure"] == pytest.approx(numbers["(1 - alpha)^n"] + 0.301 ** numbers["n"], rel=1e-9)
    elif statement.id == "BMNS-Prop2.11":
        assert numbers["printed, 2^64"] > 5000 * numbers["RecConcave, 2^64"]
        assert numbers["RecConcave, 2^64"] > 50 * numbers["exponential, 2^64"]
    elif statement.id == "OURS-StableSelect-wrong":
        assert numbers["epsilon"] == pytest.approx(2, abs=1e-9)
        assert numbers["inside RecConcave"] < 4


@pytest.mark.parametrize(("delta", "beta", "expected"), [(1e-6, 0.1, 4231), (1e-9, 1e-3, 7201)])
def test_the_crossover_lies_where_both_need_the_same(delta: float, beta: float, expected: int) -> None:
    found = bmns_rec_concave.crossover(1.0, delta, beta)
    assert found == pytest.approx(expected, abs=1)
    for k, wins in ((found - 1, False), (found, True), (64, False), (2 * found, True)):
        concave = RecConcave.within(2**k - 1, Fraction(1), Fraction(1, 2), 1.0, delta).promise_needed(beta)
        assert (concave < 4 * (k * math.log(2) - math.log(beta))) is wins
