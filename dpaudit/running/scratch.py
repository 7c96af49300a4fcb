"""Temporary folders that a kill cannot leave behind for ever: the next run removes those whose owner is gone."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["scratch_folder", "sweep"]

PREFIX, OWNED = "dpaudit-", "owner.lock"
ORPHANED_SECONDS = 24 * 3600.0
"""The age at which a folder without the mark of an owner is taken for one that was left by a kill."""


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Yield a temporary folder that is removed afterwards, and remove those that dead processes have left.

    Its owner holds a lock on a file in it, which the system lets go of when the owner ends, however that happens: so a
    process of another container, whose number means nothing here, keeps its folder too.
    """
    from filelock import FileLock

    sweep()
    with tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as name:
        folder = Path(name)
        with FileLock(folder / OWNED):
            yield folder


def sweep() -> None:
    """Remove the folders of this user whose owners have ended; what cannot be removed is left."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        try:
            if _is_ours(folder) and _is_orphaned(folder):
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:  # it has gone meanwhile, or belongs to somebody else
            continue


def _is_ours(folder: Path) -> bool:
    """Say whether a path is a folder, and no link to one, that this user made and nobody else may write to."""
    told = folder.lstat()
    mine = not hasattr(os, "getuid") or told.st_uid == os.getuid()
    return mine and stat.S_ISDIR(told.st_mode) and (os.name != "posix" or stat.S_IMODE(told.st_mode) == 0o700)


def _is_orphaned(folder: Path) -> bool:
    """Say whether nobody holds the lock of a folder; of one without a lock, whether it is a day old."""
    from filelock import FileLock, Timeout

    owned = folder / OWNED
    if not owned.exists():
        return time.time() - folder.lstat().st_mtime > ORPHANED_SECONDS
    try:
        with FileLock(owned, timeout=0):
            return True
    except Timeout:
        return False
