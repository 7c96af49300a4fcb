"""Keyed digests of people's data: without the key nobody can test which data a digest is of.

The key is 32 random bytes in the file `key` of `.dpaudit`, made once and readable by its owner alone. It leaves
the machine in the plan of an audit that several machines share, and nowhere else.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dpaudit.errors import InputError

# The folder of a project with what stays on the machine: a key, and its last two checks.
FOLDER = Path(".dpaudit")
NAME = "key"
# Bytes of a key.
SIZE = 32

_given: list[bytes] = []


def key_of(folder: Path | str = FOLDER, *, make: bool = False) -> bytes | None:
    """Return the key in a folder, or the one that `using` gives; None if there is none.

    With `make` a missing key is made, and None is returned only if the folder cannot be written to. `InputError` if the
    file holds no key.
    """
    if _given:
        return _given[-1]
    path = Path(folder) / NAME
    if make and not path.exists():
        with suppress(OSError):
            _make(path)
    try:
        key = bytes.fromhex(path.read_text(encoding="ascii"))
        # For its owner alone, also after it was copied here.
        if path.stat().st_mode & 0o077:
            path.chmod(0o600)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    except ValueError:
        key = b""
    if len(key) != SIZE:
        raise InputError(f"{path} holds no key of {SIZE} bytes: restore it, or delete it, so that another one is made")
    return key


@contextmanager
def using(key: bytes) -> Iterator[None]:
    """Let digests have this key while the block runs, as that of a plan that another machine made."""
    _given.append(key)
    try:
        yield
    finally:
        _given.pop()


def keyed(digest: str, key: bytes | None) -> str:
    """Return a digest that only the key can make of another one, after the name of the key; "" without either."""
    if not digest or key is None:
        return ""
    name = hashlib.blake2b(key=key, digest_size=4).hexdigest()
    return f"{name}:{hashlib.blake2b(digest.encode(), key=key, digest_size=16).hexdigest()}"


def is_of(digest: str, key: bytes | None) -> bool:
    """Return whether a digest was made with a key, or without any."""
    return ":" not in digest or digest.partition(":")[0] == keyed("-", key).partition(":")[0]


def _make(path: Path) -> None:
    """Write a key, unless another process has; the folder says to git that it is not for others."""
    path.parent.mkdir(exist_ok=True)
    # Written under another name and then linked: two processes never see half a key, nor two different ones.
    beside = path.with_name(f"{NAME}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        file = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(file, "w", encoding="ascii") as stream:
            stream.write(secrets.token_hex(SIZE))
        with suppress(FileExistsError):
            os.link(beside, path)
    finally:
        beside.unlink(missing_ok=True)
    with suppress(FileExistsError), open(path.with_name(".gitignore"), "x", encoding="ascii") as stream:
        stream.write(f"{NAME}\n{NAME}.*\n")
