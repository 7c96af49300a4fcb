"""Keep two runs from writing into the same folder at once."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dpaudit.engine.files import named, refuse_link
from dpaudit.errors import InputError

if TYPE_CHECKING:
    from filelock import BaseFileLock

__all__ = ["FILENAME", "held"]

FILENAME = "run.lock"
PATIENCE = 0.2
"""Seconds: whoever opens the file while its holder removes it needs a second try."""
NO_LOCKS = {errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK}
"""Errors of file systems that have no locks, as some network file systems."""


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold a folder for this process while the block runs.

    The system lets go of the lock when the process ends, however it ends, so that the file of one that was killed
    stands in nobody's way. Where the file system knows no locks, nothing is held.

    Raises
    ------
    InputError
        If another process holds it, or if the file of the lock is a symbolic link.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / FILENAME
    refuse_link(path)
    lock = _taken(path)
    try:
        yield
    finally:
        with suppress(OSError):  # Windows removes no open file
            path.unlink()  # before it is released: once another holds it, it must stay
        if lock is not None:
            lock.release()


def _taken(path: Path) -> BaseFileLock | None:
    """Return the lock, held and with the number of this process in its file, or None where there are no locks."""
    from filelock import FileLock, Timeout  # takes longer to import than most commands take to answer

    lock = FileLock(path, timeout=PATIENCE, on_acquired=partial(_sign, path))
    try:
        lock.acquire()
    except Timeout:
        told = "another run (process {holder}) is writing to {folder}: wait for it, or choose another {out}"
        raise InputError(told, names=("out",), holder=_holder(path), folder=path.parent) from None
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
        return None
    return lock


def _sign(path: Path, handle: int) -> None:
    with named(path):
        os.ftruncate(handle, 0)
        os.write(handle, f"{os.getpid()}\n".encode())


def _holder(path: Path) -> str:
    with suppress(OSError):  # it ended meanwhile, or keeps the file for itself
        return path.read_text(errors="replace").strip()[:32] or "unknown"
    return "unknown"
