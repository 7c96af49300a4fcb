"""The checks of a project, one line each, in a file that only grows, in a folder beside the settings."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from dpaudit.engine.files import append_line, held
from dpaudit.errors import InputError, ToolFault
from dpaudit.project.rows import Row
from dpaudit.record import Frozen, decode, encodable
from dpaudit.results import SCHEMA_VERSION, versions

__all__ = ["PLACE", "Kept", "keep", "read_history"]

PLACE = Path(".dpaudit") / "history.jsonl"


class Kept(Frozen, frozen=True, kw_only=True, tag="check", tag_field="record"):
    """A check that was made.

    Attributes
    ----------
    at : datetime
        The time at its end, in UTC.
    rows : tuple of Row
        Its rows.
    versions : dict of str to str
        Versions of Python and of the libraries that the numbers depend on.
    schema_version : int
        The version of what is stored.
    """

    at: datetime.datetime
    rows: tuple[Row, ...]
    versions: dict[str, str] = msgspec.field(default_factory=versions)
    schema_version: Literal[2] = SCHEMA_VERSION


def keep(rows: Sequence[Row], root: Path, at: datetime.datetime | None = None) -> Path:
    """Append a check to the history of a project and return the file.

    Parameters
    ----------
    rows : sequence of Row
        What was found.
    root : Path
        The folder of the settings.
    at : datetime, optional
        When; now by default.
    """
    path = root / PLACE
    path.parent.mkdir(exist_ok=True)
    made = Kept(at=(at or datetime.datetime.now(datetime.UTC)).replace(microsecond=0), rows=tuple(rows))
    line = json.dumps(encodable(made), sort_keys=True, separators=(",", ":"), allow_nan=False) + "\n"
    with held(path.parent):
        append_line(path, line.encode())
    return path


def read_history(path: Path) -> tuple[Kept, ...]:
    """Return the checks in a history, the oldest first.

    Raises
    ------
    InputError
        If there is no history.
    ToolFault
        If a line is no check: the message names it.
    """
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        raise InputError(f"there is no history {str(path)!r}: `dpaudit check` begins one") from None
    kept = []
    for number, line in enumerate(lines, 1):
        try:
            kept.append(decode(line, Kept))
        except ToolFault as error:
            raise ToolFault(f"{path}, line {number}: {error}") from None
    return tuple(kept)
