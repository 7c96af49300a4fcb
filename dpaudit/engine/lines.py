"""The lines of a run file: canonical JSON with a digest over its own bytes."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import msgspec

from dpaudit.engine.records import Failure, Header, Record, Result
from dpaudit.engine.tasks import canonical
from dpaudit.engine.upgrade import upgraded
from dpaudit.errors import InputError, ToolFault
from dpaudit.record import decode, encodable
from dpaudit.results import SCHEMA_VERSION

__all__ = ["read_header", "read_record", "write_line"]

_DIGEST = re.compile(rb'"digest":"([0-9a-f]{64})",')


def write_line(record: Record) -> bytes:
    """Return a record as one line: keys sorted, no spaces, and the BLAKE2b-256 digest of the line without it."""
    told = encodable(record)
    del told["digest"]
    digest = hashlib.blake2b(canonical(told).encode(), digest_size=32).hexdigest()
    return canonical({**told, "digest": digest}).encode() + b"\n"


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
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ToolFault(f"{path}, line 1: not the header of a run, so it is not a dpaudit run ({error})") from None
    if version not in (1, SCHEMA_VERSION):
        raise InputError(
            f"{path} has schema version {version}; this dpaudit reads 1 and {SCHEMA_VERSION}: read it with the dpaudit "
            "that wrote it, or run the audit again"
        )
    record = _read(path, 1, line, version)
    if not isinstance(record, Header):
        raise ToolFault(f"{path}, line 1: not the header of a run, so it is not a dpaudit run")
    return record, version


def read_record(path: Path, number: int, line: bytes, version: int) -> Result | Failure:
    """Return the result or failure that a line holds.

    Raises
    ------
    ToolFault
        If it holds neither, or its bytes are not those that its digest was computed from; with file, line and field.
    """
    record = _read(path, number, line, version)
    if isinstance(record, Header):
        raise ToolFault(f"{path}, line {number}: a second header")
    return record


class _Versioned(msgspec.Struct):
    """The part of a header that says how to read the rest."""

    schema_version: int


def _read(path: Path, number: int, line: bytes, version: int) -> Record:
    """Return the record that a line holds, after checking its digest; lines of version 1 have none."""
    try:
        if version == 1:
            record: Record = decode(upgraded(line), Record)
            return record
        _check_digest(line)
        record = decode(line, Record)
    except ToolFault as error:
        raise ToolFault(f"{path}, line {number}: {error}") from None
    return record


def _check_digest(line: bytes) -> None:
    """Raise `ToolFault` unless the digest in a line is that of the line's other bytes."""
    found = _DIGEST.search(line)
    if found is None:
        raise ToolFault("a record without its digest")
    rest = line[: found.start()] + line[found.end() :]
    if hashlib.blake2b(rest, digest_size=32).hexdigest().encode() != found[1]:
        raise ToolFault("altered since it was written: its digest is that of other bytes")
