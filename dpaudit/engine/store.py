"""Results as JSON Lines: appended as they come, resumed after a kill, the same bytes in the end.

The first line is the header, each other line one result, or the error of a task that failed. While a run goes on,
lines stand in the order in which the tasks end; once it is over they stand in the order of the plan. Nothing in the
file depends on the machine's load: no times, no host names, no number of processes.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from dpaudit.engine.files import append_line, free_backup, write_atomically
from dpaudit.engine.lines import read_header, read_record, write_line
from dpaudit.engine.records import Failure, Fault, Header, Planned, Result, Run
from dpaudit.errors import InputError, ToolFault
from dpaudit.results import SCHEMA_VERSION, versions

__all__ = ["FILENAME", "Store", "load_run", "make_header"]

FILENAME = "run.jsonl"


def make_header(
    plan: Sequence[Planned],
    *,
    seed: int,
    profile: str,
    command: str,
    faults: Sequence[Fault] = (),
    controls: Mapping[str, str] | None = None,
    sources: Mapping[str, str] | None = None,
) -> Header:
    """Return the first line of a run.

    `controls` says of each positive control what it leaks, so that one without any result is known as such; `sources`
    holds the digests of the code, as `engine.sources.sources` makes them.
    """
    return Header(
        seed=seed,
        profile=profile,
        plan=tuple(plan),
        faults=tuple(faults),
        controls=dict(controls or {}),
        sources=dict(sources or {}),
        command=command,
        versions=versions(),
    )


class Store:
    """The file of one run.

    Make one with `Store.start` or `Store.resume`.

    Attributes
    ----------
    path : Path
        The file.
    done : set of str
        Keys of the tasks whose findings are in it.
    """

    def __init__(self, path: Path, header: Header, done: set[str]) -> None:
        self.path = path
        self.done = done
        self._index = {planned.task: i for i, planned in enumerate(header.plan)}

    @classmethod
    def start(cls, path: Path, header: Header) -> Store:
        """Begin a run; a file that is already there is kept as ``run.jsonl.bak`` (``.bak2``, ...)."""
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.stat().st_size:
            os.replace(path, free_backup(path))
        write_atomically(path, write_line(header))
        return cls(path, header, set())

    @classmethod
    def resume(cls, path: Path, header: Header) -> Store:
        """Go on with a run that was killed; begin it if there is no file or not even a whole first line.

        Raises
        ------
        InputError
            If the file belongs to another run: the message says what differs.
        ToolFault
            If a line is corrupt (a torn last line is not: it is cut off and its task done again).
        """
        if not path.exists() or b"\n" not in path.read_bytes():
            return cls.start(path, header)
        stored = _read(path)
        if stored.version != SCHEMA_VERSION:
            told = f"it was written in schema version {stored.version}, this dpaudit writes {SCHEMA_VERSION}"
            raise _not_resumed(path, told)
        _same_run(path, stored.header, header)
        if stored.whole < path.stat().st_size:
            os.truncate(path, stored.whole)
        return cls(path, stored.header, {result.task for result in stored.results})

    def append(self, result: Result) -> None:
        """Write one result and wait until it is on the disk."""
        self._add(result)
        self.done.add(result.task)

    def fail(self, failure: Failure) -> None:
        """Write a task that failed; it is not done, and a resumed run tries it again."""
        self._add(failure)

    def _add(self, record: Result | Failure) -> None:
        line = write_line(replace(record, index=self._index[record.task]))
        with open(self.path, "ab", buffering=0) as file:
            append_line(file, line)

    def finish(self) -> None:
        """Put the lines into the order of the plan; of failures those stay whose task has no result yet."""
        stored = _read(self.path)
        kept = sorted([*stored.results, *stored.failures], key=lambda record: record.index)
        write_atomically(self.path, b"".join([stored.first, *(stored.lines[record.task] for record in kept)]))


def load_run(path: Path | str) -> Run:
    """Return a stored run, finished or not; one of schema version 1 is upgraded.

    Parameters
    ----------
    path : Path or str
        The file, or the folder that holds it as ``run.jsonl``.

    Raises
    ------
    InputError
        If there is no such file or it has no header yet.
    ToolFault
        If a line is corrupt: the message names the file, the line and the field.
    """
    file = Path(path)
    file = file / FILENAME if file.is_dir() else file
    if not file.is_file():
        raise InputError(f"there is no run at {str(path)!r}; give a folder with {FILENAME}, or the file itself")
    stored = _read(file)
    return Run(stored.header, tuple(stored.results), tuple(stored.failures))


class _Stored(NamedTuple):
    """The content of a file: results, and the last failure of each task without one; `whole` bytes are whole lines."""

    header: Header
    results: list[Result]
    failures: list[Failure]
    whole: int
    version: int
    first: bytes
    lines: dict[str, bytes]


def _read(path: Path) -> _Stored:
    """Return what a file holds, in the order of the plan."""
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if not whole:
        raise InputError(f"{path} holds no run: not even its first line is whole")
    lines = content[:whole].splitlines(keepends=True)
    header, version = read_header(path, lines[0].rstrip(b"\n"))
    found: dict[int, Result] = {}
    failed: dict[int, Failure] = {}
    kept: dict[str, bytes] = {}
    for number, line in enumerate(lines[1:], start=2):
        record = read_record(path, number, line.rstrip(b"\n"), version)
        if not 0 <= record.index < len(header.plan) or header.plan[record.index].task != record.task:
            raise ToolFault(f"{path}, line {number}: {record.task!r} is not task {record.index} of the plan")
        if isinstance(record, Failure):
            failed[record.index] = record
            if record.index in found:
                continue
        elif record.index in found:
            raise ToolFault(f"{path}, line {number}: a second result for {record.task}")
        else:
            found[record.index] = record
        kept[record.task] = line
    left = sorted(failed.keys() - found.keys())
    results, failures = [found[index] for index in sorted(found)], [failed[index] for index in left]
    return _Stored(header, results, failures, whole, version, lines[0], kept)


def _same_run(path: Path, stored: Header, header: Header) -> None:
    """Raise `InputError` saying what differs unless both headers belong to the same run."""
    differs = [
        f"{name} was {getattr(stored, name)!r}, is now {getattr(header, name)!r}"
        for name in ("seed", "profile", "versions", "streams_version")
        if getattr(stored, name) != getattr(header, name)
    ]
    old, new = stored.sources, header.sources
    changed = sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
    if changed:
        differs.append(f"the sources have changed since: {', '.join(changed)}")
    before, now = ({planned.task for planned in h.plan} for h in (stored, header))
    if stored.plan != header.plan:
        only = [f"only before: {k}" for k in sorted(before - now)] + [f"only now: {k}" for k in sorted(now - before)]
        shown = "; ".join(only[:4]) + (f"; and {len(only) - 4} more" if len(only) > 4 else "")
        differs.append(f"the plan differs ({shown or 'in its order'})")
    # The error of a fault may differ from time to time (a message may hold an address), its learner may not.
    unplanned, today = ({fault.learner for fault in h.faults} for h in (stored, header))
    if unplanned != today:
        told = [", ".join(sorted(ids)) or "none" for ids in (unplanned, today)]
        differs.append(f"the learners without a plan were {told[0]}, are now {told[1]}")
    if differs:
        raise _not_resumed(path, "; ".join(differs))


def _not_resumed(path: Path, reason: str) -> InputError:
    """Return the error that a run cannot be gone on with."""
    told = "cannot resume {path}: {reason}. Leave out {resume:=True} to start afresh"
    return InputError(told, names=("resume",), path=path, reason=reason)
