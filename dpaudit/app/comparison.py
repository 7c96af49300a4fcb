"""The changes between two checks, runs, reports or findings, wherever they are stored."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec import UNSET
from msgspec.structs import replace

from dpaudit.app.kept import LAST
from dpaudit.app.rows import ClaimRow, claim_row, failed_row, reason_of
from dpaudit.audit.finding import PrivacyFinding
from dpaudit.contract import OPEN, PrivacyVerdict, TaskVerdict, status_of
from dpaudit.errors import InputError
from dpaudit.escaping import printable
from dpaudit.evidence.outcome import in_family, is_ladder
from dpaudit.evidence.records import Result, Run
from dpaudit.evidence.store import FILENAME, load_run
from dpaudit.evidence.tasks import UtilityArguments
from dpaudit.exact.finding import LawFinding
from dpaudit.report.columns import P_VALUE, PRIVACY, Numbers, cells_of, columns_of, heads_of
from dpaudit.report.glossary import CATCHES, VISIBLE
from dpaudit.report.json import Report, run_in
from dpaudit.report.numbers import plural, significant, value_text
from dpaudit.report.sentences import tally
from dpaudit.report.terminal import WORSE, Head, in_ascii, label_text, style_of, table
from dpaudit.report.words.claims import label_parameters
from dpaudit.utility.finding import UtilityFinding

# Bounds that differ by less than a tenth count as equal: another seed gives another bound.
_MARGIN = 1.1

# The same for exact epsilons, which no seed changes.
_EXACT_MARGIN = 1 + 1e-9


@dataclass(frozen=True)
class Change:
    """A difference between two rows of the same name, in words; whether it is for the worse, None if for neither."""

    name: str
    text: str
    worse: bool | None


def compare(old: Sequence[ClaimRow], new: Sequence[ClaimRow]) -> list[Change]:
    """Return what changed from the old rows to the new ones, in the order of the new ones.

    A verdict is worse the graver it is; a claim that promises less, an exact epsilon that is larger, and a bound or the
    least leak that would have been caught that is larger by a tenth, are worse too; so is a row that is not there any
    more. What changed in one row is one change: with the verdict the numbers that it follows from, whichever way these
    went, else what got worse, what got better and the rest. Rows of several cases of one mechanism that changed in the
    same way are one change as well.
    """
    before = {row.name: row for row in old}
    after = {row.name: row for row in new}
    changes = [Change(name, "is not checked any more", True) for name in before if name not in after]
    for name, row in after.items():
        if name in before:
            changes += _changes(before[name], row)
        else:
            # What is new is neither better nor worse, unless it is in violation.
            changes.append(Change(name, f"is new: {row.verdict}", row.verdict == PrivacyVerdict.VIOLATION or None))
    return _of_cases(changes, after)


# The most cases of one mechanism that are named in one change.
_MOST_CASES = 3


def _joined(name: str, changes: Sequence[Change], broken: bool) -> list[Change]:
    """Return the changes in one row as one for what broke it, or as one for each way they went."""
    if broken and changes:
        return [Change(name, "; ".join(one.text for one in changes), True)]
    joined = []
    for worse in (True, False, None):
        texts = [one.text for one in changes if one.worse is worse]
        if texts:
            joined.append(Change(name, "; ".join(texts), worse))
    return joined


def _of_cases(changes: Sequence[Change], rows: Mapping[str, ClaimRow]) -> list[Change]:
    """Return changes with those of several cases of one mechanism's utility, which went the same way, as one."""
    groups: dict[tuple[object, ...], list[Change]] = {}
    for change in changes:
        row = rows.get(change.name)
        if row is None or row.promise != "utility":
            groups[change.name, change.worse] = [change]
        else:
            groups.setdefault((row.mechanism, row.promise, change.worse), []).append(change)
    found = []
    for group in groups.values():
        first = group[0]
        if len(group) > 1:
            others = [change.name for change in group[1:]]
            named = ", ".join(others[:_MOST_CASES])
            more = ""
            if len(others) > _MOST_CASES:
                more = f" and {len(others) - _MOST_CASES} more"
            text = f"{first.text}; so do {plural(len(others), 'other case')}: {named}{more}"
            first = Change(first.name, text, first.worse)
        found.append(first)
    return found


# Lower bounds with their units: where nothing is refuted they say how much was found, not how much there is.
_FOUND = {"epsilon_lower": "", "failure_lower": "", "mu_lower": "mu "}

