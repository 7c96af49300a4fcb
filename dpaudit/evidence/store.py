"""Results as JSON Lines: appended as they come, resumed after a kill, the same bytes in the end.

The first line is the header, each other line one result, or the error of a task that failed. While a run goes on,
lines stand in the order in which the tasks end; once it is over they stand in the order of the plan, and the last one
is the seal. Nothing in the file depends on the machine's load: no times, no host names, no number of processes.

A line is canonical JSON. Its digest is over its other bytes and over the digest that it continues: that of the header
while a run goes on, that of the line before in a sealed file.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.errors import InputError, ToolFault
from dpaudit.evidence.lines import chained, digest_in, linked, write_line
from dpaudit.evidence.records import Failure, Header, LedgerRow, Record, Result, Run, Seal
from dpaudit.evidence.started import read_start, write_start
from dpaudit.evidence.tasks import ExactArguments, PrivacyArguments, Task, UtilityArguments
from dpaudit.exact.finding import LawFinding
from dpaudit.files import append_line, free_backup, named, refuse_link, write_atomically
from dpaudit.record import decode
from dpaudit.results import SCHEMA_VERSION
from dpaudit.utility.finding import UtilityFinding

FILENAME = "run.jsonl"
# The fields of a finding of each kind that must equal those of the arguments of its task.
_OF_THE_TASK = {
    "privacy": ("confidence",),
    "exact": ("relation",),
    "utility": ("alpha", "beta", "n", "confidence", "setting"),
    "ledger": ("statement",),
    "picture": ("runs",),
}


def require(holds: bool, otherwise: str) -> None:
    """Raise `ToolFault` with a message unless something holds."""
    if not holds:
        raise ToolFault(otherwise)


def check_lines(run: Run) -> None:
    """Raise `ToolFault` unless the records of a run are as they were written, and as consistent as those of a file."""
    sealed = run.header.state == "sealed"
    altered = "is not as it was written: its digest is that of other bytes"
    before = digest = digest_in(write_line(run.header))
    require(run.header.digest == digest, f"the header {altered}")
    # A run holds results and failures apart; the file has them, and chains them, in the order of the plan.
    records: list[Result | Failure] = sorted((*run.results, *run.failures), key=lambda one: one.index)
    for one in records:
        digest = digest_in(write_line(one, before))
        require(one.digest == digest, f"{one.task:.200} {altered}")
        check_record(run.header, one)
        # Only the lines of a sealed run are chained: until then they stand in the order in which tasks ended.
        if sealed:
            before = digest
    total = ""
    if sealed:
        total = digest_in(write_line(Seal(records=len(records)), before))
    require(run.total == total, f"the total is {run.seal}, and its records give {total or run.header.state}")


# It allows other fields than a header has: a run of another schema is refused with its number, not for a field that
# is new.
class _Versioned(msgspec.Struct):
    """The part of a header that decides whether the rest can be read."""

    schema_version: int


@contextmanager
def _located(path: Path, number: int) -> Iterator[None]:
    try:
        yield
    except ToolFault as error:
        raise ToolFault(f"{path}, line {number}: {error}") from None


def read_header(path: Path, line: bytes) -> Header:
    """Return the header that a line holds; `InputError` if it has another schema version, `ToolFault` if it is none."""
    foreign = f"{path}, line 1: not the header of a run, so it is not a dpaudit run"
    try:
        version = msgspec.json.decode(line, type=_Versioned).schema_version
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ToolFault(f"{foreign} ({error!s:.200})") from None
    if version != SCHEMA_VERSION:
        message = f"{path} has schema version {version}; this dpaudit reads {SCHEMA_VERSION}: read it with the dpaudit "
        raise InputError(message + "that wrote it, or run the audit again")
    header = read_record(path, 1, line)
    if not isinstance(header, Header):
        raise ToolFault(foreign)
    # A resumed run finds the place of a record by its task, and what is done already.
    for task, times in Counter(planned.task for planned in header.plan).items():
        require(times == 1, f"{path}, line 1: the plan has {task!r:.200} twice")
    return header


def read_record(path: Path, number: int, line: bytes, before: str = "") -> Record:
    """Return the record that a line holds; `ToolFault`, with file, line and field, if it was altered."""
    with _located(path, number):
        altered = "altered since it was written, or not in its place: its digest is that of other bytes"
        # Written anew from its own fields and compared byte by byte: a line is canonical JSON, and no key stands in
        # it twice.
        require(linked(line, before) == line, altered)
        record: Record = decode(line, Record)
        return record


class Stored(NamedTuple):
    """A run file: the run, the bytes of its whole lines, and by task, in the order of the plan, lines and numbers."""

    run: Run
    whole: int
    lines: dict[str, bytes]
    numbers: dict[str, int]


def read_stored(path: Path, *, torn: bool = False) -> Stored:
    """Return what a file holds, read line after line, each checked against those before.

    With `torn` a sealed file may have lost its end, as one whose copy was cut off. A last line that is not whole is
    left out. `InputError` if not even the first line is whole, or the file has another schema version; `ToolFault` if a
    line is corrupt, altered, foreign, doubled, moved or missing, or inconsistent: the message names it.
    """
    with named(path):
        content = path.read_bytes()
    # A kill tears at most the last line; what it said is computed again.
    whole = content.rfind(b"\n") + 1
    if not whole:
        raise InputError(f"{path} holds no run: not even its first line is whole")
    first, *rest = content[:whole].split(b"\n")[:-1]
    header = read_header(path, first)
    before = header.digest
    total = ""
    sealed = header.state == "sealed"
    more = "there is more behind the seal"
    kept: dict[int, tuple[Result | Failure, bytes, int]] = {}
    for number, line in enumerate(rest, start=2):
        record = read_record(path, number, line, before)
        with _located(path, number):
            require(not total, more)
            if isinstance(record, Header):
                raise ToolFault("a second header")
            if isinstance(record, Seal):
                require(sealed, f"a seal in a file that is {header.state}")
                require(record.records == number - 2, f"the seal is of {record.records} records, not of {number - 2}")
                total = record.digest
            else:
                check_record(header, record)
                # While a run goes on, lines stand in the order in which its tasks ended.
                in_order = not sealed or record.index > max(kept, default=-1)
                require(in_order, f"{record.task!r:.200} is not in the order of the plan")
                # A task has one result, which stands for it whatever failed before or after.
                if record.index not in kept or isinstance(kept[record.index][0], Failure):
                    kept[record.index] = record, line, number
                else:
                    require(isinstance(record, Failure), f"a second result for {record.task:.200}")
        # The lines of an open run continue the header alone: they may come in any order, and none of another run fits.
        if sealed:
            before = record.digest
    # Whoever resumes a run makes again what is lost, to the same bytes; any other reader must not take a part for
    # all.
    if sealed and not (torn and not total):
        with _located(path, len(rest) + 2):
            lost = "its end is missing, the seal of a finished run; `dpaudit run --resume` makes again what is lost"
            require(bool(total), lost)
            require(whole == len(content), more)
    in_plan = [kept[index] for index in sorted(kept)]
    results = tuple(record for record, *_ in in_plan if isinstance(record, Result))
    failures = tuple(record for record, *_ in in_plan if isinstance(record, Failure))
    lines = {record.task: line + b"\n" for record, line, _ in in_plan}
    numbers = {record.task: number for record, _, number in in_plan}
    return Stored(Run(header, results, failures, total, started=read_start(path)), whole, lines, numbers)


class Store:
    """The file of one run, from `Store.start` or `Store.resume`; `done` has the keys of the tasks with a result."""

    def __init__(self, path: Path, header: Header, done: set[str]) -> None:
        self.path = path
        self.done = done
        self._index = {planned.task: i for i, planned in enumerate(header.plan)}
        self._digest = digest_in(write_line(header))

    @classmethod
    def start(cls, path: Path, header: Header) -> Store:
        """Begin a run; an existing file is kept as ``run.jsonl.bak`` (``.bak2``, ...)."""
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.stat().st_size:
            # No result is ever overwritten, not even by the same command without --resume.
            os.replace(path, free_backup(path))
        header = replace(header, state="not sealed")
        write_atomically(path, write_line(header))
        # The date stands in a file of its own, so that two runs of one command are equal byte by byte.
        write_start(path)
        return cls(path, header, set())

    @classmethod
    def resume(cls, path: Path, header: Header) -> Store:
        """Go on with a run that was killed; begin it if there is no file or not even a whole first line.

        `InputError` if the file belongs to another run (the message names what differs) or is a symbolic link;
        `ToolFault` if a line is corrupt (a torn end is not: it is cut off and its tasks done again).
        """
        refuse_link(path)
        if not path.exists() or b"\n" not in path.read_bytes():
            return cls.start(path, header)
        stored = read_stored(path, torn=True)
        run = stored.run
        _same_run(path, run.header, header)
        opened = replace(run.header, state="not sealed")
        done = {result.task for result in run.results}
        # A sealed run whose tasks failed, or that lost its end, is opened again: its lines continue the header now,
        # so that others can follow in any order.
        if run.header.state != "not sealed" and (not run.total or len(done) < len(header.plan)):
            first = write_line(opened)
            lines = (linked(line, digest_in(first)) for line in stored.lines.values())
            write_atomically(path, b"".join([first, *lines]))
        # The torn end goes first: the next line must not be glued to half of one.
        elif stored.whole < path.stat().st_size:
            os.truncate(path, stored.whole)
        return cls(path, opened, done)

    def append(self, record: Result | Failure) -> None:
        """Write a record and wait until it is on the disk; a task that failed is not done, so a resume repeats it."""
        append_line(self.path, write_line(replace(record, index=self._index[record.task]), self._digest))
        if isinstance(record, Result):
            self.done.add(record.task)

    def finish(self) -> None:
        """Seal the run: put the lines into the order of the plan, chain them, and end them with the total.

        A failure stays only if its task has no result yet.
        """
        stored = read_stored(self.path)
        # A finished run that was resumed is sealed already.
        if not stored.run.total:
            header = replace(stored.run.header, state="sealed")
            write_atomically(self.path, chained(header, stored.lines.values()))


def find_run(path: Path | str) -> Path:
    """Return the file of a run, or the one that a folder holds; `InputError` if there is none."""
    file = Path(path)
    if file.is_dir():
        file = file / FILENAME
    if not file.is_file():
        raise InputError(f"there is no run at {str(path)!r}; give a folder with {FILENAME}, or the file itself")
    return file


def load_run(path: Path | str) -> Run:
    """Return a stored run, finished or not, from its file or the folder that holds it as ``run.jsonl``.

    `InputError` if there is no such file, or it has no header yet, or another schema version; `ToolFault` if a line is
    corrupt: the message names the file, the line and the field.
    """
    return read_stored(find_run(path)).run


def _same_run(path: Path, stored: Header, header: Header) -> None:
    differs = []
    # On these the numbers depend. The command is not among them: it may be worded otherwise, and the first wording
    # stays in the header.
    compared = (
        ("seed", stored.seed, header.seed),
        ("profile", stored.profile, header.profile),
        ("versions", stored.versions, header.versions),
        ("streams_version", stored.streams_version, header.streams_version),
    )
    for name, was, now in compared:
        if was != now:
            differs.append(f"{name} was {was!r}, is now {now!r}")
    if changed := {name for name, _ in stored.sources.items() ^ header.sources.items()}:
        differs.append(f"the sources have changed since: {', '.join(sorted(changed))}")
    if stored.plan != header.plan:
        before, after = ({planned.task for planned in one.plan} for one in (stored, header))
        # A plan may have over a thousand tasks; a few of them show what differs.
        only = [f"only before: {key}" for key in sorted(before - after)]
        only += [f"only now: {key}" for key in sorted(after - before)]
        shown = "; ".join(only[:4])
        if len(only) > 4:
            shown += f"; and {len(only) - 4} more"
        differs.append(f"the plan differs ({shown or 'in its order'})")
    # The error of a fault may differ from time to time (a message may hold an address), its learner may not.
    unplanned = [", ".join(sorted({fault.learner for fault in one.faults})) or "none" for one in (stored, header)]
    if unplanned[0] != unplanned[1]:
        differs.append(f"the learners without a plan were {unplanned[0]}, are now {unplanned[1]}")
    if differs:
        message = "cannot resume {path}: {reason}. Leave out {resume:=True} to start afresh"
        raise InputError(message, names=("resume",), path=path, reason="; ".join(differs))


# A stored record is consistent: each number agrees with the others, and the record with its header.


def check_record(header: Header, record: Result | Failure) -> None:
    """Raise `ToolFault` unless a record, and the finding of a result, agree with the task in the plan."""
    planned = None
    if record.index < len(header.plan):
        planned = header.plan[record.index]
    if planned is None or planned.task != record.task:
        raise ToolFault(f"{record.task!r:.200} is not task {record.index} of the plan")
    _same("learner", record.learner, planned.learner, "the plan")
    _same("kind", record.kind, planned.kind, "the plan")
    if isinstance(record, Result):
        _check_finding(header, record)
    # The key is a digest of learner, parameters and arguments: none of them can be altered alone, even by somebody
    # who computes the digests of lines anew.
    key = Task(record.learner, record.parameters, record.arguments).key
    require(key == record.task, f"learner, parameters and arguments are those of {key:.200}, not of {record.task:.200}")
    if isinstance(record, Result):
        _same("fault", record.fault, header.controls.get(record.learner), "the header")
        _same("versions", record.finding.versions, header.versions, "the header")


def _check_finding(header: Header, record: Result) -> None:
    """Raise `ToolFault` unless a finding agrees with the header, the arguments of its task, and the claim."""
    finding = record.finding
    arguments = record.arguments
    claim = record.claim
    # Exact laws and checks of statements have no seed.
    if not isinstance(finding, LawFinding | LedgerRow):
        _same("seed", finding.seed, header.seed, "the header")
    for name in _OF_THE_TASK[record.kind]:
        _same(name, getattr(finding, name), getattr(arguments, name), "the task")
    if isinstance(finding, PrivacyFinding) and isinstance(arguments, PrivacyArguments):
        # A time limit may leave fewer runs than the task has; they are never more.
        if arguments.time_limit is None:
            _same("trials", finding.trials, arguments.trials, "the task")
        else:
            _at_most("trials", finding.trials, arguments.trials)
        # Of a claim that is a curve the audit states a point of its own choice.
        for name in ("epsilon", "delta") if finding.curve_test is None else ():
            asked = [getattr(one, name) for one in (arguments, claim) if getattr(one, name, None) is not None]
            if asked:
                _same(name, getattr(finding, name), asked[0], "the claim")
    elif isinstance(finding, LawFinding) and isinstance(arguments, ExactArguments):
        if arguments.samples == "all":
            _same("n", finding.n, arguments.n, "the task")
        claimed_delta = claim.delta if claim else 0.0
        _same("claimed_epsilon", finding.claimed_epsilon, claim and claim.epsilon, "the claim")
        _same("claimed_delta", finding.claimed_delta, claimed_delta, "the claim")
    elif isinstance(finding, UtilityFinding) and isinstance(arguments, UtilityArguments):
        _at_most("trials", finding.trials, max(arguments.trials, arguments.most or 0))
        # Where the interval contains beta the runs grow, up to `most`.
        _at_most("the trials planned", arguments.trials, finding.trials)
    elif isinstance(finding, LedgerRow):
        _same("id", finding.id, record.learner, "the plan")


def _at_most(name: str, found: int, most: int) -> None:
    require(found <= most, f"{name} {found} are more than {most}")


def _same(name: str, found: Any, other: Any, where: str) -> None:
    require(found == other, f"{name} {found!r:.200} is not that of {where}, {other!r:.200}")
