"""The statements on interior points and thresholds: verdicts and the numbers that decide."""

from __future__ import annotations

import math

import pytest
from ledger_rows import ledger_row

from dpaudit.contract import Statement
from dpaudit_learners.papers.ste_boxes import STATEMENTS

IDS = ("OURS-IPP", "OURS-Thr", "OURS-TreeLog")


@pytest.mark.parametrize("statement", [one for one in STATEMENTS if one.id in IDS], ids=lambda statement: statement.id)
def test_statements_hold_with_the_numbers_that_decide(statement: Statement) -> None:
    row = ledger_row(statement.id)
    assert (row.verdict, row.grade, row.witness) == ("holds", "exact", "")
    numbers = row.numbers
    if statement.id == "OURS-IPP":
        assert numbers["n"] == math.ceil(4 * math.log(25))
        # Seven and six examples on two neighbours: the weights of the two against those of three points with score 0.
        inside = math.exp(7 / 2) / (math.exp(7 / 2) + math.exp(6 / 2) + 3) + math.exp(6 / 2) / (
            math.exp(7 / 2) + math.exp(6 / 2) + 3
        )
        assert numbers["failure"] == pytest.approx(1 - inside, rel=1e-9)
        assert numbers["failure with 4"] == pytest.approx(3 / (3 + 2 * math.e), rel=1e-9)
    elif statement.id == "OURS-Thr":
        assert 2 < numbers["epsilon"] <= 4
        assert 0 < numbers["failure"] <= 0.5
    else:
        assert numbers["delta"] <= 0.01
        assert numbers["failure"] <= 0.1