# Column, words for a change from {0} to {1}, the factor from which on it counts, and where to round.
_COMPARED = (
    ("beta", "allows failures with probability {1}, claimed {0} before", 1.0, "nearest"),
    ("claimed_epsilon", "claims epsilon {1}, claimed {0} before", 1.0, "nearest"),
    ("claimed_delta", "claims delta {1}, claimed {0} before", 1.0, "nearest"),
    ("claimed_mu", "claims mu {1}, claimed {0} before", 1.0, "nearest"),
    ("exact_epsilon", "has exact epsilon {1}, had {0}", _EXACT_MARGIN, "nearest"),
    ("detectable_epsilon", f"would catch an epsilon of {{1}}, caught {{0}} before, {VISIBLE}", _MARGIN, "up"),
    ("detectable_mu", f"would catch a mu of {{1}}, caught {{0}} before, {VISIBLE}", _MARGIN, "up"),
    *((name, f"shows {unit}{{1}}, showed {{0}}", _MARGIN, "down") for name, unit in _FOUND.items()),
)
_OF_POINT = ("claimed_epsilon", "claimed_delta", "detectable_epsilon", "epsilon_lower")  # tested, of a curve


def _changes(old: ClaimRow, new: ClaimRow) -> list[Change]:
    changes = []
    if old.verdict != new.verdict:
        steps = new.verdict.gravity - old.verdict.gravity
        why = ""
        if new.why and steps > 0:
            why = f" ({new.why})"
        # Another verdict as grave as the old one is neither worse nor better.
        worse = steps > 0 if steps else None
        changes.append(Change(new.name, f"{old.verdict}, now {new.verdict}{why}", worse))
    claims = (new.curve_claim, old.curve_claim)
    curves = ["{} ({})".format(*claim) if claim else "epsilon and delta" for claim in claims]
    # Power depends on the claim, which has a line of its own.
    same = len({one.curve_claim or one.numbers.get("claimed_epsilon") for one in (old, new)}) == 1
    # Of two Gaussian claims the line on mu says the same.
    if len(set(curves)) > 1 and not all("claimed_mu" in one.numbers for one in (old, new)):
        changes.append(Change(new.name, "claims {}, claimed {} before".format(*curves), None))
    # A bound says how much leaks only where the claim is refuted, accepted or not.
    failing = {PrivacyVerdict.VIOLATION, TaskVerdict.ACCEPTED} >= {old.verdict, new.verdict}
    for name, words, margin, towards in _COMPARED:
        was = old.numbers.get(name)
        now = new.numbers.get(name)
        of_point = name in _OF_POINT and (old.curve_claim or new.curve_claim)
        if of_point or (name in _FOUND and not failing) or (name.startswith("detectable") and not same):
            continue
        if was is not None and now is not None and was != now and max(was, now) > margin * min(was, now):
            # Infinity stands for no leak, however large.
            if math.isinf(now):
                words = words.replace("an epsilon of {1}", "no epsilon").replace("a mu of {1}", "no mu")
            text = words.format(significant(was, towards), significant(now, towards))
            changes.append(Change(new.name, text, now > was))
    broken = old.verdict != new.verdict and new.verdict.gravity > old.verdict.gravity
    return _joined(new.name, changes, broken)


def read_rows(path: Path | str) -> tuple[ClaimRow, ...]:
    """Return the rows of what is stored at a path.

    At the path is a run, its folder, ``run.jsonl`` or ``report.json``; the report of a check; a finding that was saved;
    or the folder of a project, of which the last check counts. `InputError` if there is nothing of the kind;
    `ToolFault` if a digest or a type shows that something in it was altered.
    """
    where = Path(path)
    if where.is_dir():
        # The file of a run before that of a check; a folder .dpaudit may be named itself.
        found = [where / name for name in (FILENAME, LAST, LAST.name) if (where / name).is_file()]
        if not found:
            raise InputError(f"there is neither a run ({FILENAME}) nor a check ({LAST}) in {str(path)!r}")
        where = found[0]
    if not where.is_file():
        raise InputError(f"there is no file {str(path)!r}: give a run, a report or a finding that was saved")
    if where.name.endswith(".jsonl"):
        return _of_run(load_run(where))
    return _of_json(where)


def _of_run(run: Run) -> tuple[ClaimRow, ...]:
    found: dict[tuple[str, str], list[Result]] = {}
    for result in in_family(run).results:
        if isinstance(result.finding, PrivacyFinding | LawFinding | UtilityFinding) and not is_ladder(result):
            found.setdefault((_name_of(result, run), result.learner), []).append(result)
    rows = [_row_of(name, learner, own, run) for (name, learner), own in found.items()]
    # A check has a row for an audit that raised. Faults of other runs are of learners that were never planned.
    rows += [failed_row(run.listed[one.learner].name, one.learner, one.error)
             for one in run.header.faults if one.learner in run.listed]  # fmt: skip
    return tuple(rows)


def _name_of(result: Result, run: Run) -> str:
    """Return the name of an audit in the settings of a project; else the learner, with what tells its rows apart."""
    if result.learner in run.listed:
        return run.listed[result.learner].name
    name = result.learner
    arguments = result.arguments
    if result.parameters:
        name += f" ({label_parameters(result.parameters)})"
    if isinstance(arguments, UtilityArguments):
        name += f", {arguments.case}, n = {arguments.n} ({arguments.setting})"
    return name


