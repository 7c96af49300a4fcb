"""Compares two stored checks, runs or findings: what got worse, what got better."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.contract import Verdict
from dpaudit.engine.arguments import UtilityArguments
from dpaudit.engine.outcome import is_ladder
from dpaudit.engine.records import Result
from dpaudit.engine.store import FILENAME, load_run
from dpaudit.errors import InputError, ToolFault
from dpaudit.exact.finding import LawFinding
from dpaudit.project.history import PLACE, read_history
from dpaudit.project.rows import Row, row_of
from dpaudit.record import decode
from dpaudit.report.document import Report
from dpaudit.report.numbers import significant
from dpaudit.report.wording import label_parameters
from dpaudit.utility.finding import UtilityFinding

__all__ = ["Change", "compare", "read_rows"]

_MARGIN = 1.1
"""Bounds that differ by less than a tenth are taken for equal: other seeds, other bounds."""
_EXACT_MARGIN = 1 + 1e-9
"""The same for exact epsilons, which no seed changes."""


@dataclass(frozen=True)
class Change:
    """A difference between two rows of the same name.

    Attributes
    ----------
    name : str
        The name.
    text : str
        The difference in words.
    worse : bool or None
        Whether it is for the worse; None if it is for neither.
    """

    name: str
    text: str
    worse: bool | None


def compare(old: Sequence[Row], new: Sequence[Row]) -> list[Change]:
    """Return what changed from the old rows to the new ones, in the order of the new ones.

    A verdict is worse the graver it is; a claim that promises less, an exact epsilon that is larger, and a bound or the
    least leak that would have been caught that is larger by a tenth, are worse too; so is a row that is not there any
    more.
    """
    before, after = {row.name: row for row in old}, {row.name: row for row in new}
    changes = [Change(name, "is not checked any more", True) for name in before if name not in after]
    for name, row in after.items():
        if name in before:
            changes += _changes(before[name], row)
        else:
            changes.append(Change(name, f"is new: {row.verdict}", row.verdict == Verdict.VIOLATION or None))
    return changes


def _changes(old: Row, new: Row) -> list[Change]:
    """Return what changed in a row."""
    changes = []
    if old.verdict != new.verdict:
        steps = new.verdict.meaning.gravity - old.verdict.meaning.gravity
        why = f" ({new.why})" if new.why and steps > 0 else ""
        changes.append(Change(new.name, f"{old.verdict}, now {new.verdict}{why}", steps > 0 if steps else None))
    promised = "allows failures with probability" if new.promise == "utility" else "claims epsilon"
    failing = {Verdict.VIOLATION, Verdict.ACCEPTED} >= {old.verdict, new.verdict}
    compared = [
        (f"{promised} {{1}}, claimed {{0}} before", old.claimed, new.claimed, 1.0, "nearest"),
        ("claims delta {1}, claimed {0} before", old.delta, new.delta, 1.0, "nearest"),
        ("has exact epsilon {1}, had {0}", old.exact, new.exact, _EXACT_MARGIN, "nearest"),
    ]
    if old.claimed == new.claimed:  # power depends on the claim, which has a line of its own
        power = old.detectable, new.detectable
        compared.append(("would catch an epsilon of {1}, caught {0} before", *power, _MARGIN, "up"))
    # Where nothing is refuted a lower bound says how much was found and not how much there is.
    compared += [("shows {1}, showed {0}", old.found, new.found, _MARGIN, "down")] if failing else []
    for words, was, now, margin, towards in compared:
        worse = _worse(was, now, margin)
        if worse is not None and was is not None and now is not None:
            text = words.format(significant(was, towards), significant(now, towards))
            changes.append(Change(new.name, text, worse))
    return changes


def _worse(old: float | None, new: float | None, margin: float) -> bool | None:
    """Say whether a number grew by more than a factor, or shrank by more than it; None for neither."""
    if old is None or new is None or old == new:
        return None
    return True if new > margin * old else False if old > margin * new else None


def read_rows(path: Path | str) -> tuple[Row, ...]:
    """Return the rows of what is stored at a path.

    Parameters
    ----------
    path : Path or str
        A history, of which the last check counts; a run, its folder, ``run.jsonl`` or ``report.json``; a finding that
        was saved; or the folder of a project.

    Raises
    ------
    InputError
        If there is nothing of the kind.
    """
    where = Path(path)
    if where.is_dir():
        found = [where / name for name in (FILENAME, PLACE, PLACE.name) if (where / name).is_file()]
        if not found:
            raise InputError(f"there is neither a run ({FILENAME}) nor a history ({PLACE}) in {str(path)!r}")
        where = found[0]
    if not where.is_file():
        raise InputError(f"there is no file {str(path)!r}: give a run, a history, a report or a finding that was saved")
    if where.name.endswith(".jsonl"):
        with where.open("rb") as file:
            first = file.readline()
        return read_history(where)[-1].rows if b'"record":"check"' in first else _rows_of(load_run(where).results)
    return _rows_of_json(where)


def _rows_of(results: Iterable[Result]) -> tuple[Row, ...]:
    """Return the rows of a run: a learner and parameters each, and of utility a case each."""
    found: dict[tuple[str, str], list[PrivacyFinding | LawFinding | UtilityFinding]] = {}
    for result in results:
        if isinstance(result.finding, PrivacyFinding | LawFinding | UtilityFinding) and not is_ladder(result):
            found.setdefault((_name(result), result.learner), []).append(result.finding)
    return tuple(row_of(name, learner, *findings) for (name, learner), findings in found.items())


def _name(result: Result) -> str:
    told = f"{result.learner} ({label_parameters(result.parameters)})" if result.parameters else result.learner
    arguments = result.arguments
    if isinstance(arguments, UtilityArguments):
        return f"{told}, {arguments.case}, n = {arguments.n} ({arguments.setting})"
    return told


def _rows_of_json(path: Path) -> tuple[Row, ...]:
    """Return the rows of a report, or the row of a finding that was saved."""
    text = path.read_bytes()
    kinds: Mapping[str, type] = {kind.kind: kind for kind in (PrivacyFinding, LawFinding, UtilityFinding)}
    try:
        told = json.loads(text)
        kind = Report if "results" in told else kinds[told["kind"]]
    except (ValueError, KeyError, TypeError):
        allowed = "give a run, a history, a report in JSON or what finding.save wrote"
        raise InputError(f"{path} holds no finding: {allowed}") from None
    try:
        found = decode(text, kind)
    except ToolFault as error:
        raise ToolFault(f"{path}: {error}") from None
    return _rows_of(found.results) if isinstance(found, Report) else (row_of("the finding", "the mechanism", found),)
