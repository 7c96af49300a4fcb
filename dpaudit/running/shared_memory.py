"""The folder in which worker processes share large inputs: its owner's alone, and removed when its process is dead.

joblib writes arrays of a megabyte and more to files that workers map, by default into a folder that everybody may list,
and a process that is killed leaves them there, with the records in them.
"""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

ROOM = 2 << 30
"""Bytes that the file system in memory must have free, as joblib asks for; else files lie on disk."""
IN_MEMORY = Path("/dev/shm")
LOCK = "lock"

_held: dict[int, tuple[Path, int]] = {}
"""The folder of each process, by its number, since copies of a process inherit this: with its open lock."""


def places() -> list[Path]:
    """Return the folders, of which there are two at most, that hold those of this user's processes."""
    name = f"dpaudit-{os.getuid()}"
    return [parent / name for parent in dict.fromkeys((IN_MEMORY, Path(tempfile.gettempdir())))]


def folder() -> Path | None:
    """Return the folder of this process, made if need be; None where joblib's own must do, as on Windows."""
    if sys.platform == "win32":
        return None
    if os.getpid() in _held:
        return _held[os.getpid()][0]
    for place in places():
        with suppress(OSError):
            found = os.statvfs(place.parent)
            if place.parent == IN_MEMORY and found.f_bsize * found.f_bavail < ROOM:
                continue
            place.mkdir(mode=0o700, exist_ok=True)
            if _is_ours(place):
                return _locked(Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=place)))
    return None


def remove_left() -> int:
    """Remove what processes that are dead have left; return how many folders that were."""
    if sys.platform == "win32":
        return 0
    import fcntl

    removed = 0
    for one in (one for place in places() if _is_ours(place) for one in place.iterdir()):
        with suppress(OSError), open(one / LOCK, "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # refused while its process is alive
            shutil.rmtree(one)
            removed += 1
    return removed


def _locked(made: Path) -> Path:
    """Hold the lock of a folder as long as this process lives, and remove the folder at its end."""
    import fcntl

    beside = made / f"{LOCK}.new"
    lock = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    beside.rename(made / LOCK)  # one who sees it sees it locked
    _held[os.getpid()] = made, lock
    atexit.register(_remove, made, os.getpid())
    return made


def _remove(made: Path, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(made, ignore_errors=True)


def _is_ours(place: Path) -> bool:
    """Return whether a path is a directory of this user without permissions for others."""
    with suppress(OSError):
        found = os.lstat(place)
        return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077
    return False
