"""Keeps two runs from writing into the same folder at once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dpaudit.errors import InputError

__all__ = ["FILENAME", "held"]

FILENAME = "run.lock"


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold a folder for this process while the block runs.

    The system lets go of the lock when the process ends, however it ends, so that the file of one that was killed
    stands in nobody's way. Where the system or the file system knows no such locks, nothing is held.

    Raises
    ------
    InputError
        If another process holds it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / FILENAME
    handle = _take(path)
    try:
        os.ftruncate(handle, 0)
        os.write(handle, f"{os.getpid()}\n".encode())
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(handle)


def _take(path: Path) -> int:
    """Return the open and locked file; one that its last holder has just removed is not the file any more."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock(handle, path)
            if path.exists() and os.path.samestat(os.fstat(handle), path.stat()):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _lock(handle: int, path: Path) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.read(handle, 32).decode(errors="replace").strip() or "unknown"
        raise InputError(
            f"another run (process {holder}) is writing to {path.parent}: wait for it, or choose another --out"
        ) from None
    except OSError:  # some network file systems have no locks
        return
