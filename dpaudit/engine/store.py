"""Results as JSON Lines: appended as they come, resumed after a kill, the same bytes in the end.

The first line is the header, each other line one finding. While a run goes on, lines stand in the order in
which the tasks end; once it is over they stand in the order of the plan. Nothing in the file depends on the
machine's load: no times, no host names, no number of processes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dpaudit.engine.tasks import canonical
from dpaudit.errors import InputError, ToolFault
from dpaudit.results import SCHEMA_VERSION, versions

__all__ = ["FILENAME", "Store", "load_run", "make_header", "write_atomically"]

FILENAME = "run.jsonl"

_REQUIRED = ("index", "task", "kind", "learner", "parameters", "arguments", "fault", "claim", "finding")


def make_header(plan: Sequence[str], *, seed: int, profile: str, command: str) -> dict[str, Any]:
    """Return the first line of a run: what was planned, and what it takes to remake it."""
    return {
        "record": "run",
        "schema_version": SCHEMA_VERSION,
        "seed": seed,
        "profile": profile,
        "plan": list(plan),
        "command": command,
        "versions": versions(),
    }


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

    def __init__(self, path: Path, header: Mapping[str, Any], done: set[str]) -> None:
        self.path = path
        self.done = done
        self._index = {key: i for i, key in enumerate(header["plan"])}

    @classmethod
    def start(cls, path: Path, header: Mapping[str, Any]) -> Store:
        """Begin a run; a file that is already there is kept as ``run.jsonl.bak`` (``.bak2``, ...)."""
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.stat().st_size:
            os.replace(path, _free_backup(path))
        write_atomically(path, _line(header))
        return cls(path, header, set())

    @classmethod
    def resume(cls, path: Path, header: Mapping[str, Any]) -> Store:
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
        stored, results, whole = _read(path)
        _same_run(path, stored, header)
        if whole < path.stat().st_size:
            os.truncate(path, whole)
        return cls(path, stored, {record["task"] for record in results})

    def append(self, record: Mapping[str, Any]) -> None:
        """Write one record of `perform` and wait until it is on the disk."""
        key = record["task"]
        line = _line({"record": "result", "index": self._index[key], **record})
        # One unbuffered write: a kill leaves at most one torn line, the last.
        with open(self.path, "ab", buffering=0) as file:
            file.write(line)
            os.fsync(file.fileno())
        self.done.add(key)

    def finish(self) -> None:
        """Put the lines into the order of the plan."""
        header, results, _ = _read(self.path)
        write_atomically(self.path, b"".join(map(_line, [header, *results])))


def load_run(path: Path | str) -> dict[str, Any]:
    """Return a stored run, finished or not: ``{"header": {...}, "results": [...]}`` in the order of the plan.

    Parameters
    ----------
    path : Path or str
        The file, or the folder that holds it as ``run.jsonl``.

    Raises
    ------
    InputError
        If there is no such file or it has no header yet.
    ToolFault
        If a line is corrupt.
    """
    file = Path(path)
    file = file / FILENAME if file.is_dir() else file
    if not file.is_file():
        raise InputError(f"there is no run at {str(path)!r}; give a folder with {FILENAME}, or the file itself")
    header, results, _ = _read(file)
    return {"header": header, "results": results}


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file so that a reader, or a kill, sees the old content or the new, never a part."""
    scratch = path.with_name(path.name + ".tmp")
    with open(scratch, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(scratch, path)


def _line(record: Mapping[str, Any]) -> bytes:
    return canonical(record).encode() + b"\n"


def _free_backup(path: Path) -> Path:
    """Return the first backup name that is not taken: no result is ever overwritten."""
    count = 1
    while (backup := path.with_name(f"{path.name}.bak{count if count > 1 else ''}")).exists():
        count += 1
    return backup


def _read(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]], int]:
    """Return header, results in the order of the plan, and how many bytes hold whole lines."""
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if not whole:
        raise InputError(f"{path} holds no run: not even its first line is whole")
    lines = content[:whole].split(b"\n")[:-1]
    header = _parse(path, 1, lines[0])
    wrong = header.get("record") != "run" or not isinstance(header.get("plan"), list)
    if not wrong and header.get("schema_version") != SCHEMA_VERSION:
        raise InputError(
            f"{path} has schema version {header.get('schema_version')!r}; this dpaudit reads {SCHEMA_VERSION}"
        )
    if wrong:
        raise ToolFault(f"{path}, line 1: not the header of a run")
    found: dict[int, dict[str, Any]] = {}
    for number, text in enumerate(lines[1:], start=2):
        record = _parse(path, number, text)
        index = _check_result(path, number, record, header["plan"])
        if index in found:
            raise ToolFault(f"{path}, line {number}: a second result for {record['task']}")
        found[index] = record
    return header, [found[index] for index in sorted(found)], whole


def _parse(path: Path, number: int, text: bytes) -> dict[str, Any]:
    try:
        record = json.loads(text)
    except ValueError as error:
        raise ToolFault(f"{path}, line {number}: corrupt ({error})") from None
    if not isinstance(record, dict):
        raise ToolFault(f"{path}, line {number}: not a JSON object")
    return record


def _check_result(path: Path, number: int, record: Mapping[str, Any], plan: Sequence[str]) -> int:
    """Return the result's index in the plan, or raise `ToolFault` if it is not one of this run's results."""
    lacking = [name for name in _REQUIRED if name not in record]
    if record.get("record") != "result" or lacking:
        raise ToolFault(f"{path}, line {number}: not a result; it lacks {', '.join(lacking) or 'its kind of record'}")
    index = record["index"]
    if not isinstance(index, int) or not 0 <= index < len(plan) or plan[index] != record["task"]:
        raise ToolFault(f"{path}, line {number}: {record['task']!r} is not task {index!r} of the plan")
    return index


def _same_run(path: Path, stored: Mapping[str, Any], header: Mapping[str, Any]) -> None:
    """Raise `InputError` saying what differs unless both headers belong to the same run."""
    differs = [
        f"{name} was {stored.get(name)!r}, is now {header[name]!r}"
        for name in ("seed", "profile", "versions")
        if stored.get(name) != header[name]
    ]
    before, now = set(stored["plan"]), set(header["plan"])
    if stored["plan"] != header["plan"]:
        only = [f"only before: {k}" for k in sorted(before - now)] + [f"only now: {k}" for k in sorted(now - before)]
        shown = "; ".join(only[:4]) + (f"; and {len(only) - 4} more" if len(only) > 4 else "")
        differs.append(f"the plan differs ({shown or 'in its order'})")
    if differs:
        raise InputError(f"cannot resume {path}: {'; '.join(differs)}. Leave out --resume to start afresh")
