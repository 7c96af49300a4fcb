"""Results as JSON Lines: appended as they come, resumed after a kill, the same bytes in the end.

The first line is the header, each other line one result, or the error of a task that failed. While a run goes on,
lines stand in the order in which the tasks end; once it is over they stand in the order of the plan, and the last one
is the seal. Nothing in the file depends on the machine's load: no times, no host names, no number of processes.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec.structs import replace

from dpaudit.engine.files import append_line, free_backup, refuse_link, write_atomically
from dpaudit.engine.records import Failure, Header, Result, Run, State
from dpaudit.engine.run_file import Stored, chained, digest_in, linked, read_stored, write_line
from dpaudit.errors import InputError
from dpaudit.registry import PRIVATE

__all__ = ["FILENAME", "Store", "digest_of", "find_run", "load_run", "sources"]

FILENAME = "run.jsonl"


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
        """Begin a run; an existing file is kept as ``run.jsonl.bak`` (``.bak2``, ...)."""
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.stat().st_size:
            os.replace(path, free_backup(path))
        header = replace(header, state=State.OPEN)
        write_atomically(path, write_line(header))
        return cls(path, header, set())

    @classmethod
    def resume(cls, path: Path, header: Header) -> Store:
        """Go on with a run that was killed; begin it if there is no file or not even a whole first line.

        Raises
        ------
        InputError
            If the file belongs to another run: the message names what differs; or if it is a symbolic link.
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

    def append(self, record: Result | Failure) -> None:
        """Write a record and wait until it is on the disk; a task that failed is not done, so a resume repeats it."""
        append_line(self.path, write_line(replace(record, index=self._index[record.task]), self._digest))
        if isinstance(record, Result):
            self.done.add(record.task)

    def finish(self) -> None:
        """Seal the run: put the lines into the order of the plan, chain them, and end them with the total.

        Of failures those stay whose task has no result yet.
        """
        stored = read_stored(self.path)
        if stored.seal is None:
            header = replace(stored.header, state=State.SEALED)
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
    """Raise `InputError` with what differs unless both headers belong to the same run."""
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
        was, are = (", ".join(sorted(ids)) or "none" for ids in (unplanned, today))
        differs.append(f"the learners without a plan were {was}, are now {are}")
    if differs:
        message = "cannot resume {path}: {reason}. Leave out {resume:=True} to start afresh"
        raise InputError(message, names=("resume",), path=path, reason="; ".join(differs))


def sources(modules: Iterable[str], paths: Iterable[str] = ()) -> dict[str, str]:
    """Return the digest of each piece of code that a run depends on, by its name.

    Parameters
    ----------
    modules : iterable of str
        Names of the modules that the learners and the claims of the run come from. All of a package counts.
    paths : iterable of str
        Files and folders in which the user has learners looked for.
    """
    found: dict[str, list[str]] = {}
    for name in sorted({module.partition(".")[0] for module in (__name__, *modules)}):
        home = _home(name)
        if home is not None:
            found[name] = [digest_of(home)]
    for path in {Path(path).resolve() for path in paths}:
        found.setdefault(f"{path.name}/" if path.is_dir() else path.name, []).append(digest_of(path))
    # Two folders of the same name stand as one, whichever was given first.
    return {name: "-".join(sorted(digests)) for name, digests in sorted(found.items())}


def _home(name: str) -> Path | None:
    """Return the file or the folder of a module that is loaded; None for those of the user's paths, and for none."""
    file = getattr(sys.modules.get(name), "__file__", None)
    if file is None or name.startswith(PRIVATE):
        return None
    return Path(file).parent if Path(file).name == "__init__.py" else Path(file)


def digest_of(place: Path) -> str:
    """Return the digest of a file, or of all modules of a folder and of the packages in it."""
    digest = hashlib.blake2b(digest_size=8)
    for name, file in sorted(_files(place)):
        content = file.read_bytes().replace(b"\r\n", b"\n")  # as a checkout elsewhere may have it
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def _files(place: Path) -> Iterator[tuple[str, Path]]:
    if place.is_file():
        yield place.name, place
        return
    for file in place.iterdir():
        if file.suffix == ".py":
            yield file.name, file
        elif (file / "__init__.py").exists():
            yield from ((f"{file.name}/{name}", inner) for name, inner in _files(file))
