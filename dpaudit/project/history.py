"""The checks of a project: what is kept of each, the history file that only grows, and what changed between two."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.contract import Verdict
from dpaudit.engine.arguments import UtilityArguments
from dpaudit.engine.files import append_line, locked_folder
from dpaudit.engine.outcome import is_ladder
from dpaudit.engine.records import Result
from dpaudit.engine.store import FILENAME, load_run
from dpaudit.engine.tasks import canonical
from dpaudit.errors import InputError
from dpaudit.exact.finding import LawFinding
from dpaudit.project.settings import Accepted
from dpaudit.record import Amount, Frozen, NonNegative, Probability, decode, encodable
from dpaudit.report.columns import Numbers
from dpaudit.report.json import Report
from dpaudit.report.numbers import significant
from dpaudit.report.wording import label_parameters
from dpaudit.results import SCHEMA_VERSION, versions
from dpaudit.utility.finding import UtilityFinding

PLACE = Path(".dpaudit") / "history.jsonl"
_MARGIN = 1.1
"""Bounds that differ by less than a tenth are taken for equal: other seeds, other bounds."""
_EXACT_MARGIN = 1 + 1e-9
"""The same for exact epsilons, which no seed changes."""


class Standing(Frozen, frozen=True, kw_only=True):
    """The findings on one mechanism or learner, in numbers.

    The verdict is that of the exact audit where it found a violation, "accepted" for a violation that is accepted, and
    "failed" without a finding, with the error as `why`; else `why` shows the violation. Of privacy, `found` is the
    lower bound on epsilon that the black-box audit found, `exact` the worst epsilon by exact laws, and `detectable` the
    least epsilon that would have been caught, infinite where there is none. Of utility, `claimed` is beta and `found`
    the lower end of the failure rate.
    """

    name: str
    mechanism: str
    verdict: Verdict
    promise: Literal["privacy", "utility"] = "privacy"
    claimed: Amount | None = None
    delta: Probability | None = None
    found: NonNegative | None = None
    exact: NonNegative | None = None
    detectable: NonNegative | None = None
    why: str = ""
    accepted: Accepted | None = None

    @property
    def numbers(self) -> Numbers:
        """The numbers on privacy by the names of columns; without evidence no epsilon would have been detected."""
        return {
            "claimed_epsilon": self.claimed,
            "claimed_delta": self.delta,
            "exact_epsilon": self.exact,
            "epsilon_lower": self.found,
            "detectable_epsilon": math.inf if self.verdict == Verdict.NO_EVIDENCE else self.detectable,
        }


def standing_of(
    name: str,
    mechanism: str,
    *findings: PrivacyFinding | LawFinding | UtilityFinding,
    why: str = "",
    accepted: Accepted | None = None,
) -> Standing:
    """Return what was found of one mechanism, at most one of each kind."""
    numbers: dict[str, Any] = {}
    for finding in sorted(findings, key=lambda one: isinstance(one, PrivacyFinding)):
        match finding:
            case UtilityFinding():
                numbers |= {"promise": "utility", "claimed": finding.beta, "found": finding.failure_lower}
            case LawFinding():
                numbers |= {"claimed": finding.claimed_epsilon, "delta": finding.claimed_delta}
                numbers |= {"exact": finding.epsilon}
            case PrivacyFinding():
                numbers |= {"claimed": finding.epsilon, "delta": finding.delta, "found": finding.epsilon_lower}
                numbers |= {"detectable": finding.detectable_epsilon}
    verdicts = [finding.verdict for finding in findings]
    decisive = (Verdict.VIOLATION, Verdict.CONSISTENT, Verdict.NO_EVIDENCE)
    found = next((verdict for verdict in decisive if verdict in verdicts), verdicts[0])
    most = max(numbers.get("found") or 0.0, numbers.get("exact") or 0.0)
    if found == Verdict.VIOLATION and accepted is not None and most <= accepted.epsilon:
        found = Verdict.ACCEPTED
    return Standing(name=name, mechanism=mechanism, verdict=found, why=why, accepted=accepted, **numbers)


class ProjectCheck(Frozen, frozen=True, kw_only=True, tag="check", tag_field="record"):
    """A check that ended at a time, in UTC, and what it found of each mechanism; the numbers depend on the versions."""

    at: datetime.datetime
    rows: tuple[Standing, ...]
    versions: dict[str, str] = msgspec.field(default_factory=versions)
    schema_version: Literal[2] = SCHEMA_VERSION


def keep(rows: Sequence[Standing], root: Path, at: datetime.datetime | None = None) -> Path:
    """Append a check, of now by default, to the history of the project with its settings in `root`; return the file."""
    path = root / PLACE
    path.parent.mkdir(exist_ok=True)
    made = ProjectCheck(at=(at or datetime.datetime.now(datetime.UTC)).replace(microsecond=0), rows=tuple(rows))
    with locked_folder(path.parent):
        append_line(path, f"{canonical(encodable(made))}\n".encode())
    return path


def read_history(path: Path) -> tuple[ProjectCheck, ...]:
    """Return the checks in a history, the oldest first.

    Raises
    ------
    InputError
        If there is no history.
    ToolFault
        If a line is no check: the message names it.
    """
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        raise InputError(f"there is no history {str(path)!r}: `dpaudit check` begins one") from None
    return tuple(decode(line, ProjectCheck, f"{path}, line {number}") for number, line in enumerate(lines, 1))


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


def _changes(old: Standing, new: Standing) -> list[Change]:
    """Return what changed in a row."""
    changes = []
    if old.verdict != new.verdict:
        steps = new.verdict.gravity - old.verdict.gravity
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
        if was is not None and now is not None and was != now and max(was, now) > margin * min(was, now):
            changes.append(
                Change(new.name, words.format(significant(was, towards), significant(now, towards)), now > was)
            )
    return changes


def read_standings(path: Path | str) -> tuple[Standing, ...]:
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


def _rows_of(results: Iterable[Result]) -> tuple[Standing, ...]:
    """Return the rows of a run: a learner and parameters each, and of utility a case each."""
    found: dict[tuple[str, str], list[PrivacyFinding | LawFinding | UtilityFinding]] = {}
    for result in results:
        if isinstance(result.finding, PrivacyFinding | LawFinding | UtilityFinding) and not is_ladder(result):
            name, arguments = result.learner, result.arguments
            if result.parameters:
                name += f" ({label_parameters(result.parameters)})"
            if isinstance(arguments, UtilityArguments):
                name += f", {arguments.case}, n = {arguments.n} ({arguments.setting})"
            found.setdefault((name, result.learner), []).append(result.finding)
    return tuple(standing_of(name, learner, *findings) for (name, learner), findings in found.items())


def _rows_of_json(path: Path) -> tuple[Standing, ...]:
    """Return the rows of a report, or the row of a finding that was saved."""
    text = path.read_bytes()
    kinds: Mapping[str, type] = {
        str(kind.__struct_config__.tag): kind for kind in (PrivacyFinding, LawFinding, UtilityFinding)
    }
    try:
        document = json.loads(text)
        found = decode(text, Report if "results" in document else kinds[document["kind"]], path)
    except (ValueError, KeyError, TypeError):
        allowed = "give a run, a history, a report in JSON or what finding.save wrote"
        raise InputError(f"{path} holds no finding: {allowed}") from None
    return (
        _rows_of(found.results) if isinstance(found, Report) else (standing_of("the finding", "the mechanism", found),)
    )
