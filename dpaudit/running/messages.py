"""Messages between a process and its child: bytes after their length, through a pipe."""

from __future__ import annotations

import os
import pickle
from importlib import import_module
from typing import Any

from dpaudit.errors import InputError

__all__ = ["HEAD", "packed", "read", "unpacked", "write"]

HEAD = 8
"""Bytes before each message, which tell its length."""


def packed(value: Any) -> bytes:
    """Return a value as bytes; of what the script itself defines, with its definition.

    Raises
    ------
    InputError
        If it does not pickle.
    """
    try:
        return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    except Exception:  # of many types: what pickle raises depends on what it meets
        try:
            content: bytes = _cloudpickle().dumps(value, pickle.HIGHEST_PROTOCOL)
        except Exception as error:  # likewise
            raise InputError(
                "with {timeout}, runs are made in a process of their own, to which data, and from which outputs, must "
                "travel, and something cannot be sent: {why:.500}; leave it out, or return plain data",
                names=("timeout",),
                why=f"{type(error).__name__}: {error}",
            ) from error
        return content


def unpacked(content: bytes) -> Any:
    """Return the value that `packed` made bytes of, in this process or in one that is its copy."""
    return pickle.loads(content)


def _cloudpickle() -> Any:
    """Return the module that pickles definitions too: joblib carried its own copy up to 1.5."""
    try:
        return import_module("joblib.externals.cloudpickle")
    except ImportError:
        return import_module("cloudpickle")


def write(end: int, message: bytes) -> None:
    """Send a message."""
    left = memoryview(len(message).to_bytes(HEAD, "little") + message)
    while left:
        left = left[os.write(end, left) :]


def read(end: int) -> bytes:
    """Return the next message; nothing where there is none any more."""
    head = _bytes(end, HEAD)
    return _bytes(end, int.from_bytes(head, "little")) if head else b""


def _bytes(end: int, size: int) -> bytes:
    found = bytearray()
    while len(found) < size:
        if not (more := os.read(end, min(size - len(found), 1 << 20))):
            return b""
        found += more
    return bytes(found)
