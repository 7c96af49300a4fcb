"""A fresh interpreter as a child, where a copy of this process might wait for ever for threads that it does not have.

A fork copies one thread. Libraries that keep threads of their own, such as JAX, then wait in the copy for
answers that nobody gives. What a fresh interpreter is sent must pickle, with the definitions of the session itself.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from dpaudit import folders
from dpaudit.places import cloudpickle
from dpaudit.running.processes import APART, parent_pipe
from dpaudit.running.run_notes import ROOM, Notes
from dpaudit.withheld import hides

LIBRARIES = ("jax", "tensorflow")
"""Libraries whose threads a copy of the process lacks, and which wait for them there. (Those of OpenBLAS, pyarrow and
torch are made again, or are not waited for.)"""


def waiting_libraries() -> tuple[str, ...]:
    """Return the libraries that are loaded here, and may wait for ever in a copy of this process.

    JAX has threads from its first computation on.
    """
    found = [name for name in LIBRARIES if name in sys.modules]
    if "jax" in found and not getattr(sys.modules.get("jax._src.xla_bridge"), "_backends", True):
        found.remove("jax")
    return tuple(found)


def has_threads() -> bool:
    """Return whether this process has threads, those of libraries too, or may have some."""
    with suppress(OSError):  # only Linux shows them
        return len(os.listdir("/proc/self/task")) > 1
    return True


def sendable_function(function: Callable[..., bytes]) -> bytes | None:
    """Return a function as bytes for a fresh interpreter; None if it cannot be sent there."""
    try:
        return bytes(cloudpickle().dumps(function, pickle.HIGHEST_PROTOCOL))
    except Exception:  # of many types: what pickle raises depends on what it meets
        return None


class Spawned:
    """A fresh interpreter that serves calls of a function; in the place of a process of multiprocessing.

    `notes` are a page of memory that it shares with this process.
    """

    def __init__(self, function: bytes, requests: Connection, replies: Connection) -> None:
        file = tempfile.TemporaryFile()  # the child has it too
        file.truncate(ROOM)
        self.notes = Notes(file.fileno())
        line = parent_pipe()
        shared = [requests.fileno(), replies.fileno(), file.fileno()]
        shared += [] if line.end is None else [line.end]
        environment = dict(os.environ)
        environment.setdefault("PYTHONHASHSEED", "0")
        jax: Any = sys.modules.get("jax")
        if jax is not None:
            environment["JAX_ENABLE_X64"] = str(bool(jax.config.jax_enable_x64)).lower()
        code = "import sys, pickle; sys.path[:] = {path!r}; from dpaudit.running.serving import serve; serve(*{fds!r})"
        flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]  # as multiprocessing does
        try:
            self._process = subprocess.Popen(
                [sys.executable, *flags, "-c", code.format(path=sys.path, fds=shared)],
                pass_fds=shared,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=2,
                start_new_session=False,
            )
        finally:
            file.close()
        self.pid = self._process.pid
        self.first = pickle.dumps((bool(APART), hides(), folders.left(), function), pickle.HIGHEST_PROTOCOL)

    @property
    def exitcode(self) -> int | None:
        """The exit status, or minus the number of the signal that ended it; None while it runs."""
        return self._process.poll()

    def kill(self) -> None:
        """End it."""
        self._process.kill()

    def join(self) -> None:
        """Wait for its end."""
        self._process.wait()
