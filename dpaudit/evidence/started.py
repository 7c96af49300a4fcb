"""The date on which a run was started: in a file beside the run's, so that equal runs are equal byte by byte.

No digest, seal or comparison includes it. The environment variable SOURCE_DATE_EPOCH sets it, as in reproducible
builds.
"""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from pathlib import Path

from dpaudit.files import write_atomically

_EPOCH = "SOURCE_DATE_EPOCH"
_FORM = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def now(seconds: float | None = None) -> str:
    """Return a time in seconds since 1970, by default the present one, in UTC as 2026-01-31T12:00:00Z."""
    epoch = os.environ.get(_EPOCH, "")
    if epoch.isdigit():
        seconds = int(epoch)
    if seconds is None:
        moment = datetime.now(UTC)
    else:
        moment = datetime.fromtimestamp(seconds, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def write_start(path: Path) -> None:
    """Write the present time beside the file of a run that begins."""
    write_atomically(_beside(path), f"{now()}\n".encode())


def read_start(path: Path) -> str:
    """Return when the run in a file was started; empty if that is unknown, as for a file that was copied alone."""
    try:
        found = _beside(path).read_text(encoding="utf-8").strip()
    # The date is for reports alone: a run that was copied without it is read like any other.
    except (OSError, UnicodeDecodeError):
        return ""
    # No digest includes this file, so that nothing but a date is taken from it.
    if not _FORM.fullmatch(found):
        return ""
    return found


def _beside(path: Path) -> Path:
    return path.with_suffix(".started")
