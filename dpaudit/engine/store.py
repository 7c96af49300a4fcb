"""Results as JSON Lines: appended as they come, resumed after a kill, the same bytes in the end.

The first line is the header, each other line one result, or the error of a task that failed. While a run goes on,
lines stand in the order in which the tasks end; once it is over they stand in the order of the plan. Nothing in the
file depends on the machine's load: no times, no host names, no number of processes.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from io import FileIO
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from dpaudit.engine.lines import read_header, read_record, write_line
from dpaudit.engine.records import Failure, Header, Result, Run
from dpaudit.errors import InputError, ToolFault
from dpaudit.results import SCHEMA_VERSION, versions

__all__ = ["FILENAME", "Store", "keep_foreign", "load_run", "make_header", "write_atomically"]

FILENAME = "run.jsonl"


def make_header(
    plan: Sequence[str],
    *,
    seed: int,
    profile: str,
    command: str,
    faults: Sequence[str] = (),
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
        self._index = {key: i for i, key in enumerate(header.plan)}

    @classmethod
    def start(cls, path: Path, header: Header) -> Store:
        """Begin a run; a file that is already there is kept as ``run.jsonl.bak`` (``.bak2``, ...)."""
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.stat().st_size:
            os.replace(path, _free_backup(path))
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
            raise InputError(
                f"cannot resume {path}: it was written in schema version {stored.version}, this dpaudit writes "
                f"{SCHEMA_VERSION}. Leave out --resume to start afresh"
            )
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
            _write_line(file, line)

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


def keep_foreign(path: Path) -> None:
    """Move a file that dpaudit did not write out of the way of one that it is about to write."""
    if path.is_file() and b"dpaudit" not in path.read_bytes():
        os.replace(path, _free_backup(path))


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file so that a reader, or a kill, sees the old content or the new, never a part."""
    scratch = path.with_name(path.name + ".tmp")
    with open(scratch, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(scratch, path)


def _write_line(file: FileIO, line: bytes) -> None:
    """Append a line and wait until it is on the disk; if that fails, leave the file as it was.

    Without a buffer a kill leaves at most one torn line, the last. But such a write may be short where the disk is
    nearly full, and the next line must not be glued to half of this one.
    """
    end, left = file.tell(), memoryview(line)
    try:
        while left:
            left = left[file.write(left) :]
        os.fsync(file.fileno())
    except BaseException:  # an interrupt between two writes tears the line as well
        file.truncate(end)
        raise


def _free_backup(path: Path) -> Path:
    """Return the first backup name that is not taken: no result is ever overwritten."""
    count = 1
    while (backup := path.with_name(f"{path.name}.bak{count if count > 1 else ''}")).exists():
        count += 1
    return backup


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
        if not 0 <= record.index < len(header.plan) or header.plan[record.index] != record.task:
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
    before, now = set(stored.plan), set(header.plan)
    if stored.plan != header.plan:
        only = [f"only before: {k}" for k in sorted(before - now)] + [f"only now: {k}" for k in sorted(now - before)]
        shown = "; ".join(only[:4]) + (f"; and {len(only) - 4} more" if len(only) > 4 else "")
        differs.append(f"the plan differs ({shown or 'in its order'})")
    # What a fault says may differ from time to time (a message may hold an address), of whom it speaks may not.
    unplanned, today = ({text.partition(":")[0] for text in h.faults} for h in (stored, header))
    if unplanned != today:
        told = [", ".join(sorted(ids)) or "none" for ids in (unplanned, today)]
        differs.append(f"the learners without a plan were {told[0]}, are now {told[1]}")
    if differs:
        raise InputError(f"cannot resume {path}: {'; '.join(differs)}. Leave out --resume to start afresh")
