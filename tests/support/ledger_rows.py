"""Rows of the ledger: those that several files of tests look at are made once."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import pytest

import dpaudit
from dpaudit.evidence.records import LedgerRow


@cache
def ledger_row(id: str) -> LedgerRow:
    """Return a row of the installed ledger."""
    (row,) = dpaudit.pac.ledger([id])
    return row


# Statements whose checks take half a second or more. The quick profile makes each of these checks refute a wrong
# constant or a faulty algorithm (`test_statements_refutable`, lists in its form), the full one makes their rows too.
DEAR = {
    "BMN-Cor4.4", "BMN-Lem4.3", "BMN-Lem4.5", "BMN-Obs4.2", "BMN-Thm4.9", "BMN-Thm4.10", "BMN-relaxation-i",
    "BMNS-Prop2.11-log-star", "BMNS-Thm4.2",
    "BMNS-Thm4.2-utility", "BMNS-Thm5.1-display", "KMMS-Claim3.4", "KMMS-Claim3.4-loss", "KMMS-Claim3.4-pure",
    "KMMS-Ex3.3-pure", "KMMS-Thm4.7", "KMMS-Thm4.7-time", "KMMS-Thm5.1", "KMMS-Thm5.1-run", "NIS-ParityRestart",
    "STE-Conj2", "STE-Conj2-Proved", "STE-Conj2-Strong", "STE-ConjExp",
}  # fmt: skip


def rows_in_quick(ids: Iterable[str], dear: set[str] = DEAR) -> list[Any]:
    """Return ids as parameters, of which dear ones are marked `full`."""
    return [pytest.param(id, id=id, marks=[pytest.mark.full] if id in dear else []) for id in ids]
