"""Write files so that a kill, a full disk or a second run loses nothing; every error names the file."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from dpaudit.errors import InputError

FILENAME = "run.lock"
# Seconds: a process that opens the file while its holder removes it needs a second try.
PATIENCE = 0.2
# Errors of file systems that have no locks, as some network file systems.
NO_LOCKS = {errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK}


def keep_foreign(path: Path) -> None:
    """Move a file that dpaudit did not write out of the way of one that it is about to write."""
    if path.is_file() and b"dpaudit" not in path.read_bytes():
        os.replace(path, free_backup(path))


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file so that a reader, or a kill, sees the old content or the new, never a part.

    No symbolic link is followed, neither at the name of the file nor at that of its scratch file, which does not stay.
    """
    scratch = path.with_name(path.name + ".tmp")
    with named(path, only=True):
        # A kill left it, or it leads elsewhere.
        scratch.unlink(missing_ok=True)
    try:
        with named(path, only=True):
            with open(scratch, "xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(scratch, path)
    # After an interrupt too no scratch file stays.
    except BaseException:
        # In a folder that is read-only there is none.
        with suppress(OSError):
            scratch.unlink(missing_ok=True)
        raise


def write_file(path: str | Path, content: bytes) -> None:
    """Write a file that the user named: whole, or not at all.

    Unlike `write_atomically` this follows a symbolic link, as other programs do. What is no regular file, such as
    /dev/stdout or a pipe, cannot be replaced and is written to.
    """
    target = Path(os.path.realpath(path))
    special = target.exists() and not target.is_file()
    if special or str(path).startswith(("/dev/", "/proc/")):
        with named(Path(path), only=True), open(path, "wb") as stream:
            stream.write(content)
    else:
        with named(Path(path), only=True):
            write_atomically(target, content)


def append_line(path: Path, line: bytes) -> None:
    """Append a line and wait until it is on the disk; if that fails, leave the file as it was. No link is followed.

    Without a buffer a kill leaves at most one torn line, the last. But such a write may be short where the disk is
    nearly full, and the next line must not be glued to half of this one.
    """
    # Where the system can check this while it opens the file.
    no_link = getattr(os, "O_NOFOLLOW", 0)

    def opened(name: str, flags: int) -> int:
        return os.open(name, flags | no_link, 0o666)

    with named(path), open(path, "ab", buffering=0, opener=opened) as file:
        end = file.tell()
        left = memoryview(line)
        try:
            while left:
                left = left[file.write(left) :]
            os.fsync(file.fileno())
        # An interrupt between two writes tears the line as well.
        except BaseException:
            file.truncate(end)
            raise


def refuse_link(path: Path) -> None:
    """Raise `InputError` if a file of a run is a symbolic link, which would lead the writing elsewhere."""
    if path.is_symlink():
        message = "{path} is a symbolic link, which no run makes: remove it, or choose another {out}"
        raise InputError(message, names=("out",), path=path)


@contextmanager
def named(path: Path, *, only: bool = False) -> Iterator[None]:
    """Let errors of the system name the file: those of a write to an open one do not.

    With `only` they name it in the place of any other, such as that of a scratch file, which the user has not heard of.
    """
    try:
        yield
    except OSError as error:
        # One without a number is shown by its own words, which a name would replace.
        if error.errno is not None and (only or not error.filename):
            error.filename = str(path)
            if error.filename2:
                error.filename2 = None
        raise


def free_backup(path: Path) -> Path:
    """Return the first backup name that is not taken: no result is ever overwritten."""
    count = 1
    backup = path.with_name(f"{path.name}.bak")
    while backup.exists():
        count += 1
        backup = path.with_name(f"{path.name}.bak{count}")
    return backup


@contextmanager
def locked_folder(folder: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Hold a folder for this process while the block runs, after waiting so many seconds for others at most.

    The system releases the lock when the process ends, however it ends, so that the file of one that was killed blocks
    no other. Where the file system has no locks, nothing is held. `InputError` if another process holds it, or if the
    file of the lock is a symbolic link.
    """
    # Takes longer to import than most commands take to answer.
    from filelock import FileLock, Timeout

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / FILENAME
    refuse_link(path)
    lock = FileLock(path, timeout=patience, on_acquired=partial(_sign, path))
    try:
        lock.acquire()
    except Timeout:
        holder = ""
        # It ended meanwhile, or keeps the file for itself.
        with suppress(OSError):
            holder = path.read_text(errors="replace").strip()[:32]
        message = "another run (process {holder}) is writing to {folder}: wait for it, or choose another {out}"
        raise InputError(message, names=("out",), holder=holder or "unknown", folder=folder) from None
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
    try:
        yield
    finally:
        # Windows removes no open file.
        with suppress(OSError):
            # Before it is released: once another holds it, it must stay.
            path.unlink()
        lock.release()


def _sign(path: Path, handle: int) -> None:
    with named(path):
        os.ftruncate(handle, 0)
        os.write(handle, f"{os.getpid()}\n".encode())
