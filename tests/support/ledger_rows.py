"""Rows of the ledger: those that several files of tests look at are made once."""

from __future__ import annotations

from functools import cache

import dpaudit
from dpaudit.evidence.records import LedgerRow


@cache
def ledger_row(id: str) -> LedgerRow:
    """Return a row of the installed ledger."""
    (row,) = dpaudit.pac.ledger([id])
    return row
