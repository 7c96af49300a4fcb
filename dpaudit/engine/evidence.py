"""Checks one statement of a paper: its evidence becomes a row of the ledger, or a fault of the check."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from importlib import import_module
from numbers import Integral, Real
from typing import Any

from dpaudit.contract import Evidence, Grade, Statement, StatementVerdict
from dpaudit.engine.findings import LedgerRow
from dpaudit.errors import ToolFault

__all__ = ["check_statement"]


def check_statement(statement: Statement) -> LedgerRow:
    """Run the check of a statement, which gets the public names of dpaudit.

    Raises
    ------
    ToolFault
        If the check returns something other than `Evidence`, or a number that JSON cannot hold. Whatever the check
        itself raises goes through: nothing is then known of the statement.
    """
    # The public names stand above the engine: it hands them on by name and uses none of them.
    evidence = statement.check(import_module("dpaudit"))
    if not isinstance(evidence, Evidence):
        raise ToolFault(f"the check of {statement.id} must return dpaudit.contract.Evidence, got {evidence!r}")
    return LedgerRow(
        id=statement.id,
        statement=statement.statement,
        source=statement.source,
        verdict=StatementVerdict(evidence.verdict),
        summary=evidence.summary,
        numbers={str(name): _number(statement, name, value) for name, value in evidence.numbers.items()},
        grade=Grade(evidence.grade),
        witness=evidence.witness,
        short=statement.short,
        printed=_filled(statement, statement.printed, evidence.numbers),
        found=_filled(statement, statement.found, evidence.numbers),
    )


def _number(statement: Statement, name: str, value: Any) -> float:
    """Return a number of the evidence as a Python integer or float; a fraction is rounded to the nearest float."""
    # A truth value is no number: written as 1 or 0 it would pass for a count.
    if isinstance(value, Real) and not isinstance(value, bool):
        if isinstance(value, Integral):
            return int(value)
        if not math.isnan(value):
            return float(value)
    raise ToolFault(f"the check of {statement.id} gives {name} = {value!r}, which is not a number")


def _filled(statement: Statement, template: str, numbers: Mapping[str, Any]) -> str:
    """Return a few words with the numbers that they name in braces."""

    def number(found: re.Match[str]) -> str:
        name, form = (found[1], "") if found[1] in numbers else found[1].rpartition(":")[::2]
        try:
            return format(numbers[name], form)
        except (KeyError, ValueError, TypeError) as error:
            raise ToolFault(f"{statement.id} tells {found[0]}, which its evidence does not give: {error!r}") from error

    return re.sub(r"{([^{}]*)}", number, template)
