"""The file of a run: a line of canonical JSON for each record, with a digest that binds it to what stands before.

The digest is over the bytes of the line and over the digest that it continues: that of the header while a run goes on,
that of the line before in a sealed file.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

from dpaudit.engine.consistency_checks import check_header, check_record
from dpaudit.engine.files import named
from dpaudit.engine.records import Failure, Header, Record, Result, Run, Seal, State
from dpaudit.engine.tasks import canonical
from dpaudit.errors import InputError, ToolFault
from dpaudit.record import decode, encodable
from dpaudit.results import SCHEMA_VERSION

__all__ = ["Stored", "chained", "digest_in", "linked", "read_header", "read_record", "read_stored", "write_line"]

_DIGEST = re.compile(rb'"digest":"([0-9a-f]{64})",')


def write_line(record: Record, before: str = "") -> bytes:
    """Return a record as one line: keys sorted, no spaces, and a BLAKE2b-256 digest that continues `before`."""
    fields = encodable(record)
    del fields["digest"]
    digest = _digest(before, canonical(fields).encode())
    return canonical({**fields, "digest": digest}).encode() + b"\n"


def linked(line: bytes, before: str) -> bytes:
    """Return a line with a digest that continues another one."""
    found = _found(line)
    digest = _digest(before, line[: found.start()] + line[found.end() :].rstrip(b"\n"))
    return line[: found.start(1)] + digest.encode() + line[found.end(1) :]


def chained(header: Header, lines: Iterable[bytes]) -> bytes:
    """Return a sealed file: the header, lines in the order of the plan, each continuing the last one, and the seal."""
    file = [write_line(header)]
    for line in lines:
        file.append(linked(line, digest_in(file[-1])))
    return b"".join([*file, write_line(Seal(records=len(file) - 1), digest_in(file[-1]))])


def digest_in(line: bytes) -> str:
    """Return the digest that a line holds, or raise `ToolFault`."""
    return _found(line)[1].decode()


def _found(line: bytes) -> re.Match[bytes]:
    found = _DIGEST.search(line)
    if found is None:
        raise ToolFault("a record without its digest")
    return found


def _digest(before: str, rest: bytes) -> str:
    return hashlib.blake2b(before.encode() + rest, digest_size=32).hexdigest()


class _Versioned(msgspec.Struct):
    """The part of a header that decides whether the rest can be read."""

    schema_version: int


def read_header(path: Path, line: bytes) -> Header:
    """Return the header that a line holds.

    Raises
    ------
    InputError
        If the file has another schema version than this dpaudit reads.
    ToolFault
        If the line is no header.
    """
    try:
        version = msgspec.json.decode(line, type=_Versioned).schema_version
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ToolFault(
            f"{path}, line 1: not the header of a run, so it is not a dpaudit run ({error!s:.200})"
        ) from None
    if version != SCHEMA_VERSION:
        raise InputError(
            f"{path} has schema version {version}; this dpaudit reads {SCHEMA_VERSION}: read it with the dpaudit that "
            "wrote it, or run the audit again"
        )
    record = read_record(path, 1, line)
    if not isinstance(record, Header):
        raise ToolFault(f"{path}, line 1: not the header of a run, so it is not a dpaudit run")
    return record


def read_record(path: Path, number: int, line: bytes, before: str = "") -> Record:
    """Return the record that a line holds.

    Raises
    ------
    ToolFault
        If it holds none, or its bytes are not those that its digest was computed from; with file, line and field.
    """
    try:
        if digest_in(line) != digest_in(linked(line, before)):
            raise ToolFault("altered since it was written, or not in its place: its digest is that of other bytes")
        record: Record = decode(line, Record)
    except ToolFault as error:
        raise ToolFault(f"{path}, line {number}: {error}") from None
    return record


class Stored:
    """The content of a run file, read line after line, each checked against those before.

    Attributes
    ----------
    header : Header
        Its first line.
    seal : Seal or None
        Its last line, if it is sealed.
    whole : int
        Bytes of its whole lines.
    lines : dict of str to bytes
        The line of each task, as it stands in the file.
    numbers : dict of str to int
        The number of that line.
    """

    def __init__(self, path: Path, first: bytes, whole: int) -> None:
        self._path, self.whole, self.header = path, whole, read_header(path, first)
        try:
            check_header(self.header)
        except ToolFault as error:
            raise ToolFault(f"{path}, line 1: {error}") from None
        self._before = digest_in(first) if self.header.state != State.NEVER else ""
        self._results: dict[int, Result] = {}
        self._failures: dict[int, Failure] = {}
        self.lines: dict[str, bytes] = {}
        self.numbers: dict[str, int] = {}
        self.seal: Seal | None = None

    @property
    def run(self) -> Run:
        """The run, its results and the last failure of each task without a result in the order of the plan."""
        results = tuple(self._results[index] for index in sorted(self._results))
        failures = tuple(self._failures[index] for index in sorted(self._failures.keys() - self._results.keys()))
        return Run(self.header, results, failures, self.seal.digest if self.seal else "")

    def take(self, number: int, line: bytes) -> None:
        """Read one line."""
        record = read_record(self._path, number, line, self._before)
        try:
            if self.seal is not None:
                raise ToolFault("there is more behind the seal")
            if isinstance(record, Header):
                raise ToolFault("a second header")
            if isinstance(record, Seal):
                self._close(record, number)
            else:
                check_record(self.header, record)
                self._keep(record, number, line)
        except ToolFault as error:
            raise ToolFault(f"{self._path}, line {number}: {error}") from None
        if self.header.state == State.SEALED:
            self._before = record.digest

    def _close(self, seal: Seal, number: int) -> None:
        if self.header.state != State.SEALED:
            raise ToolFault(f"a seal in a file that is {self.header.state}")
        if seal.records != number - 2:
            raise ToolFault(f"the seal is of {seal.records} records, not of {number - 2}")
        self.seal = seal

    def _keep(self, record: Result | Failure, number: int, line: bytes) -> None:
        index = record.index
        if self.header.state == State.SEALED and index <= max([*self._results, *self._failures], default=-1):
            raise ToolFault(f"{record.task!r:.200} is not in the order of the plan")
        if isinstance(record, Failure):
            self._failures[index] = record
            if index in self._results:
                return
        elif index in self._results:
            raise ToolFault(f"a second result for {record.task:.200}")
        else:
            self._results[index] = record
        self.lines[record.task], self.numbers[record.task] = line, number


def read_stored(path: Path, *, torn: bool = False) -> Stored:
    """Return what a file holds.

    Parameters
    ----------
    path : Path
        The file.
    torn : bool
        Whether a sealed file may have lost its end, as one whose copy was cut off.

    Raises
    ------
    InputError
        If not even the first line is whole, or the file has another schema version.
    ToolFault
        If a line is corrupt, altered, foreign, doubled, moved or missing, or inconsistent: the message names it. A
        last line that is not whole is left out.
    """
    with named(path):
        content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if not whole:
        raise InputError(f"{path} holds no run: not even its first line is whole")
    first, *rest = content[:whole].split(b"\n")[:-1]
    stored = Stored(path, first, whole)
    for number, line in enumerate(rest, start=2):
        stored.take(number, line)
    if stored.header.state == State.SEALED and not (torn and stored.seal is None):
        if stored.seal is None:
            lost = "its end is missing, the seal of a finished run; `dpaudit run --resume` makes again what is lost"
            raise ToolFault(f"{path}, line {len(rest) + 2}: {lost}")
        if whole < len(content):
            raise ToolFault(f"{path}, line {len(rest) + 2}: there is more behind the seal")
    return stored
