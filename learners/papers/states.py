"""Decorators that declare a statement of a paper, with what its source errs in, and that make checks of cases."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import partial, wraps
from typing import Any

from dpaudit.contract import Constants, Evidence, Part, Statement, StatementVerdict, Survives, Tools

from .. import citations
from .evidence import Case, exceeds, greatest, judged, listed, tightness

StatementCheck = Callable[[Tools], Evidence]
Cases = Iterable[Case]
Answers = Iterable[tuple[bool, dict[str, Any]]]
"""Whether the statement is right in a case, and the data of the case."""


def states(id: str, statement: str, place: str = "", **declared: Any) -> Callable[[StatementCheck], Statement]:
    """Return the decorator that makes a check the statement of that id; see `contract.Statement` for `declared`.

    The statement is added to the ``STATEMENTS`` of the module of its check. The source is a place in the paper with
    which the id begins. A statement whose id begins with "OURS" is ours, and the constants of what is ours are.
    """
    part = declared.setdefault("part", Part.OURS if id.startswith("OURS") else Part.PAPERS)
    declared.setdefault("constants", Constants.OURS if part is Part.OURS else Constants.PAPER)
    source = getattr(citations, id.partition("-")[0])
    source += place if place.startswith(";") else f", {place}" * bool(place)

    def decorator(check: StatementCheck) -> Statement:
        found = Statement(id, statement, source, check, **{"place": place.removeprefix("; "), **declared})
        # The ledger reads STATEMENTS of each module, in the order of its text.
        home = vars(sys.modules[check.__module__])
        home["STATEMENTS"] = (*home.get("STATEMENTS", ()), found)
        return found

    return decorator


derived = partial(states, constants=Constants.OURS)
"""As `states`, of what the source has inside O(.)."""
# As `states`, of what the source errs in, by the class of the failure; the theorem survives unless `survives`.
misprint, gap, false, edge_case = (
    partial(states, failure=failure, survives=Survives.YES)
    for failure in (StatementVerdict.MISPRINT, StatementVerdict.GAP, StatementVerdict.FALSE, StatementVerdict.EDGE_CASE)
)


def at_most(
    limit: float,
    text: str,
    name: str = "share",
    *also: str,
    otherwise: StatementVerdict | None = StatementVerdict.HOLDS,
    least: bool = False,
    **more: float,
) -> Callable[[Callable[[], Cases]], StatementCheck]:
    """Return the decorator that makes cases a check: refuted by the greatest number where that exceeds `limit`.

    `text` is the summary; in braces stand the number, as `name`, the number of "cases" and the "witness". Numbers of
    the evidence are those of them in `also` besides, and `more`. Where `otherwise` is None, it is `tightness`. With
    `least`, by the least number where that is below.
    """

    def judge(cases: list[Case]) -> Evidence:
        found, witness, data = greatest(cases, least)
        shown: dict[str, Any] = {name: found, "cases": len(cases), "witness": witness}
        numbers = {key: shown[key] for key in (name, *also)} | more
        failed = exceeds(limit, found) if least else exceeds(found, limit)
        verdict = otherwise or tightness(found, limit)
        return judged(text.format(**shown), numbers, witness, data, otherwise=verdict, failed=failed)

    return _on_cases(judge)


at_least = partial(at_most, least=True)


def always(text: str, name: str = "cases") -> Callable[[Callable[[], Answers]], StatementCheck]:
    """Return the decorator that makes cases a check: refuted by the first in which the statement is not right.

    `text` is the summary, with the number of cases, as `name`, and that of the "wrong" ones in braces. The data of the
    last case are returned where all are right.
    """

    def judge(cases: list[tuple[bool, dict[str, Any]]]) -> Evidence:
        wrong = [data for right, data in cases if not right]
        data = [*wrong, cases[-1][1]][0]
        numbers = {name: len(cases)}
        return judged(text.format(**numbers, wrong=len(wrong)), numbers, listed(data), data, failed=bool(wrong))

    return _on_cases(judge)


def _on_cases(judge: Callable[[list[Any]], Evidence]) -> Callable[[Callable[[], Iterable[Any]]], StatementCheck]:
    return lambda check: wraps(check)(lambda tools: judge(list(check())))
