"""The content of a run file: each line decoded, its digest and its sense checked, in the order of the plan."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from dpaudit.engine.consistency_checks import check_header, check_record
from dpaudit.engine.files import named
from dpaudit.engine.lines import digest_in, read_header, read_record
from dpaudit.engine.records import Failure, Header, Result, Run, Seal, State
from dpaudit.errors import InputError, ToolFault

__all__ = ["Stored", "read_stored"]


class Stored(NamedTuple):
    """The content of a file.

    Attributes
    ----------
    header : Header
        Its first line.
    results : tuple of Result
        In the order of the plan.
    failures : tuple of Failure
        The last failure of each task without a result.
    seal : Seal or None
        Its last line, if it is sealed.
    version : int
        Its schema version.
    whole : int
        Bytes of its whole lines.
    lines : dict of str to bytes
        The line of each task, as it stands in the file.
    numbers : dict of str to int
        The number of that line.
    """

    header: Header
    results: tuple[Result, ...]
    failures: tuple[Failure, ...]
    seal: Seal | None
    version: int
    whole: int
    lines: dict[str, bytes]
    numbers: dict[str, int]

    @property
    def run(self) -> Run:
        """The run."""
        return Run(self.header, self.results, self.failures, self.seal.digest if self.seal else "")


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
        If not even the first line is whole.
    ToolFault
        If a line is corrupt, altered, foreign, doubled, moved or missing, or makes no sense: the message names it. A
        last line that is not whole is left out.
    """
    with named(path):
        content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if not whole:
        raise InputError(f"{path} holds no run: not even its first line is whole")
    first, *rest = content[:whole].split(b"\n")[:-1]
    header, version = read_header(path, first)
    try:
        check_header(header)
    except ToolFault as error:
        raise ToolFault(f"{path}, line 1: {error}") from None
    reader = _Reader(path, header, version, digest_in(first) if header.state != State.NEVER else "")
    for number, line in enumerate(rest, start=2):
        reader.take(number, line)
    if header.state == State.SEALED and not (torn and reader.seal is None):
        if reader.seal is None:
            told = "its end is missing, the seal of a finished run; `dpaudit run --resume` makes again what is lost"
            raise ToolFault(f"{path}, line {len(rest) + 2}: {told}")
        if whole < len(content):
            raise ToolFault(f"{path}, line {len(rest) + 2}: there is more behind the seal")
    return reader.stored(whole)


class _Reader:
    """Reads line after line, each in the light of those before."""

    def __init__(self, path: Path, header: Header, version: int, digest: str) -> None:
        self.path, self.header, self.version, self.before = path, header, version, digest
        self.results: dict[int, Result] = {}
        self.failures: dict[int, Failure] = {}
        self.lines: dict[str, bytes] = {}
        self.numbers: dict[str, int] = {}
        self.seal: Seal | None = None

    def take(self, number: int, line: bytes) -> None:
        """Read one line."""
        record = read_record(self.path, number, line, self.version, self.before)
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
            raise ToolFault(f"{self.path}, line {number}: {error}") from None
        if self.header.state == State.SEALED:
            self.before = record.digest

    def _close(self, seal: Seal, number: int) -> None:
        if self.header.state != State.SEALED:
            raise ToolFault(f"a seal in a file that is {self.header.state}")
        if seal.records != number - 2:
            raise ToolFault(f"the seal is of {seal.records} records, not of {number - 2}")
        self.seal = seal

    def _keep(self, record: Result | Failure, number: int, line: bytes) -> None:
        index = record.index
        if self.header.state == State.SEALED and index <= max([*self.results, *self.failures], default=-1):
            raise ToolFault(f"{record.task!r:.200} is not in the order of the plan")
        if isinstance(record, Failure):
            self.failures[index] = record
            if index in self.results:
                return
        elif index in self.results:
            raise ToolFault(f"a second result for {record.task:.200}")
        else:
            self.results[index] = record
        self.lines[record.task], self.numbers[record.task] = line, number

    def stored(self, whole: int) -> Stored:
        """Return all that was read, in the order of the plan."""
        results = tuple(self.results[index] for index in sorted(self.results))
        left = sorted(self.failures.keys() - self.results.keys())
        failures = tuple(self.failures[index] for index in left)
        return Stored(self.header, results, failures, self.seal, self.version, whole, self.lines, self.numbers)