def _row_of(name: str, learner: str, results: Sequence[Result], run: Run) -> ClaimRow:
    if learner not in run.listed:
        return claim_row(name, learner, results)
    row = claim_row(name, learner, results, why=reason_of(results))
    # A stored check says what was accepted when it was made.
    if row.verdict == PrivacyVerdict.VIOLATION and run.listed[learner].accepted:
        row = replace(row, verdict=TaskVerdict.ACCEPTED)
    return row


def _of_json(path: Path) -> tuple[ClaimRow, ...]:
    text = path.read_bytes()
    found_of = (PrivacyFinding, LawFinding, UtilityFinding)
    kinds: Mapping[str, type] = {str(kind.__struct_config__.tag): kind for kind in found_of}
    try:
        document = json.loads(text)
        # A report has no field that names its kind.
        kind = Report if "results" in document else kinds[document["kind"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        allowed = "give a run, a report in JSON or what finding.save wrote"
        raise InputError(f"{path} holds no finding: {allowed}") from None
    if kind is Report:
        return _of_run(run_in(text, path))
    found = kind.load(path)  # type: ignore[attr-defined]  # each of the three is a finding
    return (claim_row("the finding", "the mechanism", [found]),)


WIDTH = 80
CHANGES = (Head("", "word"), Head("mechanism", "name"), Head("change", "text"))


def check_text(found: Sequence[ClaimRow], color: bool = False, width: int = WIDTH, promise: str = "") -> str:
    """Return what a check found as a table, with a line for each mechanism that needs attention.

    Where claims are judged together, `promise` says how often any is accused falsely, and the table has their p-values.
    """
    shown: list[Numbers] = []
    for one in found:
        numbers: Numbers = one.numbers and {**one.numbers, "curve_claim": one.curve_claim or ""}
        if promise and one.p_value is not UNSET:
            numbers = {**numbers, "p_value": one.p_value}
        shown.append(numbers)
    columns = columns_of(shown, (*PRIVACY, P_VALUE))
    cells = []
    for one, own in zip(found, shown, strict=True):
        cells.append([*cells_of(one.verdict, one.name, columns, own or None), _word(one)])
    heads = [*heads_of("mechanism", columns), Head("verdict", "word")]
    lines = table(heads, cells, [style_of(one.verdict, "blue") for one in found], width, color)
    sums = f"{plural(len(found), 'claim')}: {tally([one.verdict for one in found])}."
    notes = [CATCHES, *textwrap.wrap(promise, width)]
    return "\n".join([*lines, *notes, sums, *_remarks(found, width)]) + "\n"


def _word(one: ClaimRow) -> str:
    if status_of(one.verdict) in (0, OPEN):
        return one.verdict.word
    return label_text(one.verdict)


def _remarks(found: Sequence[ClaimRow], width: int) -> list[str]:
    remarks = []
    for one in found:
        if status_of(one.verdict):
            remarks.append(f"{_word(one)} {one.name}: {one.why}")
        if one.verdict == TaskVerdict.ACCEPTED:
            remarks.append(f"accepted {one.name} {accepted_words(one)}")
        elif one.accepted is not None:
            up_to = f"up to {value_text(one.accepted.epsilon)} ({one.accepted.date})"
            now = "and no violation was found: remove `accepted`"
            if one.verdict == PrivacyVerdict.VIOLATION:
                now = "and shows more"
            remarks.append(f"{one.name} was accepted {up_to}, {now}")
    if any(one.verdict in (PrivacyVerdict.VIOLATION, PrivacyVerdict.NO_EVIDENCE) for one in found):
        remarks.append("Next: dpaudit check --out report.html shows all of it; dpaudit help check")
    return [
        line for remark in remarks for line in textwrap.wrap(printable(in_ascii(remark)), width, subsequent_indent="  ")
    ]


def accepted_words(one: ClaimRow) -> str:
    """Return up to which epsilon a violation is accepted, why and since when."""
    assert one.accepted is not None
    return f"up to {value_text(one.accepted.epsilon)}: {one.accepted.reason} ({one.accepted.date})"


def change_cells(change: Change) -> tuple[str, str, str]:
    """Return what a change is, what it is about, and what it is in words."""
    if change.worse is None:
        label = "other"
    else:
        label = "WORSE" if change.worse else "better"
    return label, change.name, change.text


def changes_text(changes: Sequence[Change], color: bool = False, width: int = WIDTH) -> str:
    """Return what changed, the worse first."""
    if not changes:
        return "nothing changed\n"
    # The order of the rows stays otherwise.
    ordered = sorted(changes, key=lambda change: not change.worse)
    styles = [WORSE if change.worse else "" for change in ordered]
    return "\n".join(table(CHANGES, [change_cells(change) for change in ordered], styles, width, color)) + "\n"
