"""The changes between two checks, runs, reports or findings, wherever they are stored."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.contract import Verdict
from dpaudit.engine.arguments import UtilityArguments
from dpaudit.engine.outcome import is_ladder
from dpaudit.engine.recomputed import not_recomputed, recomputed
from dpaudit.engine.records import Result
from dpaudit.engine.store import FILENAME, load_run
from dpaudit.errors import InputError
from dpaudit.exact.finding import LawFinding
from dpaudit.project.history import PLACE, read_history
from dpaudit.project.standings import Standing, standing_of
from dpaudit.report.json import Report, run_in
from dpaudit.report.numbers import significant
from dpaudit.report.view import alone
from dpaudit.report.wording import label_parameters
from dpaudit.utility.finding import UtilityFinding

_MARGIN = 1.1
"""Bounds that differ by less than a tenth are taken for equal: other seeds, other bounds."""
_EXACT_MARGIN = 1 + 1e-9
"""The same for exact epsilons, which no seed changes."""


@dataclass(frozen=True)
class Change:
    """A difference between two rows of the same name, in words; whether it is for the worse, None if for neither."""

    name: str
    text: str
    worse: bool | None


def compare(old: Sequence[Standing], new: Sequence[Standing]) -> list[Change]:
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


_FOUND = ("epsilon_lower", "failure_lower")
"""Lower bounds: where nothing is refuted they say how much was found and not how much there is."""
_COMPARED = (
    ("beta", "allows failures with probability {1}, claimed {0} before", 1.0, "nearest"),
    ("claimed_epsilon", "claims epsilon {1}, claimed {0} before", 1.0, "nearest"),
    ("claimed_delta", "claims delta {1}, claimed {0} before", 1.0, "nearest"),
    ("exact_epsilon", "has exact epsilon {1}, had {0}", _EXACT_MARGIN, "nearest"),
    ("detectable_epsilon", "would catch an epsilon of {1}, caught {0} before", _MARGIN, "up"),
    *((name, "shows {1}, showed {0}", _MARGIN, "down") for name in _FOUND),
)


def _claimed(row: Standing) -> float | None:
    """Return the claim, on which power depends, and which has a line of its own."""
    return row.numbers.get("claimed_epsilon")


def _changes(old: Standing, new: Standing) -> list[Change]:
    changes = []
    if old.verdict != new.verdict:
        steps = new.verdict.gravity - old.verdict.gravity
        why = f" ({new.why})" if new.why and steps > 0 else ""
        changes.append(Change(new.name, f"{old.verdict}, now {new.verdict}{why}", steps > 0 if steps else None))
    failing = {Verdict.VIOLATION, Verdict.ACCEPTED} >= {old.verdict, new.verdict}
    for name, words, margin, towards in _COMPARED:
        was, now = old.numbers.get(name), new.numbers.get(name)
        if (name in _FOUND and not failing) or (name == "detectable_epsilon" and _claimed(old) != _claimed(new)):
            continue
        if was is not None and now is not None and was != now and max(was, now) > margin * min(was, now):
            changes.append(
                Change(new.name, words.format(significant(was, towards), significant(now, towards)), now > was)
            )
    return changes


def read_standings(path: Path | str) -> tuple[tuple[Standing, ...], tuple[str, ...]]:
    """Return the rows of what is stored at a path, and notes: what could not be recomputed, and what is lost.

    At the path is a history, of which the last check counts; a run, its folder, ``run.jsonl`` or ``report.json``; a
    finding that was saved; or the folder of a project. `InputError` if there is nothing of the kind; `ToolFault` if
    something in it is altered, or says something else than follows from its counts.
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
        if b'"record":"check"' in first:
            kept = read_history(where, 1)
            return kept.checks[-1].rows, kept.notes
        return _of_results(load_run(where).results)
    return _of_json(where)


def _of_results(results: Sequence[Result]) -> tuple[tuple[Standing, ...], tuple[str, ...]]:
    left = Counter(name for one in results for name in recomputed(one.finding))
    return _rows_of(results), not_recomputed(left)


def _rows_of(results: Iterable[Result]) -> tuple[Standing, ...]:
    """Return the rows of a run: a learner and parameters each, and of utility a case each."""
    found: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        if isinstance(result.finding, PrivacyFinding | LawFinding | UtilityFinding) and not is_ladder(result):
            name, arguments = result.learner, result.arguments
            if result.parameters:
                name += f" ({label_parameters(result.parameters)})"
            if isinstance(arguments, UtilityArguments):
                name += f", {arguments.case}, n = {arguments.n} ({arguments.setting})"
            found.setdefault((name, result.learner), []).append(result)
    return tuple(standing_of(name, learner, *own) for (name, learner), own in found.items())


def _of_json(path: Path) -> tuple[tuple[Standing, ...], tuple[str, ...]]:
    """Return the rows of a report, or the row of a finding that was saved."""
    text = path.read_bytes()
    kinds: Mapping[str, type] = {
        str(kind.__struct_config__.tag): kind for kind in (PrivacyFinding, LawFinding, UtilityFinding)
    }
    try:
        document = json.loads(text)
        kind = Report if "results" in document else kinds[document["kind"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        allowed = "give a run, a history, a report in JSON or what finding.save wrote"
        raise InputError(f"{path} holds no finding: {allowed}") from None
    if kind is Report:
        return _of_results(run_in(text, path).results)
    found = kind.load(path)  # type: ignore[attr-defined]  # each of the three is a finding
    return (standing_of("the finding", "the mechanism", alone(found)),), not_recomputed(Counter(found.not_recomputed))
