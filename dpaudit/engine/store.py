"""Results as JSON Lines: appended as they come, resumed after a kill, the same bytes in the end.

The first line is the header, each other line one result, or the error of a task that failed. While a run goes on,
lines stand in the order in which the tasks end; once it is over they stand in the order of the plan, and the last one
is the seal. Nothing in the file depends on the machine's load: no times, no host names, no number of processes.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from dpaudit.engine.files import append_line, free_backup, refuse_link, write_atomically
from dpaudit.engine.records import Failure, Fault, Header, Planned, Result, Run, State
from dpaudit.engine.run_file import Stored, chained, digest_in, linked, read_stored, write_line
from dpaudit.engine.signature import signature_of
from dpaudit.errors import InputError
from dpaudit.results import versions

__all__ = ["FILENAME", "Store", "find_run", "load_run", "make_header"]

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
        self._digest = digest_in(write_line(header))

    @classmethod
    def start(cls, path: Path, header: Header) -> Store:
        """Begin a run; a file that is already there is kept as ``run.jsonl.bak`` (``.bak2``, ...)."""
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.stat().st_size:
            backup = free_backup(path)
            os.replace(path, backup)
            if signature_of(path).exists():
                os.replace(signature_of(path), signature_of(backup))
        header = replace(header, state=State.OPEN)
        write_atomically(path, write_line(header))
        return cls(path, header, set())

    @classmethod
    def resume(cls, path: Path, header: Header) -> Store:
        """Go on with a run that was killed; begin it if there is no file or not even a whole first line.

        Raises
        ------
        InputError
            If the file belongs to another run: the message says what differs; or if it is a symbolic link.
        ToolFault
            If a line is corrupt (a torn end is not: it is cut off and its tasks done again).
        """
        refuse_link(path)
        if not path.exists() or b"\n" not in path.read_bytes():
            return cls.start(path, header)
        stored = read_stored(path, torn=True)
        _same_run(path, stored.header, header)
        done = {result.task for result in stored.run.results}
        if stored.header.state != State.OPEN and (stored.seal is None or len(done) < len(header.plan)):
            write_atomically(path, _opened(stored))
        elif stored.whole < path.stat().st_size:
            os.truncate(path, stored.whole)
        return cls(path, replace(stored.header, state=State.OPEN), done)

    def append(self, result: Result) -> None:
        """Write one result and wait until it is on the disk."""
        self._add(result)
        self.done.add(result.task)

    def fail(self, failure: Failure) -> None:
        """Write a task that failed; it is not done, and a resumed run tries it again."""
        self._add(failure)

    def _add(self, record: Result | Failure) -> None:
        line = write_line(replace(record, index=self._index[record.task]), self._digest)
        append_line(self.path, line)

    def finish(self) -> None:
        """Seal the run: put the lines into the order of the plan, chain them, and end them with the total.

        Of failures those stay whose task has no result yet.
        """
        stored = read_stored(self.path)
        if stored.seal is None:
            header = replace(stored.header, state=State.SEALED)
            signature_of(self.path).unlink(missing_ok=True)  # of what the run was before it was gone on with
            write_atomically(self.path, chained(header, (line + b"\n" for line in _ordered(stored))))


def _ordered(stored: Stored) -> list[bytes]:
    """Return the lines of a file in the order of the plan."""
    return [stored.lines[planned.task] for planned in stored.header.plan if planned.task in stored.lines]


def _opened(stored: Stored) -> bytes:
    """Return the content of a finished file as that of one that goes on."""
    first = write_line(replace(stored.header, state=State.OPEN))
    return b"".join([first, *(linked(line + b"\n", digest_in(first)) for line in _ordered(stored))])


def find_run(path: Path | str) -> Path:
    """Return the file of a run, or the one that a folder holds; `InputError` if there is none."""
    file = Path(path)
    file = file / FILENAME if file.is_dir() else file
    if not file.is_file():
        raise InputError(f"there is no run at {str(path)!r}; give a folder with {FILENAME}, or the file itself")
    return file


def load_run(path: Path | str) -> Run:
    """Return a stored run, finished or not.

    Parameters
    ----------
    path : Path or str
        The file, or the folder that holds it as ``run.jsonl``.

    Raises
    ------
    InputError
        If there is no such file, it has no header yet, or it has another schema version.
    ToolFault
        If a line is corrupt: the message names the file, the line and the field.
    """
    return read_stored(find_run(path)).run


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
        message = "cannot resume {path}: {reason}. Leave out {resume:=True} to start afresh"
        raise InputError(message, names=("resume",), path=path, reason="; ".join(differs))
