"""The history of a project: its checks, in a file that only grows, each line bound to the one before by its digest.

A kill or a full disk may tear the last line. The next check cuts it off, keeps every whole line and says what is lost.
"""

from __future__ import annotations

import datetime
import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.audit.tested import CoinCount, bounds_of_hits, lower_bound
from dpaudit.contract import Verdict
from dpaudit.engine.files import append_line, locked_folder, refuse_link, write_atomically
from dpaudit.engine.recomputed import LAWS, at_most, not_recomputed, same
from dpaudit.engine.records import Result
from dpaudit.engine.store import digest_in, linked, write_line
from dpaudit.errors import InputError, ToolFault
from dpaudit.exact.finding import LawFinding
from dpaudit.keyed import FOLDER
from dpaudit.project.settings import Accepted
from dpaudit.record import Amount, Count, Frozen, NonNegative, Probability, Share, Size, decode
from dpaudit.report.columns import numbers_of
from dpaudit.report.numbers import plural
from dpaudit.report.view import row_of
from dpaudit.results import SCHEMA_VERSION, versions

# The row of a mechanism: verdict and numbers, with the counts that they follow from.


EARLIER = "bounds of an earlier version, without counts"
ROUNDING = 1e-9
"""By how much an exact epsilon may exceed a claim without a violation: the error of a delta is not kept."""


class Counted(Frozen, frozen=True, kw_only=True):
    """The point that was tested, and the counts of the event that decided, those of the likelier side first.

    There are no counts of bets. `by_curve` says that the test of a claim that is a curve refutes it by other evidence,
    `gaps` is the number of reasons why the audit could not have seen that the claim fails, and `law_claim` the epsilon
    that exact laws were compared with, if any were.
    """

    epsilon: Amount
    delta: Probability
    hits: tuple[Count, Count] | UnsetType = UNSET
    runs: tuple[Size, Size] | UnsetType = UNSET
    error: Share | UnsetType = UNSET
    sides: Literal[1, 2] = 1
    count: CoinCount | UnsetType = UNSET
    by_curve: bool = False
    gaps: Count = 0
    law_claim: Amount | UnsetType = UNSET

    def __post_init__(self) -> None:
        if len({part is UNSET for part in (self.hits, self.runs, self.error)}) > 1:
            raise InputError("hits, runs and error must be given together")

    @classmethod
    def of(cls, finding: PrivacyFinding | None, law: LawFinding | None) -> Counted | UnsetType:
        """Return what a black-box audit tested, and the claim of an exact one beside it."""
        if finding is None:
            return UNSET
        by_curve, witness = finding.curve_test is not None and finding.curve_test.by_holder, finding.witness
        claimed = UNSET if law is None or law.claimed_epsilon is None else law.claimed_epsilon
        bare = cls(
            epsilon=finding.epsilon,
            delta=finding.delta,
            by_curve=by_curve,
            gaps=len(finding.gaps),
            law_claim=claimed,
        )
        if not finding.tests or not witness.trials or not witness.neighbour_trials:
            return bare
        best = max(finding.tests, key=lambda test: test.epsilon_lower)
        return replace(
            bare,
            hits=(best.hits, best.neighbour_hits),
            runs=(witness.trials, witness.neighbour_trials),
            error=best.error,
            sides=1 if best.opposite is UNSET else 2,
            count=best.count,
        )

    @property
    def lower(self) -> float | None:
        """The bound that the counts give; None where there are none."""
        if self.hits is UNSET or self.runs is UNSET or self.error is UNSET:
            return None
        return _lower(self.hits, self.runs, self.count, self.delta, self.error, self.sides)


@lru_cache(maxsize=4096)
def _lower(
    hits: tuple[int, int], runs: tuple[int, int], count: CoinCount | UnsetType, delta: float, error: float, sides: int
) -> float:
    """Return a bound, which equal checks of many days share."""
    at_most("hits", hits[0], runs[0])
    at_most("neighbour_hits", hits[1], runs[1])
    if count is UNSET and (hits, runs, delta, error) in _together:
        return _together[hits, runs, delta, error]
    return lower_bound(hits, runs, count, delta=delta, error=error, sides=sides)


AT_ONCE = 2000
"""Bounds that are computed at once: each takes a few kB."""
_together: dict[tuple[tuple[int, int], tuple[int, int], float, float], float] = {}
"""Bounds of hits that were computed at once."""


def compute_together(rows: Iterable[Standing]) -> None:
    """Compute the bounds that rows will be asked for, those with one delta and one error at once."""
    groups: dict[tuple[float, float], dict[tuple[tuple[int, int], tuple[int, int]], None]] = {}
    for row in rows:
        if (one := row.tested) is UNSET or one.hits is UNSET or one.runs is UNSET or one.error is UNSET:
            continue
        if one.count is UNSET and all(hits <= runs for hits, runs in zip(one.hits, one.runs, strict=True)):
            groups.setdefault((one.delta, one.error), {})[one.hits, one.runs] = None
    for (delta, error), counts in groups.items():
        every = list(counts)
        for some in (every[i : i + AT_ONCE] for i in range(0, len(every), AT_ONCE)):
            hits, runs = zip(*some, strict=True)
            found = bounds_of_hits(hits, runs, delta=delta, error=error)
            _together.update(zip(((*one, delta, error) for one in some), map(float, found), strict=True))


