"""The statements of KMMS on intersections and Select Halfplane: verdicts."""

from __future__ import annotations

import numpy as np
import pytest
from ledger_rows import ledger_row

import dpaudit
from learners.conjunctions.concepts import Conjunctions
from learners.papers import kmms_halfplanes

VERDICTS = {"KMMS-Obs2.2": "holds", "KMMS-SelHP-priv": "holds", "KMMS-Lem4.6": "loose"}


@pytest.mark.parametrize("statement", kmms_halfplanes.STATEMENTS, ids=lambda s: s.id)
def test_verdicts(statement: dpaudit.contract.Statement) -> None:
    row = ledger_row(statement.id)
    assert row.verdict == VERDICTS[statement.id]
    assert all(np.isfinite(value) for value in row.numbers.values())


def test_ids_are_distinct_and_all_expected() -> None:
    assert [s.id for s in kmms_halfplanes.STATEMENTS] == list(VERDICTS)


def test_vc_of_listed_labels() -> None:
    # Two variables: four points, conjunctions shatter two of them.
    labels = Conjunctions(2).evaluate(np.array([[0, 0], [0, 1], [1, 0], [1, 1]]))
    where = np.arange(4)[:, None]
    assert kmms_halfplanes.vc_dimension(where, kmms_halfplanes._Listed(labels)) == 2
