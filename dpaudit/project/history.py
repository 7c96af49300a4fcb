"""The history of a project: its checks, in a file that only grows, each line bound to the one before by its digest.

A kill or a full disk may tear the last line. The next check cuts it off, keeps every whole line and says what is lost.
"""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from dpaudit.engine.lines import is_written, write_line
from dpaudit.engine.recomputed import not_recomputed
from dpaudit.errors import InputError, ToolFault
from dpaudit.files import append_line, locked_folder, refuse_link, write_atomically
from dpaudit.keyed import FOLDER
from dpaudit.project.standings import Standing, check_row, compute_together
from dpaudit.record import Frozen, decode
from dpaudit.report.numbers import plural
from dpaudit.results import SCHEMA_VERSION, versions

PLACE = FOLDER / "history.jsonl"


class ProjectCheck(Frozen, frozen=True, kw_only=True, tag="check", tag_field="record"):
    """A check that ended at a time, in UTC; its digest is over the rest of its line and the digest before it."""

    at: datetime.datetime
    rows: tuple[Standing, ...]
    versions: dict[str, str] = msgspec.field(default_factory=versions)
    schema_version: Literal[2] = SCHEMA_VERSION
    digest: str = ""


class History(NamedTuple):
    """The checks of a project, the oldest first, and notes on what is lost or is not chained.

    `whole` is the number of bytes that are kept, `torn` what follows them, and `digest` what the next line continues.
    """

    checks: tuple[ProjectCheck, ...]
    notes: tuple[str, ...]
    whole: bytes
    torn: bytes
    digest: str


PATIENCE = 60.0
"""Seconds that a check waits for others that write to the history: their result is made, and must not be lost."""


def keep(rows: Sequence[Standing], root: Path, at: datetime.datetime | None = None) -> tuple[Path, tuple[str, ...]]:
    """Append a check, of now by default, to the history of the project with its settings in `root`.

    Returns the file, and notes: a torn end, which a kill or a full disk leaves, is cut off, and all whole lines stay.

    Raises
    ------
    ToolFault
        If a line is not as it was written: the message names it.
    """
    path = root / PLACE
    path.parent.mkdir(exist_ok=True)
    made = ProjectCheck(at=(at or datetime.datetime.now(datetime.UTC)).replace(microsecond=0), rows=tuple(rows))
    with locked_folder(path.parent, PATIENCE):
        refuse_link(path)
        kept = parse_history(path.read_bytes(), path) if path.exists() else History((), (), b"", b"", "")
        if kept.torn:
            write_atomically(path, kept.whole)
        append_line(path, write_line(made, kept.digest))
    return path, kept.notes


def read_history(path: Path, last: int | None = None) -> History:
    """Return a history, each line of which was checked against the line before, and its verdicts against its counts.

    With `last` the counts of so many checks are looked at, those that are compared.

    Raises
    ------
    InputError
        If there is no history, or no check in it.
    ToolFault
        If a line is no check, is not as it was written, or says something else than follows from its counts: the
        message names it.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"there is no history {str(path)!r}: `dpaudit check` begins one") from None
    found = parse_history(content, path)
    if not found.checks:
        raise InputError(f"{path} holds no check: {'; '.join(found.notes) or 'it is empty'}")
    left: Counter[str] = Counter()
    looked = list(enumerate(found.checks, 1))[-(last or len(found.checks)) :]
    with suppress(InputError):  # a row whose counts no bound takes is named below
        compute_together(row for _, check in looked for row in check.rows)
    for number, check in looked:
        for row in check.rows:
            try:
                left.update(check_row(row))
            except (InputError, ToolFault) as error:
                raise ToolFault(f"{path}, line {number}: {row.name}: {error}") from None
    return found._replace(notes=(*found.notes, *not_recomputed(left)))


def parse_history(content: bytes, path: Path) -> History:
    """Return the checks of a history whose chain holds.

    A last line that lacks its end is no check; it is whole if nothing but the line break is lost.
    """
    end = content.rfind(b"\n") + 1
    whole, torn, notes = content[:end], content[end:], []
    checks: list[ProjectCheck] = []
    before = ""
    lines = whole.split(b"\n")[:-1]
    for number, line in enumerate(lines, 1):
        check = decode(line, ProjectCheck, f"{path}, line {number}")
        if not check.digest or not is_written(line, before):
            altered = "altered since it was written, or a line before it is missing, moved or altered"
            remedy = "restore the file, or move it away and let `dpaudit check` begin another"
            raise ToolFault(f"{path}, line {number}: {altered}; {remedy}")
        before = check.digest
        checks.append(check)
    if torn:
        if is_written(torn, before):
            checks.append(decode(torn, ProjectCheck, path))
            whole, before = whole + torn + b"\n", checks[-1].digest
            notes.append(f"the last line of {path} lacked its line break, and nothing else")
        elif not torn.rstrip(b"\0").startswith(_BEGIN[: len(torn.rstrip(b"\0"))]):
            raise ToolFault(f"{path}, line {len(lines) + 1}: no check, and no part of one; move the file away")
        else:
            lost = _AT.match(torn)
            of = f"of the check that ended at {lost[1].decode()}" if lost else "which do not show of which check"
            notes.append(f"the last line of {path} is torn: {plural(len(torn), 'byte')} are lost, {of}")
    return History(tuple(checks), tuple(notes), whole, torn, before)


_BEGIN = b'{"at":"'
_AT = re.compile(rb'\{"at":"([0-9T:Z.+-]{1,32})"')