class Standing(Frozen, frozen=True, kw_only=True):
    """The findings on one mechanism or learner, in numbers.

    The verdict is "accepted" for a violation that is accepted, and "failed" without a finding, with the error as `why`;
    else `why` shows the violation. The `numbers` are those of the columns of reports, by name. What the bound follows
    from is in `tested`; rows of an earlier version lack it.
    """

    name: str
    mechanism: str
    verdict: Verdict
    promise: Literal["privacy", "utility"] = "privacy"
    numbers: dict[str, NonNegative] = msgspec.field(default_factory=dict)
    why: str = ""
    accepted: Accepted | None = None
    tested: Counted | UnsetType = UNSET


def standing_of(
    name: str, mechanism: str, *results: Result, why: str = "", accepted: Accepted | None = None
) -> Standing:
    """Return what was found of the privacy of one mechanism, or of its utility."""
    promise: Literal["privacy", "utility"] = "utility" if results[0].kind == "utility" else "privacy"
    row = row_of([replace(one, claim=None) for one in results] if promise == "utility" else results)
    verdict = row.utility_verdict if promise == "utility" else row.privacy_verdict
    numbers = {column: number for column, number in numbers_of(row).items() if number is not None}
    if verdict == Verdict.VIOLATION and accepted is not None and _most(numbers) <= accepted.epsilon:
        verdict = Verdict.ACCEPTED
    found = Standing(name=name, mechanism=mechanism, verdict=verdict, promise=promise, numbers=numbers)
    return replace(found, why=why, accepted=accepted, tested=Counted.of(row.blackbox, row.exact))


def _most(numbers: Mapping[str, float]) -> float:
    """Return the greatest epsilon that was found."""
    return max(numbers.get("exact_epsilon", 0.0), numbers.get("epsilon_lower", 0.0))


def check_row(row: Standing) -> tuple[str, ...]:
    """Return which numbers of a row do not follow from what it holds, after recomputing those that do.

    `ToolFault` if the bound is not that of the counts, or the verdict not that of the numbers.
    """
    numbers, tested, left = row.numbers, row.tested, []
    bound, exact = numbers.get("epsilon_lower"), numbers.get("exact_epsilon")
    claimed = numbers.get("claimed_epsilon", math.inf)
    point = claimed if tested is UNSET else tested.epsilon
    if exact is not None:
        left.append(LAWS)
    if bound is None and tested is not UNSET:
        raise ToolFault("it has no epsilon_lower, and counts that give one")
    if bound is not None:
        found = None if tested is UNSET else tested.lower
        if found is None:
            left.append(EARLIER if tested is UNSET else "bounds of bets")
        else:
            same("epsilon_lower", bound, found)
        if not math.isfinite(bound):
            raise ToolFault(f"epsilon_lower {bound} is no bound that runs can show")
    by_runs = (bound is not None and bound > point) or (tested is not UNSET and tested.by_curve)
    compared = UNSET if tested is UNSET else tested.law_claim
    by_law = exact is not None and exact > (claimed if compared is UNSET else compared)
    # The error of a delta is not kept, and a check may make what runs show meaningless.
    certain = compared is not UNSET and (exact or 0.0) - numbers.get("exact_epsilon_error", 0.0) > compared + ROUNDING
    if row.verdict == Verdict.ACCEPTED and (row.accepted is None or _most(numbers) > row.accepted.epsilon):
        raise ToolFault("the verdict 'accepted' is of more than was accepted")
    gaps = tested is not UNSET and tested.gaps > 0
    unseen = gaps and compared is UNSET
    possible = {
        Verdict.VIOLATION: by_runs or by_law,
        Verdict.ACCEPTED: by_runs or by_law,
        Verdict.CONSISTENT: not (certain or unseen or (by_runs and not gaps)) and bool(numbers),
        Verdict.NO_EVIDENCE: not certain and (unseen or tested is UNSET) and bool(numbers),
        Verdict.FAILED: not numbers and tested is UNSET,
    }
    if not possible.get(row.verdict):
        raise ToolFault(f"the verdict {row.verdict.value!r} is not what its numbers give")
    return tuple(left)


PLACE = FOLDER / "history.jsonl"


class ProjectCheck(Frozen, frozen=True, kw_only=True, tag="check", tag_field="record"):
    """A check that ended at a time, in UTC, and what it found of each mechanism; the numbers depend on the versions.

    Its digest is over the other bytes of its line and over the digest of the line before; lines that an earlier version
    wrote have none.
    """

    at: datetime.datetime
    rows: tuple[Standing, ...]
    versions: dict[str, str] = msgspec.field(default_factory=versions)
    schema_version: Literal[2] = SCHEMA_VERSION
    digest: str = ""


