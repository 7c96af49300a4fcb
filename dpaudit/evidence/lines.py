"""Lines of stored records: canonical JSON, each bound to another line by its digest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

from dpaudit.errors import ToolFault
from dpaudit.evidence.records import Header, Seal
from dpaudit.evidence.tasks import canonical
from dpaudit.jsonable import Json
from dpaudit.record import Frozen, encodable


def write_line(record: Frozen, before: str = "") -> bytes:
    """Return a record as one line: keys sorted, no spaces, and a BLAKE2b-256 digest that continues `before`."""
    # `linked` puts the digest in the place of one that is there.
    return linked(canonical({**encodable(record), "digest": "0" * 64}).encode() + b"\n", before)


def linked(line: bytes, before: str) -> bytes:
    """Return a line as canonical JSON with a digest that continues another one."""
    fields = _fields(line)
    try:
        # In a sealed file `before` is the digest of the line above: whoever moves, drops or adds a line would have to
        # change all after it.
        rest = canonical({name: value for name, value in fields.items() if name != "digest"})
        digest = hashlib.blake2b((before + rest).encode(), digest_size=32).hexdigest()
        # A line keeps its end, or that it has none: the lines of a file are read without theirs.
        return canonical({**fields, "digest": digest}).encode() + line[len(line.rstrip(b"\n")) :]
    except (ValueError, RecursionError):
        raise ToolFault("altered since it was written: dpaudit writes no such JSON") from None


def chained(header: Header, lines: Iterable[bytes]) -> bytes:
    """Return a sealed file: the header, lines in the order of the plan, each continuing the last one, and the seal."""
    # Each line continues the one before, so that the last digest, the total, is over all bytes of the file.
    file = [write_line(header)]
    for line in lines:
        file.append(linked(line, digest_in(file[-1])))
    return b"".join([*file, write_line(Seal(records=len(file) - 1), digest_in(file[-1]))])


def digest_in(line: bytes) -> str:
    """Return the digest that a line holds, or raise `ToolFault`."""
    return str(_fields(line)["digest"])


def _fields(line: bytes) -> dict[str, Json]:
    """Return the fields of a line, among them its own digest; a digest in another place of it is none."""
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        raise ToolFault("altered since it was written: it is no JSON") from None
    if not isinstance(fields, dict) or not isinstance(fields.get("digest"), str):
        raise ToolFault("a record without its digest")
    return fields
