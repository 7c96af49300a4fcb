"""Lets one call to the file system fail: calls of this process on files of a folder are counted, and one fails.

What is wrapped are the calls by which Python code reaches files (`open`, the methods of what it returns, those of
`os`), so it needs no privilege and no other file system. It is for a process of its own, which ends afterwards.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
from collections.abc import Callable
from typing import Any

__all__ = ["HOW", "Faulty"]

HOW = ("ENOSPC", "EIO", "short")
"""The ways in which a call fails: an error, or of a write half of it and then the error that the disk is full."""
BY_PATH = ("open", "replace", "rename", "unlink", "remove", "mkdir", "rmdir", "truncate", "stat")
BY_END = ("write", "fsync", "ftruncate")
OF_FILES = ("read", "write", "flush", "truncate", "close")


class Faulty:
    """Counts calls, and lets one fail.

    Parameters
    ----------
    folder : str
        Calls on what is in it count.
    last : int
        The number of the call that fails, from 1; with 0 none does.
    how : str
        One of `HOW`.

    Attributes
    ----------
    calls : list of str
        The calls so far, as "open run.jsonl".
    """

    def __init__(self, folder: str, last: int, how: str) -> None:
        self.folder = os.path.realpath(folder)
        self.last = last
        self.how = how
        self.calls: list[str] = []

    def install(self) -> None:
        """Wrap the calls of this process, for good."""
        for name in BY_PATH:
            setattr(os, name, self._by_path(name, getattr(os, name)))
        for name in BY_END:
            setattr(os, name, self._by_end(name, getattr(os, name)))
        vars(builtins)["open"] = vars(io)["open"] = self._opening(io.open)

    def count(self, name: str, path: str) -> bool:
        """Count a call; raise the error if it is the one, and say whether it is to be cut short."""
        self.calls.append(f"{name} {os.path.basename(path)}")
        if len(self.calls) != self.last:
            return False
        if self.how == "short":
            return True
        number = getattr(errno, self.how)
        raise OSError(number, os.strerror(number), *([path] if name in BY_PATH else []))

    def _mine(self, path: Any) -> str:
        """Return a path as text if it is in the folder."""
        if not isinstance(path, str | os.PathLike):
            return ""
        text = os.path.abspath(os.fspath(path))
        return text if isinstance(text, str) and text.startswith(self.folder) else ""

    def _by_path(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(path: Any, *more: Any, **named: Any) -> Any:
            if mine := self._mine(path):
                self.count(name, mine)
            return call(path, *more, **named)

        return wrapped

    def _by_end(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(end: int, *more: Any) -> Any:
            try:
                path = os.readlink(f"/proc/self/fd/{end}")
            except OSError:
                path = ""
            if (mine := self._mine(path)) and self.count(name, mine):
                self.last += 1  # what is left of it is tried again, and finds no room
                self.how = "ENOSPC"
                return call(end, more[0][: len(more[0]) // 2]) if name == "write" else call(end, *more)
            return call(end, *more)

        return wrapped

    def _opening(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(file: Any, *more: Any, **named: Any) -> Any:
            if not (mine := self._mine(file)):
                return call(file, *more, **named)
            self.count("open", mine)
            return _File(call(file, *more, **named), mine, self)

        return wrapped


class _File:
    """A file whose methods are counted."""

    def __init__(self, file: Any, path: str, faulty: Faulty) -> None:
        self.__dict__.update(file=file, path=path, faulty=faulty)

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.file, name)
        if name not in OF_FILES:
            return method

        def wrapped(*given: Any) -> Any:
            try:
                short = self.faulty.count(name, self.path)
            except OSError:
                if name == "close":
                    method()
                raise
            if short and name == "write":
                self.faulty.last += 1
                self.faulty.how = "ENOSPC"
                return method(given[0][: len(given[0]) // 2])
            return method(*given)

        return wrapped

    def __enter__(self) -> _File:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __iter__(self) -> Any:
        return iter(self.file)