class History(NamedTuple):
    """The checks of a project, the oldest first, and notes on what is lost or is not chained.

    `whole` is the number of bytes that are kept, `torn` what follows them, and `digest` what the next line continues.
    """

    checks: tuple[ProjectCheck, ...]
    notes: tuple[str, ...]
    whole: bytes
    torn: bytes
    digest: str


PATIENCE = 60.0
"""Seconds that a check waits for others that write to the history: their result is made, and must not be lost."""


def keep(rows: Sequence[Standing], root: Path, at: datetime.datetime | None = None) -> tuple[Path, tuple[str, ...]]:
    """Append a check, of now by default, to the history of the project with its settings in `root`.

    Returns the file, and notes: a torn end, which a kill or a full disk leaves, is cut off, and all whole lines stay.
    `ToolFault` if a line is not as it was written: the message names it.
    """
    path = root / PLACE
    path.parent.mkdir(exist_ok=True)
    made = ProjectCheck(at=(at or datetime.datetime.now(datetime.UTC)).replace(microsecond=0), rows=tuple(rows))
    with locked_folder(path.parent, PATIENCE):
        refuse_link(path)
        kept = parse_history(path.read_bytes(), path) if path.exists() else History((), (), b"", b"", "")
        if kept.torn:
            write_atomically(path, kept.whole)
        append_line(path, write_line(made, kept.digest))
    return path, kept.notes


def read_history(path: Path, last: int | None = None) -> History:
    """Return a history, each line of which was checked against the line before, and its verdicts against its counts.

    With `last` the counts of so many checks are looked at, those that are compared. `InputError` if there is no
    history, or no check in it; `ToolFault` if a line is no check, is not as it was written, or says something else than
    follows from its counts: the message names it.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"there is no history {str(path)!r}: `dpaudit check` begins one") from None
    found = parse_history(content, path)
    if not found.checks:
        raise InputError(f"{path} holds no check: {'; '.join(found.notes) or 'it is empty'}")
    left: Counter[str] = Counter()
    looked = list(enumerate(found.checks, 1))[-(last or len(found.checks)) :]
    with suppress(InputError):  # a row whose counts no bound takes is named below
        compute_together(row for _, check in looked for row in check.rows)
    for number, check in looked:
        for row in check.rows:
            try:
                lacking = check_row(row)
                if check.digest and EARLIER in lacking:
                    raise ToolFault("it has no counts, which every check of this version keeps")
                left.update(lacking)
            except (InputError, ToolFault) as error:
                raise ToolFault(f"{path}, line {number}: {row.name}: {error}") from None
    return found._replace(notes=(*found.notes, *not_recomputed(left)))


def parse_history(content: bytes, path: Path) -> History:
    """Return the checks of a history whose chain holds.

    A last line that lacks its end is no check; it is whole if nothing but the line break is lost.
    """
    end = content.rfind(b"\n") + 1
    whole, torn, notes = content[:end], content[end:], []
    checks: list[ProjectCheck] = []
    before, old = "", 0
    lines = whole.split(b"\n")[:-1]
    for number, line in enumerate(lines, 1):
        check = decode(line, ProjectCheck, f"{path}, line {number}")
        if not check.digest and old == number - 1:
            old = number
            before = hashlib.blake2b(b"".join(line + b"\n" for line in lines[:number]), digest_size=32).hexdigest()
        elif not check.digest or digest_in(line) != digest_in(linked(line, before)):
            altered = "altered since it was written, or a line before it is missing, moved or altered"
            remedy = "restore the file, or move it away and let `dpaudit check` begin another"
            raise ToolFault(f"{path}, line {number}: {altered}; {remedy}")
        else:
            before = check.digest
        checks.append(check)
    if torn:
        if _is_whole(torn, before):
            checks.append(decode(torn, ProjectCheck, path))
            whole, before = whole + torn + b"\n", checks[-1].digest
            notes.append(f"the last line of {path} lacked its line break, and nothing else")
        elif not torn.rstrip(b"\0").startswith(_BEGIN[: len(torn.rstrip(b"\0"))]):
            raise ToolFault(f"{path}, line {len(lines) + 1}: no check, and no part of one; move the file away")
        else:
            lost = _AT.match(torn)
            of = f"of the check that ended at {lost[1].decode()}" if lost else "which do not show of which check"
            notes.append(f"the last line of {path} is torn: {plural(len(torn), 'byte')} are lost, {of}")
    if old:
        notes.append(f"{plural(old, 'check')} of an earlier version in {path}: no digest shows if they were altered")
    return History(tuple(checks), tuple(notes), whole, torn, before)


_BEGIN = b'{"at":"'
_AT = re.compile(rb'\{"at":"([0-9T:Z.+-]{1,32})"')


def _is_whole(line: bytes, before: str) -> bool:
    """Return whether bytes are a line that continues a digest, all but its line break."""
    try:
        return digest_in(line) == digest_in(linked(line + b"\n", before))
    except ToolFault:
        return False
