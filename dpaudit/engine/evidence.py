"""Checks one statement of a paper: its evidence becomes a row of the ledger, or a fault of the check."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from numbers import Integral, Real
from typing import Any

from dpaudit.contract import Evidence, Grade, Statement, Verdict
from dpaudit.engine.findings import LedgerRow
from dpaudit.engine.time_limit import OutOfTime, time_limited
from dpaudit.errors import ToolFault
from dpaudit.jsonable import jsonable

__all__ = ["check_statement"]


def check_statement(statement: Statement, *, paths: tuple[str, ...] = (), time_limit: float | None = None) -> LedgerRow:
    """Run the check of a statement, which gets the public names of dpaudit.

    Parameters
    ----------
    statement : Statement
        The statement.
    paths : tuple of str
        Where statements were looked for besides the installed packages: the command that repeats the row names them.
    time_limit : float, optional
        Seconds after which the check is stopped; the statement is then undecided, and the row says in which part.

    Raises
    ------
    ToolFault
        If the check returns something other than `Evidence`, or a number that JSON cannot hold. Whatever the check
        itself raises goes through: nothing is then known of the statement.
    """
    # The public names stand above the engine: it hands them on by name and uses none of them.
    told, stopped_in = statement, ""
    try:
        with time_limited(time_limit):
            evidence = statement.check(import_module("dpaudit"))
    except OutOfTime as ended:
        code = getattr(statement.check, "__code__", None)
        # Without numbers there is nothing to tell of them.
        told, stopped_in = replace(told, printed="", found="", best=""), ended.part(code.co_filename if code else "")
        evidence = Evidence("undecided", f"not decided within {time_limit:g} s; stopped in {stopped_in}", {}, "exact")
    if not isinstance(evidence, Evidence):
        raise ToolFault(f"the check of {statement.id} must return dpaudit.contract.Evidence, got {evidence!r}")
    return LedgerRow(
        id=statement.id,
        statement=statement.statement,
        source=statement.source,
        verdict=Verdict(evidence.verdict),
        summary=evidence.summary,
        numbers={str(name): _number(statement, name, value) for name, value in evidence.numbers.items()},
        grade=Grade(evidence.grade),
        witness=evidence.witness,
        short=statement.short,
        printed=_filled(statement, told.printed, evidence.numbers),
        found=_filled(statement, told.found, evidence.numbers),
        best=_filled(statement, told.best, evidence.numbers),
        witness_data=jsonable(evidence.witness_data),
        repeat=shlex.join(["dpaudit", "ledger", statement.id, *(w for path in paths for w in ("--learners", path))]),
        stopped_in=stopped_in,
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
