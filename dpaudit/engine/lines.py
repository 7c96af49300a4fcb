"""The lines of a run file: canonical JSON with a digest over its own bytes and over the digest that it continues."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

from dpaudit.engine.records import Header, Record, Seal
from dpaudit.engine.tasks import canonical
from dpaudit.engine.upgrade import upgraded
from dpaudit.errors import InputError, ToolFault
from dpaudit.record import decode, encodable
from dpaudit.results import SCHEMA_VERSION

__all__ = ["chained", "digest_in", "linked", "read_header", "read_record", "write_line"]

_DIGEST = re.compile(rb'"digest":"([0-9a-f]{64})",')


def write_line(record: Record, before: str = "") -> bytes:
    """Return a record as one line: keys sorted, no spaces, and a BLAKE2b-256 digest.

    Parameters
    ----------
    record : Record
        The record.
    before : str
        The digest that this one continues: that of the header while a run goes on, of the line before in a sealed file.
        The digest of the line is over these characters and the bytes of the line without it.
    """
    told = encodable(record)
    del told["digest"]
    digest = _digest(before, canonical(told).encode())
    return canonical({**told, "digest": digest}).encode() + b"\n"


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
    """Return the digest that a line holds.

    Raises
    ------
    ToolFault
        If it holds none.
    """
    return _found(line)[1].decode()


def read_header(path: Path, line: bytes) -> tuple[Header, int]:
    """Return the header that a line holds, and the schema version of the file.

    Raises
    ------
    InputError
        If the file was written in a schema version that this dpaudit does not read.
    ToolFault
        If the line is no header.
    """
    try:
        version = msgspec.json.decode(line, type=_Versioned).schema_version
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ToolFault(
            f"{path}, line 1: not the header of a run, so it is not a dpaudit run ({error!s:.200})"
        ) from None
    if version not in (1, SCHEMA_VERSION):
        raise InputError(
            f"{path} has schema version {version}; this dpaudit reads 1 and {SCHEMA_VERSION}: read it with the dpaudit "
            "that wrote it, or run the audit again"
        )
    record = read_record(path, 1, line, version)
    if not isinstance(record, Header):
        raise ToolFault(f"{path}, line 1: not the header of a run, so it is not a dpaudit run")
    return record, version


def read_record(path: Path, number: int, line: bytes, version: int, before: str = "") -> Record:
    """Return the record that a line holds; lines of version 1 have no digest.

    Raises
    ------
    ToolFault
        If it holds none, or its bytes are not those that its digest was computed from; with file, line and field.
    """
    try:
        if version == 1:
            record: Record = decode(upgraded(line), Record)
            return record
        if digest_in(line) != digest_in(linked(line, before)):
            raise ToolFault("altered since it was written, or not in its place: its digest is that of other bytes")
        record = decode(line, Record)
    except ToolFault as error:
        raise ToolFault(f"{path}, line {number}: {error}") from None
    return record


class _Versioned(msgspec.Struct):
    """The part of a header that says how to read the rest."""

    schema_version: int


def _found(line: bytes) -> re.Match[bytes]:
    found = _DIGEST.search(line)
    if found is None:
        raise ToolFault("a record without its digest")
    return found


def _digest(before: str, rest: bytes) -> str:
    return hashlib.blake2b(before.encode() + rest, digest_size=32).hexdigest()
